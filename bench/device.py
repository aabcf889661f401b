"""The cost of calls with tensors on a CUDA device, relative to the same calls with tensors on the CPU.

`python -P bench/device.py` prints only this table; with `--device cpu` it runs anywhere, as a test of the script.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import alone
import functions
import native
from cases import OURS, SHAPE, TORCH, TVM, Libraries, Plan
from clock import Case, ns
from markup import table
from targets import verdict

CUPY = "cupy"
CPU = "cpu"
FASTEST = "godlpack.from_dlpack(x), x of torch"
FACTOR = 1.2
TEXT = (
    "ns for the same call with tensors on the CPU and on a device, net of the call itself. Nothing waits for the device. "
    f"`{FASTEST}` is to cost at most {FACTOR} times what it costs on the CPU. The Go function looks at three tensors, or "
    "makes one, on the current stream of its caller's framework."
)
HEADERS = ["call", "cpu", "device", "ratio"]


def device_of(lib: Libraries) -> str:
    """The first CUDA device. Raises AbsentError with the reason if there is none."""
    if TORCH not in lib:
        raise native.AbsentError("no torch")
    if not lib[TORCH].cuda.is_available():
        raise native.AbsentError("no CUDA GPU")
    return "cuda:0"


def add_cases(p: Plan, ours: Any, device: str | None = None) -> None:
    """Adds the calls on CPU and device; ours is the library of Go functions."""
    try:
        device = device or device_of(p.lib)
    except native.AbsentError as error:
        p.absent["tensors on a device"] = str(error)
        return
    for where in dict.fromkeys((CPU, device)):
        add_torch(p, ours, where)
    add_cupy(p, device)
    p.device = device


def add_torch(p: Plan, ours: Any, where: str) -> None:
    gd, torch = p.lib[OURS], p.lib[TORCH]
    x = torch.zeros(SHAPE, device=where)
    t = gd.from_dlpack(torch.zeros(SHAPE, device=where))
    column = column_of(where)
    p.add(FASTEST, column, "f(x)", "f(x)", f=gd.from_dlpack, x=x)
    if TVM in p.lib:
        p.add("tvm_ffi.from_dlpack(x), x of torch", column, "f(x)", "f(x)", f=p.lib[TVM].from_dlpack, x=x)
    p.add("t.to(torch.Tensor)", column, "t.to(kind)", "o.m(x)", t=t, kind=torch.Tensor)
    p.add("torch.from_dlpack(t)", column, "f(x)", "f(x)", f=torch.from_dlpack, x=t)
    if ours is not None:
        p.add("Go function: f(x, x, x), x of torch", column, "f(x, x, x)", "f(x)", f=ours.device3, x=x)
        p.add("Go function: y = f(x), x of torch", column, "f(x)", "f(x)", f=ours.device_new, x=x)


def add_cupy(p: Plan, device: str) -> None:
    try:
        cupy = importlib.import_module(CUPY)
        x = cupy.zeros(SHAPE, "float32")
    except Exception as error:  # CUDA's errors, too
        p.absent[CUPY] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return
    gd, column = p.lib[OURS], column_of(device)
    t = gd.from_dlpack(cupy.zeros(SHAPE, "float32"))
    p.add("godlpack.from_dlpack(x), x of cupy", column, "f(x)", "f(x)", f=gd.from_dlpack, x=x)
    p.add("t.to(cupy.ndarray)", column, "t.to(kind)", "o.m(x)", t=t, kind=cupy.ndarray)
    p.add("cupy.from_dlpack(t)", column, "f(x)", "f(x)", f=cupy.from_dlpack, x=t)


def column_of(where: str) -> str:
    """The name of a column; it is not a library."""
    return f"on {where}"


def rows(cases: dict[tuple[str, str], Case], device: str) -> list[list[str]]:
    """ns for each call, with the ratio of device to CPU."""
    found = []
    for name in dict.fromkeys(row for row, column in cases if column.startswith("on ")):
        cpu, there = cases.get((name, column_of(CPU))), cases.get((name, column_of(device)))
        nets = ["-" if case is None else ns(case.net) for case in (cpu, there)]
        ratio = f"{there.net / cpu.net:.2f}" if cpu and there else "-"
        if name == FASTEST and cpu and there:
            ratio += f", {verdict(there.net / cpu.net, FACTOR)}"
        found.append([f"`{name}`", *nets, ratio])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="instead of the first CUDA device")
    parser.add_argument("--rounds", type=int, default=1000)
    options = parser.parse_args()

    def add(p: Plan, folder: Path) -> None:
        add_cases(p, functions.go_library(p, folder), options.device)

    p = alone.measure((OURS, TVM, TORCH), add, options.rounds)
    alone.show(p, table(HEADERS, rows(p.by_key(), p.device)))


if __name__ == "__main__":
    main()
