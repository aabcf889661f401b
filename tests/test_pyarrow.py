"""pyarrow: its arrays never change, and are read-only here, whatever its version says of them."""

import gc

import pytest

import godlpack as gd

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

pytestmark = pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")


class Older:
    """An array of a pyarrow that knows legacy capsules alone."""

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
    """A buffer of float64 in a file: a write into it ends the process."""
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
    for _ in range(3):  # the second time by the plan, if there is one
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
    """A buffer is what it says itself: pyarrow lets others write into those that it has just made."""
    for make in (lambda: pa.py_buffer(b"abcdef"), lambda: pa.py_buffer(bytearray(6)), lambda: pa.allocate_buffer(6)):
        buffer = make()
        t = gd.asarray(buffer)
        assert (t.dtype, t.shape, t.data_ptr) == ("int8", (6,), buffer.address)
        assert t.readonly != buffer.is_mutable


def test_tensors():
    """pyarrow.Tensor may be mutable, as its versioned capsules say. Legacy ones look like those of arrays."""
    a = np.arange(6.0).reshape(2, 3)
    for writeable in (True, False):
        a.flags.writeable = writeable
        x = pa.Tensor.from_numpy(a)
        t = gd.from_dlpack(x)
        assert t.readonly != writeable
        assert (t.tolist(), t.data_ptr) == (a.tolist(), a.ctypes.data)
        if writeable:  # else pyarrow refuses
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
