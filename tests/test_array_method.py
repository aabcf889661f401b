"""__array__ and __numpy_dtype__: what NumPy, and libraries that use it, make of a Tensor and of a DType."""

import gc

import pytest

import godlpack as gd
from helpers.dtypes import DTYPES, ML_DTYPES, NUMPY
from helpers.fakes import FakeTensor

np = pytest.importorskip("numpy")

AT_LEAST_2 = int(np.__version__.split(".")[0]) >= 2
knows_the_dtype = pytest.mark.skipif(
    tuple(map(int, np.__version__.split(".")[:2])) < (2, 4), reason="NumPy asks for __numpy_dtype__ since 2.4"
)


@knows_the_dtype
@pytest.mark.parametrize("name", NUMPY)
def test_dtype(name):
    assert np.dtype(gd.DType(name)) == np.dtype(name) == gd.DType(name).__numpy_dtype__
    assert np.empty(2, gd.zeros(1, name).dtype).dtype == np.dtype(name)
    assert np.zeros(3).astype(gd.DType(name)).dtype == np.dtype(name)


@knows_the_dtype
@pytest.mark.parametrize("name", [*ML_DTYPES, "int4", "uint4", "float4_e2m1fn"])
def test_dtypes_of_ml_dtypes(name, ml_dtypes):
    assert np.dtype(gd.DType(name)) == np.dtype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", ["int128", "float128", "handle", "float32x4", "uint8x3"])
def test_dtypes_that_numpy_has_not(name):
    for ask in (np.dtype, lambda d: d.__numpy_dtype__):
        with pytest.raises(TypeError, match=r"numpy has no|Cannot interpret"):
            ask(gd.DType(name))


VIEWS = {
    "all": lambda t: t, "part": lambda t: t[1:, ::2], "transposed": lambda t: t.T, "reversed": lambda t: t[::-1], "empty": lambda t: t[:0],
    "0-d": lambda t: t[1, 2], "new axis": lambda t: t[None],
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("name", NUMPY)
def test_array(name, view):
    a = np.arange(12).reshape(3, 4).astype(name)
    t, want = view(gd.asarray(a)), view(a)
    for made in (t.__array__(), np.asarray(t), t.__array__(None), t.__array__(copy=False), t.__array__(name)):
        assert made.dtype == want.dtype and made.tolist() == want.tolist() and made.flags.writeable
        if t.size:
            assert made.ctypes.data == t.data_ptr and made.strides == np.asarray(want).strides
    copied = t.__array__(copy=True)
    assert copied.tolist() == want.tolist() and not np.shares_memory(copied, a)
    with np.errstate(all="ignore"):
        assert t.__array__("float64" if name[0] != "c" else "complex128").tolist() == want.tolist()


def test_rules_of_copies():
    """NumPy's rules for copy: None copies if necessary, True always, False never."""
    t = gd.zeros(3, "float32")
    assert t.__array__("float64").dtype == "float64"
    if AT_LEAST_2:
        with pytest.raises(ValueError, match=r"[Uu]nable to avoid copy"):
            t.__array__("float64", copy=False)
        with pytest.raises(ValueError, match=r"[Uu]nable to avoid copy"):
            np.array(t, dtype="float64", copy=False)
    assert np.shares_memory(np.array(t, copy=False) if AT_LEAST_2 else np.asarray(t), np.asarray(t))
    assert not np.shares_memory(np.array(t, copy=True), np.asarray(t))
    for wrong in ({"dtype": "no dtype"}, {"wrong": 1}, {"copy": object(), "dtype": 5}):
        with pytest.raises((TypeError, ValueError)):
            t.__array__(**wrong)


def test_read_only():
    t = gd.asarray(b"abc")
    assert not t.__array__().flags.writeable and not t.__array__(copy=False).flags.writeable
    assert t.__array__(copy=True).flags.writeable


@pytest.mark.parametrize("name", ML_DTYPES)
def test_small_floats(name, ml_dtypes):
    """They have no buffer: numpy.asarray calls __array__, without a copy."""
    t = gd.full((2, 3), 1, name)
    a = np.asarray(t)
    assert (
        a.dtype == getattr(ml_dtypes, name)
        and a.ctypes.data == t.data_ptr
        and a.astype(float).tolist() == [[1.0] * 3] * 2
    )
    assert not hasattr(t, "__array_interface__") and hasattr(gd.zeros(1), "__array_interface__")
    assert np.asarray(t.T, dtype="float64").shape == (3, 2)
    del t
    gc.collect()
    assert a.astype(float).sum() == 6


@pytest.mark.parametrize(
    "name",
    [name for name, (_, bits, lanes) in DTYPES.items() if bits < 8 or lanes > 1 or (bits == 128 and name[0] != "c")],
)
def test_elements_that_numpy_has_not(name):
    for make in (np.asarray, lambda t: t.__array__()):
        with pytest.raises(BufferError, match=r"numpy (has no|does not support)"):
            make(gd.zeros(3, name))


@pytest.mark.parametrize("device", [(2, 0), (4, 0), (8, 1), (21, 0)])
def test_memory_that_the_cpu_cannot_read(device):
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    for make in (np.asarray, lambda t: t.__array__()):
        with pytest.raises(BufferError, match=r"use \.to\('cpu'\)"):
            make(t)


def test_pandas_and_dask():
    t = gd.asarray(np.arange(6.0).reshape(3, 2))
    pandas, dask = pytest.importorskip("pandas"), pytest.importorskip("dask.array")
    assert pandas.DataFrame(t).to_numpy().tolist() == t.tolist()
    assert pandas.Series(t[:, 0]).dtype == "float64"
    assert dask.from_array(t, chunks=2).sum().compute() == 15
