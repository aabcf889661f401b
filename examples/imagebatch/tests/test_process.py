"""In processes of their own, which must end in time: workers of a DataLoader, and Ctrl-C."""

import subprocess
import sys
from pathlib import Path

import pytest
from pictures import encoded, picture

LOADING = Path(__file__).with_name("loading.py")

# The work is for hours; what ends it is the signal.
INTERRUPTED = """
import os, signal, sys, threading
import imagebatch

signal.signal(signal.SIGINT, signal.default_int_handler)  # Python sets none where it was started with SIGINT ignored
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    imagebatch.decode([sys.argv[1]] * 1_000_000, 2, 2)
except KeyboardInterrupt:
    print("interrupted")
imagebatch.decode([sys.argv[1]], 2, 2)
"""


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{i}.jpg" for i in range(10)]
    for i, path in enumerate(paths):
        path.write_bytes(encoded(picture(60, 50, seed=i), "jpeg"))
    return paths


def run(*arguments) -> str:
    command = [sys.executable, "-P", "-X", "faulthandler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_in_a_data_loader(files, method):
    assert run(LOADING, method, *files) == "equal"


def test_ctrl_c(tmp_path):
    path = tmp_path / "large.jpg"
    path.write_bytes(encoded(picture(1000, 1000), "jpeg"))
    assert run("-c", INTERRUPTED, path) == "interrupted"
