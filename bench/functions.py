"""Calls of Go functions with tensors, beside equivalent functions of tvm-ffi and nanobind, which do almost nothing.

`python -P bench/functions.py` prints only these tables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parent))

import alone
import native
import targets
from cases import FLOOR, HELD, NANOBIND, NEW, NOTHING, NUMPY, OURS, OWN, REFUSED, THREE, TORCH, TVM, Plan, call_of
from clock import Case, ns
from markup import table

COLUMNS = (OURS, TVM, NANOBIND, FLOOR)
TEXT = (
    "ns to call a function that does nothing, or makes a small tensor, net of the call itself. x: whose tensors are "
    "passed; own: godlpack.Tensor here, tvm_ffi.Tensor there. All give up the GIL meanwhile, unless it says otherwise; "
    "a function of godlpack's enters Go. A refused argument costs the exception too. The floor looks at torch's tensors by "
    "the slot of its table, gives up the GIL, and enters a function of Go that does nothing, or asks torch for memory."
)

TVM_SOURCE = """
using tvm::ffi::Tensor;
using tvm::ffi::TensorView;
void nop0() {}
void nop3(TensorView x, TensorView y, TensorView z) {}
Tensor new_like(TensorView x) { return Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device()); }
"""

REFUSE = """
try: f(5)
        except TypeError: pass
"""


def add_cases(p: Plan, folder: Path) -> ModuleType | None:
    """Adds the calls. Returns the library of Go functions, if it could be built."""
    ours = go_library(p, folder)
    if ours is None:
        return None
    peers = {OURS: ours, TVM: tvm_functions(p, folder), NANOBIND: p.lib.get(NANOBIND)}
    arguments = {OWN: None, TORCH: p.x.get(TORCH), NUMPY: p.x.get(NUMPY)}
    for name, module in peers.items():
        if module is None:
            continue
        if name != NANOBIND:
            p.add(NOTHING, name, "f()", "f()", f=module.nop0)
        for of, x in arguments.items():
            x = p.x[name] if of == OWN else x
            if x is not None and not (name == NANOBIND and of != NUMPY):
                p.add(call_of(THREE, of), name, "f(x, x, x)", "f(x)", f=module.nop3, x=x)
                add_held(p, name, module, of, x)
                p.add(call_of(NEW, of), name, "f(x)", "f(x)", f=module.new_like, x=x)
    add_floor(p, folder, arguments[TORCH])
    p.add(REFUSED, OURS, REFUSE.strip(), "f()", f=ours.nop3)
    return ours


def add_floor(p: Plan, folder: Path, x: object) -> None:
    """Adds the minimum cost of any call from Python to Go."""
    try:
        p.calls.enter_by(*native.empty(folder))
    except native.AbsentError as error:
        p.absent["the floor of calls"] = str(error)
        return
    p.add(NOTHING, FLOOR, "f()", "f()", f=p.calls.call_go)
    if x is not None:
        p.calls.use(p.lib[TORCH].Tensor.__dlpack_c_exchange_api__)
        p.add(call_of(THREE, TORCH), FLOOR, "f(x, x, x)", "f(x)", f=p.calls.call_go, x=x)
        p.add(call_of(NEW, TORCH), FLOOR, "f(x)", "f(x)", f=p.calls.call_go_new, x=x)


def add_held(p: Plan, name: str, module: ModuleType, of: str, x: object) -> None:
    held = getattr(module, "held3", None)
    if held is not None:
        p.add(call_of(HELD, of), name, "f(x, x, x)", "f(x)", f=held, x=x)


def go_library(p: Plan, folder: Path) -> ModuleType | None:
    try:
        return p.lib[OURS].load_module(native.go_functions(folder, "functions"))
    except (native.AbsentError, ImportError) as error:
        p.absent["calls of Go functions"] = str(error)
        return None


def tvm_functions(p: Plan, folder: Path) -> ModuleType | None:
    """Functions in C++, called by tvm-ffi; those with names that begin with held keep the GIL."""
    if TVM not in p.lib:
        return None
    try:
        from tvm_ffi import cpp

        names = ["nop0", "nop3", "new_like"]
        module = cpp.load_inline("bench_peer", cpp_sources=TVM_SOURCE, functions=names, build_directory=str(folder))
    except Exception as error:  # of any kind, from its build tools
        p.absent["calls of tvm-ffi functions"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return None
    functions = ModuleType("tvm_functions")
    for name in names:
        setattr(functions, name, getattr(module, name))
    functions.held3 = module.get_function("nop3")
    functions.held3.release_gil = False
    return functions


def rows(cases: dict[tuple[str, str], Case]) -> list[list[str]]:
    """ns by call and library, with the ratio of godlpack's to each peer's."""
    found = []
    for name in dict.fromkeys(key[0] for key in cases if key[0].startswith("f(") or key[0].startswith(NEW)):
        if (name, OURS) not in cases:
            continue
        nets = [cases[name, column].net if (name, column) in cases else None for column in COLUMNS]
        ratios = [f"{nets[0] / net:.2f}" if nets[0] and net else "-" for net in nets[1:]]
        found.append([f"`{name}`", *("-" if net is None else ns(net) for net in nets), *ratios])
    return found


HEADERS = ["call", *COLUMNS, "of tvm-ffi's", "of nanobind's", "of the floor"]


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 1000
    p = alone.measure((OURS, TVM, NANOBIND, TORCH, NUMPY), add_cases, rounds)
    promises = targets.rows(p.by_key(), targets.CALLS)
    alone.show(p, table(HEADERS, rows(p.by_key())), table(targets.HEADERS, promises))


if __name__ == "__main__":
    main()
