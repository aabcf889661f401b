"""One table without the rest of the benchmarks, as `python -P bench/functions.py` and similar commands print it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import cases
import clock
import machine
import native


def measure(names: Iterable[str], add: Callable[[cases.Plan, Path], object], rounds: int = 1000) -> cases.Plan:
    """Times the cases that add makes for a plan with these libraries."""
    machine.pin()  # before the libraries count the cores
    with TemporaryDirectory(prefix="godlpack-bench-") as name:
        folder = Path(name)
        absent: dict[str, str] = {}
        libraries = cases.load_libraries(folder, absent, names)
        p = cases.Plan(libraries, native.calls(folder), native.slots(folder), absent)
        p.x = cases.tensors(p.lib)
        cases.add_overheads(p)
        add(p, folder)
        clock.measure(p.cases, rounds)
    return p


def show(p: cases.Plan, *tables: str) -> None:
    """Prints tables, and what could not be measured."""
    print(*tables, *(f"{what}: {why}" for what, why in p.absent.items()), sep="\n")
