"""The checks of a from_dlpack."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .peers import (
    FAILS,
    FAILS_WITH_TYPE_ERROR,
    FLOAT32,
    RAISES_ONLY,
    Managed,
    Nothing,
    Old,
    Producer,
    Raising,
    Stale,
    gives_nothing,
    published,
    says_nothing,
)
from .producer import Export, usual
from .records import OLD_TABLE_NAME, PADDED, READ_ONLY, TABLE_NAME, Versioned, name_of, values_of
from .report import Broken, Checks, NotApplicable, Report, demand, told

FIRST = [0.0, 1.0, 2.0]
HUGE = 2**62
OVERWRITTEN = 2**16  # more calls of a deleter than any consumer makes
checks = Checks()
rule = checks.rule
Take = Callable[..., Any]


def check_consumer(
    function: Take, *, name: str = "", back: Callable[[Any], Any] | None = None, isolated: bool | None = None
) -> Report:
    """Check a function that makes an object of one with ``__dlpack__``.

    Parameters
    ----------
    function : callable
        A function of one argument, such as ``torch.from_dlpack``.
    name : str, optional
        Name of the subject in the report. Default: the function's.
    back : callable, optional
        A function that makes an object with ``__dlpack__`` of what
        `function` returns. Default: `function` returns such objects.
    isolated : bool, optional
        Run the checks in a forked child, in which a crash or a hang is a
        finding. Default: True if the subject works there.

    Returns
    -------
    Report
        What the checks found.

    Raises
    ------
    TypeError
        `function` cannot be called with one argument.

    Examples
    --------
    >>> import godlpack as gd
    >>> from godlpack.testing import check_consumer
    >>> report = check_consumer(gd.from_dlpack)
    >>> [finding.got for finding in report.failed]
    ['BufferError: ...Producer: data: want a pointer or NULL, got 0x10']
    >>> report.raise_if_failed(known=["R41 dangling"])
    """
    wants_one_argument(function)
    consumer = Consumer(function, back or (lambda x: x))
    name = name or f"consumer {getattr(function, '__name__', function)}"
    return checks.run(name, [(consumer,)], isolated, rehearsal=lambda c: c.rehearse())


def wants_one_argument(function: Any) -> None:
    """Raises TypeError for anything that cannot be called with one object."""
    if not callable(function):
        raise TypeError(f"want a function like from_dlpack, got {type(function).__name__}")
    with contextlib.suppress(ValueError):  # some functions have no signature
        signature = inspect.signature(function)
        try:
            signature.bind(None)
        except TypeError as error:
            raise TypeError(f"want a function like from_dlpack, which takes an object: {error}") from error


class Consumer:
    """A consumer under test."""

    def __init__(self, function: Take, back: Callable[[Any], Any]) -> None:
        self.take, self._back = function, back

    def look(self, made: Any) -> Export:
        """A new export of the object that the consumer made."""
        return usual(self._back(made))

    def rehearse(self) -> None:
        """Takes a good tensor."""
        self.accepts(Producer(Managed(legacy=True)), FIRST)

    @cached_property
    def balanced(self) -> bool:
        """Whether a good tensor is released once. If not, only the checks of R36 and R37 report it."""
        producer = Producer(Managed(legacy=True))
        with contextlib.suppress(Exception):
            self.take(producer)
        gc.collect()
        return producer.settle() == 1

    def settle(self, producer: Producer, before: int = 0, strict: bool = False) -> None:
        """Requires that a tensor, taken or refused, has been released exactly once by now."""
        gc.collect()
        calls = producer.settle()
        counts = f"{calls} calls of the deleter, {before} of them while the object lived"
        if abs(calls) >= OVERWRITTEN:
            counts = "the record was overwritten: its version, where the deleter counts its calls"
        demand(calls == 1 or not (strict or self.balanced), counts)

    def accepts(self, producer: Producer, values: list[float] | None = None) -> None:
        """Requires that a good tensor is taken: its memory, or a copy, stays until the end, and it is released once."""
        made = self.take(producer)
        if values is not None:
            with self.look(made) as export:
                seen = values_of(export.record)
                demand(seen == values, f"{seen} for {values}")
        held = producer.forged.deleted
        del made
        self.settle(producer, held)

    def refuses(self, producer: Producer) -> None:
        """Requires that a bad tensor is refused: an exception, and the tensor is released once."""
        try:
            made = self.take(producer)
        except Exception:
            pass
        else:
            del made
            self.settle(producer)
            demand(False, "an object")
        self.settle(producer)

    def needs_versioned(self) -> None:
        """Makes the check not applicable to a consumer that takes legacy capsules only."""
        producer = Producer(Managed())
        try:
            self.take(producer)
        except Exception as error:
            raise NotApplicable("takes legacy capsules only") from error
        finally:
            gc.collect()
            producer.settle()

    def either(self, *shape: Any, **fields: Any) -> list[Producer]:
        """A legacy producer, and a versioned one if the consumer takes those."""
        producers = [Producer(Managed(*shape, legacy=True, **fields))]
        try:
            self.needs_versioned()
        except NotApplicable:
            return producers
        return [*producers, Producer(Managed(*shape, **fields))]


# ---- the call ----


@rule(
    "R31",
    "an object without __dlpack__ is refused with AttributeError or TypeError",
    "call x.__dlpack__ and let the AttributeError through, or raise TypeError with the type's name",
)
def no_producer(c: Consumer) -> None:
    try:
        c.take(Nothing())
    except (AttributeError, TypeError):
        return
    except Exception as error:
        demand(False, told(error))
    demand(False, "an object")


@rule(
    "R33",
    "a producer is called with max_version first",
    "call x.__dlpack__(max_version=(1, 0)), and after a TypeError once more without it",
)
def max_version(c: Consumer) -> None:
    producer = Raising(BufferError("no"))
    try:
        c.take(producer)
    except Exception:
        demand(producer.calls and "max_version" in producer.calls[0], producer.calls[:1])
        version = producer.calls[0]["max_version"]
        demand(isinstance(version, tuple) and len(version) == 2 and version[0] == 1, f"max_version={version!r}")


@rule(
    "R33",
    "a producer that takes only stream is called again",
    "after a TypeError, call x.__dlpack__() with stream or nothing",
)
def old_producer(c: Consumer) -> None:
    c.accepts(Old(Managed(legacy=True)), FIRST)


@rule(
    "R33",
    "a producer on the CPU is given no stream",
    "pass stream only to producers on CUDA and ROCm, else leave it out or None",
)
def no_stream(c: Consumer) -> None:
    producer = Raising(BufferError("no"))
    with contextlib.suppress(Exception):
        c.take(producer)
    demand(all(call.get("stream") is None for call in producer.calls), producer.calls)


@rule(
    "R49",
    "the producer's exception is raised, without another call",
    "catch TypeError only, for older producers: a BufferError is final",
)
def exception(c: Consumer) -> None:
    for error in (BufferError("mine"), ValueError("mine"), ZeroDivisionError("mine")):
        producer = Raising(error)
        try:
            c.take(producer)
        except Exception as caught:
            demand(caught is error, told(caught))
        else:
            demand(False, f"an object, for {told(error)}")
        demand(len(producer.calls) == 1, f"{len(producer.calls)} calls of a producer that raised {told(error)}")


@rule(
    "R49",
    "a producer that returned a capsule is not called again",
    "use the capsule of the first call that returns one",
)
def asked_once(c: Consumer) -> None:
    for producer in c.either():
        c.accepts(producer)
        demand(len(producer.calls) == 1, f"{len(producer.calls)} calls: {producer.calls}")


# ---- versions and flags ----

CHECK_VERSION = "look at version.major before you read anything else; if it is not yours, call the deleter (or leave the capsule alone), and raise BufferError"


@rule("R34", "a good tensor of major version 2 is refused: its record may mean something else", CHECK_VERSION)
def next_major(c: Consumer) -> None:
    c.needs_versioned()
    c.refuses(Producer(Managed(version=(2, 0))))


@rule("R34", "a tensor of major version 2 is released without being read", CHECK_VERSION, dangerous=True)
def next_major_unread(c: Consumer) -> None:
    c.needs_versioned()
    c.refuses(Producer(Managed(version=(2, 0), ndim=-5, data=0x10)))


@rule("R34", "a tensor of major version 0 is refused in a versioned capsule", CHECK_VERSION)
def major_zero(c: Consumer) -> None:
    c.needs_versioned()
    c.refuses(Producer(Managed(version=(0, 8))))


@rule("R35", "higher minor versions are taken", "compare the major version only")
def next_minor(c: Consumer) -> None:
    c.needs_versioned()
    c.accepts(Producer(Managed(version=(1, 99))), FIRST)


@rule("R35", "lower minor versions are taken", "compare the major version only")
def first_minor(c: Consumer) -> None:
    c.needs_versioned()
    c.accepts(Producer(Managed(version=(1, 0))), FIRST)


@rule("R35", "unknown flags are ignored", "test flags bit by bit, never as a whole")
def unknown_flags(c: Consumer) -> None:
    c.needs_versioned()
    c.accepts(Producer(Managed(flags=1 << 40)), FIRST)


CHECK_DTYPE = "look the pair of code and bits up in a list, and raise BufferError for what is not in it"


@rule("R35", "an unknown type code is refused", CHECK_DTYPE)
def unknown_dtype(c: Consumer) -> None:
    for producer in c.either(dtype=(99, 32, 1)):
        c.refuses(producer)


@rule("R35", "a known type code with bits that it cannot have is refused", CHECK_DTYPE)
def unknown_bits(c: Consumer) -> None:
    for dtype in ((2, 24, 1), (2, 0, 1), (6, 32, 1)):
        for producer in c.either(dtype=dtype):
            c.refuses(producer)


# ---- ownership ----


@rule(
    "R36",
    "the capsule is marked as used, and the deleter called once, when the last object is destroyed",
    "rename the capsule with PyCapsule_SetName once you own the tensor, and call the deleter when the last view is destroyed",
)
def ownership(c: Consumer) -> None:
    for producer in c.either():
        made = c.take(producer)
        held, used = producer.forged.deleted, len(producer.capsules) - producer.live
        with c.look(made) as export:
            shares = export.record.address() == producer.forged.data
        del made
        c.settle(producer, held, strict=True)
        demand(used == 1, f"{used} used capsules")
        demand(held == 0 or not shares, "deleted while its memory is shared")


@rule(
    "R36",
    'a used capsule is named "used_dltensor" or "used_dltensor_versioned"',
    "rename it to its own name with used_ before it, a C string literal",
)
def used_name(c: Consumer) -> None:
    for producer in c.either():
        c.accepts(producer)
        kind = "used_dltensor_versioned" if isinstance(producer.forged.managed, Versioned) else "used_dltensor"
        names = [name_of(capsule) for capsule in producer.capsules]
        demand(names == [kind], f"{names} for {kind}")


@rule(
    "R36",
    "the memory is held while an export of the object exists",
    "own the managed tensor by what your own exports hold, not by the first object",
)
def held_by_exports(c: Consumer) -> None:
    for producer in c.either():
        made = c.take(producer)
        export = c.look(made)
        shares = export.record.address() == producer.forged.data
        del made
        gc.collect()
        held = producer.forged.deleted
        export.__exit__()
        del export
        c.settle(producer, held)
        demand(held == 0 or not shares, "deleted while its memory is exported")


@rule(
    "R36",
    "no reference to the producer or its capsule stays",
    "give back the references to the producer and the capsule on every way out",
)
def references(c: Consumer) -> None:
    for producer in c.either():
        c.accepts(producer)  # the first call fills caches
        for dtype in (FLOAT32, (99, 32, 1)):
            other = Producer(Managed(legacy=not isinstance(producer.forged.managed, Versioned), dtype=dtype))
            before = sys.getrefcount(other)
            with contextlib.suppress(Exception):
                c.take(other)
            gc.collect()
            more = sys.getrefcount(other) - before
            more_of_capsule = sys.getrefcount(other.capsules[0]) - 2 if other.capsules else 0
            demand(not more and not more_of_capsule, f"{more:+} of the producer, {more_of_capsule:+} of the capsule")


@rule(
    "R36",
    "the deleter is called although manager_ctx is NULL",
    "call the deleter whatever manager_ctx is: it is the producer's own",
)
def no_context(c: Consumer) -> None:
    for producer in c.either(context=False):
        c.accepts(producer, FIRST)


@rule("R36", "a tensor without deleter is taken", "test the deleter for NULL before you call it", dangerous=True)
def no_deleter(c: Consumer) -> None:
    made = c.take(Producer(Managed(deleter=False, legacy=True)))
    del made
    gc.collect()


@rule(
    "R37",
    "a refused tensor is released once: by its live capsule, or by its deleter",
    "rename the capsule after the last thing that can fail, or call the deleter where you fail later",
)
def refusal(c: Consumer) -> None:
    for fields in ({"dtype": (6, 1, 1)}, {"dtype": (99, 32, 1)}, {"device": (99, 0)}, {"data": None}):
        for producer in c.either(**fields):
            with contextlib.suppress(Exception):
                c.take(producer)
            c.settle(producer, strict=True)


@rule("R38", "a capsule is consumed only once", "refuse a capsule whose name is not the live one, by PyCapsule_IsValid")
def used_capsule(c: Consumer) -> None:
    producer = Stale(Managed(legacy=True))
    made = c.take(producer)
    try:
        c.take(producer)
    except Exception:
        return
    finally:
        del made
        gc.collect()
    demand(False, "an object")


@rule("R38", "an object that is not a live capsule is refused", "check what __dlpack__ returned by PyCapsule_IsValid")
def no_capsule(c: Consumer) -> None:
    for answer in (None, 7, Managed().capsule("other")):
        producer = Stale(Managed())
        producer.capsules.append(answer)
        try:
            c.take(producer)
        except Exception:
            continue
        demand(False, f"an object, for {answer!r}")


# ---- layouts ----


@rule("R39", "the data starts at data + byte_offset", "add byte_offset to data wherever you read data")
def byte_offset(c: Consumer) -> None:
    for offset in (64, 4):
        for producer in c.either(byte_offset=offset):
            c.accepts(producer, [v + offset / 4 for v in FIRST])


@rule(
    "R40",
    "strides of NULL are those of row-major order",
    "compute strides from the shape where they are NULL",
    dangerous=True,
)
def no_strides(c: Consumer) -> None:
    for producer in c.either((2, 2), None):
        c.accepts(producer, [0.0, 1.0, 2.0, 3.0])


@rule("R40", "without dimensions, shape may be NULL", "do not read shape where ndim is 0", dangerous=True)
def no_shape(c: Consumer) -> None:
    for producer in c.either(None, None):
        c.accepts(producer, [0.0])


@rule("R40", "strides of axes of extent 1 are ignored", "skip extents of 1 where you ask if strides are compact")
def odd_strides(c: Consumer) -> None:
    for producer in c.either((1, 3), (77, 1)):
        c.accepts(producer, FIRST)


@rule("R40", "strides of empty tensors are ignored", "do not check strides where an extent is 0")
def odd_strides_of_empty(c: Consumer) -> None:
    for producer in c.either((0, 3), (0, 0)):
        c.accepts(producer, [])


@rule("R41", "without elements, data may be NULL", "test data for NULL only where there are elements")
def empty(c: Consumer) -> None:
    for producer in c.either((0, 3), data=None):
        c.accepts(producer, [])


@rule(
    "R41",
    "without elements, data may be any pointer, and is not read",
    "do not touch data where an extent is 0",
    dangerous=True,
)
def dangling(c: Consumer) -> None:
    for producer in c.either((0, 3), data=0x10):
        c.accepts(producer, [])


@rule(
    "R41",
    "with elements, data may not be NULL",
    "raise BufferError where data is NULL and no extent is 0",
    dangerous=True,
)
def no_memory(c: Consumer) -> None:
    for producer in c.either(data=None):
        c.refuses(producer)


CHECK_SHAPE = "check ndim (0 to 64), extents (>= 0), their product in bytes, and shape for NULL before you use them, and raise BufferError"


@rule("R42", "a negative number of dimensions is refused", CHECK_SHAPE, dangerous=True)
def negative_ndim(c: Consumer) -> None:
    for producer in c.either(ndim=-1):
        c.refuses(producer)


@rule("R42", "a shape of NULL is refused where there are dimensions", CHECK_SHAPE, dangerous=True)
def missing_shape(c: Consumer) -> None:
    for producer in c.either(None, None, ndim=2):
        c.refuses(producer)


@rule("R42", "very many dimensions are read correctly, or refused", CHECK_SHAPE, dangerous=True)
def many_dimensions(c: Consumer) -> None:
    right_or_refused(c, ((1,) * 4096,), [0.0])


@rule("R42", "a negative extent is refused", CHECK_SHAPE)
def negative_extent(c: Consumer) -> None:
    for shape in ((3, -1), (-3,)):
        for producer in c.either(shape, (1,) * len(shape)):
            c.refuses(producer)


@rule("R42", "more elements than can be counted are refused", CHECK_SHAPE)
def overflow(c: Consumer) -> None:
    for shape in ((HUGE, HUGE), (HUGE, 2)):
        for producer in c.either(shape):
            c.refuses(producer)


STRIDES = "read elements by their strides, or raise BufferError for layouts that you do not support"


@rule("R42", "negative strides are read correctly, or refused", STRIDES)
def negative_strides(c: Consumer) -> None:
    right_or_refused(c, ((3,), (-1,)), [2.0, 1.0, 0.0], byte_offset=8)


@rule("R42", "overlapping elements are read correctly, or refused", STRIDES)
def overlap(c: Consumer) -> None:
    right_or_refused(c, ((2, 2), (1, 1)), [0.0, 1.0, 1.0, 2.0])
    right_or_refused(c, ((3,), (0,)), [0.0, 0.0, 0.0])


@rule("R42", "gaps, and other orders, are read correctly, or refused", STRIDES)
def gaps(c: Consumer) -> None:
    right_or_refused(c, ((3,), (2,)), [0.0, 2.0, 4.0])
    right_or_refused(c, ((2, 3), (1, 2)), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0])


@rule(
    "R42",
    "misaligned data is read correctly, or refused",
    "copy misaligned elements byte by byte, or raise BufferError",
)
def misaligned(c: Consumer) -> None:
    for producer in c.either(byte_offset=2):
        ctypes.memmove(producer.forged.data + 2, (ctypes.c_float * 3)(*FIRST), 12)
        attempt(c, producer, FIRST)


def right_or_refused(c: Consumer, layout: tuple[Any, ...], values: list[float], **fields: Any) -> None:
    for producer in c.either(*layout, **fields):
        attempt(c, producer, values)


def attempt(c: Consumer, producer: Producer, values: list[float]) -> None:
    """Requires that a tensor is taken correctly, or refused, either at once or when it is exported."""
    refused = False
    try:
        c.accepts(producer, values)
    except Broken:
        raise
    except Exception:
        refused = True
    if refused:  # after the exception has released the object
        c.settle(producer)


# ---- dtypes ----


def kept_or_refused(c: Consumer, producer: Producer, *kept: tuple[Any, ...]) -> None:
    """Requires that a tensor is refused, or taken with extents, dtype and padding flag that are in kept."""
    seen = None
    with contextlib.suppress(Exception), c.look(c.take(producer)) as export:
        seen = export.record.dims(), export.record.dtype_triple(), export.flags & PADDED
    c.settle(producer)
    demand(seen is None or seen in kept, f"{seen} for {kept[0]}")


KEEP_DTYPE = "keep code, bits and lanes as they came, or raise BufferError"


@rule("R21", "types below 8 bits are kept, or refused", f"{KEEP_DTYPE}: elements below 8 bits are packed")
def packed(c: Consumer) -> None:
    for dtype in ((17, 4, 1), (0, 4, 1), (6, 1, 1)):
        for producer in c.either((6,), dtype=dtype):
            kept_or_refused(c, producer, ((6,), dtype, 0))


@rule(
    "R21",
    "padded elements stay padded, or are refused",
    "look at flag 4 (IS_SUBBYTE_TYPE_PADDED) where bits is below 8, or raise BufferError",
)
def padded(c: Consumer) -> None:
    c.needs_versioned()
    producer = Producer(Managed((6,), dtype=(17, 4, 1), flags=PADDED))
    kept_or_refused(c, producer, ((6,), (17, 4, 1), PADDED))


@rule("R45", "bytes of bool beyond 1 are true, or refused", "read bool as a byte that is 0 or not")
def bool_bytes(c: Consumer) -> None:
    for producer in c.either(dtype=(6, 8, 1)):
        ctypes.memmove(producer.forged.data, b"\x00\x01\x02", 3)
        attempt(c, producer, [False, True, True])


@rule("R46", "lanes are kept, or refused", KEEP_DTYPE)
def lanes(c: Consumer) -> None:
    for producer in c.either((3,), dtype=(2, 32, 4)):
        kept_or_refused(c, producer, ((3,), (2, 32, 4), 0), ((3, 4), (2, 32, 1), 0))


@rule("R46", "a dtype of 0 lanes is refused", "raise BufferError where lanes is 0")
def no_lanes(c: Consumer) -> None:
    for producer in c.either(dtype=(2, 32, 0)):
        c.refuses(producer)


# ---- read-only, copies, devices ----


@rule(
    "R43",
    "read-only memory stays read-only",
    "keep flag 1 (READ_ONLY) with the object: refuse to write, and set it in your own exports",
)
def read_only(c: Consumer) -> None:
    c.needs_versioned()
    stays_read_only(c, Producer(Managed(flags=READ_ONLY)))


def stays_read_only(c: Consumer, producer: Producer) -> None:
    made = c.take(producer)
    with c.look(made) as export:
        shares = export.record.address() == producer.forged.data
        writable = isinstance(export.managed, Versioned) and not export.flags & READ_ONLY
    del made
    c.settle(producer)
    demand(not (shares and writable), "an object that can be written")


def taken(c: Consumer, producer: Producer, **keywords: Any) -> Any:
    try:
        return c.take(producer, **keywords)
    except TypeError as error:
        producer.settle()
        raise NotApplicable("has no copy argument") from error


@rule(
    "R47",
    "copy=True copies, also where the producer does not",
    "copy yourself where the answer to copy=True lacks flag 2 (IS_COPIED)",
)
def copy(c: Consumer) -> None:
    for producer in c.either():
        made = taken(c, producer, copy=True)
        with c.look(made) as export:
            shares = export.record.address() == producer.forged.data
            seen = values_of(export.record)
        del made
        c.settle(producer)
        demand(not shares, "the producer's memory")
        demand(seen == FIRST, f"{seen} for {FIRST}")


@rule("R47", "copy=False does not copy", "share the producer's memory, or raise BufferError or ValueError")
def no_copy(c: Consumer) -> None:
    producer = Producer(Managed(legacy=True))
    made = taken(c, producer, copy=False)
    with c.look(made) as export:
        shares = export.record.address() == producer.forged.data
    del made
    c.settle(producer)
    demand(shares, "other memory")


@rule(
    "R48", "a device of an unknown type is refused", "raise BufferError for devices other than those that you can reach"
)
def unknown_device(c: Consumer) -> None:
    for producer in c.either(device=(99, 0)):
        c.refuses(producer)


# ---- exchange tables of producers ----


def needs_table(c: Consumer) -> None:
    x = published(Managed(), second=Managed(legacy=True))
    made = c.take(x)
    del made
    gc.collect()
    x.settle()
    if not x.taken:
        raise NotApplicable("does not use exchange tables")


@rule("R62", "a table on the object, not on its type, is ignored", "look the attribute up on type(x), not on x")
def table_of_instance(c: Consumer) -> None:
    needs_table(c)
    exporter = published(Managed())
    x = Producer(Managed(legacy=True))
    for name in vars(type(exporter)):
        if name.startswith("__dlpack_c"):
            setattr(x, name, getattr(exporter, name))
    c.accepts(x, FIRST)
    demand(x.calls, "the table's tensor")


@rule(
    "R63",
    "a subclass with a table of its own is exported by that",
    "remember tables by exact type, never by isinstance",
)
def table_of_subclass(c: Consumer) -> None:
    needs_table(c)
    base = published(Managed(), second=Managed(legacy=True))
    c.accepts(base)
    own = published(Managed(byte_offset=12), second=Managed(byte_offset=12, legacy=True), base=type(base))
    c.accepts(own, [3.0, 4.0, 5.0])


FALL_BACK = "clear the exception of the table, and call __dlpack__"


@rule(
    "R64",
    "a table of a later major version is not used",
    "check the table's version.major, walk back by prev_api, or call __dlpack__",
)
def next_table(c: Consumer) -> None:
    needs_table(c)
    x = published(Managed(), version=(2, 0), from_py=FAILS, second=Managed(legacy=True))
    c.accepts(x, FIRST)


@rule(
    "R64",
    "a table that is published as an int, as in DLPack 1.2, is used or ignored",
    "take a capsule or an int under that name",
    dangerous=True,
)
def table_as_int(c: Consumer) -> None:
    needs_table(c)
    x = published(Managed(), second=Managed(legacy=True), as_int=True)
    c.accepts(x, FIRST)


@rule(
    "R64",
    "an attribute that is not a table is ignored",
    "take a capsule named dlpack_exchange_api only, else call __dlpack__",
    dangerous=True,
)
def no_table(c: Consumer) -> None:
    needs_table(c)
    for name, value in ((TABLE_NAME, "text"), (TABLE_NAME, None), (OLD_TABLE_NAME, 0)):
        x = type("Published", (Producer,), {name: value})(Managed(legacy=True))
        c.accepts(x, FIRST)


@rule("R67", "if a table fails, __dlpack__ is called", FALL_BACK)
def failing_table(c: Consumer) -> None:
    needs_table(c)
    for fails in (FAILS, FAILS_WITH_TYPE_ERROR):
        c.accepts(published(Managed(), from_py=fails, second=Managed(legacy=True)), FIRST)


@rule(
    "R67",
    "if a table returns inconsistent results, __dlpack__ is called",
    "take NULL, -1 without an exception, and 0 with one for failures; clear the exception, and call __dlpack__",
    dangerous=True,
)
def odd_table(c: Consumer) -> None:
    needs_table(c)
    for odd in (gives_nothing, says_nothing, RAISES_ONLY):
        c.accepts(published(Managed(), from_py=odd, second=Managed(legacy=True)), FIRST)


CHECK_TABLE = "check version, flags and record of what a table exports as you check those of a capsule; call its deleter if you refuse it"


@rule("R61", "a tensor from a table is checked, and released if it is refused", CHECK_TABLE, dangerous=True)
def bad_tensor_by_table(c: Consumer) -> None:
    needs_table(c)
    for fields in ({"version": (2, 0), "ndim": -5, "data": 0x10}, {"version": (2, 0)}, {"dtype": (99, 8, 1)}):
        bad = Managed(**fields)
        x = published(bad, second=Managed(legacy=True))
        taken = False
        with contextlib.suppress(Exception):
            c.take(x)
            taken = not x.calls
        gc.collect()
        demand(not taken, f"an object, for {fields}")
        demand(bad.deleted == x.taken, f"{bad.deleted} calls of the deleter for {x.taken} exports")


@rule("R61", "a read-only tensor from a table stays read-only", CHECK_TABLE)
def read_only_by_table(c: Consumer) -> None:
    needs_table(c)
    producer = published(Managed(flags=READ_ONLY), second=Managed(flags=READ_ONLY))
    made = c.take(producer)
    with c.look(made) as export:
        writable = isinstance(export.managed, Versioned) and not export.flags & READ_ONLY
    del made
    demand(not writable, "an object that can be written")
