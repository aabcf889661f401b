"""Evaluations per second, by jsonnet and by go-jsonnet's own package for Python: python -P bench.py [--rounds 5]

Both are the same evaluator, behind other bindings: godlpack's, and one in C by hand. rjsonnet, an evaluator in Rust, takes
part where it is installed. All take turns in each round; what counts is each one's best round, and the ratio is the median
of those of the rounds.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable

import _gojsonnet as original

import godlpack
import jsonnet

try:
    import rjsonnet  # optional
except ImportError:
    rjsonnet = None

SERVICES = """
local service(name, port) = {
  name: name, port: port, replicas: if port % 2 == 0 then 2 else 1,
  env: [{name: std.asciiUpper(p[0]), value: std.toString(p[1])} for p in [['host', name], ['port', port]]],
};
"""
PROGRAMS = {
    "`1 + 1`": ("1 + 1", 300),
    "300 services": (SERVICES + "[service('s%d' % i, 8000 + i) for i in std.range(1, 300)]", 5),
    "a text of 1 MB": ("std.repeat('é 漢', 120000)", 5),
}


def measure(ways: dict[str, Callable[[], object]], calls: int, rounds: int) -> dict[str, list[float]]:
    """Each way's seconds for a call, in each round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            for _ in range(calls):
                way()
            taken[name].append((time.perf_counter() - start) / calls)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{len(os.sched_getaffinity(0))} processors, {platform.machine()}; Python {platform.python_version()}, "
        f"{godlpack.get_build_info()['go']}, gojsonnet {original.version}\n"
    )
    print("| program | by | µs | time / ours |")
    print("| --- | --- | ---: | ---: |")
    vm = jsonnet.VM()
    for title, (program, calls) in PROGRAMS.items():
        ways = {
            "jsonnet": lambda program=program: vm.evaluate(program),
            "gojsonnet": lambda program=program: original.evaluate_snippet("program", program),
        }
        if rjsonnet:
            ways["rjsonnet"] = lambda program=program: rjsonnet.evaluate_snippet("program", program)
        assert len({json.dumps(json.loads(way())) for way in ways.values()}) == 1
        taken = measure(ways, calls, options.rounds)
        for name, seconds in taken.items():
            ratio = statistics.median(x / y for x, y in zip(seconds, taken["jsonnet"], strict=True))
            print(f"| {title} | {name} | {1e6 * min(seconds):,.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
