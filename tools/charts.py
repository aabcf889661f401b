"""Draws the tables of docs/benchmarks.md as bar charts, for the site: `tox -e docs`. Nothing of it is written to disk.

The charts are SVG within the page, so that their text has the color of the page's text in the light and in the dark theme.
"""

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Patch

TEXT = "#010203"  # stands for the color of the page's text
COLORS = {
    "godlpack": "#00a29c",
    "tvm-ffi": "#e07b39",
    "nanobind": "#8e6bbf",
    "torch": "#c94f4f",
    "numpy": "#4d77cf",
    "jax": "#5e9e4a",
    "floor": "#9a9a9a",
}
OTHERS = ["#00a29c", "#e07b39", "#8e6bbf", "#4d77cf"]  # of columns that are not a library, in their order
NS = "ns: shorter is faster"


@dataclass(frozen=True)
class Chart:
    """What the bars of a section's table are: one for each cell of some columns, grouped by row."""

    columns: str = r".+"  # a pattern that matches their names; those that the table lacks are left out
    labels: int = 1  # how many columns name a row
    unit: str = NS


CHARTS = {
    "Targets": Chart(r"ratio|at most", labels=3, unit="ratio of the two figures, and the most that it may be"),
    "Exchanges": Chart(),
    "Ways out": Chart(),
    "Capsules and attributes": Chart(),
    "Table slots": Chart(r"godlpack|torch"),
    "Calls of Go functions": Chart(r"godlpack|tvm-ffi|nanobind|floor"),
    "Tensors on .*": Chart(r"on .*"),
    "Cost accounting": Chart("ns", unit="ns"),
    "Size": Chart(),
    "Rank": Chart(),
    "Live tensors": Chart(),
    "Threads": Chart(r".* threads?"),
}
TABLE = re.compile(r"^\|.*\|\n\|[ :|-]+\|\n(?:\|.*\|\n)+", re.MULTILINE)
SECTION = re.compile(r"^##+ (.*)\n", re.MULTILINE)


def with_charts(page: str) -> str:
    """The page with a chart before each table of CHARTS. LookupError: it has no such section any more."""
    starts = [match.start() for match in SECTION.finditer(page)]
    parts = [page[a:b] for a, b in zip([0, *starts], [*starts, len(page)], strict=True)]
    found = set()
    for i, part in enumerate(parts):
        title = SECTION.match(part)
        name = title and next((name for name in CHARTS if re.fullmatch(name, title[1])), None)
        if not title or not name:
            continue
        found.add(name)
        table = TABLE.search(part)
        if table:  # otherwise it was not measured
            svg = draw(title[1], CHARTS[name], *cells(table[0]))
            parts[i] = f"{part[: table.start()]}```{{raw}} html\n{svg}\n```\n\n{part[table.start() :]}"
    if found != set(CHARTS):
        raise LookupError(f"docs/benchmarks.md has no section {set(CHARTS) - found}: change CHARTS in tools/charts.py")
    return "".join(parts)


def cells(table: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a Markdown table, as text without marks."""
    head, _, *rows = ([cell.strip(" `*") for cell in line[1:-1].split("|")] for line in table.splitlines())
    return head, rows


Groups = dict[str, list[tuple[str, str, float]]]
"""By row: the column, the figure as in the table, and its value."""


def bars(chart: Chart, head: list[str], rows: list[list[str]]) -> Groups:
    wanted = [i for i, name in enumerate(head) if i >= chart.labels and re.fullmatch(chart.columns, name)]
    groups: Groups = {}
    for row in rows:
        label = row[0] if chart.labels == 1 else f"{row[0]}\nagainst {row[2]}"
        figures = ((head[i], row[i], re.match(r"-?[\d.]+", row[i])) for i in wanted)
        groups[label] = [(name, text, float(number[0])) for name, text, number in figures if number]
    return {label: group for label, group in groups.items() if group}


def colors(names: list[str]) -> dict[str, str]:
    if set(names) <= set(COLORS):
        return {name: COLORS[name] for name in names}
    return dict(zip(names, OTHERS, strict=False))


def draw(title: str, chart: Chart, head: list[str], rows: list[list[str]]) -> str:
    """A chart as SVG."""
    groups = bars(chart, head, rows)
    names = list(dict.fromkeys(name for group in groups.values() for name, _, _ in group))
    color = colors(names)
    style = {"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif", "font.size": 10}
    style |= {f"{what}.color": TEXT for what in ("text", "xtick", "ytick")} | {"axes.labelcolor": TEXT}
    with matplotlib.rc_context(style):
        height = sum(0.24 * len(group) + 0.16 for group in groups.values()) + 1.1
        figure, axes = pyplot.subplots(figsize=(9, height), layout="constrained")
        draw_bars(axes, groups, color)
        axes.set_xlabel(chart.unit + (", logarithmic" if axes.get_xscale() == "log" else ""))
        if len(names) > 1:
            handles = [Patch(color=color[name], label=name) for name in names]
            figure.legend(handles=handles, loc="outside upper left", ncols=len(names), frameon=False)
        text = io.StringIO()
        figure.savefig(
            text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")), transparent=True
        )
        pyplot.close(figure)
    return "\n".join(for_page(text.getvalue(), title))


def draw_bars(axes: Axes, groups: Groups, color: dict[str, str]) -> None:
    values = [value for group in groups.values() for _, _, value in group]
    logarithmic = min(values) > 0 and max(values) > 100 * min(values)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,g}")
    place, ticks = 0.0, {}
    for label, group in groups.items():
        ticks[label] = place + (len(group) - 1) / 2
        for name, text, value in group:
            axes.barh(place, value, height=0.86, color=color[name])
            axes.annotate(text, (max(value, 0), place), (4, 0), textcoords="offset points", va="center", fontsize=9)
            place += 1
        place += 0.7
    axes.set_yticks(list(ticks.values()), list(ticks))
    axes.set_ylim(place - 0.7 - 0.4, -0.6)
    if logarithmic:
        axes.set_xlim(10 ** math.floor(math.log10(min(values) / 1.5)), 3 * max(values))
    else:
        axes.set_xlim(min(0, 1.2 * min(values)), 1.12 * max(values))
    axes.grid(axis="x", color="#808080", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(axis="both", length=0, which="both")


def for_page(svg: str, title: str) -> Iterator[str]:
    """The lines of an SVG file as an element of a page, as wide as the page, in the color of its text."""
    svg = svg[svg.index("<svg") :].replace(TEXT, "currentColor")
    svg = re.sub(r'<g id="[\w.]+"', "<g", svg)  # other charts of the page have the same
    svg = re.sub(r"<!--.*?-->|<style.*?</style>", "", svg, flags=re.DOTALL)  # a style would apply to the whole page
    svg = re.sub(
        r'width="[\d.]+pt" height="[\d.]+pt"',
        f'role="img" aria-label="{title}: the table as bars" width="100%"',
        svg,
        count=1,
    )
    svg = svg.replace("'DejaVu Sans'", "inherit")
    return (line for line in svg.splitlines() if line.strip())
