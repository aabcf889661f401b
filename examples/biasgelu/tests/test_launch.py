"""What is launched, where, and that nothing waits: by godlpack's fake driver, which logs all calls, on any machine.

Each test is a script in a process of its own, since a process has one driver."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAKE = Path(os.environ.get("GODLPACK_FAKE_CUDA", HERE.parents[2] / "cuda" / "testdata" / "fake" / "fake.c"))

PRELUDE = """
import ctypes, os
import biasgelu, godlpack as gd
from godlpack import cuda

fake = ctypes.CDLL(os.environ["GODLPACK_LIBCUDA"])
fake.fake_log.restype = ctypes.c_char_p

def log(name=""):
    return [line for line in fake.fake_log().decode().splitlines() if line.startswith(name)]

def new_stream(device=0):
    context, stream = ctypes.c_uint64(), ctypes.c_uint64()
    fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    fake.cuCtxPushCurrent_v2(context)
    assert fake.cuStreamCreate(ctypes.byref(stream), 1) == 0
    fake.cuCtxPopCurrent_v2(ctypes.byref(context))
    return stream.value

def tensors(n, m, dtype="float32", device="cuda:0"):
    return [gd.empty(shape, dtype, device=device) for shape in ((n, m), (m,), (n, m))]

def raises(error, wanted, function, *args, **keywords):
    try:
        result = function(*args, **keywords)
    except error as e:
        assert wanted in str(e), e
    else:
        raise AssertionError(f"no {error.__name__}, but {result}")
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Path:
    """The fake driver's file, which is also a fake NVRTC."""
    cc = shutil.which("cc")
    if not FAKE.exists() or cc is None:
        pytest.skip("the fake driver needs godlpack's sources and a C compiler")
    file = tmp_path_factory.mktemp("cuda") / "libcuda.so.1"
    subprocess.run([cc, "-O1", "-shared", "-fPIC", "-o", file, FAKE], check=True)
    return file


@pytest.fixture
def run(driver):
    """Runs a script that has the fake driver."""

    def run(script: str, nvrtc: str | Path = driver) -> None:
        environment = {"GODLPACK_LIBCUDA": str(driver), "GODLPACK_LIBNVRTC": str(nvrtc)}
        path = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-P", "-X", "faulthandler", "-c", PRELUDE + script]
        done = subprocess.run(
            command, env={**os.environ, **environment, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def real_nvrtc() -> Path | None:
    """NVIDIA's compiler, as torch's packages bring it. It needs no GPU."""
    found = [file for folder in sys.path for file in Path(folder or ".").glob("nvidia/*/lib/libnvrtc.so.*")]
    return found[0] if found else None


def test_one_launch_on_the_current_stream_and_nothing_else(run):
    run("""
x, bias, y = tensors(300, 1000, device="cuda:1")
s = new_stream(1)
biasgelu.bias_gelu(x, bias)
for stream, name in ((s, 3), (0, 1)):
    fake.fake_reset()
    with cuda.stream(stream, device=1):
        assert biasgelu.bias_gelu(x, bias, out=y) is y
    arguments = f"{y.data_ptr} {x.data_ptr} {bias.data_ptr} 300 1000"
    launch = f"cuLaunchKernel @1 bias_gelu_float32 4x300x1 of 256x1x1, 0 shared, on {name}, of {arguments}"
    assert log() == ["cuCtxPushCurrent_v2 1", launch, "cuCtxPopCurrent_v2 @1"], log()
""")


def test_result_is_new_memory_on_the_device(run):
    run("""
x, bias, _ = tensors(3, 5, "float16", "cuda:1")
biasgelu.bias_gelu(x, bias)
fake.fake_reset()
y = biasgelu.bias_gelu(x, bias)
assert (y.device, y.dtype, y.shape) == ("cuda:1", "float16", (3, 5)) and y.data_ptr not in (x.data_ptr, bias.data_ptr)
(launch,) = log("cuLaunchKernel")
assert "bias_gelu_float16 1x3x1" in launch and launch.endswith(f"of {y.data_ptr} {x.data_ptr} {bias.data_ptr} 3 5"), launch
waits = ("cuStreamSynchronize", "cuEvent", "cuStreamWait", "cuMemcpy", "cuMemFree", "cuModule")
assert not any(line.startswith(waits) for line in log()), log()
""")


def test_more_rows_than_blocks(run):
    run("""
x, bias, y = tensors(70_000, 1)
biasgelu.bias_gelu(x, bias, out=y)
assert "1x65535x1" in log("cuLaunchKernel")[0]
""")


def test_nothing_to_do(run):
    run("""
for n, m in ((0, 3), (3, 0), (0, 0)):
    x, bias, _ = tensors(n, m)
    assert biasgelu.bias_gelu(x, bias).shape == (n, m)
assert not log("cuLaunchKernel") and not log("cuModule")
""")


def test_a_device_compiles_once(run):
    run("""
for device in ("cuda:0", "cuda:1", "cuda:0", "cuda:1"):
    for dtype in ("float32", "float16"):
        x, bias, _ = tensors(2, 2, dtype, device)
        biasgelu.bias_gelu(x, bias)
assert [line.split()[1] for line in log("cuModuleLoadDataEx")] == ["@0", "@1"] and len(log("cuModuleGetFunction")) == 4
assert len(log("cuLaunchKernel @0")) == len(log("cuLaunchKernel @1")) == 4
""")


def test_a_failure_is_not_for_ever(run):
    run("""
x, bias, y = tensors(2, 2)
for name in ("cuModuleLoadDataEx", "cuModuleGetFunction", "cuLaunchKernel"):
    fake.fake_fail(name.encode(), 0, 999)
    raises(RuntimeError, f"bias_gelu(): ", biasgelu.bias_gelu, x, bias, out=y)
assert not log("cuLaunchKernel @0 bias_gelu_float32")[1:]
biasgelu.bias_gelu(x, bias, out=y)
assert len(log("cuLaunchKernel")) == 2 and len(log("cuModuleUnload")) == 1
""")


LAUNCHES = """
for dtype in ("float32", "float16"):
    x, bias, y = tensors(2, 3, dtype)
    biasgelu.bias_gelu(x, bias, out=y)
    assert log("cuLaunchKernel")[-1].endswith(f"of {y.data_ptr} {x.data_ptr} {bias.data_ptr} 2 3")
"""


def test_without_nvrtc_the_ptx_is_taken(run):
    run(LAUNCHES, nvrtc="libnvrtc-kept-away.so")


@pytest.mark.skipif(real_nvrtc() is None, reason="needs NVRTC, which torch with CUDA brings")
def test_nvidias_compiler_takes_the_source(run):
    run(LAUNCHES, nvrtc=real_nvrtc())


def test_bad_arguments(run):
    run("""
x, bias, _ = tensors(2, 3)
other, _, _ = tensors(2, 3, device="cuda:1")
f = biasgelu.bias_gelu
raises(ValueError, "argument 'bias': want memory on cuda:0, the device of 'x', got memory on cuda:1", f, x, other[0])
raises(ValueError, "argument 'bias': want", f, x, x[0, :2])
raises(BufferError, "argument 'x': want float32|float16[n, m] on cuda, C-contiguous, got float32[2, 3] on cpu; use x.to(\\"cuda\\")", f, gd.zeros((2, 3)), bias)
for turned in x.T, x[:, ::-1], x[:, ::2], x[::-1]:
    raises(BufferError, "use np.ascontiguousarray(x) or x.contiguous()", f, turned, bias)
raises(BufferError, "argument 'bias': want", f, x, tensors(1, 6)[1][::2])
raises(TypeError, "but T is float32", f, x, gd.empty(3, "float16", device="cuda"))
raises(TypeError, "argument 'x': want", f, gd.empty((2, 3), "int32", device="cuda"), bias)
raises(TypeError, "argument 'x': want", f, bias, bias)
assert not log("cuLaunchKernel")
""")
