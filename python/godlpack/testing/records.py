"""DLPack 1.3 in ctypes: records, capsules and the exchange table."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

READ_ONLY, IS_COPIED, PADDED = 1, 2, 4
"""Flags of a versioned managed tensor."""

TABLE_NAME, OLD_TABLE_NAME = "__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"
"""The attributes of a type that publish its exchange table, in DLPack 1.3 and 1.2."""


MOST = 1 << 20
"""More dimensions, or elements, than this are not read: what says so is nonsense."""


class Version(Structure):
    """DLPackVersion."""

    _fields_ = (("major", c_uint32), ("minor", c_uint32))


class Device(Structure):
    """DLDevice."""

    _fields_ = (("type", c_int32), ("id", c_int32))


class DType(Structure):
    """DLDataType."""

    _fields_ = (("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16))


class Record(Structure):
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

    def dims(self) -> tuple[int, ...]:
        """The extents. Raises ValueError if the record has none to read."""
        if not self.ndim:
            return ()
        if not (abs(self.ndim) <= MOST and self.shape):
            raise ValueError(f"{self.ndim} dimensions at {'an address' if self.shape else 'NULL'}")
        return tuple(self.shape[: self.ndim])

    def steps(self) -> tuple[int, ...]:
        """The strides in elements; row-major ones if the record has none."""
        if self.strides:
            return tuple(self.strides[: self.ndim])
        return compact(self.dims())

    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.dims():
            count *= extent
        return count

    def address(self) -> int:
        """Address of the first element; 0 is NULL."""
        return int((self.data or 0) + self.byte_offset)

    def dtype_triple(self) -> tuple[int, int, int]:
        """The type code, bits and lanes."""
        return self.dtype.code, self.dtype.bits, self.dtype.lanes

    def device_pair(self) -> tuple[int, int]:
        """The type and the number of the device."""
        return self.device.type, self.device.id


class Legacy(Structure):
    """DLManagedTensor, in capsules named "dltensor"."""

    _fields_ = (("tensor", Record), ("manager_ctx", c_void_p), ("deleter", c_void_p))


class Versioned(Structure):
    """DLManagedTensorVersioned, in capsules named "dltensor_versioned"."""

    _fields_ = (
        ("version", Version),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Record),
    )


class Table(Structure):
    """DLPackExchangeAPI."""

    _fields_ = (
        ("version", Version),
        ("prev", c_void_p),
        ("allocator", c_void_p),
        ("managed_from_py", c_void_p),
        ("managed_to_py", c_void_p),
        ("record_from_py", c_void_p),
        ("current_stream", c_void_p),
    )


# Prototypes of a table's functions. PYFUNCTYPE keeps the GIL and raises an exception that was set; CFUNCTYPE releases
# the GIL.
SetError = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
Allocator = ctypes.CFUNCTYPE(c_int, POINTER(Record), POINTER(c_void_p), c_void_p, SetError)
ManagedFromPy = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(c_void_p))
ManagedToPy = ctypes.PYFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))
RecordFromPy = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(Record))
CurrentStream = ctypes.PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))

Deleter = ctypes.CFUNCTYPE(None, c_void_p)
_DeleterWithGil = ctypes.PYFUNCTYPE(None, c_void_p)


def compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of row-major order, in elements; too large ones end at the ends of int64.

    >>> compact((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step = max(-(2**63), min(step * extent, 2**63 - 1))
    return tuple(reversed(strides))


def delete(managed: Legacy | Versioned) -> None:
    """Calls the deleter, if there is one, with the GIL, which every deleter supports."""
    if managed.deleter:
        _DeleterWithGil(managed.deleter)(ctypes.addressof(managed))


def delete_without_gil(managed: Legacy | Versioned) -> None:
    """Calls the deleter, if there is one, without the GIL, as torch and jax do."""
    if managed.deleter:
        Deleter(managed.deleter)(ctypes.addressof(managed))


# ---- capsules ----

_NAMES = {  # capsules keep pointers to these
    name: name.encode()
    for name in (
        "dltensor",
        "used_dltensor",
        "dltensor_versioned",
        "used_dltensor_versioned",
        "dlpack_exchange_api",
        "other",
    )
}


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _function("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
_is_valid = _function("PyCapsule_IsValid", c_int, ctypes.py_object, c_char_p)
_get_name = _function("PyCapsule_GetName", c_char_p, ctypes.py_object)
_get_name_address = _function("PyCapsule_GetName", c_void_p, ctypes.py_object)
_get_pointer = _function("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
_set_name = _function("PyCapsule_SetName", c_int, ctypes.py_object, c_char_p)


def capsule_of(address: int, name: str) -> Any:
    """A new capsule without a destructor, which owns nothing."""
    return _new(address, _NAMES[name], None)


def name_of(capsule: Any) -> str:
    """A capsule's name. Raises TypeError for other objects."""
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(f"want a capsule, got {type(capsule).__name__}")
    return (_get_name(capsule) or b"").decode()


def managed_in(capsule: Any) -> Legacy | Versioned:
    """The managed tensor in a live capsule, which stays its owner. Raises ValueError if the capsule is not live."""
    kinds: dict[str, type[Legacy] | type[Versioned]] = {"dltensor": Legacy, "dltensor_versioned": Versioned}
    name = name_of(capsule)
    if name not in kinds:
        raise ValueError(f"want a capsule named {' or '.join(map(repr, kinds))}, got {name!r}")
    return kinds[name].from_address(_get_pointer(capsule, _NAMES[name]))


def take(capsule: Any) -> Legacy | Versioned:
    """Takes the managed tensor out of a live capsule, which is then used; the caller must delete the tensor."""
    managed = managed_in(capsule)
    _set_name(capsule, _NAMES[f"used_{name_of(capsule)}"])
    return managed


def address_of_name(capsule: Any) -> int:
    """Address of a capsule's name."""
    return int(_get_name_address(capsule) or 0)


def table_at(value: Any) -> Table:
    """The exchange table of a published attribute: a capsule, or an int as in DLPack 1.2."""
    if isinstance(value, int):
        return Table.from_address(value)
    if not _is_valid(value, _NAMES["dlpack_exchange_api"]):
        raise ValueError(f"want a capsule named 'dlpack_exchange_api', got {name_of(value)!r}")
    return Table.from_address(_get_pointer(value, _NAMES["dlpack_exchange_api"]))


def called(function: int | None, argument: Any) -> tuple[int, Exception | None]:
    """Calls a slot with an argument and an output: 0 if its status is 0, else -1; and the exception that it set.

    ctypes returns only one of the two. So lsearch calls the slot as its comparison with the only element of an array;
    the array grows if the status is not 0.
    """
    out, count = (c_uint64 * 16)(), ctypes.c_size_t(1)
    search = ctypes.PYFUNCTYPE(c_void_p, type(argument), c_void_p, c_void_p, ctypes.c_size_t, c_void_p)
    error = None
    try:
        search(("lsearch", ctypes.CDLL(None)))(argument, ctypes.addressof(out), ctypes.addressof(count), 8, function)
    except Exception as caught:
        error = caught
    return 1 - count.value, error


# ---- elements ----

_SCALARS: dict[tuple[int, int], Any] = {
    (0, 8): ctypes.c_int8,
    (0, 16): ctypes.c_int16,
    (0, 32): ctypes.c_int32,
    (0, 64): ctypes.c_int64,
    (1, 8): ctypes.c_uint8,
    (1, 16): ctypes.c_uint16,
    (1, 32): ctypes.c_uint32,
    (1, 64): ctypes.c_uint64,
    (2, 32): ctypes.c_float,
    (2, 64): ctypes.c_double,
    (5, 64): ctypes.c_float * 2,
    (5, 128): ctypes.c_double * 2,
    (6, 8): ctypes.c_bool,
}


def values_of(record: Record) -> list[Any] | None:
    """The elements in row-major order, flat; None if not on the CPU, of a type that ctypes lacks, or too many."""
    code, bits, lanes = record.dtype_triple()
    scalar = _SCALARS.get((code, bits))
    if scalar is None or lanes != 1 or record.device.type != 1 or record.size() > MOST:
        return None
    offsets = [0]
    for extent, step in zip(record.dims(), record.steps(), strict=True):
        offsets = [offset + step * i for offset in offsets for i in range(extent)]
    return [_value(scalar.from_address(record.address() + offset * bits // 8)) for offset in offsets]


def _value(scalar: Any) -> Any:
    return complex(*scalar) if isinstance(scalar, ctypes.Array) else scalar.value
