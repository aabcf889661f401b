"""Seconds to build an index and queries per second, of vecindex and of usearch: python -P bench.py [--vectors 20000] [--rounds 3]

Both take turns in each round; what counts is each one's best round, and ratios are the medians of those of the rounds: of the
time on the clock, and of the time of all processors together, which other work on the machine changes less. The recall is the part of the 10 nearest, by an exact search, that are among the 10 that were found.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import usearch
import usearch.index

import godlpack
import vecindex

M, EF_CONSTRUCTION, EF, K = 16, 200, 64, 10


def gaussian(n: int, dim: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, dim), dtype=np.float32)


def clustered(n: int, dim: int) -> np.ndarray:
    """Around 100 centers, as embeddings of things of some kinds are."""
    rng = np.random.default_rng(1)
    centers = 2 * rng.standard_normal((100, dim), dtype=np.float32)
    return centers[rng.integers(0, 100, n)] + rng.standard_normal((n, dim), dtype=np.float32)


def exact(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    distances = (vectors**2).sum(1) - 2 * queries @ vectors.T
    return np.argpartition(distances, K, axis=1)[:, :K]


def recall(found: np.ndarray, want: np.ndarray) -> float:
    return float(np.mean([len(set(f) & set(w)) / K for f, w in zip(found.tolist(), want.tolist(), strict=True)]))


class Ours:
    name = "vecindex"

    def __init__(self, dim: int, threads: int):
        godlpack.set_num_threads(threads)
        self.index = vecindex.Index(dim, m=M, ef_construction=EF_CONSTRUCTION)

    def build(self, vectors: np.ndarray) -> None:
        self.index.add(vectors)

    def search(self, queries: np.ndarray) -> np.ndarray:
        return self.index.search(queries, K, ef=EF)[0]


class Usearch:
    name = "usearch"

    def __init__(self, dim: int, threads: int):
        self.threads = threads
        self.index = usearch.index.Index(
            ndim=dim, metric="l2sq", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION, expansion_search=EF
        )

    def build(self, vectors: np.ndarray) -> None:
        self.index.add(np.arange(len(vectors)), vectors, threads=self.threads, copy=True)

    def search(self, queries: np.ndarray) -> np.ndarray:
        return self.index.search(queries, K, threads=self.threads).keys


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of all processors."""
    clock, processors = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processors


def measure(vectors: np.ndarray, queries: np.ndarray, threads: int, rounds: int) -> dict[str, tuple[list, list, float]]:
    """Of each library: seconds to build in each round, seconds to search, and the recall of the last."""
    want = exact(vectors, queries)
    taken: dict[str, tuple[list, list, float]] = {way.name: ([], [], 0.0) for way in (Ours, Usearch)}
    for _ in range(rounds):
        for way in (Ours, Usearch):
            index = way(vectors.shape[1], threads)
            build, search, _ = taken[way.name]
            build.append(seconds(lambda index=index: index.build(vectors)))
            search.append(seconds(lambda index=index: index.search(queries)))
            taken[way.name] = build, search, recall(index.search(queries), want)
    return taken


def ratios(a: list[tuple[float, float]], b: list[tuple[float, float]]) -> str:
    clock, processors = (statistics.median(x[i] / y[i] for x, y in zip(a, b, strict=True)) for i in range(2))
    return f"{clock:.2f}, {processors:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    print(
        f"{processors} processors, {platform.machine()}; Python {platform.python_version()}, "
        f"{godlpack.get_build_info()['go']}, usearch {usearch.__version__}, numpy {np.__version__}\n"
    )
    print(
        "| vectors | threads | by | s to build | / usearch's: clock, processors | queries/s | time / usearch's: clock, processors | recall@10 |"
    )
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for data in (gaussian, clustered):
        both = data(options.vectors + 1000, options.dim)
        vectors, queries = both[:-1000], both[-1000:]
        for threads in sorted({1, processors}):
            taken = measure(vectors, queries, threads, options.rounds)
            for name, (build, search, quality) in taken.items():
                print(
                    f"| {data.__name__} | {threads} | {name} | {min(build)[0]:.2f} | "
                    f"{ratios(build, taken['usearch'][0])} | {len(queries) / min(search)[0]:,.0f} | "
                    f"{ratios(search, taken['usearch'][1])} | {quality:.3f} |"
                )


if __name__ == "__main__":
    main()
