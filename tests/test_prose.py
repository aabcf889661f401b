"""Lines of prose in Markdown files have at most 100 columns, so that they can be read and compared in a terminal."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WIDEST = 100
EXCEPT = [
    "CHANGELOG.md",  # not wrapped: every branch adds lines to it
    "docs/reliability-coverage.md",  # these two quote lines of code
    "docs/reliability-mutants.md",
]
BUILT = ["docs/_build", "docs/reference/go"]
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/*/*.md", "cmd/**/*.md")
    for page in sorted(ROOT.glob(pattern))
    if not page.relative_to(ROOT).as_posix().startswith((*EXCEPT, *BUILT))
]


def wide_lines(text: str) -> Iterator[int]:
    """The numbers of the wide lines, without those of tables and code, and those that a link or a word makes wide."""
    text = re.sub(r"^( *```).*?^ *```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"\]\([^)]*\)", "]", line).split()
        if len(line) > WIDEST and not line.startswith("|") and len(" ".join(words)) > WIDEST and len(words) > 1:
            yield number


def test_lines_that_count():
    long = "a word " * 20
    assert list(wide_lines(f"{long}\nshort\n- {long}\n")) == [1, 3]
    assert not list(wide_lines(f"| {long} |\n```\n{long}\n```\n[a link](https://{'x' * 100})\n{'x' * 101}\n"))
    assert list(wide_lines(f"```\n{long}\n```\n{long}\n")) == [4]


def test_all_pages_are_there():
    assert {"README.md", "guide.md", "gpu.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose(page):
    assert not list(wide_lines(page.read_text())), f"lines of more than {WIDEST} columns"
