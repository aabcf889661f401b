"""In processes of their own, which must end in time: Ctrl-C, and workers."""

import subprocess
import sys

import pytest

INTERRUPTED = """
import os, signal, threading
import jsonnet

signal.signal(signal.SIGINT, signal.default_int_handler)  # Python sets none where it was started with SIGINT ignored
vm = jsonnet.VM()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    vm.evaluate("local f(n) = f(n + 1) tailstrict; f(0)")
except KeyboardInterrupt:
    print("interrupted")
assert vm.evaluate("1 + 1") == "2\\n"
"""

WORKERS = """
import multiprocessing, sys
import jsonnet

def work(program):
    return jsonnet.VM().evaluate(program)

if __name__ == "__main__":
    assert work("1") == "1\\n"
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(work, ["1 + 1", "2 + 2"]) == ["2\\n", "4\\n"]
    print("equal")
"""


def run(*arguments) -> str:
    command = [sys.executable, "-P", "-X", "faulthandler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_ctrl_c():
    assert run("-c", INTERRUPTED) == "interrupted"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(method, tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    assert run(script, method) == "equal"
