"""The checks of __dlpack__ and __dlpack_device__."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterable
from ctypes import c_void_p
from dataclasses import dataclass
from typing import Any

from . import claims, isolation
from .records import (
    IS_COPIED,
    PADDED,
    READ_ONLY,
    Deleter,
    Legacy,
    Record,
    Versioned,
    address_of_name,
    delete_without_gil,
    managed_in,
    name_of,
    take,
    values_of,
)
from .records import delete as delete_managed
from .report import Broken, Checks, NotApplicable, Report, demand, told

VERSION = (1, 3)
PATIENCE = 20.0  # seconds until a thread counts as deadlocked
CPU, CUDA, ROCM = 1, 2, 10
HOST = (CPU, 3, 11, 13)  # including pinned and managed memory, whose device number is 0, too
checks, refusals = Checks(), Checks()
rule = checks.rule


@dataclass(frozen=True)
class Sample:
    """How to make an object that is checked, and whether it is read-only."""

    make: Callable[[], Any]
    read_only: bool = False

    def __call__(self) -> Any:
        return self.make()


def check_producer(
    *samples: Any,
    read_only: Iterable[Any] = (),
    refused: Iterable[Any] = (),
    name: str = "",
    isolated: bool | None = None,
) -> Report:
    """Check objects with ``__dlpack__``.

    Parameters
    ----------
    *samples : object with ``__dlpack__``, or callable
        Objects to check, or functions without arguments that make one. The
        rules about empty and 0-dimensional tensors and small floats need a
        sample of that kind.
    read_only : iterable, optional
        Further samples, of memory that must not be written.
    refused : iterable, optional
        Samples that DLPack cannot describe. Their ``__dlpack__`` must raise.
    name : str, optional
        Name of the subject in the report. Default: the type of the first
        sample.
    isolated : bool, optional
        Run the checks in a forked child, in which a crash or a hang is a
        finding. Default: True if the subject is on the CPU and works
        there.

    Returns
    -------
    Report
        What the checks found. A rule holds if it is tried on a sample and
        no sample breaks it.

    Raises
    ------
    TypeError
        There is no sample, or the first one has no ``__dlpack__``.

    Examples
    --------
    >>> import numpy as np
    >>> from godlpack.testing import check_producer
    >>> report = check_producer(
    ...     lambda: np.arange(6.0),
    ...     np.zeros((2, 3), order="F"),
    ...     refused=[np.array(["text"])],
    ... )
    >>> report.raise_if_failed()
    """
    found = [Sample(_maker(x)) for x in samples] + [Sample(_maker(x), read_only=True) for x in read_only]
    if not found:
        raise TypeError("want samples to check, got none")
    x = found[0]()
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"want an object with __dlpack__, or a function that makes one, got {type(x).__name__}")
    if isolated is None and not _on_the_host(x):
        isolated = False  # the drivers of other devices do not work in a forked child
    name = name or f"producer {type(x).__name__}"
    report = checks.run(
        name, [(sample,) for sample in found], isolated, rehearsal=lambda make: usual(make()).__exit__()
    )
    unwanted = refusals.run(name, [(_maker(x),) for x in refused] or [(None,)], isolated)
    ordered = sorted(report.findings + unwanted.findings, key=lambda finding: int(finding.rule[1:]))
    return Report(name, tuple(ordered))


def _maker(sample: Any) -> Callable[[], Any]:
    makes = isinstance(sample, type) or (callable(sample) and not hasattr(sample, "__dlpack__"))
    return sample if makes else lambda: sample


def _on_the_host(x: Any) -> bool:
    try:
        return x.__dlpack_device__()[0] in HOST
    except Exception:
        return True


class Export:
    """A managed tensor taken from an object's __dlpack__; deleted at the end of a with statement."""

    def __init__(self, x: Any, **keywords: Any) -> None:
        capsule = asked(x, **keywords)
        self.managed = take(capsule)
        self.record = self.managed.tensor
        # Used capsules are never freed: only one check is about destructors that delete taken tensors.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(capsule))

    @property
    def flags(self) -> int:
        return self.managed.flags if isinstance(self.managed, Versioned) else 0

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *_: object) -> None:
        delete_managed(self.managed)


def asked(x: Any, *arguments: Any, **keywords: Any) -> Any:
    """The result of __dlpack__. If a producer does not take max_version, one check reports it; others do not apply."""
    try:
        return x.__dlpack__(*arguments, **keywords)
    except TypeError as error:
        if "max_version" in keywords and is_old(x):
            raise NotApplicable("__dlpack__ does not take max_version: see R5 versioned") from error
        raise


def is_old(x: Any) -> bool:
    """Whether a producer is from before 2023: its __dlpack__ takes only stream."""
    try:
        x.__dlpack__(max_version=VERSION)
    except TypeError:
        return True
    except Exception:
        return False
    return False


def usual(x: Any) -> Export:
    """What x exports to a current consumer; a legacy export if x has nothing else."""
    try:
        return Export(x, max_version=VERSION)
    except (TypeError, NotApplicable):
        return Export(x)


def refusal(x: Any, *arguments: Any, **keywords: Any) -> Exception | None:
    """The exception that a call of __dlpack__ raises; None if it raises none."""
    try:
        capsule = asked(x, *arguments, **keywords)
    except NotApplicable:
        raise
    except Exception as error:
        return error
    delete_managed(take(capsule))
    return None


def wants(kind: type[Exception], error: Exception | None, what: object = "") -> None:
    """Requires that a call raised an exception of this kind."""
    for_what = f" for {what}" if what else ""
    demand(isinstance(error, kind), f"{told(error) if error else 'a capsule'}{for_what}")


def described(record: Record) -> tuple[Any, ...]:
    """What a record describes, apart from the address of its elements."""
    return record.dims(), record.steps() if record.size() else (), record.dtype_triple(), record.device_pair()


def churn() -> None:
    """Overwrites freed memory."""
    gc.collect()
    c = ctypes.CDLL(None)
    c.malloc.restype, c.malloc.argtypes, c.free.argtypes = c_void_p, [ctypes.c_size_t], [c_void_p]
    blocks = [(c.malloc(size), size) for size in range(16, 512, 16) for _ in range(4)]
    for block, size in blocks:
        ctypes.memset(block, 0xEE, size)
    own = [bytearray(b"\xee") * size for size in range(1, 512, 8) for _ in range(4)]
    for block, _ in blocks:
        c.free(block)
    del own


# ---- the call ----

KEYWORDS = "declare it as __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None)"


@rule("R1", "__dlpack__ takes keywords only: a positional argument is a TypeError", KEYWORDS)
def keyword_only(make: Sample) -> None:
    wants(TypeError, refusal(make(), None))


@rule("R2", "an unknown keyword is a TypeError", f"{KEYWORDS}, without **keywords")
def unknown_keyword(make: Sample) -> None:
    wants(TypeError, refusal(make(), nonsense=1))


@rule(
    "R3",
    "a valid argument of __dlpack__ is never a TypeError",
    "raise BufferError for a request that cannot be served: consumers take a TypeError for a producer from before 2023, and call again without max_version",
)
def no_type_error(make: Sample) -> None:
    for keywords in ({"dl_device": (99, 0)}, {"copy": False}, {"copy": True}, {"stream": None}, {"stream": 1}):
        error = refusal(make(), max_version=VERSION, **keywords)
        demand(not isinstance(error, TypeError), f"{told(error)} for {keywords}" if error else "")


@rule(
    "R4",
    "without max_version the capsule is a legacy one, or refused with BufferError",
    "make a DLManagedTensor, named dltensor, if max_version is None or its major is 0",
)
def legacy(make: Sample) -> None:
    for keywords in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        try:
            with Export(make(), **keywords) as export:
                demand(isinstance(export.managed, Legacy), f"a versioned one for {keywords}")
        except BufferError:
            continue


@rule(
    "R4",
    "a legacy capsule describes the same tensor as a versioned one",
    "put a DLManagedTensor into capsules named dltensor, and a DLManagedTensorVersioned into those named dltensor_versioned",
)
def legacy_content(make: Sample) -> None:
    x = make()
    old = legacy_export(x)
    there = sound(old.record)
    with old, usual(x) as new:
        demand(there == sound(new.record), f"{there}, and {sound(new.record)} in the versioned one")


def legacy_export(x: Any) -> Export:
    try:
        return Export(x)
    except Exception as error:  # reported by the check of R4
        raise NotApplicable("no legacy capsule") from error


def sound(record: Record) -> tuple[Any, ...]:
    """What a record describes. Raises Broken if it is invalid."""
    demand(0 <= record.ndim <= 64, f"{record.ndim} dimensions")
    demand(record.dtype.lanes and record.dtype.bits, f"dtype {record.dtype_triple()}")
    demand(not record.ndim or record.shape, "NULL for the shape")
    return described(record)


@rule(
    "R5",
    "with max_version=(1, 0) the capsule is a versioned one, of major version 1",
    "answer max_version=(1, ...) with a DLManagedTensorVersioned, stamped with the version of dlpack.h that you compile with",
)
def versioned(make: Sample) -> None:
    demand(not is_old(make()), "a TypeError: __dlpack__ does not take max_version")
    for version in ((1, 0), VERSION):
        with Export(make(), max_version=version) as export:
            demand(isinstance(export.managed, Versioned), f"a legacy one for {version}")
            assert isinstance(export.managed, Versioned)
            demand(export.managed.version.major == 1, f"version {export.managed.version.major} for {version}")


@rule("R5", "no flags are set but those of DLPack 1: bits 0, 1 and 2", "set flags to 0 before you set those that hold")
def flags(make: Sample) -> None:
    for keywords in ({}, {"copy": True}):
        try:
            export = Export(make(), max_version=VERSION, **keywords)
        except Exception:
            continue  # reported by other checks
        with export:
            demand(export.flags < 8, f"flags {export.flags:#x}")


@rule(
    "R6",
    "for a max_version above the producer's own, the capsule has the producer's version",
    "compare max_version's major with >= 1, not with == 1, and never stamp the requested version",
)
def version_to_come(make: Sample) -> None:
    for asked in ((2, 0), (99, 99)):
        with Export(make(), max_version=asked) as export:
            demand(isinstance(export.managed, Versioned), f"a legacy one for {asked}")
            assert isinstance(export.managed, Versioned)
            stamp = export.managed.version
            demand(stamp.major == 1, f"version {stamp.major}.{stamp.minor} for {asked}")


@rule(
    "R7",
    "a max_version that is not a pair of ints is a TypeError",
    "check that max_version is None or a tuple of two ints",
)
def malformed_version(make: Sample) -> None:
    for version in (1, "1.0", (1, 0, 0)):
        wants(TypeError, refusal(make(), max_version=version), f"max_version={version!r}")


@rule(
    "R8",
    'capsules are named "dltensor" or "dltensor_versioned"',
    "pass the name to PyCapsule_New as a C string literal: it is kept by address",
)
def names(make: Sample) -> None:
    for keywords in ({}, {"max_version": VERSION}):
        x = make()
        try:
            capsule = x.__dlpack__(**keywords)
        except Exception:  # reported by other checks
            continue
        address = address_of_name(capsule)
        del x
        churn()
        demand(address, "no name")
        demand(name_of(capsule) in ("dltensor", "dltensor_versioned"), repr(name_of(capsule)))


# ---- deleters and lifetimes ----


class Watched:
    """A live capsule whose deleter counts its calls."""

    def __init__(self, x: Any) -> None:
        try:
            self.capsule = x.__dlpack__(max_version=VERSION)
        except TypeError:
            self.capsule = x.__dlpack__()
        self.managed, self.calls = managed_in(self.capsule), 0
        original = Deleter(self.managed.deleter) if self.managed.deleter else None

        def count(address: int) -> None:
            self.calls += 1
            if original is not None:
                original(address)

        self._counter = Deleter(count)
        self.managed.deleter = ctypes.cast(self._counter, c_void_p).value


# Raises an exception that was left set: ctypes checks after each call of a PYFUNCTYPE.
leaves_no_exception = ctypes.pythonapi.Py_IsInitialized


DESTRUCTOR = "give PyCapsule_New a destructor that calls the deleter if PyCapsule_IsValid(capsule, the live name), else does nothing"


@rule("R9", "a capsule that was not consumed calls the deleter once, when it is destroyed", DESTRUCTOR)
def unconsumed(make: Sample) -> None:
    watched = Watched(make())
    del watched.capsule
    leaves_no_exception()
    gc.collect()
    demand(watched.calls == 1, f"{watched.calls} calls")


@rule("R9", "a consumed capsule does not touch the managed tensor when it is destroyed", DESTRUCTOR)
def consumed(make: Sample) -> None:
    x = make()
    watched = Watched(x)
    before = described(watched.managed.tensor)
    take(watched.capsule)
    del watched.capsule
    leaves_no_exception()
    churn()
    calls = watched.calls
    demand(calls == 0, f"{calls} calls of the deleter")
    after = sound(watched.managed.tensor)
    delete_managed(watched.managed)
    demand(after == before, f"{after} where there was {before}")


class _Lost(Exception):  # noqa: N818
    pass


@rule(
    "R9",
    "a capsule that is destroyed while an exception is set leaves the exception set",
    "call PyErr_Fetch first and PyErr_Restore last in the destructor",
)
def exception_in_flight(make: Sample) -> None:
    legacy_export(make()).__exit__()

    def drops() -> Any:
        yield make().__dlpack__()
        raise _Lost

    with contextlib.suppress(_Lost):
        tuple(drops())  # frees the unfinished tuple while the exception is set


@rule(
    "R10",
    "each call makes a managed tensor of its own",
    "allocate one for each call, with shape and strides of its own: each is deleted once, in any order",
)
def fresh(make: Sample) -> None:
    x = make()
    with usual(x) as one:
        before = described(one.record)
        with usual(x) as two:
            demand(ctypes.addressof(one.managed) != ctypes.addressof(two.managed), "the same twice")
        churn()
        after = sound(one.record)
        demand(after == before, f"{after} where there was {before}, when another export was deleted")


REFERENCES = "hold one reference to the object for each managed tensor, and give it back in the deleter"


@rule("R11", "the deleter releases all references to the object", REFERENCES)
def references(make: Sample) -> None:
    def exports(x: Any) -> None:
        usual(x).__exit__()

    keeps_count(make(), exports)


@rule("R11", "a capsule that was not consumed releases all references to the object", REFERENCES)
def references_of_capsules(make: Sample) -> None:
    def drops(x: Any) -> None:
        with contextlib.suppress(Exception):
            x.__dlpack__()

    keeps_count(make(), drops)


@rule(
    "R11",
    "a refused call keeps no reference to the object",
    "check the arguments first, or give back what you hold where you raise",
)
def references_of_refusals(make: Sample) -> None:
    def asks(x: Any) -> None:
        refusal(x, max_version=VERSION, dl_device=(99, 0))

    keeps_count(make(), asks)


def keeps_count(x: Any, use: Callable[[Any], None]) -> None:
    use(x)  # the first call fills caches
    before = sys.getrefcount(x)
    for _ in range(3):
        use(x)
    demand(sys.getrefcount(x) == before, f"{sys.getrefcount(x) - before:+} references after 3 calls")


@rule(
    "R11",
    "the deleter frees the managed tensor and all that belongs to it",
    "free the managed tensor itself at the end of its deleter, its shape and strides with it",
    once=True,
)
def memory(make: Sample) -> None:
    x = make()

    def exports() -> None:
        try:
            capsule = x.__dlpack__(max_version=VERSION)
        except TypeError:
            capsule = x.__dlpack__()
        delete_managed(take(capsule))

    keeps_memory(exports)


ROUND = 200


def keeps_memory(use: Callable[[], None]) -> None:
    """Requires that repeated calls release what they allocate."""
    grown = []
    for _ in range(4):
        bytes_before, blocks_before = in_use()
        for _ in range(ROUND):
            use()
        bytes_after, blocks_after = in_use()
        grown.append((bytes_after - bytes_before, blocks_after - blocks_before))
    size, blocks = (min(kind) for kind in zip(*grown[1:], strict=True))  # the first round fills caches
    demand(size < ROUND * 16, f"{size // ROUND} bytes more of malloc's for each export")
    demand(blocks < ROUND, f"{blocks // ROUND} blocks more of Python's for each export")


class _Usage(ctypes.Structure):
    """mallinfo2."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"])  # fmt: skip


def in_use() -> tuple[int, int]:
    """Bytes in use from malloc (0 if unknown) and blocks in use from Python's allocator."""
    gc.collect()
    c = ctypes.CDLL(None)
    if not hasattr(c, "mallinfo2"):
        return 0, sys.getallocatedblocks()
    c.mallinfo2.restype = _Usage
    usage = c.mallinfo2()
    return usage.uordblks + usage.hblkhd, sys.getallocatedblocks()


ANY_THREAD = "take the GIL in the deleter with PyGILState_Ensure before you touch Python, or touch nothing of Python's"


@rule("R12", "the deleter may be called without the GIL", ANY_THREAD)
def without_gil(make: Sample) -> None:
    delete_without_gil(usual(make()).managed)


@rule("R12", "the deleter may be called on another thread, without the GIL", ANY_THREAD, once=True)
def other_thread(make: Sample) -> None:
    managed = usual(make()).managed
    on_a_thread(lambda: delete_without_gil(managed))


def on_a_thread(work: Callable[[], Any]) -> Any:
    """The result of work, or its exception, on a new thread."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    demand(results, f"a deadlock: no end within {PATIENCE:g} s")
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]


@rule("R12", "the deleter may be called on a thread that Python did not start", ANY_THREAD, dangerous=True, once=True)
def foreign_thread(make: Sample) -> None:
    if sys.platform == "win32":
        raise NotApplicable("there are no pthreads")
    export, thread = usual(make()), ctypes.c_ulong()
    c = ctypes.CDLL(None)
    deleter, address = c_void_p(export.managed.deleter), c_void_p(ctypes.addressof(export.managed))
    demand(c.pthread_create(ctypes.byref(thread), None, deleter, address) == 0, "no thread")
    c.pthread_join(thread, None)


@rule(
    "R12",
    "the deleter may be called after Python's end",
    "return at once from the deleter if Py_IsInitialized() is 0: what it would free goes with the process",
    dangerous=True,
    once=True,
)
def after_the_end(make: Sample) -> None:
    usual(make()).__exit__()

    def deletes() -> None:
        managed = usual(make()).managed
        at_exit(c_void_p(managed.deleter), ctypes.addressof(managed))

    def ends() -> None:
        at_exit(None, 0)

    how = end_of(deletes)
    if how != ENDED:
        demand(end_of(ends) != ENDED, how)
        raise NotApplicable(f"Python cannot be ended in a forked child: {how}")


def end_of(work: Callable[[], None]) -> str:
    (death,) = isolation.results([work])
    return death.how if isinstance(death, isolation.Death) else "no end"


FINISHED = 77
ENDED = f"the end of the process by exit status {FINISHED}"


def at_exit(function: c_void_p | None, argument: int) -> None:
    """Ends Python, then calls a function if one is given, then ends the process."""
    import atexit

    c = ctypes.CDLL(None)
    if not hasattr(c, "__cxa_atexit"):
        raise NotApplicable("needs __cxa_atexit")
    atexit._clear()
    finish = ctypes.cast(c._exit, c_void_p)
    register = getattr(c, "__cxa_atexit")
    register(finish, c_void_p(FINISHED), None)  # handlers run in reverse order of registration
    if function is not None:
        register(function, c_void_p(argument), None)
    ctypes.pythonapi.Py_Exit(0)


@rule(
    "R13", "the deleter is not NULL, which ends some consumers' process", "set a deleter, if only one that does nothing"
)
def deleter(make: Sample) -> None:
    with usual(make()) as export:
        demand(export.managed.deleter, "NULL")


@rule(
    "R32",
    "exported memory stays valid after the object is destroyed",
    "hold a reference to what owns the memory, shape and strides until the deleter is called",
)
def outlives(make: Sample) -> None:
    x = make()
    shared = make() is x
    with usual(x) as export:
        before = values_of(export.record) if export.record.data else None
        if shared or not before:
            raise NotApplicable("needs a function that makes an object with elements that can be read here")
        layout = described(export.record)
        del x
        churn()
        demand(sound(export.record) == layout, f"{described(export.record)} where there was {layout}")
        after = values_of(export.record)
        demand(same(after, before), f"{(after or [])[:4]} where there was {before[:4]}")


def same(one: Any, other: Any) -> bool:
    """Whether values are equal; NaNs count as equal."""
    return bool(one == other) or repr(one) == repr(other)


@rule(
    "R32",
    "exported memory does not move when the object is resized",
    "count exports, and refuse with BufferError to resize while there are any",
)
def resized(make: Sample) -> None:
    x = make()
    if not callable(getattr(x, "resize", None)):
        raise NotApplicable("needs an object with resize()")
    with usual(x) as export:
        before = values_of(export.record) if export.record.data else None
        with contextlib.suppress(Exception):
            x.resize(1_000_000)
        churn()
        demand(not before or same(values_of(export.record), before), "other values")


# ---- exports ----


@rule("R14", "strides are there, also for tensors in row-major order", "fill in strides wherever ndim is not 0")
def strides(make: Sample) -> None:
    with usual(make()) as export:
        if export.record.ndim == 0:
            raise NotApplicable("no dimensions")
        demand(export.record.strides, "NULL")


@rule("R15", "data is NULL where there are no elements", "set data to NULL if an extent is 0")
def no_data(make: Sample) -> None:
    with usual(make()) as export:
        if export.record.size():
            raise NotApplicable("needs an empty sample")
        demand(not export.record.data, hex(export.record.data or 0))


@rule(
    "R17",
    "0 to 64 dimensions, no negative extents, and the object's own shape",
    "export ndim and shape as the object shows them",
)
def shape(make: Sample) -> None:
    x = make()
    with usual(x) as export:
        demand(0 <= export.record.ndim <= 64, f"{export.record.ndim} dimensions")
        dims = export.record.dims()
        demand(all(extent >= 0 for extent in dims), dims)
        own = tuple(getattr(x, "shape", dims))
        lanes_in_shape = export.record.dtype.lanes > 1 and len(own) == len(dims) + 1
        demand(own == dims or lanes_in_shape, f"{dims}, where the object says {own}")


@rule(
    "R17",
    "strides count elements, and are the object's own",
    "divide strides in bytes by the item size; refuse what leaves a rest",
)
def own_strides(make: Sample) -> None:
    x = make()
    with usual(x) as export:
        own = claims.strides(x)
        if own is None or export.record.size() == 0:
            raise NotApplicable("the object does not say its strides")
        there = export.record.steps()
        meant = [extent > 1 for extent in export.record.dims()]
        differ = any(a != b for a, b, matters in zip(there, own, meant, strict=False) if matters)
        demand(not differ, f"{there}, where the object says {own}")


@rule(
    "R17",
    "the data is where the object has it",
    "export the address of the first element, as data or as data + byte_offset",
)
def own_address(make: Sample) -> None:
    x = make()
    with usual(x) as export:
        own = claims.address(x)
        if own is None or export.record.size() == 0 or export.flags & IS_COPIED:
            raise NotApplicable("the object does not say its address")
        demand(export.record.address() == own, f"{export.record.address():#x}, where the object says {own:#x}")


@refusals.rule(
    "R19",
    "what DLPack cannot describe is refused with BufferError",
    "raise BufferError with the reason (such as another byte order) for dtypes, strides and devices that DLPack lacks",
)
def refused(make: Callable[[], Any] | None) -> None:
    if make is None:
        raise NotApplicable("needs refused=[samples that cannot be described]")
    for keywords in ({}, {"max_version": VERSION}):
        wants(BufferError, refusal(make(), **keywords))


@rule(
    "R20",
    "the dtype is one of DLPack's: codes 0 to 18, lanes, bool of 8 bits",
    "set code, bits and lanes from the list in dlpack.h; lanes is 1 but for vectors",
)
def dtype(make: Sample) -> None:
    with usual(make()) as export:
        code, bits, lanes = export.record.dtype_triple()
        demand(code <= 18 and bits >= 1 and lanes >= 1 and (code != 6 or bits == 8), (code, bits, lanes))


@rule(
    "R20",
    "the dtype is the one that the object reports",
    "export bool as (6, 8, 1), complex64 as (5, 64, 1), bfloat16 as (4, 16, 1)",
)
def own_dtype(make: Sample) -> None:
    x = make()
    own = claims.dtype(x)
    if own is None:
        raise NotApplicable("the object's dtype has no name that is known here")
    with usual(x) as export:
        there = export.record.dtype_triple()
        demand(there == own, f"{there} for {own}")


@rule(
    "R21",
    "float8, float6 and float4 have 8, 6 and 4 bits",
    "set bits to what the type's name says, also if each takes a byte",
)
def small_floats(make: Sample) -> None:
    with usual(make()) as export:
        code, bits, _ = export.record.dtype_triple()
        if not 7 <= code <= 17:
            raise NotApplicable("needs a sample of such a dtype")
        demand(bits == {15: 6, 16: 6, 17: 4}.get(code, 8), f"{bits} bits for code {code}")


@rule(
    "R21",
    "elements of whole bytes are not marked as padded",
    "set flag 4 (IS_SUBBYTE_TYPE_PADDED) only for types below 8 bits whose elements take a byte each",
)
def padded(make: Sample) -> None:
    with usual(make()) as export:
        demand(not export.flags & PADDED or export.record.dtype.bits < 8, f"flags {export.flags}")


@rule(
    "R23",
    "read-only memory is marked as such, and not exported in a legacy capsule, which cannot express it",
    "set flag 1 (READ_ONLY) in DLManagedTensorVersioned.flags; raise BufferError where max_version is None",
)
def read_only(make: Sample) -> None:
    x = make()
    error, said = refusal(x), make.read_only or claims.read_only(x)
    with usual(x) as export:
        marked = bool(export.flags & READ_ONLY)
    if not marked and not said:
        demand(not _speaks_of_reading(error), f"flags {export_flags(x)}, though a legacy capsule is refused: {error}")
        raise NotApplicable("needs a read-only sample")
    demand(marked, "no READ_ONLY flag, though the memory is read-only")
    wants(BufferError, error, "a legacy capsule")


def _speaks_of_reading(error: Exception | None) -> bool:
    return isinstance(error, BufferError) and any(word in str(error).lower() for word in ("read", "writ", "immutable"))


def export_flags(x: Any) -> int:
    with usual(x) as export:
        return export.flags


def copied(x: Any, copy: bool) -> Export:
    export = Export(x, max_version=VERSION, copy=copy)
    if not isinstance(export.managed, Versioned):
        delete_managed(export.managed)
        raise NotApplicable("legacy capsules cannot express it")
    return export


@rule("R24", "a copy is marked as a copy", "set flag 2 (IS_COPIED) whenever __dlpack__ copied")
def copy_is_marked(make: Sample) -> None:
    try:
        export = copied(make(), True)
    except BufferError as error:
        raise NotApplicable("makes no copies") from error
    with export:
        demand(export.flags & IS_COPIED, f"flags {export.flags}")


@rule("R24", "shared memory is not marked as a copy", "set flag 2 (IS_COPIED) only where __dlpack__ copied")
def no_copy_is_marked(make: Sample) -> None:
    try:
        export = copied(make(), False)
    except BufferError as error:
        raise NotApplicable("cannot do without a copy") from error
    with export:
        demand(not export.flags & IS_COPIED, f"flags {export.flags}")


@rule("R25", "copy=True copies", "copy the elements for copy=True: the consumer may write to them, and relies on it")
def copy(make: Sample) -> None:
    x = make()
    with usual(x) as own, Export(x, max_version=VERSION, copy=True) as other:
        if not own.record.size():
            raise NotApplicable("no elements")
        demand(own.record.address() != other.record.address(), "the same memory")
        there = values_of(other.record)
        wanted = _flat(x.tolist()) if hasattr(x, "tolist") else values_of(own.record)
        demand(there is None or same(there, wanted), f"{(there or [])[:4]} for {(wanted or [])[:4]}")


@rule("R25", "copy=False does not copy", "export the object's own memory, or raise BufferError")
def no_copy(make: Sample) -> None:
    x = make()
    with usual(x) as own:
        try:
            other = Export(x, max_version=VERSION, copy=False)
        except BufferError as error:
            raise NotApplicable("cannot do without a copy") from error
        with other:
            demand(own.record.address() == other.record.address(), "other memory")


@rule(
    "R26", "dl_device may be the object's own device", "serve dl_device=None and dl_device=x.__dlpack_device__() alike"
)
def own_device(make: Sample) -> None:
    x = make()
    with usual(x) as own, Export(x, max_version=VERSION, dl_device=x.__dlpack_device__()) as other:
        demand(own.record.device_pair() == other.record.device_pair(), other.record.device_pair())


DEVICES = "compare dl_device with the object's device; copy to it, or raise BufferError"


@rule("R26", "a device that cannot be served is a BufferError", DEVICES)
def unknown_device(make: Sample) -> None:
    wants(BufferError, refusal(make(), max_version=VERSION, dl_device=(99, 0)))


@rule("R26", "an export for dl_device is on that device, or refused", DEVICES)
def other_device(make: Sample) -> None:
    x = make()
    asked = (CUDA, 0) if x.__dlpack_device__()[0] == CPU else (CPU, 0)
    try:
        export = Export(x, max_version=VERSION, dl_device=asked)
    except Exception:
        return
    with export:
        demand(export.record.device_pair() == asked, f"device {export.record.device_pair()} for {asked}")


@rule("R27", "stream=None is taken", "give the argument stream the default None, and serve that")
def no_stream(make: Sample) -> None:
    error = refusal(make(), max_version=VERSION, stream=None)
    demand(error is None, told(error) if error else "")


def refuses_streams(x: Any, streams: tuple[Any, ...], **keywords: Any) -> None:
    for stream in streams:
        error = refusal(x, max_version=VERSION, stream=stream, **keywords)
        demand(error is not None, f"a capsule for stream={stream!r}")


def on(kind: int, x: Any) -> Any:
    if x.__dlpack_device__()[0] != kind:
        raise NotApplicable(f"needs a sample on a device of type {kind}")
    return x


CPU_STREAMS = "raise BufferError or ValueError for any stream but None (-1 may pass): a consumer that passes one assumes another device"


@rule("R27", "the CPU has no streams: any stream is refused", CPU_STREAMS)
def stream_of_the_cpu(make: Sample) -> None:
    refuses_streams(on(CPU, make()), (1, 2, "1"))


@rule(
    "R28",
    "on CUDA, None, -1 and 1 are streams",
    "take None and 1 as the legacy default stream, -1 as the request not to synchronize",
)
def streams_of_cuda(make: Sample) -> None:
    x = on(CUDA, make())
    for stream in (None, -1, 1):
        error = refusal(x, max_version=VERSION, stream=stream)
        demand(error is None, f"{told(error)} for stream={stream}" if error else "")


@rule("R28", "on CUDA, stream 0 is refused, since it is ambiguous", "raise BufferError or ValueError for stream=0")
def no_stream_of_cuda(make: Sample) -> None:
    refuses_streams(on(CUDA, make()), (0, -2, "1"))


@rule(
    "R28",
    "on ROCm, None, -1 and 0 are streams",
    "take None and 0 as the default stream, -1 as the request not to synchronize",
)
def streams_of_rocm(make: Sample) -> None:
    x = on(ROCM, make())
    for stream in (None, -1, 0):
        error = refusal(x, max_version=VERSION, stream=stream)
        demand(error is None, f"{told(error)} for stream={stream}" if error else "")


@rule("R28", "on ROCm, streams 1 and 2 are refused", "raise BufferError or ValueError for stream=1 and stream=2")
def no_stream_of_rocm(make: Sample) -> None:
    refuses_streams(on(ROCM, make()), (1, 2, -2))


@rule(
    "R29",
    "with dl_device=(1, 0), a stream is refused: the CPU has none",
    "check stream by dl_device, if that is given, else by the own device",
)
def stream_of_dl_device(make: Sample) -> None:
    refuses_streams(make(), (1, 2), dl_device=(CPU, 0))


@rule(
    "R30",
    "__dlpack_device__ returns two ints, those in the record",
    "return (device_type, device_id), as it is in the record",
)
def device(make: Sample) -> None:
    x = make()
    said = x.__dlpack_device__()
    demand(isinstance(said, tuple) and len(said) == 2 and all(isinstance(i, int) for i in said), repr(said))
    with usual(x) as export:
        there = export.record.device_pair()
        demand(there == tuple(said), f"{tuple(said)}, and {there} in the record")


@rule(
    "R30", "memory of the host has device number 0", "set device_id to 0 for the CPU, and for pinned and managed memory"
)
def device_number(make: Sample) -> None:
    with usual(make()) as export:
        kind, number = export.record.device_pair()
        demand(kind not in HOST or number == 0, (kind, number))


@rule(
    "R41",
    "data is not NULL where there are elements",
    "raise BufferError where the elements have no memory, such as in fake or deferred tensors",
)
def data(make: Sample) -> None:
    with usual(make()) as export:
        if not export.record.size():
            raise NotApplicable("no elements")
        demand(export.record.data, "NULL")


@rule(
    "R65",
    "the memory holds the values that the object shows",
    "make values true in memory first (lazy conjugates, negatives, masks), or raise BufferError; and check strides and byte_offset",
)
def values(make: Sample) -> None:
    x = make()
    if not hasattr(x, "tolist"):
        raise NotApplicable("needs an object with tolist()")
    with usual(x) as export:
        there = values_of(export.record) if export.record.data else None
        if there is None:
            raise NotApplicable("nothing that can be read here")
        shown = _flat(x.tolist())
        if not same(there, shown):
            raise Broken(f"{there[:4]} for {shown[:4]}")


def _flat(values: Any) -> list[Any]:
    return [v for part in values for v in _flat(part)] if isinstance(values, list) else [values]
