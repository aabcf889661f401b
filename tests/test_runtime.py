"""Go's runtime within Python: its start, its threads, and its end."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]

THREADS = """
import os
def threads():
    return len(os.listdir("/proc/self/task"))
"""


class TestStart:
    def test_import_starts_nothing(self, python):
        """This relies on private parts of Go's runtime/cgo (pyext/core/lazy.go), which a new Go may change."""
        python(
            THREADS
            + """
import time
import godlpack as gd
assert gd.DeviceType.CPU == 1 and gd.Tensor.__dlpack_c_exchange_api__ and gd.__version__
help = [gd.zeros.__doc__, gd.Tensor.reshape.__doc__, repr(gd.Tensor), dir(gd)]
time.sleep(0.2)  # threads may come late
assert threads() == 1
gd.zeros(3)
assert threads() > 1
assert gd.get_build_info()["runtime_start"] == "lazy" and gd.get_build_info()["runtime_generation"] == 0
"""
        )

    @pytest.mark.parametrize(
        "call",
        [
            "gd.zeros(3)",
            "gd.DType('int8')",
            "gd.Device('cpu')",
            "gd.asarray(b'abc')",
            "gd.get_build_info()",
            "gd._core._counters()",
            "pytest_raises(lambda: gd.from_dlpack(3))",
        ],
    )
    def test_first_call_starts_it(self, python, call):
        python(
            THREADS
            + f"""
import godlpack as gd
def pytest_raises(f):
    try:
        f()
    except TypeError:
        return
    raise AssertionError
assert threads() == 1
{call}
assert threads() > 1
"""
        )

    def test_many_threads_start_it_at_once(self, python):
        python(
            """
import threading, godlpack as gd
barrier, found = threading.Barrier(16), []
def work():
    barrier.wait()
    found.append(gd.full(3, 1).tolist())
workers = [threading.Thread(target=work) for _ in range(16)]
for w in workers: w.start()
for w in workers: w.join()
assert found == [[1.0] * 3] * 16
"""
        )

    def test_unguarded_entry_starts_it(self, python):
        """A C function of cgo's is called without the entry."""
        python(
            THREADS
            + """
import ctypes
from godlpack import _core
library = ctypes.PyDLL(_core.__file__)
library.PyInit__core.restype = ctypes.c_void_p
SIZE_OF_MODULE_DEF = 104  # then comes the pointer to what leads into Go; see runtime.h
runtime = ctypes.c_void_p.from_address(library.PyInit__core() + SIZE_OF_MODULE_DEF).value
enter = ctypes.PYFUNCTYPE(*[ctypes.c_void_p] * 6)(ctypes.c_void_p.from_address(runtime).value)
assert threads() == 1
try:
    enter(0, None, None, 0, None)  # empty() without its shape
except TypeError as e:
    assert "shape" in str(e), e
else:
    raise AssertionError("no error")
assert threads() > 1
"""
        )

    def test_at_exit_only(self, python):
        """The first call comes during the interpreter's finalization."""
        python(
            """
import atexit, godlpack as gd
atexit.register(lambda: print(gd.full(3, 1).tolist()))
class Late:
    def __del__(self, gd=gd):
        gd.zeros(3).tolist()
late = Late()
late.cycle = late
"""
        )


class TestThreads:
    def test_threads_that_come_and_go(self, python):
        """A thread leaves Go when it ends: no threads remain."""
        python(
            THREADS
            + """
import threading, godlpack as gd
def burst():
    workers = [threading.Thread(target=lambda: gd.zeros(10).tolist()) for _ in range(8)]
    for w in workers: w.start()
    for w in workers: w.join()
burst()
for _ in range(40): burst()
assert threads() < 40, threads()  # 328 came
"""
        )

    def test_python_in_go_in_python(self, python):
        """Each level is a Go call that calls Python."""
        python(
            """
import godlpack as gd
class Producer:
    def __init__(self, depth): self.depth = depth
    def __dlpack__(self, **keywords):
        inner = gd.from_dlpack(Producer(self.depth - 1)) if self.depth else gd.full(3, 1)
        return inner.copy().__dlpack__(**keywords)
    def __dlpack_device__(self): return (1, 0)
assert gd.from_dlpack(Producer(150)).tolist() == [1.0] * 3
"""
        )

    def test_exceptions_cross_go(self, python):
        python(
            """
import godlpack as gd
class Producer:
    def __dlpack__(self, **keywords): raise KeyError("mine")
    def __dlpack_device__(self): return (1, 0)
for _ in range(3):
    try:
        gd.from_dlpack(Producer())
    except KeyError as e:
        assert e.args == ("mine",)
    else:
        raise AssertionError
assert gd.full(3, 1).tolist() == [1.0] * 3
"""
        )


class TestEnd:
    def test_daemon_threads_in_go(self, python):
        python(
            """
import threading, godlpack as gd
big = gd.full(1 << 20, 1.5)
def work():
    while True:
        big.astype("int8").tolist()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    gd.zeros(10).tolist()
"""
        )

    def test_objects_of_go_in_cycles_at_exit(self, python):
        python(
            """
import sys, godlpack as gd
class Node: pass
for _ in range(10):
    n = Node(); n.me = n; n.t = gd.zeros(1000); n.c = n.t.__dlpack__(); n.v = memoryview(n.t[1:]); n.i = iter(n.t)
sys.modules["kept"] = n
"""
        )


# ---- builds whose runtime starts at import ----


@pytest.fixture(scope="module")
def eager(tmp_path_factory):
    """A folder to import such a build from."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("eager")
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "GODLPACK_EAGER": "1"}, check=True)
    (wheel,) = folder.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.packaging
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="slow, and the same on every Python")
class TestEager:
    def test_import_starts_it(self, python, eager):
        python(
            THREADS
            + """
import time, godlpack as gd
while threads() == 1: time.sleep(0.01)
assert gd.get_build_info()["runtime_start"] == "eager"
assert gd.full(3, 1).astype("int8").tolist() == [1, 1, 1]
""",
            package=eager,
        )

    @pytest.mark.parametrize("before", ["", "gd.zeros(3)"], ids=["merely imported", "used"])
    def test_forked_children(self, python, eager, before):
        python(
            f"""
import os, signal, threading
import godlpack as gd
kept = gd.full(3, 2) if {bool(before)} else None
def fork(depth):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        for n in range(50):
            assert gd.full(10_000, n % 7, "int8").tolist() == [n % 7] * 10_000
        x = threading.Thread(target=lambda: gd.zeros(3).copy()); x.start(); x.join()
        assert kept is None or kept.T.tolist() == [2.0] * 3
        assert gd.get_build_info()["runtime_generation"] == depth
        if depth < 3:
            fork(depth + 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
fork(1)
assert gd.full(3, 1).tolist() == [1.0] * 3
""",
            package=eager,
            flags=("-W", "ignore"),
        )


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
class TestHook:
    """hatch_build.py determines whether the runtime can start late."""

    def starts_lazily(self, monkeypatch, compiler):
        pytest.importorskip("hatchling")
        monkeypatch.syspath_prepend(ROOT)
        import hatch_build

        said = []
        with TemporaryDirectory() as scratch:
            hook = SimpleNamespace(
                scratch=SimpleNamespace(name=scratch), app=SimpleNamespace(display_warning=said.append)
            )
            return hatch_build.GoBuildHook.starts_lazily(hook, compiler), said

    def test_usual(self, monkeypatch):
        monkeypatch.delenv("GODLPACK_EAGER", raising=False)
        assert self.starts_lazily(monkeypatch, ["cc"]) == (True, [])

    def test_on_request(self, monkeypatch):
        monkeypatch.setenv("GODLPACK_EAGER", "1")
        assert self.starts_lazily(monkeypatch, ["cc"]) == (False, [])

    def test_linker_without_wrap(self, monkeypatch, tmp_path):
        monkeypatch.delenv("GODLPACK_EAGER", raising=False)
        compiler = tmp_path / "cc"
        compiler.write_text(
            '#!/bin/sh\ncase "$*" in *--wrap*) echo unsupported linker arg >&2; exit 1;; esac\nexec cc "$@"\n'
        )
        compiler.chmod(0o755)
        lazy, said = self.starts_lazily(monkeypatch, [str(compiler)])
        assert not lazy and "--wrap" in said[0]
