"""Fake DLPack objects: managed tensors, capsules and exchange tables with any content, which count their deletions.

Fakes live until the process ends, so that late calls and reads are detected and do not crash.
"""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint64,
    c_void_p,
)

from godlpack.testing import records
from godlpack.testing.records import (
    CurrentStream,
    Deleter,
    Device,
    DType,
    ManagedFromPy,
    ManagedToPy,
    SetError,
    Table,
    Version,
    compact,
)

MAIN_NAME, OLD_NAME = records.TABLE_NAME, records.OLD_TABLE_NAME  # names of DLPack 1.3 and 1.2 (R50)
READ_ONLY, IS_COPIED, PADDED = records.READ_ONLY, records.IS_COPIED, 4
FLOAT32 = (2, 32, 1)
OWN = object()  # as data: the fake's own memory; as strides: compact ones

_kept = []  # never freed


def keep(x):
    _kept.append(x)
    return x


# ---- records ----


class Record(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )

    def dims(self):
        return tuple(self.shape[: self.ndim])

    def steps(self):
        return tuple(self.strides[: self.ndim]) if self.strides else None

    def device_pair(self):
        return self.device.type, self.device.id

    def dtype_triple(self):
        return self.dtype.code, self.dtype.bits, self.dtype.lanes


class Legacy(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("dl_tensor", Record), ("manager_ctx", c_void_p), ("deleter", c_void_p))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("version", Version),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("dl_tensor", Record),
    )


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
capsule_pointer = _function("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
capsule_rename = _function("PyCapsule_SetName", c_int, ctypes.py_object, c_char_p)
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
        delete(record.from_address(_dying_pointer(capsule, name)))


def delete(managed):
    """Calls the deleter of a managed tensor, if it has one, without the GIL."""
    if managed.deleter:
        Deleter(managed.deleter)(ctypes.addressof(managed))


def name_of(capsule):
    return capsule_name(capsule).decode()


def managed_in(capsule):
    """The managed tensor in a live capsule, which stays its owner; the tensor keeps the capsule alive."""
    name = capsule_name(capsule)
    record = Legacy if name == b"dltensor" else Versioned
    managed = record.from_address(capsule_pointer(capsule, name))
    managed.capsule = capsule
    return managed


def take(capsule):
    """Takes the managed tensor out of a live capsule, which is then used; the caller must delete the tensor (R36)."""
    managed = managed_in(capsule)
    del managed.capsule
    capsule_rename(capsule, NAMES["used_" + name_of(capsule)])
    return managed


# ---- managed tensors ----


class Forged:
    """A fake managed tensor. Default: a valid one with 3 float32 on the CPU: 0.0, 1.0, 2.0."""

    def __init__(
        self, shape=(3,), strides=OWN, *, data=OWN, dtype=FLOAT32, device=(1, 0), byte_offset=0, ndim=None,
        flags=0, version=(1, 3), legacy=False, deleter=True,
    ):  # fmt: skip
        self.memory = keep((ctypes.c_float * 1024)(*range(1024)))
        self.managed = Legacy() if legacy else Versioned(Version(*version), flags=flags)
        self.exported = self.deleted = 0  # numbers of exports and of deletions
        self._numbers = []
        record = self.managed.dl_tensor
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
        self.managed.dl_tensor.data, self.managed.dl_tensor.ndim = 0x1000, -1

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

    def __init__(self, forged):
        self.forged, self.calls = forged, []

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.calls.append({"max_version": max_version, "dl_device": dl_device, "copy": copy})
        return self.forged.capsule()

    def __dlpack_device__(self):
        return 1, 0


# ---- exchange tables ----

Allocator = CFUNCTYPE(c_int, POINTER(Record), POINTER(c_void_p), c_void_p, SetError)  # releases the GIL
RecordFromPy = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(Record))

# Functions that fail as a table's slots do: -1 and an exception. A Python function cannot return with one set.
RAISES_SYSTEM_ERROR = ctypes.cast(_api.PyList_Append, c_void_p).value  # if the object is not a list
RAISES_TYPE_ERROR = ctypes.cast(_api.PyObject_GetBuffer, c_void_p).value  # if the object has no buffer
RAISES_ONLY = ctypes.cast(_api.PyErr_BadArgument, c_void_p).value  # 0 and an exception, for any object


class Taken:
    """The object that a fake table makes of a managed tensor."""

    def __init__(self, address):
        self.managed = Versioned.from_address(address)

    def __del__(self):
        delete(self.managed)


def forged_table(*, version=(1, 3), prev=None, from_py=OWN, to_py=OWN, makes=Taken):
    """A table whose slots are Python functions, addresses, or None. OWN is a valid function: from_py exports the
    attribute `forged` of the object, and to_py makes an object of the class `makes`."""

    def good_from_py(x, out):
        x.forged.exported += 1
        out[0] = x.forged.address
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
    value = address if as_int else capsule_new(address, NAMES["dlpack_exchange_api"], None)
    return type("Published", (base,), {name: value})


def table_of(cls, name=MAIN_NAME):
    """The table that a type publishes."""
    value = getattr(cls, name)
    return Table.from_address(value if isinstance(value, int) else capsule_pointer(value, NAMES["dlpack_exchange_api"]))


class Failure:
    """Records the errors that an allocator reports."""

    def __init__(self):
        self.said = []
        self.function = keep(SetError(self._say))

    def _say(self, context, kind, message):
        self.said.append((context, kind.decode(), message.decode()))


def allocate(table, shape, dtype=FLOAT32, device=(1, 0), context=0, ndim=None):
    """Calls a table's allocator: its status, the managed tensor or None, and the errors that it reported."""
    prototype = Forged(shape, dtype=dtype, device=device, ndim=ndim).managed.dl_tensor
    prototype.data, prototype.strides = 0xDEAD, None  # R57: must not be read
    out, failure = c_void_p(0xDEAD), Failure()
    rc = Allocator(table.allocator)(ctypes.byref(prototype), ctypes.byref(out), context, failure.function)
    return rc, Versioned.from_address(out.value) if out.value else None, failure.said
