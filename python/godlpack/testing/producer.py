"""What __dlpack__ and __dlpack_device__ must do."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref
from collections.abc import Callable
from ctypes import c_void_p
from typing import Any

from .records import IS_COPIED, READ_ONLY, Deleter, Legacy, Versioned, managed_in, name_of, take, values_of
from .records import delete as delete_managed
from .report import Broken, Checks, NotApplicable, Report, demand, told

VERSION = (1, 3)
PATIENCE = 60.0  # seconds until a thread that does not come back counts as dead
checks = Checks()
rule = checks.rule


def check_producer(*samples: Any, name: str = "", dangerous: bool = False) -> Report:
    """Checks objects with __dlpack__, or functions that make one. Rules that speak of empty, 0-dimensional or read-only
    tensors need such a sample.

        report = check_producer(lambda: np.arange(6.0), lambda: np.zeros(0))
        report.raise_if_failed(known=["R15 no_data"])

    dangerous: also calls a deleter on a thread that Python does not know.
    """
    makers = [(sample if makes(sample) else _giver(sample),) for sample in samples]
    return checks.run(name or f"producer {type(makers[0][0]()).__name__}", makers, dangerous)


def makes(sample: Any) -> bool:
    """Whether a sample is a function that makes an object, or a type, rather than an object."""
    return isinstance(sample, type) or (callable(sample) and not hasattr(sample, "__dlpack__"))


def _giver(x: Any) -> Callable[[], Any]:
    return lambda: x


Make = Callable[[], Any]


class Export:
    """A managed tensor out of an object's __dlpack__; deleted at the end of a with statement."""

    def __init__(self, x: Any, **keywords: Any) -> None:
        self.managed = take(x.__dlpack__(**keywords))
        self.record = self.managed.tensor

    @property
    def flags(self) -> int:
        return self.managed.flags if isinstance(self.managed, Versioned) else 0

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *_: object) -> None:
        delete_managed(self.managed)


def usual(x: Any) -> Export:
    """What x exports to a consumer of today; legacy, if it knows nothing else."""
    try:
        return Export(x, max_version=VERSION)
    except TypeError:
        return Export(x)


def refusal(x: Any, *arguments: Any, **keywords: Any) -> Exception | None:
    """The exception of a call of __dlpack__; None if there was none."""
    try:
        capsule = x.__dlpack__(*arguments, **keywords)
    except Exception as error:
        return error
    delete_managed(take(capsule))
    return None


def wants_type_error(error: Exception | None) -> None:
    demand(isinstance(error, TypeError), told(error) if error else "a capsule")


# ---- the call ----


@rule("R1", "__dlpack__ takes keywords only: a positional argument is a TypeError")
def keyword_only(make: Make) -> None:
    wants_type_error(refusal(make(), None))


@rule("R2", "an unknown keyword is a TypeError")
def unknown_keyword(make: Make) -> None:
    wants_type_error(refusal(make(), nonsense=1))


@rule("R3", "what can be said in __dlpack__'s words is never a TypeError")
def no_type_error(make: Make) -> None:
    for keywords in ({"dl_device": (99, 0)}, {"copy": False}, {"copy": True}, {"stream": None}):
        error = refusal(make(), max_version=VERSION, **keywords)
        demand(not isinstance(error, TypeError), f"{told(error)} for {keywords}" if error else "")


@rule("R4", "without max_version the capsule is a legacy one, or refused with BufferError")
def legacy(make: Make) -> None:
    for keywords in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        try:
            with Export(make(), **keywords) as export:
                demand(isinstance(export.managed, Legacy), f"a versioned one for {keywords}")
        except BufferError:
            continue


@rule("R5", "with max_version=(1, 0) the capsule is a versioned one, of major version 1")
def versioned(make: Make) -> None:
    with Export(make(), max_version=(1, 0)) as export:
        demand(isinstance(export.managed, Versioned), "a legacy one")
        assert isinstance(export.managed, Versioned)
        demand(export.managed.version.major == 1, f"version {export.managed.version.major}")


@rule("R6", "a higher max_version than the producer's own is answered with its own")
def version_to_come(make: Make) -> None:
    with Export(make(), max_version=(2, 0)) as export:
        major = export.managed.version.major if isinstance(export.managed, Versioned) else 0
        demand(major <= 2, f"version {major}")


@rule("R7", "a max_version that is no pair of ints is a TypeError")
def malformed_version(make: Make) -> None:
    for version in (1, "1.0", (1, 0, 0)):
        wants_type_error(refusal(make(), max_version=version))


@rule("R8", 'capsules are named "dltensor" or "dltensor_versioned"')
def names(make: Make) -> None:
    for keywords in ({}, {"max_version": VERSION}):
        try:
            capsule = make().__dlpack__(**keywords)
        except (BufferError, TypeError):
            continue
        demand(name_of(capsule) in ("dltensor", "dltensor_versioned"), repr(name_of(capsule)))


# ---- who deletes, and when ----


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


@rule("R9", "a capsule that nobody took calls the deleter when it goes, once")
def unconsumed(make: Make) -> None:
    watched = Watched(make())
    del watched.capsule
    gc.collect()
    demand(watched.calls == 1, f"{watched.calls} calls")


@rule("R9", "a capsule that was taken does not call the deleter")
def consumed(make: Make) -> None:
    watched = Watched(make())
    take(watched.capsule)
    del watched.capsule
    gc.collect()
    calls = watched.calls
    if not calls:
        delete_managed(watched.managed)
    demand(calls == 0, f"{calls} calls")


class _Lost(Exception):  # noqa: N818
    pass


@rule("R9", "a capsule that goes while an exception is on its way leaves the exception alone")
def exception_in_flight(make: Make) -> None:
    def drops() -> Any:
        yield make().__dlpack__()
        raise _Lost

    try:
        tuple(drops())  # the half-made tuple goes with the exception set
    except _Lost:
        return
    except BufferError as error:
        raise NotApplicable("no legacy capsule") from error


@rule("R10", "each call gives a managed tensor of its own")
def fresh(make: Make) -> None:
    x = make()
    with usual(x) as one, usual(x) as two:
        demand(ctypes.addressof(one.managed) != ctypes.addressof(two.managed), "the same twice")


@rule("R11", "the deleter gives back all references to the object")
def references(make: Make) -> None:
    x = make()
    before = sys.getrefcount(x)
    for _ in range(3):
        usual(x).__exit__()
    demand(sys.getrefcount(x) == before, f"{sys.getrefcount(x) - before} more")


@rule("R12", "the deleter may be called on another thread, without the GIL")
def other_thread(make: Make) -> None:
    thread = threading.Thread(target=usual(make()).__exit__, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    demand(not thread.is_alive(), "a deadlock")


@rule("R12", "the deleter may be called on a thread that Python has never seen", dangerous=True)
def foreign_thread(make: Make) -> None:
    if sys.platform == "win32":
        raise NotApplicable("there are no pthreads")
    export, thread = usual(make()), ctypes.c_ulong()
    c = ctypes.CDLL(None)
    deleter, address = c_void_p(export.managed.deleter), c_void_p(ctypes.addressof(export.managed))
    demand(c.pthread_create(ctypes.byref(thread), None, deleter, address) == 0, "no thread")
    c.pthread_join(thread, None)


@rule("R13", "the deleter is not NULL, which ends some consumers' process")
def deleter(make: Make) -> None:
    with usual(make()) as export:
        demand(export.managed.deleter, "NULL")


@rule("R32", "the memory stays while it is exported, though the object goes")
def outlives(make: Make) -> None:
    x = make()
    shared = make() is x
    with usual(x) as export:
        before = values_of(export.record) if export.record.data else None
        if shared or not before:
            raise NotApplicable("needs a function that makes an object with elements that can be read here")
        gone = weakref.ref(x) if hasattr(type(x), "__weakref__") else None
        del x
        gc.collect()
        demand(gone is None or values_of(export.record) == before, "other values")


# ---- what is exported ----


@rule("R14", "strides are there, also for tensors in row-major order")
def strides(make: Make) -> None:
    with usual(make()) as export:
        if export.record.ndim == 0:
            raise NotApplicable("no dimensions")
        demand(export.record.strides, "NULL")


@rule("R15", "data is NULL where there are no elements")
def no_data(make: Make) -> None:
    with usual(make()) as export:
        if export.record.size():
            raise NotApplicable("needs an empty sample")
        demand(not export.record.data, hex(export.record.data or 0))


@rule("R17", "0 to 64 dimensions, no negative extents, and the object's own shape")
def shape(make: Make) -> None:
    x = make()
    with usual(x) as export:
        demand(0 <= export.record.ndim <= 64, f"{export.record.ndim} dimensions")
        dims = export.record.dims()
        demand(all(extent >= 0 for extent in dims), dims)
        own = tuple(getattr(x, "shape", dims))
        lanes_in_shape = len(own) == len(dims) + 1
        demand(own == dims or lanes_in_shape, f"{dims}, where the object says {own}")


@rule("R20", "the dtype is one of DLPack's: codes 0 to 17, lanes, bool of 8 bits")
def dtype(make: Make) -> None:
    with usual(make()) as export:
        code, bits, lanes = export.record.dtype_triple()
        demand(code <= 17 and bits >= 1 and lanes >= 1 and (code != 6 or bits == 8), (code, bits, lanes))


@rule("R21", "float8, float6 and float4 have 8, 6 and 4 bits")
def small_floats(make: Make) -> None:
    with usual(make()) as export:
        code, bits, _ = export.record.dtype_triple()
        if not 7 <= code <= 17:
            raise NotApplicable("needs a sample of such a dtype")
        demand(bits == {15: 6, 16: 6, 17: 4}.get(code, 8), f"{bits} bits for code {code}")


@rule("R23", "read-only memory is not exported in a legacy capsule, which cannot say so")
def read_only(make: Make) -> None:
    x = make()
    with usual(x) as export:
        if not export.flags & READ_ONLY:
            raise NotApplicable("needs a read-only sample")
    error = refusal(x)
    demand(isinstance(error, BufferError), told(error) if error else "a capsule")


def copied(x: Any, copy: bool | None) -> Export:
    export = Export(x, max_version=VERSION, copy=copy)
    if not isinstance(export.managed, Versioned):
        delete_managed(export.managed)
        raise NotApplicable("legacy capsules cannot say it")
    return export


@rule("R24", "a copy is marked as one")
def copy_is_marked(make: Make) -> None:
    try:
        export = copied(make(), True)
    except BufferError as error:
        raise NotApplicable("makes no copies") from error
    with export:
        demand(export.flags & IS_COPIED, f"flags {export.flags}")


@rule("R25", "copy=True copies")
def copy(make: Make) -> None:
    x = make()
    with usual(x) as own, Export(x, max_version=VERSION, copy=True) as other:
        if not own.record.size():
            raise NotApplicable("no elements")
        demand(own.record.address() != other.record.address(), "the same memory")


@rule("R25", "copy=False does not copy")
def no_copy(make: Make) -> None:
    x = make()
    with usual(x) as own, Export(x, max_version=VERSION, copy=False) as other:
        demand(own.record.address() == other.record.address(), "other memory")


@rule("R26", "dl_device may be the object's own device")
def own_device(make: Make) -> None:
    x = make()
    with usual(x) as own, Export(x, max_version=VERSION, dl_device=x.__dlpack_device__()) as other:
        demand(own.record.device_pair() == other.record.device_pair(), other.record.device_pair())


@rule("R26", "a device that cannot be served is a BufferError")
def unknown_device(make: Make) -> None:
    error = refusal(make(), max_version=VERSION, dl_device=(99, 0))
    demand(isinstance(error, BufferError), told(error) if error else "a capsule")


@rule("R27", "stream=None is taken")
def no_stream(make: Make) -> None:
    error = refusal(make(), max_version=VERSION, stream=None)
    demand(error is None, told(error) if error else "")


@rule("R30", "__dlpack_device__ answers with two ints, those in the record")
def device(make: Make) -> None:
    x = make()
    said = x.__dlpack_device__()
    demand(isinstance(said, tuple) and len(said) == 2 and all(isinstance(i, int) for i in said), repr(said))
    with usual(x) as export:
        there = export.record.device_pair()
        demand(there == tuple(said), f"{tuple(said)}, and {there} in the record")


@rule("R41", "data is not NULL where there are elements")
def data(make: Make) -> None:
    with usual(make()) as export:
        if not export.record.size():
            raise NotApplicable("no elements")
        demand(export.record.data, "NULL")


@rule("R65", "the memory holds the values that the object shows")
def values(make: Make) -> None:
    x = make()
    if not hasattr(x, "tolist"):
        raise NotApplicable("needs an object with tolist()")
    with usual(x) as export:
        there = values_of(export.record) if export.record.data else None
        if there is None:
            raise NotApplicable("nothing that can be read here")
        shown = _flat(x.tolist())
        if there != shown:
            raise Broken(f"{there[:4]} for {shown[:4]}")


def _flat(values: Any) -> list[Any]:
    return [v for part in values for v in _flat(part)] if isinstance(values, list) else [values]
