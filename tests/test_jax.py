"""JAX: every dtype and layout, in both directions, by every route. Its immutable arrays are imported as read-only."""

import array
import ctypes
import gc
import sys
import weakref

import pytest

import godlpack as gd
from helpers import build
from helpers.dtypes import JAX
from helpers.fakes import FakeTensor

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
np = pytest.importorskip("numpy")


@pytest.fixture(autouse=True)
def cpu(request):
    request.getfixturevalue("jax")


INTO = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "capsule": lambda x: gd.from_dlpack(x.__dlpack__()),
}
OUT = {
    "from_dlpack": lambda t: jax.dlpack.from_dlpack(t, copy=False),
    "jnp": lambda t: jnp.from_dlpack(t, copy=False),
    "to type": lambda t: t.to(jax.Array),
    "to array": lambda t: t.to(jnp.zeros(1)),
}

into = pytest.mark.parametrize("into", INTO.values(), ids=INTO)
out = pytest.mark.parametrize("out", OUT.values(), ids=OUT)
every_dtype = pytest.mark.parametrize("dtype", JAX)
shapes = pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (7,), (), (1, 5, 1), (0,), (2, 0, 3)])


def sample(dtype="int32", shape=(3, 4)):
    """An array of arbitrary bits."""
    kind = np.dtype(getattr(jnp, dtype))
    a = np.frombuffer(np.random.default_rng(1).bytes(int(np.prod(shape)) * kind.itemsize), np.uint8).copy()
    if dtype == "bool":
        a &= 1
    return jnp.asarray(a.view(kind).reshape(shape))


def address(x):
    return x.unsafe_buffer_pointer()


def check_same(t, x):
    """Checks a tensor and an array over the same memory."""
    assert t.shape == x.shape
    assert t.dtype == x.dtype
    if t.size:
        assert t.data_ptr == address(x)
        assert ctypes.string_at(t.copy().data_ptr, t.nbytes) == np.asarray(x).tobytes()


@every_dtype
@into
def test_into(dtype, into):
    """R44: read-only, although jax's capsules are legacy ones."""
    x = sample(dtype)
    for _ in range(2):  # the second import follows the plan, if there is one
        t = into(x)
        check_same(t, x)
        assert t.readonly


@shapes
@into
def test_shape_into(shape, into):
    x = sample(shape=shape)
    t = into(x)
    check_same(t, x)
    assert t.tolist() == x.tolist()
    assert t.is_contiguous()


@every_dtype
@out
def test_out(dtype, out):
    t = gd.from_dlpack(sample(dtype)).copy()
    for _ in range(2):
        x = out(t)
        assert isinstance(x, jax.Array)
        check_same(t, x)


@shapes
@out
def test_shape_out(shape, out):
    t = gd.from_dlpack(sample(shape=shape)).copy()
    x = out(t)
    check_same(t, x)
    assert x.tolist() == t.tolist()


@out
def test_order_of_axes(out):
    """jax imports a transposed tensor without a copy."""
    t = gd.from_dlpack(np.arange(24).reshape(2, 3, 4)).copy().permute(2, 0, 1)
    x = out(t)
    assert address(x) == t.data_ptr
    assert x.tolist() == t.tolist()


def test_round_trip_of_jaxs():
    x = sample()
    y = gd.from_dlpack(x).to(jax.Array)
    assert address(y) == address(x)
    assert (x == y).all()


def test_read_only_goes_to_jax():
    """jax arrays are immutable, so their memory may be read-only."""
    t = gd.asarray(bytes(range(64)), copy=True)
    assert t.to(jax.Array).tolist() == list(range(64))
    frozen = gd.from_dlpack(sample())
    assert frozen.readonly
    assert address(frozen.to(jax.Array)) == frozen.data_ptr


def test_frozen_for_others(torch):
    t = gd.from_dlpack(sample())
    assert not np.from_dlpack(t).flags.writeable
    assert not np.asarray(t).flags.writeable
    assert memoryview(t).readonly
    with pytest.raises(BufferError, match="read-only"):
        t.to(torch.Tensor)
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()


def test_capsule_is_frozen_too():
    """R44"""
    assert gd.from_dlpack(sample().__dlpack__()).readonly


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: gd.zeros((4, 6))[:, ::2], "strided"),
        (lambda: gd.zeros(6)[::-1], "strided"),
        (lambda: gd.from_dlpack(np.broadcast_to(np.zeros(3), (2, 3))), "strided"),
        (lambda: gd.zeros(64, "int8")[1:], "aligned"),
        (lambda: gd.zeros(4, "int128"), "dtype"),
        (lambda: gd.zeros(4, "float32x4"), "lanes"),
        (lambda: gd.zeros(4, "complex32"), "dtype"),
        (lambda: gd.from_dlpack(FakeTensor(device=(3, 0)).capsule()), "device"),
    ],
)
def test_to_never_copies(make, reason):
    """jax itself would silently copy some of them."""
    t = make()
    for like in (jax.Array, jnp.zeros(1)):
        with pytest.raises(BufferError, match=r"cannot take this tensor .* without a copy: .+"):
            t.to(like)


def test_jax_may_copy_by_itself():
    t = gd.zeros(64, "int8")[1:]
    assert jax.dlpack.from_dlpack(t).tolist() == [0] * 63


@into
def test_release_of_jaxs_memory(into):
    x = sample()
    ref = weakref.ref(x)
    t = into(x)
    want = np.asarray(x).copy()
    del x
    gc.collect()
    assert np.array_equal(np.from_dlpack(t) if ref() is None else np.asarray(t), want)
    del t
    gc.collect()
    assert ref() is None


@out
def test_release_of_our_memory(out):
    t = gd.zeros((64, 4), "int8")
    before = gd._core._counters()["storages_freed"]
    x = out(t)
    del t
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before
    assert x.shape == (64, 4)  # no computation: jax would release its result later, on another thread
    del x
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before + 1


def test_copy():
    """jax from 0.11 on makes the copy itself, and marks it as read-only, too."""
    x = sample()
    for route in (gd.from_dlpack, gd.asarray):
        t = route(x, copy=True)
        assert t.data_ptr != address(x)
        assert t.tolist() == x.tolist()
        assert not t.copy().readonly


def test_float4():
    """R21: jax stores one or two elements in a byte; the flag matches."""
    if not hasattr(jnp, "float4_e2m1fn"):
        pytest.skip("this jax has no float4_e2m1fn")
    x = jnp.asarray([0.5, 1.0, -6.0, 4.0], jnp.float4_e2m1fn)
    try:
        capsule = x.__dlpack__()
    except Exception as error:
        pytest.skip(f"this jax does not export float4_e2m1fn: {error}")
    t = gd.from_dlpack(capsule)
    assert t.dtype == "float4_e2m1fn" and t.shape == (4,)


def test_prng_keys_are_no_tensors():
    with pytest.raises((TypeError, BufferError, AttributeError)):
        gd.from_dlpack(jax.random.key(0))


def test_traced_arrays_are_no_tensors():
    def inside(x):
        with pytest.raises((TypeError, BufferError, jax.errors.JAXTypeError)):
            gd.from_dlpack(x)
        return x

    jax.jit(inside)(jnp.zeros(3))


def test_wrapper_with_a_buffer_of_its_own():
    """A plan is made from one object of a type; the next may have an invalid dtype, and a buffer without strides."""
    x = jnp.arange(4.0, dtype="float32")
    gd.from_dlpack(x)

    class Wrapper(ctypes.c_float * 4):
        dtype = np.dtype("float32")

        def __dlpack__(self, **keywords):
            return x.__dlpack__()

    wrapper = Wrapper.from_address(address(x))
    for dtype in (Wrapper.dtype, 5, (12 << 30) | 5, "float32", None, object(), np.float32, jnp.float32, "", ()):
        Wrapper.dtype = dtype
        t = gd.from_dlpack(wrapper)
        check_same(t, x)
        assert t.readonly


def test_wrapper_that_answers_otherwise():
    """A plan follows a type's first answer; the next may be no capsule, a used one, or of a dtype for Go to check."""
    x = jnp.arange(4.0, dtype="float32")

    class Wrapper:
        def __init__(self, answer):
            self.answer = answer

        def __dlpack__(self):
            return self.answer()

    def used():
        capsule = x.__dlpack__()
        gd.from_dlpack(capsule)
        return capsule

    for _ in range(2):
        t = gd.from_dlpack(Wrapper(x.__dlpack__))
        check_same(t, x)
        assert t.readonly
        assert gd.from_dlpack(Wrapper(jnp.zeros((0, 3)).__dlpack__)).shape == (0, 3)
        assert gd.from_dlpack(Wrapper(FakeTensor((3,), dtype=(0, 8, 4), legacy=True).capsule)).dtype == "int8x4"
        with pytest.raises(TypeError, match="want a capsule"):
            gd.from_dlpack(Wrapper(lambda: 5))
        with pytest.raises(ValueError, match="used_dltensor"):
            gd.from_dlpack(Wrapper(used))


def test_wrapper_of_bytes():
    """The buffer has the same memory and shape, but the next one's elements have another size."""
    memory = jnp.arange(8, dtype="uint8")

    class Bytes(ctypes.c_uint8 * 8):
        dtype = np.dtype("uint8")

        def __dlpack__(self):
            return memory.__dlpack__()

    wrapper = Bytes.from_address(address(memory))
    for dtype in ("uint8", "uint8", "uint16", "float32", jnp.int4, "datetime64[s]", np.dtypes.StringDType(), ">i2"):
        Bytes.dtype = np.dtype(dtype)
        assert gd.from_dlpack(wrapper).tolist() == list(range(8))


@build.needs_cc
def test_wrapper_of_an_array(tmp_path, ml_dtypes):
    """The dtype of an object that is exchanged by buffer is checked each time."""
    folder = tmp_path / "jaxlib"
    folder.mkdir()
    so = build.c_library(folder / "deleter.so", "void gone(void *m) { (void)m; }")
    deleter = ctypes.cast(ctypes.CDLL(str(so)).gone, ctypes.c_void_p).value

    class Array(array.array):
        dtype = np.dtype("float64")

        def __dlpack__(self):
            fake = FakeTensor((4,), dtype=(2, 64, 1), data=self.buffer_info()[0], legacy=True)
            fake.managed.deleter = deleter
            return fake.capsule()

    gd.from_dlpack(np.zeros(2, ml_dtypes.int4))
    x = Array("d", range(4))
    for dtype in ("float64", "float64", "float32", 5, ml_dtypes.int4, "datetime64[s]", "float64"):
        Array.dtype = dtype if dtype == 5 else np.dtype(dtype)
        t = gd.from_dlpack(x)
        assert t.tolist() == [0, 1, 2, 3]
        assert t.readonly
        assert t.data_ptr == x.buffer_info()[0]


def test_dtypes_keep_their_references(jax, np):
    x, dtype = jax.numpy.zeros(3, "float32"), np.dtype("float32")
    gd.from_dlpack(x)
    before = sys.getrefcount(dtype)
    for _ in range(100):
        gd.from_dlpack(x)
    assert sys.getrefcount(dtype) - before < 50
