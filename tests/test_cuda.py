"""Tensors on CUDA devices, with a fake driver (cuda/testdata/fake): it does queued work only when something waits for
it, protects device memory from the CPU, logs every call, and counts what is not released.

Each test is a script in its own process, since a process has one driver.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from helpers import build

# ---- without a driver ----


def test_no_driver(python):
    python("""
import sys
import godlpack as gd
assert "godlpack.cuda" not in sys.modules
class Array:
    __cuda_array_interface__ = {"version": 3, "shape": (2,), "typestr": "<f4", "data": (1 << 40, False)}
for ask in (lambda: gd.zeros(3, device="cuda"), lambda: gd.zeros(3).to("cuda:0"), lambda: gd.asarray(Array()), gd.cuda.device_count,
            gd.cuda.synchronize, lambda: gd.zeros(3, device="cuda_host"), lambda: gd.zeros(3).__dlpack__(dl_device=(2, 0))):
    try:
        ask()
    except BufferError as e:
        assert "no CUDA driver: libcuda-kept-away.so" in str(e), e
    else:
        raise AssertionError(ask)
with gd.cuda.stream(1 << 20):
    assert gd.cuda.current_stream() == 1 << 20  # which takes no driver
""")


def test_variable_set_by_python(driver, python):
    """The process's current environment counts, not the initial one."""
    python(f"""
import os
del os.environ["GODLPACK_LIBCUDA"]
os.environ["GODLPACK_LIBCUDA"] = {str(driver)!r}
import godlpack.cuda
assert godlpack.cuda.device_count() == 2
""")


def test_driver_is_opened_at_first_use(cuda):
    cuda("""
gd.zeros(3).to("cpu"), gd.zeros(3).copy(), gd.zeros(3).__dlpack__(), cuda.current_stream()
assert log() == []
gd.zeros(3, device="cuda:1")
assert log()[:4] == ["cuInit 0", "cuDeviceGet 1", "cuDeviceGetAttribute 115 1", "cuDevicePrimaryCtxRetain 1"], log()
assert cuda.device_count() == 2
""")


def test_no_device(cuda):
    cuda(
        'raises(BufferError, "CUDA_ERROR_NO_DEVICE (100)", gd.zeros, 3, device="cuda")\n'
        'raises(BufferError, "CUDA_ERROR_NO_DEVICE (100)", cuda.device_count)',
        FAKE_CUDA_DEVICES="0",
    )


def test_the_fake_is_declared_as_nvidia_declares(tmp_path):
    """All functions of the fake have the arguments of cuda.h, if another package has that header."""
    headers = [h for p in map(Path, sys.path) for h in (p / "triton/backends/nvidia/include/cuda.h",) if h.exists()]
    if not headers or not build.DRIVER.exists():
        pytest.skip("no cuda.h")
    command = [*build.CC, "-DWITH_CUDA_H", "-Werror", "-I", headers[0].parent, "-fsyntax-only", build.DRIVER]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- new tensors ----


def test_new_tensors(cuda):
    cuda("""
t = gd.full((2, 3), 1.5, device="cuda:1")
assert t.device == "cuda:1" and t.__dlpack_device__() == (2, 1) and t.is_contiguous() and t.strides == (3, 1)
assert t.to("cpu").tolist() == [[1.5] * 3] * 2
assert gd.empty(4, device="cuda").device == "cuda:0"
for device in ("cuda:0", "cuda_host", "cuda_managed"):
    for dtype in ("bool", "int8", "float16", "bfloat16", "int32", "float64", "complex128", "int4", "float32x2", "float8_e4m3fn"):
        z = gd.zeros(5, dtype, device=device)
        assert z.device == device and z.to("cpu").__reduce_ex__(2) == gd.zeros(5, dtype).__reduce_ex__(2), (device, dtype)
        if dtype != "float32x2":
            f = gd.full(5, 1, dtype, device=device)
            assert f.to("cpu").__reduce_ex__(2) == gd.full(5, 1, dtype).__reduce_ex__(2), (device, dtype)
    none = gd.zeros((0, 3), device=device)
    assert none.data_ptr == 0 and none.shape == (0, 3) and none.to("cpu").tolist() == []
    del z, f, none
assert live() == 1, "only t is left"
raises(ValueError, "CUDA_ERROR_INVALID_DEVICE (101)", gd.zeros, 3, device="cuda:2")
raises(MemoryError, "CUDA_ERROR_OUT_OF_MEMORY (2)", gd.zeros, 1 << 40, device="cuda")
raises(MemoryError, "bytes", gd.zeros, 1 << 62, "float64", device="cuda")
raises(BufferError, "cannot make a tensor on rocm:0: want cpu, cuda", gd.zeros, 3, device="rocm")
raises(ValueError, "300", gd.full, 3, 300, "uint8", device="cuda")
""")


def test_failures_give_memory_back(cuda):
    cuda("""
cpu = of(1, 2, 3)
for name in ("cuMemAlloc_v2", "cuMemsetD32Async", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize", "cuCtxPushCurrent_v2"):
    for make in (lambda: gd.full(3, 2.0, device="cuda"), lambda: cpu.to("cuda")):
        make()
        fake.fake_fail(name.encode(), 0, 999)
        try:
            make()
        except RuntimeError as e:
            assert name in str(e) and "(999)" in str(e), e
        fake.fake_fail(b"", 0, 0)
        assert live() == 0, name
""")


def test_memory_is_freed_once_whoever_has_it_last(cuda):
    cuda("""
t = gd.zeros(8, device="cuda")
view, capsule = t[2:4], t.__dlpack__(max_version=(1, 0))
del t
assert live() == 1
del view
assert live() == 1
thread = threading.Thread(target=lambda box: box.clear(), args=([capsule],))
del capsule
thread.start(); thread.join(); del thread
gc.collect()
assert live() == 0 and len(log("cuMemFree_v2 @0")) == 1
""")


def test_forked_child_leaks(cuda):
    cuda("""
t = gd.zeros(8, device="cuda")
fake.fake_reset()
child = os.fork()
if child == 0:
    del t
    os._exit(len(log()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child called the driver"
""")


def test_forked_child_has_no_cuda(cuda):
    """CUDA initialized before a fork does not work in the child; otherwise it can be used there."""
    cuda("""
def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as e:
            print(repr(e), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def first_use():
    fake.begin_again()
    assert gd.full(2, 3.0, device="cuda").to("cpu").tolist() == [3, 3]
in_child(first_use)
t = gd.zeros(2, device="cuda")
def late_use():
    raises(RuntimeError, "CUDA_ERROR_NOT_INITIALIZED (3)", gd.zeros, 2, device="cuda")
    raises(RuntimeError, "CUDA_ERROR_NOT_INITIALIZED (3)", t.copy)
in_child(late_use)
assert t.to("cpu").tolist() == [0, 0]
""")


def test_exit_with_tensors_left(cuda):
    cuda("""
sys.modules["keep"] = (gd.zeros(8, device="cuda"), gd.zeros(8, device="cuda").__dlpack__())
os.environ["x"] = "y"
sys.exit(0)
""")


# ---- copies ----


def test_copies(cuda):
    cuda("""
cpu = of(*range(24)).reshape(2, 3, 4)
there = cpu.to("cuda:0")
assert there.to("cuda:0") is there and there.to("cpu").tolist() == cpu.tolist()
views = [lambda t: t, lambda t: t.T, lambda t: t[:, 1], lambda t: t[::-1, :, ::2], lambda t: t.permute(1, 0, 2), lambda t: t[1, 2, 3], lambda t: t[:0]]
for view in views:
    want = view(cpu).tolist()
    for device in ("cuda:0", "cuda:1", "cpu", "cuda_host", "cuda_managed"):
        got = view(there).to(device)
        assert got.device == device and (got.to("cpu")).tolist() == want, (device, want, got.to("cpu").tolist())
        assert view(cpu).to(device).to("cpu").tolist() == want
    copied = view(there).copy()
    assert copied.device == "cuda:0" and copied.is_contiguous() and not copied.readonly and copied.to("cpu").tolist() == want
    assert copied.size == 0 or copied.data_ptr != there.data_ptr
    assert view(there).contiguous().to("cpu").tolist() == want
assert there.contiguous() is there
assert gd.from_dlpack(cpu, device="cuda:1").to("cpu").tolist() == cpu.tolist()
assert gd.from_dlpack(there, device="cpu").tolist() == cpu.tolist()
assert gd.from_dlpack(there, copy=True).to("cpu").tolist() == cpu.tolist()
assert gd.from_dlpack(there).data_ptr == there.data_ptr
raises(BufferError, "needs a copy, and copy=False", gd.from_dlpack, there, device="cpu", copy=False)
packed = gd.zeros((4, 4), "int4").to("cuda")
raises(BufferError, "packed int4 on cuda:0", packed.T.copy)
raises(BufferError, "cannot copy from cuda:0 to metal:0", there.to, "metal")
del got, copied, packed
""")


def test_copies_are_on_the_current_stream(cuda):
    cuda("""
a, s = of(1, 2).to("cuda"), new_stream()
fake.fake_reset()
with cuda.stream(s):
    b = a.copy()
    assert len(log("cuMemcpyDtoDAsync_v2 @0 8 on")) == 1 and not log("cuMemcpyDtoDAsync_v2 @0 8 on 1")
    assert peek(b) != peek(a), "queued, not done"
    assert b.to("cpu").tolist() == [1, 2], "the same stream: behind the copy"
    assert not log("cuEvent")
c = of(3, 4).to("cuda")
assert peek(c) == bytes(of(3, 4)), "from the host: done when it returns"
cuda.synchronize()
""")


def test_copies_between_devices_keep_order(cuda):
    """The reader's stream waits for the writer's, and the next writer's for the reader's."""
    cuda("""
a, s = gd.zeros(2, device="cuda:0"), new_stream(0)
with cuda.stream(s, device=0):
    fill = of(7, 8).to("cuda:0").copy()
    b = fill.to("cuda:1")
    assert log("cuMemcpyPeerAsync")[-1].startswith("cuMemcpyPeerAsync @1 8 from 0 to 1")
    waits = log("cuStreamWaitEvent")
    assert len(waits) == 2 and waits[0].startswith("cuStreamWaitEvent @1 1 for") and waits[1].startswith("cuStreamWaitEvent @0"), waits
    assert b.to("cpu").tolist() == [7, 8]
del fill
""")


def test_the_cpu_never_touches_device_memory(cuda):
    """Each way to read is refused with an error; an access to the memory would end the process."""
    cuda("""
t = gd.zeros((2, 2), device="cuda:1")
assert "cuda:1" in repr(t) and "shape=(2, 2)" in repr(t)
assert t.nbytes == 16 and len(t) == 2 and t.data_ptr
for read in (t.tolist, t[0, 0].item, lambda: t.astype("int8"), lambda: memoryview(t), lambda: t.__reduce_ex__(5), lambda: t.__array__(),
             lambda: gd.asarray(t, dtype="int8"), lambda: bytes(t)):
    try:
        read()
    except (BufferError, TypeError) as e:
        assert "cuda:1" in str(e), e
    else:
        raise AssertionError(read)
assert [row.device for row in t] == ["cuda:1"] * 2 and not hasattr(t, "__array_interface__")
m = gd.full(2, 3.0, device="cuda_managed")
assert m.tolist() == [3, 3] and gd.full(2, 3.0, device="cuda_host").tolist() == [3, 3]
""")


# ---- streams, as a producer ----


def test_streams_of_consumers(cuda):
    """R27 to R29"""
    cuda("""
s = new_stream()
t = of(1, 2).to("cuda")
fake.fake_reset()
for stream in (None, 1, -1):
    t.__dlpack__(stream=stream)
    assert not log("cuEvent"), "nobody has to wait"
t.__dlpack__(stream=s)
assert len(log("cuEventRecord @0")) == len(log("cuStreamWaitEvent @0")) == len(log("cuEventDestroy_v2")) == 1
assert log("cuEventRecord")[0].endswith("on 1") and not log("cuStreamSynchronize") and not log("cuEventSynchronize")
fake.fake_reset()
t.__dlpack__(stream=2, max_version=(1, 0))
assert log("cuStreamWaitEvent")[0].startswith("cuStreamWaitEvent @0 2 for")
fake.fake_reset()
with cuda.stream(s):
    t.__dlpack__(stream=s), t.__dlpack__(stream=-1)
    assert not log("cuEvent")
    for stream in (None, 1):
        t.__dlpack__(stream=stream)
    assert len(log("cuEventRecord")) == 2
for stream in (0, -2, -100):
    raises(ValueError, "argument 'stream'", t.__dlpack__, stream=stream)
raises(TypeError, "want None or an int", t.__dlpack__, stream="1")
raises(RuntimeError, "CUDA_ERROR_INVALID_HANDLE", t.__dlpack__, stream=123456)
raises(ValueError, "7 is not a stream of device cpu", t.__dlpack__, stream=7, dl_device=(1, 0))
""")


def test_consumers_see_what_was_queued(cuda):
    """A consumer's stream that waits reads new values; a consumer that passed -1 may read old ones."""
    cuda("""
mine, theirs = new_stream(), new_stream()
result = gd.zeros(1, device="cuda")
cuda.synchronize()
for stream, want in ((-1, 0.0), (theirs, 5.0)):
    with cuda.stream(mine):
        t = gd.zeros(1, device="cuda")
        cuda.synchronize()
        five = of(5).to("cuda")
        t = five.copy() if stream != -1 else t
        c = t.__dlpack__(stream=stream)
    with cuda.stream(theirs):
        assert t.to("cpu").item() == want
del five, c
""")


def test_dl_device(cuda):
    """R26, R29: the stream belongs to the requested device."""
    cuda("""
s = new_stream(1)
t = of(1, 2).to("cuda:0")
host = gd.from_dlpack(t.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
assert host.device == "cpu" and host.tolist() == [1, 2]
fake.fake_reset()
far = gd.from_dlpack(t.__dlpack__(dl_device=(2, 1), stream=s, max_version=(1, 0)))
assert far.device == "cuda:1" and far.to("cpu").tolist() == [1, 2]
assert log("cuStreamWaitEvent @1")[-1].split(" ")[2] != "1", "the consumer's stream waits for the copy"
up = gd.from_dlpack(of(3).__dlpack__(dl_device=(2, 0), stream=1))
assert up.device == "cuda:0" and up.to("cpu").tolist() == [3]
again = gd.from_dlpack(t.__dlpack__(copy=True))
assert again.device == "cuda:0" and again.data_ptr != t.data_ptr
raises(BufferError, "copy=False", t.__dlpack__, dl_device=(1, 0), copy=False)
raises(BufferError, "cannot copy from cuda:0 to rocm:0", t.__dlpack__, dl_device=(10, 0))
""")


# ---- streams, as a consumer ----

PRODUCER = """
class Producer:
    "Speaks __dlpack__ alone, and notes what it is asked."
    def __init__(self, t, device=None):
        self.t, self.device, self.asked = t, device or t.__dlpack_device__(), []
    def __dlpack_device__(self):
        return self.device
    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return self.t.__dlpack__(**keywords)
"""


def test_producers_are_told_our_stream(cuda):
    cuda(
        PRODUCER
        + """
s = new_stream()
class OnCPU(Producer): pass
p, q = Producer(gd.zeros(2, device="cuda")), OnCPU(gd.zeros(2))
for _ in range(3):
    gd.from_dlpack(p), gd.from_dlpack(q)
    with cuda.stream(s):
        assert gd.from_dlpack(p).data_ptr == p.t.data_ptr
        gd.from_dlpack(q)
assert [a["stream"] for a in p.asked if "stream" in a] == [1, s] * 3, p.asked
assert not any("stream" in a for a in q.asked)
p.asked.clear()
gd.from_dlpack(p, device="cpu"), gd.from_dlpack(p, device="cuda:0")
assert "stream" not in p.asked[0] and p.asked[0]["dl_device"] == (1, 0) and p.asked[1]["stream"] == 1
class Old(Producer):
    def __dlpack__(self, *, stream=None):
        self.asked.append(stream)
        return self.t.__dlpack__(stream=stream)
old = Old(p.t)
with cuda.stream(s):
    gd.from_dlpack(old)
assert old.asked == [s], "an old producer is told all the same"
for odd in (None, (), (2,), ("2", 0), 5):
    p.device = odd
    assert gd.from_dlpack(p).device == "cuda:0"
p.t = q.t = old.t = None
"""
    )


def test_producers_that_were_on_the_cpu_before(cuda):
    """A type that has exported CPU tensors is called by the fast path, without a stream: its work is then done on the
    default stream (R28), for which godlpack's waits."""
    cuda(
        PRODUCER
        + """
s = new_stream()
p = Producer(gd.zeros(2))
gd.from_dlpack(p)
p.t = of(1, 2).to("cuda")
p.device, p.asked = (2, 0), []
fake.fake_reset()
assert gd.from_dlpack(p).data_ptr == p.t.data_ptr and not log("cuEvent")
with cuda.stream(s):
    t = gd.from_dlpack(p)
assert p.asked == [{"max_version": (1, 3)}] * 2, "once each"
waits = [line.split()[2] for line in log("cuStreamWaitEvent")]  # first p's own, for the consumer; then ours
assert [line.split(" on ")[1] for line in log("cuEventRecord")] == waits[::-1] and waits[0] == "1" != waits[1], log("cu")
fake.fake_fail(b"cuStreamWaitEvent", 1, 999)
with cuda.stream(s):
    raises(RuntimeError, "Producer: cannot order two streams of cuda:0: cuStreamWaitEvent", gd.from_dlpack, p)
p.t = None
"""
    )


def test_stream_of_the_table(cuda):
    """R58, R60: the table reports godlpack's stream and orders nothing; each thread has its own."""
    cuda("""
class Table(ctypes.Structure):
    _fields_ = [("header", ctypes.c_void_p * 2)] + [(n, ctypes.c_void_p) for n in ("allocate", "take", "make", "borrow", "stream")]
ask = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))(Table.from_address(gd.Tensor.__c_dlpack_exchange_api__).stream)
def told(kind=2, device=0):
    out = ctypes.c_void_p(99)
    assert ask(kind, device, ctypes.byref(out)) == 0
    return out.value or 0
s, r = new_stream(0), new_stream(1)
assert told() == 0
with cuda.stream(s), cuda.stream(r, device=1):
    assert told() == s == cuda.current_stream() and told(2, 1) == r == cuda.current_stream("cuda:1")
    assert told(1) == 0 and told(10) == 0 and told(2, 2) == 0 and told(2, 64) == 0 and told(2, -1) == 0
    with cuda.stream(0):
        assert told() == 0
    assert told() == s
    others = []
    thread = threading.Thread(target=lambda: others.append(told()))
    thread.start(); thread.join()
    assert others == [0]
    t = gd.zeros(2, device="cuda")
    fake.fake_reset()
    assert gd.from_dlpack(t).device == "cuda:0" and log() == []
assert told() == 0 and told(2, 1) == 0
""")


def test_kinds_of_streams(cuda):
    cuda("""
s, r = new_stream(0), new_stream(1)
class Torch: cuda_stream, device_index = r, 1
class Cupy: ptr, device_id = s, -1
class Protocol:
    def __cuda_stream__(self): return (0, s)
class Pair: __cuda_stream__ = (0, s)
for stream, device, want in ((Torch(), 1, r), (Cupy(), 0, s), (Protocol(), 0, s), (Pair(), 0, s), (s, 0, s), (2, 0, 2), (1, 0, 1), (0, 0, 0)):
    with cuda.stream(stream):
        assert cuda.current_stream(device) == want
for device in (1, "cuda:1", gd.Device("cuda:1")):
    with cuda.stream(s, device=device):
        assert cuda.current_stream(1) == s and cuda.current_stream() == 0
again = cuda.stream(s)
with again, again:
    assert cuda.current_stream() == s
assert cuda.current_stream() == 0
class Future:
    def __cuda_stream__(self): return (1, s)
class Broken:
    def __cuda_stream__(self): raise KeyError("mine")
def enter(*args, **keywords):
    with cuda.stream(*args, **keywords): pass
for stream, error, wanted in ((Future(), ValueError, "want (0, handle)"), (Broken(), KeyError, "mine"), ("x", TypeError, "want a handle"), (None, TypeError, "want a handle"),
                              (True, TypeError, "want a handle"), (-1, ValueError, "the address of a stream, got -1"), (3, ValueError, "the address of a stream, got 3"), (2**70, ValueError, "64 bits")):
    raises(error, wanted, enter, stream)
raises(ValueError, "want a CUDA device, got cpu", enter, s, "cpu")
raises(ValueError, "cannot store a stream of cuda:64: want a device number below 64", enter, s, 64)
raises(ValueError, "id >= 0", enter, s, -1)
raises(TypeError, "want a Device or its name", cuda.current_stream, 1.5)
try:
    with cuda.stream(s):
        raise KeyError
except KeyError:
    assert cuda.current_stream() == 0
""")


# ---- the CUDA array interface ----

ARRAY = """
class Array:
    def __init__(self, t, **changes):
        self.t = t
        self.__cuda_array_interface__ = {**t.__cuda_array_interface__, **changes}
    @property
    def __cuda_array_interface__(self): return self.d
    @__cuda_array_interface__.setter
    def __cuda_array_interface__(self, d): self.d = {k: v for k, v in d.items() if v is not ...}
"""


def test_interface_out(cuda):
    cuda("""
t = gd.zeros((2, 3), device="cuda:1")
want = {"version": 3, "typestr": "<f4", "data": (t.data_ptr, False), "shape": (2, 3), "strides": None, "stream": 1}
assert t.__cuda_array_interface__ == want
assert t.T.__cuda_array_interface__ == {**want, "shape": (3, 2), "strides": (4, 12)}
s = new_stream(1)
with cuda.stream(s, 1):
    assert t.__cuda_array_interface__["stream"] == s
assert not hasattr(gd.zeros(3), "__cuda_array_interface__") and not hasattr(gd.zeros(3, device="cuda_host"), "__cuda_array_interface__")
assert gd.zeros(3, device="cuda_managed").__cuda_array_interface__["version"] == 3
raises(BufferError, "cannot describe bfloat16", lambda: gd.zeros(3, "bfloat16", device="cuda").__cuda_array_interface__)
""")


def test_interface_in(cuda):
    cuda(
        ARRAY
        + """
t = of(*range(6)).reshape(2, 3).to("cuda:1")
a = gd.asarray(Array(t))
assert a.device == "cuda:1" and a.data_ptr == t.data_ptr and a.shape == (2, 3) and not a.readonly
assert a.to("cpu").tolist() == t.to("cpu").tolist()
assert gd.asarray(Array(t.T)).to("cpu").tolist() == t.T.to("cpu").tolist()
assert gd.asarray(Array(t, version=2, stream=...)).device == "cuda:1"
assert gd.asarray(Array(t, data=(t.data_ptr, True))).readonly
assert gd.asarray(Array(t), copy=True).data_ptr != t.data_ptr
assert gd.asarray(Array(gd.zeros(2, device="cuda_managed"))).device == "cuda_managed"
assert gd.asarray(Array(t, shape=(0,), strides=None, data=(0, False))).shape == (0,)
for wrong, error, wanted in (
    ({"version": 1}, BufferError, "want version 2 or 3, got 1"), ({"version": ...}, BufferError, "want version 2 or 3"),
    ({"version": "3"}, BufferError, "want version 2 or 3"), ({"mask": t}, BufferError, "mask"), ({"typestr": ">f4"}, BufferError, "native byte order"),
    ({"typestr": "<V8"}, BufferError, "want a typestr"), ({"shape": ...}, BufferError, "want a shape"), ({"data": ...}, BufferError, "want data"),
    ({"data": (0, False)}, BufferError, "not an address of 6 elements"), ({"strides": (12,)}, ValueError, "want 2 strides, got 1"),
    ({"strides": (12, 2)}, BufferError, "whole elements"), ({"data": (id(t), False)}, BufferError, "not an address of CUDA memory"),
    ({"stream": 0}, ValueError, "stream 0 is ambiguous"), ({"stream": -1}, ValueError, "got stream -1"), ({"stream": "1"}, TypeError, "want None or an int"),
):
    raises(error, wanted, gd.asarray, Array(t, **wrong))
    raises(error, "Array.__cuda_array_interface__: ", gd.asarray, Array(t, **wrong))
del a
"""
    )


def test_interface_streams(cuda):
    """None requests no order. For another stream than godlpack's, the device waits, not the host."""
    cuda(
        ARRAY
        + """
s = new_stream()
t = gd.zeros(2, device="cuda")
fake.fake_reset()
for stream in (None, 1):
    gd.asarray(Array(t, stream=stream))
assert not log("cuEvent")
gd.asarray(Array(t, stream=s))
assert len(log("cuEventRecord")) == 1 and log("cuStreamWaitEvent")[0].startswith("cuStreamWaitEvent @0 1 for") and not log("cuStreamSynchronize")
fake.fake_reset()
with cuda.stream(s):
    gd.asarray(Array(t, stream=s)), gd.asarray(Array(t, stream=None))
    assert not log("cuEvent")
    gd.asarray(Array(t, stream=2))
    assert log("cuEventRecord")[0].endswith("on 2")
raises(RuntimeError, "CUDA_ERROR_INVALID_HANDLE", gd.asarray, Array(t, stream=4096))
"""
    )


def test_many_threads(cuda):
    cuda("""
failed = []
def work(i):
    try:
        for n in range(30):
            t = of(i, n).to(f"cuda:{i % 2}")
            assert t.copy().to("cpu").tolist() == [i, n]
    except BaseException as e:
        failed.append(e)
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not failed, failed
""")
