"""The project of a Go library: its folder, what its pyproject.toml says, and its build in place."""

from __future__ import annotations

import os
import re
import subprocess
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ._tool import TOOL, BuildError, environment, require_go

BACKEND = "godlpack.build"
SKIPPED = re.compile(r"\..*|__pycache__|node_modules|testdata|build|dist")  # folders in which pytest finds no tests
TESTS = re.compile(r"test_.*\.py|.*_test\.py")


class ProjectError(Exception):
    """A folder is not a project that this tool can build or install; the text says what to do."""


@dataclass(frozen=True)
class Project:
    """A project as `godlpack new` makes it.

    Parameters
    ----------
    folder : Path
        The folder of pyproject.toml.
    name : str
        Name of the distribution.
    path, package, library : str
        The options of [tool.godlpack]: the folder of the Go package, that of
        the Python package, and the library's name.
    """

    folder: Path
    name: str
    path: str
    package: str
    library: str

    def build(self) -> float:
        """Builds the library into the Python package. The tool prints its errors; the result is in seconds.

        Raises BuildError if the sources have an error, and if there is no Go command.
        """
        start = time.monotonic()
        to = self.folder / self.package
        command: list[str | Path] = [TOOL, "build", self.path, "-o", to, "-name", self.library]
        if subprocess.run(command, cwd=self.folder, env=environment(require_go())).returncode:
            raise BuildError(f"{self.name} was not built: correct the errors above, and run the command again")
        return time.monotonic() - start

    def has_python_tests(self) -> bool:
        """Whether there are files of pytest's usual names, or a configuration, which may name others."""
        configured = tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
        if "pytest" in configured or (self.folder / "pytest.ini").exists():
            return True
        return any(TESTS.fullmatch(file.name) for file in self.files())

    def files(self) -> Iterator[Path]:
        """The files in the folders that pytest searches."""
        for parent, folders, files in os.walk(self.folder):
            folders[:] = [] if "pyvenv.cfg" in files else [name for name in folders if not SKIPPED.fullmatch(name)]
            yield from (Path(parent, name) for name in files)


def identifier(name: str) -> str:
    """The name of a distribution as that of a Python package: "fast-ops" is fast_ops."""
    return re.sub(r"[-.]+", "_", name).lower()


def read(folder: str | os.PathLike[str]) -> Project:
    """The project in a folder. Raises ProjectError if there is none."""
    root = Path(folder).resolve()
    file = root / "pyproject.toml"
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        name = str(content["project"]["name"])
    except OSError:
        raise ProjectError(
            f"{folder} has no pyproject.toml: want the folder of a project, as `godlpack new NAME` makes it; a Go package "
            "without one can be built by `godlpack build`, or loaded by godlpack.load"
        ) from None
    except ValueError as error:
        raise ProjectError(f"{file} cannot be read: {error}") from None
    except (KeyError, TypeError):
        raise ProjectError(f"{file} has no name in [project]: write one there") from None
    backend = content.get("build-system", {}).get("build-backend")
    if backend != BACKEND:
        raise ProjectError(
            f'{file} has the build backend {backend!r}, which does not build Go: write build-backend = "{BACKEND}" into '
            '[build-system], with requires = ["godlpack"]'
        )
    options = content.get("tool", {}).get("godlpack", {})
    default = identifier(name)
    return Project(root, name, options.get("path", "."), options.get("package", default), options.get("name", default))
