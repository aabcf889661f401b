"""Tensor: creation, attributes, views and values."""

import ctypes
import gc
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import godlpack as gd
from helpers.dtypes import DTYPES, NUMPY, nbytes

dtypes = pytest.mark.parametrize("dtype", DTYPES)


def content(t):
    """The bytes of a C-contiguous tensor."""
    return ctypes.string_at(t.data_ptr, t.nbytes)


def counting(shape, dtype="int32"):
    """A tensor of 0, 1, 2, ..."""
    np = pytest.importorskip("numpy")
    t = gd.empty(shape, dtype)
    np.from_dlpack(t)[...] = np.arange(t.size).reshape(t.shape)
    return t


# ---- creation ----


@pytest.mark.parametrize("make", [gd.empty, gd.zeros, lambda *a, **k: gd.full(a[0], 0, *a[1:], **k)])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (2, 0, 3), (1,) * 64, (3, 1, 5)])
def test_new_tensor(make, shape):
    t = make(shape, "int16")
    size = 1
    for extent in shape:
        size *= extent
    assert (t.shape, t.ndim, t.size) == (shape, len(shape), size)
    assert (t.itemsize, t.nbytes) == (2, 2 * size)
    assert t.dtype == "int16" and t.device == "cpu"
    assert not t.readonly
    assert t.is_contiguous() and t.is_contiguous("C")


@dtypes
def test_new_tensor_of_every_dtype(dtype):
    """R16: 256-byte alignment; R22: packed sub-byte types."""
    t = gd.zeros((3, 5), dtype)
    assert t.dtype.name == dtype
    assert t.nbytes == nbytes(dtype, 15)
    assert t.itemsize == nbytes(dtype, 1)
    assert t.data_ptr % 256 == 0
    assert content(t) == bytes(t.nbytes)
    assert gd.empty((3, 5), dtype).strides == (5, 1)


@pytest.mark.parametrize("size", [1, 100, 1 << 16, (4 << 20) - 257, (4 << 20) - 256, 5 << 20])
def test_memory_is_aligned_and_zeroed(size):
    """R16, below and above the size from which memory has huge pages."""
    for _ in range(3):
        t = gd.zeros(size, "uint8")
        assert t.data_ptr % 256 == 0
        assert content(t) == bytes(size)
        ctypes.memset(t.data_ptr, 0xFF, size)


def test_default_dtype():
    assert gd.empty(1).dtype == gd.zeros(1).dtype == gd.full(1, 0).dtype == "float32"
    assert gd.empty(1, None).dtype == "float32"


@pytest.mark.parametrize("shape", [3, [3], (3,), range(3, 4), True + 2])
def test_ways_to_write_a_shape(shape):
    assert gd.zeros(shape).shape == (3,)


def test_keywords():
    assert gd.zeros(shape=(2,), dtype="int8", device="cpu").shape == (2,)
    assert gd.full(shape=2, value=1, dtype="int8", device=gd.Device("cpu")).tolist() == [1, 1]
    assert gd.empty(2, device=None).device == "cpu"
    assert gd.empty(2, device="cpu:0").device == "cpu"


def test_numpy_numbers_are_numbers(np):
    assert gd.zeros((np.int64(2), np.uint8(3))).shape == (2, 3)
    assert gd.full(2, np.float16(1.5)).tolist() == [1.5, 1.5]
    assert gd.full(2, np.int8(-1), "int8").tolist() == [-1, -1]


def test_numpy_array_is_a_sequence_of_ints(np):
    assert gd.zeros(np.array([2, 3])).shape == (2, 3)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"), (-128, "int8"), (127, "int8"), (2**63 - 1, "int64"), (-(2**63), "int64"), (2**64 - 1, "uint64"),
        (2**127 - 1, "int128"), (-(2**127), "int128"), (2**128 - 1, "uint128"), (-8, "int4"), (15, "uint4"),
        (1.5, "float16"), (1.5, "float32"), (-0.1, "float64"), (1.5, "bfloat16"),
        (1 - 2j, "complex32"), (1 - 2j, "complex64"), (1 - 2j, "complex128"), (float("inf"), "float32"),
        (1.5, "float8_e4m3fn"), (0.5, "float8_e5m2"), (2.0, "float8_e8m0fnu"), (1.5, "float6_e2m3fn"),
        (-6.0, "float4_e2m1fn"), (1.0, "float8_e3m4"), (1.0, "float8_e4m3b11fnuz"), (3, "float32"),
    ],
)  # fmt: skip
def test_full_and_back(value, dtype):
    t = gd.full((2, 1), value, dtype)
    assert t.tolist() == [[value], [value]]
    assert gd.full((), value, dtype).item() == value
    assert type(gd.full((), value, dtype).item()) is type(t.tolist()[0][0])


def test_full_of_float128():
    """Python has no such number: item() returns its bytes."""
    assert gd.full((), 1.5, "float128").item() == bytes(13) + b"\x80\xff\x3f"


@pytest.mark.parametrize("make", [gd.empty, gd.zeros, lambda shape, *a, **k: gd.full(shape, 1, *a, **k)])
@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "wanted"),
    [
        ((-1,), {}, ValueError, "want extents >= 0, got -1 for axis 0"),
        (((2, -3),), {}, ValueError, "want extents >= 0, got -3 for axis 1"),
        ((2.0,), {}, TypeError, "want an int or a sequence of ints, got float"),
        (("3",), {}, TypeError, "want an int or a sequence of ints, got str"),
        ((None,), {}, TypeError, "want an int or a sequence of ints, got NoneType"),
        (({3},), {}, TypeError, "want an int or a sequence of ints, got set"),
        (((2, 1.5),), {}, TypeError, "want an int, got float"),
        ((2**63,), {}, ValueError, "9223372036854775808 does not fit into 64 bits"),
        (((2**40, 2**40),), {}, ValueError, "want fewer than 2\\^63 elements, got more"),
        (([1] * 65,), {}, ValueError, "want at most 64 dimensions, got 65"),
        ((1, "float"), {}, ValueError, "want a name such as float32"),
        ((1, 5), {}, TypeError, "want a DType, its name or another library's dtype, got 5"),
        ((1,), {"dtype": list}, TypeError, "want a DType, its name or another library's dtype, got <class 'list'>"),
        ((1,), {"device": "gpu"}, ValueError, "want one of cpu, cuda,"),
        ((1,), {"device": "cuda"}, BufferError, "argument 'device': no CUDA driver"),
        ((1,), {"device": "metal"}, BufferError, "argument 'device': cannot make a tensor on metal:0: want cpu, cuda,"),
        ((1,), {"device": 1.5}, TypeError, "want a Device or its name, got 1.5"),
        ((1,), {"order": "F"}, TypeError, "got an unexpected keyword argument 'order'"),
        ((1,), {"shape": 1}, TypeError, "got multiple values for argument 'shape'"),
        ((1, "int8", "cpu"), {}, TypeError, "positional arguments, got"),
    ],
)
def test_wrong_arguments_of_new_tensors(make, arguments, keywords, error, wanted):
    with pytest.raises(error, match=wanted):
        make(*arguments, **keywords)


def test_missing_arguments_of_new_tensors():
    for make in (gd.empty, gd.zeros, gd.full):
        with pytest.raises(TypeError, match="missing required argument 'shape'"):
            make()
    with pytest.raises(TypeError, match="missing required argument 'value'"):
        gd.full(1)


def test_too_much_memory():
    with pytest.raises(MemoryError, match=r"no memory for \d+ bytes \(float32, shape \[\d+\]\)"):
        gd.empty(1 << 60)
    with pytest.raises(MemoryError, match="no memory for 9223372036854775807 bytes"):
        gd.empty(2**63 - 1, "uint8")
    with pytest.raises((BufferError, ValueError, MemoryError), match="want less than 2\\^63 bytes"):
        gd.empty(1 << 62)


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**64, 2**127, -(2**127) - 1, 2**128, 10**50, -(10**300)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128", "bool", "bfloat16"])
def test_large_ints_in_floats(value, dtype, np):
    """As in NumPy: rounded, or infinite."""
    with np.errstate(all="ignore"):
        want = np.float64(value).astype("float64" if dtype == "bfloat16" else dtype).item()
    if dtype == "bfloat16":
        want = gd.full((), float(value), dtype).item()
    assert gd.full((), value, dtype).item() == want


def test_ints_that_python_does_not_print():
    for dtype in ("int64", "float64", "uint128"):
        with pytest.raises(ValueError, match=rf"full\(\) argument 'value': {dtype}: <int> does not fit"):
            gd.full(3, 10**5000, dtype)


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**63 - 1, 0])
def test_large_ints_in_uint64(value, np):
    for x in (value, np.uint64(value)):
        assert gd.full(2, x, "uint64").tolist() == [value] * 2


@pytest.mark.parametrize(
    ("value", "dtype", "error", "wanted"),
    [
        (300, "uint8", ValueError, "uint8: 300 does not fit"),
        (-1, "uint8", ValueError, "uint8: -1 does not fit"),
        (128, "int8", ValueError, "int8: 128 does not fit"),
        (8, "int4", ValueError, "int4: 8 does not fit"),
        (2**64, "uint64", ValueError, "uint64: 18446744073709551616 does not fit"),
        (2**200, "int128", ValueError, f"int128: {2**200} does not fit"),
        (-(2**127) - 1, "int128", ValueError, f"int128: {-(2**127) - 1} does not fit"),
        (2**128, "uint128", ValueError, f"uint128: {2**128} does not fit"),
        (2**128, "handle", ValueError, f"handle: {2**128} does not fit"),
        (2**200, "int8", ValueError, r"full\(\) argument 'value': int8: \d+ does not fit"),
        (10**400, "float64", ValueError, r"full\(\) argument 'value': float64: 10+ does not fit"),
        (2**63, "int64", ValueError, "int64: 9223372036854775808 does not fit"),
        (float("nan"), "int8", ValueError, "int8: nan does not fit"),
        (1j, "float32", ValueError, r"float32: want a real number, got \(0\+1j\)"),
        ("1", "float32", TypeError, "want a bool, int, float or complex, got str"),
        (None, "float32", TypeError, "want a bool, int, float or complex, got NoneType"),
        ([1], "float32", TypeError, "want a bool, int, float or complex, got list"),
    ],
)
def test_values_that_a_dtype_cannot_hold(value, dtype, error, wanted):
    with pytest.raises(error, match=wanted):
        gd.full(3, value, dtype)


def test_type_cannot_be_instantiated():
    with pytest.raises(TypeError, match=r"cannot create 'godlpack\.Tensor' instances"):
        gd.Tensor()
    with pytest.raises(TypeError):
        object.__new__(gd.Tensor)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (gd.Tensor,), {})


# ---- attributes ----


def test_strides_count_elements():
    """R17"""
    t = gd.zeros((2, 3, 4), "float64")
    assert t.strides == (12, 4, 1)
    assert t.T.strides == (1, 4, 12)
    assert t[:, ::2, ::-1].strides == (12, 8, -1)


def test_data_ptr_moves_with_the_view():
    t = gd.zeros((4, 4), "int16")
    assert t[1].data_ptr == t.data_ptr + 8
    assert t[::-1].data_ptr == t.data_ptr + 24
    assert t[2:, 1:].data_ptr == t.data_ptr + 18


def test_no_elements_no_address():
    assert gd.zeros((0, 3)).data_ptr == 0


@pytest.mark.parametrize(
    "name", ["shape", "strides", "ndim", "size", "itemsize", "nbytes", "dtype", "device", "data_ptr", "readonly", "T"]
)
def test_attributes_cannot_be_set(name):
    t = gd.zeros(3)
    with pytest.raises(AttributeError):
        setattr(t, name, getattr(t, name))
    with pytest.raises(AttributeError):
        delattr(t, name)
    with pytest.raises(AttributeError):
        t.other = 1


def test_len_and_iteration():
    t = counting((3, 2))
    assert len(t) == 3
    assert [row.tolist() for row in t] == [[0, 1], [2, 3], [4, 5]]
    assert next(iter(t)).data_ptr == t.data_ptr
    assert list(gd.zeros((0, 2))) == []


@pytest.mark.parametrize("ask", [len, iter, list])
def test_no_dimensions_no_length(ask):
    with pytest.raises(TypeError, match="0 dimensions"):
        ask(gd.zeros(()))


def test_weakref():
    t = gd.zeros(3)
    called = []
    ref = weakref.ref(t, called.append)
    assert ref() is t
    del t
    gc.collect()
    assert ref() is None and called == [ref]


def test_identity_is_equality():
    t = gd.zeros(3)
    assert t == t and t != gd.zeros(3)
    assert {t: 1}[t] == 1


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (lambda: gd.full((), 1.5), "Tensor(1.5, dtype=float32, shape=(), device='cpu')"),
        (lambda: gd.full(3, 2, "int8"), "Tensor([2, 2, 2], dtype=int8, shape=(3,), device='cpu')"),
        (lambda: gd.zeros((0, 2)), "Tensor([], dtype=float32, shape=(0, 2), device='cpu')"),
        (lambda: gd.full(2, True, "bool"), "Tensor([ True,  True], dtype=bool, shape=(2,), device='cpu')"),
        (lambda: gd.full(1, 1 - 2j, "complex64"), "Tensor([1.-2.j], dtype=complex64, shape=(1,), device='cpu')"),
        (
            lambda: gd.full((2, 2), 0.5),
            "Tensor([[0.5, 0.5],\n        [0.5, 0.5]],\n       dtype=float32, shape=(2, 2), device='cpu')",
        ),
        (lambda: gd.asarray(b"a"), "Tensor([97], dtype=uint8, shape=(1,), device='cpu', readonly=True)"),
    ],
)
def test_repr(t, text):
    assert repr(t()) == text == str(t())


@dtypes
def test_repr_of_every_dtype(dtype):
    text = repr(gd.zeros((2, 3), dtype))
    assert text.startswith("Tensor([[")
    assert text.endswith(f"dtype={dtype}, shape=(2, 3), device='cpu')")


def test_repr_of_many_elements_is_short():
    assert "..." in repr(gd.zeros(1 << 20))
    assert len(repr(gd.zeros((100, 100, 100)))) < 5000


# ---- values ----


@dtypes
def test_copy(dtype):
    t = gd.zeros((2, 3), dtype)
    other = t.copy()
    assert other.data_ptr != t.data_ptr
    assert (other.shape, other.dtype, other.tolist()) == (t.shape, t.dtype, t.tolist())
    if 6 * t.dtype.bits * t.dtype.lanes % 8 == 0:  # otherwise the last bits have no meaning
        assert content(other) == content(t)


def test_copy_of_a_view_is_contiguous_and_writable():
    t = counting((4, 6))[::-2, 1::2]
    other = t.copy()
    assert other.tolist() == t.tolist() == [[19, 21, 23], [7, 9, 11]]
    assert other.is_contiguous() and other.data_ptr % 256 == 0
    assert not gd.asarray(b"abc").copy().readonly


def test_contiguous():
    t = counting((2, 3))
    assert t.contiguous() is t
    turned = t.T.contiguous()
    assert turned.is_contiguous() and turned.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("key", "c", "f"),
    [
        (..., True, False),
        ((slice(None), slice(None, None, 2)), False, False),
        ((0,), True, False),
        ((..., 0), False, False),
        ((slice(0),), True, True),
        ((0, 0), True, True),
        ((slice(0, 1), slice(0, 1), slice(None, None, -1)), False, False),
        ((slice(0, 1), slice(0, 1)), True, True),
        ((slice(0, 1), slice(0, 1), slice(2, 3)), True, True),
    ],
)
def test_is_contiguous(key, c, f):
    view = gd.zeros((2, 3, 4))[key]
    assert (view.is_contiguous(), view.is_contiguous(order="F")) == (c, f)
    assert (view.T.is_contiguous("F"), view.T.is_contiguous("C")) == (c, f)


def test_item_and_tolist():
    assert counting((2, 2)).tolist() == [[0, 1], [2, 3]]
    assert counting((2, 2))[1, 0].item() == 2
    assert counting((1, 1)).item() == 0
    assert gd.zeros((2, 0, 3)).tolist() == [[], []]
    assert gd.zeros(2, "float32x2").tolist() == [(0.0, 0.0), (0.0, 0.0)]
    assert gd.zeros(1, "handle").tolist() == [bytes(8)]
    with pytest.raises(ValueError, match="want a tensor of 1 element, got 4"):
        counting((2, 2)).item()
    with pytest.raises(ValueError, match="want a tensor of 1 element, got 0"):
        gd.zeros(0).item()


@pytest.mark.parametrize("dtype", NUMPY)
def test_values_are_numpys(dtype, np):
    a = np.frombuffer(np.random.default_rng(1).bytes(160), np.uint8).copy()
    if dtype == "bool":
        a &= 1
    a = a.view(dtype)
    t = gd.from_dlpack(a)
    assert repr(t.tolist()) == repr(a.tolist())
    assert repr(t[0].item()) == repr(a[0].item())


@pytest.mark.parametrize("method", ["copy", "contiguous", "item", "tolist"])
def test_methods_without_arguments(method):
    for arguments, keywords in [((1,), {}), ((), {"order": "C"})]:
        with pytest.raises(TypeError, match=rf"{method}\(\)"):
            getattr(gd.zeros(()), method)(*arguments, **keywords)


@pytest.mark.parametrize("order", ["X", "c", "CF", "", 1, None])
def test_wrong_orders(order):
    with pytest.raises(ValueError, match="want 'C' or 'F', got"):
        gd.zeros(3).is_contiguous(order)


@pytest.mark.parametrize("to", ["bool", "int8", "uint64", "float16", "float64", "bfloat16", "complex64", "float8_e5m2"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "bfloat16", "int4"])
def test_astype(dtype, to):
    """A contiguous, writable copy; also to its own dtype."""
    t = gd.full((2, 3), 1, dtype)
    for view in (t, t.T):
        other = view.astype(to)
        assert (other.dtype, other.shape, other.readonly) == (to, view.shape, False)
        assert other.is_contiguous() and other.data_ptr != t.data_ptr
        assert other.tolist() == view.tolist()


def test_astype_of_read_only_is_writable():
    assert gd.asarray(b"abc").astype("int16").tolist() == [97, 98, 99]
    assert not gd.asarray(b"abc").astype("uint8").readonly


@pytest.mark.parametrize(
    ("dtype", "to", "error"),
    [
        ("float32", "handle", TypeError),
        ("handle", "int64", TypeError),
        ("float32", "float32x2", ValueError),
        ("float32", "nothing", ValueError),
        ("float32", 5, TypeError),
    ],
)
def test_wrong_conversions(dtype, to, error):
    with pytest.raises(error):
        gd.zeros(4, dtype).astype(to)


def test_astype_takes_one_dtype():
    for arguments in [(), ("int8", "int8")]:
        with pytest.raises(TypeError, match=r"astype\(\)"):
            gd.zeros(4).astype(*arguments)


def test_astype_of_none():
    with pytest.raises(TypeError):
        gd.zeros(4, "int8").astype(None)


# ---- views ----


@pytest.mark.parametrize("shape", [(6,), (3, 2), (1, 6, 1), (-1,), (2, -1), (6, -1), ()])
def test_reshape(shape, np):
    a = np.arange(6 if shape else 1)
    t = gd.from_dlpack(a)
    for view in (t.reshape(shape), t.reshape(*shape)):
        assert view.tolist() == a.reshape(shape).tolist()
        assert view.data_ptr == t.data_ptr


@given(st.data())
def test_reshape_is_a_view_wherever_numpys_is(data):
    """BufferError if and only if numpy copies."""
    np = pytest.importorskip("numpy")
    shape = data.draw(st.lists(st.sampled_from([1, 2, 3, 4]), max_size=4))
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    a = a.transpose(data.draw(st.permutations(range(a.ndim))))
    a = a[(..., *(slice(None, None, data.draw(st.sampled_from([1, -1, 2]))) for _ in range(a.ndim)))]
    rest, to = a.size, []
    while rest > 1:
        factor = data.draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
        to.append(factor)
        rest //= factor
        if len(to) == 5:
            to.append(rest)
            break
    b = a.reshape(to)
    if np.shares_memory(a, b):
        assert np.array_equal(np.from_dlpack(gd.from_dlpack(a).reshape(to)), b)
    else:
        with pytest.raises(BufferError, match="needs a copy"):
            gd.from_dlpack(a).reshape(to)


@pytest.mark.parametrize(
    ("shape", "error", "wanted"),
    [
        ((4,), ValueError, r"cannot give 6 elements the shape \[4\]"),
        ((-1, -1), ValueError, r"cannot give 6 elements the shape \[-1 -1\]"),
        ((-2, 3), ValueError, "cannot give 6 elements"),
        ((4, -1), ValueError, "cannot give 6 elements"),
        ((0, -1), ValueError, "cannot give 6 elements"),
        ((2**62, 2**62), ValueError, "cannot give 6 elements"),
        ((1,) * 65, ValueError, "want at most 64 dimensions, got 65"),
        ((2.0, 3), TypeError, "want an int, got float"),
        (("6",), TypeError, "want an int or a sequence of ints, got str"),
        ((2**64,), ValueError, "does not fit into 64 bits"),
    ],
)
def test_wrong_shapes(shape, error, wanted):
    with pytest.raises(error, match=wanted):
        gd.zeros((2, 3)).reshape(*shape)


def test_reshape_that_needs_a_copy():
    with pytest.raises(BufferError, match=r"strides \[1 3\] to \[6\] needs a copy; use .contiguous\(\) first"):
        gd.zeros((2, 3)).T.reshape(6)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 0, 2), (-1, 0, 1), (-1, -2, -3)])
def test_permute(axes, np):
    a = np.arange(24).reshape(2, 3, 4)
    for view in (gd.from_dlpack(a).permute(axes), gd.from_dlpack(a).permute(*axes)):
        assert view.tolist() == a.transpose(axes).tolist()
        assert view.data_ptr == a.ctypes.data
    assert gd.zeros(()).permute().shape == ()


@pytest.mark.parametrize("axes", [(0,), (0, 1, 2), (0, 0), (0, 2), (0, -3), (0, -2)])
def test_wrong_axes(axes):
    with pytest.raises(ValueError, match="want each of the axes 0 to 1 once, got"):
        gd.zeros((2, 3)).permute(*axes)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (2, 0)])
def test_transposed(shape):
    t = gd.zeros(shape)
    assert t.T.shape == shape[::-1]
    assert t.T.data_ptr == t.data_ptr
    assert t.T.T.strides == t.strides


@st.composite
def indexed(draw):
    """A shape and a key that fits it."""
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    keys, ellipsis = [], False
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        integers = [st.integers(-extent, extent - 1)] if extent else []
        keys.append(draw(st.one_of(*integers, st.slices(extent))))
    for _ in range(draw(st.integers(0, 3))):
        new = draw(st.sampled_from([None, None, ...]))
        if new is None or not ellipsis:
            keys.insert(draw(st.integers(0, len(keys))), new)
            ellipsis = ellipsis or new is ...
    if len(keys) == 1 and draw(st.booleans()):
        return shape, keys[0]
    if not ellipsis:
        return shape, tuple(keys)
    here = keys.index(...)
    rest = [draw(st.slices(n)) for n in shape[len(shape) - len([k for k in keys[here:] if k not in (None, ...)]) :]]
    return shape, (*keys[: here + 1], *(rest if here == len(keys) - 1 else ()))


@settings(max_examples=300)
@given(indexed())
def test_index(case):
    """Views equal numpy's views, also in address and strides."""
    np = pytest.importorskip("numpy")
    shape, key = case
    t = counting(shape)
    a = np.from_dlpack(t)
    keys = key if isinstance(key, tuple) else (key,)
    want = a[keys if ... in keys else (*keys, ...)]  # with an ellipsis numpy returns an array, never a scalar
    view = t[key]
    assert view.shape == want.shape
    assert np.array_equal(np.asarray(view), want)
    if want.size:
        assert view.data_ptr == want.__array_interface__["data"][0]
        assert np.shares_memory(np.from_dlpack(view), want)


def test_index_of_an_index(np):
    t = counting((4, 5, 6))
    a = np.from_dlpack(t)
    assert np.array_equal(np.from_dlpack(t[1:, ::-2][..., None, 2:5][-1]), a[1:, ::-2][..., None, 2:5][-1])


def test_index_by_what_has_an_index(np):
    assert counting(5)[np.int8(-1)].item() == 4


@pytest.mark.parametrize(
    ("key", "error", "wanted"),
    [
        (2, IndexError, "index 2 is out of bounds for axis 0 with 2 elements"),
        (-3, IndexError, "index -3 is out of bounds for axis 0 with 2 elements"),
        ((0, 3), IndexError, "index 3 is out of bounds for axis . with 3 elements"),
        (2**70, IndexError, "index 1180591620717411303424 is out of bounds"),
        (-(2**70), IndexError, "is out of bounds"),
        ((0, 0, 0), IndexError, r"want at most 2 indices for shape \[2 3\], got 3"),
        ((..., ...), IndexError, "want at most one ellipsis, got 2"),
        ((None,) * 63, IndexError, "want a view of at most 64 dimensions, got 65"),
        (True, TypeError, "want an int, a slice, None, ... or a tuple of them as an index, got bool"),
        (1.0, TypeError, "got float"),
        ("a", TypeError, "got str"),
        ([0], TypeError, "got list"),
        (((0,),), TypeError, "got tuple"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice("a"), TypeError, "slice indices must be integers"),
    ],
)
def test_wrong_keys(key, error, wanted):
    with pytest.raises(error, match=wanted):
        gd.zeros((2, 3))[key]


def test_index_beyond_a_view_names_the_axis_of_the_tensor():
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 1 with 3 elements"):
        gd.zeros((2, 3))[0, 9]


def test_packed_views_start_at_a_byte():
    """R21: elements of 4 bits; byte_offset counts bytes."""
    t = gd.zeros(8, "int4")
    assert t[2:].data_ptr == t.data_ptr + 1
    with pytest.raises(BufferError, match=r"starts inside a byte \(element 1\)"):
        t[1:]


def test_elements_cannot_be_assigned_or_deleted():
    t = gd.zeros(3)
    with pytest.raises(TypeError):
        t[0] = 1
    with pytest.raises(TypeError):
        del t[0]


def test_views_keep_the_memory_alive():
    view = counting((100, 100))[7][::-3]
    gc.collect()
    assert view.tolist() == list(range(799, 699, -3))


def test_views_of_read_only_are_read_only():
    t = gd.asarray(b"abcdef")
    for view in (t[1:], t.T, t.reshape(2, 3), t.permute(0), next(iter(t)), t[None], gd.from_dlpack(t), gd.asarray(t)):
        assert view.readonly
