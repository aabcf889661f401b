"""ctypes objects, also those of multiprocessing: memory whose buffers have no strides."""

import ctypes
import gc
import multiprocessing
import weakref

import pytest

import godlpack as gd

np = pytest.importorskip("numpy")

INTEGERS = [
    ctypes.c_byte, ctypes.c_ubyte, ctypes.c_short, ctypes.c_ushort, ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_ulong,
    ctypes.c_longlong, ctypes.c_ulonglong, ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_int8, ctypes.c_uint16, ctypes.c_int64,
]  # fmt: skip
NUMBERS = [*INTEGERS, ctypes.c_float, ctypes.c_double, ctypes.c_bool]
OTHERS = [
    ctypes.c_longdouble, ctypes.c_wchar, ctypes.c_char_p, ctypes.c_wchar_p, ctypes.c_void_p, ctypes.py_object,
    ctypes.POINTER(ctypes.c_int), ctypes.c_int.__ctype_be__,
]  # fmt: skip


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))


class Choice(ctypes.Union):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))


class Bits(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int, 3), ("b", ctypes.c_int, 29))


kinds = pytest.mark.parametrize("kind", NUMBERS, ids=lambda kind: kind.__name__)


def check(x):
    """A tensor over the memory of x, compared with NumPy's array over it."""
    t, a = gd.asarray(x), np.ctypeslib.as_array(x) if isinstance(x, ctypes.Array) else np.asarray(x)
    assert (t.shape, t.dtype, t.tolist()) == (a.shape, a.dtype, a.tolist())
    assert t.is_contiguous() and not t.readonly
    if t.size:
        assert t.data_ptr == ctypes.addressof(x)
    return t


@kinds
@pytest.mark.parametrize("extents", [(4,), (0,), (1,), (2, 3), (2, 0), (2, 3, 4), (1,) * 20])
def test_arrays(kind, extents):
    for n in reversed(extents):
        kind = kind * n
    x = kind()
    ctypes.memmove(x, bytes(i % 2 for i in range(ctypes.sizeof(x))), ctypes.sizeof(x))
    check(x)


@kinds
def test_scalars(kind):
    t = check(kind(1))
    assert t.shape == () and t.item() == 1


def test_memory_is_shared():
    x = (ctypes.c_float * 4)(*range(4))
    t = gd.asarray(x)
    x[2] = 7
    assert t.tolist() == [0, 1, 7, 3]
    np.asarray(t)[0] = 9
    assert x[0] == 9


def test_parts_of_arrays():
    """An array within an array, or within a structure, starts at its own address."""
    x = (ctypes.c_int * 3 * 2)((1, 2, 3), (4, 5, 6))
    assert check(x[1]).tolist() == [4, 5, 6]
    assert gd.asarray(memoryview(x)).shape == (2, 3)
    assert gd.asarray(memoryview(x[1])[::-2]).tolist() == [6, 4]

    class Holder(ctypes.Structure):
        _fields_ = (("a", ctypes.c_char), ("values", ctypes.c_double * 2))

    holder = Holder(b"x", (1.5, 2.5))
    t = check(holder.values)
    del holder
    gc.collect()
    assert t.tolist() == [1.5, 2.5]


def test_characters():
    assert gd.asarray(ctypes.create_string_buffer(b"abc")).tolist() == [97, 98, 99, 0]
    assert gd.asarray(ctypes.c_char(b"a")).item() == 97


@pytest.mark.parametrize("kind", [*OTHERS, Pair, Choice, Bits], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("of", [lambda kind: kind(), lambda kind: (kind * 3)(), lambda kind: (kind * 3 * 2)()])
def test_no_numbers(kind, of):
    x = of(kind)
    for importer in (gd.asarray, lambda x: gd.asarray(x, copy=True)):
        with pytest.raises(BufferError, match="want a buffer of numbers in native byte order, got format"):
            importer(x)


def test_what_is_refused_is_let_go():
    class Array(ctypes.c_longdouble * 4):
        pass

    x = Array()
    gone = weakref.ref(x)
    with pytest.raises(BufferError):
        gd.asarray(x)
    del x
    gc.collect()
    assert gone() is None


def test_lifetime():
    class Array(ctypes.c_int * 4):
        pass

    x = Array(1, 2, 3, 4)
    gone = weakref.ref(x)
    t = gd.asarray(x)[1:]
    del x
    gc.collect()
    assert gone() is not None and t.tolist() == [2, 3, 4]
    del t
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: multiprocessing.RawArray("f", 4),
        lambda: multiprocessing.RawArray(ctypes.c_int64, [1, 2, 3]),
        lambda: multiprocessing.Array("d", [1.5, 2.5], lock=False),
        lambda: multiprocessing.Array("d", [1.5, 2.5]).get_obj(),
        lambda: multiprocessing.RawValue("i", 3),
    ],
)
def test_multiprocessing(make):
    check(make())


def test_times_of_numpy_are_bytes():
    """Their buffers have no strides either; NumPy itself exports them as bytes."""
    x = np.datetime64("2020-01-01")
    assert gd.asarray(x).tolist() == list(memoryview(x))


def test_overlong_exporters():
    """R42: more dimensions than are supported."""
    kind = ctypes.c_char
    for _ in range(64):
        kind = kind * 1
    assert gd.asarray(kind()).ndim == 64
    with pytest.raises(BufferError, match="want at most 64 dimensions, got 65"):
        gd.asarray((kind * 1)())
