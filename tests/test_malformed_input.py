"""Malformed input: every field of every record wrong, by every route: an error, one release, and no crash."""

import ctypes
import os
import random

import pytest

import godlpack as gd
from godlpack.testing import Managed, Producer, published
from godlpack.testing.peers import FAILS
from godlpack.testing.records import Legacy, ManagedToPy, Version, Versioned, delete, managed_in
from helpers.fakes import NAMES, allocate, capsule_name, capsule_new, table_of

OURS = table_of(gd.Tensor)
HUGE, LEAST, MOST = 2**62, -(2**63), 2**63 - 1
REFUSALS = (BufferError, ValueError, TypeError)

# Wrong fields, as arguments of Managed.
WRONG = {
    "ndim -1": {"ndim": -1},
    "ndim -2^31": {"ndim": -(2**31)},
    "ndim 65": {"ndim": 65},
    "ndim 2^31-1": {"ndim": 2**31 - 1},
    "no shape": {"shape": None, "ndim": 2},
    "negative extent": {"shape": (3, -1)},
    "least extent": {"shape": (LEAST,)},
    "negative extent of nothing": {"shape": (0, -1)},
    "product overflows": {"shape": (HUGE, HUGE)},
    "product overflows to 0": {"shape": (2**32, 2**32)},
    "product overflows to 1": {"shape": (2**32 + 1, 2**32 - 1, 2**32)},
    "bytes overflow": {"shape": (MOST,)},
    "strides overflow": {"shape": (2, 2), "strides": (MOST, MOST)},
    "least stride": {"shape": (2,), "strides": (LEAST,)},
    "strides leave the address space": {"shape": (2,), "strides": (-(2**50),)},
    "no data": {"data": None},
    "no data of a scalar": {"shape": (), "data": None},
    "small data": {"data": 0x10},
    "last data": {"data": 2**64 - 4},
    "byte_offset": {"byte_offset": 2**64 - 1},
    "device 0": {"device": (0, 0)},
    "device 5": {"device": (5, 0)},
    "device -1": {"device": (-1, 0)},
    "device 2^31-1": {"device": (2**31 - 1, 2**31 - 1)},
    "code 19": {"dtype": (19, 8, 1)},
    "code 255": {"dtype": (255, 255, 65535)},
    "bits 0": {"dtype": (0, 0, 1)},
    "bits 255": {"dtype": (0, 255, 1)},
    "bool of 1 bit": {"dtype": (6, 1, 1)},
    "float of 8 bits": {"dtype": (2, 8, 1)},
    "lanes 0": {"dtype": (2, 32, 0)},
    "all": {"shape": None, "ndim": -7, "data": 1, "device": (-9, -9), "dtype": (99, 99, 0), "byte_offset": 2**63},
}

wrong = pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
legacies = pytest.mark.parametrize("legacy", [False, True], ids=["versioned", "legacy"])
deleters = pytest.mark.parametrize("deleter", [True, False], ids=["deleter", "no deleter"])


@wrong
@legacies
@deleters
def test_capsule(fields, legacy, deleter):
    """R34, R37, R42: the capsule stays live, for its destructor."""
    fake = Managed(**fields, legacy=legacy, deleter=deleter)
    capsule = fake.capsule()
    for importer in (gd.from_dlpack, gd.asarray, gd.from_dlpack):
        with pytest.raises(BufferError):
            importer(capsule)
        assert managed_in(capsule) is not None
    assert fake.deleted == 0


@wrong
@legacies
@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"copy": False}, {"device": "cpu"}], ids=str)
def test_producer(fields, legacy, keywords):
    producer = Producer(Managed(**fields, legacy=legacy))
    with pytest.raises(BufferError):
        gd.from_dlpack(producer, **keywords)
    assert producer.live == len(producer.capsules)
    assert producer.settle() == 1


@wrong
def test_table(fields):
    """R61: godlpack owns the table's export and deletes it; then __dlpack__ is called."""
    fake = Managed(**fields)
    x = published(fake, second=Managed(**fields))
    for _ in range(2):
        with pytest.raises(BufferError):
            gd.from_dlpack(x)
    assert fake.deleted == x.taken == 2
    assert x.settle() == 1


@wrong
@deleters
def test_own_table(fields, deleter):
    """R56: a tensor that godlpack's table refuses still belongs to the caller."""
    fake, out = Managed(**fields, deleter=deleter), ctypes.c_void_p(0xDEAD)
    with pytest.raises(BufferError):
        ManagedToPy(OURS.managed_to_py)(fake.address, ctypes.byref(out))
    assert (out.value, fake.deleted) == (None, 0)


@pytest.mark.parametrize("version", [(0, 0), (0, 99), (2, 0), (2**32 - 1, 2**32 - 1)])
@wrong
def test_versions_to_come(fields, version):
    """R34: an error for their version; nothing else of them is read."""
    fake = Managed(**{**fields, "version": version})
    with pytest.raises(BufferError, match=rf"got a tensor of DLPack {version[0]}\.{version[1]}"):
        gd.from_dlpack(fake.capsule())


@pytest.mark.parametrize("field", ["shape", "strides"])
@legacies
def test_small_pointers(field, legacy):
    fake = Managed(legacy=legacy)
    setattr(fake.record, field, ctypes.cast(0x10, ctypes.POINTER(ctypes.c_int64)))
    with pytest.raises(BufferError, match=f"{field}: want a pointer or NULL, got 0x10"):
        gd.from_dlpack(fake.capsule())


def test_small_data_of_nothing():
    """Without elements, all routes treat data alike: they check it, or they do not."""

    def refused(function, *arguments):
        try:
            function(*arguments)
        except BufferError:
            return True
        return False

    nothing = {"shape": (0,), "data": 0x10}
    gd.from_dlpack(Producer(Managed()))  # makes a plan
    said = {
        refused(gd.from_dlpack, Managed(**nothing).capsule()),
        refused(gd.from_dlpack, Producer(Managed(**nothing))),
        refused(TO_PY, Managed(**nothing).address, ctypes.byref(ctypes.c_void_p())),
    }
    assert len(said) == 1


@legacies
def test_name_of_the_other_kind(legacy):
    """R8: used names, other names and no name are refused. (A live name of the wrong kind cannot be detected.)"""
    fake = Managed(legacy=legacy)
    for name in ("used_dltensor", "used_dltensor_versioned", "dlpack_exchange_api", "other", None):
        with pytest.raises(ValueError, match="capsule"):
            gd.from_dlpack(capsule_new(fake.address, NAMES[name] if name else None, None))
    assert fake.deleted == 0


@legacies
def test_double_consumption(legacy):
    """R38"""
    fake = Managed(legacy=legacy)
    capsule = fake.capsule()
    t = gd.from_dlpack(capsule)
    for importer in (gd.from_dlpack, gd.asarray):
        with pytest.raises(ValueError, match="already consumed"):
            importer(capsule)
    assert fake.deleted == 0
    del t
    assert fake.deleted == 1


@pytest.mark.parametrize("version", [(0, 0), (2, 0), (2**32 - 1, 0)])
def test_table_of_another_version(version):
    """R64: it is not used; its functions would fail."""
    x = published(Managed(), version=version, from_py=FAILS)
    assert gd.from_dlpack(x).tolist() == [0.0, 1.0, 2.0]
    assert x.settle() == 1


@pytest.mark.parametrize("from_py", [None, FAILS], ids=["none", "fails"])
def test_table_without_a_way_in(from_py):
    """R53, R67"""
    cls = type(published(Managed(), from_py=from_py))
    for _ in range(2):
        x = cls(Managed())
        assert gd.from_dlpack(x).size == 3
        assert x.settle() == 1


def test_allocator_without_a_shape(python):
    python(
        """
from helpers.fakes import allocate, table_of
import godlpack as gd
rc, managed, said = allocate(table_of(gd.Tensor), None, ndim=1)
assert (rc, managed, len(said)) == (-1, None, 1)
"""
    )


# ---- random records ----

BASE = 16  # allocated extents and strides; at most 64 are read
EXTENTS = (0, 1, 2, 3, 4, 7, -1, 2**31, 2**32, HUGE, LEAST, MOST)
STRIDES = (*EXTENTS, -2, -3, -(2**31), -HUGE, 12)
BITS = (0, 1, 2, 4, 6, 7, 8, 16, 24, 32, 63, 64, 65, 80, 128, 129, 255)


class Fuzzer:
    """Writes one record after another into the same memory."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.memory = (ctypes.c_uint8 * 4096)(*(self.random.randrange(256) for _ in range(4096)))
        self.start = ctypes.addressof(self.memory)
        self.middle = (self.start + 2048) // 256 * 256
        self.shape, self.strides = (ctypes.c_int64 * 64)(), (ctypes.c_int64 * 64)()
        self.counter = Managed().managed.deleter
        self.versioned, self.legacy = Versioned(), Legacy()
        self.accepted = self.read = 0

    def fill(self, managed):
        """A valid record with up to four fields changed."""
        r, record = self.random, managed.tensor
        if isinstance(managed, Versioned):
            managed.version, managed.flags = Version(1, 3), 0
        managed.deleter = self.counter
        ndim = r.choice((0, 1, 1, 2, 2, 3, 4))
        record.data, record.byte_offset, record.ndim = self.middle, 0, ndim
        record.device.type, record.device.id = 1, 0
        record.dtype.code, record.dtype.bits, record.dtype.lanes = r.choice(
            ((0, 8, 1), (2, 32, 1), (1, 64, 1), (6, 8, 1), (5, 64, 1), (0, 4, 1), (4, 16, 1), (17, 4, 2), (2, 32, 4))
        )
        pointer = ctypes.POINTER(ctypes.c_int64)
        record.shape, record.strides = ctypes.cast(self.shape, pointer), ctypes.cast(self.strides, pointer)
        step = 1
        for i in range(ndim - 1, -1, -1):
            self.shape[i], self.strides[i] = r.choice((1, 2, 3)), step
            step *= self.shape[i]
        for _ in range(r.randrange(5)):
            self.spoil(managed, record, pointer)

    def spoil(self, managed, record, pointer):
        r = self.random
        match r.randrange(13):
            case 0:
                record.data = r.choice((None, 1, 0x10, 4095, self.middle + r.randrange(16), 2**63, 2**64 - 4096))
            case 1:
                record.device.type = r.choice((*range(-1, 20), 2**31 - 1, -(2**31)))
            case 2:
                record.device.id = r.choice((1, -1, 2**31 - 1, -(2**31)))
            case 3:
                record.ndim = r.choice((-1, 0, 1, 5, 64, 65, 1000, 2**31 - 1, -(2**31)))
            case 4:
                record.dtype.code = r.randrange(256) if r.random() < 0.3 else r.randrange(19)
            case 5:
                record.dtype.bits = r.choice(BITS)
            case 6:
                record.dtype.lanes = r.choice((0, 2, 3, 4, 16, 255, 65535))
            case 7:
                setattr(record, r.choice(("shape", "strides")), ctypes.cast(r.choice((None, 8, 4095)), pointer))
            case 8:
                record.byte_offset = r.choice((1, 2, 4, 64, 2**31, 2**63, 2**64 - 1, 2**64 - 256))
            case 9:
                self.shape[r.randrange(4)] = r.choice(EXTENTS)
            case 10:
                self.strides[r.randrange(4)] = r.choice(STRIDES)
            case 11:
                managed.deleter = None
            case 12 if isinstance(managed, Versioned):
                managed.version = Version(r.choice((0, 1, 2, 2**31)), r.choice((0, 3, 99, 2**32 - 1)))
                managed.flags = r.choice((0, 1, 2, 4, 7, 8, 2**63, r.getrandbits(64)))

    def inside(self, t):
        """Whether a tensor's elements are in the fuzzer's memory, where they may be read."""
        size = t.itemsize + 1
        reach = [(extent - 1) * step * size for extent, step in zip(t.shape, t.strides, strict=True)]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + size
        return t.data_ptr + low >= self.start and t.data_ptr + high <= self.start + 4096 and t.size <= 64

    def use(self, t):
        self.accepted += 1
        assert t.size >= 0 and len(t.shape) == t.ndim == len(t.strides)
        assert t.nbytes >= 0 and t.device.type and t.dtype.name
        if t.device.type != gd.DeviceType.CPU or not (t.size == 0 or self.inside(t)):
            return
        self.read += 1
        assert len(repr(t)) > 10
        copy = t.copy()
        assert copy.shape == t.shape and copy.dtype == t.dtype

    def by_capsule(self, managed):
        self.fill(managed)
        name = "dltensor_versioned" if isinstance(managed, Versioned) else "dltensor"
        capsule = capsule_new(ctypes.addressof(managed), NAMES[name], None)
        before, wanted = count(managed), bool(managed.deleter)
        try:
            t = gd.from_dlpack(capsule)
        except REFUSALS:
            assert (capsule_name(capsule).decode(), count(managed)) == (name, before)
            return
        assert (capsule_name(capsule).decode(), count(managed)) == (f"used_{name}", before)
        self.use(t)
        del t
        assert count(managed) == (before + wanted) % 2**64

    def by_table(self, managed):
        self.fill(managed)
        before, wanted, out = count(managed), bool(managed.deleter), ctypes.c_void_p(0xDEAD)
        try:
            TO_PY(ctypes.addressof(managed), ctypes.byref(out))
        except REFUSALS:
            assert (out.value, count(managed)) == (None, before)
            return
        t = ctypes.cast(out, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(t))
        self.use(t)
        del t
        assert count(managed) == (before + wanted) % 2**64

    def by_allocator(self):
        r = self.random
        shape = [r.choice((*EXTENTS, 1, 2, 3)) for _ in range(r.randrange(5))]
        dtype = (r.randrange(19), r.choice(BITS), r.choice((0, 1, 1, 1, 2, 4, 65535)))
        rc, managed, said = allocate(OURS, shape, dtype, r.choice(((1, 0), (1, 0), (2, 0), (-1, 7))))
        assert (rc, len(said), managed is None) in ((0, 0, False), (-1, 1, True))
        if managed is not None:
            assert managed.tensor.dims() == tuple(shape)
            delete(managed)

    def run(self, rounds):
        for i in range(rounds):
            if i % 1000 == 999:
                self.by_allocator()  # fakes.py never frees these
            elif i % 3 == 0:
                self.by_table(self.versioned)
            else:
                self.by_capsule(self.versioned if i % 3 == 1 else self.legacy)


TO_PY = ManagedToPy(OURS.managed_to_py)


def count(managed):
    """The count that the deleter increments."""
    return ctypes.c_uint64.from_address(ctypes.addressof(managed)).value


def test_random_records():
    """R37, R42, R61: 20,000 records, or GODLPACK_FUZZ ones; the same ones each time."""
    fuzzer = Fuzzer(seed=4)
    rounds = int(os.environ.get("GODLPACK_FUZZ", "20000"))
    fuzzer.run(rounds)
    assert 0.1 * rounds < fuzzer.accepted < 0.9 * rounds
    assert fuzzer.read > 0.05 * rounds
