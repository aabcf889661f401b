"""Prints how many statements of each Go package the tests reach: Go's own tests, and Python's within a Go program
(tools/embedtest.py). `tox -e cover` runs it. Go counts blocks of statements that always run together; it does not count
a branch without statements, such as a missing else.

`--list` names each block that no test reaches.
"""

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
COVER = ["-count=1", "-timeout=1h", "-covermode=atomic", "-coverpkg=godlpack/..."]
APART = ("godlpack/internal/archtest", "godlpack/internal/embedtest", "godlpack/examples", "godlpack/library/testdata")

Block = tuple[str, int]  # "file:from,to", and the number of statements


def reached(profile: Path) -> dict[Block, int]:
    """How often each block ran."""
    blocks: dict[Block, int] = defaultdict(int)
    for line in profile.read_text().splitlines()[1:]:
        place, statements, times = line.rsplit(" ", 2)
        if not place.startswith(APART):
            blocks[place, int(statements)] += int(times)
    return blocks


def percent(blocks: dict[Block, int]) -> str:
    everything = sum(statements for _, statements in blocks)
    run = sum(statements for (_, statements), times in blocks.items() if times)
    return f"{100 * run / (everything or 1):5.1f} % of {everything} statements"


def main() -> int:
    with TemporaryDirectory(prefix="godlpack-cover-") as folder:
        own, embedded = Path(folder, "own"), Path(folder, "embedded")
        tests = [["go", "test", *COVER, f"-coverprofile={own}", "./..."]]
        tests += [[sys.executable, "tools/embedtest.py", "test", *COVER, f"-coverprofile={embedded}", "./..."]]
        status = max(subprocess.run(command, cwd=ROOT, env=os.environ).returncode for command in tests)
        blocks: dict[Block, int] = defaultdict(int)
        for profile in (own, embedded):
            for block, times in reached(profile).items() if profile.exists() else ():
                blocks[block] += times
    packages: dict[str, dict[Block, int]] = defaultdict(dict)
    for block, times in blocks.items():
        packages[block[0].rsplit("/", 1)[0]][block] = times
    for name, part in sorted(packages.items()):
        print(f"{name:32}{percent(part)}")
    print(f"{'Go, all of it':32}{percent(blocks)}")
    if "--list" in sys.argv:
        print(*sorted(place for (place, _), times in blocks.items() if not times), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
