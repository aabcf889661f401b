"""Values that Python and Go exchange as trees of plain values: dicts, records, enums, times, complex and large numbers.

Package kernel's type Type describes them; its functions Value and ReturnValue are Go's side.
"""

from __future__ import annotations

import enum
import reprlib
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta, timezone
from operator import index
from types import MemberDescriptorType
from typing import Any

Described = dict[str, Any]  # a Type, as JSON
Convert = Callable[[Any], Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DEEPEST, MOST = 60, 2**22  # of a value of type any, which may contain itself: lists within each other, and values
LONGEST = 2**63 // 10**9 // 86400  # days of a time.Duration


class ConversionError(Exception):
    """A value is not what Go wants. Its text begins with the place; raised() is the exception for the caller.

    Exceptions of the caller's own code, such as a mapping's, pass unchanged.
    """

    def __init__(self, kind: type[Exception], text: str):
        super().__init__(text)
        self.kind = kind

    def at(self, place: str) -> ConversionError:
        return ConversionError(self.kind, f"{place}: {self}")

    def raised(self, place: str) -> Exception:
        return self.kind(f"{place}: {self}")


class ExportedRecord(type):
    """The type of records, which pickle as functions do: by reference, or by their library."""


class ExportedEnum(enum.EnumMeta):
    """The type of enums, which pickle likewise."""


class Types:
    """The classes of a library's records and enums, and the conversions of its types."""

    def __init__(self, module: str, made: Callable[[type], None]):
        """`made` is called with each new class."""
        self.module = module
        self.made = made
        self.classes: dict[str, type] = {}

    def class_of(self, t: Described) -> Any:
        """The class of a record or an enum."""
        name: str = t["name"]
        if name not in self.classes:
            cls = self.record_class(t) if t["kind"] == "record" else self.enum_class(t)
            cls.__doc__ = t.get("doc") or cls.__doc__
            self.classes[name] = cls
            self.made(cls)
        return self.classes[name]

    def record_class(self, t: Described) -> Any:
        factory: Any = namedtuple  # its names are not literals, which mypy wants
        base = factory(t["name"], [f["name"] for f in t["fields"]])
        return ExportedRecord(t["name"], (base,), {"__slots__": (), "__module__": self.module, "__doc__": base.__doc__})

    def enum_class(self, t: Described) -> Any:
        values = {member["name"]: member["value"] for member in t["members"]}
        base: Any = enum.StrEnum if isinstance(t["members"][0]["value"], str) else enum.IntEnum
        base = enum.IntFlag if t.get("flags") else base
        namespace = ExportedEnum.__prepare__(t["name"], (base,))
        for name, value in {**values, "__module__": self.module}.items():
            namespace[name] = value
        return ExportedEnum(t["name"], (base,), namespace)

    def to_go(self, t: Described) -> Convert:
        """The conversion of an argument. It raises ConversionError."""
        return getattr(self, f"_{t['kind']}_to_go")(t)  # type: ignore[no-any-return]

    def to_python(self, t: Described) -> Convert | None:
        """The conversion of a result, likewise; None if it is what it should be."""
        made = getattr(self, f"_{t['kind']}_to_python", None)
        return made(t) if made else None

    # ---- plain values ----

    def _bool_to_go(self, t: Described) -> Convert:
        return lambda x: x if isinstance(x, bool) else bool(item(x, bool, "a bool"))

    def _int_to_go(self, t: Described) -> Convert:
        return lambda x: x if type(x) is int else whole(x)

    def _float_to_go(self, t: Described) -> Convert:
        return lambda x: x if type(x) is float else real(x)

    def _str_to_go(self, t: Described) -> Convert:
        return lambda x: x if isinstance(x, str) else wrong(x, "a str")

    def _bytes_to_go(self, t: Described) -> Convert:
        wanted = t.get("len")

        def convert(x: Any) -> bytes:
            made = x if type(x) is bytes else octets(x)
            if wanted and len(made) != wanted:
                raise ConversionError(ValueError, f"want {wanted} bytes, got {len(made)}")
            return made

        return convert

    def _complex_to_go(self, t: Described) -> Convert:
        def convert(x: Any) -> list[float]:
            if isinstance(x, str) or not any(hasattr(x, name) for name in ("__complex__", "__float__", "__index__")):
                wrong(x, "a complex number")
            z = complex(x)
            return [z.real, z.imag]

        return convert

    def _complex_to_python(self, t: Described) -> Convert:
        return lambda parts: complex(*parts)

    def _bigint_to_go(self, t: Described) -> Convert:
        return lambda x: f"{whole(x):x}"

    def _bigint_to_python(self, t: Described) -> Convert:
        return lambda text: int(text, 16)

    def _time_to_go(self, t: Described) -> Convert:
        return time_parts

    def _time_to_python(self, t: Described) -> Convert:
        return time_of

    def _duration_to_go(self, t: Described) -> Convert:
        return nanoseconds_of

    def _duration_to_python(self, t: Described) -> Convert:
        return lambda n: timedelta(microseconds=n // 1000 if n >= 0 else -(-n // 1000))

    def _any_to_go(self, t: Described) -> Convert:
        return plain

    def _any_to_python(self, t: Described) -> Convert:
        return unplain

    # ---- values of others ----

    def _list_to_go(self, t: Described) -> Convert:
        element, wanted = self.to_go(t["elem"]), t.get("len")

        def convert(x: Any) -> list[Any]:
            made: list[Any] = []
            for value in elements_of(x):
                try:
                    made.append(element(value))
                except ConversionError as refusal:
                    raise refusal.at(f"[{len(made)}]") from None
            if wanted and len(made) != wanted:
                raise ConversionError(ValueError, f"want {wanted} elements, got {len(made)}")
            return made

        return convert

    def _list_to_python(self, t: Described) -> Convert | None:
        element = self.to_python(t["elem"])
        return None if element is None else lambda values: [element(value) for value in values]

    def _dict_to_go(self, t: Described) -> Convert:
        key, element = self.to_go(t["key"]), self.to_go(t["elem"])

        def convert(x: Any) -> list[Any]:
            if not isinstance(x, Mapping):
                wrong(x, "a dict")
            made: list[Any] = []
            for k, value in x.items():
                try:
                    made.append(key(k))
                    made.append(element(value))
                except ConversionError as refusal:
                    raise refusal.at("a key" if len(made) % 2 == 0 else f"[{reprlib.repr(k)}]") from None
            return made

        return convert

    def _dict_to_python(self, t: Described) -> Convert:
        key, element = self.to_python(t["key"]) or same, self.to_python(t["elem"]) or same
        return lambda parts: {key(parts[i]): element(parts[i + 1]) for i in range(0, len(parts), 2)}

    def _record_to_go(self, t: Described) -> Convert:
        cls = self.class_of(t)
        fields = [(f["name"], self.to_go(f["type"])) for f in t["fields"]]

        def convert(x: Any) -> list[Any]:
            made: list[Any] = []
            for (name, field), value in zip(fields, x if type(x) is cls else values_of(x, cls), strict=True):
                try:
                    made.append(field(value))
                except ConversionError as refusal:
                    raise refusal.at(name) from None
            return made

        return convert

    def _record_to_python(self, t: Described) -> Convert:
        cls, parts = self.class_of(t), [self.to_python(f["type"]) or same for f in t["fields"]]
        return lambda values: cls._make([convert(value) for convert, value in zip(parts, values, strict=True)])

    def _enum_to_go(self, t: Described) -> Convert:
        cls = self.class_of(t)
        members = ", ".join(repr(member.value) for member in cls)
        plain_value = self._str_to_go(t) if issubclass(cls, str) else self._int_to_go(t)

        def convert(x: Any) -> Any:
            if type(x) is cls:
                return x.value
            kind: type[Exception] = TypeError
            try:
                value = plain_value(x)
                kind = ValueError
                return cls(value).value
            except (ValueError, ConversionError):
                got = reprlib.repr(x)
                raise ConversionError(kind, f"want {cls.__name__}, one of {members}, got {got}") from None

        return convert

    def _enum_to_python(self, t: Described) -> Convert:
        cls = self.class_of(t)

        def convert(value: Any) -> Any:
            try:
                return cls(value)
            except ValueError:
                return value  # Go's constants are not all values of their type

        return convert

    def _optional_to_go(self, t: Described) -> Convert:
        element = self.to_go(t["elem"])
        return lambda x: None if x is None else element(x)

    def _optional_to_python(self, t: Described) -> Convert | None:
        element = self.to_python(t["elem"])
        return None if element is None else lambda x: None if x is None else element(x)


def converted(convert: Convert, place: str) -> Convert:
    """A conversion whose errors name the function and the argument, or the result."""

    def of(x: Any, like: object = None) -> Any:
        try:
            return convert(x)
        except ConversionError as refusal:
            raise refusal.raised(place) from None

    return of


def same(x: Any) -> Any:
    return x


def wrong(x: object, wanted: str) -> Any:
    raise ConversionError(TypeError, f"want {wanted}, got {type(x).__name__}")


def item(x: Any, kind: type, wanted: str) -> Any:
    """The element of NumPy's scalars, and of arrays without axes."""
    value = x.item() if hasattr(x, "item") and getattr(x, "ndim", 1) == 0 else None
    return value if isinstance(value, kind) else wrong(x, wanted)


def whole(x: Any) -> int:
    return index(x) if hasattr(x, "__index__") else int(item(x, int, "an int"))


def real(x: Any) -> float:
    if isinstance(x, str) or not (hasattr(x, "__float__") or hasattr(x, "__index__")):
        wrong(x, "a float")
    return float(x)


def octets(x: Any) -> bytes:
    try:
        view = memoryview(x)
    except TypeError:
        view = None
    if view is None or view.itemsize != 1 or view.ndim != 1:
        return wrong(x, "bytes")  # type: ignore[no-any-return]
    return view.tobytes()


def dtype_kind(x: Any) -> str | None:
    """NumPy's letter for the kind of an array or a scalar: "M" for times, "m" for durations."""
    return getattr(getattr(x, "dtype", None), "kind", None)


def elements_of(x: Any) -> Any:
    """The elements of a list, of any other iterable, or of an array."""
    if isinstance(x, (list, tuple)):
        return x
    if isinstance(x, (str, bytes, Mapping, Set)) or not hasattr(x, "__iter__"):
        wrong(x, "a list")
    if getattr(x, "ndim", 1) == 0:
        wrong(x, "a list, or an array with an axis")
    if hasattr(x, "to_pylist"):  # pyarrow's
        return x.to_pylist()
    return x if dtype_kind(x) in ("M", "m") or not hasattr(x, "tolist") else x.tolist()


def values_of(x: Any, cls: Any) -> list[Any]:
    """A record's fields: of a mapping, or of an object that stores them, such as a dataclass."""
    names: tuple[str, ...] = cls._fields
    wanted = f"{cls.__name__}({', '.join(names)})"
    if isinstance(x, Mapping):
        missing = [name for name in names if name not in x]
        unknown = [k for k in x if k not in names] if missing or len(x) > len(names) else []
        if unknown or missing:
            what = f"the unknown field {reprlib.repr(unknown[0])}" if unknown else f"no field {missing[0]!r}"
            raise ConversionError(ValueError, f"want {wanted}, got {what}")
        return [x[name] for name in names]
    if isinstance(x, type) or not all(stores(x, name) for name in names):
        wrong(x, f"{wanted}, a dict or an object with these attributes")
    return [getattr(x, name) for name in names]


def stores(x: Any, name: str) -> bool:
    """Whether an object stores an attribute: what its class computes, such as a pandas row's name, is another thing."""
    return (
        name in getattr(x, "__dict__", ())
        or isinstance(getattr(type(x), name, None), MemberDescriptorType)
        or (isinstance(x, tuple) and name in getattr(x, "_fields", ()))
    )


def time_parts(x: Any) -> list[int]:
    """Seconds since 1970, nanoseconds, and seconds east of Greenwich."""
    if dtype_kind(x) == "M" and getattr(x, "ndim", 1) == 0:  # NumPy's times are UTC
        x = x.astype("M8[us]").item()
        x = x.replace(tzinfo=UTC) if isinstance(x, datetime) else x
    if not isinstance(x, datetime) or x != x:  # pandas' NaT is a datetime
        wrong(x, "a datetime")
    exact = datetime(x.year, x.month, x.day, x.hour, x.minute, x.second, x.microsecond, x.tzinfo, fold=x.fold)
    if exact.utcoffset() is None:  # it is local time
        try:
            exact = exact.replace(tzinfo=None).astimezone()
        except (ValueError, OverflowError):
            raise ConversionError(ValueError, "there is no local time then: want a datetime with a time zone") from None
    since = exact - EPOCH
    offset = exact.utcoffset() or timedelta()
    nanoseconds = since.microseconds * 1000 + int(getattr(x, "nanosecond", 0))
    return [since.days * 86400 + since.seconds, nanoseconds, round(offset.total_seconds())]


def time_of(parts: Any) -> datetime:
    seconds, nanoseconds, east = parts
    try:
        zone = timezone(timedelta(seconds=east)) if east else UTC
        local = datetime(1970, 1, 1) + timedelta(seconds=seconds + east, microseconds=nanoseconds // 1000)
    except (ValueError, OverflowError):
        raise ConversionError(
            OverflowError, f"want a time of the years 1 to 9999, got {seconds} seconds since 1970, {east} s east"
        ) from None
    return local.replace(tzinfo=zone)


def nanoseconds_of(x: Any) -> int:
    """The nanoseconds of a timedelta, whose class may compute its attributes in another way."""
    if dtype_kind(x) == "m" and getattr(x, "ndim", 1) == 0:
        x = x.astype("m8[us]").item()
    if not isinstance(x, timedelta) or x != x:
        wrong(x, "a timedelta")
    days: int = timedelta.days.__get__(x)
    seconds: int = timedelta.seconds.__get__(x)
    microseconds: int = timedelta.microseconds.__get__(x)
    total = ((days * 86400 + seconds) * 10**6 + microseconds) * 1000 + int(getattr(x, "nanoseconds", 0))
    if not -(2**63) <= total < 2**63:
        raise ConversionError(OverflowError, f"want a timedelta of at most {LONGEST} days, got {days}")
    return total


def plain(x: Any) -> Any:
    """The tree of what JSON can say, and of bytes."""
    left = MOST

    def tree(x: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if depth > DEEPEST or left < 0:
            most = f"{DEEPEST} lists and dicts within each other" if depth > DEEPEST else f"{MOST} values"
            raise ConversionError(ValueError, f"want at most {most}")
        if x is None or isinstance(x, (bool, int, float, str, bytes)):
            return x
        if isinstance(x, (bytearray, memoryview)):
            return octets(x)
        if isinstance(x, Mapping):
            made: list[Any] = ["dict"]
            for key, value in x.items():
                made += [key if isinstance(key, str) else wrong(key, "a str as a key"), tree(value, depth + 1)]
            return made
        if isinstance(x, Sequence):
            return ["list", *[tree(value, depth + 1) for value in x]]
        value = x.tolist() if hasattr(x, "tolist") else x
        return wrong(x, "a value that JSON can say") if type(value) is type(x) else tree(value, depth + 1)

    return tree(x, 0)


def unplain(tree: Any) -> Any:
    if not isinstance(tree, list):
        return tree
    if tree[0] == "list":
        return [unplain(value) for value in tree[1:]]
    return {tree[i]: unplain(tree[i + 1]) for i in range(1, len(tree), 2)}
