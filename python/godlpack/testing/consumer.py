"""What a from_dlpack must do."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

from .peers import FAILS, Managed, Nothing, Old, Producer, Raising, Stale, published
from .producer import Export, usual
from .records import READ_ONLY, Versioned, values_of
from .report import Broken, Checks, NotApplicable, Report, demand, told

FIRST = [0.0, 1.0, 2.0]
HUGE = 2**62
checks = Checks()
rule = checks.rule
Take = Callable[..., Any]


def check_consumer(
    function: Take, *, name: str = "", back: Callable[[Any], Any] | None = None, dangerous: bool = False
) -> Report:
    """Checks a function that makes an object out of one with __dlpack__. What it makes must have __dlpack__, too, or
    back() must make such an object of it.

        report = check_consumer(torch.from_dlpack)
        print(report)

    dangerous: also tries what is known to end the process of some consumers.
    """
    consumer = Consumer(function, back or (lambda x: x))
    return checks.run(name or f"consumer {getattr(function, '__name__', function)}", [(consumer,)], dangerous)


class Consumer:
    """A consumer under test."""

    def __init__(self, function: Take, back: Callable[[Any], Any]) -> None:
        self.take, self._back = function, back

    def look(self, made: Any) -> Export:
        """What the consumer made, as it exports it."""
        return usual(self._back(made))

    def accepts(self, producer: Producer, values: list[float] | None = None) -> None:
        """Takes a good tensor: its memory or a copy of it is there until the end, and it is given back once."""
        made = self.take(producer)
        if values is not None:
            with self.look(made) as export:
                seen = values_of(export.record)
                demand(seen == values, f"{seen} for {values}")
        held = producer.forged.deleted
        del made
        settle(producer, held)

    def refuses(self, producer: Producer) -> None:
        """Is given a bad tensor: an exception, and the tensor is given back once."""
        try:
            made = self.take(producer)
        except Exception:
            pass
        else:
            del made
            settle(producer, 0)
            demand(False, "an object")
        settle(producer, 0)

    def needs_versioned(self) -> None:
        """Asks for nothing of a consumer that takes legacy capsules only."""
        producer = Producer(Managed())
        try:
            self.take(producer)
        except Exception as error:
            raise NotApplicable("takes legacy capsules only") from error
        finally:
            gc.collect()
            producer.settle()

    def either(self, *shape: Any, **fields: Any) -> list[Producer]:
        """A legacy producer, and a versioned one if the consumer takes such."""
        producers = [Producer(Managed(*shape, legacy=True, **fields))]
        try:
            self.needs_versioned()
        except NotApplicable:
            return producers
        return [*producers, Producer(Managed(*shape, **fields))]


def settle(producer: Producer, before: int) -> None:
    gc.collect()
    calls = producer.settle()
    demand(calls == 1, f"{calls} calls of the deleter, {before} of them while the object lived")


# ---- the call ----


@rule("R31", "an object without __dlpack__ is refused with AttributeError or TypeError")
def no_producer(c: Consumer) -> None:
    try:
        c.take(Nothing())
    except (AttributeError, TypeError):
        return
    except Exception as error:
        demand(False, told(error))
    demand(False, "an object")


@rule("R33", "a producer is asked with max_version first")
def max_version(c: Consumer) -> None:
    producer = Raising(BufferError("no"))
    try:
        c.take(producer)
    except Exception:
        demand(producer.calls and "max_version" in producer.calls[0], producer.calls[:1])


@rule("R33", "a producer that knows stream only is asked again")
def old_producer(c: Consumer) -> None:
    c.accepts(Old(Managed(legacy=True)), FIRST)


@rule("R49", "the producer's exception comes through")
def exception(c: Consumer) -> None:
    for error in (BufferError("mine"), ValueError("mine"), ZeroDivisionError("mine")):
        try:
            c.take(Raising(error))
        except Exception as caught:
            demand(caught is error, told(caught))
        else:
            demand(False, "an object")


# ---- versions and flags ----


@rule("R34", "a tensor of major version 2 is refused, and given back unread")
def next_major(c: Consumer) -> None:
    c.needs_versioned()
    c.refuses(Producer(Managed(version=(2, 0), ndim=-5, data=0x10)))


@rule("R35", "higher minor versions are taken")
def next_minor(c: Consumer) -> None:
    c.needs_versioned()
    c.accepts(Producer(Managed(version=(1, 99))), FIRST)


@rule("R35", "unknown flags are ignored")
def unknown_flags(c: Consumer) -> None:
    c.needs_versioned()
    c.accepts(Producer(Managed(flags=1 << 40)), FIRST)


@rule("R35", "an unknown type code is refused")
def unknown_dtype(c: Consumer) -> None:
    for producer in c.either(dtype=(99, 32, 1)):
        c.refuses(producer)


# ---- who owns ----


@rule("R36", "the capsule is used, and the deleter called once, when the last object has gone")
def ownership(c: Consumer) -> None:
    for producer in c.either():
        made = c.take(producer)
        held, used = producer.forged.deleted, len(producer.capsules) - producer.live
        with c.look(made) as export:
            shares = export.record.address() == producer.forged.data
        del made
        settle(producer, held)
        demand(used == 1, f"{used} used capsules")
        demand(held == 0 or not shares, "deleted while its memory is shared")


@rule("R36", "a tensor without deleter is taken", dangerous=True)
def no_deleter(c: Consumer) -> None:
    c.take(Producer(Managed(deleter=False, legacy=True)))


@rule("R37", "what is refused is given back once: in its live capsule, or by its deleter")
def refusal(c: Consumer) -> None:
    for producer in c.either(dtype=(6, 1, 1)):
        with contextlib.suppress(Exception):
            c.take(producer)
        settle(producer, 0)


@rule("R38", "a capsule is taken once")
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


# ---- layouts ----


@rule("R39", "the data starts at data + byte_offset")
def byte_offset(c: Consumer) -> None:
    for offset in (64, 4):
        for producer in c.either(byte_offset=offset):
            c.accepts(producer, [v + offset / 4 for v in FIRST])


@rule("R40", "strides of NULL are those of row-major order")
def no_strides(c: Consumer) -> None:
    for producer in c.either((2, 2), None):
        c.accepts(producer, [0.0, 1.0, 2.0, 3.0])


@rule("R40", "without dimensions, shape may be NULL")
def no_shape(c: Consumer) -> None:
    for producer in c.either(None, None):
        c.accepts(producer, [0.0])


@rule("R40", "strides of extents of 1 mean nothing")
def odd_strides(c: Consumer) -> None:
    for producer in c.either((1, 3), (77, 1)):
        c.accepts(producer, FIRST)


@rule("R41", "without elements, data may be NULL")
def empty(c: Consumer) -> None:
    for producer in c.either((0, 3), data=None):
        c.accepts(producer, [])


@rule("R41", "with elements, data may not be NULL")
def no_memory(c: Consumer) -> None:
    for producer in c.either(data=None):
        c.refuses(producer)


@rule("R42", "a negative number of dimensions is refused", dangerous=True)
def negative_ndim(c: Consumer) -> None:
    for producer in c.either(ndim=-1):
        c.refuses(producer)


@rule("R42", "a negative extent is refused")
def negative_extent(c: Consumer) -> None:
    for producer in c.either((3, -1), (1, 1)):
        c.refuses(producer)


@rule("R42", "more elements than can be counted are refused")
def overflow(c: Consumer) -> None:
    for producer in c.either((HUGE, HUGE)):
        c.refuses(producer)


@rule("R42", "negative strides are read right, or refused")
def negative_strides(c: Consumer) -> None:
    right_or_refused(c, ((3,), (-1,)), [2.0, 1.0, 0.0], byte_offset=8)


@rule("R42", "overlapping elements are read right, or refused")
def overlap(c: Consumer) -> None:
    right_or_refused(c, ((2, 2), (1, 1)), [0.0, 1.0, 1.0, 2.0])


@rule("R46", "lanes are kept, or refused")
def lanes(c: Consumer) -> None:
    for producer in c.either((3,), dtype=(2, 32, 4)):
        try:
            made = c.take(producer)
        except Exception:
            settle(producer, 0)
            continue
        with c.look(made) as export:
            seen = export.record.dims(), export.record.dtype_triple()
        del made
        settle(producer, 0)
        demand(seen in (((3,), (2, 32, 4)), ((3, 4), (2, 32, 1))), seen)


@rule("R46", "no lanes are refused")
def no_lanes(c: Consumer) -> None:
    for producer in c.either(dtype=(2, 32, 0)):
        c.refuses(producer)


def right_or_refused(c: Consumer, layout: tuple[Any, ...], values: list[float], **fields: Any) -> None:
    for producer in c.either(*layout, **fields):
        try:
            c.accepts(producer, values)
        except Broken:
            raise
        except Exception:
            settle(producer, 0)


# ---- read-only, copies, devices ----


@rule("R43", "read-only memory stays read-only")
def read_only(c: Consumer) -> None:
    c.needs_versioned()
    producer = Producer(Managed(flags=READ_ONLY))
    made = c.take(producer)
    with c.look(made) as export:
        shares = export.record.address() == producer.forged.data
        writable = isinstance(export.managed, Versioned) and not export.flags & READ_ONLY
    del made
    settle(producer, 0)
    demand(not (shares and writable), "an object that can be written")


@rule("R47", "copy=True copies, also where the producer does not")
def copy(c: Consumer) -> None:
    producer = Producer(Managed(legacy=True))
    try:
        made = c.take(producer, copy=True)
    except TypeError as error:
        producer.settle()
        raise NotApplicable("has no copy argument") from error
    with c.look(made) as export:
        shares = export.record.address() == producer.forged.data
    del made
    settle(producer, 0)
    demand(not shares, "the producer's memory")


@rule("R48", "a device of an unknown type is refused")
def unknown_device(c: Consumer) -> None:
    for producer in c.either(device=(99, 0)):
        c.refuses(producer)


# ---- exchange tables of others ----


def needs_table(c: Consumer) -> None:
    x = published(Managed(), second=Managed(legacy=True))
    made = c.take(x)
    del made
    gc.collect()
    x.settle()
    if not x.taken:
        raise NotApplicable("does not look at exchange tables")


@rule("R62", "a table on the object, not on its type, is ignored")
def table_of_instance(c: Consumer) -> None:
    needs_table(c)
    exporter = published(Managed())
    x = Producer(Managed(legacy=True))
    for name in vars(type(exporter)):
        if name.startswith("__dlpack_c"):
            setattr(x, name, getattr(exporter, name))
    c.accepts(x, FIRST)
    demand(x.calls, "the table's tensor")


@rule("R64", "a table of a major version to come is not used")
def next_table(c: Consumer) -> None:
    needs_table(c)
    x = published(Managed(), version=(2, 0), from_py=FAILS, second=Managed(legacy=True))
    c.accepts(x, FIRST)


@rule("R67", "where a table fails, __dlpack__ is asked")
def failing_table(c: Consumer) -> None:
    needs_table(c)
    c.accepts(published(Managed(), from_py=FAILS, second=Managed(legacy=True)), FIRST)


@rule("R61", "what comes by a table is checked, and given back if it is refused")
def bad_tensor_by_table(c: Consumer) -> None:
    needs_table(c)
    bad = Managed(version=(2, 0), ndim=-5, data=0x10)
    x = published(bad, second=Managed(legacy=True))
    try:
        made = c.take(x)
        del made
    except Exception:
        pass
    gc.collect()
    demand(bad.deleted == x.taken, f"{bad.deleted} calls of the deleter for {x.taken} exports")
    demand(x.calls or not x.capsules, "the tensor")
