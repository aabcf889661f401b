"""Pickled tensors: in band, and beside the pickle without a copy (PEP 574)."""

import copy
import pickle

import pytest

import godlpack as gd
from godlpack.testing.records import PADDED
from helpers.dtypes import DTYPES
from helpers.fakes import FakeTensor

protocols = pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))


def check_equal(a, b):
    assert (a.dtype, a.shape, a.readonly) == (b.dtype, b.shape, b.readonly)
    assert a.tolist() == b.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@protocols
def test_in_band(dtype, protocol):
    t = gd.zeros((3, 2), dtype)
    other = pickle.loads(pickle.dumps(t, protocol))
    check_equal(other, t)
    assert not t.size or other.data_ptr != t.data_ptr


@pytest.mark.parametrize("key", [..., 0, (slice(None), 1), slice(None, None, -1), None, (0, 0), slice(0)])
@protocols
def test_views(key, protocol):
    t = gd.asarray(memoryview(bytearray(range(24))).cast("B", (4, 6)))[key]
    other = pickle.loads(pickle.dumps(t, protocol))
    check_equal(other, t)
    assert other.is_contiguous()


@protocols
def test_read_only(protocol):
    assert pickle.loads(pickle.dumps(gd.asarray(b"abc"), protocol)).readonly
    assert not pickle.loads(pickle.dumps(gd.zeros(3), protocol)).readonly


def test_out_of_band():
    t = gd.full(1000, 7, "int32")
    buffers = []
    data = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(data) < 500
    other = pickle.loads(data, buffers=buffers)
    check_equal(other, t)
    assert other.data_ptr == t.data_ptr


def test_padded():
    """R21"""
    t = gd.from_dlpack(FakeTensor((4,), dtype=(0, 4, 1), flags=PADDED).capsule())
    other = pickle.loads(pickle.dumps(t, 5))
    check_equal(other, t)
    assert other.nbytes == 4


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copy_module(make):
    t = gd.full(3, 7, "int8")
    check_equal(make(t), t)


@pytest.mark.parametrize("device", [(2, 0), (8, 0)])
def test_memory_that_the_cpu_cannot_read(device):
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    with pytest.raises(BufferError, match="cannot pickle"):
        pickle.dumps(t)


@pytest.mark.parametrize(
    "arguments",
    [
        (b"abc", "int16", (1,), 0),
        (b"abcd", "int16", (-2,), 0),
        (b"abcd", "int16", (2**62, 2**62), 0),
        (b"abcd", "nothing", (2,), 0),
        (5, "int16", (2,), 0),
        (b"abcd", "int16", (2,), 2**70),
        (),
    ],
)
def test_broken_pickles(arguments):
    with pytest.raises((TypeError, ValueError, BufferError)):
        gd._core._rebuild(*arguments)
