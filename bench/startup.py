"""The cost of `import godlpack` in a new process, and what it changes there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass

import machine


@dataclass
class Startup:
    import_ms: float
    """Of a process that imports godlpack, beyond one that imports nothing."""
    extension_ms: float
    """To load and initialize the extension module, without the package's Python files."""
    threads: int
    handlers: list[str]
    """Signals whose handling is not what it was before the import."""


BARE, IMPORT = "pass", "import godlpack"

EXTENSION = """
import importlib.machinery, importlib.util, time
path = importlib.util.find_spec("godlpack").submodule_search_locations[0] + "/_core.abi3.so"
loader = importlib.machinery.ExtensionFileLoader("_core", path)
spec = importlib.util.spec_from_file_location("_core", path, loader=loader)
start = time.perf_counter_ns()
loader.exec_module(importlib.util.module_from_spec(spec))
print(time.perf_counter_ns() - start)
"""

CHANGES = """
import ctypes, json, os, signal, time

def actions():
    # glibc's struct sigaction: handler, mask (8 of 128 bytes are used), flags; it keeps 32 and 33 for itself
    found = {}
    for number in range(1, signal.NSIG):
        action = ctypes.create_string_buffer(256)
        if ctypes.CDLL(None).sigaction(number, None, action) == 0:
            found[number] = action.raw[:16] + action.raw[136:140]
    return found

before = actions()
import godlpack
time.sleep(0.1)  # threads may come late
after = actions()
changed = [number for number in before if before[number] != after[number]]
names = [signal.Signals(n).name if n in set(signal.Signals) else f"signal {n}" for n in changed]
print(json.dumps([len(os.listdir("/proc/self/task")), names]))
"""


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def wall_ns(code: str) -> int:
    start = time.perf_counter_ns()
    python(code)
    return time.perf_counter_ns() - start


def measure(rounds: int) -> Startup:
    """The fastest of some rounds each; the processes may use every core, as users' do."""
    with machine.all_cores():
        wall_ns(IMPORT)  # compiles the Python files
        both = [(wall_ns(BARE), wall_ns(IMPORT)) for _ in range(rounds)]
        bare, imported = (min(column) for column in zip(*both, strict=True))
        extension = min(int(python(EXTENSION)) for _ in range(rounds))
        threads, handlers = json.loads(python(CHANGES))
    return Startup((imported - bare) / 1e6, extension / 1e6, threads, handlers)
