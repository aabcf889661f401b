"""The Python classes of a library's Go types: functions of the library, put together by their roles."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any

from ._core import Object

Namespace = dict[str, Any]


class ExportedType(ABCMeta):
    """The type of the classes of libraries, which pickle as functions do: by reference, or by their library."""


def class_of(declaration: dict[str, Any], module: str, members: list[tuple[dict[str, Any], Any]]) -> type[Object]:
    """The class of a declaration, whose members are pairs of a function's declaration and the function."""
    name: str = declaration["name"]
    namespace: Namespace = {
        "__slots__": (),
        "__module__": module,
        "__qualname__": name,
        "__doc__": declaration.get("doc") or None,
    }
    accessors: dict[str, dict[str, Any]] = {}
    for member, function in members:
        role = member["role"]
        if role in ("get", "set"):
            accessors.setdefault(member["name"], {})[role] = function
        else:
            namespace[member["name"]] = staticmethod(function) if role == "static" else function
    for attribute, found in accessors.items():
        getter = found.get("get")
        namespace[attribute] = property(getter, found.get("set"), doc=getter and getter.__doc__.partition("\n\n")[2])
    if "__init__" not in namespace:
        namespace["__init__"] = refuse(name, declaration)
    awaited = {member["name"] for member, _ in members if member.get("async")}
    made: list[type[Object]] = []  # the class, once it is made

    def is_same(other: object) -> bool:
        return made[0] in type(other).__mro__  # isinstance() would believe a mock

    context(namespace, "close" in awaited)
    equality(namespace, is_same)
    order(namespace, is_same)
    pickling(namespace)
    representation(namespace)
    made.append(ExportedType(name, (Object,), namespace))  # type: ignore[arg-type]
    return made[0]


def refuse(name: str, declaration: dict[str, Any]) -> Callable[..., None]:
    """The __init__ of a class without a constructor."""
    makers = declaration.get("makers") or ()
    remedy = f": call {' or '.join(f'{maker}()' for maker in makers)}" if makers else ""

    def __init__(self: Object, *args: object, **keywords: object) -> None:
        raise TypeError(f"{name} has no constructor{remedy}")

    return __init__


def context(namespace: Namespace, awaited: bool) -> None:
    """A class with close() is a context manager: an asynchronous one if close() is awaited."""
    if "close" not in namespace:
        return
    if awaited:

        async def __aenter__(self: Any) -> Any:
            return self

        async def __aexit__(self: Any, kind: object, value: object, trace: object) -> None:
            await self.close()

        namespace.setdefault("__aenter__", __aenter__)
        namespace.setdefault("__aexit__", __aexit__)
        return

    def __enter__(self: Any) -> Any:
        return self

    def __exit__(self: Any, kind: object, value: object, trace: object) -> None:
        self.close()

    namespace.setdefault("__enter__", __enter__)
    namespace.setdefault("__exit__", __exit__)


def comparison(is_same: Callable[[object], bool], holds: Callable[[Any, Any], bool]) -> Callable[[Object, object], Any]:
    """A method that compares objects of the same type, and leaves others to their own methods."""

    def method(self: Object, other: object) -> Any:
        return holds(self, other) if is_same(other) else NotImplemented

    return method


def equality(namespace: Namespace, is_same: Callable[[object], bool]) -> None:
    """Go's Equal, which takes an object of the same type."""
    equal = namespace.pop("__equal__", None)
    if equal is None:
        return

    namespace.setdefault("__eq__", comparison(is_same, equal))
    namespace.setdefault("__hash__", None)


def order(namespace: Namespace, is_same: Callable[[object], bool]) -> None:
    """Go's Compare, which returns a number below, equal to or above 0."""
    compare = namespace.pop("__compare__", None)
    if compare is None:
        return

    namespace.setdefault("__lt__", comparison(is_same, lambda a, b: compare(a, b) < 0))
    namespace.setdefault("__le__", comparison(is_same, lambda a, b: compare(a, b) <= 0))
    namespace.setdefault("__gt__", comparison(is_same, lambda a, b: compare(a, b) > 0))
    namespace.setdefault("__ge__", comparison(is_same, lambda a, b: compare(a, b) >= 0))
    if "__eq__" not in namespace:
        namespace["__eq__"] = comparison(is_same, lambda a, b: compare(a, b) == 0)
        namespace.setdefault("__hash__", None)


def pickling(namespace: Namespace) -> None:
    """Go's MarshalBinary and UnmarshalBinary pickle and copy an object; the state of a Python subclass is pickled as usual."""
    marshal, unmarshal = namespace.pop("__marshal__", None), namespace.pop("__unmarshal__", None)
    if marshal is None or unmarshal is None:
        return

    def __reduce__(self: Any) -> Any:
        return restored, (type(self), marshal(self)), self.__getstate__()

    namespace.setdefault("__reduce__", __reduce__)
    namespace["_unmarshal"] = unmarshal


def restored(cls: Any, data: bytes) -> Any:
    """The object that pickling() takes apart; the state of a Python subclass comes later."""
    made = cls.__new__(cls)
    made._unmarshal(data)
    return made


def representation(namespace: Namespace) -> None:
    """An object that Go does not have any more, as in a forked process, has a representation, too."""
    text = namespace.get("__repr__")
    if text is None:
        return

    def __repr__(self: Object) -> str:
        try:
            return str(text(self))
        except RuntimeError as error:
            return f"<{type(self).__module__}.{type(self).__qualname__} object: {error}>"

    namespace["__repr__"] = __repr__
