"""The reference of reference.py with one defect at a time, and the check of godlpack.testing that must find it.

A row has a name, the check that must fail (others may fail, too), and the steps that are replaced. Replaced steps call
the correct ones as Array.answer, Consumer.ask and so on.
"""

import ctypes
import json
import threading
import time
from ctypes import c_void_p
from dataclasses import dataclass

from godlpack.testing import check_consumer, check_producer, check_table, consumer, isolation, producer, table
from godlpack.testing.peers import Nothing
from godlpack.testing.records import (
    OLD_TABLE_NAME,
    READ_ONLY,
    TABLE_NAME,
    Deleter,
    Legacy,
    ManagedFromPy,
    Record,
    SetError,
    Table,
    Version,
    Versioned,
    compact,
    delete,
    managed_in,
    table_at,
    take,
)
from godlpack.testing.report import Checks
from helpers.reference import (
    CPU,
    CUDA,
    NAMES,
    ROCM,
    Array,
    Consumer,
    Holder,
    Publisher,
    address_of,
    c,
    keep,
    libc,
    new_capsule,
)


@dataclass(frozen=True)
class Defect:
    """A defect, the check that must find it, and the steps that are replaced."""

    name: str
    found_by: str
    steps: dict


def defect(name, found_by, /, **steps):
    return Defect(name, found_by, steps)


def field_of(path, value):
    """A final step that sets a field of the managed tensor, such as "tensor.ndim"."""

    def finish(self, managed, *_):
        *parts, last = path.split(".")
        for part in parts:
            managed = getattr(managed, part, managed)
        if hasattr(managed, last):
            setattr(managed, last, value)

    return finish


# ---- producers ----


def positional(self, stream=None, max_version=None, dl_device=None, copy=None):
    return self.answer(stream, max_version, dl_device, copy)


def any_keyword(self, *, stream=None, max_version=None, dl_device=None, copy=None, **_):
    return self.answer(stream, max_version, dl_device, copy)


def raising(error, when):
    """An answer that raises for some arguments."""

    def answer(self, stream, max_version, dl_device, copy):
        if when(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy):
            raise error("no")
        return Array.answer(self, stream, max_version, dl_device, copy)

    return answer


def echoes_version(self, managed, max_version):
    if isinstance(managed, Versioned):
        managed.version = Version(*(part & 0xFFFF for part in max_version))


def fleeting_name(self, managed):
    """A name that is freed at once."""
    name = ctypes.create_string_buffer(Array.name(self, managed))
    return ctypes.c_char_p(ctypes.addressof(name))


def same_capsule_content(self, versioned, flags):
    if not hasattr(self, "cached"):
        self.cached = {}
    if versioned not in self.cached:
        self.cached[versioned] = keep(Array.managed(self, versioned, flags))
    return self.cached[versioned]


def shared_shape(self, record, room):
    """Shape and strides are in the object, and every deletion writes over them."""
    Array.fill(self, record, room)
    if self.shape:
        self.room = getattr(self, "room", None) or ctypes.create_string_buffer(16 * len(self.shape))
        Array.fill(self, record, ctypes.addressof(self.room))


@Deleter
def spoils_shape(address):
    managed = Versioned.from_address(address)
    if managed.tensor.ndim:
        managed.tensor.shape[0] = -1


@Deleter
def sleeps_elsewhere(address):
    if threading.current_thread() is not threading.main_thread():
        time.sleep(5)


def spoilt_at_the_end(self):
    if isinstance(self.owner, ctypes.Array):
        ctypes.memset(self.owner, 0xEE, ctypes.sizeof(self.owner))


def shape_of_the_object(self, record, room):
    """Shape and strides belong to the object, and are freed with it."""
    Array.fill(self, record, room)
    if self.shape:
        self.room = libc.malloc(16 * len(self.shape))
        Array.fill(self, record, self.room)


def frees_room(self):
    if getattr(self, "room", None):
        (ctypes.c_int64 * 1).from_address(self.room)[0] = -1


def holds_nothing(self, managed):
    managed.manager_ctx = None


def holds_twice(self, managed):
    Array.hold(self, managed)
    Array.hold(self, managed)


def leaks_what_it_refuses(self, device):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
    Array.check_device(self, device)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(self))


def resizes(self, size):
    ctypes.memset(self.owner, 0xEE, ctypes.sizeof(self.owner))


def in_bytes(self, record, room):
    Array.fill(self, record, room)
    for i in range(record.ndim):
        record.strides[i] *= self.triple[1] // 8


def compact_strides(self, record, room):
    Array.fill(self, record, room)
    for i, step in enumerate(compact(self.shape)):
        record.strides[i] = step


def shifted(self, record, room):
    Array.fill(self, record, room)
    record.byte_offset = 4 if self.size else 0


def with_data(self, record, room):
    Array.fill(self, record, room)
    record.data = self.address


def squeezed(self, record, room):
    Array.fill(self, record, room)
    record.ndim -= record.ndim > 1


def legacy_struct_by_versioned_name(self, managed):
    return NAMES["dltensor_versioned"]


def versioned_struct_always(self, versioned, flags):
    return Array.managed(self, True, flags)


def dltensor_always(self, managed):
    return NAMES["dltensor"]


def answers(**replaced):
    """An answer that ignores some of its arguments."""

    def answer(self, stream, max_version, dl_device, copy):
        arguments = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return Array.answer(self, **{**arguments, **replaced})

    return answer


def nothing(*_):
    """Replaces a check and does nothing."""


def kind_of_dtype(code=None, bits=None, lanes=None, when=lambda triple: True):
    def fill(self, record, room):
        Array.fill(self, record, room)
        if when(self.triple):
            record.dtype.code = record.dtype.code if code is None else code
            record.dtype.bits = record.dtype.bits if bits is None else bits
            record.dtype.lanes = record.dtype.lanes if lanes is None else lanes

    return fill


def is_bool(triple):
    return triple[0] == 6


def is_float8(triple):
    return triple[0] == 12


def copies_nothing(self):
    """A copy of the right size with wrong values."""
    other = type(self)(self.shape, self.triple, strides=self.strides, device=self.device)
    ctypes.memset(other.owner, 0, ctypes.sizeof(other.owner))
    return other


PRODUCERS = [
    defect("arguments by position", "R1 keyword_only", __dlpack__=positional),
    defect("any keyword", "R2 unknown_keyword", __dlpack__=any_keyword),
    defect("TypeError for copy=True", "R3 no_type_error",
           answer=raising(TypeError, lambda copy, **_: copy)),
    defect("TypeError for a stream", "R3 no_type_error", answer=raising(TypeError, lambda stream, **_: stream == 1)),
    defect("TypeError for a device", "R3 no_type_error",
           answer=raising(TypeError, lambda dl_device, **_: dl_device == (99, 0))),
    defect("ValueError for a legacy capsule", "R4 legacy",
           answer=raising(ValueError, lambda max_version, **_: max_version is None)),
    defect("versioned where legacy was asked for", "R4 legacy", speaks_versioned=lambda self, version: True,
           check_legacy=nothing),
    defect("versioned for version 0.8", "R4 legacy", speaks_versioned=lambda self, version: version is not None),
    defect("a versioned struct by the legacy name", "R4 legacy_content",
           managed=versioned_struct_always, name=dltensor_always, check_legacy=nothing),
    defect("legacy where versioned was asked for", "R5 versioned", speaks_versioned=lambda self, version: False),
    defect("legacy for minor versions that it lacks", "R5 versioned",
           speaks_versioned=lambda self, version: version is not None and version[0] + version[1] != 4),
    defect("stamped with version 2", "R5 versioned", finish=field_of("version.major", 2)),
    defect("stamped with version 0", "R5 versioned", finish=field_of("version.major", 0)),
    defect("flags that nobody set to 0", "R5 flags", finish=field_of("flags", 0xEE00)),
    defect("the version that was asked for", "R6 version_to_come", finish=echoes_version),
    defect("legacy for versions to come", "R6 version_to_come", speaks_versioned=lambda self, v: v is not None and v[0] == 1),
    defect("any max_version", "R7 malformed_version",
           check_version=nothing, speaks_versioned=lambda self, v: isinstance(v, tuple) and v[0] >= 1),
    defect("max_version of three", "R7 malformed_version",
           check_version=lambda self, v: None if isinstance(v, tuple) and len(v) == 3 else Array.check_version(self, v)),
    defect("a capsule of another name", "R8 names", name=lambda self, managed: NAMES["tensor"]),
    defect("a capsule of the other name", "R4 legacy", name=legacy_struct_by_versioned_name),
    defect("a name that is freed", "R8 names", name=fleeting_name),
    defect("a capsule without destructor", "R9 unconsumed", destroy=None),
    defect("a destructor that deletes twice", "R9 unconsumed", destroy="destroy_twice"),
    defect("a destructor that deletes what was taken", "R9 consumed", destroy="destroy_used_ones_too"),
    defect("a shape that goes with the capsule", "R9 consumed", destroy="destroy_the_shape"),
    defect("a destructor that leaves an exception", "R9 consumed", destroy="destroy_with_an_exception"),
    defect("a destructor that forgets exceptions", "R9 exception_in_flight", destroy="destroy_and_forget_exceptions"),
    defect("the same managed tensor twice", "R10 fresh", managed=same_capsule_content, delete="delete_nothing"),
    defect("a shape that exports share", "R10 fresh", fill=shared_shape, delete=spoils_shape),
    defect("a reference that stays", "R11 references", hold=holds_twice),
    defect("a deleter that keeps the owner", "R11 references", delete="delete_but_keep_the_owner"),
    defect("a destructor that frees, and calls no deleter", "R11 references_of_capsules", destroy="destroy_without_the_deleter"),
    defect("a refusal that keeps the object", "R11 references_of_refusals", check_device=leaks_what_it_refuses),
    defect("a managed tensor that is not freed", "R11 memory", delete="delete_but_keep_the_block"),
    defect("a deleter that needs the GIL", "R12 without_gil", delete="delete_without_the_gil"),
    defect("a deleter that deadlocks on other threads", "R12 other_thread", delete=sleeps_elsewhere),
    defect("a deleter that needs a thread of Python's", "R12 foreign_thread", delete="delete_on_threads_of_python"),
    defect("a deleter that needs Python", "R12 after_the_end", delete="delete_after_the_end"),
    defect("no deleter", "R13 deleter", delete=None),
    defect("no strides", "R14 strides", finish=field_of("tensor.strides", None)),
    defect("data where there are no elements", "R15 no_data", fill=with_data),
    defect("one dimension less", "R17 shape", fill=squeezed),
    defect("a negative extent", "R17 shape", finish=lambda self, m, _: self.shape and setattr(m.tensor, "ndim", 65)),
    defect("strides in bytes", "R17 own_strides", fill=in_bytes),
    defect("strides of row-major order for all", "R17 own_strides", fill=compact_strides),
    defect("data one element on", "R17 own_address", fill=shifted),
    defect("what DLPack cannot describe, as bytes", "R19 refused", refuses=nothing),
    defect("ValueError for what DLPack cannot describe", "R19 refused", refuses=lambda self: wrong(ValueError)),
    defect("a code that DLPack has not", "R20 dtype", fill=kind_of_dtype(code=99)),
    defect("no lanes", "R20 dtype", fill=kind_of_dtype(lanes=0)),
    defect("bool of 1 bit", "R20 dtype", fill=kind_of_dtype(bits=1, when=is_bool)),
    defect("bool as uint8", "R20 own_dtype", fill=kind_of_dtype(code=1, when=is_bool)),
    defect("float32 of 64 bits", "R20 own_dtype", fill=kind_of_dtype(bits=64, when=lambda triple: triple[0] == 2)),
    defect("two lanes", "R20 own_dtype", fill=kind_of_dtype(lanes=2)),
    defect("float8 of 16 bits", "R21 small_floats", fill=kind_of_dtype(bits=16, when=is_float8)),
    defect("padded elements of whole bytes", "R21 padded", finish=field_of("flags", 4)),
    defect("READ_ONLY dropped", "R23 read_only", flags=lambda self, copied: 2 * copied),
    defect("READ_ONLY dropped by an object that does not say it", "R23 read_only",
           flags=lambda self, copied: 2 * copied, __array_interface__=None),
    defect("read-only memory by a legacy capsule", "R23 read_only", check_legacy=nothing),
    defect("copies that are not marked", "R24 copy_is_marked", flags=lambda self, copied: READ_ONLY * self.read_only),
    defect("all marked as copies", "R24 no_copy_is_marked", flags=lambda self, copied: READ_ONLY * self.read_only | 2),
    defect("copy=True ignored", "R25 copy", copies=lambda self, copy: False),
    defect("copy=True ignored, and marked", "R25 copy", copied=lambda self: Shared(self)),
    defect("a copy of other values", "R25 copy", copied=copies_nothing),
    defect("copy=False copies", "R25 no_copy", copies=lambda self, copy: copy is not None),
    defect("always a copy", "R25 no_copy",
           copies=lambda self, copy: True),
    defect("a copy unless it is forbidden", "R25 no_copy", copies=lambda self, copy: copy is not False),
    defect("the own device refused", "R26 own_device",
           answer=raising(BufferError, lambda dl_device, **_: dl_device == (CPU, 0))),
    defect("ValueError for a device that is not there", "R26 unknown_device",
           answer=raising(ValueError, lambda dl_device, **_: dl_device == (99, 0))),
    defect("dl_device ignored", "R26 unknown_device", check_device=nothing),
    defect("CUDA promised", "R26 other_device",
           check_device=lambda self, device: None if device == (CUDA, 0) else Array.check_device(self, device)),
    defect("a stream that must be there", "R27 no_stream",
           answer=raising(ValueError, lambda stream, **_: stream is None)),
    defect("streams of the CPU", "R27 stream_of_the_cpu", check_stream=nothing),
    defect("streams of the CPU by dl_device", "R29 stream_of_dl_device",
           answer=lambda self, stream, v, d, copy: Array.answer(self, None if d else stream, v, d, copy)),
    defect("a device of one int", "R30 device",
           __dlpack_device__=lambda self: CPU),
    defect("another device by the method", "R30 device", __dlpack_device__=lambda self: (CUDA, 0)),
    defect("another device in the record", "R30 device", finish=field_of("tensor.device.type", CUDA)),
    defect("a second CPU", "R30 device_number", finish=field_of("tensor.device.id", 1)),
    defect("no __dlpack_device__", "R30 device", __dlpack_device__=None),
    defect("memory that goes with the object", "R32 outlives", hold=holds_nothing, __del__=spoilt_at_the_end),
    defect("a shape that goes with the object", "R32 outlives", fill=shape_of_the_object, hold=holds_nothing, __del__=frees_room),
    defect("memory that is resized while it is exported", "R32 resized", resize=resizes),
    defect("no memory", "R41 data", fill=lambda self, r, room: (Array.fill(self, r, room), setattr(r, "data", None))),
    defect("values that are still to be negated", "R65 values", tolist=lambda self: [-1.0]),
]  # fmt: skip

CUDA_PRODUCERS = [
    defect("stream=0 on CUDA", "R28 no_stream_of_cuda", check_stream=nothing),
    defect("stream=1 refused on CUDA", "R28 streams_of_cuda", answer=raising(ValueError, lambda stream, **_: stream == 1)),
    defect("stream=-1 refused on CUDA", "R28 streams_of_cuda", answer=raising(ValueError, lambda stream, **_: stream == -1)),
    defect("dl_device ignored on CUDA", "R26 other_device", check_device=nothing),
]  # fmt: skip

ROCM_PRODUCERS = [
    defect("streams of CUDA on ROCm", "R28 no_stream_of_rocm",
           check_stream=lambda self, stream, device: Array.check_stream(self, stream, (CUDA, 0))),
    defect("stream=0 refused on ROCm", "R28 streams_of_rocm",
           answer=raising(ValueError, lambda stream, **_: stream == 0)),
    defect("stream=2 on ROCm", "R28 no_stream_of_rocm",
           check_stream=lambda self, stream, device: stream == 2 or Array.check_stream(self, stream, device)),
]  # fmt: skip


def wrong(error):
    raise error("no")


class Shared(Array):
    """A claimed copy that shares the memory."""

    def __init__(self, array):
        super().__init__(array.shape, array.triple, strides=array.strides, address=array.address, owner=array)


class Odd:
    """An array that DLPack cannot describe, such as one of another byte order."""

    def answer(self, *arguments):
        self.refuses()
        return super().answer(*arguments)

    def refuses(self):
        raise BufferError("DLPack has no other byte orders")


# ---- consumers ----


def asking(*calls):
    """Tries calls of __dlpack__ in turn until one does not raise."""

    def ask(self, x, copy):
        for call in calls:
            try:
                return call(x)
            except Exception as caught:
                error = caught
        raise error

    return ask


def renames(name):
    def take_by(self, capsule):
        managed = managed_in(capsule)
        rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_SetName", ctypes.pythonapi)
        )
        if name:
            rename(capsule, name)
        return managed

    return take_by


def takes_first(self, x, copy):
    """Renames the capsule before it checks the tensor."""
    managed = take(self.ask(x, copy))
    self.check(managed)
    return managed


def deletes_what_it_refuses(self, x, copy):
    capsule = self.ask(x, copy)
    managed = managed_in(capsule)
    try:
        self.check(managed)
    except BufferError:
        delete(managed)
        raise
    return take(capsule)


def capsules_without_a_look(self, x, copy):
    capsule = self.ask(x, copy)
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError("no capsule")
    pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_void_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    name = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))(capsule)
    kind = Legacy if ctypes.string_at(name) in (b"dltensor", b"used_dltensor") else Versioned
    managed = kind.from_address(pointer(capsule, name))
    self.check(managed)
    return take(capsule) if ctypes.string_at(name) in (b"dltensor", b"dltensor_versioned") else managed


def with_fields(**fields):
    """Makes the array with other attributes."""

    def made(self, managed, owner):
        array = Consumer.made(self, managed, owner)
        for name, value in fields.items():
            setattr(array, name, value(array) if callable(value) else value)
        return array

    return made


def reads_first(self, managed):
    """Reads the first element before the version."""
    if managed.tensor.data:
        ctypes.c_float.from_address(managed.tensor.data).value  # noqa: B018
    Consumer.check_major(self, managed)


def reads_shape(self, record):
    """Reads the first extent before it checks the shape."""
    if record.ndim:
        ctypes.c_int64.from_address(ctypes.cast(record.shape, c_void_p).value or 0).value  # noqa: B018
    Consumer.check_shape(self, record)


def refusing(step, when):
    """A check that also refuses valid input."""

    def check(self, thing):
        getattr(Consumer, step)(self, thing)
        if when(thing):
            raise BufferError("no")

    return check


def except_for(step, when):
    """A check that accepts some invalid input."""

    def check(self, thing):
        if not when(thing):
            getattr(Consumer, step)(self, thing)

    return check


def deletes_at_once(self, managed):
    made = self.made(managed, Holder(managed, nothing))
    delete(managed)
    return made


def holds_in_another(self, managed):
    """Only the first object holds the memory; its exports do not."""
    made = self.made(managed, None)
    made.holder = Holder(managed)
    made.hold = lambda managed: setattr(managed, "manager_ctx", None)
    return made


def by_instance(self, x):
    table = getattr(x, TABLE_NAME, None)
    if table is not None and not isinstance(x, type):
        x = type("Other", (), {TABLE_NAME: table, "taken": 0})()
    return Consumer.table_of(self, x)


def no_ints(self, x):
    if isinstance(getattr(type(x), OLD_TABLE_NAME, None), int):
        raise TypeError("want a capsule, got an int")
    return Consumer.table_of(self, x)


def by_first_class(self, x):
    """Uses the table of the base class."""
    bases = [cls for cls in type(x).__mro__ if TABLE_NAME in vars(cls) or OLD_TABLE_NAME in vars(cls)]
    if not bases:
        return None
    first = bases[-1]
    return Consumer.table_of(self, first.__new__(first))


def believes_table(self, x):
    """Passes on the exception of a table."""
    table, out = self.table_of(x), c_void_p()
    if not table:
        return 0
    if ManagedFromPy(table.managed_from_py)(x, ctypes.byref(out)) != 0:
        return 0
    return out.value or 0


def believes_status(self, x):
    """Takes status 0 for success without a check of the output."""
    table, out = self.table_of(x), c_void_p(0x10)
    try:
        if not table or ManagedFromPy(table.managed_from_py)(x, ctypes.byref(out)) != 0:
            return 0
    except Exception:
        return 0
    return out.value or 0x10


def unchecked_by_table(self, x):
    address = self.export_by_table(x)
    return Versioned.from_address(address) if address else None


def leaks_by_table(self, x):
    address = self.export_by_table(x)
    if not address:
        return None
    managed = Versioned.from_address(address)
    self.check(managed)
    return managed


def forgets_read_only_by_table(self, x):
    managed = Consumer.by_table(self, x)
    if managed is not None:
        managed.flags = 0
    return managed


leaked = []


def leaks_producer(self, x, copy):
    leaked.append(x)
    return Consumer.ask(self, x, copy)


def leaks_capsule(self, capsule):
    leaked.append(capsule)
    return take(capsule)


def ignores_copy(self, made, managed):
    return made


def wants_reason(self, x):
    """Wraps the producer's exceptions."""
    try:
        return Consumer.__call__(self, x)
    except (BufferError, ValueError, ZeroDivisionError) as error:
        raise RuntimeError(str(error)) from error


def stranger_is_refused_by(error):
    def call(self, x, *, copy=None):
        if not hasattr(x, "__dlpack__"):
            raise error("no producer")
        return Consumer.__call__(self, x, copy=copy)

    return call


def strides_or(other):
    def made(self, managed, owner):
        array = Consumer.made(self, managed, owner)
        array.strides = other(managed.tensor, array)
        return array

    return made


CONSUMERS = [
    defect("an object for anything", "R31 no_producer",
           __call__=lambda self, x, *, copy=None: Array() if isinstance(x, Nothing) else Consumer.__call__(self, x, copy=copy)),
    defect("RuntimeError for what is no producer", "R31 no_producer", __call__=stranger_is_refused_by(RuntimeError)),
    defect("legacy capsules first", "R33 max_version", ask=asking(lambda x: x.__dlpack__())),
    defect("max_version as an int", "R33 max_version", ask=asking(lambda x: x.__dlpack__(max_version=1))),
    defect("max_version of version 2", "R33 max_version", ask=asking(lambda x: x.__dlpack__(max_version=(2, 0)))),
    defect("no second call for older producers", "R33 old_producer", ask=asking(lambda x: x.__dlpack__(max_version=(1, 3)))),
    defect("a stream for the CPU", "R33 no_stream", ask=asking(lambda x: x.__dlpack__(max_version=(1, 3), stream=1))),
    defect("the version ignored", "R34 next_major", check_major=nothing),
    defect("the version looked at last", "R34 next_major_unread", check_major=reads_first),
    defect("version 0 taken", "R34 major_zero", check_major=except_for("check_major", lambda m: m.version.major == 0)),
    defect("higher majors taken", "R34 next_major",
           check_major=except_for("check_major", lambda m: m.version.major > 1)),
    defect("higher minors refused", "R35 next_minor", check_major=refusing("check_major", lambda m: m.version.minor > 3)),
    defect("lower minors refused", "R35 first_minor", check_major=refusing("check_major", lambda m: m.version.minor < 3)),
    defect("unknown flags refused", "R35 unknown_flags", check_flags=refusing("check_flags", lambda m: m.flags > 7)),
    defect("unknown codes taken", "R35 unknown_dtype",
           check_dtype=except_for("check_dtype", lambda r: r.dtype.code == 99)),
    defect("unknown bits taken", "R35 unknown_bits", check_dtype=except_for("check_dtype", lambda r: r.dtype.bits in (24, 0))),
    defect("memory given back at once", "R36 ownership", own=deletes_at_once),
    defect("deleted twice", "R36 ownership", release=lambda self, m: (delete(m), delete(m))),
    defect("never deleted", "R36 ownership", release=nothing),
    defect("a capsule that is not renamed", "R36 ownership", take=renames(None)),
    defect("a capsule that is renamed at will", "R36 ownership", take=renames(NAMES["tensor"])),
    defect("used_dltensor for all", "R36 used_name", take=renames(keep(b"used_dltensor"))),
    defect("exports that hold nothing", "R36 held_by_exports", own=holds_in_another),
    defect("a reference to the producer", "R36 references", ask=leaks_producer),
    defect("a reference to the capsule", "R36 references", take=leaks_capsule),
    defect("no deletion without manager_ctx", "R36 no_context", release=lambda self, m: delete(m) if m.manager_ctx else None),
    defect("no deletion by manager_ctx", "R36 ownership", release=lambda self, m: Deleter(m.deleter)(m.manager_ctx)),
    defect("a deleter of NULL called", "R36 no_deleter", release=lambda self, m: Deleter(m.deleter or 0)(ctypes.addressof(m))),
    defect("renamed before it is looked at", "R37 refusal", by_method=takes_first),
    defect("deleted in its live capsule", "R37 refusal", by_method=deletes_what_it_refuses),
    defect("used capsules taken", "R38 used_capsule", by_method=capsules_without_a_look),
    defect("capsules of any name", "R38 no_capsule", by_method=capsules_without_a_look),
    defect("byte_offset ignored", "R39 byte_offset", start=lambda self, r: r.data),
    defect("byte_offset in elements", "R39 byte_offset", start=lambda self, r: (r.data or 0) + 4 * r.byte_offset),
    defect("strides of NULL read", "R40 no_strides",
           check_shape=lambda self, r: [r.strides[i] for i in range(r.ndim)] and Consumer.check_shape(self, r)),
    defect("strides of NULL refused", "R40 no_strides", check_data=refusing("check_data", lambda r: r.ndim and not r.strides)),
    defect("shape of NULL refused", "R40 no_shape", check_shape=refusing("check_shape", lambda r: not r.shape)),
    defect("strides that mean nothing refused", "R40 odd_strides", check_data=refusing("check_data", lambda r: 77 in r.steps())),
    defect("strides of empty tensors refused", "R40 odd_strides_of_empty",
           check_data=refusing("check_data", lambda r: not r.size() and r.steps() == (0, 0))),
    defect("NULL refused of empty tensors", "R41 empty", check_data=refusing("check_data", lambda r: not r.data)),
    defect("data of empty tensors read", "R41 dangling", check_data=lambda self, r: r.data and ctypes.c_float.from_address(r.data).value),
    defect("NULL taken", "R41 no_memory", check_data=nothing),
    defect("negative ndim taken", "R42 negative_ndim", check_ndim=except_for("check_ndim", lambda r: r.ndim < 0)),
    defect("shape of NULL read", "R42 missing_shape", check_shape=reads_shape),
    defect("many dimensions read as 64", "R42 many_dimensions",
           check_ndim=lambda self, r: setattr(r, "ndim", min(r.ndim, 64)) or Consumer.check_ndim(self, r),
           made=lambda self, m, owner: wrong(SystemExit) if m.tensor.ndim > 63 else Consumer.made(self, m, owner)),
    defect("negative extents taken", "R42 negative_extent", check_extents=nothing),
    defect("products taken that overflow", "R42 overflow",
           check_extents=except_for("check_extents", lambda r: all(n >= 0 for n in r.dims()))),
    defect("negative strides taken for positive", "R42 negative_strides", made=strides_or(lambda r, a: tuple(map(abs, a.strides)))),
    defect("overlaps pulled apart", "R42 overlap",
           made=strides_or(lambda r, a: (2, 1) if a.strides == (1, 1) and a.shape == (2, 2) else a.strides)),
    defect("a stride of 0 taken for 1", "R42 overlap", made=strides_or(lambda r, a: tuple(s or 1 for s in a.strides))),
    defect("strides ignored", "R42 gaps", made=strides_or(lambda r, a: compact(a.shape))),
    defect("misaligned data pulled straight", "R42 misaligned", start=lambda self, r: r.address() // 4 * 4),
    defect("READ_ONLY ignored", "R43 read_only", made=with_fields(read_only=False)),
    defect("bool read bit by bit", "R45 bool_bytes",
           made=lambda self, m, owner: lowest_bits(Consumer.made(self, m, owner))),
    defect("packed elements taken for bytes", "R21 packed",
           check_dtype=except_for("check_dtype", lambda r: r.dtype.bits < 8),
           made=with_fields(triple=lambda a: (a.triple[0], max(a.triple[1], 8), a.triple[2]))),
    defect("padded elements taken for packed", "R21 padded",
           check_dtype=except_for("check_dtype", lambda r: r.dtype.bits == 4)),
    defect("lanes ignored", "R46 lanes", check_dtype=except_for("check_dtype", lambda r: r.dtype.lanes == 4),
           made=with_fields(triple=lambda a: (*a.triple[:2], 1))),
    defect("no lanes taken", "R46 no_lanes", check_dtype=except_for("check_dtype", lambda r: r.dtype.lanes == 0)),
    defect("copy=True left to the producer", "R47 copy", copied=ignores_copy),
    defect("copy=True of other values", "R47 copy", copied=lambda self, made, m: Array((3,), strides=(2,))),
    defect("copy=False copies", "R47 no_copy",
           __call__=lambda self, x, *, copy=None: Consumer.__call__(self, x, copy=True if copy is False else copy)),
    defect("unknown devices taken", "R48 unknown_device", check_device=nothing),
    defect("the producer's exceptions in another", "R49 exception", __call__=wants_reason),
    defect("BufferError swallowed, and asked again", "R49 exception",
           ask=asking(lambda x: x.__dlpack__(max_version=(1, 3)), lambda x: x.__dlpack__())),
    defect("asked twice", "R49 asked_once", ask=lambda self, x, copy: Consumer.ask(self, x, copy) and Consumer.ask(self, x, copy)),
    defect("what comes by a table is not checked", "R61 bad_tensor_by_table", by_table=unchecked_by_table),
    defect("what is refused by a table is kept", "R61 bad_tensor_by_table", by_table=leaks_by_table),
    defect("READ_ONLY of a table ignored", "R61 read_only_by_table", by_table=forgets_read_only_by_table),
    defect("the table of an object", "R62 table_of_instance", table_of=by_instance),
    defect("the table of the base class", "R63 table_of_subclass", table_of=by_first_class),
    defect("tables of any version", "R64 next_table", fitting=lambda self, table: table, export_by_table=believes_table),
    defect("TypeError for a table that is an int", "R64 table_as_int", table_of=no_ints),
    defect("any int for a table", "R64 no_table", table_of=lambda self, x: any_table(x)),
    defect("the exception of a table let through", "R67 failing_table", export_by_table=believes_table),
    defect("NULL of a table taken", "R67 odd_table", export_by_table=believes_status),
]  # fmt: skip


def lowest_bits(array):
    if array.triple == (6, 8, 1):
        bits = bytes(b & 1 for b in ctypes.string_at(array.address, array.size))
        array.owner, array.kept = keep(ctypes.create_string_buffer(bits)), array.owner
        array.address = ctypes.addressof(array.owner)
    return array


def any_table(x):
    for name in (TABLE_NAME, OLD_TABLE_NAME):
        value = getattr(type(x), name, None)
        if isinstance(value, int):
            return Table.from_address(value)
        if value is not None:
            return table_at(value)
    return None


# ---- tables ----


def global_of(name, value):
    """A table whose slots in C return another status, or keep no exception."""

    def new_table(self):
        table = Publisher.new_table(self)
        ctypes.c_int.in_dll(c, name).value = value
        return table

    return new_table


def changes_itself(self, x, out):
    self.table.version.minor += 1
    return Publisher.from_py(self, x, out)


def another_address(self, name):
    if name == OLD_TABLE_NAME:
        return ctypes.addressof(keep(Table.from_buffer_copy(self.table)))
    return Publisher.attribute(self, name)


def previous(*versions):
    """A table that links to older ones."""

    def new_table(self):
        table = first = Publisher.new_table(self)
        for version in versions:
            older = keep(Table.from_buffer_copy(first))
            older.version, older.prev = Version(*version), None
            table.prev = ctypes.addressof(older)
            table = older
        return first

    return new_table


def leads_to_itself(self):
    table = Publisher.new_table(self)
    table.prev = ctypes.addressof(table)
    return table


def frees_what_it_refuses(self, address, out):
    try:
        return Publisher.to_py(self, address, out)
    except BufferError:
        delete(Versioned.from_address(address))
        raise


def leaks_object(self, address, out):
    status = Publisher.to_py(self, address, out)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(ctypes.cast(c_void_p.from_address(out).value, ctypes.py_object).value))
    return status


def copies_elements(self, address, out):
    """Makes a new object, and never deletes the tensor."""
    made = self.type((2, 3))
    self.consumer.check(Versioned.from_address(address))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    c_void_p.from_address(out).value = id(made)
    return 0


def lends_and_holds(self, x, out):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(ctypes.cast(x, ctypes.py_object).value))
    return Publisher.record_from_py(self, x, out)


def lends_nothing(self, x, out):
    self.check_type(ctypes.cast(x, ctypes.py_object).value)
    self.check_lending(ctypes.cast(x, ctypes.py_object).value)
    return 0


def lends_other_strides(self, x, out):
    status = Publisher.record_from_py(self, x, out)
    record = Record.from_address(out)
    record.strides[0] += 1
    return status


def tells(times, kind=b"BufferError", message=b"no", clears=True, status=-1):
    def fails(self, out, context, set_error, _):
        if clears:
            out[0] = None
        for _ in range(times):
            SetError(ctypes.cast(set_error, c_void_p).value)(context, kind, message)
        return status

    return fails


def allocator_in_c(name):
    """An allocator written in C."""

    def allocator(self):
        right = Publisher.allocator(self)
        c_void_p.in_dll(c, "allocate").value = address_of(right)
        return name

    return allocator


def reads_prototype(self, prototype, out, context, set_error):
    """Relies on the strides and the data of the prototype."""
    if prototype.contents.data:
        return self.fails(out, context, set_error, b"want a prototype without data")
    return Publisher.allocate(self, prototype, out, context, set_error)


def strided(self, managed):
    for i in range(managed.tensor.ndim):
        managed.tensor.strides[i] = 2


def has_stream(self, kind, number, out):
    out[0] = 7
    return 0


def no_answer(self, kind, number, out):
    return 0


def taking(**steps):
    """A table that imports tensors as a consumer with a defect does."""

    def to_py(self, address, out):
        self.consumer = type("Careless", (Consumer,), steps)()
        return Publisher.to_py(self, address, out)

    return to_py


TABLES = [
    defect("the same managed tensor twice", "R10 fresh", methods=lambda self: {"managed": same_capsule_content, "delete": "delete_nothing"}),
    defect("an export that holds twice", "R11 references", methods=lambda self: {"hold": holds_twice}),
    defect("an export that is not freed", "R11 memory", methods=lambda self: {"delete": "delete_but_keep_the_block"}),
    defect("a deleter that deadlocks", "R12 other_thread", methods=lambda self: {"delete": sleeps_elsewhere}),
    defect("no deleter", "R13 deleter", finish=field_of("deleter", None)),
    defect("no strides", "R14 strides", finish=field_of("tensor.strides", None)),
    defect("byte_offset ignored", "R39 byte_offset", to_py=taking(start=lambda self, r: r.data)),
    defect("strides ignored", "R40 layout", to_py=taking(made=strides_or(lambda r, a: compact(a.shape)))),
    defect("NULL taken", "R41 no_memory", to_py=taking(check_data=nothing)),
    defect("read-only memory lent", "R43 read_only_borrow", check_lending=nothing),
    defect("published as an int", "R50 published",
           attribute=lambda self, name: ctypes.addressof(self.table)),
    defect("a capsule of another name", "R50 published",
           attribute=lambda self, name: capsule_named(self, "tensor")),
    defect("two tables", "R50 published_before", attribute=another_address),
    defect("no __dlpack__", "R51 method", methods=lambda self: {"__dlpack__": None}),
    defect("another tensor than by __dlpack__", "R51 method", finish=field_of("tensor.byte_offset", 4)),
    defect("READ_ONLY dropped", "R61 read_only_again", finish=field_of("flags", 0)),
    defect("a table that changes", "R52 static", from_py=changes_itself),
    defect("no allocator", "R53 complete", missing=("allocator",)),
    defect("no current_work_stream", "R53 complete", missing=("current_stream",)),
    defect("a table of version 2 alone", "R53 version", version=(2, 0)),
    defect("newer tables behind older ones", "R53 older", new_table=previous((2, 0))),
    defect("a table that leads to itself", "R53 older", new_table=leads_to_itself),
    defect("exports of version 2", "R54 export", finish=field_of("version.major", 2)),
    defect("exports without memory", "R54 export", finish=field_of("tensor.data", None)),
    defect("an exception with status 0", "R54 stranger", new_table=global_of("failure", 0)),
    defect("status -1 without an exception", "R54 stranger", new_table=global_of("keeps_exception", 0)),
    defect("strangers exported", "R54 stranger",
           from_py=lambda self, x, out: Publisher.from_py(self, id(keep(self.sample())), out)),
    defect("an empty record lent", "R55 borrow", record_from_py=lends_nothing),
    defect("other strides lent", "R55 borrow", record_from_py=lends_other_strides),
    defect("a record lent with a reference", "R55 references_of_borrows", record_from_py=lends_and_holds),
    defect("strangers lent", "R55 borrowed_stranger",
           record_from_py=lambda self, x, out: 0),
    defect("a tensor that is not stolen", "R56 steals", to_py=copies_elements),
    defect("an object that never goes", "R56 steals", to_py=leaks_object),
    defect("deleted twice", "R56 steals", to_py=taking(release=lambda self, m: (delete(m), delete(m)))),
    defect("refused tensors deleted", "R56 refuses", to_py=frees_what_it_refuses),
    defect("any dtype taken", "R56 refuses", to_py=taking(check_dtype=nothing)),
    defect("an allocator that needs the GIL", "R57 allocator", allocator=allocator_in_c("allocate_without_the_gil")),
    defect("an allocator that reads the data", "R57 allocator", allocate=reads_prototype),
    defect("an allocation of a second CPU", "R57 allocator", finish_allocated=field_of("tensor.device.id", 1)),
    defect("an allocation without deleter", "R57 allocated", finish_allocated=field_of("deleter", None)),
    defect("an allocation without strides", "R57 allocated", finish_allocated=field_of("tensor.strides", None)),
    defect("an allocation of version 2", "R57 allocated", finish_allocated=field_of("version.major", 2)),
    defect("a read-only allocation", "R57 allocated", finish_allocated=field_of("flags", READ_ONLY)),
    defect("an allocation with gaps", "R57 allocated", finish_allocated=strided),
    defect("a failure without SetError", "R57 allocation_error", fails=tells(0)),
    defect("a failure told twice", "R57 allocation_error", fails=tells(2)),
    defect("a failure without words", "R57 allocation_error", fails=tells(1, message=b"")),
    defect("a failure of status 0", "R57 allocation_error", fails=tells(1, status=0)),
    defect("a failure that leaves the output", "R57 allocation_out", fails=tells(1, clears=False)),
    defect("a failure with an exception", "R57 allocation_exception", allocator=allocator_in_c("allocate_and_raise")),
    defect("allocations that overflow", "R57 allocation_overflow",
           check_prototype=lambda self, p: self.consumer.check_dtype(p),
           allocate=lambda self, p, out, ctx, tell: Publisher.allocate(self, small(p), out, ctx, tell)),
    defect("a stream of the CPU", "R58 stream", current_stream=has_stream),
    defect("no answer for the stream of the CPU", "R58 stream", current_stream=no_answer),
    defect("a failure for the stream of the CPU", "R58 stream", current_stream=lambda self, kind, number, out: -1),
    defect("tensors of version 2 taken", "R61 next_major", to_py=taking(check_major=nothing)),
    defect("tensors read before their version", "R61 next_major_unread", to_py=taking(check_major=reads_first)),
    defect("READ_ONLY ignored", "R61 read_only", to_py=taking(made=with_fields(read_only=False))),
]  # fmt: skip


def small(prototype):
    """A prototype whose extents wrap around."""
    record = prototype.contents
    for i in range(record.ndim):
        record.shape[i] = max(record.shape[i] % 2**32, 0)
    return prototype


def capsule_named(publisher, name):
    return new_capsule(ctypes.addressof(publisher.table), NAMES[name], None)


# ---- subjects ----

SAMPLES = (
    lambda make: make((2, 3)),
    lambda make: make((0, 3)),
    lambda make: make(()),
    lambda make: make((3,), strides=(2,)),
    lambda make: make((2,), (6, 8, 1)),
    lambda make: make((2,), (12, 8, 1)),
)


def check(kind, steps):
    """The report on the reference with some steps replaced."""
    if kind == "table":
        publisher = type("Publisher", (Publisher,), steps)()
        return check_table(publisher.type, publisher.sample(), isolated=True)
    if kind == "consumer":
        return check_consumer(type("Consumer", (Consumer,), steps)(), isolated=True)
    cls = type("Array", (Array,), steps)
    if kind != "producer":
        device = {"producer on CUDA": (CUDA, 0), "producer on ROCm": (ROCM, 0)}[kind]
        return check_producer(lambda: cls((2, 3), device=device), isolated=True)
    odd = type("Odd", (Odd, cls), {name: step for name, step in steps.items() if name == "refuses"})
    return check_producer(
        *(lambda sample=sample: sample(cls) for sample in SAMPLES),
        read_only=[lambda: cls(read_only=True)],
        refused=[odd],
        isolated=True,
    )


DEFECTS = {
    "producer": PRODUCERS,
    "producer on CUDA": CUDA_PRODUCERS,
    "producer on ROCm": ROCM_PRODUCERS,
    "consumer": CONSUMERS,
    "table": TABLES,
}
COUNT = sum(map(len, DEFECTS.values()))

LISTS = ((producer, "checks"), (producer, "refusals"), (consumer, "checks"), (table, "checks"))


def narrowed(kind, defect):
    """The findings of the one check that must find a defect: their names and texts."""
    whole = [getattr(module, name) for module, name in LISTS]
    for (module, name), checks in zip(LISTS, whole, strict=True):
        setattr(module, name, Checks(c for c in checks if c.name == defect.found_by))
    report = check(kind, defect.steps)
    for (module, name), checks in zip(LISTS, whole, strict=True):
        setattr(module, name, checks)
    return [(finding.name, str(finding)) for finding in report.failed]


def main():
    """Prints the findings for each defect, by kind and name, as JSON. It needs its own process, without modules that
    hinder forks or Python's end."""
    producer.PATIENCE, isolation.PATIENCE = 3, 30  # some defects are deadlocks
    found = {kind: {defect.name: narrowed(kind, defect) for defect in defects} for kind, defects in DEFECTS.items()}
    right = {kind: [str(finding) for finding in check(kind, {}).failed] for kind in DEFECTS}
    crashing = {
        f"{kind}: {name}": [finding.name for finding in check(kind, defect.steps).failed]
        for kind, name in CRASHES
        for defect in DEFECTS[kind]
        if defect.name == name
    }
    print(json.dumps({"found": found, "right": right, "crashing": crashing}))


# Defects that end the process in many checks: main() makes whole reports on them.
CRASHES = [
    ("producer", "a destructor that deletes what was taken"),
    ("producer", "a deleter that needs the GIL"),
    ("producer", "a versioned struct by the legacy name"),
    ("consumer", "deleted twice"),
    ("consumer", "shape of NULL read"),
    ("table", "no allocator"),
    ("table", "an allocator that needs the GIL"),
    ("table", "an exception with status 0"),
]


if __name__ == "__main__":
    main()
