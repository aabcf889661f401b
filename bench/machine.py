"""The machine: the core that measurements are pinned to, its description, and whether it is quiet."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clock import Case

CORES = sorted(os.sched_getaffinity(0))
BUSY = 0.1
"""From how many busy cores of other work on figures are not to be trusted."""


def pin() -> None:
    """Pins this thread, and those it starts, to the last core: the first ones serve most interrupts."""
    os.sched_setaffinity(0, CORES[-1:])


@contextmanager
def all_cores() -> Iterator[None]:
    """Temporarily lets this thread, and those it starts, run on every core."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def resident_bytes() -> int:
    """Resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Work:
    """Elapsed seconds, and busy seconds of cores: with this process, and with other work."""

    passed: float
    own: float
    others: float

    @classmethod
    def until_now(cls) -> Work:
        user, nice, system, _idle, _wait, irq, softirq, steal, *_ = map(
            int, Path("/proc/stat").read_text().split()[1:11]
        )
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        own = time.process_time()
        return cls(time.monotonic(), own, busy - own)

    def __sub__(self, before: Work) -> Work:
        return Work(self.passed - before.passed, self.own - before.own, self.others - before.others)


def describe(work: Work, cases: list[Case]) -> list[str]:
    """Lines for the report: machine, versions, and a warning if other work ran during the measurement."""
    import godlpack

    info = godlpack.get_build_info()
    peers = {"tvm-ffi": "apache-tvm-ffi"} | {name: name for name in ("nanobind", "torch", "numpy", "jax")}
    versions = ", ".join(f"{name} {version(distribution)}" for name, distribution in peers.items())
    unrest = statistics.median(case.unrest for case in cases)
    others = max(work.others / work.passed, 0.0)
    lines = [
        f"Machine: {processor()}, {len(CORES)} cores, pinned to core {CORES[-1]}; {platform.system()} {platform.release()}.",
        f"Versions: godlpack {info['godlpack']} ({info['go']}), Python {sys.version.split()[0]}; {versions}.",
        f"Quiet: load average {os.getloadavg()[0]:.2f}, of which other work kept {others:.2f} cores busy; "
        f"the median round took {unrest:.2f} times as long as the fastest.",
    ]
    if others > BUSY:
        lines.append(
            f"**Other work kept {others:.2f} cores busy while this was measured: figures may be too high and ratios uneven. "
            "Measure again on a quiet machine.**"
        )
    return lines
