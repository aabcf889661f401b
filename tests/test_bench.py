"""The benchmarks run and print every section. Their figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from helpers import build

BENCH = Path(__file__).parents[1] / "bench" / "exchange.py"

pytestmark = [
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="slow, so only on the oldest Python"),
    build.needs_cc,
]


def test_device_table(torch):
    """Without a device, tensors on the CPU replace those on it: the table is as with a GPU, and all its calls work."""
    command = [sys.executable, "-P", str(BENCH.with_name("device.py")), "--device", "cpu", "--rounds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for row in ("| `godlpack.from_dlpack(x), x of torch` ", "| `Go function: y = f(x), x of torch` "):
        assert row in done.stdout


def test_bench_prints_its_tables(torch, np):
    command = [sys.executable, "-P", str(BENCH), "--quick", "--no-write"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for row in ("| from_dlpack(torch tensor) ", "| slot: to_py ", "| the rest of godlpack.from_dlpack ", "| 10,000 "):
        assert row in done.stdout


def test_the_section_of_the_examples_is_kept():
    """It is written by another script than the rest of the page."""
    code = """
import projects
page = projects.PAGE.read_text()
kept = projects.section(page)
assert kept.startswith("## Examples\\n") and all(f"### {name}\\n" in kept for name in projects.NAMES)
assert projects.replaced(page, kept) == page
assert projects.section(projects.replaced("# A\\n\\n## Method\\n", kept)) == kept
for title in projects.KEPT:
    assert projects.replaced(page, projects.section(page, title), title) == page
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=BENCH.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
