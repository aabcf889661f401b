"""What the examples cost beside the libraries that they are held to: python -P bench/projects.py [NAME...]

Builds each example in its folder, runs its bench.py, and writes the figures to the section "Examples" of docs/benchmarks.md.
bench/exchange.py, which writes the rest of the page, keeps that section. Needs the test and bench extras of the examples.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import machine
from markup import prose

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
NAMES = ["vecindex", "bpe", "jsonnet"]
TITLE = "## Examples\n"
KEPT = ["## Objects and values\n", "## Streams\n", "## The author's loop\n", TITLE]  # sections that other scripts write
BEFORE = ("## Absent\n", "## Method\n")  # what follows, the first that is there
INTRODUCTION = """The examples beside the libraries that they are held to. `python -P bench/projects.py` measures all of them, and
writes this section; the bench.py of each example says what it does. All take turns in each round: ratios are the medians of
those of the rounds, other figures are of the best round."""


def section(page: str, title: str = TITLE) -> str:
    """The section of a page, or nothing."""
    found = re.search(rf"^{title}.*?(?=^## )", page, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def replaced(page: str, text: str, title: str = TITLE) -> str:
    """A page with another section, before those that follow it."""
    page = page.replace(section(page, title), "") if section(page, title) else page
    after = [*KEPT[KEPT.index(title) + 1 :], *BEFORE]
    at = min(page.index(title) for title in after if title in page)
    return page[:at] + text + page[at:]


def write(title: str, text: str, table: str) -> None:
    """Writes a section of the page: prose and a table."""
    parts = f"{title}\n{prose(text)}\n\n{prose(f'Machine: {machine.processor()}.')}\n\n{table}\n\n"
    PAGE.write_text(replaced(PAGE.read_text(), parts, title))
    print(f"wrote {PAGE}")


def measured(name: str) -> str:
    """The figures of an example, as its bench.py prints them."""
    folder = ROOT / "examples" / name
    subprocess.run([sys.executable, "-P", "-m", "godlpack", "build"], cwd=folder, check=True)
    done = subprocess.run(
        [sys.executable, "-P", "bench.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    versions, table = done.stdout.split("\n\n", 1)
    return f"### {name}\n\n{prose(versions)}\n\n{table.strip()}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    names = parser.parse_args().names
    page = PAGE.read_text()
    parts = {part.split("\n", 1)[0]: f"### {part.rstrip()}\n" for part in section(page).split("### ")[1:]}
    parts.update({name: measured(name) for name in names})
    head = f"{TITLE}\n{prose(INTRODUCTION)}\n\n{prose(f'Machine: {machine.processor()}.')}\n"
    PAGE.write_text(replaced(page, "\n".join([head, *(parts[name] for name in NAMES if name in parts)]) + "\n"))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
