"""Editable installs: a project's folder as the place that Python imports its package from. Nothing is fetched."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from ._project import Project, ProjectError

# No index, no dependencies, no environment of its own for the build: hatchling and godlpack are those of this Python.
PIP = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
UV = ("--offline", "--no-deps", "--no-build-isolation", "--quiet")


def is_installed(project: Project) -> bool:
    """Whether this Python imports the project from its folder, by metadata as new as its pyproject.toml."""
    try:
        found = distribution(project.name)
    except PackageNotFoundError:
        return False
    changed = (project.folder / "pyproject.toml").stat().st_mtime
    return origin(found) == project.folder.as_uri() and changed <= installed_at(found)


def origin(found: Distribution) -> str | None:
    """The folder that an editable install is from, as a URL (PEP 610); None for other installs."""
    record = json.loads(found.read_text("direct_url.json") or "{}")
    return record.get("url") if record.get("dir_info", {}).get("editable") else None


def installed_at(found: Distribution) -> float:
    """The time of an install; 0 if it has no list of its files."""
    record = next((file for file in found.files or () if file.name == "RECORD"), None)
    return Path(str(record.locate())).stat().st_mtime if record else 0


def installer() -> list[str]:
    """The command that installs a folder. Raises ProjectError, with advice, if this Python has no means to."""
    if not find_spec("hatchling"):
        raise ProjectError(
            f'{sys.executable} has no hatchling, which installs projects: run `pip install "godlpack[build]"`, and then '
            "this command again"
        )
    if find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install", *PIP, "--editable"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", f"--python={sys.executable}", *UV, "--editable"]
    raise ProjectError(
        f"{sys.executable} has no pip, and uv is not on PATH: run `{Path(sys.executable).name} -m ensurepip`, or install uv"
    )


def install(project: Project, command: list[str]) -> None:
    """Installs a project by the command that installer() returned. Raises ProjectError if that fails."""
    if subprocess.run([*command, str(project.folder)], cwd=project.folder).returncode:
        raise ProjectError(f"{project.name} was not installed: the reason is above")
