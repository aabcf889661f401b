"""PyTorch: every dtype and layout, in both directions, by every route; and what torch's own table omits."""

import ctypes
import gc
import weakref

import pytest

import godlpack as gd
from helpers.dtypes import TORCH
from helpers.fakes import MAIN_NAME, FakeTensor, table_of
from helpers.layouts import BASE, KEYS

torch = pytest.importorskip("torch")

HAS_TABLE = hasattr(torch.Tensor, MAIN_NAME)

INTO = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "legacy capsule": lambda x: gd.from_dlpack(x.__dlpack__()),
    "versioned capsule": lambda x: gd.from_dlpack(x.__dlpack__(max_version=(1, 0))),
    "to_dlpack": lambda x: gd.from_dlpack(torch.utils.dlpack.to_dlpack(x)),
}
OUT = {
    "from_dlpack": torch.from_dlpack,
    "utils": torch.utils.dlpack.from_dlpack,
    "as_tensor": torch.as_tensor,
    "legacy capsule": lambda t: torch.from_dlpack(t.__dlpack__()),
    "versioned capsule": lambda t: torch.from_dlpack(t.__dlpack__(max_version=(1, 0))),
    "to type": lambda t: t.to(torch.Tensor),
    "to tensor": lambda t: t.to(torch.zeros(1)),
    "to device": lambda t: t.to("cpu").to(torch.Tensor),
}

into = pytest.mark.parametrize("into", INTO.values(), ids=INTO)
out = pytest.mark.parametrize("out", OUT.values(), ids=OUT)
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
every_dtype = pytest.mark.parametrize("dtype", TORCH)

LAYOUTS = {name: lambda x, key=key: x[key] for name, key in KEYS.items()}
LAYOUTS["Fortran"] = lambda x: x.permute(2, 1, 0)
LAYOUTS["transposed"] = lambda x: x.transpose(0, 1)
LAYOUTS["broadcast"] = lambda x: x[:, :1].expand(4, 6, 2)
LAYOUTS["odd strides of one"] = lambda x: x.as_strided((1, 6, 1), (999, 2, 77))

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def sample(dtype="int32", shape=BASE):
    """A tensor of arbitrary bits."""
    kind = getattr(torch, dtype)
    size = kind.itemsize
    for extent in shape:
        size *= extent
    x = torch.randint(0, 2 if dtype == "bool" else 256, (size,), dtype=torch.uint8)
    return x.view(kind).reshape(shape)


def bits(address, count):
    return ctypes.string_at(address, count)


def check_same(t, x):
    """Checks a tensor of godlpack's and one of torch's over the same memory."""
    assert t.shape == tuple(x.shape)
    assert t.dtype == x.dtype
    assert t.size == x.numel() and t.itemsize == x.itemsize
    if t.size:
        assert t.data_ptr == x.data_ptr()
        assert [s for s, n in zip(t.strides, t.shape, strict=True) if n > 1] == [
            s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1
        ]
        packed = x.clone(memory_format=torch.contiguous_format)
        assert bits(t.copy().data_ptr, t.nbytes) == bits(packed.data_ptr(), t.nbytes)


@every_dtype
@into
def test_into(dtype, into):
    x = sample(dtype)
    for _ in range(2):  # the second import follows the plan
        t = into(x)
        check_same(t, x)
        assert not t.readonly


@layouts
@into
def test_layout_into(layout, into):
    x = layout(sample())
    for _ in range(2):
        t = into(x)
        check_same(t, x)
        assert t.tolist() == x.tolist()


@every_dtype
@out
def test_out(dtype, out):
    t = gd.from_dlpack(sample(dtype)).copy()
    for _ in range(2):
        x = out(t)
        assert type(x) is torch.Tensor
        check_same(t, x)


@layouts
@out
def test_layout_out(layout, out):
    t = gd.from_dlpack(layout(sample()))
    for _ in range(2):
        x = out(t)
        check_same(t, x)
        assert x.tolist() == t.tolist()


@into
@out
def test_writes_are_seen(into, out):
    x = sample()
    y = out(into(x))
    x[1, 2, 1] = 42
    assert y[1, 2, 1] == 42
    y[0] = -1
    assert (x[0] == -1).all()


@into
def test_release_of_torchs_memory(into, np):
    a = np.zeros(10)
    ref = weakref.ref(a)
    t = into(torch.from_numpy(a))
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
    x = out(t)[10:20]
    del t
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before
    assert x.tolist() == [0] * 10
    del x
    assert gd._core._counters()["storages_freed"] == before + 1


@pytest.mark.xfail(strict=True, reason="torch.asarray prefers the buffer protocol, without format and shape: bytes")
def test_asarray():
    t = gd.full((2, 3), 7, "int32")
    x = torch.asarray(t)
    assert (x.dtype, tuple(x.shape), x.data_ptr()) == (torch.int32, (2, 3), t.data_ptr)


def test_chain(np):
    """godlpack to torch to numpy and back: one memory, released once."""
    t = gd.zeros((3, 4))
    u = gd.from_dlpack(torch.from_dlpack(t).numpy())
    assert u.data_ptr == t.data_ptr


def test_float4():
    """R21: torch stores pairs of them."""
    x = torch.arange(6, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    for _ in range(2):
        t = gd.from_dlpack(x)
        assert t.dtype == "float4_e2m1fnx2" and t.nbytes == 6 and t.data_ptr == x.data_ptr()
    y = gd.zeros(4, "float4_e2m1fnx2").to(torch.Tensor)
    assert y.dtype == torch.float4_e2m1fn_x2 and y.shape == (4,)


def test_gradients_through_our_memory():
    t = gd.full(3, 2.0)
    x = torch.from_dlpack(t).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0] * 3
    with pytest.raises(BufferError, match=r"requires grad.*use .detach\(\)"):
        gd.from_dlpack(x)
    assert gd.from_dlpack(x.detach()).data_ptr == t.data_ptr


def test_imported_memory_cannot_be_resized():
    """R32"""
    x = torch.from_dlpack(gd.zeros(3))
    with pytest.raises(RuntimeError):
        x.resize_(1000)


# ---- refused tensors (R19, R41, R65) ----


def lazily_negative(**like):
    """The imaginary part of a conjugate, with its real part beside it: a lazy negative without gaps."""
    z = torch.tensor([1 + 2j, 3 + 4j], **like)
    return z.conj().imag.as_strided((3,), (1,))


REFUSED = {
    "requires grad": (lambda: torch.ones(3, requires_grad=True), "requires grad"),
    "result with grad": (lambda: torch.ones(3, requires_grad=True) * 2, "requires grad"),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(3)), "requires grad"),
    "conjugate": (lambda: torch.tensor([1 + 2j, 3 + 4j]).conj(), r"lazy conjugate.*use .resolve_conj\(\)"),
    "negative": (lambda: torch.tensor([1 + 2j, 3 + 4j]).conj().imag, r"lazy negative.*use .resolve_neg\(\)"),
    "scalar negative": (lambda: torch.tensor(1 + 2j).conj().imag, "lazy negative"),
    "one negative": (lambda: torch.tensor([1 + 2j]).conj().imag, "lazy negative"),
    "negative double": (lambda: torch.tensor([1 + 2j], dtype=torch.complex128).conj().imag, "lazy negative"),
    "sparse": (lambda: torch.ones(3).to_sparse(), "torch.strided"),
    "sparse rows": (lambda: torch.ones(3, 3).to_sparse_csr(), "torch.strided"),
    "meta": (lambda: torch.ones(3, device="meta"), "meta"),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.qint8), "QInt|dlpack"),
}


def check_refused(x, wanted):
    for route in (gd.from_dlpack, gd.from_dlpack, gd.asarray):
        with pytest.raises(BufferError, match=wanted):
            route(x)


@pytest.fixture
def planned():
    """Makes a plan for torch.Tensor."""
    gd.from_dlpack(torch.zeros(3))
    assert not HAS_TABLE or "torch.Tensor" in gd.get_build_info()["fast_paths"]


@pytest.mark.parametrize(("make", "wanted"), REFUSED.values(), ids=REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refused(make, wanted, planned):
    check_refused(make(), wanted)


@pytest.mark.xfail(strict=True, reason="the fast path takes real tensors without gaps for plain")
@pytest.mark.parametrize(
    "make", [lazily_negative, lambda: lazily_negative(dtype=torch.complex128), lambda: torch._neg_view(torch.arange(3))]
)
def test_lazy_negatives_without_gaps(make, planned):
    """R65"""
    x = make()
    assert x.is_neg() and x.is_contiguous()
    check_refused(x, "lazy negative")


def test_resolved_is_taken():
    z = torch.tensor([1 + 2j, 3 + 4j]).conj()
    assert gd.from_dlpack(z.resolve_conj()).tolist() == [1 - 2j, 3 - 4j]
    assert gd.from_dlpack(z.imag.resolve_neg()).tolist() == [-2.0, -4.0]


@pytest.mark.filterwarnings("ignore")
def test_fake_tensors():
    """R41: data is NULL, and torch does not report that."""
    mode = pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode()
    with mode:
        x = torch.ones(3)
    check_refused(x, "data: want a pointer for 3 elements of float32, got NULL|FakeTensor")


def test_wrapper_subclasses():
    """R41, R66: their data is NULL, too."""
    cls = type("Wrapper", (torch.Tensor,), {"__torch_dispatch__": classmethod(lambda *_: NotImplemented)})
    check_refused(
        torch.Tensor._make_wrapper_subclass(cls, (3,)), "data: want a pointer for 3 elements of float32|Wrapper"
    )


@pytest.mark.filterwarnings("ignore")
def test_transformed_tensors():
    """R66"""

    def inside(x):
        with pytest.raises((BufferError, RuntimeError)):
            gd.from_dlpack(x)
        return x

    torch.vmap(inside)(torch.ones(2, 3))
    torch.func.grad(lambda x: inside(x).sum())(torch.ones(3))


# ---- subclasses ----


def test_subclass():
    """R54: it inherits the table."""
    cls = type("Sub", (torch.Tensor,), {})
    x = torch.arange(3).as_subclass(cls)
    for _ in range(2):
        check_same(gd.from_dlpack(x), x)


def test_parameter_without_grad():
    x = torch.nn.Parameter(torch.ones(3), requires_grad=False)
    for _ in range(2):
        check_same(gd.from_dlpack(x), x)


@pytest.mark.parametrize("planned_by", ["to", "from_dlpack"])
def test_to_a_subclass(planned_by):
    cls = type("Sub", (torch.Tensor,), {})
    if planned_by == "from_dlpack":
        gd.from_dlpack(torch.ones(3).as_subclass(cls))
    for _ in range(2):
        with pytest.raises(TypeError, match="Sub is not the type of an array"):
            gd.zeros(3).to(cls)


@pytest.mark.skipif(
    not hasattr(torch.utils.dlpack, "ReadOnlyTensorWrapper"), reason="this torch has no ReadOnlyTensorWrapper"
)
def test_read_only_wrapper():
    """R63: a subclass with a table of its own, which exports read-only tensors; the base class does not."""
    x = torch.ones(3)
    gd.from_dlpack(x)
    wrapped = torch.utils.dlpack.ReadOnlyTensorWrapper(x)
    for _ in range(2):
        t = gd.from_dlpack(wrapped)
        assert t.readonly and t.data_ptr == x.data_ptr()
        assert not gd.from_dlpack(x).readonly


# ---- tensors that torch does not import ----


def test_to_read_only(planned):
    """R43: torch could write to it."""
    t = gd.asarray(b"abc")
    for like in (torch.Tensor, torch.zeros(1)):
        with pytest.raises(BufferError, match=r"the tensor is read-only, and torch.Tensor would be writable"):
            t.to(like)
    assert t.copy().to(torch.Tensor).tolist() == [97, 98, 99]


def test_to_negative_strides(planned, np):
    t = gd.from_dlpack(np.arange(4)[::-1])
    for _ in range(2):
        with pytest.raises(BufferError, match=r"torch.Tensor does not support negative strides, got \[-1\]"):
            t.to(torch.Tensor)
    assert t.contiguous().to(torch.Tensor).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("dtype", ["int128", "float128", "float32x4", "handle", "float6_e2m3fn", "float8_e3m4"])
def test_dtypes_that_torch_has_not(dtype, planned):
    for like in (torch.Tensor, torch.zeros(1)):
        with pytest.raises(BufferError, match=rf"torch.Tensor cannot take this tensor \({dtype}"):
            gd.zeros(4, dtype).to(like)


@pytest.mark.parametrize("device", [(3, 0), (7, 0), (9, 0), (13, 0)])
def test_devices_that_torch_has_not(device, planned):
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    with pytest.raises(BufferError, match=r"torch\.Tensor"):
        t.to(torch.Tensor)


def test_opencl(python):
    python(
        """
import godlpack as gd, torch
from helpers.fakes import FakeTensor
t = gd.from_dlpack(FakeTensor(device=(4, 0)).capsule())
try:
    t.to(torch.Tensor)
except BufferError:
    pass
"""
    )


# ---- the routes ----


@pytest.mark.skipif(not HAS_TABLE, reason="this torch publishes no table")
def test_tensors_go_by_the_table(monkeypatch):
    def never(*_, **__):
        raise AssertionError("__dlpack__ was called")

    monkeypatch.setattr(torch.Tensor, "__dlpack__", never)
    monkeypatch.setattr(torch, "from_dlpack", never)
    x = torch.arange(3)
    assert gd.from_dlpack(x).to(torch.Tensor).data_ptr() == x.data_ptr()
    assert table_of(torch.Tensor).version.major == 1


def test_copy():
    """torch copies on request, but does not mark the copy (R24): it may be copied again, but it is always copied."""
    x = torch.arange(3)
    t = gd.from_dlpack(x, copy=True)
    assert t.data_ptr != x.data_ptr() and t.tolist() == [0, 1, 2]
    assert gd.from_dlpack(x, copy=False, device="cpu").data_ptr == x.data_ptr()
    y = torch.from_dlpack(t, copy=True)
    assert y.data_ptr() != t.data_ptr


def test_torch_asks_for_a_copy_of_read_only():
    assert torch.from_dlpack(gd.asarray(b"abc"), copy=True).tolist() == [97, 98, 99]


class Asked(torch.Tensor):
    """A subclass with its own attribute lookup, which the guards must use."""

    def __getattribute__(self, name):
        if name == "requires_grad":
            return True
        return super().__getattribute__(name)


def test_guard_respects_a_subclass_lookup():
    x = torch.ones(3).as_subclass(Asked)
    for _ in range(3):  # the first call makes the plan, the others follow it
        with pytest.raises(BufferError, match="requires grad"):
            gd.from_dlpack(x)


def test_guard_sees_each_change():
    x = torch.ones(3)
    for _ in range(3):
        assert gd.from_dlpack(x).data_ptr == x.data_ptr()
        x.requires_grad_()
        with pytest.raises(BufferError, match="requires grad"):
            gd.from_dlpack(x)
        x.requires_grad_(False)
