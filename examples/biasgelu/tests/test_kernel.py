"""The kernel's own arithmetic, without a GPU: gelu.cu as C++, each thread one after the other, against torch."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

SOURCE = Path(__file__).parents[1] / "gelu.cu"

# What CUDA gives a kernel. What the PTX in it does is not known to a CPU: float32 alone is tried.
ON_CPU = """
#include <math.h>
#define __device__
#define __global__
#define asm(...) (void)0
static struct { unsigned x, y; } blockIdx, blockDim, threadIdx, gridDim;
#include "gelu.cu"
extern "C" void run(float *y, const float *x, const float *bias, long long n, long long m, unsigned blocks, unsigned rows, unsigned threads)
{
	gridDim = {blocks, rows};
	blockDim = {threads, 1};
	for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
		for (blockIdx.y = 0; blockIdx.y < rows; blockIdx.y++)
			for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
				bias_gelu_float32(y, x, bias, n, m);
}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler, c++")
    folder = tmp_path_factory.mktemp("kernel")
    folder.joinpath("kernel.cpp").write_text(ON_CPU)
    command = ["c++", "-O1", "-shared", "-fPIC", f"-I{SOURCE.parent}", "-o", "kernel.so", "kernel.cpp"]
    subprocess.run(command, cwd=folder, check=True)
    run = ctypes.CDLL(str(folder / "kernel.so")).run
    run.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_longlong] * 2 + [ctypes.c_uint] * 3
    return run


@pytest.mark.parametrize(
    ("n", "m", "grid"),
    [(1, 1, (1, 1, 256)), (7, 300, (2, 7, 256)), (50, 5, (1, 3, 4)), (9, 64, (2, 9, 32)), (3, 4, (5, 8, 2))],
)
def test_every_element_is_torchs(kernel, n, m, grid):
    """Also where a thread takes several rows, and where there are more threads than elements."""
    torch.manual_seed(0)
    x, bias, y = torch.randn(n, m) * 3, torch.randn(m), torch.full((n, m), torch.nan)
    blocks, rows, threads = grid
    covered = min(m, blocks * threads)
    kernel(y.data_ptr(), x.data_ptr(), bias.data_ptr(), n, m, blocks, rows, threads)
    torch.testing.assert_close(y[:, :covered], torch.nn.functional.gelu(x + bias)[:, :covered], rtol=2e-6, atol=1e-6)
    assert y[:, covered:].isnan().all()


def test_odd_numbers(kernel):
    """torch's on a CPU differ at infinity, where they are NaN."""
    x = torch.tensor([[0.0, -0.0, torch.inf, -20.0, 1e-30, torch.nan, 100.0]])
    y, bias = torch.zeros_like(x), torch.zeros(x.shape[1])
    kernel(y.data_ptr(), x.data_ptr(), bias.data_ptr(), 1, 7, 1, 1, 256)
    want = torch.tensor([[0.0, -0.0, torch.inf, 0.0, 5e-31, torch.nan, 100.0]])
    torch.testing.assert_close(y, want, rtol=1e-6, atol=0, equal_nan=True)
