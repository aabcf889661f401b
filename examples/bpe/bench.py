"""Megabytes per second, of bpe and of HuggingFace's tokenizers: python -P bench.py [--megabytes 8] [--rounds 3]

The text is real: sources and texts of Python, of its packages and of Go (tests/corpus.py). A vocabulary is trained on it by
tokenizers. Both take turns in each round; what counts is each one's best round, and the ratio is the median of those of the
rounds. "one text at a time" is a call of encode for each; "a batch" is one call for all, in all threads.
tiktoken takes part with the same vocabulary, where it is installed.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "true"
sys.path.append(str(Path(__file__).parent / "tests"))

import corpus
import numpy as np
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

import bpe
import godlpack

try:
    import tiktoken  # optional
except ImportError:
    tiktoken = None

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""  # GPT-2's, as tiktoken writes it


def train(texts: list[str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=20_000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def tiktoken_of(ours: bpe.Tokenizer) -> "tiktoken.Encoding":
    """The same vocabulary: what was trained merges in the order of the tokens' numbers."""
    ranks = {ours.decode_bytes(np.array([i])): i for i in range(len(ours))}
    return tiktoken.Encoding("bench", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def measure(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Each way's seconds in each round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - start)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = corpus.texts(int(options.megabytes * 1e6))
    size = sum(len(text.encode()) for text in texts) / 1e6
    theirs = train(texts)
    ours = bpe.Tokenizer.from_str(theirs.to_str())
    ids = [ours.encode(text) for text in texts]
    lists = [i.tolist() for i in ids]
    assert lists == [encoding.ids for encoding in theirs.encode_batch_fast(texts)]
    cases = {
        "one text at a time": {
            "bpe": lambda: [ours.encode(text) for text in texts],
            "tokenizers": lambda: [theirs.encode(text) for text in texts],
        },
        "a batch": {
            "bpe": lambda: ours.encode_batch(texts),
            "tokenizers, `encode_batch`": lambda: theirs.encode_batch(texts),
            "tokenizers, `encode_batch_fast`": lambda: theirs.encode_batch_fast(texts),
        },
        "back to text": {
            "bpe": lambda: [ours.decode(i) for i in ids],
            "tokenizers": lambda: [theirs.decode(i) for i in lists],
        },
    }
    if tiktoken:
        other = tiktoken_of(ours)
        assert [other.encode_ordinary(text) for text in texts] == lists
        cases["one text at a time"]["tiktoken"] = lambda: [other.encode_ordinary(text) for text in texts]
        threads = len(os.sched_getaffinity(0))
        cases["a batch"]["tiktoken"] = lambda: other.encode_ordinary_batch(texts, num_threads=threads)
        cases["back to text"]["tiktoken"] = lambda: [other.decode(i) for i in lists]
    print(
        f"{len(os.sched_getaffinity(0))} processors, {platform.machine()}; Python {platform.python_version()}, "
        f"{godlpack.get_build_info()['go']}, tokenizers {tokenizers.__version__}, "
        f"tiktoken {tiktoken.__version__ if tiktoken else 'absent'}; {len(texts)} texts, {size:.1f} MB\n"
    )
    print("| of | by | MB/s | time / ours |")
    print("| --- | --- | ---: | ---: |")
    for case, ways in cases.items():
        taken = measure(ways, options.rounds)
        for name, seconds in taken.items():
            ratio = statistics.median(x / y for x, y in zip(seconds, taken["bpe"], strict=True))
            print(f"| {case} | {name} | {size / min(seconds):.1f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
