"""The exchange table: godlpack's, called slot by slot, and fake ones of other types."""

import ctypes
import gc
import sys
import threading

import pytest

import godlpack as gd
from godlpack.testing.records import (
    PADDED,
    READ_ONLY,
    Allocator,
    CurrentStream,
    ManagedFromPy,
    ManagedToPy,
    Record,
    RecordFromPy,
    SetError,
    Versioned,
    delete_without_gil,
    name_of,
)
from helpers.dtypes import DTYPES, nbytes
from helpers.fakes import (
    MAIN_NAME,
    OLD_NAME,
    RAISES_ONLY,
    RAISES_SYSTEM_ERROR,
    RAISES_TYPE_ERROR,
    FakeTensor,
    Producer,
    Taken,
    allocate,
    capsule_new,
    fake_table,
    managed_in,
    publish,
    steps,
    table_of,
)

OURS = table_of(gd.Tensor)
VALUES = [0.0, 1.0, 2.0]


# ---- the published table ----


def test_published_twice():
    """R50: a capsule under the name of DLPack 1.3, an int under the name of 1.2."""
    capsule, address = getattr(gd.Tensor, MAIN_NAME), getattr(gd.Tensor, OLD_NAME)
    assert name_of(capsule) == "dlpack_exchange_api"
    assert isinstance(address, int)
    assert ctypes.addressof(table_of(gd.Tensor, OLD_NAME)) == ctypes.addressof(OURS) == address


def test_published_on_the_type():
    """R52: it is the same for all instances, for the life of the process."""
    assert {MAIN_NAME, OLD_NAME} <= set(vars(gd.Tensor))
    before = bytes(OURS)
    address = ctypes.addressof(OURS)
    gc.collect()
    assert (ctypes.addressof(table_of(gd.Tensor)), bytes(OURS)) == (address, before)


def test_table_is_complete():
    """R53"""
    assert (OURS.version.major, OURS.version.minor) == (1, 3)
    assert OURS.prev is None
    slots = [OURS.allocator, OURS.managed_from_py, OURS.managed_to_py, OURS.record_from_py, OURS.current_stream]
    assert all(slots)
    assert len(set(slots)) == 5


# ---- managed_tensor_from_py_object_no_sync ----


def export(x):
    out = ctypes.c_void_p(0xDEAD)
    rc = ManagedFromPy(OURS.managed_from_py)(x, ctypes.byref(out))
    return rc, out.value


@pytest.mark.parametrize("key", [..., 0, (slice(None, None, -1), 1), None, (0, 0), slice(0)])
def test_export(key):
    t = gd.zeros((4, 5), "int16")[key]
    rc, address = export(t)
    assert rc == 0
    managed = Versioned.from_address(address)
    record = managed.tensor
    assert (managed.version.major, managed.version.minor, managed.flags) == (1, 3, 0)
    assert (record.dims(), steps(record), record.data or 0) == (t.shape, t.strides, t.data_ptr)
    assert record.byte_offset == 0
    del t
    gc.collect()
    assert len(record.dims()) == record.ndim
    delete_without_gil(managed)


READ_ONLY_TENSORS = {
    "bytes": lambda: gd.asarray(b"abc"),
    "view": lambda: gd.asarray(b"abcdef")[::2],
    "capsule": lambda: gd.from_dlpack(FakeTensor(flags=READ_ONLY).capsule()),
    "read-only and padded": lambda: gd.from_dlpack(FakeTensor(dtype=(0, 4, 1), flags=READ_ONLY | PADDED).capsule()),
    "0-d": lambda: gd.asarray(memoryview(b"abcd").cast("i"))[0],
}


@pytest.mark.parametrize("t", READ_ONLY_TENSORS.values(), ids=READ_ONLY_TENSORS)
def test_export_of_read_only(t):
    """R43, R61: few users of tables check the flag; __dlpack__ exports it (R67)."""
    t = t()
    with pytest.raises(BufferError, match=r"is read-only, .* use \.copy\(\)"):
        export(t)
    with pytest.raises(BufferError, match=r"is read-only, .* use \.copy\(\)"):
        RecordFromPy(OURS.record_from_py)(t, ctypes.byref(Record()))
    rc, address = export(t.copy())
    assert rc == 0
    delete_without_gil(Versioned.from_address(address))
    assert managed_in(t.__dlpack__(max_version=(1, 0))).flags & READ_ONLY


def test_export_of_padded():
    """R21: a managed tensor has a flag for it, a borrowed record does not."""
    t = gd.from_dlpack(FakeTensor(dtype=(0, 4, 1), flags=PADDED).capsule())
    with pytest.raises(BufferError, match="padded to bytes"):
        RecordFromPy(OURS.record_from_py)(t, ctypes.byref(Record()))
    rc, address = export(t)
    managed = Versioned.from_address(address)
    assert (rc, managed.flags) == (0, PADDED)
    delete_without_gil(managed)


@pytest.mark.parametrize("stranger", [None, 5, "text", object(), gd.Tensor])
def test_export_of_something_else(stranger):
    """R54: -1 and an exception; *out becomes NULL."""
    out = ctypes.c_void_p(0xDEAD)
    with pytest.raises(TypeError, match=r"want a godlpack\.Tensor"):
        ManagedFromPy(OURS.managed_from_py)(stranger, ctypes.byref(out))
    assert out.value is None


# ---- managed_tensor_to_py_object_no_sync ----


def make(fake):
    """The object that godlpack's table makes of a fake tensor."""
    out = ctypes.c_void_p(0xDEAD)
    assert ManagedToPy(OURS.managed_to_py)(fake.address, ctypes.byref(out)) == 0
    t = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(t))  # the reference that the table returned
    return t


@pytest.mark.parametrize(
    "fake",
    [
        lambda: FakeTensor(),
        lambda: FakeTensor(strides=None),  # R40: not plain, so Go checks it
        lambda: FakeTensor(version=(1, 99)),
        lambda: FakeTensor(dtype=(2, 32, 1), device=(3, 0)),
    ],
)
def test_import(fake):
    """R56: taken on success, and deleted at the end."""
    fake = fake()
    t = make(fake)
    assert type(t) is gd.Tensor
    assert t.tolist() == VALUES
    assert t.data_ptr == fake.data
    assert sys.getrefcount(t) == 2
    assert fake.deleted == 0
    del t
    assert fake.deleted == 1


def test_import_honours_flags():
    """R61"""
    assert make(FakeTensor(flags=READ_ONLY)).readonly
    assert not make(FakeTensor()).readonly


@pytest.mark.parametrize("name", DTYPES)
def test_import_of_every_dtype(name):
    """The fast path's short check and Go's full one agree."""
    t = make(FakeTensor((4,), dtype=DTYPES[name]))
    assert t.dtype == name and t.nbytes == nbytes(name, 4)


@pytest.mark.parametrize(
    ("fake", "wanted"),
    [
        (lambda: FakeTensor(version=(2, 0)), r"want DLPack 1\.x, got a tensor of DLPack 2\.0"),
        (lambda: FakeTensor(version=(0, 8)), r"want DLPack 1\.x, got a tensor of DLPack 0\.8"),
        (lambda: FakeTensor(data=None), "data: want a pointer for 3 elements of float32, got NULL"),
        (lambda: FakeTensor(data=0x10), "data: want a pointer or NULL, got 0x10"),
        (lambda: FakeTensor(ndim=-1), "ndim: want 0 to 64, got -1"),
        (lambda: FakeTensor(ndim=65), "ndim: want 0 to 64, got 65"),
        (lambda: FakeTensor(None, None, ndim=1), "shape: want a pointer to 1 extents, got NULL"),
        (lambda: FakeTensor((-1,)), "-1"),
        (lambda: FakeTensor((2**62, 4)), "want fewer than 2\\^63 elements"),
        (lambda: FakeTensor((2,), (2**62,)), "want"),
        (lambda: FakeTensor((2, 2), (-(2**63), -(2**63))), "want"),
        (lambda: FakeTensor((2,), (-(2**63),)), "want"),
        (lambda: FakeTensor((2,), (-(2**50),), data=0x10000), "want elements within the address space"),
        (lambda: FakeTensor(byte_offset=2**64 - 8), "want elements within the address space"),
        (lambda: FakeTensor(device=(99, 0)), "want a device type of DLPack 1.3, got 99"),
        (lambda: FakeTensor(dtype=(19, 8, 1)), "want a type code from 0 to 18, got 19"),
        (lambda: FakeTensor(dtype=(6, 1, 1)), "want 8 bits, got 1"),
        (lambda: FakeTensor(dtype=(2, 32, 0)), "want 1 lane or more, got 0"),
        (lambda: FakeTensor(dtype=(2, 8, 1)), "want 16, 32, 64 or 128 bits, got 8"),
    ],
)
def test_import_that_is_refused(fake, wanted):
    """R41, R42, R56, R61: a BufferError, and the tensor still belongs to the caller."""
    fake = fake()
    out = ctypes.c_void_p(0xDEAD)
    with pytest.raises(BufferError, match=wanted):
        ManagedToPy(OURS.managed_to_py)(fake.address, ctypes.byref(out))
    assert out.value is None
    gc.collect()
    assert fake.deleted == 0
    delete_without_gil(fake.managed)
    assert fake.deleted == 1


def test_round_trip():
    t = gd.full((2, 3), 7, "int32")
    _, address = export(t)
    out = ctypes.c_void_p()
    assert ManagedToPy(OURS.managed_to_py)(address, ctypes.byref(out)) == 0
    other = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(other))
    assert other.data_ptr == t.data_ptr
    del t
    assert other.tolist() == [[7] * 3] * 2


# ---- dltensor_from_py_object_no_sync ----


def test_borrow():
    """R55: the record points into the object and owns nothing."""
    t = gd.zeros((2, 3), "int8")[:, ::2]
    before = gd._core._counters()
    record, again = Record(), Record()
    for r in (record, again):
        assert RecordFromPy(OURS.record_from_py)(t, ctypes.byref(r)) == 0
    assert gd._core._counters() == before
    assert (record.dims(), steps(record), record.data, record.byte_offset) == ((2, 2), (3, 2), t.data_ptr, 0)
    assert bytes(record) == bytes(again)
    assert record.dtype_triple() == (0, 8, 1) and record.device_pair() == (1, 0)


def test_borrow_of_something_else():
    with pytest.raises(TypeError, match=r"want a godlpack\.Tensor"):
        RecordFromPy(OURS.record_from_py)(5, ctypes.byref(Record()))


# ---- managed_tensor_allocator ----


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (3, 5), (2, 0)])
def test_allocate(name, shape):
    """R57: without the GIL."""
    rc, managed, said = allocate(OURS, shape, DTYPES[name])
    assert (rc, said) == (0, [])
    record = managed.tensor
    assert (record.dims(), record.dtype_triple(), record.device_pair()) == (shape, DTYPES[name], (1, 0))
    assert managed.flags == 0
    t = gd.zeros(shape)
    if t.size:
        assert steps(record) == t.strides
        assert record.data % 256 == 0
        ctypes.memset(record.data, 1, nbytes(name, t.size))
    else:
        assert record.data is None
    delete_without_gil(managed)


def test_allocate_on_a_thread():
    made = []
    thread = threading.Thread(target=lambda: made.append(allocate(OURS, (1 << 20,))))
    thread.start()
    thread.join()
    delete_without_gil(made[0][1])


@pytest.mark.parametrize(
    ("shape", "rest", "kind"),
    [
        ((3,), {"device": (2, 0)}, "BufferError"),
        ((3,), {"device": (99, 0)}, "BufferError"),
        ((-1,), {}, "ValueError"),
        ((3,), {"ndim": -1}, "ValueError"),
        ((3,), {"ndim": 65}, "ValueError"),
        ((3,), {"dtype": (19, 8, 1)}, "ValueError"),
        ((3,), {"dtype": (2, 32, 0)}, "ValueError"),
        ((3,), {"dtype": (2, 0, 1)}, "ValueError"),
        ((1 << 60,), {}, "MemoryError"),
        ((1 << 62, 1 << 62), {}, "MemoryError"),
        ((1 << 62,), {}, "MemoryError"),
        ((0, 1 << 62, 1 << 62), {}, "MemoryError"),
    ],
)
def test_allocation_that_fails(shape, rest, kind):
    """R57: one error by SetError; *out is NULL; no Python exception."""
    rc, managed, said = allocate(OURS, shape, context=0xC0, **rest)
    assert (rc, managed) == (-1, None)
    assert [(context, k) for context, k, _ in said] == [(0xC0, kind)]
    assert "godlpack" in said[0][2]


def test_allocation_that_fails_without_a_word():
    """Callers may pass no SetError."""
    prototype, out = FakeTensor((-1,)).managed.tensor, ctypes.c_void_p(0xDEAD)
    assert (
        Allocator(OURS.allocator)(ctypes.byref(prototype), ctypes.byref(out), None, ctypes.cast(None, SetError)) == -1
    )
    assert out.value is None


def test_allocation_of_a_dtype_too_large_to_count():
    """The number of bits fits into 64 bits, but not when it is rounded up to bytes."""
    rc, managed, said = allocate(OURS, (2**63 - 1,), (1, 1, 1))
    assert (rc, managed, said[0][1]) == (-1, None, "MemoryError")


# ---- current_work_stream ----


@pytest.mark.parametrize("device", [(1, 0), (2, 0), (3, 0), (13, 0), (2, 10**6), (2, -1)])
def test_current_stream(device):
    """R58"""
    out = ctypes.c_void_p(0xDEAD)
    assert CurrentStream(OURS.current_stream)(*device, ctypes.byref(out)) == 0
    assert out.value is None


# ---- fake tables ----


class Mute:
    """An object that exports only by its table."""

    def __init__(self, fake):
        self.fake = fake


def take_twice(x, check):
    """Once by Go, which then makes a plan, and once by the plan: both must give the same result."""
    for _ in range(2):
        check(x())


@pytest.mark.parametrize("name", [MAIN_NAME, OLD_NAME])
@pytest.mark.parametrize("as_int", [False, True])
def test_table_is_found(name, as_int):
    """R64: capsule or int, under either name."""
    cls = publish(fake_table(), name, as_int=as_int, base=Mute)

    def check(x):
        t = gd.from_dlpack(x)
        assert t.tolist() == VALUES and t.data_ptr == x.fake.data
        del t
        assert x.fake.deleted == 1

    take_twice(lambda: cls(FakeTensor()), check)


def test_table_comes_before_the_method():
    cls = publish(fake_table())

    def check(x):
        gd.from_dlpack(x)
        assert x.calls == []

    take_twice(lambda: cls(FakeTensor()), check)


def test_older_table():
    """R64: a table of major version 1, linked from one of a future version."""
    table = fake_table(version=(3, 0), prev=fake_table(version=(2, 1), prev=fake_table(version=(1, 0))))
    cls = publish(table, base=Mute)
    take_twice(lambda: cls(FakeTensor()), lambda x: gd.from_dlpack(x).tolist())


@pytest.mark.parametrize(
    "table",
    [
        lambda: fake_table(version=(2, 0), from_py=RAISES_SYSTEM_ERROR),
        lambda: fake_table(version=(2, 0), prev=fake_table(version=(3, 0))),
        lambda: fake_table(version=(0, 8)),
        lambda: fake_table(from_py=None),
        lambda: fake_table(from_py=RAISES_SYSTEM_ERROR),
        lambda: fake_table(from_py=RAISES_TYPE_ERROR),
        lambda: fake_table(from_py=lambda x, out: -1),  # without an exception
        lambda: fake_table(from_py=lambda x, out: 0),  # without a tensor
    ],
)
def test_table_that_does_not_do(table):
    """R53, R64, R67: __dlpack__ is called instead."""
    cls = publish(table())

    def check(x):
        assert gd.from_dlpack(x).tolist() == VALUES
        assert len(x.calls) == 1

    take_twice(lambda: cls(FakeTensor()), check)


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (lambda: fake_table(from_py=RAISES_SYSTEM_ERROR), "bad argument to internal function"),
        (lambda: fake_table(from_py=RAISES_TYPE_ERROR), "a bytes-like object is required"),
        (lambda: fake_table(from_py=lambda x, out: -1), "Published"),
    ],
)
def test_table_that_fails_and_no_method(table, wanted):
    """R67: the table's error is passed on."""
    x = publish(table(), base=Mute)(FakeTensor())
    for _ in range(2):
        with pytest.raises(BufferError, match=wanted):
            gd.from_dlpack(x)


def test_table_without_a_version_that_we_speak_and_no_method():
    x = publish(fake_table(version=(2, 0)), base=Mute)(FakeTensor())
    with pytest.raises(TypeError, match="want a tensor"):
        gd.from_dlpack(x)


class Tracked:
    """Exports a second, valid tensor by __dlpack__."""

    def __init__(self, fake):
        self.fake, self.second = fake, FakeTensor()

    def __dlpack__(self, **_):
        return self.second.capsule()


@pytest.mark.parametrize(
    "fake",
    [
        lambda: FakeTensor(data=None),
        lambda: FakeTensor(version=(2, 0)),
        lambda: FakeTensor(version=(0, 9)),
        lambda: FakeTensor(ndim=-1),
        lambda: FakeTensor(dtype=(99, 8, 1)),
        lambda: FakeTensor((2,), (-(2**63),)),
    ],
)
def test_table_with_a_bad_tensor(fake):
    """R41, R42, R61: it is deleted once, and __dlpack__ is called."""
    cls = publish(fake_table(), base=Tracked)
    gd.from_dlpack(cls(FakeTensor()))  # makes a plan

    def check(x):
        assert gd.from_dlpack(x).data_ptr == x.second.data
        assert x.fake.deleted == x.fake.exported

    take_twice(lambda: cls(fake()), check)


def test_table_with_a_bad_tensor_and_no_method():
    cls = publish(fake_table(), base=Mute)

    def check(x):
        with pytest.raises(BufferError, match="Published: data: want a pointer for 3 elements"):
            gd.from_dlpack(x)
        assert x.fake.deleted == x.fake.exported

    take_twice(lambda: cls(FakeTensor(data=None)), check)


def test_question_that_raises_while_a_tensor_is_taken():
    """The tensor is still deleted: its deleter, which is Python code here, runs without an exception set."""

    class Moody(Mute):
        moody = False

        @property
        def requires_grad(self):
            if self.moody:
                raise KeyError
            return False

        def is_conj(self):
            return False

        is_neg = is_conj

    cls = publish(fake_table(), base=Moody)
    gd.from_dlpack(cls(FakeTensor()))  # makes a plan
    x = cls(FakeTensor())
    x.moody = True
    with pytest.raises(BufferError, match="ndim"):  # about the deleted tensor, which is requested once more
        gd.from_dlpack(x)
    assert x.fake.deleted == x.fake.exported == 2


def test_read_only_by_table():
    """R43, R61"""
    cls = publish(fake_table(), base=Mute)

    def check(x):
        assert gd.from_dlpack(x).readonly

    take_twice(lambda: cls(FakeTensor(flags=READ_ONLY)), check)


def test_copy_by_table():
    """R47: tables cannot copy."""
    cls = publish(fake_table(), base=Mute)

    def check(x):
        t = gd.from_dlpack(x, copy=True)
        assert t.data_ptr != x.fake.data and t.tolist() == VALUES
        assert x.fake.deleted == 1

    take_twice(lambda: cls(FakeTensor()), check)


def test_copy_false_by_table():
    x = publish(fake_table(), base=Mute)(FakeTensor())
    assert gd.from_dlpack(x, copy=False, device="cpu").data_ptr == x.fake.data


def test_table_that_gives_nothing_once_it_is_planned():
    gives = True

    def from_py(x, out):
        if gives:
            x.fake.exported += 1
            out[0] = x.fake.address
        return 0

    cls = publish(fake_table(from_py=from_py))
    assert gd.from_dlpack(cls(FakeTensor())).tolist() == VALUES
    gives = False
    x = cls(FakeTensor())
    assert gd.from_dlpack(x).tolist() == VALUES
    assert len(x.calls) == 1, "the method is asked then"


def test_table_that_makes_nothing_once_it_is_planned():
    makes = [True]

    def to_py(address, out):
        if makes[0]:
            made = cls(address)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
            out[0] = id(made)
        return 0

    cls, t = publish(fake_table(to_py=to_py), base=Taken), gd.zeros(3)
    assert type(t.to(cls)) is cls
    makes[0] = False
    with pytest.raises((BufferError, RuntimeError, SystemError, TypeError), match="Published"):
        t.to(cls)


def test_to_takes_one_type():
    for wrong in ({"copy": True}, {"like": 1}):
        with pytest.raises(TypeError):
            gd.zeros(3).to(bytes, **wrong)
    with pytest.raises(TypeError):
        gd.zeros(3).to()


def test_attribute_of_an_instance_is_ignored():
    """R62: a proxy's attribute would belong to another object."""
    x = Producer(FakeTensor())
    setattr(x, MAIN_NAME, getattr(publish(fake_table(from_py=RAISES_SYSTEM_ERROR)), MAIN_NAME))
    assert gd.from_dlpack(x).tolist() == VALUES
    assert len(x.calls) == 1


def test_attribute_behind_getattr_is_ignored():
    """R62"""

    class Proxy(Producer):
        def __getattr__(self, name):
            assert name not in (MAIN_NAME, OLD_NAME)
            raise AttributeError(name)

    assert gd.from_dlpack(Proxy(FakeTensor())).tolist() == VALUES


def test_subclass_inherits_the_table():
    """R54"""
    cls = publish(fake_table(), base=Mute)
    sub = type("Sub", (cls,), {})
    take_twice(lambda: sub(FakeTensor()), lambda x: gd.from_dlpack(x).tolist())


def test_subclass_with_a_table_of_its_own():
    """R63: plans apply to exact types."""
    cls = publish(fake_table(), base=Mute)
    gd.from_dlpack(cls(FakeTensor()))

    def read_only(x, out):
        x.fake.managed.flags = READ_ONLY
        out[0] = x.fake.address
        return 0

    sub = publish(fake_table(from_py=read_only), base=cls)
    for _ in range(2):
        assert gd.from_dlpack(sub(FakeTensor())).readonly
        assert not gd.from_dlpack(cls(FakeTensor())).readonly


@pytest.mark.parametrize("value", [None, "text", 0, 8, -1, 2**64, 4097, 1.5, b"", True])
@pytest.mark.parametrize("name", [MAIN_NAME, OLD_NAME])
def test_attribute_that_is_no_table(name, value):
    cls = type("Odd", (Producer,), {name: value})
    assert gd.from_dlpack(cls(FakeTensor())).tolist() == VALUES


def test_capsule_that_is_no_table():
    cls = type("Odd", (Producer,), {MAIN_NAME: capsule_new(0x10000, b"other", None)})
    assert gd.from_dlpack(cls(FakeTensor())).tolist() == VALUES


def test_wrong_attribute_hides_not_the_other():
    cls = publish(fake_table(), OLD_NAME, as_int=True, base=Mute)
    setattr(cls, MAIN_NAME, None)
    assert gd.from_dlpack(cls(FakeTensor())).tolist() == VALUES


def test_many_types():
    """More types than there are plans: new plans replace others."""
    table = fake_table()
    classes = [publish(table, base=Mute) for _ in range(300)]
    for cls in classes + classes[::-1]:
        assert gd.from_dlpack(cls(FakeTensor())).tolist() == VALUES


# ---- objects of other libraries ----


class Maker(Taken):
    """Objects made of managed tensors by the table below."""


def makers_type():
    """A new type whose table makes its objects."""
    holder = []

    def to_py(address, out):
        made = holder[0](address)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        out[0] = id(made)
        return 0

    holder.append(publish(fake_table(to_py=to_py), base=Maker))
    return holder[0]


@pytest.mark.parametrize("device", [(2, 0), (10, 0)])
def test_device_tensors_are_handed_to_tables(device):
    """A plan handles CUDA tensors; others crash some tables, so Go checks them first."""
    cls, fake = makers_type(), FakeTensor(device=device)
    assert type(gd.zeros(3).to(cls)) is cls
    far = gd.from_dlpack(fake.capsule())
    try:
        made = far.to(cls)
        assert type(made) is cls
        del made
    except BufferError:
        pass
    del far
    gc.collect()
    assert fake.deleted == 1


def test_to_by_table():
    """R56: taken on success. like is a type, without and with a plan, or an object."""
    cls = makers_type()
    t = gd.full(3, 1.5)
    made = t.to(cls)
    for like in (cls, made):
        other = t.to(like)
        assert type(other) is cls
        assert other.managed.tensor.data == t.data_ptr
        assert (other.managed.version.major, other.managed.flags) == (1, 0)


def test_to_a_subclass_that_the_table_does_not_make():
    """Neither without nor with a plan."""
    cls = makers_type()
    sub = type("Sub", (cls,), {})
    for _ in range(3):
        with pytest.raises(TypeError, match="Sub is not the type of an array"):
            gd.zeros(3).to(sub)


@pytest.mark.parametrize(
    "fail", [RAISES_ONLY, lambda m, out: -1, lambda m, out: 0], ids=["raises", "silent", "nothing"]
)
def test_to_by_a_table_that_fails(fail):
    """R56: the export still belongs to godlpack, and is deleted; a BufferError has the table's error."""
    cls = publish(fake_table(to_py=fail), base=Mute)
    for like in (cls, cls, cls(None)):
        with pytest.raises(BufferError, match="cannot take this tensor"):
            gd.zeros(3).to(like)


def test_to_read_only():
    """R61: no table's importer respects the flag."""
    cls = publish(fake_table(), base=Mute)
    for _ in range(2):
        with pytest.raises(BufferError, match="the tensor is read-only"):
            gd.asarray(b"abc").to(cls)
