"""NumPy: every dtype and layout, in both directions, by every route."""

import array
import gc
import mmap
import weakref

import pytest

import godlpack as gd
from godlpack.testing.records import PADDED, READ_ONLY
from helpers.dtypes import FORMATS, ML_DTYPES, NUMPY
from helpers.fakes import managed_in
from helpers.layouts import BASE, KEYS, REVERSED

np = pytest.importorskip("numpy")

INTO = {  # routes from numpy to godlpack
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "legacy capsule": lambda a: gd.from_dlpack(a.__dlpack__()),
    "versioned capsule": lambda a: gd.from_dlpack(a.__dlpack__(max_version=(1, 0))),
    "buffer": lambda a: gd.asarray(memoryview(a)),
}
OUT = {  # and back
    "from_dlpack": np.from_dlpack,
    "asarray": np.asarray,
    "array": lambda t: np.array(t, copy=False),
    "to type": lambda t: t.to(np.ndarray),
    "to array": lambda t: t.to(np.zeros(1)),
    "buffer": lambda t: np.asarray(memoryview(t)),
}

into = pytest.mark.parametrize("into", INTO.values(), ids=INTO)
out = pytest.mark.parametrize("out", OUT.values(), ids=OUT)
every_dtype = pytest.mark.parametrize("dtype", NUMPY)


def sample(dtype="int32", shape=BASE):
    """An array of arbitrary bits."""
    kind = np.dtype(dtype)
    a = np.frombuffer(np.random.default_rng(1).bytes(int(np.prod(shape)) * kind.itemsize), np.uint8).copy()
    if kind.kind == "b":
        a &= 1
    return a.view(kind).reshape(shape)


LAYOUTS = {name: lambda a, key=key: a[key] for name, key in {**KEYS, **REVERSED}.items()}
LAYOUTS["Fortran"] = np.asfortranarray
LAYOUTS["transposed"] = lambda a: a.transpose(1, 0, 2)

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def address(a):
    return a.__array_interface__["data"][0]


def check_same(t, a):
    """Checks a tensor and an array over the same memory."""
    assert t.shape == a.shape
    assert t.dtype == a.dtype
    assert t.readonly == (not a.flags.writeable)
    if a.size:
        assert t.data_ptr == address(a)
        assert [s for s, n in zip(t.strides, t.shape, strict=True) if n > 1] == [
            s // a.itemsize for s, n in zip(a.strides, a.shape, strict=True) if n > 1
        ]
    assert repr(t.tolist()) == repr(t.copy().tolist()) == repr(a.tolist())  # nan equals nan in repr


@every_dtype
@into
def test_into(dtype, into):
    a = sample(dtype)
    check_same(into(a), a)


@layouts
@into
def test_layout_into(layout, into):
    a = layout(sample())
    check_same(into(a), a)


@every_dtype
@out
def test_out(dtype, out):
    t = gd.from_dlpack(sample(dtype)).copy()
    a = out(t)
    assert type(a) is np.ndarray
    check_same(t, a)


@layouts
@out
def test_layout_out(layout, out):
    t = gd.from_dlpack(layout(sample()))
    a = out(t)
    check_same(t, a)
    assert np.array_equal(a, layout(sample()))


@into
@out
def test_writes_are_seen(into, out):
    a = sample()
    b = out(into(a))
    assert np.shares_memory(a, b)
    a[1, 2, 1] = 42
    assert b[1, 2, 1] == 42
    b[0] = -1
    assert (a[0] == -1).all()


@into
def test_release_of_numpys_memory(into):
    a = sample()
    ref = weakref.ref(a)
    t = into(a)
    view = t[1:]
    del a, t
    gc.collect()
    assert ref() is not None
    del view
    gc.collect()
    assert ref() is None


@out
def test_release_of_our_memory(out):
    t = gd.zeros(1000, "int8")
    before = gd._core._counters()["storages_freed"]
    a = out(t)[10:20]
    del t
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before
    assert a.tolist() == [0] * 10
    del a
    assert gd._core._counters()["storages_freed"] == before + 1


@into
def test_exported_memory_cannot_be_resized(into):
    """R32"""
    a = np.zeros(10)
    t = into(a)
    with pytest.raises(ValueError, match="cannot resize"):
        a.resize(1000)
    assert t.size == 10


@layouts
@pytest.mark.parametrize("route", ["from_dlpack", "asarray", "versioned capsule", "buffer"])
def test_read_only_into(route, layout):
    """R23, R43"""
    a = sample()
    a.flags.writeable = False
    a = layout(a)
    a.flags.writeable = False
    t = INTO[route](a)
    assert t.readonly
    check_same(t, a)


@out
def test_read_only_out(out):
    """R43"""
    a = out(gd.asarray(bytes(range(10))))
    assert not a.flags.writeable
    assert a.tolist() == list(range(10))
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1


def test_broadcast():
    """A read-only array of numpy with a stride of 0."""
    a = np.broadcast_to(np.arange(3), (4, 3))
    t = gd.from_dlpack(a)
    assert t.readonly and t.strides == (0, 1)
    assert t.tolist() == a.tolist()
    assert np.from_dlpack(t).strides == a.strides


def test_odd_strides_of_extents_of_one():
    """R40"""
    a = np.lib.stride_tricks.as_strided(np.arange(8.0), (1, 3, 1), (1 << 20, 8, -64))
    for t in (gd.from_dlpack(a), gd.asarray(memoryview(a))):
        assert t.tolist() == [[[0.0], [1.0], [2.0]]]
        assert t.is_contiguous() and t.is_contiguous("F")
        assert np.array_equal(np.from_dlpack(t), a)


def test_overlapping():
    a = np.lib.stride_tricks.sliding_window_view(np.arange(5), 3)
    t = gd.from_dlpack(a)
    assert t.tolist() == a.tolist() == t.copy().tolist()


def test_misaligned():
    """R42"""
    a = np.zeros(41, np.uint8)[1:].view("float64")
    a[:] = [1, 2, 3, 4, 5]
    for t in (gd.from_dlpack(a), gd.asarray(memoryview(a))):
        assert t.data_ptr == address(a)
        assert t.tolist() == t.copy().tolist() == [1, 2, 3, 4, 5]
        assert np.from_dlpack(t).tolist() == [1, 2, 3, 4, 5]


def test_strides_that_are_no_multiple_of_the_element():
    """R17"""
    a = np.zeros(3, [("x", "i4"), ("y", "i2")])["x"]
    a[:] = [1, 2, 3]
    for route in (gd.from_dlpack, lambda a: gd.asarray(memoryview(a)), lambda a: gd.from_dlpack(a, copy=False)):
        with pytest.raises(BufferError):
            route(a)
    for route in (gd.from_dlpack, gd.asarray):
        t = route(a, copy=True)
        assert (t.tolist(), t.strides, t.readonly) == ([1, 2, 3], (1,), False)


def test_copy_that_is_no_array():
    class Strange(np.ndarray):
        def copy(self, order="C"):
            return 5

    a = np.zeros(3, [("x", "i4"), ("y", "i2")])["x"].view(Strange)
    with pytest.raises(TypeError, match=r"copy\(\) returned int: want an array"):
        gd.from_dlpack(a, copy=True)


UNSPEAKABLE = [">f4", ">i8", ">c16", "O", "U4", "S4", "f4,i4", "V8", "M8[s]", "m8[D]", "clongdouble"]


@pytest.mark.parametrize("dtype", [*UNSPEAKABLE, "longdouble"])
def test_dtypes_that_dlpack_cannot_say(dtype):
    """R18, R19: without and with a plan for arrays."""
    for route in (gd.from_dlpack, gd.from_dlpack, gd.asarray):
        with pytest.raises(BufferError, match=r"DLPack has no dtype for|DLPack only supports"):
            route(np.zeros(3, dtype))
        gd.from_dlpack(np.zeros(3))


def test_long_double_is_not_float128():
    with pytest.raises(BufferError):
        gd.full(2, 1.5, "float128").to(np.ndarray)
    assert gd.DType("float128") != np.longdouble


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">c16", "O", "U4", "f4,i4", "longdouble", "clongdouble"])
def test_buffers_that_dlpack_cannot_say(dtype):
    """R18, R19"""
    with pytest.raises(BufferError, match="want a buffer of numbers in native byte order, got format"):
        gd.asarray(memoryview(np.zeros(3, dtype)))


def test_one_byte_has_no_order():
    assert gd.asarray(memoryview(np.zeros(3, ">i1"))).dtype == "int8"


def test_masked_arrays():
    """Their memory does not contain the mask, but numpy exports them."""
    for route in (gd.from_dlpack, gd.from_dlpack, gd.asarray):
        with pytest.raises(BufferError, match=r"does not include its mask; use .filled\(\) or .data"):
            route(np.ma.masked_array([1.0, 2.0], [0, 1]))


def test_subclass_of_ndarray():
    a = np.arange(3).view(type("Sub", (np.ndarray,), {}))
    check_same(gd.from_dlpack(a), a)
    assert type(gd.zeros(3).to(np.ndarray)) is np.ndarray


def test_memmap(tmp_path):
    a = np.memmap(tmp_path / "memory", "int16", "w+", shape=(4, 5))
    a[...] = 7
    t = gd.from_dlpack(a)
    assert t.data_ptr == address(a) and t.tolist() == [[7] * 5] * 4


def test_scalars_are_no_arrays():
    with pytest.raises(TypeError, match="want a tensor"):
        gd.from_dlpack(np.float32(1))


def test_copy():
    a = sample()
    for route in (gd.from_dlpack, gd.asarray):
        t = route(a, copy=True)
        assert not np.shares_memory(np.from_dlpack(t), a)
        assert np.array_equal(np.from_dlpack(t), a)
        assert np.shares_memory(np.from_dlpack(route(a, copy=False)), a)


def test_copy_of_read_only_is_writable():
    """R24"""
    a = sample()
    a.flags.writeable = False
    assert not gd.from_dlpack(a, copy=True).readonly
    assert not gd.asarray(a, copy=True).readonly


def test_numpy_asks_for_a_copy():
    t = gd.zeros(3)
    assert np.from_dlpack(t, copy=True).__array_interface__["data"][0] != t.data_ptr
    assert np.shares_memory(np.from_dlpack(t, copy=False, device="cpu"), np.asarray(t))


@pytest.mark.parametrize("dtype", ["int4", "float32x4", "handle", "int128", "float4_e2m1fn"])
def test_dtypes_that_numpy_has_not(dtype):
    for like in (np.ndarray, np.zeros(1)):
        with pytest.raises(BufferError, match=rf"numpy.ndarray cannot take this tensor \({dtype}"):
            gd.zeros(4, dtype).to(like)


def test_to_does_not_swallow_the_reason():
    with pytest.raises(BufferError, match=r"shape \[4\], strides \[1\], on cpu\) without a copy: .+"):
        gd.zeros(4, "int128").to(np.ndarray)


@pytest.mark.parametrize("dtype", ML_DTYPES)
def test_dtypes_of_ml_dtypes(dtype, ml_dtypes):
    """numpy itself does not exchange these."""
    a = np.arange(16, dtype=np.uint8).view(getattr(ml_dtypes, dtype))
    for _ in range(2):
        t = gd.from_dlpack(a)
        assert (t.dtype, t.data_ptr, t.shape) == (dtype, address(a), a.shape)
        for like in (np.ndarray, a):
            b = t.to(like)
            assert b.dtype == a.dtype and np.shares_memory(a, b)
            assert b.tobytes() == a.tobytes()


@pytest.mark.parametrize("dtype", ["int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_small_dtypes_of_ml_dtypes(dtype, ml_dtypes):
    """R21: one byte for each element, and the flag for that."""
    a = np.array([1, 2, 3], getattr(ml_dtypes, dtype))
    for _ in range(2):
        t = gd.from_dlpack(a)
        assert (t.dtype, t.data_ptr, t.nbytes) == (dtype, address(a), 3)
        assert t.tolist() == [1, 2, 3]
        assert managed_in(t.__dlpack__(max_version=(1, 0))).flags & PADDED
        b = t.to(np.ndarray)
        assert b.dtype == a.dtype and np.shares_memory(a, b)
        with pytest.raises(BufferError, match=f"cannot take this tensor \\({dtype}"):
            gd.zeros(3, dtype).to(np.ndarray)


def test_array_interface():
    a = sample("float32")[1:, ::-2]
    t = gd.from_dlpack(a)
    ours, theirs = t.__array_interface__, a.__array_interface__
    for key in ("version", "typestr", "shape", "data"):
        assert ours[key] == theirs[key]
    assert tuple(ours["strides"]) == a.strides
    b = np.asarray(type("Holder", (), {"__array_interface__": ours})())
    assert np.shares_memory(a, b) and np.array_equal(a, b)


@every_dtype
def test_array_interface_of_others(dtype):
    """An object with only this interface: it is held while its memory is used."""
    a = sample(dtype)[::-1]
    holder = type("Holder", (), {"__array_interface__": a.__array_interface__})()
    ref = weakref.ref(holder)
    t = gd.asarray(holder)
    check_same(t, a)
    del holder
    gc.collect()
    assert ref() is not None
    del t
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize(
    "change",
    [
        {"typestr": ">f4"},
        {"typestr": "<O8"},
        {"typestr": "f4"},
        {"typestr": None},
        {"shape": (-1,)},
        {"shape": "3"},
        {"strides": (4, 4)},
        {"strides": (3,)},
        {"data": (0, False)},
        {"data": (16, False)},
        {"data": (2**64, False)},
        {"data": None},
        {"data": (1,)},
        {"data": "memory"},
        {"mask": np.zeros(3)},
    ],
)
def test_wrong_array_interfaces(change):
    a = np.zeros(3, "f4")
    interface = {**a.__array_interface__, "strides": (4,), **change}
    with pytest.raises((BufferError, TypeError, ValueError), match=r"Holder\.__array_interface__"):
        gd.asarray(type("Holder", (), {"__array_interface__": interface})())


# ---- the buffer protocol: godlpack as the consumer ----


@every_dtype
def test_buffer_formats(dtype):
    t = gd.asarray(memoryview(sample(dtype)))
    assert memoryview(t).format == FORMATS[dtype] or dtype.startswith("complex")


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_array_module(code):
    memory = array.array(code, [1, 2, 3])
    t = gd.asarray(memory)
    assert t.tolist() == [1, 2, 3]
    assert t.itemsize == memory.itemsize
    assert t.data_ptr == memory.buffer_info()[0]
    memory[0] = 7
    assert t[0].item() == 7
    with pytest.raises(BufferError):
        memory.append(4)
    del t
    memory.append(4)


def test_array_of_text():
    code = "w" if "w" in array.typecodes else "u"
    with pytest.raises(BufferError, match="want a buffer of numbers"):
        gd.asarray(array.array(code, "ab"))


@pytest.mark.parametrize("code", "?bBhHiIlLqQnNefdc")
def test_formats_of_the_struct_module(code):
    memory = memoryview(bytearray(16)).cast("B").cast(code) if code != "e" else memoryview(np.zeros(8, "e"))
    t = gd.asarray(memory)
    assert (t.size, t.itemsize) == (len(memory), memory.itemsize)


def test_bytes():
    memory = b"hello"
    t = gd.asarray(memory)
    assert t.readonly and t.dtype == "uint8" and bytes(memoryview(t)) == memory
    assert gd.asarray(b"").shape == (0,)
    assert managed_in(t.__dlpack__(max_version=(1, 0))).flags == READ_ONLY


def test_bytearray():
    memory = bytearray(b"hello")
    t = gd.asarray(memory)
    memory[0] = ord("j")
    assert not t.readonly and t[0].item() == ord("j")
    with pytest.raises(BufferError):
        memory.clear()
    del t
    memory.clear()


def test_memoryview():
    memory = memoryview(bytearray(range(24))).cast("B", (4, 6))
    t = gd.asarray(memory[::2])
    assert (t.shape, t.strides) == ((2, 6), (12, 1))
    assert t.tolist() == memory[::2].tolist()
    assert gd.asarray(memory.toreadonly()).readonly


def test_mmap():
    with mmap.mmap(-1, 4096) as memory:
        t = gd.asarray(memory)
        memory[:3] = b"abc"
        assert t[:3].tolist() == [97, 98, 99]
        with pytest.raises(BufferError):
            memory.close()
        del t


def test_odd_stride_of_a_single_element(np):
    """A stride of a single element has no effect. With more elements, such a stride cannot be exported (R17)."""
    a = np.arange(4, dtype="int32")
    odd = np.lib.stride_tricks.as_strided(a, (1, 2), (3, 4))
    for _ in range(2):
        assert gd.from_dlpack(odd).tolist() == [[0, 1]]
    with pytest.raises(BufferError):
        gd.from_dlpack(np.lib.stride_tricks.as_strided(a, (2, 2), (3, 4)))


def test_numpy_that_is_not_as_known(python):
    """If the fast path reads arrays incorrectly, arrays are exchanged by their methods, with the same results."""
    out = python("""
import numpy as np
import godlpack as gd
import godlpack._numpy
godlpack._numpy.agree = lambda *_: False
for _ in range(3):
    x = np.arange(6.0).reshape(2, 3)
    t = gd.from_dlpack(x)
    assert t.data_ptr == x.ctypes.data and t.tolist() == x.tolist()
    y = t.to(np.ndarray)
    assert type(y) is np.ndarray and y.ctypes.data == x.ctypes.data
print("as before")
""")
    assert out == "as before\n"


@pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_dtype_with_a_number_beyond_all_others():
    x = np.array(["a", "b"], dtype=np.dtypes.StringDType())
    gd.from_dlpack(np.ones(2))
    for take in (gd.from_dlpack, gd.asarray):
        with pytest.raises(BufferError, match="DLPack has no dtype"):
            take(x)
