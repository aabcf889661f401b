"""On a GPU, against torch: values, streams, and capture in a CUDA graph. Skipped where torch finds none."""

import pytest
import torch

import biasgelu

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU, and a torch for it")

CYCLES = 50_000_000  # of torch.cuda._sleep: some 30 ms, in which the host runs far ahead


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """In float32, and rounded once, as bias_gelu does it."""
    return torch.nn.functional.gelu(x.float() + bias.float()).to(x.dtype)


def arguments(n: int, m: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(n, m, device="cuda").mul(3).to(dtype), torch.randn(m, device="cuda").to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (128, 4096), (70_000, 3), (2, 100_000), (0, 4), (4, 0)])
def test_values_are_torchs(shape, dtype):
    x, bias = arguments(*shape, dtype)
    y = biasgelu.bias_gelu(x, bias)
    assert (type(y), y.dtype, y.device, y.shape) == (torch.Tensor, dtype, x.device, x.shape)
    torch.testing.assert_close(y, reference(x, bias), rtol=2e-3 if dtype == torch.float16 else 2e-6, atol=1e-6)


def test_out():
    x, bias = arguments(10, 20)
    y = torch.empty_like(x)
    assert biasgelu.bias_gelu(x, bias, out=y) is y
    torch.testing.assert_close(y, reference(x, bias))


def test_it_runs_on_torchs_current_stream_and_does_not_wait():
    """Its inputs are written late on a side stream, which it must come after; the host must not notice."""
    side, (x, bias) = torch.cuda.Stream(), arguments(100, 200)
    want = reference(x + 1, bias)
    biasgelu.bias_gelu(x, bias)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(CYCLES)
        x.add_(1)
        y = biasgelu.bias_gelu(x, bias)
        z = y.clone()
    assert not side.query(), "the host waited"
    side.synchronize()
    torch.testing.assert_close(z, want)


def test_a_graph_captures_it():
    x, bias = arguments(64, 1000)
    biasgelu.bias_gelu(x, bias)  # loads the kernel
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = biasgelu.bias_gelu(x, bias)
    for _ in range(3):
        x.normal_()
        bias.normal_()
        graph.replay()
        torch.testing.assert_close(y, reference(x, bias))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_each_device_has_its_kernel():
    torch.cuda.set_device(0)
    x, bias = (t.to("cuda:1") for t in arguments(10, 20))
    y = biasgelu.bias_gelu(x, bias)
    assert y.device == x.device and torch.cuda.current_device() == 0
    torch.testing.assert_close(y, reference(x, bias))
    with pytest.raises(ValueError, match="want memory on cuda:1, the device of 'x', got memory on cuda:0"):
        biasgelu.bias_gelu(x, bias.to("cuda:0"))
