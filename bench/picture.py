"""The picture of the main figures: an SVG with bars on a logarithmic scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cases import FLOOR, JAX, LIBRARIES, NANOBIND, NUMPY, OURS, TORCH, TVM
from clock import Case, ns

COLORS = {
    OURS: "#00a29c",
    TVM: "#e07b39",
    NANOBIND: "#8e6bbf",
    TORCH: "#c94f4f",
    NUMPY: "#4d77cf",
    JAX: "#5e9e4a",
    FLOOR: "#9a9a9a",
}
IN = {FLOOR: FLOOR, OURS: "godlpack.from_dlpack(x)", TVM: "tvm_ffi.from_dlpack(x)", NANOBIND: "nanobind: f(ndarray)"}

SLOTS = "Slots of the exchange table, called from C"

Bars = dict[str, list[tuple[str, Case]]]
"""By group, which library's bar is how long."""


def taking(cases: dict[tuple[str, str], Case]) -> Bars:
    """Imports of a framework's tensor x."""
    return {
        f"x of {producer}": [(who, cases[row, producer]) for who, row in IN.items() if (row, producer) in cases]
        for producer in (TORCH, NUMPY, JAX)
    }


def giving(cases: dict[tuple[str, str], Case]) -> Bars:
    """Exports of a tensor to a framework, by its from_dlpack and others."""
    rows = {NUMPY: "numpy.from_dlpack(x)", TORCH: "torch.from_dlpack(x)", JAX: "jax.dlpack.from_dlpack(x)"}
    groups: Bars = {}
    for consumer, row in rows.items():
        own = [(OURS, cases[f"to {consumer}", OURS])] if (f"to {consumer}", OURS) in cases else []
        groups[f"t.to({consumer})"] = own
        groups[row] = [(who, cases[row, who]) for who in (OURS, TVM, NANOBIND) if (row, who) in cases]
    return groups


def slots(cases: dict[tuple[str, str], Case]) -> Bars:
    rows = ("dltensor_from_py", "managed_from_py + deleter", "to_py", "allocator + deleter")
    return {row: [(who, cases[row, who]) for who in (OURS, TORCH) if (row, who) in cases] for row in rows}


def draw_panel(axes: Any, title: str, groups: Bars, start: float) -> None:
    """Draws bars from start ns on: a logarithmic scale has no zero."""
    place, ticks = 0.0, {}
    for name, bars in groups.items():
        if not bars:
            continue
        ticks[name] = place + (len(bars) - 1) / 2
        for who, case in bars:
            axes.barh(place, case.net, height=0.86, color=COLORS[who])
            axes.text(case.net * 1.08, place, ns(case.net), va="center", fontsize=8)
            place += 1
        place += 0.7
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_yticks(list(ticks.values()), list(ticks), fontsize=9)
    axes.set_xscale("log")
    axes.set_xlim(left=start, right=8 * max(case.net for bars in groups.values() for _, case in bars))
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def draw(cases: list[Case], path: Path) -> None:
    """Writes the SVG. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "godlpack", "font.family": "sans-serif"}
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    by_key = {(case.row, case.column): case for case in cases}
    panels = {
        "A tensor comes in: from_dlpack(x)": taking(by_key),
        "A tensor goes out": giving(by_key),
        SLOTS: slots(by_key),
    }
    heights = [sum(len(bars) + 0.7 for bars in groups.values() if bars) + 1 for groups in panels.values()]
    figure, all_axes = pyplot.subplots(
        3, 1, figsize=(9, 0.24 * sum(heights) + 1.4), height_ratios=heights, layout="constrained"
    )
    for axes, (title, groups) in zip(all_axes, panels.items(), strict=True):
        draw_panel(axes, title, groups, start=0.1 if groups is panels[SLOTS] else 10)
    all_axes[-1].set_xlabel("ns, net of the calling overhead, logarithmic: shorter is faster")
    shown = [
        name
        for name in (OURS, FLOOR, *LIBRARIES[1:4])
        if any(who == name for g in panels.values() for bars in g.values() for who, _ in bars)
    ]
    figure.legend(
        handles=[Patch(color=COLORS[name], label=name) for name in shown],
        loc="outside upper center",
        ncols=len(shown),
        frameon=False,
    )
    figure.patch.set_facecolor("white")
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
