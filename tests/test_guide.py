"""The guide's commands and files, run from top to bottom."""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"
BLOCKS = re.findall(r"```(console|go|python)\n(.*?)```", GUIDE.read_text(), re.DOTALL)


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


@pytest.fixture
def shell(tmp_path):
    """Runs commands in one shell session's place, in a virtual environment that sees what is installed here."""
    pytest.importorskip("hatchling")
    pytest.importorskip("numpy")
    venv.create(tmp_path / "venv", with_pip=True)
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    site.joinpath("outside.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    place = tmp_path / "place"
    place.write_text(str(tmp_path))
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(tmp_path / "venv" / "bin"), sysconfig.get_path("scripts"), os.environ["PATH"]]),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # means no isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GODLPACK_CACHE": str(tmp_path / "cache"),
    }
    env.pop("PYTHONPATH", None)

    def run(command):
        script = f"{command}\nstatus=$?; pwd > {place}; exit $status"
        folder = place.read_text().strip()
        return subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True)

    run.place = place
    return run


def test_guide(shell):
    assert {kind for kind, _ in BLOCKS} == {"console", "go", "python"}
    for kind, text in BLOCKS:
        {"console": type_commands, "go": write_file, "python": run_python}[kind](shell, text)


def type_commands(shell, text):
    """Runs what follows each $; what is shown below it must be part of what it writes."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        done = shell(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for line in shown.splitlines():
            assert line in done.stdout + done.stderr, f"{command}: {done.stdout}{done.stderr}"


def write_file(shell, text):
    """Writes a file whose name is in its first line."""
    name = re.match(r"// (\w+\.go)\n", text).group(1)
    Path(shell.place.read_text().strip(), name).write_text(text)


def run_python(shell, text):
    script = Path(shell.place.read_text().strip(), "script.py")
    script.write_text(text)
    done = shell("python script.py")
    script.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
