"""Objects and values: methods, attributes, lists of strings and dicts, beside PyO3's, nanobind's and Python's own.

`python -P bench/objects.py` prints the table, without PyO3 where there is no cargo; with --write, it also writes it to docs/benchmarks.md. The contestants take turns, and the fastest round of each counts.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import machine
import native
import projects
from markup import table

import godlpack

SOURCE = """
package objects

import "iter"

//godlpack:export
type Point struct {
	X int //godlpack:export
}

//godlpack:new
func NewPoint() *Point { return &Point{3} }

//godlpack:export
func (p *Point) Touch() {}

//godlpack:export
func Nop0() {}

//godlpack:export
func Count(words []string) int { return len(words) }

//godlpack:export
func Words(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = "a word of some letters"
	}
	return words
}

//godlpack:export
func Same(counts map[string]int) map[string]int { return counts }

//godlpack:export
//godlpack:prefetch 1024
func Upto(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}
"""


class Point:
    """The same in Python."""

    def __init__(self) -> None:
        self._x = 3

    @property
    def x(self) -> int:
        return self._x

    def touch(self) -> None:
        pass


PYTHON = SimpleNamespace(
    Point=Point,
    nop0=lambda: None,
    count=lambda words: len([word + "" for word in words]),
    words=lambda n: [f"a word of some letters{i}" for i in range(n)],
    same=dict,
    upto=lambda n: (i + 0 for i in range(n)),
)
STRINGS, ENTRIES = 1_000_000, 100_000
STATEMENTS = {  # and how often one round runs it
    "f()": ("f()", 100_000),
    "o.m()": ("o.touch()", 100_000),
    "o.x": ("o.x", 100_000),
    "C()": ("new()", 20_000),
    f"{STRINGS:,} str in": ("count(many)", 1),
    f"{STRINGS:,} str out": (f"words({STRINGS})", 1),
    f"dict of {ENTRIES:,}, there and back": ("same(counts)", 1),
    f"iterator of {STRINGS:,} int": (f"consume(upto({STRINGS}))", 1),
}


def loop(module: Any, statement: str, number: int) -> Callable[[], float]:
    """A function that runs the statement so often and returns the nanoseconds of one."""
    text = f"def run():\n    start = clock()\n    for _ in range({number}): {statement}\n    return (clock() - start) / {number}"
    names = {
        "clock": time.perf_counter_ns,
        "f": module.nop0,
        "o": module.Point(),
        "new": module.Point,
        "count": module.count,
        "words": module.words,
        "same": module.same,
        "upto": module.upto,
        "consume": deque(maxlen=0).extend,
        "many": [f"a word of some letters{i}" for i in range(STRINGS)] if "many" in statement else None,
        "counts": {f"word{i}": i for i in range(ENTRIES)} if "counts" in statement else None,
    }
    exec(text, names)
    return names["run"]  # type: ignore[return-value]


def measure(contestants: dict[str, Any], rounds: int) -> dict[str, dict[str, float]]:
    """The fastest round of each contestant, by statement."""
    found = {}
    for row, (statement, number) in STATEMENTS.items():
        runs = {name: loop(module, statement, number) for name, module in contestants.items()}
        times = {name: [run()] for name, run in runs.items()}
        for _ in range(rounds):
            for name, run in runs.items():
                times[name].append(run())
        found[row] = {name: min(all_of) for name, all_of in times.items()}
    return found


def text(ns: float) -> str:
    return f"{ns:.0f} ns" if ns < 10_000 else f"{ns / 1e6:.1f} ms"


def main() -> None:
    machine.pin()
    rounds = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 15)
    contestants: dict[str, Any] = {"godlpack": godlpack.load_inline(SOURCE, name="objects")}
    with TemporaryDirectory(prefix="godlpack-bench-") as folder:
        for name, make in {"PyO3": native.pyo3, "nanobind": native.nanobind}.items():
            try:
                contestants[name] = make(Path(folder))
            except native.AbsentError as error:
                print(f"{name}: {error}")
        contestants["Python"] = PYTHON
        found = measure(contestants, rounds)
    rows = []
    for row, times in found.items():
        ours = times["godlpack"]
        peers = [f"{ours / times[name]:.2f}" for name in contestants if name != "godlpack"]
        rows.append([f"`{row}`", *(text(times[name]) for name in contestants), *peers])
    made = table(["", *contestants, *(f"of {name}'s" for name in contestants if name != "godlpack")], rows)
    print(made)
    share = found["o.m()"]["godlpack"] / found["f()"]["godlpack"]
    if "--write" in sys.argv:
        projects.write(
            "## Objects and values\n",
            "A method without arguments, an attribute that is a number, a new object, lists of strings, a dict and an iterator "
            "(in Go with a prefetch of 1,024), beside "
            "PyO3's, nanobind's and Python's own; functions and methods give up the GIL, except Python's. `python -P "
            "bench/objects.py --write` measures them in turn, and writes this section; the fastest round of each counts. "
            f"`o.m()` takes {share:.2f} of `f()`.",
            made,
        )


if __name__ == "__main__":
    main()
