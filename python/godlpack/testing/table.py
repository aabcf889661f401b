"""The checks of a type's exchange table."""

from __future__ import annotations

import ctypes
import gc
import itertools
import sys
from ctypes import byref, c_void_p
from typing import Any

from .peers import Managed, Nothing, _kept
from .producer import described, keeps_memory, on_a_thread, same, usual
from .records import (
    OLD_TABLE_NAME,
    READ_ONLY,
    TABLE_NAME,
    Allocator,
    CurrentStream,
    Legacy,
    ManagedFromPy,
    ManagedToPy,
    Record,
    RecordFromPy,
    SetError,
    Table,
    Versioned,
    called,
    delete,
    delete_without_gil,
    table_at,
    values_of,
)
from .report import Checks, NotApplicable, Report, demand, told

UNTOUCHED = 0xDEAD
HUGE = 2**62
checks = Checks()
rule = checks.rule


def check_table(cls: type, sample: Any = None, *, name: str = "", isolated: bool | None = None) -> Report:
    """Check the exchange table that a type publishes.

    Parameters
    ----------
    cls : type
        The type, such as ``torch.Tensor``.
    sample : object, optional
        An object of the type. Default: the table itself makes one.
    name : str, optional
        Name of the subject in the report. Default: the type's.
    isolated : bool, optional
        Run the checks in a forked child, in which a crash or a hang is a
        finding. Default: True if the subject works there.

    Returns
    -------
    Report
        What the checks found.

    Raises
    ------
    TypeError
        `cls` is not a type.

    Examples
    --------
    >>> import godlpack as gd
    >>> from godlpack.testing import check_table
    >>> check_table(gd.Tensor).failed
    ()
    """
    if not isinstance(cls, type):
        raise TypeError(f"want a type, whose table is to be checked, got {type(cls).__name__}")
    subject = Subject(cls, sample)
    return checks.run(
        name or f"table of {cls.__name__}", [(subject,)], isolated, rehearsal=lambda s: delete(s.export())
    )


class Subject:
    """A type under test."""

    def __init__(self, cls: type, sample: Any) -> None:
        self.cls, self._sample = cls, sample

    @property
    def table(self) -> Table:
        for name in (TABLE_NAME, OLD_TABLE_NAME):
            if hasattr(self.cls, name):
                try:
                    return table_at(getattr(self.cls, name))
                except (ValueError, TypeError) as error:  # reported by the check of R50
                    raise NotApplicable(f"{name} is no table: {error}") from error
        raise NotApplicable("the type publishes no table")

    def slot(self, name: str) -> int:
        """A function of the table."""
        function = getattr(self.table, name)
        if not function:
            raise NotApplicable(f"{name} is NULL")
        return int(function)

    @property
    def sample(self) -> Any:
        if self._sample is None:
            rc, managed, said = allocate(self, Managed((2, 3)).record)
            demand(rc == 0 and managed, f"status {rc} of the allocator: {said}")
            assert managed is not None
            self._sample = make(self, managed.address)
        return self._sample

    def export(self, x: Any = None) -> Versioned:
        out = c_void_p(UNTOUCHED)
        rc = ManagedFromPy(self.slot("managed_from_py"))(self.sample if x is None else x, byref(out))
        demand(rc == 0 and out.value, f"status {rc}, {out.value}")
        return Versioned.from_address(out.value or 0)


class Handed:
    """A managed tensor that a table made."""

    def __init__(self, address: int) -> None:
        self.address, self.managed = address, Versioned.from_address(address)


def allocate(
    s: Subject, prototype: Record, device: int = 1, function: Any = Allocator
) -> tuple[int, Handed | None, list[tuple[str, str]]]:
    """Calls the allocator: its status, the tensor, and the errors that it reported."""
    said: list[tuple[str, str]] = []

    def say(context: Any, kind: bytes | None, message: bytes | None) -> None:
        said.append(((kind or b"").decode(), (message or b"").decode(errors="replace")))

    set_error = SetError(say)
    _kept.append(set_error)  # kept, so that a late call does not end the process
    prototype.device.type = device
    prototype.data, prototype.strides, prototype.byte_offset = UNTOUCHED, None, UNTOUCHED
    out = c_void_p(UNTOUCHED)
    rc = function(s.slot("allocator"))(byref(prototype), byref(out), None, set_error)
    return rc, Handed(out.value) if out.value else None, said


def make(s: Subject, address: int) -> Any:
    """The object that the table makes from a managed tensor, and then owns the tensor."""
    out = c_void_p(UNTOUCHED)
    rc = ManagedToPy(s.slot("managed_to_py"))(address, byref(out))
    demand(rc == 0 and out.value, f"status {rc}")
    made = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))  # the reference that the table returned
    return made


FAILURE = "set an exception and return -1, both"


def wants_failure(function: int | None, argument: Any) -> None:
    """Requires that a slot fails: a status other than 0, and an exception."""
    status, error = called(function, argument)
    demand(status != 0, f"status 0 with {told(error)}" if error else "status 0")
    demand(error is not None, "status -1 without an exception")


# ---- publication ----


@rule(
    "R50",
    'the attribute is a capsule named "dlpack_exchange_api"',
    'publish PyCapsule_New(&table, "dlpack_exchange_api", NULL) as __dlpack_c_exchange_api__ on the type',
)
def published(s: Subject) -> None:
    value = getattr(s.cls, TABLE_NAME, None)
    if value is None:
        raise NotApplicable(f"no {TABLE_NAME}")
    demand(not isinstance(value, int), "an int")
    table_at(value)


@rule(
    "R50",
    "the attribute of DLPack 1.2 refers to the same table",
    "publish the address of the one static table under both names",
)
def published_before(s: Subject) -> None:
    if not (hasattr(s.cls, OLD_TABLE_NAME) and hasattr(s.cls, TABLE_NAME)):
        raise NotApplicable(f"no {OLD_TABLE_NAME}")
    old = table_at(getattr(s.cls, OLD_TABLE_NAME))
    demand(ctypes.addressof(old) == ctypes.addressof(s.table), "another table")


@rule(
    "R51",
    "a type with a table has __dlpack__, too",
    "write __dlpack__ and __dlpack_device__: most consumers do not support tables",
)
def method(s: Subject) -> None:
    with usual(s.sample) as export:
        managed = s.export()
        by_table = described(managed.tensor), managed.tensor.address(), managed.flags & READ_ONLY
        delete(managed)
        flags = export.flags & READ_ONLY if isinstance(export.managed, Versioned) else by_table[2]
        by_method = described(export.record), export.record.address(), flags
        demand(by_table == by_method, f"{by_table} by the table, {by_method} by __dlpack__")


@rule(
    "R52",
    "the table keeps its address and its content",
    "keep the table in static storage, and write to it before it is published only",
)
def static(s: Subject) -> None:
    address, content = ctypes.addressof(s.table), bytes(s.table)
    delete(s.export())
    gc.collect()
    demand((ctypes.addressof(s.table), bytes(s.table)) == (address, content), "another one")


@rule(
    "R53",
    "all functions are set; only dltensor_from_py_object_no_sync may be NULL",
    "write the functions that are missing; they may fail, but must not be NULL",
)
def complete(s: Subject) -> None:
    missing = [
        n for n in ("allocator", "managed_from_py", "managed_to_py", "current_stream") if not getattr(s.table, n)
    ]
    demand(not missing, f"NULL for {', '.join(missing)}")


@rule(
    "R53",
    "the table, or one that it leads to, is of major version 1",
    "stamp header.version with DLPACK_MAJOR_VERSION and DLPACK_MINOR_VERSION",
)
def version(s: Subject) -> None:
    demand(any(v[0] == 1 for v in chain(s.table)), f"version {chain(s.table)}")


@rule(
    "R53",
    "prev_api leads to older tables, and comes to an end",
    "set prev_api to NULL, or to the table of the major version before",
    dangerous=True,
)
def older(s: Subject) -> None:
    versions = chain(s.table)
    demand(all(a[0] > b[0] for a, b in itertools.pairwise(versions)), f"versions {versions}")


def chain(table: Table) -> list[tuple[int, int]]:
    """The versions of a table and of those that it links to."""
    versions = [(table.version.major, table.version.minor)]
    while table.prev and len(versions) < 8:
        table = Table.from_address(table.prev)
        versions.append((table.version.major, table.version.minor))
    return versions


# ---- managed_tensor_from_py_object_no_sync, dltensor_from_py_object_no_sync ----


@rule(
    "R54",
    "an object of the type is exported, in a record of major version 1",
    "export what __dlpack__ exports, stamped with your version",
)
def export(s: Subject) -> None:
    managed = s.export()
    major, size, data = managed.version.major, managed.tensor.size(), managed.tensor.data
    delete(managed)
    demand(major == 1, f"version {major}")
    demand(data or not size, "NULL data")


@rule(
    "R54",
    "an object of another type is refused: -1, and an exception",
    f"check the type of the object; {FAILURE}",
    dangerous=True,
)
def stranger(s: Subject) -> None:
    for thing in (Nothing(), None, 7):
        wants_failure(s.slot("managed_from_py"), ctypes.py_object(thing))


@rule("R10", "each export is a managed tensor of its own", "allocate one for each call: each is deleted once")
def fresh(s: Subject) -> None:
    one, two = s.export(), s.export()
    apart = ctypes.addressof(one) != ctypes.addressof(two)
    delete(one)
    if apart:
        delete(two)
    demand(apart, "the same twice")


@rule(
    "R11",
    "the deleter of an export releases all references to the object",
    "hold one reference for each managed tensor, and give it back in the deleter",
)
def references(s: Subject) -> None:
    x = s.sample
    delete(s.export())
    before = sys.getrefcount(x)
    for _ in range(3):
        delete(s.export())
    demand(sys.getrefcount(x) == before, f"{sys.getrefcount(x) - before:+} references after 3 exports")


@rule(
    "R11",
    "the deleter of an export frees all that belongs to it",
    "free the managed tensor itself at the end of its deleter",
)
def memory(s: Subject) -> None:
    keeps_memory(lambda: delete(s.export()))


@rule(
    "R12",
    "the deleter of an export may be called on another thread, without the GIL",
    "take the GIL in the deleter with PyGILState_Ensure before you touch Python",
)
def other_thread(s: Subject) -> None:
    managed = s.export()
    on_a_thread(lambda: delete_without_gil(managed))


@rule("R13", "the deleter of an export is not NULL", "set a deleter, if only one that does nothing")
def deleter(s: Subject) -> None:
    managed = s.export()
    there = managed.deleter
    delete(managed)
    demand(there, "NULL")


@rule("R14", "strides are there", "fill in strides wherever ndim is not 0")
def strides(s: Subject) -> None:
    managed = s.export()
    there = managed.tensor.strides or not managed.tensor.ndim
    delete(managed)
    demand(there, "NULL")


@rule(
    "R55",
    "a borrowed record is the exported one, and leaves nothing to delete",
    "fill the whole record in; point shape and strides at what lives with the object",
)
def borrow(s: Subject) -> None:
    record = borrowed(s, s.sample)
    managed = s.export()
    same = [(r.address(), described(r)) for r in (record, managed.tensor)]
    delete(managed)
    demand(same[0] == same[1], f"{same[0]} for {same[1]}")


def borrowed(s: Subject, x: Any) -> Record:
    record = Record()
    rc = RecordFromPy(s.slot("record_from_py"))(x, byref(record))
    demand(rc == 0, f"status {rc}")
    return record


@rule(
    "R55",
    "a record is lent without a reference to the object",
    "do not hold the object: the borrower cannot release a reference",
)
def references_of_borrows(s: Subject) -> None:
    borrowed(s, s.sample)
    before = sys.getrefcount(s.sample)
    for _ in range(3):
        borrowed(s, s.sample)
    demand(sys.getrefcount(s.sample) == before, f"{sys.getrefcount(s.sample) - before:+} references after 3 borrows")


@rule(
    "R55",
    "an object of another type is not lent: -1, and an exception",
    f"check the type of the object; {FAILURE}",
    dangerous=True,
)
def borrowed_stranger(s: Subject) -> None:
    wants_failure(s.slot("record_from_py"), ctypes.py_object(Nothing()))


# ---- managed_tensor_to_py_object_no_sync ----


@rule(
    "R56",
    "an object takes over the tensor that it is made from, and deletes it",
    "keep the managed tensor in the object, call its deleter once when the object goes, and put one new reference into out",
)
def steals(s: Subject) -> None:
    forged = Managed((2, 3))
    made = make(s, forged.address)
    held = forged.deleted
    del made
    gc.collect()
    demand((held, forged.deleted) == (0, 1), f"{held} calls of the deleter, then {forged.deleted}")


@rule(
    "R56",
    "a tensor that is refused stays its owner's: -1, an exception, and no call of the deleter",
    f"where you fail, leave the deleter alone; {FAILURE}",
)
def refuses(s: Subject) -> None:
    raises(s, Managed(dtype=(99, 8, 1)))


def raises(s: Subject, forged: Managed) -> None:
    status, error = called(s.slot("managed_to_py"), c_void_p(forged.address))
    demand(status != 0, f"status 0 with {told(error)}" if error else "an object")
    demand(error is not None, "status -1 without an exception")
    assert error is not None
    demand(forged.deleted == 0, f"{forged.deleted} calls of the deleter, with {told(error)}")


@rule("R39", "an object has the elements from data + byte_offset on", "add byte_offset to data wherever you read data")
def byte_offset(s: Subject) -> None:
    made = make(s, Managed((3,), byte_offset=64).address)
    with usual(made) as again:
        seen = values_of(again.record)
        demand(seen == [16.0, 17.0, 18.0], f"{seen}")


@rule("R40", "an object has the elements by their strides, or is refused", "read strides, which count elements")
def layout(s: Subject) -> None:
    for strides, wanted in (((1, 2), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]), (None, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])):
        try:
            made = make(s, Managed((2, 3), strides).address)
        except NotApplicable:
            raise
        except Exception:
            continue
        with usual(made) as again:
            seen = values_of(again.record)
            demand(same(seen, wanted), f"{seen} for strides {strides}")


@rule(
    "R41",
    "a tensor with elements and without memory is refused",
    "raise BufferError where data is NULL and no extent is 0",
    dangerous=True,
)
def no_memory(s: Subject) -> None:
    raises(s, Managed((3,), data=None))


CHECK_VERSION = "look at version.major first; if it is not yours, read no further, set BufferError and return -1"


@rule("R61", "a tensor of major version 2 is refused", CHECK_VERSION)
def next_major(s: Subject) -> None:
    raises(s, Managed(version=(2, 0)))


@rule("R61", "a tensor of major version 2 is not read", CHECK_VERSION, dangerous=True)
def next_major_unread(s: Subject) -> None:
    raises(s, Managed(version=(2, 0), ndim=-5, data=0x10))


KEEP_FLAG = "keep flag 1 (READ_ONLY) with the object, and set it in its exports; a borrowed record cannot express it, so refuse to lend"


@rule("R61", "read-only memory makes an object that exports read-only", KEEP_FLAG)
def read_only(s: Subject) -> None:
    made = make(s, Managed(flags=READ_ONLY).address)
    with usual(made) as again:
        demand(again.flags & READ_ONLY, f"flags {again.flags}")


@rule("R61", "the table, too, exports read-only memory as such, or refuses it with BufferError", KEEP_FLAG)
def read_only_again(s: Subject) -> None:
    try:
        managed = s.export(make_read_only(s))
    except BufferError:
        return  # few consumers of tables check flags
    flags = managed.flags
    delete(managed)
    demand(flags & READ_ONLY, f"flags {flags}")


@rule("R43", "read-only memory is not lent in a record, which cannot express it", KEEP_FLAG)
def read_only_borrow(s: Subject) -> None:
    wants_failure(s.slot("record_from_py"), ctypes.py_object(make_read_only(s)))


def make_read_only(s: Subject) -> Any:
    made = make(s, Managed(flags=READ_ONLY).address)
    with usual(made) as again:
        if isinstance(again.managed, Legacy) or not again.flags & READ_ONLY:
            raise NotApplicable("the type has no read-only objects")
    return made


# ---- managed_tensor_allocator ----

ALLOCATE = "fill in all of a managed tensor: compact strides, a deleter, version; read dtype, ndim, shape and device of the prototype only"


@rule(
    "R57",
    "the allocator works without the GIL, and reads dtype, ndim, shape and device only",
    f"do not touch Python, or take the GIL; {ALLOCATE}",
)
def allocator(s: Subject) -> None:
    prototype = Managed((2, 3)).record
    rc, handed, said = on_a_thread(lambda: allocate(s, prototype))
    demand(rc == 0 and handed is not None and not said, f"status {rc}: {said}")
    record = handed.managed.tensor
    seen = record.dims(), record.dtype_triple(), record.device_pair(), bool(record.data)
    delete(handed.managed)
    demand(seen == ((2, 3), (2, 32, 1), (1, 0), True), seen)


@rule(
    "R57",
    "what is allocated has version 1, a deleter, strides in row-major order, no flags, and memory to write",
    ALLOCATE,
)
def allocated(s: Subject) -> None:
    for shape in ((2, 3), (), (0, 3)):
        rc, handed, said = allocate(s, Managed(shape).record)
        demand(rc == 0 and handed is not None and not said, f"status {rc}: {said} for shape {shape}")
        assert handed is not None
        managed = handed.managed
        demand(
            managed.version.major == 1 and managed.deleter and not managed.flags & READ_ONLY,
            f"{managed.version.major=}, {managed.deleter=}, {managed.flags=}",
        )
        record = managed.tensor
        demand(record.dims() == shape, f"{record.dims()} for {shape}")
        demand(record.strides or not shape, f"no strides for {shape}")
        if record.size():
            demand(record.steps() == Managed(shape).record.steps(), f"strides {record.steps()} for {shape}")
            demand(record.data and record.address() % 4 == 0, f"data {record.address():#x}")
            ctypes.memset(record.address(), 0, 4 * record.size())
        delete(managed)


TELL_ONCE = "where you fail, call SetError(ctx, kind, message) once, set *out to NULL, set no exception, and return -1"


def failure(s: Subject) -> tuple[int, int | None, list[tuple[str, str]]]:
    rc, handed, said = allocate(s, Managed(dtype=(99, 8, 1)).record)
    return rc, handed.address if handed else None, said


@rule("R57", "a failed allocation is reported once, by SetError, with status -1", TELL_ONCE)
def allocation_error(s: Subject) -> None:
    rc, _, said = failure(s)
    demand(rc == -1 and len(said) == 1, f"status {rc}, reported {len(said)} times")
    kind, message = said[0]
    demand(kind and message, f"SetError with kind {kind!r} and message {message!r}")


@rule("R57", "a failed allocation stores NULL", TELL_ONCE)
def allocation_out(s: Subject) -> None:
    _, address, _ = failure(s)
    demand(address is None, "the output as it was" if address == UNTOUCHED else "a tensor")


AllocatorWithGil = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Record), ctypes.POINTER(c_void_p), c_void_p, SetError)


@rule("R57", "a failed allocation sets no exception", TELL_ONCE)
def allocation_exception(s: Subject) -> None:
    allocate(s, Managed(dtype=(99, 8, 1)).record, function=AllocatorWithGil)  # raises an exception that was left set


@rule(
    "R57",
    "an allocation of too many elements fails",
    f"check the product of the extents for overflow; {TELL_ONCE}",
    dangerous=True,
)
def allocation_overflow(s: Subject) -> None:
    for shape in ((HUGE, HUGE), (HUGE,), (2, -1)):
        rc, _, said = allocate(s, Managed(shape).record)
        demand(rc != 0 and said, f"status {rc}, reported {len(said)} times, for shape {shape}")


# ---- current_work_stream ----


@rule("R58", "the CPU has no stream: status 0, and NULL", "set *out to NULL and return 0 for kDLCPU")
def stream(s: Subject) -> None:
    out = c_void_p(UNTOUCHED)
    rc = CurrentStream(s.slot("current_stream"))(1, 0, byref(out))
    demand(rc == 0 and not out.value, f"status {rc}, {out.value}")
