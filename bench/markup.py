"""Prose, tables and sections in Markdown that also read well in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDEST = 100  # columns of prose, as in all pages


def prose(text: str, start: str = "") -> str:
    """A paragraph, or a list's item that starts with "- "."""
    lines = textwrap.wrap(
        text,
        WIDEST,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def items(texts: Iterable[str]) -> str:
    return "\n".join(prose(text, "- ") for text in texts)


def table(headers: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table with aligned columns; columns of numbers, except the first, are aligned right."""
    lines = [headers, *rows]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(headers))]
    numeric = [i > 0 and all(line[i][:1] in "-+0123456789" for line in lines[1:]) for i in range(len(headers))]
    rule = ["-" * (w - 1) + (":" if n else "-") for w, n in zip(widths, numeric, strict=True)]
    padded = (
        [cell.rjust(w) if n else cell.ljust(w) for cell, w, n in zip(line, widths, numeric, strict=True)]
        for line in lines
    )
    head, *body = (f"| {' | '.join(line)} |" for line in padded)
    return "\n".join([head, f"| {' | '.join(rule)} |", *body])


def section(title: str, text: str, headers: list[str], rows: list[list[str]], level: int = 2) -> str:
    body = table(headers, rows) if rows else "Not measured."
    return f"{'#' * level} {title}\n\n{prose(text)}\n\n{body}\n"
