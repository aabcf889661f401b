"""The steps of from_dlpack(torch tensor): each rung of a ladder of C functions does one thing more than the last.

`python -P bench/ladder.py` prints only this table.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import alone
import native
from cases import OURS, TORCH, Plan
from clock import Case, ns
from markup import table

ROW = "rung"
STEPS = {
    "take": "torch makes a managed tensor; its deleter frees it",
    "guard": "the guard: read requires_grad",
    "object": "make and free an object that holds it (so far: the floor)",
    "planned": "find the plan of the exact type",
    "check": "check the version and the record",
    "shape": "a Tensor instead: bigger, with its own shape and strides",
    "storage": "the tensor keeps the managed tensor; the counters",
}
HEADERS = ["step", "ns", "so far", "share"]


def add_cases(p: Plan, folder: Path) -> None:
    """Adds the rungs."""
    if TORCH not in p.lib:
        return
    try:
        rungs = native.ladder(folder)
    except (native.AbsentError, ImportError) as error:
        p.absent["the ladder"] = str(error)
        return
    rungs.plan(p.lib[TORCH].Tensor, p.lib[TORCH].Tensor.__dlpack_c_exchange_api__)
    for name in STEPS:
        p.add(ROW, name, "f(x)", "f(x)", f=getattr(rungs, name), x=p.x[TORCH])


def rows(cases: dict[tuple[str, str], Case]) -> list[list[str]]:
    """One row for each step: what it adds, the sum so far, and its share of the total; empty without the ladder."""
    whole = cases.get(("godlpack.from_dlpack(x)", TORCH))
    if whole is None or any((ROW, name) not in cases for name in STEPS):
        return []
    found, below = [], 0.0
    for name, text in STEPS.items():
        net = cases[ROW, name].net
        found.append([text, ns(net - below), ns(net), f"{(net - below) / whole.net:.0%}"])
        below = net
    rest = whole.net - below
    found.append(["the rest of godlpack.from_dlpack", ns(rest), ns(whole.net), f"{rest / whole.net:.0%}"])
    return found


def main() -> None:
    def add(p: Plan, folder: Path) -> None:
        p.add("godlpack.from_dlpack(x)", TORCH, "f(x)", "f(x)", f=p.lib[OURS].from_dlpack, x=p.x[TORCH])
        add_cases(p, folder)

    p = alone.measure((OURS, TORCH), add)
    alone.show(p, table(HEADERS, rows(p.by_key())))


if __name__ == "__main__":
    main()
