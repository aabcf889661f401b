"""The exceptions of a library's Go errors, and those that Go's own errors become."""

from __future__ import annotations

import builtins
import json
import os
from typing import Any
from weakref import WeakKeyDictionary

from ._core import Function, Method

# The exceptions of each function's library, by name.
raises: WeakKeyDictionary[Function | Method, dict[str, type[Exception]]] = WeakKeyDictionary()


class ExportedException(type):
    """The type of the exceptions of libraries, which pickle as functions do: by reference, or by their library."""


def exceptions_of(declared: list[dict[str, Any]], module: str) -> tuple[type[Exception], ...]:
    """The exceptions of the declarations, each made after its base."""
    made: dict[str, type[Exception]] = {}
    left = list(declared)
    while left:
        ready = [one for one in left if one["base"] in made or one["base"] not in [other["name"] for other in left]]
        if not ready:
            raise ImportError(
                f"{module}: the exceptions {', '.join(one['name'] for one in left)} are bases of each other"
            )
        for one in ready:
            base = made.get(one["base"]) or builtin(one["base"])
            namespace = {"__module__": module, "__qualname__": one["name"], "__doc__": one.get("doc")}
            made[one["name"]] = ExportedException(one["name"], (base,), namespace)  # type: ignore[assignment]
        left = [one for one in left if one not in ready]
    return tuple(made[one["name"]] for one in declared)


def builtin(name: str) -> type[Exception]:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else RuntimeError


def make(function: Function | Method, description: str) -> BaseException:
    """The exception that a library described (package kernel, type raised)."""
    return exception(raises.get(function, {}), json.loads(description))


def exception(exported: dict[str, type[Exception]], described: dict[str, Any]) -> BaseException:
    kind = exported.get(described["class"]) or builtin(described["class"])
    number = described.get("errno")
    made: BaseException
    if number and issubclass(kind, OSError) and kind not in exported.values():
        first, *second = described.get("filenames") or [None]
        about = () if first is None else (first, None, *second) if second else (first,)
        made = OSError(number, os.strerror(number), *about)
    else:
        made = kind(utf8(described["message"]))
    for name, value in (described.get("attributes") or {}).items():
        setattr(made, name, value)
    if described.get("note"):
        made.add_note(utf8(described["note"]))
    if described.get("cause"):
        made.__cause__ = exception(exported, described["cause"])
    return made


def utf8(text: str) -> str:
    """A text without surrogates, which stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
