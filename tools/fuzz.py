"""Runs every fuzz target for a short time: `python tools/fuzz.py [INPUTS]`, 20,000 inputs each by default.

`go test -fuzz` runs one target at a time. It writes a failing input into testdata/fuzz of the target's package; commit
the input with the fix. The limit is a number of inputs, since the end of a time limit sometimes counts as a failure
(golang/go#75804, until Go 1.27).
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHORTLY = "-fuzzminimizetime=2s"  # Go's default is a minute for each new input, even one that does not fail


def targets() -> Iterator[tuple[Path, str, str]]:
    """Module, package and name of each fuzz target, those of the examples too."""
    for file in sorted(ROOT.glob("[!.]*/**/*_test.go")):
        for name in re.findall(r"^func (Fuzz\w+)\(", file.read_text(), re.MULTILINE):
            module = next(folder for folder in file.parents if (folder / "go.mod").exists())
            yield module, f"./{file.parent.relative_to(module).as_posix()}", name


def main() -> int:
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    failed = False
    for module, package, name in targets():
        command = ["go", "test", "-run=^$", f"-fuzz=^{name}$", f"-fuzztime={inputs}x", SHORTLY, package]
        print(module.relative_to(ROOT), package, name, flush=True)
        failed |= subprocess.run(command, cwd=module).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
