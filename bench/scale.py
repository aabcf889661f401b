"""Effects that one small exchange does not show: size, rank, many live tensors, threads, and ten million exchanges.

`python -P bench/scale.py` prints only these tables.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import machine
import native
from cases import NUMPY, OURS, TORCH, Libraries, load_libraries, slot_run, table_of
from clock import Case, Run, measure, python_loop
from markup import section

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
SIZES = {"1 B": 1, "1 KB": KB, "1 MB": MB, "1 GB": GB, "4 GB": 4 * GB}
RANKS = (0, 1, 2, 4, 8, 16, 32, 64)
THREADS = 8


@dataclass
class Effort:
    """How much to measure: QUICK only shows that everything runs."""

    rounds: int
    live: tuple[int, ...]
    calls_in_threads: int
    repeats: int
    exchanges: int


FULL = Effort(300, (1, 10, 10**3, 10**5, 10**6), 2_000_000, 7, 10**7)
QUICK = Effort(10, (1, 10**3, 10**4), 50_000, 2, 10**5)


@dataclass
class Section:
    title: str
    text: str
    headers: list[str]
    rows: list[list[str]]


def routes(lib: Libraries, source: Any, array: Any) -> dict[str, Run]:
    """The timed exchanges: imports from torch and numpy, exports to both."""
    t = lib[OURS].from_dlpack(source)
    return {
        "from_dlpack(torch)": python_loop("f(x)", f=lib[OURS].from_dlpack, x=source),
        "from_dlpack(numpy)": python_loop("f(x)", f=lib[OURS].from_dlpack, x=array),
        "t.to(torch.Tensor)": python_loop("t.to(kind)", t=t, kind=lib[TORCH].Tensor),
        "numpy.from_dlpack(t)": python_loop("f(x)", f=lib[NUMPY].from_dlpack, x=t),
    }


def grid(points: dict[str, dict[str, Run]], rounds: int) -> list[list[str]]:
    """Times every route at every point, interleaved. Rows are points, columns routes; ns include a few of overhead."""
    cases = [Case(point, route, run) for point, runs in points.items() for route, run in runs.items()]
    measure(cases, rounds, round_ns=200_000)
    return [[point, *(f"{case.gross:.0f}" for case in cases if case.row == point)] for point in points]


def by_size(lib: Libraries, effort: Effort) -> Section:
    torch = lib[TORCH]
    points = {}
    for name, size in SIZES.items():
        source = torch.empty(size, dtype=torch.uint8)  # virtual memory that is never touched
        points[name] = routes(lib, source, source.numpy())
    text = "Bytes of the tensor, which no exchange touches. ns per exchange."
    return Section("Size", text, ["size", *points["1 B"]], grid(points, effort.rounds))


def by_rank(lib: Libraries, effort: Effort) -> Section:
    torch = lib[TORCH]
    points = {}
    for rank in RANKS:
        source = torch.ones([1] * (rank - 1) + [2] * (rank > 0))
        points[str(rank)] = routes(lib, source, source.numpy())
    text = (
        "Dimensions. Shape and strides are copied, so this grows a little. "
        "A float tensor of one element (rank 0) is also asked whether it is a lazy negative. ns per exchange."
    )
    return Section("Rank", text, ["rank", *points["0"]], grid(points, effort.rounds))


def by_live_tensors(lib: Libraries, effort: Effort) -> Section:
    source = lib[TORCH].ones(24)
    found: list[list[str]] = []
    held: list[Any] = []
    headers: list[str] = []
    for count in effort.live:
        held += (lib[OURS].from_dlpack(source) for _ in range(count - len(held)))
        runs = routes(lib, source, source.numpy())
        headers = ["live", *runs]
        found += grid({f"{count:,}": runs}, effort.rounds)
    return Section("Live tensors", "Tensors held by the same process meanwhile. ns per exchange.", headers, found)


# ---- threads ----


def in_threads(threads: int, run: Run, calls: int) -> float:
    """Wall-clock nanoseconds per call, for calls divided among threads, from the first start to the last end."""
    barrier = threading.Barrier(threads)
    starts, ends = [0] * threads, [0] * threads

    def work(i: int) -> None:
        barrier.wait()
        starts[i] = time.perf_counter_ns()
        run(calls // threads)
        ends[i] = time.perf_counter_ns()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return (max(ends) - min(starts)) / (calls // threads * threads)


def by_threads(lib: Libraries, effort: Effort, nothing: Callable[..., Any], slots: Path) -> Section:
    source = lib[TORCH].ones(24)
    runs = {"an empty C function": python_loop("f(x)", f=nothing, x=source)} | routes(lib, source, source.numpy())
    for name in (OURS, TORCH):
        runs[f"allocator + deleter from C without the GIL, {name}"] = slot_run(
            slots, "slots_allocate", table_of(lib[name].Tensor), source, ctypes.CDLL
        )
    found = []
    with machine.all_cores():
        for name, run in runs.items():
            pairs = [
                (in_threads(1, run, effort.calls_in_threads), in_threads(THREADS, run, effort.calls_in_threads))
                for _ in range(effort.repeats)
            ]
            one, many = (min(column) for column in zip(*pairs, strict=True))
            found.append([name, f"{one:.0f}", f"{many:.0f}", f"{many / one:.2f}"])
    text = (
        f"The same number of exchanges by one thread and by {THREADS}, on {len(machine.CORES)} cores: wall ns per exchange. "
        "Under the GIL a ratio of 1 is the best there is; the empty C function shows what Python itself loses."
    )
    return Section("Threads", text, ["exchange", "1 thread", f"{THREADS} threads", "ratio"], found)


# ---- memory ----


def memory(lib: Libraries, effort: Effort) -> Section:
    """A tenth of the exchanges warms up; then the process's memory is measured after each tenth."""
    runs = routes(lib, source := lib[TORCH].ones(24), source.numpy())
    part = effort.exchanges // 10
    readings = []
    for _ in range(11):
        for run in runs.values():
            run(part // len(runs))
        readings.append(machine.resident_bytes())
    growth = readings[-1] - readings[0]
    row = [f"{part * 10:,}", f"{readings[0] / MB:.1f} MB", f"{readings[-1] / MB:.1f} MB", f"{growth / KB:+.0f} KB"]
    text = "Exchanges, the routes above in equal parts, and the process's memory in RAM before and after them."
    return Section("Memory", text, ["exchanges", "before", "after", "growth"], [row])


def sections(
    lib: Libraries, effort: Effort, nothing: Callable[..., Any], slots: Path, say: Callable[[str], None]
) -> list[Section]:
    """All sections; none without torch and numpy."""
    if not {NUMPY, TORCH} <= lib.keys():
        return []
    found = []
    for what in (by_size, by_rank, by_live_tensors, memory):
        say(f"scale: {what.__name__.replace('_', ' ')}")
        found.append(what(lib, effort))
    say("scale: by threads")
    return [*found, by_threads(lib, effort, nothing, slots)]


def main() -> None:
    machine.pin()
    with TemporaryDirectory(prefix="godlpack-bench-") as folder:
        nothing, slots = native.calls(Path(folder)).nothing, native.slots(Path(folder))
        lib = load_libraries(Path(folder), {}, (OURS, NUMPY, TORCH))
        effort = QUICK if "--quick" in sys.argv else FULL
        for s in sections(lib, effort, nothing, slots, lambda text: print(text, file=sys.stderr, flush=True)):
            print(section(s.title, s.text, s.headers, s.rows, level=2))


if __name__ == "__main__":
    main()
