"""The authors' tool, `godlpack`: finds the Go command and runs the tool in the wheel with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import _toolchain

PACKAGE = Path(__file__).parent
TOOL = PACKAGE / "bin" / "godlpack"


class BuildError(Exception):
    """A Go package cannot be built.

    The text is Go's message, with the author's files and lines.
    """


def sources() -> Path:
    """The folder of godlpack's Go packages: in the wheel, or, for an editable install, the repository."""
    folder = PACKAGE / "go"
    return folder if folder.exists() else PACKAGE.parents[1]


def find_go() -> str | None:
    """The go command to build with; None if there is none."""
    return _toolchain.find_go(sources())


def environment(go: str | None) -> dict[str, str]:
    """The tool's environment: the Go to run, and the sources to build against."""
    env = dict(os.environ, GODLPACK_SOURCES=str(sources()))
    if go:
        env["GO"] = go
    return env


def require_go() -> str:
    """The Go command. Raises BuildError, with advice on how to get one, if there is none."""
    go = find_go()
    if not go:
        raise BuildError(_toolchain.no_go("this", sources()))
    return go


def main() -> None:
    """The console script: replaces this process by the tool."""
    os.execve(TOOL, ["godlpack", *sys.argv[1:]], environment(find_go()))
