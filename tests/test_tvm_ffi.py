"""tvm-ffi: the other library that exchanges objects by exchange tables."""

import ctypes
import gc

import pytest

import godlpack as gd
from helpers.dtypes import DTYPES
from helpers.fakes import FakeTensor, fake_table, publish
from helpers.layouts import BASE, KEYS, REVERSED

tvm_ffi = pytest.importorskip("tvm_ffi")

LIKE = tvm_ffi.from_dlpack(gd.zeros(1))

OUT = {
    "from_dlpack": tvm_ffi.from_dlpack,
    "to type": lambda t: t.to(tvm_ffi.Tensor),
    "to tensor": lambda t: t.to(LIKE),
}
INTO = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "capsule": lambda x: gd.from_dlpack(x.__dlpack__()),
}

into = pytest.mark.parametrize("into", INTO.values(), ids=INTO)
out = pytest.mark.parametrize("out", OUT.values(), ids=OUT)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)
every_key = pytest.mark.parametrize("key", [*KEYS.values(), *REVERSED.values()], ids=[*KEYS, *REVERSED])


@pytest.fixture(scope="session")
def echo():
    return tvm_ffi.get_global_func("testing.echo")


@every_dtype
@out
@into
def test_there_and_back(dtype, out, into):
    t = gd.zeros((3, 4), dtype)
    for _ in range(2):
        x = out(t)
        assert isinstance(x, tvm_ffi.Tensor)
        assert tuple(x.shape) == (3, 4)
        u = into(x)
        assert (u.dtype, u.shape, u.strides, u.data_ptr) == (t.dtype, t.shape, t.strides, t.data_ptr)
        assert not u.readonly


@every_key
@out
def test_layouts(key, out):
    t = gd.zeros(BASE, "int16")[key]
    x = out(t)
    u = gd.from_dlpack(x)
    assert (u.shape, u.size) == (t.shape, t.size)
    if t.size:
        assert (u.strides, u.data_ptr) == (t.strides, t.data_ptr)


def test_writes_are_seen():
    t = gd.zeros(4, "uint8")
    u = gd.from_dlpack(tvm_ffi.from_dlpack(t))
    ctypes.memset(t.data_ptr, 7, 4)
    assert u.tolist() == [7] * 4


@out
def test_release(out):
    t = gd.zeros(1000)
    before = gd._core._counters()["storages_freed"]
    x = out(t)
    del t
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before
    del x
    gc.collect()
    assert gd._core._counters()["storages_freed"] == before + 1


@every_dtype
def test_function_gives_back_our_type(dtype, echo):
    """It imports arguments by godlpack's table, and makes its result by the same."""
    t = gd.zeros((2, 3), dtype)
    for _ in range(2):
        u = echo(t)
        assert type(u) is gd.Tensor
        assert (u.dtype, u.shape, u.strides, u.data_ptr) == (t.dtype, t.shape, t.strides, t.data_ptr)


@every_key
def test_function_with_every_layout(key, echo):
    t = gd.zeros(BASE)[key]
    u = echo(t)
    assert (u.shape, u.size) == (t.shape, t.size)
    assert not t.size or (u.strides, u.data_ptr) == (t.strides, t.data_ptr)


def test_function_with_several_tensors():
    assert tvm_ffi.get_global_func("testing.nop")(gd.zeros(3), gd.zeros((2, 2), "int8"), gd.zeros(())) is None


def test_function_release(echo):
    before = gd._core._counters()
    for _ in range(100):
        echo(gd.zeros(3))
    gc.collect()
    after = gd._core._counters()
    assert after["storages_made"] - before["storages_made"] == 100
    assert after["storages_freed"] - before["storages_freed"] == 100


@pytest.fixture(scope="module")
def published():
    """A type with a table. tvm-ffi keeps each type that it has asked for one."""
    return publish(fake_table())


def test_function_asks_by_the_table(published):
    """It does not use __dlpack__: its results would be of tvm-ffi's own type."""
    x = published(FakeTensor())
    assert tvm_ffi.get_global_func("testing.nop")(x) is None
    assert x.calls == []
    assert x.fake.deleted == x.fake.exported


def test_torchs_tensors_come_through(torch, echo):
    x = torch.arange(3)
    assert gd.from_dlpack(echo(x)).data_ptr == x.data_ptr()
    assert gd.from_dlpack(tvm_ffi.from_dlpack(x)).data_ptr == x.data_ptr()


def test_read_only_is_not_for_tvm_ffi():
    """Its tensors are writable, and its legacy capsules cannot be marked as read-only."""
    with pytest.raises(BufferError, match="read-only"):
        gd.asarray(b"abc").to(tvm_ffi.Tensor)


@pytest.mark.parametrize("make", [lambda: b"abcdef", lambda: memoryview(b"abcdef")[::2]])
def test_read_only_argument(make, echo):
    """R43: tvm-ffi imports arguments by the table, without a check of the flag: its result would be writable."""
    t = gd.asarray(make())
    for take in (echo, tvm_ffi.from_dlpack):
        with pytest.raises(BufferError, match="the tensor is read-only"):
            take(t)
    u = echo(t.copy())
    assert u.tolist() == t.tolist() and not u.readonly


def test_copy():
    """tvm-ffi refuses copy=True; then godlpack copies (R47)."""
    x = tvm_ffi.from_dlpack(gd.full(3, 7, "int8"))
    with pytest.raises(BufferError, match="copy not yet supported"):
        x.__dlpack__(max_version=(1, 3), copy=True)
    for importer in (gd.from_dlpack, gd.asarray):
        t = importer(x, copy=True)
        assert t.tolist() == [7] * 3 and t.data_ptr != gd.from_dlpack(x).data_ptr
