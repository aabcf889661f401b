"""godlpack.testing: what it finds about the frameworks, and that each of its checks can fail."""

import ctypes
import doctest
import subprocess
import sys
import time
from importlib import metadata

import pytest

import godlpack as gd
import godlpack.testing.consumer as consumer
import godlpack.testing.producer as producer
import godlpack.testing.records as records
import godlpack.testing.report
import godlpack.testing.table as table
from godlpack.testing import (
    ConformanceError,
    Finding,
    Managed,
    Outcome,
    Producer,
    Report,
    check_producer,
    check_table,
)
from godlpack.testing.frameworks import FRAMEWORKS
from godlpack.testing.peers import FAILS, Nothing
from godlpack.testing.records import (
    OLD_TABLE_NAME,
    READ_ONLY,
    TABLE_NAME,
    Allocator,
    CurrentStream,
    ManagedFromPy,
    ManagedToPy,
    RecordFromPy,
    Table,
    Versioned,
    capsule_of,
    delete,
    managed_in,
    table_at,
    take,
)
from godlpack.testing.report import told

try:
    VERSIONED_JAX = (
        metadata.version("jax") >= "0.12"
    )  # the first seen to answer max_version and take versioned capsules
except metadata.PackageNotFoundError:
    VERSIONED_JAX = False

# What each framework is known to get wrong, and nothing else: what a release puts right is to be struck out here.
KNOWN = {
    "producer numpy.ndarray": {"R15 no_data"},
    "consumer numpy.from_dlpack": {"R41 no_memory", "R47 copy"},
    "producer torch.Tensor": {"R7 malformed_version", "R24 copy_is_marked"},
    "producer torch.Tensor, a lazy negative": {"R7 malformed_version", "R24 copy_is_marked", "R65 values"},
    "consumer torch.from_dlpack": {"R31 no_producer", "R41 no_memory", "R43 read_only", "R47 copy"},
    "table of torch.Tensor": {"R57 allocation_out", "R61 next_major", "R61 read_only"},
    "producer jax.Array": {"R9 unconsumed", "R15 no_data"}
    | ({"R23 read_only"} if VERSIONED_JAX else {"R5 versioned", "R7 malformed_version"}),
    "consumer jax.dlpack.from_dlpack": {"R41 no_memory", "R47 copy"}
    | (set() if VERSIONED_JAX else {"R33 max_version"}),
    "producer tvm_ffi.Tensor": {"R4 legacy", "R7 malformed_version", "R25 copy"},
    "consumer tvm_ffi.from_dlpack": {
        "R33 max_version",
        "R35 unknown_dtype",
        "R41 no_memory",
        "R42 negative_extent",
        "R42 overflow",
        "R46 no_lanes",
        "R48 unknown_device",
        "R62 table_of_instance",
        "R64 next_table",
        "R67 failing_table",
    },
    "producer godlpack.Tensor": set(),
    "consumer godlpack.from_dlpack": set(),
    "table of godlpack.Tensor": set(),
}


@pytest.mark.unbalanced("tensors of others are forged, and never go")
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_frameworks(name):
    pytest.importorskip(name)
    reports = list(FRAMEWORKS[name]())
    assert reports
    for report in reports:
        report.raise_if_failed(known=KNOWN[report.subject])


def test_fake_tensors(torch):
    """R41: reported, not crashed by."""
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        report = check_producer(torch.ones(3))
    assert "R41 data" in {f.name for f in report.failed}


# ---- producers that break one rule ----

OWN_TABLE = table_at(getattr(gd.Tensor, TABLE_NAME))
leaked = []


class Good:
    """Answers as the tensor it wraps."""

    def __init__(self, t=None):
        self.t = gd.full(3, 1.5) if t is None else t

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.answer(max_version=max_version, dl_device=dl_device, copy=copy, stream=stream)

    def answer(self, **keywords):
        return self.t.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


def answering(answer, base=Good, t=None):
    """A producer whose answer is answer(good answer, keywords)."""

    class Bad(base):
        def answer(self, **keywords):
            return answer(lambda **more: base.answer(self, **{**keywords, **more}), keywords)

    return lambda: Bad(t)


def edited(edit, t=None, when=lambda keywords: True):
    """A producer that changes the managed tensor in its capsules."""

    def answer(good, keywords):
        capsule = good()
        if when(keywords):
            edit(managed_in(capsule))
        return capsule

    return answering(answer, t=t)


def fails(error, when):
    def answer(good, keywords):
        if when(keywords):
            raise error("no")
        return good()

    return answering(answer)


class Positional(Good):
    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        return self.answer(max_version=max_version, dl_device=dl_device, copy=copy)


class Swallows(Good):
    def __dlpack__(self, **keywords):
        known = ("stream", "max_version", "dl_device", "copy")
        return self.answer(**{k: v for k, v in keywords.items() if k in known})


class NoStream(Good):
    def __dlpack__(self, *, stream=0, **keywords):
        assert stream is not None
        return self.answer(**keywords)


class Elsewhere(Good):
    def __dlpack_device__(self):
        return 2, 0


class Misshapen(Good):
    shape = (7,)


class Lying(Good):
    def tolist(self):
        return [0.0, 0.0, 0.0]


class Fleeting(Good):
    """Its memory is written over when it goes."""

    def __del__(self):
        ctypes.memset(self.t.data_ptr, 0xFF, 12)


def with_destructor(address):
    def answer(good, keywords):
        forged = Managed(legacy=True)
        return producer_capsule(forged.address, b"dltensor", address)

    return answering(answer)


producer_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
STATIC = [b"other"]


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _delete_always(capsule):
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    managed = Versioned.from_address(pointer(capsule, b"used_dltensor_versioned"))
    delete(managed)


def taken_twice(good, keywords):
    managed = take(good(max_version=(1, 3)))
    leaked.append(managed)
    return producer_capsule(
        ctypes.addressof(managed), b"dltensor_versioned", ctypes.cast(_delete_always, ctypes.c_void_p).value
    )


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _slow(address):
    time.sleep(0.5)


def always(**more):
    return answering(lambda good, keywords: good(**more))


def holding(good, keywords):
    leaked.append(good.__closure__)
    return good()


def read_only_legacy(good, keywords):
    versioned = keywords["max_version"] is not None
    return Managed(flags=READ_ONLY, legacy=not versioned).capsule()


def set_field(path, value):
    def edit(managed):
        *parts, last = path.split(".")
        for part in parts:
            managed = getattr(managed, part)
        setattr(managed, last, value)

    return edit


copying = answering(lambda good, k: good(copy=True))
BAD_PRODUCERS = {
    "R1 keyword_only": Positional,
    "R2 unknown_keyword": Swallows,
    "R3 no_type_error": fails(TypeError, lambda k: k["copy"] is False),
    "R4 legacy": always(max_version=(1, 0)),
    "R5 versioned": always(max_version=None),
    "R6 version_to_come": edited(set_field("version.major", 3), when=lambda k: k["max_version"] == (2, 0)),
    "R7 malformed_version": answering(
        lambda good, k: good(max_version=k["max_version"] if isinstance(k["max_version"], tuple | None) else None)
    ),
    "R8 names": answering(lambda good, k: producer_capsule(Managed().address, STATIC[0], None)),
    "R9 unconsumed": answering(lambda good, k: Managed().capsule()),
    "R9 consumed": answering(taken_twice),
    "R9 exception_in_flight": with_destructor(ctypes.cast(ctypes.pythonapi.PyErr_Clear, ctypes.c_void_p).value),
    "R10 fresh": lambda: Producer(Managed()),
    "R11 references": answering(holding),
    "R12 other_thread": edited(set_field("deleter", ctypes.cast(_slow, ctypes.c_void_p).value)),
    "R13 deleter": edited(set_field("deleter", None)),
    "R14 strides": edited(set_field("tensor.strides", None)),
    "R15 no_data": edited(set_field("tensor.data", 0x1000), t=gd.zeros(0)),
    "R17 shape": Misshapen,
    "R20 dtype": edited(set_field("tensor.dtype.code", 18)),
    "R21 small_floats": edited(set_field("tensor.dtype.bits", 6), t=gd.zeros(3, "float8_e5m2")),
    "R23 read_only": answering(read_only_legacy),
    "R24 copy_is_marked": edited(set_field("flags", 0), when=lambda k: k["copy"]),
    "R25 copy": answering(lambda good, k: good(copy=None)),
    "R25 no_copy": copying,
    "R26 own_device": fails(BufferError, lambda k: k["dl_device"] == (1, 0)),
    "R26 unknown_device": answering(lambda good, k: good(dl_device=None)),
    "R27 no_stream": NoStream,
    "R30 device": Elsewhere,
    "R32 outlives": Fleeting,
    "R41 data": edited(set_field("tensor.data", None)),
    "R65 values": Lying,
}
NEVER_FAIL = {"R12 foreign_thread"}  # what breaks it ends the process


def names(checks):
    return {f"{check.rule} {check.function.__name__}" for check in checks}


def one(checks, name, subject):
    """The finding of one check."""
    check = next(c for c in checks if f"{c.rule} {c.function.__name__}" == name)
    return check.run(subject)


def test_every_producer_check_can_fail():
    assert set(BAD_PRODUCERS) | NEVER_FAIL == names(producer.checks)
    check_producer(Good, dangerous=True).raise_if_failed()


@pytest.mark.unbalanced("broken on purpose")
@pytest.mark.parametrize("name", BAD_PRODUCERS)
def test_bad_producer(name, monkeypatch):
    monkeypatch.setattr(producer, "PATIENCE", 0.1)
    finding = one(producer.checks, name, BAD_PRODUCERS[name])
    assert finding.outcome is Outcome.FAILED, finding
    leaked.clear()
    time.sleep(0.6 if "thread" in name else 0)


# ---- consumers that break one rule ----

good = gd.from_dlpack


def picky(refused):
    """Refuses what it should take."""

    def take(x, **keywords):
        if hasattr(x, "forged") and refused(x.forged):
            raise BufferError("no")
        return good(x, **keywords)

    return take


def careless(edit):
    """Changes a record before it is taken."""

    def take(x, **keywords):
        if hasattr(x, "forged"):
            edit(x.forged)
        return good(x, **keywords)

    return take


def blind(x, **_):
    return good(Managed(legacy=True).capsule())


def deletes_early(x):
    made = good(x)
    delete(x.forged.managed)
    return made


def deletes_what_it_refuses(x):
    try:
        return good(x)
    except BufferError:
        delete(x.forged.managed)
        raise


def by_table(x):
    """Believes whatever has a table, be it the object or its type, and whatever comes out of it."""
    if not hasattr(x, TABLE_NAME):
        return good(x)
    out = ctypes.c_void_p()
    ManagedFromPy(table_at(getattr(x, TABLE_NAME)).managed_from_py)(x, ctypes.byref(out))
    return Held(out.value)


class Held(Good):
    def __init__(self, address):
        super().__init__(gd.full(3, 1.5))
        self.address = address


def wraps(x):
    try:
        return good(x)
    except (BufferError, ValueError, ZeroDivisionError) as error:
        raise RuntimeError(str(error)) from error


def positive(forged):
    for i in range(max(forged.record.ndim, 0)):
        if forged.record.strides and forged.record.strides[i] < 0:
            forged.record.strides[i] = 1


def apart(forged):
    if forged.record.ndim == 2 and forged.record.strides:
        forged.record.strides[0] = 2


def one_lane(forged):
    forged.record.dtype.lanes = 1


def writable(forged):
    if isinstance(forged.managed, Versioned):
        forged.managed.flags = 0


def has_flag(forged):
    return isinstance(forged.managed, Versioned) and forged.managed.flags >> 40


def has_version(forged):
    return isinstance(forged.managed, Versioned) and forged.managed.version.minor == 99


BAD_CONSUMERS = {
    "R31 no_producer": lambda x: gd.zeros(3) if isinstance(x, Nothing) else good(x),
    "R33 max_version": lambda x: good(x.__dlpack__()),
    "R33 old_producer": lambda x: good(x.__dlpack__(max_version=(1, 3))),
    "R49 exception": wraps,
    "R34 next_major": blind,
    "R35 next_minor": picky(has_version),
    "R35 unknown_flags": picky(has_flag),
    "R35 unknown_dtype": blind,
    "R36 ownership": deletes_early,
    "R36 no_deleter": picky(lambda f: not f.managed.deleter),
    "R37 refusal": deletes_what_it_refuses,
    "R38 used_capsule": blind,
    "R39 byte_offset": picky(lambda f: f.record.byte_offset),
    "R40 no_strides": picky(lambda f: f.record.ndim and not f.record.strides),
    "R40 no_shape": picky(lambda f: not f.record.shape),
    "R40 odd_strides": picky(lambda f: f.record.strides and f.record.strides[0] == 77),
    "R41 empty": picky(lambda f: not f.record.data),
    "R41 no_memory": blind,
    "R42 negative_ndim": blind,
    "R42 negative_extent": blind,
    "R42 overflow": blind,
    "R42 negative_strides": careless(positive),
    "R42 overlap": careless(apart),
    "R43 read_only": careless(writable),
    "R46 lanes": careless(one_lane),
    "R46 no_lanes": blind,
    "R47 copy": lambda x, copy=None: good(x),
    "R48 unknown_device": blind,
    "R61 bad_tensor_by_table": by_table,
    "R62 table_of_instance": by_table,
    "R64 next_table": by_table,
    "R67 failing_table": by_table,
}


def test_every_consumer_check_can_fail():
    assert set(BAD_CONSUMERS) == names(consumer.checks)


@pytest.mark.unbalanced("broken on purpose")
@pytest.mark.parametrize("name", BAD_CONSUMERS)
def test_bad_consumer(name):
    finding = one(consumer.checks, name, consumer.Consumer(BAD_CONSUMERS[name], lambda x: x))
    assert finding.outcome is Outcome.FAILED, finding


# ---- tables that break one rule ----


def slot(kind, function):
    leaked_slots.append(kind(function))
    return ctypes.cast(leaked_slots[-1], ctypes.c_void_p).value


leaked_slots = []


def publisher(attributes=None, **fields):
    """A type that publishes our table with other fields."""
    changed = Table.from_buffer_copy(OWN_TABLE)
    for field, value in fields.items():
        setattr(changed, field, value)
    leaked_slots.append(changed)
    capsule = capsule_of(ctypes.addressof(changed), "dlpack_exchange_api")
    return type("Publisher", (), {TABLE_NAME: capsule, **(attributes or {})})


def exports(**fields):
    """managed_from_py that exports a forged tensor of anything."""

    def export(x, out):
        out[0] = Managed(**fields).address
        return 0

    return slot(ManagedFromPy, export)


def changing(x, out):
    leaked_slots[-1].prev = 0x1000
    out[0] = Managed().address
    return 0


def takes(edit=lambda managed: None, keep=False):
    """managed_to_py that takes anything, after a change."""

    def to_py(address, out):
        managed = Versioned.from_address(address)
        edit(managed)
        forged = Managed((2, 3)) if keep else None
        return ManagedToPy(OWN_TABLE.managed_to_py)(forged.address if forged else address, out)

    return slot(ManagedToPy, to_py)


def first_version(managed):
    managed.version.major, managed.tensor.ndim, managed.tensor.data = 1, 1, Managed().data


def says_nothing(prototype, out, context, set_error):
    return -1


def says_but_leaves(prototype, out, context, set_error):
    set_error(context, b"ValueError", b"no")
    return -1


def has_a_stream(kind, number, out):
    out[0] = 7
    return 0


BAD_TABLES = {
    "R13 deleter": lambda: publisher(managed_from_py=exports(deleter=False)),
    "R14 strides": lambda: publisher(managed_from_py=exports(strides=None)),
    "R50 published": lambda: publisher({TABLE_NAME: ctypes.addressof(OWN_TABLE)}),
    "R50 published_before": lambda: publisher({OLD_TABLE_NAME: ctypes.addressof(OWN_TABLE)}),
    "R52 static": lambda: publisher(managed_from_py=slot(ManagedFromPy, changing)),
    "R53 complete": lambda: publisher(allocator=None),
    "R53 version": lambda: publisher(version=(2, 0)),
    "R54 export": lambda: publisher(managed_from_py=FAILS),
    "R54 stranger": lambda: publisher(managed_from_py=exports()),
    "R55 borrow": lambda: publisher(record_from_py=slot(RecordFromPy, lambda x, out: 0)),
    "R56 steals": lambda: publisher(managed_to_py=takes(keep=True)),
    "R56 refuses": lambda: publisher(managed_to_py=slot(ManagedToPy, lambda address, out: -1)),
    "R57 allocator": lambda: publisher(allocator=slot(Allocator, says_nothing)),
    "R57 allocation_error": lambda: publisher(allocator=slot(Allocator, says_nothing)),
    "R57 allocation_out": lambda: publisher(allocator=slot(Allocator, says_but_leaves)),
    "R58 stream": lambda: publisher(current_stream=slot(CurrentStream, has_a_stream)),
    "R61 next_major": lambda: publisher(managed_to_py=takes(first_version)),
    "R61 next_major_unread": lambda: publisher(managed_to_py=takes(first_version)),
    "R61 read_only": lambda: publisher(managed_to_py=takes(set_field("flags", 0))),
}


def test_every_table_check_can_fail():
    assert set(BAD_TABLES) == names(table.checks)


@pytest.mark.unbalanced("broken on purpose")
@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_table(name):
    finding = one(table.checks, name, table.Subject(BAD_TABLES[name](), gd.zeros((2, 3))))
    assert finding.outcome is Outcome.FAILED, finding


def test_type_without_a_table():
    report = check_table(int)
    assert report.ok and not report.passed


# ---- reports ----


def test_known_failures_are_strict():
    passed = Finding("R1", "a", Outcome.PASSED, "good")
    failed = Finding("R2", "b", Outcome.FAILED, "good", "bad")
    report = Report("x", (passed, failed))
    assert not report.ok and report.failed == (failed,)
    report.raise_if_failed(known=["R2 b"])
    with pytest.raises(ConformanceError, match=r"R2 b .*FAILED +good; got bad"):
        report.raise_if_failed()
    with pytest.raises(ConformanceError, match=r"R1 a +is known to fail, and did not"):
        report.raise_if_failed(known=["R1 a", "R2 b"])


def test_text():
    text = str(check_producer(gd.zeros(3)))
    assert text.startswith("producer Tensor: ")
    assert len(text.splitlines()) == len(producer.checks)  # all but the dangerous one, and a headline
    assert told(ValueError()) == "ValueError"


def test_examples():
    assert all(doctest.testmod(module).failed == 0 for module in (records, godlpack.testing.report))


def test_command():
    pytest.importorskip("numpy")
    command = [sys.executable, "-P", "-m", "godlpack.testing", "numpy", "godlpack"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "producer numpy.ndarray" in done.stdout and "table of godlpack.Tensor" in done.stdout
    assert done.stderr == ""
    refused = subprocess.run([*command, "nothing"], capture_output=True, text=True)
    assert refused.returncode == 2 and "unknown framework 'nothing'" in refused.stderr
