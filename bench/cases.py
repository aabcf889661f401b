"""The timed cases: every consumer with every producer's tensor, Tensor's conversions, attributes, and table slots."""

from __future__ import annotations

import ctypes
import importlib
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import native
from clock import Case, python_loop

SHAPE = (2, 3, 4)  # of float32, in every case
OURS, TVM, NANOBIND, TORCH, NUMPY, JAX = "godlpack", "tvm-ffi", "nanobind", "torch", "numpy", "jax"
LIBRARIES = (OURS, TVM, NANOBIND, TORCH, NUMPY, JAX)
FLOOR = "floor"

OVERHEADS = "overhead"
SLOTS = {
    "dltensor_from_py": "slots_view",
    "managed_from_py + deleter": "slots_take",
    "to_py": "slots_make",
    "to_py + free": "slots_make_free",
    "allocator + deleter": "slots_allocate",
    "current_work_stream": "slots_stream",
}

# Rows of calls of functions.
NOTHING, THREE, HELD, NEW, REFUSED = "f()", "f(x, x, x)", "f(x, x, x), GIL held", "y = f(x)", "f(5), refused"
OWN = "own tensor"

Libraries = dict[str, ModuleType]
"""Those that are there, by name."""

MODULES = {OURS: "godlpack", TVM: "tvm_ffi", TORCH: "torch", NUMPY: "numpy", JAX: "jax.dlpack"}


def call_of(call: str, of: str = "") -> str:
    """The row of a call with tensors of a library."""
    return f"{call}, x of {of}" if of else call


def load_libraries(folder: Path, absent: dict[str, str], names: Iterable[str] = LIBRARIES) -> Libraries:
    """Imports the named libraries, with nanobind's compiled into folder; absent gets the reason why one is missing."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    found = {}
    for name in names:
        try:
            found[name] = native.nanobind(folder) if name == NANOBIND else importlib.import_module(MODULES[name])
        except (ImportError, native.AbsentError) as error:
            absent[name] = str(error)
    return found


def tensors(lib: Libraries) -> dict[str, Any]:
    """A tensor of each library in lib. godlpack's, tvm-ffi's and nanobind's are views of torch's memory, aligned as jax
    requires; so is numpy's. The tensors have no other references."""
    x: dict[str, Any] = {}
    if TORCH in lib:
        x[TORCH] = lib[TORCH].arange(24.0, dtype=lib[TORCH].float32).reshape(SHAPE)
    if NUMPY in lib:
        x[NUMPY] = aligned_array(lib[NUMPY])
    if JAX in lib:
        x[JAX] = importlib.import_module("jax.numpy").arange(24.0, dtype="float32").reshape(SHAPE).block_until_ready()
    x[OURS] = ours(lib, x)
    if TVM in lib:
        x[TVM] = lib[TVM].from_dlpack(ours(lib, x))
    if NANOBIND in lib:
        x[NANOBIND] = lib[NANOBIND].tensor(ours(lib, x))
    return {name: x[name] for name in LIBRARIES if name in x}


def ours(lib: Libraries, x: dict[str, Any]) -> Any:
    return lib[OURS].from_dlpack(x[TORCH]) if TORCH in x else lib[OURS].full(SHAPE, 1.0)


def aligned_array(numpy: ModuleType) -> Any:
    memory = numpy.zeros(24 + 16, "float32")
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + 24].reshape(SHAPE)


@dataclass
class Plan:
    """All cases, and the reasons why others could not be measured."""

    lib: Libraries
    calls: ModuleType
    slots: Path
    absent: dict[str, str] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    x: dict[str, Any] = field(default_factory=dict)
    device: str = ""
    """Where device tensors are; empty without a device."""

    def add(self, row: str, column: str, statement: str, overhead: str, **names: Any) -> None:
        """Adds a case if one call of it works."""
        run = python_loop(statement, **names)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run(1)
        except Exception as error:
            self.absent[f"{row}, {column}"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        else:
            self.cases.append(Case(row, column, run, self.overhead(overhead)))

    def by_key(self) -> dict[tuple[str, str], Case]:
        """The cases by row and column."""
        return {(case.row, case.column): case for case in self.cases}

    def overhead(self, name: str) -> Case:
        return next(case for case in self.cases if (case.row, case.column) == (OVERHEADS, name))


def plan(lib: Libraries, calls: ModuleType, slots: Path, absent: dict[str, str]) -> Plan:
    p = Plan(lib, calls, slots, absent, x=tensors(lib))
    add_overheads(p)
    add_exchanges(p)
    add_ways_out(p)
    add_methods(p)
    add_attributes(p)
    add_slots(p)
    return p


def add_overheads(p: Plan) -> None:
    """A C function, a method and an attribute that do nothing, called as the cases call theirs."""
    x, empty = p.x[OURS], p.calls.Empty()
    calls = {
        "f(x)": python_loop("f(x)", f=p.calls.nothing, x=x),
        "f()": python_loop("f()", f=p.calls.nothing),
        "o.m(x)": python_loop("o.method(x)", o=empty, x=x),
        "o.m()": python_loop("o.method_without_arguments()", o=empty),
        "o.a": python_loop("o.attribute", o=empty),
        "C": slot_run(p.slots, "slots_nothing", 0, None),
    }
    p.cases += [Case(OVERHEADS, name, run) for name, run in calls.items()]


def consumers(lib: Libraries) -> dict[str, Callable[[Any], Any]]:
    """Each library's from_dlpack, by its text in the tables."""
    calls = {
        "godlpack.from_dlpack(x)": (OURS, "from_dlpack"),
        "tvm_ffi.from_dlpack(x)": (TVM, "from_dlpack"),
        "nanobind: f(ndarray)": (NANOBIND, "take"),
        "torch.from_dlpack(x)": (TORCH, "from_dlpack"),
        "numpy.from_dlpack(x)": (NUMPY, "from_dlpack"),
        "jax.dlpack.from_dlpack(x)": (JAX, "from_dlpack"),
    }
    return {call: getattr(lib[name], function) for call, (name, function) in calls.items() if name in lib}


def add_exchanges(p: Plan) -> None:
    """Rows are the consumers, columns the libraries of tensor x."""
    for row, consume in consumers(p.lib).items():
        for producer, x in p.x.items():
            p.add(row, producer, "f(x)", "f(x)", f=consume, x=x)
    if TORCH in p.lib:
        p.calls.use(p.lib[TORCH].Tensor.__dlpack_c_exchange_api__)
        p.add(FLOOR, TORCH, "f(x)", "f(x)", f=p.calls.floor, x=p.x[TORCH])


def add_ways_out(p: Plan) -> None:
    """Rows are the wanted frameworks, columns the libraries that convert a tensor of their own."""
    t = p.x[OURS]
    kinds = {NUMPY: ("numpy", "ndarray"), TORCH: ("torch", "Tensor"), JAX: ("jax", "Array")}
    for name, (module, kind) in kinds.items():
        if name in p.lib:
            wanted = getattr(importlib.import_module(module), kind)
            p.add(f"to {name}", OURS, "t.to(kind)", "o.m(x)", t=t, kind=wanted)
    for name in {NUMPY, TORCH} & p.lib.keys() if NANOBIND in p.lib else ():
        p.add(f"to {name}", NANOBIND, "f(x)", "f(x)", f=getattr(p.lib[NANOBIND], f"to_{name}"), x=t)
    if {NUMPY, TORCH} <= p.lib.keys():
        p.add(f"to {NUMPY}", TORCH, "x.numpy()", "o.m()", x=p.x[TORCH])
        p.add(f"to {TORCH}", NUMPY, "f(x)", "f(x)", f=p.lib[TORCH].from_numpy, x=p.x[NUMPY])


def add_methods(p: Plan) -> None:
    for producer, x in p.x.items():
        p.add("x.__dlpack__()", producer, "x.__dlpack__()", "o.m()", x=x)


def add_attributes(p: Plan) -> None:
    for name in ("shape", "dtype", "device", "data_ptr"):
        p.add(f"x.{name}", OURS, f"x.{name}", "o.a", x=p.x[OURS])
        if TORCH in p.x and name == "data_ptr":
            p.add("x.data_ptr", TORCH, "x.data_ptr()", "o.m()", x=p.x[TORCH])
        elif TORCH in p.x:
            p.add(f"x.{name}", TORCH, f"x.{name}", "o.a", x=p.x[TORCH])
        if TVM in p.x and name != "data_ptr":
            p.add(f"x.{name}", TVM, f"x.{name}", "o.a", x=p.x[TVM])


def add_slots(p: Plan) -> None:
    overhead = p.overhead("C")
    for name in (OURS, TORCH):
        table = table_of(p.lib[name].Tensor) if name in p.lib else 0
        for row, function in SLOTS.items() if table else ():
            p.cases.append(Case(row, name, slot_run(p.slots, function, table, p.x[name]), overhead))


def table_of(kind: type) -> int:
    """Address of a type's exchange table."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    get = pointer(("PyCapsule_GetPointer", ctypes.pythonapi))
    return get(kind.__dlpack_c_exchange_api__, b"dlpack_exchange_api")


def slot_run(
    library: Path, function: str, table: int, x: Any, loader: type[ctypes.CDLL] = ctypes.PyDLL
) -> Callable[[int], int]:
    """Returns a function that calls a slot `number` times, in C. PyDLL keeps the GIL meanwhile, CDLL releases it."""
    f = loader(str(library))[function]
    f.argtypes, f.restype = (ctypes.c_void_p, ctypes.py_object, ctypes.c_int64), ctypes.c_int64

    def run(number: int) -> int:
        taken: int = f(table, x, number)
        if taken < 0:
            raise RuntimeError(f"{function}: the slot failed")
        return taken

    return run
