"""The authors' tool, `godlpack`: finds the Go command and runs the tool in the wheel with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import _toolchain

PACKAGE = Path(__file__).parent
TOOL = PACKAGE / "bin" / "godlpack"
COMMANDS = ("new", "generate", "build", "develop", "test", "version", "help")  # as `godlpack help` lists them
IN_PYTHON = ("develop", "test")  # these concern Python's packages, too: _command.py


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


def main(prog: str = "godlpack") -> None:
    """The console script, also run by `python -m godlpack COMMAND`: replaces this process by the tool."""
    arguments = sys.argv[1:]
    if arguments[:1] and arguments[0] in IN_PYTHON:
        from ._command import main as run

        sys.exit(run(arguments, prog))
    os.execve(TOOL, [prog, *arguments], environment(find_go()))
