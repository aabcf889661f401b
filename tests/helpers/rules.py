"""The rules of DLPack exchange, as docs/conformance.md lists them."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
RULES = range(1, 68)
ROW = re.compile(r"^\| R(\d+) \| (.+?) \| (.+?) \| (.*) \| (.*) \|$", re.MULTILINE)


def rows():
    """The rules by number: text, source, godlpack's tests, and the subjects that godlpack.testing checks."""
    return {int(number): tuple(cells) for number, *cells in ROW.findall(PAGE.read_text())}
