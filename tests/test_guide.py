"""Runs the commands and writes the files of the guide and of the how-to pages, from top to bottom."""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "guide.md", *sorted(DOCS.glob("how-to/[!i]*.md"))]


def blocks(page):
    return re.findall(r"```(console|go|python)\n(.*?)```", page.read_text(), re.DOTALL)


def installed():
    try:
        return importlib.metadata.version("godlpack")
    except importlib.metadata.PackageNotFoundError:
        return None


pytestmark = [
    pytest.mark.packaging,
    pytest.mark.skipif(not installed(), reason="needs godlpack as pip installs it"),
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="slow, and the same on every Python"),
]


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    """The environment variables of a virtual environment with the packages of this one."""
    pytest.importorskip("hatchling")
    pytest.importorskip("numpy")
    folder = tmp_path_factory.mktemp("guide")
    venv.create(folder / "venv", with_pip=True)
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    site.joinpath("outside.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(folder / "venv" / "bin"), sysconfig.get_path("scripts"), os.environ["PATH"]]),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # despite its name, 0 disables isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GODLPACK_CACHE": str(folder / "cache"),
    }
    env.pop("PYTHONPATH", None)
    return env


@pytest.fixture
def shell(environ, tmp_path):
    """Runs commands as one shell session does."""
    place = tmp_path / "place"
    place.write_text(str(tmp_path))

    def run(command):
        script = f"{command}\nstatus=$?; pwd > {place}; exit $status"
        folder = place.read_text().strip()
        return subprocess.run(["bash", "-c", script], cwd=folder, env=environ, capture_output=True, text=True)

    run.place = place
    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(shell, page):
    assert {kind for kind, _ in blocks(page)} >= {"console", "python"}
    for kind, text in blocks(page):
        {"console": type_commands, "go": write_file, "python": run_python}[kind](shell, text)


def type_commands(shell, text):
    """Runs the text after each $; the lines shown below it must be part of the output."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        done = shell(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for line in shown.splitlines():
            assert line in done.stdout + done.stderr, f"{command}: {done.stdout}{done.stderr}"


def write_file(shell, text):
    """Writes a file whose first line contains its name."""
    name = re.match(r"// (\w+\.go)\n", text).group(1)
    Path(shell.place.read_text().strip(), name).write_text(text)


def run_python(shell, text):
    script = Path(shell.place.read_text().strip(), "script.py")
    script.write_text(text)
    done = shell("python script.py")
    script.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
