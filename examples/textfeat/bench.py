"""Texts per second, of textfeat and of scikit-learn's HashingVectorizer: python -P bench.py [--texts 4000] [--rounds 5]

The texts are of 200 words each, of a vocabulary of 50,000 in which, as in languages, the n-th word is 1/n as frequent as
the first. Both take turns in each round; what counts is each one's best round. Besides the time on the clock there is
that of all processors together: HashingVectorizer works in one thread, under the GIL.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.feature_extraction.text import HashingVectorizer

import godlpack
import textfeat

CASES: dict[str, dict[str, Any]] = {
    "words": {},
    "words and pairs": {"ngram_range": (1, 2)},
    "3 to 5 letters in words": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}


def corpus(n: int) -> list[str]:
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    vocabulary = ["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, 50_000)]
    numbers = (len(vocabulary) ** rng.random((n, 200))).astype(int)  # log-uniform: Zipf's law
    return [" ".join(vocabulary[i] for i in row).capitalize() + "." for row in numbers]


def measure(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Each way's least seconds, on the clock and of the processors."""
    best = {name: (float("inf"), float("inf")) for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            clock, processors = time.perf_counter(), time.process_time()
            way()
            spent = time.perf_counter() - clock, time.process_time() - processors
            best[name] = tuple(map(min, best[name], spent))
    return best


def report(case: str, texts: list[str], rounds: int) -> None:
    vectorizer = HashingVectorizer(dtype=np.float32, **CASES[case])
    ways = {
        "textfeat": lambda: textfeat.hash_ngrams(texts, like=np.ndarray, **CASES[case]),
        "HashingVectorizer": lambda: vectorizer.transform(texts),
    }
    best = measure(ways, rounds)
    least = best["textfeat"]
    for name, (clock, processors) in best.items():
        print(
            f"| {case} | {name} | {len(texts) / clock:,.0f} | {clock / least[0]:.1f} | "
            f"{1e6 * processors / len(texts):,.0f} | {processors / least[1]:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{len(os.sched_getaffinity(0))} processors, {platform.machine()}; Python {platform.python_version()}, "
        f"{godlpack.get_build_info()['go']}, scikit-learn {sklearn.__version__}, numpy {np.__version__}\n"
    )
    print("| features | by | texts/s | time / ours | µs of processors each | the same / ours |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    texts = corpus(options.texts)
    for case in CASES:
        report(case, texts, options.rounds)


if __name__ == "__main__":
    main()
