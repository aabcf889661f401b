"""Fake DLPack objects: managed tensors, capsules and exchange tables with any content, which count their deletions.

Fakes live until the process ends, so that late calls and reads are detected and do not crash.
"""

import ctypes
from ctypes import POINTER, c_char_p, c_int64, c_void_p

from godlpack.testing import records
from godlpack.testing.records import (
    Allocator,
    CurrentStream,
    Deleter,
    Device,
    DType,
    Legacy,
    ManagedFromPy,
    ManagedToPy,
    SetError,
    Table,
    Version,
    Versioned,
    compact,
    delete_without_gil,
)

MAIN_NAME, OLD_NAME = records.TABLE_NAME, records.OLD_TABLE_NAME  # names of DLPack 1.3 and 1.2 (R50)
FLOAT32 = (2, 32, 1)
OWN = object()  # as data: the fake's own memory; as strides: compact ones

_kept = []  # never freed


def keep(x):
    _kept.append(x)
    return x


def steps(record):
    """The strides of a record in elements, or None if it has none."""
    return tuple(record.strides[: record.ndim]) if record.strides else None


# ---- capsules ----

NAMES = {
    name: name.encode()
    for name in (
        "dltensor", "used_dltensor", "dltensor_versioned", "used_dltensor_versioned", "dlpack_exchange_api", "other",
    )
}  # fmt: skip

_api = ctypes.pythonapi


def _function(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, _api))


capsule_new = _function("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
capsule_name = _function("PyCapsule_GetName", c_char_p, ctypes.py_object)
_dying_name = _function("PyCapsule_GetName", c_char_p, c_void_p)
_dying_pointer = _function("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)
increase = _function("Py_IncRef", None, ctypes.py_object)


@keep
@ctypes.PYFUNCTYPE(None, c_void_p)
def _destroy(capsule):
    """The destructor of a producer's capsule: deletes a tensor that was not taken (R9)."""
    name = _dying_name(capsule)
    record = {b"dltensor": Legacy, b"dltensor_versioned": Versioned}.get(name)
    if record:
        delete_without_gil(record.from_address(_dying_pointer(capsule, name)))


def managed_in(capsule):
    """The managed tensor in a live capsule, which stays its owner; the tensor keeps the capsule alive."""
    managed = records.managed_in(capsule)
    managed.capsule = capsule
    return managed


# ---- managed tensors ----


class FakeTensor:
    """A fake managed tensor. Default: a valid one with 3 float32 on the CPU: 0.0, 1.0, 2.0."""

    def __init__(
        self, shape=(3,), strides=OWN, *, data=OWN, dtype=FLOAT32, device=(1, 0), byte_offset=0, ndim=None,
        flags=0, version=(1, 3), legacy=False, deleter=True,
    ):  # fmt: skip
        self.memory = keep((ctypes.c_float * 1024)(*range(1024)))
        self.managed = Legacy() if legacy else Versioned(Version(*version), flags=flags)
        self.exported = self.deleted = 0  # numbers of exports and of deletions
        self._numbers = []
        record = self.managed.tensor
        record.data = ctypes.addressof(self.memory) if data is OWN else data
        record.device, record.dtype = Device(*device), DType(*dtype)
        record.ndim = len(shape or ()) if ndim is None else ndim
        record.byte_offset = byte_offset
        record.shape = self._array(shape)
        record.strides = self._array(compact(shape or ()) if strides is OWN else strides)
        self._deleter = Deleter(self._delete)
        if deleter:
            self.managed.deleter = ctypes.cast(self._deleter, c_void_p).value
        keep(self)

    def _array(self, values):
        if values is None:
            return None
        self._numbers.append((c_int64 * max(len(values), 1))(*values))
        return ctypes.cast(self._numbers[-1], POINTER(c_int64))

    def _delete(self, address):
        assert address == ctypes.addressof(self.managed)
        self.deleted += 1
        for numbers in self._numbers:  # counts as freed: nobody may read them any more
            ctypes.memset(numbers, 0xEE, ctypes.sizeof(numbers))
        self.managed.tensor.data, self.managed.tensor.ndim = 0x1000, -1

    @property
    def address(self):
        return ctypes.addressof(self.managed)

    @property
    def data(self):
        return ctypes.addressof(self.memory)

    def capsule(self, name=None):
        self.exported += 1
        name = name or ("dltensor" if isinstance(self.managed, Legacy) else "dltensor_versioned")
        return capsule_new(self.address, NAMES[name], ctypes.cast(_destroy, c_void_p))


class Producer:
    """An object of the array API that exports a fake tensor, and records its arguments."""

    def __init__(self, fake):
        self.fake, self.calls = fake, []

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.calls.append({"max_version": max_version, "dl_device": dl_device, "copy": copy})
        return self.fake.capsule()

    def __dlpack_device__(self):
        return 1, 0


# ---- exchange tables ----

# Functions that fail as a table's slots do: -1 and an exception. A Python function cannot return with one set.
RAISES_SYSTEM_ERROR = ctypes.cast(_api.PyList_Append, c_void_p).value  # if the object is not a list
RAISES_TYPE_ERROR = ctypes.cast(_api.PyObject_GetBuffer, c_void_p).value  # if the object has no buffer
RAISES_ONLY = ctypes.cast(_api.PyErr_BadArgument, c_void_p).value  # 0 and an exception, for any object


class Taken:
    """The object that a fake table makes of a managed tensor."""

    def __init__(self, address):
        self.managed = Versioned.from_address(address)

    def __del__(self):
        delete_without_gil(self.managed)


def fake_table(*, version=(1, 3), prev=None, from_py=OWN, to_py=OWN, makes=Taken):
    """A table whose slots are Python functions, addresses, or None. OWN is a valid function: from_py exports the
    attribute `fake` of the object, and to_py makes an object of the class `makes`."""

    def good_from_py(x, out):
        x.fake.exported += 1
        out[0] = x.fake.address
        return 0

    def good_to_py(address, out):
        made = makes(address)
        increase(made)
        out[0] = id(made)
        return 0

    table = keep(Table(Version(*version)))
    table.prev = ctypes.addressof(prev) if prev else None
    table.managed_from_py = slot(ManagedFromPy, good_from_py if from_py is OWN else from_py)
    table.managed_to_py = slot(ManagedToPy, good_to_py if to_py is OWN else to_py)
    table.current_stream = slot(CurrentStream, lambda *_: 0)
    table.allocator = RAISES_SYSTEM_ERROR  # must not be called
    return table


def slot(kind, function):
    if function is None or isinstance(function, int):
        return function
    return ctypes.cast(keep(kind(function)), c_void_p).value


def publish(table, name=MAIN_NAME, *, as_int=False, base=Producer):
    """A new type that publishes a table."""
    address = ctypes.addressof(table)
    value = address if as_int else records.capsule_of(address, "dlpack_exchange_api")
    return type("Published", (base,), {name: value})


def table_of(cls, name=MAIN_NAME):
    """The table that a type publishes."""
    return records.table_at(getattr(cls, name))


class Failure:
    """Records the errors that an allocator reports."""

    def __init__(self):
        self.said = []
        self.function = keep(SetError(self._say))

    def _say(self, context, kind, message):
        self.said.append((context, kind.decode(), message.decode()))


def allocate(table, shape, dtype=FLOAT32, device=(1, 0), context=0, ndim=None):
    """Calls a table's allocator: its status, the managed tensor or None, and the errors that it reported."""
    prototype = FakeTensor(shape, dtype=dtype, device=device, ndim=ndim).managed.tensor
    prototype.data, prototype.strides = 0xDEAD, None  # R57: must not be read
    out, failure = c_void_p(0xDEAD), Failure()
    rc = Allocator(table.allocator)(ctypes.byref(prototype), ctypes.byref(out), context, failure.function)
    return rc, Versioned.from_address(out.value) if out.value else None, failure.said
