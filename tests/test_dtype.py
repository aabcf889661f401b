"""DType: names, numbers, and equality with the dtypes of other libraries."""

import copy
import pickle

import pytest

import godlpack as gd
from helpers.dtypes import DTYPES, JAX, ML_DTYPES, NUMPY, TORCH

names = pytest.mark.parametrize("name", DTYPES)


@names
def test_name_gives_the_numbers(name):
    dtype = gd.DType(name)
    assert (dtype.code, dtype.bits, dtype.lanes) == DTYPES[name]
    assert dtype.itemsize == (dtype.bits * dtype.lanes + 7) // 8


@names
def test_numbers_give_the_name(name):
    assert gd.empty(0, name).dtype.name == name
    assert str(gd.DType(name)) == name
    assert repr(gd.DType(name)) == f"DType('{name}')"


@names
def test_a_dtype_makes_itself(name):
    dtype = gd.DType(name)
    assert gd.DType(dtype) == dtype
    assert pickle.loads(pickle.dumps(dtype)) == dtype
    assert copy.copy(dtype) == dtype == copy.deepcopy(dtype)


def test_every_code_has_a_name():
    assert {code for code, _, _ in DTYPES.values()} == set(range(19))


@names
def test_equality_with_names(name):
    dtype = gd.DType(name)
    assert dtype == name and name == dtype
    assert (dtype != name) is False
    other = "int8" if name != "int8" else "uint8"
    assert dtype != other and other != dtype
    assert dtype != gd.DType(other)
    assert hash(dtype) == hash(name)
    assert {dtype: 1}[name] == 1


@pytest.mark.parametrize("stranger", [None, 5, 1.5, object(), "no dtype", b"float32", ("float32",), float, list])
def test_strangers_are_not_equal(stranger):
    assert gd.DType("float32") != stranger
    assert (gd.DType("float32") == stranger) is False


def test_dtypes_have_no_order():
    with pytest.raises(TypeError):
        gd.DType("float32") < gd.DType("float64")  # noqa: B015


def check_foreign(name, foreign):
    """A foreign dtype equals the DType of that name, and no other."""
    dtype = gd.DType(name)
    assert gd.DType(foreign) == dtype
    assert dtype == foreign
    assert gd.empty(1, foreign).dtype == dtype
    assert gd.DType("int128") != foreign


@pytest.mark.parametrize("name", NUMPY)
def test_numpy(name, np):
    check_foreign(name, np.dtype(name))
    check_foreign(name, np.dtype(name).type)


@pytest.mark.parametrize("name", ML_DTYPES)
def test_ml_dtypes(name, np, ml_dtypes):
    scalar = getattr(ml_dtypes, name)
    check_foreign(name, scalar)
    check_foreign(name, np.dtype(scalar))


@pytest.mark.parametrize("name", TORCH)
def test_torch(name, torch):
    check_foreign(name, getattr(torch, name))
    assert gd.DType(name) != torch.qint8


def test_torch_vectors(torch):
    check_foreign("float4_e2m1fnx2", torch.float4_e2m1fn_x2)


@pytest.mark.parametrize("name", JAX)
def test_jax(name, jax):
    check_foreign(name, jax.numpy.dtype(getattr(jax.numpy, name)))
    check_foreign(name, jax.numpy.zeros(1, name).dtype)


@pytest.mark.parametrize("name", ["float32", "bool", "bfloat16", "float8_e4m3fn", "float32x4", "int4"])
def test_tvm_ffi(name, tvm_ffi):
    check_foreign(name, tvm_ffi.dtype(name))


@pytest.mark.parametrize("swapped", [">f4", ">i2", ">c16"])
def test_other_byte_orders_are_no_dtype(swapped, np):
    """R18"""
    assert gd.DType("float32") != np.dtype(swapped)
    with pytest.raises(ValueError, match=swapped):
        gd.DType(np.dtype(swapped))


@pytest.mark.parametrize("code", ["O", "U3", "M8[s]", "f4,i4", "V8"])
def test_numpy_dtypes_that_dlpack_cannot_say(code, np):
    assert gd.DType("float32") != np.dtype(code)
    with pytest.raises(ValueError, match="want a name such as float32"):
        gd.DType(np.dtype(code))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("float", "want a name such as"),
        ("", "want a name such as"),
        ("float32 ", "want a name such as"),
        ("float032", "want a name such as"),
        ("float32x1", "want a name such as"),
        ("Float32", "want a name such as"),
        ("float33", "want 16, 32, 64 or 128 bits, got 33"),
        ("float32x0", "want 1 lane or more, got 0"),
        ("int0", "want 1 to 128 bits, got 0"),
        ("int129", "want 1 to 128 bits, got 129"),
        ("bool_1", "want 8 bits, got 1"),
        ("float32x65536", "want a name such as"),
    ],
)
def test_wrong_names(name, wanted):
    with pytest.raises(ValueError, match=wanted):
        gd.DType(name)


@pytest.mark.parametrize("wrong", [5, None, 1.5, float, object, b"float32", ["float32"]])
def test_wrong_classes(wrong):
    with pytest.raises(TypeError, match="want a name or another library's dtype, got"):
        gd.DType(wrong)


def test_wrong_arguments():
    for arguments, keywords in [((), {}), (("float32", 1), {}), ((), {"x": "float32"}), (("int8",), {"lanes": 2})]:
        with pytest.raises(TypeError, match=r"DType\(\)"):
            gd.DType(*arguments, **keywords)


@pytest.mark.parametrize("field", ["name", "code", "bits", "lanes", "itemsize"])
def test_dtypes_are_immutable(field):
    with pytest.raises(AttributeError):
        setattr(gd.DType("float32"), field, 1)
    with pytest.raises(TypeError):
        setattr(gd.DType, field, 1)


def test_type_cannot_be_derived():
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (gd.DType,), {})
