"""The cost of an exchange, godlpack and its peers side by side in one process.

Prints the figures as Markdown, and writes them to docs/benchmarks.md. `tox -e bench` runs it; tools/charts.py draws the
tables for the site.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

import cases
import clock
import device
import functions
import ladder
import machine
import native
import projects
import report
import scale
import startup

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
START = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - START:5.1f} s] {text}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="under 40 s: shows that all of it runs; its figures are rough"
    )
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    return parser.parse_args()


def prepare(folder: Path) -> cases.Plan:
    """Compiles the benchmarks' own C and C++, and loads the libraries."""
    absent: dict[str, str] = {}
    say("compiling the bench's C")
    calls, slots = native.calls(folder), native.slots(folder)
    say("loading the libraries; compiling nanobind's")
    plan = cases.plan(cases.load_libraries(folder, absent), calls, slots, absent)
    ladder.add_cases(plan, folder)
    say("building a library of Go functions, and tvm-ffi's")
    device.add_cases(plan, functions.add_cases(plan, folder))
    return plan


def time_all(plan: cases.Plan, rounds: int) -> list[str]:
    """Times every case; returns facts about the machine."""
    say(f"timing {len(plan.cases)} cases")
    before = machine.Work.until_now()
    clock.measure(plan.cases, rounds, say=say)
    return machine.describe(machine.Work.until_now() - before, plan.cases)


def write(page: Path, text: str) -> None:
    page.write_text(text)
    say(f"wrote {page}")


def main() -> int:
    options = arguments()
    machine.pin()  # before the libraries count the cores
    rounds = 8 if options.quick else 1500
    with TemporaryDirectory(prefix="godlpack-bench-") as name:
        try:
            plan = prepare(Path(name))
        except native.AbsentError as error:
            say(str(error))
            return 1
        facts = time_all(plan, rounds)
        say("import godlpack, in fresh processes")
        started = startup.measure(3 if options.quick else 25)
        effort = scale.QUICK if options.quick else scale.FULL
        scaled = report.scaling(scale.sections(plan.lib, effort, plan.calls.nothing, plan.slots, say))
    kept = "".join(projects.section(PAGE.read_text(), title) for title in projects.KEPT).strip()
    parts = report.results(plan.cases, started, plan.device), scaled, kept and kept + "\n", report.absent(plan.absent)
    text = report.page(facts, report.method(plan.cases, rounds), *parts)
    print(text)
    if not options.no_write:
        write(options.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
