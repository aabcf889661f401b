"""In processes of their own, which must end in time: Ctrl-C, and workers."""

import subprocess
import sys

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

INTERRUPTED = """
import os, signal, sys, threading
import bpe

signal.signal(signal.SIGINT, signal.default_int_handler)  # Python sets none where it was started with SIGINT ignored
tokenizer = bpe.Tokenizer.from_file(sys.argv[1])
tokenizer.encode("ab")
texts = {"pieces": "ab ba " * 20_000_000, "piece": "ab" * 10_000_000, "batch": ["ab ba " * 1000] * 500_000}[sys.argv[2]]
call = tokenizer.encode_batch if sys.argv[2] == "batch" else tokenizer.encode
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    call(texts)
except KeyboardInterrupt:
    print("interrupted")
assert tokenizer.decode(tokenizer.encode("ab ba")) == "ab ba"
"""

WORKERS = """
import multiprocessing, sys
import bpe

if __name__ == "__main__":
    tokenizer = bpe.Tokenizer.from_file(sys.argv[1])
    texts = [f"text number {i} of {i % 7}, naïve ab" for i in range(40)]
    here = [tokenizer.encode(text).tolist() for text in texts]
    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
        assert [ids.tolist() for ids in pool.map(tokenizer.encode, texts)] == here
    print("equal")
"""


@pytest.fixture
def file(tmp_path):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({b: i for i, b in enumerate([*alphabet, "ab"])}, [("a", "b")]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def run(*arguments) -> str:
    command = [sys.executable, "-P", "-X", "faulthandler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("work", ["pieces", "piece", "batch"])
def test_ctrl_c(file, work):
    assert run("-c", INTERRUPTED, file, work) == "interrupted"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers(file, method, tmp_path):
    """The tokenizer goes to them by pickle, with its method."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    assert run(script, file, method) == "equal"
