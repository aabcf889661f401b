"""Functions of libraries on CUDA devices, with the fake driver: streams, and memory of results."""

import pytest

from helpers import build
from helpers.scripts import PRESSED

pytestmark = [build.needs_cc, build.needs_headers]

FRAMEWORK = """
from godlpack.testing import records
from helpers import fakes
from ctypes import byref, c_void_p

ours = fakes.table_of(gd.Tensor)
current = {0: 0, 1: 0}  # the framework's own streams
asked = []

class Array:
    "A tensor of a framework like torch: it has an exchange table, streams and memory of its own."
    def __init__(self, t):
        self.t = t

def borrow(x, out):
    return records.RecordFromPy(ours.record_from_py)(x.t, out)

def export(x, out):
    return records.ManagedFromPy(ours.managed_from_py)(x.t, out)

def make(managed, out):
    x = Array(adopt(managed))
    fakes.increase(x)
    out[0] = id(x)
    return 0

def adopt(managed):
    x = c_void_p()
    assert records.ManagedToPy(ours.managed_to_py)(managed, byref(x)) == 0
    t = ctypes.cast(x, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(x)
    return t

def allocate(prototype, out, context, set_error):
    p = prototype.contents
    t = gd.empty(p.dims(), gd.DType("float32"), device=gd.Device(*p.device_pair()))
    asked.append(("allocate", str(t.device)))
    return records.ManagedFromPy(ours.managed_from_py)(t, out)

def tell(kind, device, out):
    asked.append(("stream", device))
    out[0] = current[device]
    return 0

table = fakes.fake_table(from_py=export, to_py=make)
table.record_from_py = fakes.slot(records.RecordFromPy, borrow)
table.allocator = fakes.slot(records.Allocator, allocate)
table.current_stream = fakes.slot(records.CurrentStream, tell)
Array.__dlpack_c_exchange_api__ = fakes.publish(table).__dlpack_c_exchange_api__
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build.c_functions(tmp_path_factory.mktemp("launch") / "functions.so")


@pytest.fixture
def run(cuda, library):
    """Runs a script with the functions of functions.c, and a framework."""
    return lambda script: cuda(
        f"f = gd.load_module({str(library)!r})\nfunctions = ctypes.CDLL({str(library)!r})\n" + FRAMEWORK + script
    )


def test_stream_of_the_caller(run):
    """R60: the first tensor on a device decides; during the call, its library's stream is godlpack's, too."""
    run("""
a, t = Array(gd.zeros(2, device="cuda")), gd.zeros(2, device="cuda")
s, r = new_stream(), new_stream()
assert f.stream(a, a) == f.stream(t, t) == 0
asked.clear()
fake.fake_reset()
current[0] = s
assert f.stream(a, a) == f.stream(a, t) == s and cuda.current_stream() == 0
assert asked == [("stream", 0)] * 2, "once a call"
with cuda.stream(r):
    assert f.stream(t, a) == f.stream(t, t) == r
    assert f.stream(a, t) == s and cuda.current_stream() == r
    assert f.stream([1, [a]], t) == s, "also in a list"
assert not log(), "nothing waits, and the driver is not even called"
seen = []
def callback(x):
    seen.append(cuda.current_stream())
    assert f.stream(x, x) == s
    with cuda.stream(r):
        assert f.stream(t, t) == r and f.stream(a, a) == s and cuda.current_stream() == r
    raise KeyError
raises(KeyError, "", f.invoke, callback, a)
assert seen == [s] and cuda.current_stream() == 0, "also after an exception"
del a, callback
""")


def test_stream_of_each_device(run):
    run("""
a, b = Array(gd.zeros(2, device="cuda:0")), Array(gd.zeros(2, device="cuda:1"))
current.update({0: new_stream(0), 1: new_stream(1)})
assert f.stream(a, b) == current[1] and f.stream(b, a) == current[0]
assert f.stream(a, gd.zeros(2)) == f.stream(gd.zeros(2), gd.zeros(2)) == 0, "the CPU has none"
asked.clear()
assert f.stream(gd.zeros(2), Array(gd.zeros(2))) == 0 and asked == []
assert f.stream_of(gd.Device("cuda:1")) == 0 and asked == []
assert f.stream_of(gd.Device("cuda:1"), like=Array) == current[1], "the results' library, where there is no tensor"
assert f.stream_of(gd.Device("rocm"), like=Array) == f.stream_of(gd.Device("cpu"), like=Array) == 0
assert cuda.current_stream(0) == cuda.current_stream(1) == 0
del a, b
""")


def test_stream_that_nobody_knows(run):
    run("""
table.current_stream = ctypes.cast(functions.no_stream, c_void_p).value
a = Array(gd.zeros(2, device="cuda"))
for _ in range(2):
    raises(TypeError, "no stream", f.stream, a, a)
    raises(TypeError, "no stream", f.stream_of, gd.Device("cuda"), like=Array)
table.current_stream = fakes.slot(records.CurrentStream, lambda *_: -1)
raises(RuntimeError, "stream(): the caller's framework did not return its stream of cuda:0", f.stream, a, a)
table.current_stream = None
s = new_stream()
with cuda.stream(s):
    assert f.stream(a, a) == s, "ours, where there is no other"
far = gd.from_dlpack(fakes.FakeTensor(device=(2, 64)).capsule())
raises(BufferError, "nop3(): cannot store a stream of cuda:64", f.nop3, far, far, far)
del a
""")


def test_producers_are_told_the_callers_stream(run):
    """A producer that has only __dlpack__ orders its work before that of the call."""
    run("""
class Producer:
    def __init__(self, t): self.t, self.asked = t, []
    def __dlpack_device__(self): return self.t.__dlpack_device__()
    def __dlpack__(self, **keywords):
        self.asked.append(keywords.get("stream"))
        return self.t.__dlpack__(**keywords)
a, p = Array(gd.zeros(2, device="cuda")), Producer(gd.zeros(2, device="cuda"))
s = current[0] = new_stream()
assert f.stream(a, p) == s and p.asked == [s]
assert f.stream(p, a) == 0 and p.asked == [s, 1], "it came first: ours is the default stream"
with cuda.stream(s):
    assert f.stream(p, p) == s
assert p.asked[2:] == [s, s]
del a, p
""")


def test_results_are_of_the_callers_allocator(run):
    run("""
a = Array(gd.zeros(3, device="cuda:1"))
current[1] = new_stream(1)
asked.clear()
y = f.empty_like(a)
assert type(y) is Array and str(y.t.device) == "cuda:1" and asked == [("stream", 1), ("allocate", "cuda:1")], asked
table.allocator = None
y = f.empty_like(a)
assert type(y) is Array and str(y.t.device) == "cuda:1" and y.t.shape == (3,) and len(asked) == 3
s = new_stream(1)
with cuda.stream(s, 1):
    fake.fake_reset()
    y = f.empty_like(a.t)
    assert type(y) is gd.Tensor and y.device == "cuda:1" and y.dtype == "float32" and y.shape == (3,) and y.data_ptr != a.t.data_ptr
    out = gd.zeros(3, device="cuda:1")
    assert f.empty_like(a.t, out=out) is out and not log("cuMemcpy")
    assert f.empty_like(a.t, out=a.t) is a.t, "made elsewhere, and copied on the same stream"
    (copied,), (filled,) = log("cuMemcpyDtoDAsync_v2 @1 12"), log("cuMemsetD8Async")
    assert copied.split()[-1] == filled.split()[-1] != "1"
    columns = gd.zeros((3, 2), device="cuda:1")
    assert f.empty_like(a.t, out=columns[:, 1]).shape == (3,) and log("cuMemcpy2DAsync_v2 @1 3x4")
fake.fake_fail(b"cuMemAlloc_v2", 0, 2)
raises(MemoryError, "empty_like(): a result: no memory on cuda:1: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)", f.empty_like, a.t)
metal = gd.from_dlpack(fakes.FakeTensor(device=(8, 0)).capsule())
raises(BufferError, "cannot make a tensor on metal:0", f.empty_like, metal)
del a, y, out, metal, columns
""")


def test_cuda_array_interface(run):
    """A function accepts what asarray accepts: also objects with only that interface, for whose stream it waits."""
    run("""
class Described:
    def __init__(self, t, **changes):
        self.t, self.changes = t, changes
    @property
    def __cuda_array_interface__(self):
        return {**self.t.__cuda_array_interface__, **self.changes}
t, s = gd.zeros((2, 3), device="cuda:1"), new_stream(1)
assert f.tell(Described(t), t, None) == f.tell(t, t, None), f.tell(Described(t), t, None)
assert f.tell([Described(t.T)], None, None) == f.tell([t.T], None, None)
assert f.stream(Described(t), Described(t)) == 0
fake.fake_reset()
assert f.stream(Described(t, stream=s), t) == 0 and len(log("cuStreamWaitEvent")) == 1
assert type(f.empty_like(Described(t))) is gd.Tensor
out = gd.zeros((2, 3), device="cuda:1")
f.empty_like(t, out=Described(out))
raises(BufferError, "argument 'x': __main__.Described.__cuda_array_interface__: want version 2 or 3", f.tell, Described(t, version=1))
raises(BufferError, "mask", f.tell, Described(t, mask=1))
raises(BufferError, "read-only", f.empty_like, t, out=Described(out, data=(out.data_ptr, True)))
del t, out
""")


def test_stream_of_a_call_that_is_left(run):
    """The current stream is godlpack's own again."""
    run(
        PRESSED
        + """
x = Array(gd.zeros(3, device="cuda"))
gd.from_dlpack(x)
current[0] = 7
assert f.stream(x, x) == 7
assert "was abandoned" in interrupted(lambda: f.spin(x), 0.5, 0.5)
assert gd._core._current_stream("cuda") == 0
os._exit(0)  # the call keeps its memory
"""
    )


def test_numpy_has_no_arrays_on_a_device(run, np):
    run("""
import numpy as np
x = gd.zeros(3, device="cuda")
gd.from_dlpack(np.ones(2))
raises(BufferError, "", x.to, np.ndarray)
raises(BufferError, "", f.empty_like, x, like=np.ndarray)
""")
