"""pyarrow: its arrays are immutable, and imported as read-only, whatever its version reports about them."""

import gc

import pytest

import godlpack as gd

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

pytestmark = pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")


class Older:
    """An array of an older pyarrow, which has legacy capsules only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


INTO = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "capsule": lambda x: gd.from_dlpack(x.__dlpack__()),
    "older": lambda x: gd.from_dlpack(Older(x)),
    "older asarray": lambda x: gd.asarray(Older(x)),
}
NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)] + ["float16", "float32", "float64"]

into = pytest.mark.parametrize("into", INTO.values(), ids=INTO)


@pytest.fixture
def mapped(tmp_path):
    """A buffer of float64 in a file; a write to it ends the process."""
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(8.0).tobytes())
    return pa.memory_map(str(path)).read_buffer()


def check_frozen(t):
    assert t.readonly and not np.asarray(t).flags.writeable and memoryview(t).readonly
    for frozen in (t[1:], t.reshape(-1), gd.from_dlpack(t)):
        assert frozen.readonly
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    assert not t.copy().readonly


@into
@pytest.mark.parametrize("dtype", NUMBERS)
def test_into(into, dtype):
    """R44"""
    a = np.arange(5).astype(dtype)
    x = pa.array(a)
    for _ in range(3):  # from the second one on by the plan, if there is one
        t = into(x)
        assert (t.dtype, t.shape, t.tolist()) == (a.dtype, a.shape, a.tolist())
        assert t.data_ptr == x.buffers()[1].address
        check_frozen(t)


@into
def test_slices_and_chunks(into):
    x = pa.chunked_array([[1.0, 2.0], [3.0, 4.0, 5.0]]).chunk(1).slice(1, 2)
    check_frozen(into(x))
    assert into(x).tolist() == [4.0, 5.0]


@into
def test_mapped_file(into, mapped):
    t = into(pa.Array.from_buffers(pa.float64(), 8, [None, mapped]))
    check_frozen(t)
    assert t.tolist() == list(range(8))


def test_mapped_buffer(mapped):
    check_frozen(gd.asarray(mapped))


def test_buffers():
    """A buffer reports whether it is mutable: pyarrow allows writes into newly allocated ones."""
    for make in (lambda: pa.py_buffer(b"abcdef"), lambda: pa.py_buffer(bytearray(6)), lambda: pa.allocate_buffer(6)):
        buffer = make()
        t = gd.asarray(buffer)
        assert (t.dtype, t.shape, t.data_ptr) == ("int8", (6,), buffer.address)
        assert t.readonly != buffer.is_mutable


def test_tensors():
    """pyarrow.Tensor may be mutable, as its versioned capsules report. Its legacy ones look like those of arrays."""
    a = np.arange(6.0).reshape(2, 3)
    for writeable in (True, False):
        a.flags.writeable = writeable
        x = pa.Tensor.from_numpy(a)
        t = gd.from_dlpack(x)
        assert t.readonly != writeable
        assert (t.tolist(), t.data_ptr) == (a.tolist(), a.ctypes.data)
        if writeable:  # otherwise pyarrow refuses
            check_frozen(gd.from_dlpack(x.__dlpack__()))


@into
def test_copy(into):
    x = pa.array([1.0, 2.0])
    t = gd.from_dlpack(Older(x) if "Older" in str(into) else x, copy=True)
    assert not t.readonly and t.tolist() == [1.0, 2.0] and t.data_ptr != x.buffers()[1].address


@into
def test_lifetime(into):
    before = pa.total_allocated_bytes()
    x = pa.array(np.arange(10_000.0).tolist())
    t = into(x)
    del x
    gc.collect()
    assert pa.total_allocated_bytes() > before and t[9_999].item() == 9_999
    del t
    gc.collect()
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("x", [pa.array([1, None]), pa.array([True]), pa.array(["a"])])
def test_what_pyarrow_refuses(x):
    """R49: its own exceptions."""
    for importer in (gd.from_dlpack, gd.asarray):
        with pytest.raises(pa.ArrowTypeError):
            importer(x)


def test_frozen_for_others(torch):
    with pytest.raises(BufferError, match="read-only"):
        gd.from_dlpack(pa.array([1.0])).to(torch.Tensor)


# ---- godlpack's tensors as Arrow arrays ----


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("key", [slice(None), slice(2, 5), slice(None, None, 2), slice(None, None, -1), slice(0, 0)])
def test_out(dtype, key):
    t = gd.asarray(np.arange(7).astype(dtype))[key]
    x = pa.array(t)
    assert x.type == pa.from_numpy_dtype(np.dtype(dtype)) and x.null_count == 0
    assert x.to_numpy().tolist() == t.tolist()
    x.validate(full=True)
    assert (x.buffers()[1].address == t.data_ptr) == (t.size > 0 and t.is_contiguous())
    assert not x.buffers()[1].is_mutable


def test_out_of_misaligned_memory():
    t = gd.asarray(np.frombuffer(bytearray(range(17)), np.uint8)[1:].view(np.float64))
    x = pa.array(t)
    assert x.to_numpy().tolist() == t.tolist() and x.buffers()[1].address % 8 == 0


def test_out_of_read_only_memory():
    t = gd.asarray(b"abc")
    assert pa.array(t).buffers()[1].address == t.data_ptr
    assert pa.array(gd.from_dlpack(pa.array([1.5, 2.5]))).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: gd.zeros(()), "has 1 dimension, the tensor 0"),
        (lambda: gd.zeros((2, 3)), r"has 1 dimension, the tensor 2; use \.reshape"),
        (lambda: gd.zeros(3, "bool"), "Arrow's bools are bits"),
        *(
            (lambda d=d: gd.zeros(3, d), f"Arrow has no {d}")
            for d in ("bfloat16", "int4", "complex64", "int128", "float32x2")
        ),
    ],
)
def test_what_arrow_has_not(make, wanted):
    with pytest.raises(BufferError, match=wanted):
        pa.array(make())


@pytest.mark.parametrize("to", NUMBERS)
@pytest.mark.parametrize("own", NUMBERS)
def test_requested_type(own, to):
    """A wider type is converted to; a type that cannot represent every number is refused."""
    t = gd.asarray(np.arange(3).astype(own))
    if np.can_cast(own, to) and not (to == "float64" and own in ("int64", "uint64")):
        x = pa.array(t, type=pa.from_numpy_dtype(np.dtype(to)))
        assert x.type == pa.from_numpy_dtype(np.dtype(to)) and x.to_numpy().tolist() == [0, 1, 2]
    else:
        with pytest.raises(BufferError, match=rf"does not hold every {own}; use \.astype"):
            pa.array(t, type=pa.from_numpy_dtype(np.dtype(to)))


def test_requests_that_are_none():
    t = gd.zeros(3)
    schema, _ = t.__arrow_c_array__(None)
    assert len(t.__arrow_c_array__(requested_schema=schema)) == 2
    for wrong in (1, "f", t.__dlpack__(), t.__arrow_c_array__()[1]):
        with pytest.raises(TypeError, match="want None or a capsule"):
            t.__arrow_c_array__(wrong)
    with pytest.raises(BufferError, match="does not hold"):
        t.__arrow_c_array__(pa.string().__arrow_c_schema__())


@pytest.mark.parametrize("key", [slice(None), slice(None, None, 2)])
def test_lifetime_of_ours(key):
    t = gd.full(1000, 7, "int32")[key]
    x = pa.array(t)
    del t
    gc.collect()
    assert set(x.to_pylist()) == {7}
    part = x.slice(3, 4)
    del x
    gc.collect()
    assert part.to_pylist() == [7] * 4


def test_capsules_that_nobody_takes():
    """The counters detect leaks of capsules that are not consumed."""
    for _ in range(10):
        gd.zeros(3).__arrow_c_array__()
    schema, array = gd.zeros(3).__arrow_c_array__()
    assert pa.Array._import_from_c_capsule(schema, array).tolist() == [0.0] * 3
    with pytest.raises(Exception, match="released"):
        pa.Array._import_from_c_capsule(schema, array)
