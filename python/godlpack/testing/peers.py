"""Fake peers: managed tensors, producers and exchange tables with any content, which count how they are used.

    forged = Managed((3,), ndim=-1)
    producer = Producer(forged)
    some_library.from_dlpack(producer)  # should raise, and forged.deleted should then be 1

Fakes live until the process ends, so that late calls and reads are detected and do not crash.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_int64, c_void_p
from typing import Any

from .records import (
    OLD_TABLE_NAME,
    TABLE_NAME,
    CurrentStream,
    Device,
    DType,
    Legacy,
    ManagedFromPy,
    Record,
    Table,
    Version,
    Versioned,
    capsule_of,
    compact,
    delete,
    name_of,
)

OWN: Any = object()
"""As data: memory of the forgery's own, aligned to 256 bytes. As strides: those of row-major order."""

FLOAT32 = (2, 32, 1)

_kept: list[Any] = []  # never freed

# A deleter may be called without the GIL, with an exception set, or after Python's end, so C must count its calls.
# Py_IncRef adds 1 to the 8 bytes at its argument: the first field of the record, which nobody may read any more.
_COUNT = ctypes.cast(ctypes.pythonapi.Py_IncRef, c_void_p).value


class Managed:
    """Managed tensor with any content, for tests of consumers.

    The default is a good tensor: float32 on the CPU, with the values 0, 1,
    2 and so on. The managed tensor and its memory live until the process
    ends, so that a late read does not crash.

    Parameters
    ----------
    shape : sequence of int or None, default (3,)
        Extents; None is a NULL pointer.
    strides : sequence of int or None, optional
        Strides in elements; None is a NULL pointer. Default: those of
        row-major order.
    data : int or None, optional
        Address of the data. Default: memory of its own, aligned to 256
        bytes.
    dtype : tuple of three int, default (2, 32, 1)
        DLPack's type code, bits and lanes.
    device : tuple of two int, default (1, 0)
        DLPack's device type and number.
    byte_offset : int, default 0
        Offset of the first element.
    ndim : int, optional
        Number of axes. Default: the length of `shape`.
    flags : int, default 0
        DLPack's flags, of a versioned tensor.
    version : tuple of two int, default (1, 3)
        DLPack's version, of a versioned tensor.
    legacy : bool, default False
        Make a DLManagedTensor, not a DLManagedTensorVersioned.
    deleter : bool, default True
        Set a deleter, which counts its calls.
    context : bool, default True
        Set manager_ctx.

    Examples
    --------
    >>> import godlpack as gd
    >>> from godlpack.testing import Managed, Producer
    >>> forged = Managed((3,), ndim=-1)
    >>> gd.from_dlpack(Producer(forged))
    Traceback (most recent call last):
        ...
    BufferError: ...
    """

    def __init__(
        self,
        shape: Sequence[int] | None = (3,),
        strides: Sequence[int] | None = OWN,
        *,
        data: int | None = OWN,
        dtype: tuple[int, int, int] = FLOAT32,
        device: tuple[int, int] = (1, 0),
        byte_offset: int = 0,
        ndim: int | None = None,
        flags: int = 0,
        version: tuple[int, int] = (1, 3),
        legacy: bool = False,
        deleter: bool = True,
        context: bool = True,
    ) -> None:
        self.memory = (ctypes.c_float * 1024)(*range(-64, 960))
        self.data = (ctypes.addressof(self.memory) + 255) // 256 * 256
        for i in range(512):
            ctypes.c_float.from_address(self.data + 4 * i).value = i
        self.managed = Legacy() if legacy else Versioned(Version(*version), flags=flags)
        record: Record = self.managed.tensor
        self.record = record
        record.data = self.data if data is OWN else data
        record.device, record.dtype = Device(*device), DType(*dtype)
        record.ndim = len(shape or ()) if ndim is None else ndim
        record.byte_offset = byte_offset
        record.shape = _numbers(shape)
        record.strides = _numbers(compact(tuple(shape or ())) if strides is OWN else strides)
        if context:
            self.managed.manager_ctx = self.data
        if deleter:
            self.managed.deleter = _COUNT
        self._before = self._count()
        _kept.append(self)

    def _count(self) -> int:
        return ctypes.c_uint64.from_address(self.address).value

    @property
    def address(self) -> int:
        """Address of the managed tensor."""
        return ctypes.addressof(self.managed)

    @property
    def deleted(self) -> int:
        """Number of calls of the deleter."""
        return self._count() - self._before

    def capsule(self, name: str = "") -> Any:
        """Make a capsule of the managed tensor.

        Parameters
        ----------
        name : str, optional
            Name of the capsule. Default: that of a live capsule.

        Returns
        -------
        capsule
            A capsule without a destructor; see `Producer.settle`.
        """
        live = "dltensor" if isinstance(self.managed, Legacy) else "dltensor_versioned"
        return capsule_of(self.address, name or live)


def _numbers(values: Sequence[int] | None) -> Any:
    if values is None:
        return None
    numbers = (c_int64 * max(len(values), 1))(*values)
    _kept.append(numbers)
    return ctypes.cast(numbers, POINTER(c_int64))


class Producer:
    """Object of the array API that exports a fake tensor.

    It records the keywords of each call of ``__dlpack__`` in `calls`.

    Parameters
    ----------
    forged : Managed
        The tensor to export.
    device : tuple of two int, optional
        What ``__dlpack_device__`` returns. Default: the device of `forged`.
    """

    def __init__(self, forged: Managed, device: tuple[int, int] | None = None) -> None:
        self.forged = forged
        self.calls: list[dict[str, Any]] = []
        self.capsules: list[Any] = []
        self.taken = 0  # exports by the table of its type
        self._device = forged.record.device_pair() if device is None else device

    def __dlpack__(self, **keywords: Any) -> Any:
        self.calls.append(keywords)
        self.capsules.append(self.forged.capsule())
        return self.capsules[-1]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    @property
    def live(self) -> int:
        """Number of capsules that nobody consumed."""
        return sum(not name_of(capsule).startswith("used_") for capsule in self.capsules)

    def settle(self) -> int:
        """Delete the content of live capsules, as their destructors would.

        Returns
        -------
        int
            The number of calls of the deleter for each capsule: 1 if the
            consumer kept the rules.
        """
        for _ in range(self.live):
            delete(self.forged.managed)
        return self.forged.deleted - len(self.capsules) + 1


class Old(Producer):
    """A producer from 2021: its __dlpack__ takes only stream."""

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        return super().__dlpack__(stream=stream)


class Raising(Producer):
    """A producer that cannot export."""

    def __init__(self, error: Exception) -> None:
        super().__init__(Managed())
        self.error = error

    def __dlpack__(self, **keywords: Any) -> Any:
        self.calls.append(keywords)
        raise self.error


class Stale(Producer):
    """A producer that returns the same capsule each time."""

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.capsules[0] if self.capsules else super().__dlpack__(**keywords)


class Nothing:
    """An object that is not a producer."""


def _address(function: Any) -> int | None:
    return ctypes.cast(function, c_void_p).value


# Functions that fail as slots do, with -1 and an exception set. A Python function cannot return with one set.
FAILS = _address(ctypes.pythonapi.PyList_Append)
"""A slot that fails with a SystemError."""

FAILS_WITH_TYPE_ERROR = _address(ctypes.pythonapi.PyObject_GetBuffer)
"""A slot that fails with a TypeError, of objects without a buffer."""

RAISES_ONLY = _address(ctypes.pythonapi.PyErr_BadArgument)
"""A slot that leaves an exception behind, and says 0."""


def gives_nothing(x: Any, out: Any) -> int:
    """A slot that returns 0 and stores NULL."""
    out[0] = None
    return 0


def says_nothing(x: Any, out: Any) -> int:
    """A slot that returns -1 without an exception."""
    return -1


def published(
    forged: Managed,
    version: tuple[int, int] = (1, 3),
    from_py: Callable[..., int] | int | None = OWN,
    second: Managed | None = None,
    *,
    as_int: bool = False,
    base: type[Producer] = Producer,
) -> Producer:
    """Make an object whose type publishes an exchange table.

    Parameters
    ----------
    forged : Managed
        The tensor that the table exports.
    version : tuple of two int, default (1, 3)
        DLPack's version in the table.
    from_py : callable, int or None, optional
        The table's managed_tensor_from_py_object_no_sync: a function, its
        address, or None for NULL. Default: a function that exports
        `forged`.
    second : Managed, optional
        The tensor that ``__dlpack__`` exports. Default: a good one.
    as_int : bool, default False
        Publish the table as an int, as DLPack 1.2 does (R50).
    base : type, default Producer
        The base of the object's type.

    Returns
    -------
    Producer
        The object.
    """

    def export(x: Any, out: Any) -> int:
        x.taken += 1
        out[0] = forged.address
        return 0

    table = Table(Version(*version))
    from_py = export if from_py is OWN else from_py
    table.managed_from_py = _slot(ManagedFromPy, from_py) if callable(from_py) else from_py
    table.managed_to_py = table.allocator = FAILS
    table.current_stream = _slot(CurrentStream, lambda kind, number, out: 0)
    _kept.append(table)
    address = ctypes.addressof(table)
    attribute = {OLD_TABLE_NAME: address} if as_int else {TABLE_NAME: capsule_of(address, "dlpack_exchange_api")}
    made: Producer = type("Published", (base,), attribute)(second or Managed())
    return made


def _slot(kind: Any, function: Callable[..., int]) -> int | None:
    _kept.append(kind(function))
    return _address(_kept[-1])
