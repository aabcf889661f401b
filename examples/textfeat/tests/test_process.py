"""In the workers of a DataLoader, which must end in time."""

import subprocess
import sys
from pathlib import Path

import pytest

LOADING = Path(__file__).with_name("loading.py")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_in_a_data_loader(method):
    command = [sys.executable, "-P", "-X", "faulthandler", str(LOADING), method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "equal"
