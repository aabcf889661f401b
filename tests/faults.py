"""Builds godlpack with Go code that fails as a kernel might: `_core._layout(name)` as in testdata/faults.go."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import godlpack

ROOT = Path(__file__).parents[1]


def package(folder: Path, module: Path) -> Path:
    """A folder to import godlpack from, with another extension module."""
    shutil.copytree(godlpack.__path__[0], folder / "godlpack", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(module, folder / "godlpack" / "_core.abi3.so")
    return folder


def build(folder: Path) -> Path:
    """A folder to import godlpack from, whose _layout() fails on request; skips the test if there is no Go."""
    if not shutil.which("go") or not (ROOT / "go.mod").exists():
        pytest.skip("needs Go, and the sources")
    overlay, module = folder / "overlay.json", folder / "_core.so"
    laid_over = {str(ROOT / "pyext" / "zz_faults.go"): str(ROOT / "tests" / "testdata" / "faults.go")}
    overlay.write_text(json.dumps({"Replace": laid_over}))
    command = ["go", "build", "-buildmode=c-shared", "-buildvcs=false", "-overlay", str(overlay), "-o", str(module)]
    subprocess.run([*command, "./pyext/core"], cwd=ROOT, check=True)
    return package(folder, module)
