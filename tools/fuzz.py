"""Runs every fuzz target for a moment: `python tools/fuzz.py [INPUTS]`, 20,000 each by default.

`go test -fuzz` takes one target at a time. An input that breaks a target is written into its package's testdata/fuzz,
to be committed with the mend. Inputs are counted, since a time that is up sometimes counts as a failure (golang/go#75804,
until Go 1.27).
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHORTLY = "-fuzzminimizetime=2s"  # Go takes a minute otherwise to shorten an input that is new to it, though it breaks nothing


def targets() -> Iterator[tuple[str, str]]:
    """Package and name of each fuzz target of the root module."""
    for file in sorted(ROOT.glob("[!.]*/**/*_test.go")):
        for name in re.findall(r"^func (Fuzz\w+)\(", file.read_text(), re.MULTILINE):
            yield f"./{file.parent.relative_to(ROOT).as_posix()}", name


def main() -> int:
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    failed = False
    for package, name in targets():
        command = ["go", "test", "-run=^$", f"-fuzz=^{name}$", f"-fuzztime={inputs}x", SHORTLY, package]
        print(package, name, flush=True)
        failed |= subprocess.run(command, cwd=ROOT).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
