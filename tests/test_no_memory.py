"""Every allocation of godlpack's fails, one by one, in every operation: each call reports it, and loses nothing.

programs/no_memory.py does this in a process with failing.c preloaded. Allocations of Python code and of other libraries
do not fail. GODLPACK_FRAMEWORKS names the frameworks to test with, all of them in `tox -e nomem`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import godlpack
from helpers import build

PROGRAM = Path(__file__).parent / "programs" / "no_memory.py"
FRAMEWORKS = os.environ.get("GODLPACK_FRAMEWORKS", "numpy")
CRASHES = 5  # enough to report

pytestmark = [
    build.needs_cc,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library as glibc's loader does"),
]


@pytest.fixture(scope="session")
def libraries(python, tmp_path_factory):
    """failing.c, the sample library and that of classes with their sidecars, and functions.c, compiled."""
    folder = tmp_path_factory.mktemp("no-memory")
    failing = build.c_library(folder / "failing.so", build.SOURCES / "failing.c")
    sample = build.go_library(folder)
    script = f"from pathlib import Path; from helpers import build; build.describe(Path({str(sample)!r}))"
    python(script)  # opens the library in another process
    return failing, sample, build.classes_library(folder), build.c_functions(folder / "functions.so")


def preloading(failing):
    """The environment of a process with failing.c preloaded, in addition to libraries preloaded here."""
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "LD_PRELOAD": build.preload(failing), "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}


def run(failing, *arguments):
    """The output of no_memory.py, and the finished process."""
    command = [sys.executable, "-P", "-X", "faulthandler", str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, env=preloading(failing), capture_output=True, text=True, timeout=1200)
    return [json.loads(line) for line in done.stdout.splitlines()], done


def faults(failing, *arguments):
    """What was wrong, and the numbers of operations and allocations. After a crash in an operation, the rest is run."""
    wrong, points, behind = [], [], []
    while len(behind) <= CRASHES:
        said, done = run(failing, *arguments, *behind[-1:])
        wrong += [line for line in said if "wrong" in line]
        points += [line["points"] for line in said if "done" in line]
        if done.returncode == 0:
            break
        assert said, done.stderr
        wrong.append({"wrong": f"exit status {done.returncode}: {done.stderr[-3000:]}", **said[-1]})
        behind.append(said[-1].get("at", ""))
        if "at" not in said[-1] or arguments[0] != "each":
            break
    return wrong, len(points), sum(points)


@pytest.mark.parametrize("forever", [0, 1], ids=["once", "for good"])
def test_each_allocation(libraries, forever, capsys):
    failing, *opened = libraries
    wrong, operations, points = faults(failing, "each", forever, *opened, FRAMEWORKS)
    with capsys.disabled():
        print(f"\n{points} allocations of {operations} operations failed", end=" ")
    assert not wrong, "\n".join(map(str, wrong))
    assert points > operations > 100


@pytest.mark.parametrize("forever", [0, 1], ids=["once", "for good"])
@pytest.mark.parametrize("way", ["start", "open", "fork", "open, fork"])
def test_first_entry(libraries, way, forever, capsys):
    failing, library, classes, _functions = libraries
    wrong, _, points = faults(failing, way, forever, library, classes)
    with capsys.disabled():
        print(f"\n{points} allocations failed", end=" ")
    assert not wrong, "\n".join(map(str, wrong))
    assert points > 1


IMPORT = """
import ctypes, importlib.machinery, importlib.util, os, sys, traceback
from itertools import count

path = sys.argv[1]
loader = importlib.machinery.ExtensionFileLoader("godlpack._core", path)
spec = importlib.util.spec_from_file_location("godlpack._core", path, loader=loader)
ctypes.CDLL(path)  # the loader's part is done
c = ctypes.PyDLL(None)
c.fail_watch(b"_core.abi3")

def load():
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module

def attempt(first):
    c.fail_arm(ctypes.c_long(first), 0, 0)
    try:
        load()
    except (MemoryError, SystemError):  # CPython 3.11 makes no exception where a type's name finds no room
        pass
    if not c.fail_disarm():
        return 1
    module = load()
    assert module.Tensor.__name__ == "Tensor" and module.DType and module.Device and module.Function
    return 0

for first in count(1):
    if (child := os.fork()) == 0:
        status = 2
        try:
            status = attempt(first)
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), (first, status)
    if status:
        break
print(first - 1)
"""


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="CPython 3.13 itself crashes where the dict of a new type cannot grow"
)
def test_import(libraries, capsys):
    """Each allocation during the import of the extension fails once: the next import works."""
    module = Path(godlpack._core.__file__)
    command = [sys.executable, "-P", "-X", "faulthandler", "-c", IMPORT, str(module)]
    done = subprocess.run(command, env=preloading(libraries[0]), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    with capsys.disabled():
        print(f"\n{done.stdout.strip()} allocations failed", end=" ")
    assert int(done.stdout) > 100
