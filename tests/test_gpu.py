"""Tensors on a real GPU, with torch and cupy: run by `tox -e gpu`, and skipped without GODLPACK_TEST_GPU."""

import os

import pytest

import godlpack as gd
from helpers.threads import together

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif("GODLPACK_TEST_GPU" not in os.environ, reason="only with GODLPACK_TEST_GPU=1, and a CUDA GPU"),
]

CYCLES = 50_000_000  # for torch.cuda._sleep: about 30 ms, in which the host runs far ahead


@pytest.fixture
def gpu():
    """torch, which must have a GPU: once requested, these tests are not skipped."""
    torch = pytest.importorskip("torch")
    assert torch.cuda.is_available(), "GODLPACK_TEST_GPU is set, and torch has no CUDA"
    yield torch
    torch.cuda.synchronize()


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


class Interface:
    """Exposes only the CUDA array interface of an array."""

    def __init__(self, x, **changes):
        self.x = x
        self.__dict__["described"] = {**x.__cuda_array_interface__, **changes}

    @property
    def __cuda_array_interface__(self):
        return self.described


def test_devices(gpu):
    assert gd.cuda.device_count() == gpu.cuda.device_count()


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn"],
)
def test_torch_both_ways(gpu, dtype):
    x = gpu.zeros((3, 4), dtype=getattr(gpu, dtype), device="cuda")
    t = gd.from_dlpack(x.T)
    assert (t.device, t.dtype, t.shape, t.data_ptr) == ("cuda:0", dtype, (4, 3), x.data_ptr())
    back = t.to(gpu.Tensor)
    assert back.data_ptr() == x.data_ptr() and back.stride() == x.T.stride() and back.device == x.device
    assert gpu.from_dlpack(t).data_ptr() == x.data_ptr()


def test_own_memory_in_torch(gpu):
    t = gd.full((2, 3), 1.5, device="cuda")
    x = gpu.from_dlpack(t)
    assert x.data_ptr() == t.data_ptr and x.tolist() == [[1.5] * 3] * 2
    x.mul_(2)
    gpu.cuda.synchronize()
    assert t.to("cpu").tolist() == [[3.0] * 3] * 2
    del t
    assert x.sum().item() == 18.0


@pytest.mark.parametrize("device", ["cuda_host", "cuda_managed"])
def test_memory_that_both_reach(gpu, device):
    t = gd.full(4, 2.5, device=device)
    assert t.tolist() == [2.5] * 4
    assert t.to("cuda:0").to("cpu").tolist() == [2.5] * 4


def test_strided_copies(gpu):
    x = gpu.arange(2 * 3 * 4 * 5, dtype=gpu.float32, device="cuda").reshape(2, 3, 4, 5)
    gpu.cuda.synchronize()
    for view in (
        x,
        x.permute(3, 1, 0, 2),
        x[:, 1],
        x[..., ::2],
        x[1, :, 2],
        x.expand(2, 3, 4, 5)[:, :1].expand(2, 3, 4, 5),
    ):
        t = gd.from_dlpack(view)
        copied = t.copy()
        assert copied.is_contiguous() and copied.to("cpu").tolist() == view.tolist()
        assert t.to("cpu").tolist() == view.tolist()


def test_peers(gpu):
    if gpu.cuda.device_count() < 2:
        pytest.skip("one GPU")
    x = gpu.arange(1000, device="cuda:0")
    gpu.cuda.synchronize()
    assert gd.from_dlpack(x).to("cuda:1").to("cpu").tolist() == list(range(1000))
    assert gpu.cuda.current_device() == 0


def test_our_stream_waits_for_the_interface(gpu):
    """godlpack's stream waits on the device for a producer's delayed work on a side stream."""
    side = gpu.cuda.Stream()
    x = gpu.zeros(1 << 20, device="cuda")
    gpu.cuda.synchronize()
    with gpu.cuda.stream(side):
        gpu.cuda._sleep(CYCLES)
        x.fill_(7)
        t = gd.asarray(Interface(x, version=3, stream=side.cuda_stream))
    assert not side.query(), "the host did not wait"
    assert t[-1:].to("cpu").tolist() == [7.0]


def test_their_stream_waits_for_ours(gpu):
    """A consumer's stream waits for godlpack's delayed work."""
    ours, theirs = gpu.cuda.Stream(), gpu.cuda.Stream()
    source = gpu.full((1 << 20,), 7.0, device="cuda")
    gpu.cuda.synchronize()
    with gpu.cuda.stream(ours), gd.cuda.stream(ours):
        gpu.cuda._sleep(CYCLES)
        t = gd.from_dlpack(source).copy()
    with gd.cuda.stream(ours), gpu.cuda.stream(theirs):
        x = gpu.from_dlpack(t.__dlpack__(stream=theirs.cuda_stream, max_version=(1, 0)))
        y = x.clone()
    theirs.synchronize()
    assert y.eq(7).all().item()


def test_current_stream_is_torchs(gpu):
    side = gpu.cuda.Stream()
    with gd.cuda.stream(side):
        assert gd.cuda.current_stream() == side.cuda_stream
    assert gd.cuda.current_stream() == 0


def test_exchange_within_a_graph(gpu):
    """An exchange by table neither waits nor allocates, so it can be captured."""
    x = gpu.ones(1000, device="cuda")
    gd.from_dlpack(x).to(gpu.Tensor)  # makes the plans first
    gpu.cuda.synchronize()
    graph = gpu.cuda.CUDAGraph()
    with gpu.cuda.graph(graph):
        gd.from_dlpack(x).to(gpu.Tensor).mul_(2)
    for _ in range(3):
        graph.replay()
    gpu.cuda.synchronize()
    assert x.eq(8).all().item()


def test_many_threads_let_go(gpu):
    def work(_):
        x = gpu.from_dlpack(gd.zeros(1000, device="cuda"))
        assert x.sum().item() == 0

    together(work, threads=4, rounds=50)


def test_cupy_both_ways(gpu, cupy):
    a = cupy.arange(6, dtype="float32").reshape(2, 3)
    t = gd.from_dlpack(a.T)
    assert (t.device, t.shape, t.data_ptr) == ("cuda:0", (3, 2), a.data.ptr)
    assert t.to("cpu").tolist() == a.T.get().tolist()
    assert cupy.from_dlpack(t).data.ptr == a.data.ptr
    assert t.to(cupy.ndarray).data.ptr == a.data.ptr
    assert cupy.asarray(Interface(t)).data.ptr == a.data.ptr
    assert gd.asarray(Interface(a)).data_ptr == a.data.ptr
    with gd.cuda.stream(cupy.cuda.Stream(non_blocking=True)):
        assert gd.from_dlpack(a).copy().to("cpu").tolist() == a.get().tolist()
