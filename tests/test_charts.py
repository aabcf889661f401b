"""The charts of the benchmarks, which tools/charts.py draws for the site from the tables of docs/benchmarks.md."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def charts():
    sys.path.insert(0, str(ROOT / "tools"))
    import charts

    sys.path.pop(0)
    return charts


@pytest.fixture(scope="module")
def drawn(charts):
    return charts.with_charts(PAGE.read_text())


def test_only_charts_are_added(drawn):
    assert re.sub(r"```\{raw\} html\n<svg.*?</svg>\n```\n\n", "", drawn, flags=re.DOTALL) == PAGE.read_text()


def test_figures_and_labels_are_those_of_the_table(charts, drawn):
    svg = re.search(r'<svg [^>]*aria-label="Table slots.*?</svg>', drawn, re.DOTALL)[0]
    table = charts.TABLE.search(PAGE.read_text().split("## Table slots\n")[1])[0]
    head, rows = charts.cells(table)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert head[:3] == ["slot", "godlpack", "torch"]
    for row in rows:
        assert set(row[:3]) <= set(texts), row


def test_both_themes(drawn):
    """Text has the color of the page's text, and there is no background."""
    for svg in re.findall(r"<svg.*?</svg>", drawn, re.DOTALL):
        assert "#ffffff" not in svg and "#000000" not in svg
        for text in re.findall(r"<text [^>]*>", svg):
            assert "fill: currentColor" in text, text


def test_ids_are_unique(drawn):
    ids = re.findall(r' id="([^"]*)"', drawn)
    assert len(ids) == len(set(ids))


def test_a_section_that_is_gone(charts):
    with pytest.raises(LookupError, match="Table slots"):
        charts.with_charts(PAGE.read_text().replace("## Table slots", "## Slots"))
