"""The report: what the tables of the page say, and their order."""

from __future__ import annotations

from collections.abc import Iterable

import device
import functions
import ladder
import targets
from cases import LIBRARIES, OVERHEADS, SLOTS, TORCH
from clock import Case, ns
from markup import items, prose, section
from scale import Section
from startup import Startup

INTRODUCTION = """# Benchmarks

What an exchange costs, beside what it costs elsewhere. One command measures all of it but the
[examples](#examples), and writes this page:

```console
$ tox -e bench
```
"""

METHOD = """All but the import and the scale ran in one process, pinned to one core, without the cyclic garbage collector. The
cases took turns, {rounds} rounds of half a millisecond each, in another order every round; a figure is the
fastest round of its case. Tensors are float32 of shape (2, 3, 4) on the CPU. What a call returns is freed within the
time, so both ways of an exchange are in it. godlpack's guards were on.

The calling overhead is subtracted: ns are those of the call less those of the same call of something empty, timed in
the same rounds. The empty callables are in C: for `f(x)` a module's function, for `t.to(x)` a method (both
`METH_FASTCALL | METH_KEYWORDS`, which is how godlpack's are called), for `x.m()` a method without arguments
(`METH_NOARGS`), for `x.a` a getter, and for table slots a function behind a pointer; each returns None (slots: 0). The loop
is subtracted with them. In this run that was {overheads}.
What a peer does to be callable, such as being a function in Python, is its own cost and stays in.
"""

EXCHANGES = (
    "ns to hand x to a library, and to free what it made. Columns: whose tensor x is. A dash: refused, or not there."
)
FLOOR_TEXT = (
    "The floor is a C function that takes torch's managed tensor, reads `requires_grad`, makes an object and frees both. "
    "nanobind makes no object, only an argument for a C++ function."
)
OUT = "ns to make an object of another framework out of a tensor of one's own, and to free it: `t.to(type)` here."
METHODS = "ns for a legacy capsule, made and freed, and for reading an attribute (torch's `data_ptr` is a method)."
SLOT_TEXT = "ns for one slot of the exchange table, called from C. `to_py` takes a static record; without free: its object is freed later."
LADDER = (
    "Where each nanosecond of `from_dlpack(torch tensor)` goes: a ladder of C functions, each doing one thing more than "
    "the one before, with the product's own functions where it has them. What they do not explain is the last row; "
    "it is negative where the product does a step better than its rung."
)


def code(text: str) -> str:
    """Calls and attributes as code: Markdown would render __dlpack__ in bold."""
    return f"`{text}`" if "(" in text or "." in text else text


def matrix(
    cases: list[Case], rows: Iterable[str], columns: Iterable[str] = LIBRARIES
) -> tuple[list[str], list[list[str]]]:
    """Net ns by row and column, without empty columns."""
    found = {(case.row, case.column): ns(case.net) for case in cases}
    rows = [row for row in rows if any(key[0] == row for key in found)]
    columns = [column for column in columns if any((row, column) in found for row in rows)]
    return ["", *columns], [[code(row), *(found.get((row, column), "-") for column in columns)] for row in rows]


def slot_rows(cases: dict[tuple[str, str], Case]) -> list[list[str]]:
    found = []
    for row in SLOTS:
        ours, other = cases[row, "godlpack"].net, cases.get((row, TORCH))
        compared = [ns(other.net), f"{ours / other.net:.2f}"] if other else ["-", "-"]
        found.append([row, ns(ours), *compared])
    return found


def method(cases: list[Case], rounds: int) -> str:
    overheads = ", ".join(f"`{c.column}` {c.gross:.1f} ns" for c in cases if c.row == OVERHEADS)
    paragraphs = METHOD.format(rounds=rounds, overheads=overheads).split("\n\n")
    return "\n\n".join(map(prose, paragraphs)) + "\n"


def results(cases: list[Case], startup: Startup, where: str) -> str:
    """The sections with figures for single exchanges and for the import."""
    by_key = {(case.row, case.column): case for case in cases}
    rows = list(dict.fromkeys(case.row for case in cases if case.column in LIBRARIES))
    exchanges = [row for row in rows if "from_dlpack" in row or row in ("floor", "nanobind: f(ndarray)")]
    parts = [
        section("Targets", "Both net of the calling overhead, in the same run.", targets.HEADERS, targets.rows(by_key)),
        section(
            "Import", "Fresh processes, no framework imported.", targets.IMPORT_HEADERS, targets.import_rows(startup)
        ),
        section("Exchanges", f"{EXCHANGES} {FLOOR_TEXT}", *matrix(cases, exchanges)),
        section("Ways out", OUT, *matrix(cases, [row for row in rows if row.startswith("to ")])),
        section("Capsules and attributes", METHODS, *matrix(cases, [row for row in rows if row.startswith("x.")])),
        section("Table slots", SLOT_TEXT, ["slot", "godlpack", "torch", "ratio"], slot_rows(by_key)),
        section("Calls of Go functions", functions.TEXT, functions.HEADERS, functions.rows(by_key)),
        section(f"Tensors on {where or 'a device'}", device.TEXT, device.HEADERS, device.rows(by_key, where)),
        section("Cost accounting", LADDER, ladder.HEADERS, ladder.rows(by_key)),
    ]
    return "\n".join(parts)


def scaling(sections: list[Section]) -> str:
    parts = [section(s.title, s.text, s.headers, s.rows, level=3) for s in sections]
    return "## Scale\n\nWith the calling overhead, a few ns.\n\n" + ("\n".join(parts) or "Not measured.\n")


def absent(reasons: dict[str, str]) -> str:
    if not reasons:
        return ""
    return f"## Absent\n\n{items(f'{what}: {why}' for what, why in reasons.items())}\n"


def page(machine: list[str], method_text: str, *parts: str) -> str:
    return "\n".join(
        part for part in (INTRODUCTION, items(machine) + "\n", *parts, "## Method\n\n" + method_text) if part
    )
