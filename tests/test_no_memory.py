"""Python runs out of memory at every allocation there is, one after the other: each call says so, and loses nothing."""

import gc
import pickle

import pytest

import godlpack as gd

fail = pytest.importorskip("_testcapi", reason="this Python cannot be made to run out of memory")

t = gd.zeros((3, 4))
memory = bytearray(12)


class Producer:
    def __dlpack__(self, **asked):
        return t.__dlpack__(**asked)

    def __dlpack_device__(self):
        return t.__dlpack_device__()


CALLS = {
    "zeros": lambda: gd.zeros((3, 4)),
    "full": lambda: gd.full((3, 4), 1.5),
    "from_dlpack": lambda: gd.from_dlpack(Producer()),
    "from_dlpack of a capsule": lambda: gd.from_dlpack(t.__dlpack__()),
    "from_dlpack of a versioned capsule": lambda: gd.from_dlpack(t.__dlpack__(max_version=(1, 0))),
    "asarray": lambda: gd.asarray(memory),
    "__dlpack__": lambda: t.__dlpack__(),
    "__dlpack__ of a copy": lambda: t.__dlpack__(max_version=(1, 0), copy=True),
    "__dlpack_device__": lambda: t.__dlpack_device__(),
    "__array_interface__": lambda: t.__array_interface__,
    "memoryview": lambda: memoryview(t),
    "astype": lambda: t.astype("int8"),
    "tolist": lambda: t.tolist(),
    "repr": lambda: repr(t),
    "index": lambda: t[1:, ::2],
    "iter": lambda: list(t),
    "T": lambda: t.T,
    "reshape": lambda: t.reshape(-1, 6),
    "copy": lambda: t.copy(),
    "pickle": lambda: t.__reduce_ex__(pickle.HIGHEST_PROTOCOL),
    "old pickle": lambda: t.__reduce_ex__(4),
    "shape": lambda: t.shape,
    "strides": lambda: t.strides,
    "DType": lambda: gd.DType("float8_e4m3fn"),
    "Device": lambda: gd.Device("cuda:3"),
    "get_build_info": gd.get_build_info,
}

MOST = 60  # allocations of a call


def outcome(call, first, last):
    """What a call ends with when the allocations from first up to last fail: None is success."""
    fail.set_nomemory(first, last)
    try:
        call()
    except BaseException as error:
        fail.remove_mem_hooks()
        return error.with_traceback(None)
    finally:
        fail.remove_mem_hooks()


@pytest.mark.parametrize("forever", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("name", CALLS)
def test_each_allocation(name, forever):
    call = CALLS[name]
    call()  # what is made once for all is made
    gc.collect()
    for first in range(1, MOST):
        error = outcome(call, first, 0 if forever else first + 1)
        assert error is None or isinstance(error, MemoryError), f"allocation {first}: {error!r}"
    call()


def test_an_error_that_has_no_memory_for_its_text():
    """Text and exception: the third allocation is the traceback's, and without it Python raises what it likes."""
    for first in (1, 2):
        error = outcome(lambda: gd.empty(3, "float33"), first, first + 1)
        assert isinstance(error, ValueError | MemoryError), f"allocation {first}: {error!r}"


def test_dtypes_of_others(np):
    """A library that has no memory to say what its dtype is stands for no dtype; half a name is never taken."""
    for first in range(1, MOST):
        error = outcome(lambda: gd.empty(2, np.float32), first, first + 1)
        assert error is None or isinstance(error, MemoryError | TypeError), f"allocation {first}: {error!r}"
