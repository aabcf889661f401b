"""The checks of ``python -m godlpack``. Each framework is imported only when it is checked."""

from __future__ import annotations

import array
import gc
import importlib
import timeit
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import godlpack as gd
from godlpack import _core

VALUES = [float(i) for i in range(24)]
SHAPE = (2, 3, 4)


@dataclass
class Result:
    """Outcome of one route; a result without a route is a note about its framework."""

    framework: str
    way: str = ""
    route: str = ""
    shared: str = ""
    writes: str = ""
    released: str = ""
    ns: float | None = None
    note: str = ""
    ok: bool = True

    def demand(self, holds: bool, note: str) -> str:
        if not holds:
            self.ok, self.note = False, f"{self.note}; {note}" if self.note else note
        return "yes" if holds else "NO"


@dataclass
class Adapter:
    """A framework as the checks use it: float32 tensors of SHAPE that hold VALUES."""

    make: Callable[[], tuple[Any, Callable[[], bool] | None]]
    """A tensor, and a question that becomes true when its memory was freed (None: cannot be told)."""
    address: Callable[[Any], int]
    read: Callable[[Any], list[float]]
    write: Callable[[Any, float], None] | None
    """Sets the first element; None: the framework's arrays never change."""
    into: dict[str, Callable[[Any], gd.Tensor]] = field(default_factory=dict)
    out: dict[str, Callable[[gd.Tensor], Any]] = field(default_factory=dict)


class ByMethod:
    """Exposes only a tensor's __dlpack__, not the exchange table of its type."""

    def __init__(self, tensor: Any):
        self._tensor = tensor

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._tensor.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


def flat(t: gd.Tensor) -> list[float]:
    return [float(v) for v in t.reshape(-1).tolist()]


def set_first(t: gd.Tensor, value: float) -> None:
    memoryview(t).cast("B").cast("f")[0] = value


def filled() -> gd.Tensor:
    t = gd.empty(SHAPE)
    memoryview(t).cast("B").cast("f")[:] = memoryview(array.array("f", VALUES))
    return t


def capsule_routes(legacy: bool = True, versioned: bool = True) -> dict[str, Callable[[Any], gd.Tensor]]:
    routes: dict[str, Callable[[Any], gd.Tensor]] = {
        "from_dlpack, by __dlpack__": lambda x: gd.from_dlpack(ByMethod(x))
    }
    if versioned:
        routes["versioned capsule"] = lambda x: gd.from_dlpack(x.__dlpack__(max_version=(1, 0)))
    if legacy:
        routes["legacy capsule"] = lambda x: gd.from_dlpack(x.__dlpack__())
    return routes


# ---- the frameworks ----


def watched_array() -> tuple[array.array[float], Callable[[], bool]]:
    owner = array.array("f", VALUES)
    alive = weakref.ref(owner)
    return owner, lambda: alive() is None


def python() -> Adapter:
    """Python itself: the buffer protocol."""

    def make() -> tuple[Any, Callable[[], bool]]:
        owner, freed = watched_array()
        return memoryview(owner).cast("B").cast("f", SHAPE), freed

    def address(x: memoryview) -> int:
        return gd.asarray(x).data_ptr

    def write(x: memoryview, value: float) -> None:
        x.cast("B").cast("f")[0] = value

    return Adapter(
        make,
        address,
        read=lambda x: list(x.cast("B").cast("f")),
        write=write,
        into={"asarray(memoryview)": gd.asarray},
        out={"memoryview(t)": memoryview},
    )


def numpy() -> Adapter:
    np = importlib.import_module("numpy")

    def make() -> tuple[Any, Callable[[], bool]]:
        x = np.array(VALUES, dtype=np.float32).reshape(SHAPE).copy()
        alive = weakref.ref(x)
        return x, lambda: alive() is None

    def write(x: Any, value: float) -> None:
        x.flat[0] = value

    return Adapter(
        make,
        address=lambda x: int(x.ctypes.data),
        read=lambda x: [float(v) for v in x.ravel()],
        write=write,
        into={
            "from_dlpack": gd.from_dlpack,
            **capsule_routes(),
            "asarray, by buffer": lambda x: gd.asarray(memoryview(x)),
        },
        out={
            "numpy.from_dlpack(t)": np.from_dlpack,
            "t.to(numpy.ndarray)": lambda t: t.to(np.ndarray),
            "numpy.asarray(t), by buffer": np.asarray,
        },
    )


def torch() -> Adapter:
    th = importlib.import_module("torch")

    def make() -> tuple[Any, Callable[[], bool]]:
        owner, freed = watched_array()
        return th.frombuffer(owner, dtype=th.float32).reshape(SHAPE), freed

    def write(x: Any, value: float) -> None:
        x[0, 0, 0] = value

    table = hasattr(th.Tensor, "__dlpack_c_exchange_api__")
    return Adapter(
        make,
        address=lambda x: int(x.data_ptr()),
        read=lambda x: [float(v) for v in x.reshape(-1).tolist()],
        write=write,
        into={f"from_dlpack{', by exchange table' if table else ''}": gd.from_dlpack, **capsule_routes()},
        out={
            "torch.from_dlpack(t)": th.from_dlpack,
            f"t.to(torch.Tensor){', by table' if table else ''}": lambda t: t.to(th.Tensor),
        },
    )


def jax() -> Adapter:
    jx = importlib.import_module("jax")
    importlib.import_module("jax.dlpack")

    def make() -> tuple[Any, None]:
        return jx.device_put(jx.numpy.asarray(VALUES, dtype="float32").reshape(SHAPE)).block_until_ready(), None

    return Adapter(
        make,
        address=lambda x: int(x.unsafe_buffer_pointer()),
        read=lambda x: [float(v) for v in x.reshape(-1).tolist()],
        write=None,
        into={"from_dlpack": gd.from_dlpack, **capsule_routes(versioned=False)},
        out={
            "jax.dlpack.from_dlpack(t)": jx.dlpack.from_dlpack,
            "t.to(jax.Array)": lambda t: t.to(jx.Array),
        },
    )


def tvm_ffi() -> Adapter:
    tvm = importlib.import_module("tvm_ffi")
    echo = tvm.get_global_func("testing.echo", allow_missing=True)

    def make() -> tuple[Any, None]:
        return tvm.from_dlpack(filled()), None  # godlpack's own memory: the counters report its release

    def write(x: Any, value: float) -> None:
        set_first(gd.from_dlpack(x), value)

    out: dict[str, Callable[[gd.Tensor], Any]] = {
        "tvm_ffi.from_dlpack(t), by table": tvm.from_dlpack,
        "t.to(tvm_ffi.Tensor)": lambda t: t.to(tvm.Tensor),
    }
    if echo is not None:
        out["a function called with t, by table"] = echo
    return Adapter(
        make,
        address=lambda x: gd.from_dlpack(x).data_ptr,
        read=lambda x: flat(gd.from_dlpack(x)),
        write=write,
        into={"from_dlpack": gd.from_dlpack, **capsule_routes()},
        out=out,
    )


def cupy() -> Adapter:
    cp = importlib.import_module("cupy")
    if cp.cuda.runtime.getDeviceCount() == 0:
        raise RuntimeError("no CUDA device")

    def make() -> tuple[Any, None]:
        return cp.asarray(VALUES, dtype=cp.float32).reshape(SHAPE), None

    def write(x: Any, value: float) -> None:
        x[0, 0, 0] = value

    return Adapter(
        make,
        address=lambda x: int(x.data.ptr),
        read=lambda x: [float(v) for v in cp.asnumpy(cp.from_dlpack(x) if isinstance(x, gd.Tensor) else x).ravel()],
        write=write,
        into={"from_dlpack": gd.from_dlpack, **capsule_routes()},
    )


FRAMEWORKS: dict[str, Callable[[], Adapter]] = {
    "python": python,
    "numpy": numpy,
    "torch": torch,
    "jax": jax,
    "tvm_ffi": tvm_ffi,
    "cupy": cupy,
}


# ---- the checks ----


def balanced(before: dict[str, int]) -> bool:
    """Whether everything made or taken since then has been released exactly once."""
    pairs = (
        ("storages_made", "storages_freed"),
        ("exports_made", "exports_deleted"),
        ("imports_taken", "imports_deleted"),
    )
    now = _core._counters()
    return all(now[made] - before[made] == now[gone] - before[gone] for made, gone in pairs)


def settled(before: dict[str, int]) -> bool:
    """balanced(), after a garbage collection if necessary."""
    return balanced(before) or (gc.collect() >= 0 and balanced(before))


def nanoseconds(route: Callable[[Any], Any], argument: Any) -> float:
    """The fastest of several rounds of about 4 ms each."""
    timer = timeit.Timer(lambda: route(argument))
    once = min(timer.repeat(3, 5)) / 5
    number = max(10, int(0.004 / once))
    return min(timer.repeat(5, number)) / number * 1e9


def check_in(a: Adapter, route: Callable[[Any], gd.Tensor], r: Result, timing: bool) -> None:
    before = _core._counters()
    x, freed = a.make()
    t = route(x)
    r.shared = r.demand(t.data_ptr == a.address(x), f"memory at {t.data_ptr:#x}, want {a.address(x):#x}")
    host = str(t.device) == "cpu"
    if a.write is None:
        r.writes = r.demand(t.readonly, "the framework's arrays never change, but the tensor is writable").replace(
            "yes", "never"
        )
    elif host:
        a.write(x, -1.0)
        there = flat(t)[0] == -1.0
        set_first(t, 0.0)
        r.writes = r.demand(there and a.read(x)[0] == 0.0, "a write is not visible on the other side")
    if timing:
        r.ns = nanoseconds(route, x)
    del x
    if host:
        r.demand(flat(t) == VALUES, "the memory did not outlive its owner")
    r.demand(freed is None or not freed(), "the memory was freed too early")
    del t
    once = settled(before) and (freed is None or freed())
    r.released = r.demand(once, f"released more or less than once: {before} -> {_core._counters()}")


def check_out(a: Adapter, route: Callable[[gd.Tensor], Any], r: Result, timing: bool) -> None:
    before = _core._counters()
    t = filled()
    x = route(t)
    # a Tensor that a framework returns (tvm-ffi's functions do) is read as one
    own = isinstance(x, gd.Tensor)
    address = x.data_ptr if own else a.address(x)
    r.shared = r.demand(t.data_ptr == address, f"memory at {address:#x}, want {t.data_ptr:#x}")
    read = flat if own else a.read
    set_first(t, -1.0)
    there = read(x)[0] == -1.0
    if a.write is None:
        r.writes = r.demand(there, "a write is not visible on the other side").replace("yes", "seen")
    else:
        (set_first if own else a.write)(x, 0.0)
        r.writes = r.demand(there and flat(t)[0] == 0.0, "a write is not visible on the other side")
    set_first(t, 0.0)
    if timing:
        r.ns = nanoseconds(route, t)
    del t
    r.demand(read(x) == VALUES, "the memory did not outlive its owner")
    del x
    r.released = r.demand(settled(before), f"released more or less than once: {before} -> {_core._counters()}")


def check(name: str, *, timing: bool = True) -> Iterator[Result]:
    """Checks all routes of a framework; yields a Result each, or one note if the framework cannot be used."""
    try:
        adapter = FRAMEWORKS[name]()
    except ModuleNotFoundError as e:
        yield Result(name, note="not installed" if e.name == name else f"cannot be imported: {e}", ok=e.name == name)
        return
    except Exception as e:
        yield Result(name, note=f"cannot be used here: {e}", ok=name == "cupy")
        return
    for way, routes, run in (("in", adapter.into, check_in), ("out", adapter.out, check_out)):
        for route, function in routes.items():
            result = Result(name, way, route)
            try:
                run(adapter, function, result, timing)
            except Exception as e:
                result.demand(False, f"{type(e).__name__}: {e}")
            yield result
