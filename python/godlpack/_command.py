"""The tool's commands that concern Python's packages: `godlpack develop` and `godlpack test`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from . import _editable, _project
from ._project import Project, ProjectError
from ._tool import TOOL, BuildError, environment, require_go

DEVELOP = """\
Build the Go library of a project, and install the project into this Python so that imports read its folder (an editable
install, by pip or uv). After a change of the Go files, run the command again: the next Python process imports the new
code, and so does importlib.reload in a running one. Nothing is fetched: install the project's dependencies by other
means. This needs hatchling: pip install "godlpack[build]".
"""
TEST = """\
Build the Go library of a project into its Python package, run `go test ./...`, and then pytest if the folder has Python
tests (test_*.py, *_test.py, or a configuration of pytest). The project need not be installed. The exit status is 0 only
if all tests pass.
"""
NO_PYTEST = """\
{folder} has tests in Python, but {python} has no pytest: run `pip install pytest`, and then this command again"""


def main(arguments: list[str], prog: str = "godlpack") -> int:
    """Runs develop or test, and returns the exit status."""
    arguments, others = split(arguments)
    parser = parser_of(arguments[0], prog)
    options = parser.parse_args(arguments[1:])
    if others and arguments[0] != "test":
        parser.error(f"unexpected argument {others[0]!r}")
    try:
        project = _project.read(options.folder)
        return test(project, others) if arguments[0] == "test" else develop(project)
    except (BuildError, ProjectError) as error:
        print(f"godlpack {arguments[0]}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments before the first --, and those after it."""
    if "--" not in arguments:
        return arguments, []
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]


def parser_of(command: str, prog: str) -> argparse.ArgumentParser:
    usage = f"{prog} {command} [FOLDER]" + " [-- ARGS]" * (command == "test")
    about = TEST if command == "test" else DEVELOP
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog=f"{prog} {command}", usage=usage, description=about, formatter_class=formatter
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="folder of the project's pyproject.toml (default: this one)",
    )
    if command == "test":
        parser.epilog = "ARGS are passed to pytest: godlpack test . -- -x -k softmax"
    return parser


def develop(project: Project) -> int:
    """Builds, and installs if Python does not import the project from its folder yet."""
    command = None if _editable.is_installed(project) else _editable.installer()
    took = project.build()
    print(f"built {project.name} in {took:.2f} s", flush=True)
    if command:
        _editable.install(project, command)
        print(f"installed {project.name}: this Python imports it from {project.folder}")
    return 0


def test(project: Project, arguments: list[str]) -> int:
    """Builds, and runs all tests, also if those of Go fail. The status is that of the first that failed."""
    took = project.build()
    print(f"built {project.name} in {took:.2f} s", flush=True)
    go = subprocess.run([TOOL, "test", project.path], cwd=project.folder, env=environment(require_go())).returncode
    if not project.has_python_tests():
        return go
    if not find_spec("pytest"):
        raise ProjectError(NO_PYTEST.format(folder=project.folder, python=sys.executable))
    python = run_pytest(project, arguments)
    return go or python


def run_pytest(project: Project, arguments: list[str]) -> int:
    """Runs pytest in the project's folder, with its Python package in front of any that is installed."""
    beside = Path(project.folder, project.package).parent
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [str(beside), os.environ.get("PYTHONPATH")])))
    return subprocess.run([sys.executable, "-P", "-m", "pytest", *arguments], cwd=project.folder, env=env).returncode
