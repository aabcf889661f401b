"""The targets: the most that an exchange may cost, relative to a peer's in the same run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cases import FLOOR, JAX, NANOBIND, NEW, NOTHING, NUMPY, OURS, OWN, THREE, TORCH, TVM, call_of
from clock import Case, ns
from startup import Startup

Cases = dict[tuple[str, str], Case]
Key = tuple[str, str]


@dataclass(frozen=True)
class Target:
    """godlpack's call may cost at most factor times the other, both net of the calling overhead."""

    name: str
    ours: Key
    other_name: str
    other: Key
    factor: float


GD, TVM_IN = "godlpack.from_dlpack(x)", "tvm_ffi.from_dlpack(x)"
IN_TORCH, IN_NUMPY, IN_JAX = "torch.from_dlpack(x)", "numpy.from_dlpack(x)", "jax.dlpack.from_dlpack(x)"


def same_call(call: str) -> Target:
    return Target(call.replace("(x)", "(t)"), (call, OURS), "the same, tvm_ffi.Tensor", (call, TVM), 1.0)


def slot(name: str, factor: float) -> Target:
    return Target(f"slot: {name}", (name, OURS), "torch's slot", (name, TORCH), factor)


def attribute(name: str) -> Target:
    return Target(f"t.{name}", (f"x.{name}", OURS), "torch's", (f"x.{name}", TORCH), 1.0)


TARGETS = (
    Target("from_dlpack(torch tensor)", (GD, TORCH), "tvm_ffi.from_dlpack", (TVM_IN, TORCH), 0.70),
    Target("from_dlpack(torch tensor)", (GD, TORCH), "the floor", (FLOOR, TORCH), 1.3),
    Target("from_dlpack(numpy array)", (GD, NUMPY), "tvm_ffi.from_dlpack", (TVM_IN, NUMPY), 0.40),
    Target("from_dlpack(jax array)", (GD, JAX), "tvm_ffi.from_dlpack", (TVM_IN, JAX), 0.50),
    same_call(IN_NUMPY),
    same_call(IN_TORCH),
    same_call(IN_JAX),
    Target("t.to(torch.Tensor)", (f"to {TORCH}", OURS), "torch.from_dlpack(tvm_ffi.Tensor)", (IN_TORCH, TVM), 0.30),
    Target("t.to(np.ndarray)", (f"to {NUMPY}", OURS), "numpy.from_dlpack(tvm_ffi.Tensor)", (IN_NUMPY, TVM), 0.70),
    slot("dltensor_from_py", 0.25),
    slot("managed_from_py + deleter", 0.5),
    slot("to_py", 0.5),
    slot("allocator + deleter", 0.5),
    *map(attribute, ("shape", "dtype", "device", "data_ptr")),
)


def call(name: str, of: str, other: str, factor: float) -> Target:
    against = "the floor" if other == FLOOR else f"{other}'s"
    return Target(
        f"Go function: {call_of(name, of)}", (call_of(name, of), OURS), against, (call_of(name, of), other), factor
    )


CALLS = (
    call(NOTHING, "", TVM, 1.1),
    call(THREE, TORCH, TVM, 0.90),
    call(THREE, TORCH, FLOOR, 1.25),
    call(THREE, NUMPY, TVM, 0.50),
    call(THREE, NUMPY, NANOBIND, 0.70),
    call(THREE, OWN, TVM, 1.0),
    call(NEW, TORCH, TVM, 1.0),
    call(NEW, NUMPY, NANOBIND, 1.0),
)
HEADERS = ["exchange", "ns", "against", "ns", "ratio", "at most", ""]


def verdict(measured: float, limit: float) -> str:
    """The verdict for the tables: ratios count as rounded to two decimals."""
    return "met" if round(measured, 2) <= limit else "**not met**"


def rows(cases: Cases, wanted: Iterable[Target] | None = None) -> list[list[str]]:
    found = []
    for t in TARGETS + CALLS if wanted is None else wanted:
        if t.ours not in cases or t.other not in cases:
            found.append([t.name, "", t.other_name, "", "", f"{t.factor:.2f}", "absent"])
            continue
        ours, other = cases[t.ours].net, cases[t.other].net
        ratio = ours / other
        row = [t.name, ns(ours), t.other_name, ns(other), f"{ratio:.2f}", f"{t.factor:.2f}"]
        found.append([*row, verdict(ratio, t.factor)])
    return found


IMPORT_HEADERS = ["`import godlpack`", "measured", "at most", ""]


def import_rows(s: Startup) -> list[list[str]]:
    changed = ", ".join(s.handlers) or "none"
    return [
        ["over bare Python, fresh processes", f"{s.import_ms:.1f} ms", "20 ms", verdict(s.import_ms, 20)],
        ["the extension module alone", f"{s.extension_ms:.2f} ms", "1 ms", verdict(s.extension_ms, 1)],
        ["threads afterwards", str(s.threads), "1", verdict(s.threads, 1)],
        ["signal handlers changed", changed, "none", verdict(len(s.handlers), 0)],
    ]
