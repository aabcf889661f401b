"""Builds libraries of Go functions from the sources in library/testdata."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from godlpack._library import read_library

ROOT = Path(__file__).parents[1]


def build(folder: Path, name: str = "sample") -> Path:
    """Builds the library of that name in the folder; skips the test if there is no Go."""
    if not shutil.which("go") or not (ROOT / "library" / "testdata").exists():
        pytest.skip("needs Go, and the sources")
    path = folder / f"{name}.so"
    linking = f"-ldflags=-extldflags=-Wl,--version-script={ROOT / 'library' / 'exports.map'}"
    command = ["go", "build", "-buildvcs=false", "-buildmode=c-shared", linking, "-o", str(path)]
    subprocess.run([*command, f"./library/testdata/{name}"], cwd=ROOT, check=True)
    return path


def describe(library: Path) -> Path:
    """Writes the library's sidecar, so that load_module does not open it. This process opens it."""
    content = {"version": 1, "name": library.stem, "functions": read_library(library)}
    library.with_suffix(".json").write_text(json.dumps(content))
    return library
