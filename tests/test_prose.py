"""Pages: prose of at most 100 columns, as in a terminal, and headings that comments in the sources name."""

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


@pytest.mark.parametrize("file", ["fastpath.c", "call.c", "arguments.c", "table.c", "../../exchange/doc.go"])
def test_hot_paths_name_their_section(file):
    """The files that each exchange passes through refer to the section of docs/architecture.md about its way."""
    source = ROOT / "internal" / "cpython" / file
    if not source.exists():
        pytest.skip("needs the sources")
    heading = re.search(r'docs/architecture\.md, "([^"]*)"', source.read_text())[1]
    assert f"## {heading}\n" in (ROOT / "docs" / "architecture.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose(page):
    assert not list(wide_lines(page.read_text())), f"lines of more than {WIDEST} columns"
