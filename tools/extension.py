"""Builds the extension module in a way of its own, and runs tests against that: for asan.py and gcstress.py."""

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
    """A folder with a copy of the package, whose module `go build` made with these options in that environment. In it is the
    authors' tool, and beside the folder lies what the package looks for there when it builds Go functions: the repository."""
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
    """pytest's exit status, with the package in the folder."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", *arguments]
    env = os.environ | environment | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=env).returncode
