"""What the exchange table of a type must do."""

from __future__ import annotations

import ctypes
import gc
import threading
from ctypes import byref, c_void_p
from typing import Any

from .peers import Managed, Nothing
from .producer import PATIENCE, usual
from .records import (
    OLD_TABLE_NAME,
    READ_ONLY,
    TABLE_NAME,
    Allocator,
    CurrentStream,
    ManagedFromPy,
    ManagedToPy,
    Record,
    RecordFromPy,
    SetError,
    Table,
    Versioned,
    delete,
    table_at,
)
from .report import Checks, NotApplicable, Report, demand, told

UNTOUCHED = 0xDEAD
checks = Checks()
rule = checks.rule


def check_table(cls: type, sample: Any = None, *, name: str = "", dangerous: bool = False) -> Report:
    """Checks the exchange table that a type publishes, with an object of the type, or else with one that the table itself
    makes.

        report = check_table(torch.Tensor)
        report.raise_if_failed(known=["R61 next_major", "R61 read_only"])

    dangerous: also gives its managed_tensor_to_py_object_no_sync what is known to end the process of some.
    """
    return checks.run(name or f"table of {cls.__name__}", [(Subject(cls, sample),)], dangerous)


class Subject:
    """A type under test."""

    def __init__(self, cls: type, sample: Any) -> None:
        self.cls, self._sample = cls, sample

    @property
    def table(self) -> Table:
        for name in (TABLE_NAME, OLD_TABLE_NAME):
            if hasattr(self.cls, name):
                return table_at(getattr(self.cls, name))
        raise NotApplicable("the type publishes no table")

    @property
    def sample(self) -> Any:
        if self._sample is None:
            rc, managed, said = allocate(self.table, Managed((2, 3)).record)
            demand(rc == 0 and managed, f"status {rc} of the allocator: {said}")
            assert managed is not None
            self._sample = make(self.table, managed.address)
        return self._sample

    def export(self) -> Versioned:
        out = c_void_p(UNTOUCHED)
        rc = ManagedFromPy(self.table.managed_from_py)(self.sample, byref(out))
        demand(rc == 0 and out.value, f"status {rc}, {out.value}")
        return Versioned.from_address(out.value or 0)


class Handed:
    """A managed tensor that a table made."""

    def __init__(self, address: int) -> None:
        self.address, self.managed = address, Versioned.from_address(address)


def allocate(table: Table, prototype: Record, device: int = 1) -> tuple[int, Handed | None, list[tuple[str, str]]]:
    """Calls the allocator: the status, the tensor, what it said of errors."""
    said: list[tuple[str, str]] = []

    def say(context: Any, kind: bytes, message: bytes) -> None:
        said.append((kind.decode(), message.decode(errors="replace")))

    set_error = SetError(say)
    prototype.device.type = device
    prototype.data, prototype.strides, prototype.byte_offset = UNTOUCHED, None, UNTOUCHED
    out = c_void_p(UNTOUCHED)
    rc = Allocator(table.allocator)(byref(prototype), byref(out), None, set_error)
    return rc, Handed(out.value) if out.value else None, said


def make(table: Table, address: int) -> Any:
    """The object that the table makes of a managed tensor, which it then owns."""
    out = c_void_p(UNTOUCHED)
    rc = ManagedToPy(table.managed_to_py)(address, byref(out))
    demand(rc == 0 and out.value, f"status {rc}")
    made = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))  # the reference that out owned
    return made


# ---- how it is published ----


@rule("R50", 'the attribute is a capsule named "dlpack_exchange_api"')
def published(s: Subject) -> None:
    value = getattr(s.cls, TABLE_NAME, None)
    if value is None:
        raise NotApplicable(f"no {TABLE_NAME}")
    demand(not isinstance(value, int), "an int")
    table_at(value)


@rule("R50", "the attribute of DLPack 1.2 leads to the same table")
def published_before(s: Subject) -> None:
    if not (hasattr(s.cls, OLD_TABLE_NAME) and hasattr(s.cls, TABLE_NAME)):
        raise NotApplicable(f"no {OLD_TABLE_NAME}")
    old = table_at(getattr(s.cls, OLD_TABLE_NAME))
    demand(ctypes.addressof(old) == ctypes.addressof(s.table), "another table")


@rule("R52", "the table stays where and as it is")
def static(s: Subject) -> None:
    address, content = ctypes.addressof(s.table), bytes(s.table)
    delete(s.export())
    gc.collect()
    demand((ctypes.addressof(s.table), bytes(s.table)) == (address, content), "another one")


@rule("R53", "all functions are there; only dltensor_from_py_object_no_sync may be NULL")
def complete(s: Subject) -> None:
    missing = [
        n for n in ("allocator", "managed_from_py", "managed_to_py", "current_stream") if not getattr(s.table, n)
    ]
    demand(not missing, f"NULL for {', '.join(missing)}")


@rule("R53", "the table, or one that it leads to, is of major version 1")
def version(s: Subject) -> None:
    demand(s.table.version.major == 1 or s.table.prev, f"version {s.table.version.major}")


# ---- managed_tensor_from_py_object_no_sync, dltensor_from_py_object_no_sync ----


@rule("R54", "an object of the type is exported, in a record of major version 1")
def export(s: Subject) -> None:
    managed = s.export()
    major, size, data = managed.version.major, managed.tensor.size(), managed.tensor.data
    delete(managed)
    demand(major == 1, f"version {major}")
    demand(data or not size, "NULL data")


@rule("R54", "something else is refused: -1, and an exception")
def stranger(s: Subject) -> None:
    out, from_py = c_void_p(0), ManagedFromPy(s.table.managed_from_py)
    try:
        rc = from_py(Nothing(), byref(out))
    except Exception:
        return
    demand(False, f"status {rc} without an exception")


@rule("R13", "the deleter of an export is not NULL")
def deleter(s: Subject) -> None:
    managed = s.export()
    there = managed.deleter
    delete(managed)
    demand(there, "NULL")


@rule("R14", "strides are there")
def strides(s: Subject) -> None:
    managed = s.export()
    there = managed.tensor.strides or not managed.tensor.ndim
    delete(managed)
    demand(there, "NULL")


@rule("R55", "a borrowed record is the exported one, and leaves nothing to delete")
def borrow(s: Subject) -> None:
    if not s.table.record_from_py:
        raise NotApplicable("NULL")
    record = Record()
    rc = RecordFromPy(s.table.record_from_py)(s.sample, byref(record))
    demand(rc == 0, f"status {rc}")
    managed = s.export()
    same = [(r.address(), r.dims(), r.steps(), r.dtype_triple(), r.device_pair()) for r in (record, managed.tensor)]
    delete(managed)
    demand(same[0] == same[1], f"{same[0]} for {same[1]}")


# ---- managed_tensor_to_py_object_no_sync ----


@rule("R56", "a tensor of which an object is made is stolen, and deleted with the object")
def steals(s: Subject) -> None:
    forged = Managed((2, 3))
    made = make(s.table, forged.address)
    held = forged.deleted
    del made
    gc.collect()
    demand((held, forged.deleted) == (0, 1), f"{held} calls of the deleter, then {forged.deleted}")


@rule("R56", "a tensor that is refused stays its owner's: -1, an exception, and no call of the deleter")
def refuses(s: Subject) -> None:
    forged = Managed(dtype=(99, 8, 1))
    raises(s, forged)


def raises(s: Subject, forged: Managed) -> None:
    out, to_py = c_void_p(0), ManagedToPy(s.table.managed_to_py)
    try:
        rc = to_py(forged.address, byref(out))
    except Exception as error:
        demand(forged.deleted == 0, f"{forged.deleted} calls of the deleter, with {told(error)}")
        delete(forged.managed)
        return
    if out.value:
        ctypes.pythonapi.Py_DecRef(out)
    demand(False, f"status {rc} without an exception")


@rule("R61", "a tensor of major version 2 is refused")
def next_major(s: Subject) -> None:
    raises(s, Managed(version=(2, 0)))


@rule("R61", "a tensor of major version 2 is not read", dangerous=True)
def next_major_unread(s: Subject) -> None:
    raises(s, Managed(version=(2, 0), ndim=-5, data=0x10))


@rule("R61", "read-only memory makes an object that exports read-only")
def read_only(s: Subject) -> None:
    made = make(s.table, Managed(flags=READ_ONLY).address)
    with usual(made) as again:
        demand(again.flags & READ_ONLY, f"flags {again.flags}")


# ---- managed_tensor_allocator ----


@rule("R57", "the allocator works without the GIL, and reads dtype, ndim, shape and device only")
def allocator(s: Subject) -> None:
    made: list[Any] = []
    table, prototype = s.table, Managed((2, 3)).record
    thread = threading.Thread(target=lambda: made.append(allocate(table, prototype)))
    thread.start()
    thread.join(PATIENCE)
    demand(made, "a deadlock, or an exception")
    rc, handed, said = made[0]
    demand(rc == 0 and handed is not None and not said, f"status {rc}: {said}")
    record = handed.managed.tensor
    seen = record.dims(), record.dtype_triple(), record.device_pair(), bool(record.data)
    delete(handed.managed)
    demand(seen == ((2, 3), (2, 32, 1), (1, 0), True), seen)


def failure(s: Subject) -> tuple[int, int | None, list[tuple[str, str]]]:
    rc, handed, said = allocate(s.table, Managed(dtype=(99, 8, 1)).record)
    return rc, handed.address if handed else None, said


@rule("R57", "an allocation that fails is told once, by SetError, with status -1")
def allocation_error(s: Subject) -> None:
    rc, _, said = failure(s)
    demand(rc == -1 and len(said) == 1, f"status {rc}, told {len(said)} times")


@rule("R57", "an allocation that fails leaves NULL")
def allocation_out(s: Subject) -> None:
    _, address, _ = failure(s)
    demand(address is None, "the output as it was" if address == UNTOUCHED else "a tensor")


# ---- current_work_stream ----


@rule("R58", "the CPU has no stream: status 0, and NULL")
def stream(s: Subject) -> None:
    out = c_void_p(UNTOUCHED)
    rc = CurrentStream(s.table.current_stream)(1, 0, byref(out))
    demand(rc == 0 and not out.value, f"status {rc}, {out.value}")
