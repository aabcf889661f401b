"""What the goroutines of threads_test.go run at the same time: every kind of call, on tensors of their own and on one
that all share."""

import pickle

import numpy as np
import torch

import godlpack as gd

shared = gd.full((100, 100), 7, "int16")


def both_ways(number):
    for like in (np.full((4, 5), number), torch.full((4, 5), number)):
        t = gd.from_dlpack(like)
        back = t.to(type(like))
        back[1, 2] = number + 1
        assert like[1, 2] == number + 1 == t[1, 2].item()
        assert np.from_dlpack(t).sum() == torch.from_dlpack(t).sum() == 20 * number + 1
        assert gd.from_dlpack(t.__dlpack__()).data_ptr == t.data_ptr


def views(number):
    t = gd.from_dlpack(np.arange(24)).reshape(2, -1, 4)
    assert t[1, ::-1].T.contiguous().tolist() == np.arange(12, 24).reshape(3, 4)[::-1].T.tolist()
    assert shared[number].permute(0).data_ptr == shared.data_ptr + 200 * number
    assert memoryview(shared)[number, number] == 7


def conversions(number):
    large = gd.full((100, 100, 10), number, "float32")  # converted without the GIL
    for dtype in ("int8", "bfloat16", "float8_e4m3fn", "complex64", "bool", "float64"):
        assert large.astype(dtype)[0, 0, 0].item() == (number if dtype != "bool" else number != 0)
    assert shared.astype("uint8").copy()[99, 99].item() == 7


def pickles(number):
    t = gd.full((3, 4), number, "bfloat16")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(t, protocol)).tolist() == [[number] * 4] * 3
    assert f"{number}" in repr(t)


def refused(call, error):
    try:
        call()
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {error}")


def errors(number):
    assert "want" in refused(lambda: gd.empty(3, "float33"), ValueError)
    assert "int" in refused(lambda: gd.from_dlpack(number), TypeError)
    assert "copy" in refused(lambda: gd.zeros((3, 4)).T.reshape(12), BufferError)
    capsule = gd.zeros(3).__dlpack__()
    gd.from_dlpack(capsule)
    assert "already consumed" in refused(lambda: gd.from_dlpack(capsule), ValueError)


def everything(number):
    for part in (both_ways, views, conversions, pickles, errors):
        part(number % 8)  # small floats know these
