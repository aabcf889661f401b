"""Tensor as an exporter of Python's buffer protocol."""

import ctypes
import gc

import pytest

import godlpack as gd
from godlpack.testing.records import READ_ONLY
from helpers.dtypes import DTYPES, FORMATS
from helpers.fakes import FakeTensor

SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS, INDIRECT = 0x38, 0x58, 0x98, 0x118
FULL, FULL_RO, CONTIG, CONTIG_RO = INDIRECT | WRITABLE | FORMAT, INDIRECT | FORMAT, ND | WRITABLE, ND
RECORDS, RECORDS_RO = STRIDES | WRITABLE | FORMAT, STRIDES | FORMAT

ALL = [
    SIMPLE, WRITABLE, ND, STRIDES, C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS, INDIRECT,
    FULL, FULL_RO, CONTIG, CONTIG_RO, RECORDS, RECORDS_RO,
]  # fmt: skip

every_format = pytest.mark.parametrize(("dtype", "code"), FORMATS.items())


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi)
)
release = ctypes.PYFUNCTYPE(None, ctypes.POINTER(Buffer))(("PyBuffer_Release", ctypes.pythonapi))


class request:  # noqa: N801
    """A buffer of t for these flags, released at the end."""

    def __init__(self, t, flags):
        self.t, self.flags, self.view = t, flags, Buffer()

    def __enter__(self):
        get(self.t, self.view, self.flags)
        return self.view

    def __exit__(self, *_):
        release(self.view)
        assert self.view.obj is None


def refused(t, flags, wanted):
    view = Buffer()
    with pytest.raises(BufferError, match=wanted):
        get(t, view, flags)
    assert view.obj is None


@every_format
def test_memoryview(dtype, code):
    t = gd.zeros((2, 3), dtype)
    m = memoryview(t)
    assert (m.format, m.itemsize, m.nbytes) == (code, t.itemsize, t.nbytes)
    assert (m.ndim, m.shape, m.strides) == (2, (2, 3), (3 * t.itemsize, t.itemsize))
    assert not m.readonly and m.c_contiguous
    assert m.obj is t
    assert bytes(m) == bytes(t) == bytes(t.nbytes)


@pytest.mark.parametrize(("dtype", "value"), [("int8", -3), ("uint64", 2**64 - 1), ("float64", 0.1), ("bool", True)])
def test_values(dtype, value):
    t = gd.full((2, 3), value, dtype)
    m = memoryview(t)
    assert m[1, 2] == value and m.tolist() == t.tolist()
    m[0, 1] = 0
    assert t[0, 1].item() == 0


@pytest.mark.parametrize(
    "key", [slice(None, None, 2), slice(None, None, -1), (slice(None), 1), 0, (slice(1), slice(2))]
)
def test_views(key):
    t = gd.asarray(memoryview(bytearray(range(24))).cast("B", (4, 6)))[key]
    m = memoryview(t)
    assert (m.shape, m.strides) == (t.shape, t.strides)
    assert m.tolist() == t.tolist()
    assert m.contiguous == (t.is_contiguous() or t.is_contiguous("F"))
    assert bytes(m) == bytes(memoryview(t.copy()))


def test_no_dimensions():
    m = memoryview(gd.full((), 5, "int32"))
    assert (m.ndim, m.shape, m.strides, m.nbytes) == (0, (), (), 4)
    assert m[()] == m.tolist() == 5
    assert bytes(gd.full((), 5, "int8")) == b"\5"


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
def test_no_elements(shape):
    m = memoryview(gd.zeros(shape))
    assert (m.shape, m.nbytes, bytes(m)) == (shape, 0, b"")
    with request(gd.zeros(shape), FULL) as view:
        assert view.buf  # some consumers do not expect NULL


def test_read_only():
    m = memoryview(gd.asarray(b"abc"))
    assert m.readonly and bytes(m) == b"abc"
    with pytest.raises(TypeError):
        m[0] = 1


@pytest.mark.parametrize("flags", ALL)
def test_request(flags):
    """Fields that are not requested are NULL."""
    t = gd.zeros((2, 3), "int16")
    if flags == F_CONTIGUOUS:
        refused(t, flags, r"want a Fortran-contiguous buffer, got strides \[3 1\] for shape \[2 3\]")
        return
    with request(t, flags) as view:
        assert (view.buf, view.obj, view.len, view.itemsize) == (t.data_ptr, id(t), 12, 2)
        assert view.format == (b"h" if flags & FORMAT else None)
        assert bool(view.shape) == bool(flags & ND)
        assert bool(view.strides) == (flags & STRIDES == STRIDES)
        if view.shape:
            assert (view.ndim, view.shape[:2]) == (2, [2, 3])
        if view.strides:
            assert view.strides[:2] == [6, 2]
        assert not view.suboffsets and not view.readonly


@pytest.mark.parametrize("flags", ALL)
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "complex32", "int128", "float32x2", "handle"])
def test_dtypes_without_a_format(flags, dtype):
    """A request without a format gets bytes; a request with one gets an error."""
    t = gd.zeros(3, dtype)
    if flags & FORMAT:
        refused(t, flags, f"the buffer protocol has no format for {dtype}; exchange it by DLPack")
        return
    with request(t, flags) as view:
        assert (view.len, view.itemsize) == (t.nbytes, t.itemsize)


@pytest.mark.parametrize("flags", ALL)
@pytest.mark.parametrize("dtype", ["int4", "uint1", "float6_e2m3fn", "float4_e2m1fn"])
def test_packed_dtypes(flags, dtype):
    """R21: these dtypes have no stride in bytes."""
    refused(gd.zeros(8, dtype), flags, f"no format for {dtype}")


@pytest.mark.parametrize("dtype", sorted(set(DTYPES) - set(FORMATS)))
def test_memoryview_without_a_format(dtype):
    with pytest.raises(BufferError, match=f"no format for {dtype}"):
        memoryview(gd.zeros(3, dtype))


@pytest.mark.parametrize("flags", ALL)
def test_request_of_read_only(flags):
    t = gd.asarray(bytes(12))
    if flags & WRITABLE:
        refused(t, flags, r"the tensor is read-only; use .copy\(\)")
        return
    with request(t, flags) as view:
        assert view.readonly


@pytest.mark.parametrize(
    ("turn", "allowed"),
    [
        (lambda t: t.T, [STRIDES, F_CONTIGUOUS, ANY_CONTIGUOUS, INDIRECT, FULL, FULL_RO, RECORDS, RECORDS_RO]),
        (lambda t: t[:, ::2], [STRIDES, INDIRECT, FULL, FULL_RO, RECORDS, RECORDS_RO]),
        (lambda t: t[::-1], [STRIDES, INDIRECT, FULL, FULL_RO, RECORDS, RECORDS_RO]),
        (lambda t: t[:1, :1], ALL),
        (lambda t: t[:0, ::2], ALL),
        (lambda t: t[0], ALL),
    ],
    ids=["turned", "gaps", "reversed", "one", "none", "row"],
)
@pytest.mark.parametrize("flags", ALL)
def test_request_of_views(turn, allowed, flags):
    t = turn(gd.zeros((4, 6), "int16"))
    if flags not in allowed:
        refused(t, flags, "want a .*contiguous buffer, got strides")
        return
    with request(t, flags) as view:
        assert view.len == t.nbytes
        assert not t.size or view.buf == t.data_ptr


@pytest.mark.parametrize("device", [(2, 0), (8, 0), (10, 0)])
def test_memory_that_the_cpu_cannot_read(device):
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    refused(t, SIMPLE, r"has no memory that the CPU can read; use .to\('cpu'\)")


def test_pinned_memory_of_others():
    t = gd.from_dlpack(FakeTensor(device=(3, 0), flags=READ_ONLY).capsule())
    assert memoryview(t).tolist() == [0.0, 1.0, 2.0]


def test_buffer_keeps_the_memory_alive():
    fake = FakeTensor()
    m = memoryview(gd.from_dlpack(fake.capsule()))
    gc.collect()
    assert fake.deleted == 0 and m.tolist() == [0.0, 1.0, 2.0]
    m.release()
    assert fake.deleted == 1


def test_round_trip_by_buffers():
    memory = bytearray(range(10))
    t = gd.asarray(memoryview(gd.asarray(memory)))
    memory[0] = 42
    assert t[0].item() == 42
