"""Scripts on the fake CUDA driver, cuda/testdata/fake."""

BEGINNING = """
import array, ctypes, gc, os, sys, threading
import godlpack as gd
from godlpack import cuda

fake = ctypes.CDLL(os.environ["GODLPACK_LIBCUDA"])
fake.fake_log.restype = fake.fake_live.restype = ctypes.c_char_p
handle = ctypes.c_uint64

def log(name=""):
    return [line for line in fake.fake_log().decode().splitlines() if line.startswith(name)]

def live(what="memories"):
    return int(dict(pair.split("=") for pair in fake.fake_live().decode().split())[what])

def peek(t):
    "Device memory as it is, with queued work not done."
    to = (ctypes.c_char * t.nbytes)()
    assert fake.fake_peek(to, handle(t.data_ptr), ctypes.c_size_t(t.nbytes)) == 1
    return bytes(to)

def new_stream(device=0):
    context, stream = handle(), handle()
    fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    fake.cuCtxPushCurrent_v2(context)
    assert fake.cuStreamCreate(ctypes.byref(stream), 1) == 0
    fake.cuCtxPopCurrent_v2(ctypes.byref(context))
    return stream.value

def raises(error, wanted, function, *args, **keywords):
    try:
        result = function(*args, **keywords)
    except error as e:
        assert wanted in str(e), e
    else:
        raise AssertionError(f"no {error.__name__}, but {result}")

def of(*numbers):
    return gd.asarray(array.array("f", numbers))
"""

END = """
for name in [n for n, v in globals().items() if isinstance(v, gd.Tensor)]:
    del globals()[name]
gc.collect()
assert live("memories") == live("events") == 0 == fake.fake_depth(), fake.fake_live()
counters = gd._core._counters()
assert counters["storages_made"] == counters["storages_freed"], counters
assert counters["exports_made"] == counters["exports_deleted"], counters
assert counters["imports_taken"] == counters["imports_deleted"], counters
"""


def scripted(script):
    """A script that has functions to ask the driver, and fails if it leaves something unreleased."""
    return BEGINNING + script + END
