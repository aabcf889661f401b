"""References to Python objects: every operation releases all that it takes. The counters of conftest.py count storages,
exports and imports; here Python counts its own objects."""

import ctypes
import gc
import sys

import pytest

import godlpack as gd
from helpers.fakes import FakeTensor

np = pytest.importorskip("numpy")

TIMES = 60
LEAKY = TIMES - 6  # a leak leaves one object for each call; caches and free lists take fewer


class Whole:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


class Item:
    """A number with item(), as in tensors of other libraries."""

    def __init__(self, value):
        self.value = value

    def item(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Described:
    def __init__(self, **changes):
        self.memory = np.arange(4.0)
        self.__dict__["described"] = {**self.memory.__array_interface__, **changes}

    @property
    def __array_interface__(self):
        return self.described


class Asked:
    """A producer made of a function, whose keywords are those of its __dlpack__."""

    def __init__(self, function):
        self.function = function

    def __dlpack__(self, **keywords):
        return self.function(**keywords)


def fresh_capsule(**keywords):
    return gd.zeros(3).__dlpack__(**keywords)


def legacy_only(stream=None):
    return gd.zeros(3).__dlpack__(stream=stream)


def fails(**keywords):
    raise KeyError(Whole(3))


t = gd.zeros((2, 3))
big = 10**30
text = "".join(["flo", "at32"])
OPERANDS = {
    "int": 3, "big int": big, "float": 1.5, "complex": 1j, "True": True, "None": None, "text": text, "bytes": b"abc", "surrogate": "\ud800",
    "np.float32": np.float32(2.5), "np.int8": np.int8(3), "np.bool": np.bool_(True), "np.complex64": np.complex64(1j),
    "np.longdouble": np.longdouble(2), "np.datetime64": np.datetime64("2020-01-01"), "np.str_": np.str_("abc"),
    "array": np.arange(3.0), "0-d array": np.array(3.0), "array of objects": np.array([object()]), "strided array": np.arange(9.0)[::2],
    "dtype": np.dtype("float32"), "big-endian dtype": np.dtype(">f4"), "class of a dtype": np.float32, "class": int,
    "tuple": (2, 3), "list": [2, 3], "list of a text": [text], "Whole": Whole(2), "tuple of Whole": (Whole(2), Whole(1)),
    "Item": Item(4), "Item of text": Item(text), "Item that fails": Item(KeyError(text)), "Item of itself": Item(Item(3)),
    "tensor": t, "0-d tensor": gd.zeros(()), "DType": gd.DType("int8"), "Device": gd.Device("cpu"), "device's name": "cpu", "cuda": "cuda:0",
    "Described": Described(), "Described wrongly": Described(typestr=">f4"), "with a mask": Described(mask=np.ones(4)),
    "without a shape": Described(shape=None), "with strides": Described(strides=(8,)), "with odd strides": Described(strides=(7,)),
    "without data": Described(data=(0, False)), "with odd data": Described(data=[1, 2, 3]),
    "Asked": Asked(fresh_capsule), "Asked, legacy": Asked(legacy_only), "Asked, fails": Asked(fails), "Asked, None": Asked(lambda **k: None),
    "object": object(), "bytearray": bytearray(24), "memoryview": memoryview(bytearray(24))[::2], "ctypes": (ctypes.c_float * 3)(),
    "slice": slice(0, 2), "ellipsis": ..., "dict": {"a": 1}, "iterator": iter(()),
}  # fmt: skip
CALLS = {
    "full value": lambda x: gd.full((2, 3), x),
    "full float64": lambda x: gd.full(2, x, "float64"),
    "full uint64": lambda x: gd.full(2, x, "uint64"),
    "full shape": lambda x: gd.full(x, 1),
    "empty": gd.empty,
    "empty dtype": lambda x: gd.empty(2, x),
    "zeros device": lambda x: gd.zeros(2, device=x),
    "asarray": gd.asarray,
    "asarray dtype": lambda x: gd.asarray(b"abcd", dtype=x),
    "asarray as int8": lambda x: gd.asarray(x, dtype="int8"),
    "asarray copy": lambda x: gd.asarray(x, copy=True),
    "asarray no copy": lambda x: gd.asarray(x, copy=False),
    "asarray copy as": lambda x: gd.asarray(b"abc", copy=x),
    "from_dlpack": gd.from_dlpack,
    "from_dlpack copy": lambda x: gd.from_dlpack(x, copy=True),
    "from_dlpack device": lambda x: gd.from_dlpack(t, device=x),
    "DType": gd.DType,
    "Device": gd.Device,
    "Device id": lambda x: gd.Device(2, x),
    "DType ==": lambda x: gd.DType("float32") == x,
    "Device !=": lambda x: gd.Device("cpu") != x,
    "to": t.to,
    "astype": t.astype,
    "reshape": t.reshape,
    "reshape of two": lambda x: t.reshape(x, x),
    "permute": t.permute,
    "is_contiguous": t.is_contiguous,
    "[]": lambda x: t[x],
    "[] of two": lambda x: t[x, x],
    "__reduce_ex__": t.__reduce_ex__,
    "stream": lambda x: t.__dlpack__(stream=x),
    "max_version": lambda x: t.__dlpack__(max_version=x),
    "max_version of two": lambda x: t.__dlpack__(max_version=(x, x)),
    "dl_device": lambda x: t.__dlpack__(dl_device=x),
    "dl_device of two": lambda x: t.__dlpack__(dl_device=(x, x)),
    "copy": lambda x: t.__dlpack__(copy=x),
    "_rebuild": lambda x: gd._core._rebuild(x, "float32", (2, 3), 0),
    "_rebuild as": lambda x: gd._core._rebuild(bytes(24), x, x, x),
    "cuda.stream": lambda x: enter(gd.cuda.stream(x)),
    "unknown keyword": lambda x: gd.zeros(3, wrong=x),
    "too many": lambda x: gd.zeros(x, x, x, x),
}


def enter(context):
    with context:
        pass


def call(function, x):
    try:
        function(x)
    except Exception as e:
        e.__traceback__ = None
    except BaseException:
        raise


def grown(function, x):
    """The growth of blocks, and of references to x, over many calls."""
    references = sys.getrefcount(x)
    blocks = sys.getallocatedblocks()
    for _ in range(TIMES):
        call(function, x)
    if sys.getallocatedblocks() - blocks >= LEAKY:
        gc.collect()  # numpy's repr of an array leaves a cycle
    return sys.getallocatedblocks() - blocks, sys.getrefcount(x) - references


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_kept(name):
    leaks = {}
    for operand, x in OPERANDS.items():
        for _ in range(3):
            call(CALLS[name], x)  # makes everything that is made once: plans, descriptors, modules
        for _ in range(3):  # free lists grow at times
            blocks, references = grown(CALLS[name], x)
            if blocks < LEAKY and references < LEAKY:
                break
        else:
            leaks[operand] = (blocks, references)
    assert not leaks


def test_what_is_kept_is_seen():
    kept = []
    gc.collect()
    assert grown(kept.append, object())[1] == TIMES
    assert grown(lambda x: kept.append(object()), None)[0] >= TIMES


def test_scalars_of_numpy():
    """Each call looks the type's methods up, with one reference each."""
    x = np.float32(1)
    before = sys.getrefcount(x)
    for _ in range(1000):
        gd.full((2,), x)
    assert sys.getrefcount(x) - before < 10


@pytest.mark.parametrize("descriptor", [gd.DType("int8"), gd.Device("cpu")], ids=["DType", "Device"])
def test_descriptors_without_an_order(descriptor):
    """NotImplemented counts its references before Python 3.12."""
    before = sys.getrefcount(NotImplemented)
    for _ in range(TIMES):
        assert descriptor.__lt__(descriptor) is NotImplemented
    assert abs(sys.getrefcount(NotImplemented) - before) < LEAKY


def test_refused_records_keep_no_objects():
    for fields in ({"ndim": -1}, {"version": (0, 3)}, {"version": (2, 0)}, {"dtype": (99, 8, 1)}, {"device": (99, 0)}):
        fake = FakeTensor(**fields)
        for _ in range(3):
            call(gd.from_dlpack, fake.capsule())
        blocks = sys.getallocatedblocks()
        for _ in range(TIMES):
            call(gd.from_dlpack, fake.capsule())
        assert sys.getallocatedblocks() - blocks < LEAKY, fields
