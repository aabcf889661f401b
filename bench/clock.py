"""Timing: all cases in turn, in many rounds; the fastest round of each counts."""

from __future__ import annotations

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Run = Callable[[int], int]
"""Does one thing a given number of times, and returns the nanoseconds that took."""


@dataclass
class Case:
    """One timed call. Its row and column are its place in the tables, and together its name."""

    row: str
    column: str
    run: Run
    overhead: Case | None = None
    """What to subtract: the same call of something that does nothing."""
    number: int = 0
    """Calls in one round; 0 until calibrated."""
    rounds: list[float] = field(default_factory=list)
    """Nanoseconds of one call, of each round."""

    @property
    def gross(self) -> float:
        return min(self.rounds)

    @property
    def net(self) -> float:
        """Nanoseconds of one call without the calling overhead; at least 0.1, so that ratios stay finite."""
        return max(self.gross - (self.overhead.gross if self.overhead else 0.0), 0.1)

    @property
    def unrest(self) -> float:
        """The median round divided by the fastest: 1.0 on a quiet machine."""
        return statistics.median(self.rounds) / self.gross


def ns(value: float) -> str:
    """Nanoseconds for the tables: with a decimal only below 100."""
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.1f}"


LOOP = """
def loop(number, clock=clock, repeat=repeat{names}):
    calls = repeat(None, number)
    start = clock()
    for _ in calls:
        {statement}
    return clock() - start
"""


def python_loop(statement: str, **names: Any) -> Run:
    """A compiled loop around a statement; names are its local variables. The loop frees the statement's result."""
    scope = {"clock": time.perf_counter_ns, "repeat": itertools.repeat} | names
    source = LOOP.format(names="".join(f", {name}={name}" for name in names), statement=statement)
    exec(source, scope)
    return scope["loop"]


def calibrate(case: Case, round_ns: float) -> None:
    """Sets the calls per round, and warms the case up. The fastest of three runs counts: other work may slow one."""
    number = 1
    while (taken := min(case.run(number) for _ in range(3))) < round_ns / 4:
        number *= 4
    case.number = max(1, int(number * round_ns / taken))


def measure(
    cases: Iterable[Case], rounds: int, round_ns: float = 500_000, say: Callable[[str], None] | None = None
) -> None:
    """Times the cases interleaved, each round in another order, so that disturbances affect all alike."""
    cases, order = list(cases), random.Random(0)
    for case in cases:
        calibrate(case, round_ns)
    gc.collect()
    gc.freeze()  # excludes existing objects from the collections
    gc.disable()
    try:
        for i in range(rounds):
            if say and i % max(rounds // 4, 1) == 0:
                say(f"round {i} of {rounds}")
            order.shuffle(cases)
            for case in cases:
                case.rounds.append(case.run(case.number) / case.number)
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
