"""Codes that DLPack has added since 1.3: bcomplex32, and the devices TPU, TPU_HOST and ASCEND."""

import pytest

import godlpack as gd
from helpers.dtypes import NUMPY
from helpers.fakes import FakeTensor, managed_in

np = pytest.importorskip("numpy")
NEW = [("TPU", 19), ("ASCEND", 21)]


@pytest.fixture(scope="module")
def bcomplex32(ml_dtypes):
    if not hasattr(ml_dtypes, "bcomplex32"):
        pytest.skip("an ml_dtypes without bcomplex32")
    return np.dtype(ml_dtypes.bcomplex32)


def every_part(bcomplex32):
    """Every code of bfloat16 as a real part, and in another order as an imaginary part."""
    real = np.arange(65536, dtype=np.uint16)
    return np.stack([real, np.random.default_rng(1).permutation(real)], -1).reshape(-1).view(bcomplex32)


def same(a, b):
    """Bitwise equality, except for the bits of NaNs."""
    assert a.dtype == b.dtype and a.shape == b.shape
    parts = {"bcomplex32": "bfloat16", "complex32": "float16", "complex64": "float32", "complex128": "float64"}
    if a.dtype.name in parts:
        import ml_dtypes

        kind = getattr(ml_dtypes, parts[a.dtype.name], parts[a.dtype.name])
        a, b = np.ascontiguousarray(a).view(kind), np.ascontiguousarray(b).view(kind)
    if a.dtype.name in ("bfloat16", *[n for n in NUMPY if n.startswith("float")]):
        nan = np.isnan(a)
        assert (nan == np.isnan(b)).all()
        a, b = a[~nan], b[~nan]
    assert a.tobytes() == b.tobytes()


def test_values():
    t = gd.full((2, 2), 0.1 - 2j, "bcomplex32")
    assert (t.dtype.code, t.itemsize, t.nbytes) == (18, 4, 16)
    part = gd.full((), 0.1, "bfloat16").item()
    assert t.tolist() == [[part - 2j] * 2] * 2 and t[0, 1].item() == part - 2j
    assert repr(gd.full(1, 0.1 - 2j, "bcomplex32")) == "Tensor([0.1-2.j], dtype=bcomplex32, shape=(1,), device='cpu')"
    assert gd.full((), 3, "bcomplex32").item() == 3 and gd.full((), float("inf"), "bcomplex32").item() == complex("inf")
    assert t.T.copy().tolist() == t.tolist() and t.T.contiguous().nbytes == 16


@pytest.mark.parametrize("dtype", [*NUMPY, "bfloat16", "float8_e4m3fn", "complex32", "bcomplex32"])
@pytest.mark.filterwarnings("ignore")
def test_conversions(dtype, bcomplex32, ml_dtypes):
    """Conversions go through the bfloat16 parts; compared with numpy's astype of the parts."""
    a = every_part(bcomplex32)
    t = gd.asarray(a)
    assert t.dtype == "bcomplex32" and t.data_ptr == a.ctypes.data
    parts = a.view(ml_dtypes.bfloat16).reshape(-1, 2)
    back = np.asarray(t.astype(dtype).to(np.ndarray)) if dtype != "complex32" else t.astype(dtype)
    if dtype == "bool":
        want = (parts[:, 0] != 0) | (parts[:, 1] != 0)
        assert (back == want).all()
    elif dtype == "bcomplex32":
        same(back, a)
    elif dtype.startswith("complex"):
        kind = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}[dtype]
        got = np.frombuffer(gd._core._rebuild(bytes_of(t.astype(dtype)), kind, (2 * len(a),), 0), kind)
        same(got, parts.astype(kind).reshape(-1))
    else:
        same(back, gd.asarray(np.ascontiguousarray(parts[:, 0])).astype(dtype).to(np.ndarray))


def bytes_of(t):
    return t.__reduce_ex__(2)[1][0]


@pytest.mark.parametrize("dtype", [*NUMPY, "bfloat16"])
@pytest.mark.filterwarnings("ignore")
def test_conversions_to_it(dtype, bcomplex32, ml_dtypes):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = np.frombuffer(np.random.default_rng(2).bytes(4096 * kind.itemsize), np.uint8)
    a = (a & 1).view(kind) if dtype == "bool" else a.view(kind)
    got = gd.asarray(a).astype("bcomplex32").to(np.ndarray).view(ml_dtypes.bfloat16).reshape(-1, 2)
    parts = [a.real, a.imag] if kind.kind == "c" else [a, np.zeros_like(a)]
    for i, part in enumerate(parts):
        want = gd.asarray(np.ascontiguousarray(part)).astype("bfloat16").to(np.ndarray)
        same(np.ascontiguousarray(got[:, i]), want)


def test_exchange(bcomplex32):
    a = every_part(bcomplex32)[::-3]
    t = gd.from_dlpack(a)
    assert (t.dtype, t.shape, t.strides) == (gd.DType(bcomplex32), a.shape, (-3,))
    b = t.to(np.ndarray)
    assert b.dtype == bcomplex32 and b.ctypes.data == a.ctypes.data
    managed = managed_in(gd.zeros(3, "bcomplex32").__dlpack__(max_version=(1, 3)))
    assert managed.tensor.dtype_triple() == (18, 32, 1)
    assert gd.from_dlpack(FakeTensor((3,), dtype=(18, 32, 2)).capsule()).dtype == "bcomplex32x2"
    wide = FakeTensor((3,), dtype=(18, 64, 1)).capsule()
    with pytest.raises(BufferError, match="dtype bcomplex: want 32 bits, got 64"):
        gd.from_dlpack(wide)


def test_who_has_no_such_type(torch):
    t = gd.zeros(3, "bcomplex32")
    with pytest.raises(BufferError):
        t.to(torch.Tensor)
    with pytest.raises(BufferError, match="no format for bcomplex32"):
        memoryview(t)


@pytest.mark.parametrize(("name", "number"), NEW)
def test_devices(name, number):
    """R35, R39: passed on without a read, with the offset separate from the data."""
    fake = FakeTensor((4,), device=(number, 2), byte_offset=4)
    t = gd.from_dlpack(fake.capsule())
    assert t.device == f"{name.lower()}:2" == gd.Device(gd.DeviceType[name], 2) and t.device.type == number
    record = managed_in(t[1:].__dlpack__(max_version=(1, 0))).tensor
    assert (record.device_pair(), record.data, record.byte_offset) == ((number, 2), fake.data, 8)
    for read in (t.tolist, t.copy, t[0].item, lambda: t.astype("int8"), lambda: t.to("cpu"), lambda: memoryview(t)):
        with pytest.raises(BufferError, match=name.lower()):
            read()
    for make in (gd.empty, gd.zeros):
        with pytest.raises(BufferError, match=name.lower()):
            make(3, device=name.lower())
    assert name.lower() in repr(t)


def test_memory_of_the_host():
    """TPU_HOST is host memory, like CUDA_HOST: it can be read."""
    fake = FakeTensor((3,), device=(20, 0), byte_offset=4)
    t = gd.from_dlpack(fake.capsule())
    assert t.device == "tpu_host" and t.tolist() == [1.0, 2.0, 3.0] and t.data_ptr == fake.data + 4
    assert t.to("cpu").device == "cpu" and np.asarray(t).tolist() == [1.0, 2.0, 3.0]
