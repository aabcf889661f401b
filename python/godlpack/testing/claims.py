"""What an object reports outside DLPack: by the buffer protocol, __array_interface__, or attributes as in torch.

Its DLPack record is compared with that. None means that the object reports nothing that is understood here.
"""

from __future__ import annotations

import re
from typing import Any

_CODES = {"int": 0, "uint": 1, "float": 2, "complex": 5}
_SMALL = {
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15,
    "float6_e3m2fn": 16,
    "float4_e2m1fn": 17,
}


def dtype(x: Any) -> tuple[int, int, int] | None:
    """The type code, bits and lanes of what the object's dtype is named.

    >>> class X: dtype = "torch.uint8"
    >>> dtype(X)
    (1, 8, 1)
    """
    name = re.search(r"(\w*)\W*$", str(getattr(x, "dtype", "")))
    assert name is not None
    word = name[1]
    if word in ("bool", "bool_"):
        return 6, 8, 1
    if word == "bfloat16":
        return 4, 16, 1
    if word in _SMALL:
        return _SMALL[word], int(word[5]), 1
    parts = re.fullmatch(r"(u?int|float|complex)(\d+)", word)
    return (_CODES[parts[1]], int(parts[2]), 1) if parts else None


def read_only(x: Any) -> bool | None:
    """Whether the object's memory is read-only."""
    try:
        return memoryview(x).readonly
    except (TypeError, ValueError, BufferError):
        interface = _interface(x)
        return bool(interface["data"][1]) if interface.get("data") else None


def address(x: Any) -> int | None:
    """Address of the first element."""
    interface = _interface(x)
    if interface.get("data"):
        return int(interface["data"][0])
    pointer = _asked(x, "data_ptr")
    return pointer if isinstance(pointer, int) else None


def strides(x: Any) -> tuple[int, ...] | None:
    """Strides in elements."""
    try:
        view = memoryview(x)
    except (TypeError, ValueError, BufferError):
        steps = _asked(x, "stride")
        return tuple(steps) if isinstance(steps, tuple) else None
    return tuple(step // view.itemsize for step in view.strides or ())


def _interface(x: Any) -> dict[str, Any]:
    try:
        found = getattr(x, "__array_interface__", None)
    except Exception:  # a property may raise
        return {}
    return found if isinstance(found, dict) else {}


def _asked(x: Any, method: str) -> Any:
    try:
        return getattr(x, method)()
    except Exception:
        return None
