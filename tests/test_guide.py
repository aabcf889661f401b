"""Runs the commands and writes the files of the guide and of the how-to pages, from top to bottom."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import environment

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [DOCS / "guide.md", *sorted(DOCS.glob("how-to/[!i]*.md"))]


NEEDS = {"gpu": ["torch"], "publish": ["auditwheel", "build", "twine"]}  # packages, in addition to numpy and hatchling
COPIED = {"gpu": ROOT / "cuda" / "testdata" / "fake" / "fake.c"}  # what a page says to copy into its project's tests


def blocks(page):
    return re.findall(r"```(console|cuda|go|python)\n(.*?)```", page.read_text(), re.DOTALL)


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
    env = {
        **environment.create(tmp_path_factory.mktemp("guide")),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # despite its name, 0 disables isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    if "GODLPACK_TEST_GPU" not in os.environ:
        env["CUDA_VISIBLE_DEVICES"] = ""
    env.pop("GODLPACK_LIBCUDA", None)
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
    for module in NEEDS.get(page.stem, []):
        pytest.importorskip(module)
    assert {kind for kind, _ in blocks(page)} >= {"console", "python"}
    for kind, text in blocks(page):
        name = re.match(r"(?://|#) ([\w/]+\.\w+)\n", text)
        if name:
            write_file(shell, name.group(1), text)
        else:
            {"console": type_commands, "python": run_python}[kind](shell, text)
        if "godlpack new" in text and page.stem in COPIED:
            shutil.copy(COPIED[page.stem], folder(shell) / "tests")


def folder(shell):
    return Path(shell.place.read_text().strip())


def type_commands(shell, text):
    """Runs the text after each $; the lines shown below it must be part of the output."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        done = shell(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for line in shown.splitlines():
            assert line in done.stdout + done.stderr, f"{command}: {done.stdout}{done.stderr}"


def write_file(shell, name, text):
    """Writes a file whose first line contains its name, in a comment."""
    folder(shell).joinpath(name).write_text(text)


def run_python(shell, text):
    script = folder(shell) / "script.py"
    script.write_text(text)
    done = shell("python script.py")
    script.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
