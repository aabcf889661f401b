"""Go's runtime within Python: when it starts, whom it serves, and how it ends."""

import pytest

THREADS = """
import os
def threads():
    return len(os.listdir("/proc/self/task"))
"""


class TestStart:
    def test_import_starts_nothing(self, python):
        """What this relies on is private to Go's runtime/cgo (pyext/core/lazy.go): a new Go may break it."""
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
            "gd._core._scoreboard()",
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
        """A C function of cgo's, called past the door."""
        python(
            THREADS
            + """
import ctypes
from godlpack import _core
library = ctypes.PyDLL(_core.__file__)
library.PyInit__core.restype = ctypes.c_void_p
SIZE_OF_MODULE_DEF = 104  # then comes the pointer to what leads into Go; see core.h
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
        """The first call comes while the interpreter goes down."""
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
        """Each leaves Go again when it ends: none is left over."""
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
        """Each level is a call of Go's that calls Python."""
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
