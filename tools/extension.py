"""Builds the extension module with other options, and runs tests against it: for the tools of this folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


@contextmanager
def built(*options: str, **environment: str) -> Iterator[Path]:
    """A folder with a copy of the package, with the authors' tool and a module that `go build` made with these options
    in this environment. Beside the folder is the repository, where the package looks for it when it builds Go
    functions."""
    with TemporaryDirectory(prefix="godlpack-build-") as repository:
        for entry in ROOT.iterdir():
            if entry.name != "python" and not entry.name.startswith("."):
                Path(repository, entry.name).symlink_to(entry)
        folder = Path(repository, "python")
        package = folder / "godlpack"
        shutil.copytree(
            ROOT / "python" / "godlpack", package, ignore=shutil.ignore_patterns("*.so", "__pycache__", "bin")
        )
        module = package / "_core.abi3.so"
        command = ["go", "build", *options, "-buildmode=c-shared", "-buildvcs=false", "-o", str(module), "./pyext/core"]
        subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)
        tool = ["go", "build", "-buildvcs=false", "-o", str(package / "bin" / "godlpack"), "."]
        subprocess.run(tool, cwd=ROOT / "cmd" / "godlpack", check=True)
        yield folder


def test(folder: Path, *arguments: str, **environment: str) -> int:
    """The exit status of pytest with the package in the folder."""
    patience = ["-o", "faulthandler_timeout=600", "-o", "faulthandler_exit_on_timeout=true"]
    command = [sys.executable, "-P", "-m", "pytest", "-q", *patience, *arguments]
    env = os.environ | environment | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=env).returncode
