"""A gigabyte is exchanged without a copy: addresses stay, and no further memory is used."""

import gc
import mmap
from pathlib import Path

import pytest

import godlpack as gd

SIZE = 1 << 30
MOST = 64 << 20

STATM = Path("/proc/self/statm")

pytestmark = pytest.mark.skipif(not STATM.exists(), reason="reads the memory in use from /proc")


def resident():
    return int(STATM.read_text().split()[1]) * mmap.PAGESIZE


@pytest.fixture
def growth():
    """Fails a test that uses more memory at its end than at its start, with its results still alive."""
    gc.collect()
    before = resident()
    yield lambda: resident() - before


def test_ours(growth):
    t = gd.zeros(SIZE, "uint8")
    routes = [gd.from_dlpack(t), gd.asarray(t), gd.asarray(memoryview(t)), t[:], t.reshape(1 << 15, -1), t.T]
    routes += [gd.from_dlpack(t.__dlpack__()), gd.from_dlpack(t.__dlpack__(max_version=(1, 0)))]
    assert {r.data_ptr for r in routes} == {t.data_ptr}
    assert growth() < MOST


def test_numpy(np, growth):
    t = gd.zeros(SIZE, "uint8")
    arrays = [np.from_dlpack(t), np.asarray(t), t.to(np.ndarray), np.asarray(memoryview(t)), np.frombuffer(t, np.uint8)]
    assert {a.__array_interface__["data"][0] for a in arrays} == {t.data_ptr}
    a = np.zeros(SIZE, np.uint8)
    routes = [gd.from_dlpack(a), gd.asarray(a), gd.asarray(memoryview(a)), gd.from_dlpack(a.__dlpack__())]
    assert {r.data_ptr for r in routes} == {a.__array_interface__["data"][0]}
    assert growth() < MOST


def test_torch(torch, growth):
    t = gd.zeros(SIZE, "uint8")
    tensors = [torch.from_dlpack(t), t.to(torch.Tensor), torch.from_dlpack(t.__dlpack__())]
    assert {x.data_ptr() for x in tensors} == {t.data_ptr}
    x = torch.from_dlpack(t)
    routes = [gd.from_dlpack(x), gd.asarray(x), gd.from_dlpack(x.__dlpack__())]
    assert {r.data_ptr for r in routes} == {t.data_ptr}
    assert growth() < MOST


def test_jax(jax, growth):
    t = gd.zeros(SIZE, "uint8")
    x = t.to(jax.Array)
    assert x.unsafe_buffer_pointer() == t.data_ptr
    assert {gd.from_dlpack(x).data_ptr, gd.asarray(x).data_ptr} == {t.data_ptr}
    assert growth() < MOST


def test_tvm_ffi(tvm_ffi, growth):
    t = gd.zeros(SIZE, "uint8")
    x = tvm_ffi.from_dlpack(t)
    assert gd.from_dlpack(x).data_ptr == t.data_ptr
    assert tvm_ffi.get_global_func("testing.echo")(t).data_ptr == t.data_ptr
    assert growth() < MOST
