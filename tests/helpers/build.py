"""Builds what tests need: libraries of C code, libraries of Go functions, and other packages of godlpack.

CC names the C compiler, with options if there are any. Whoever has no compiler, or only a wheel without the sources,
gets skipped tests.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import godlpack
from godlpack import _inline
from godlpack._library import read_library

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "testdata"  # of tests alone
HEADERS = ROOT / "internal" / "cpython"
SAMPLES = ROOT / "library" / "testdata"  # libraries of Go functions
DRIVER = ROOT / "cuda" / "testdata" / "fake" / "fake.c"  # a CUDA driver for machines without a GPU

CC = shlex.split(os.environ.get("CC", "cc"))
HAS_CC = shutil.which(CC[0]) is not None
HAS_GO = shutil.which("go") is not None

needs_cc = pytest.mark.skipif(not HAS_CC, reason="needs a C compiler")
needs_headers = pytest.mark.skipif(not HEADERS.joinpath("packed.h").exists(), reason="needs the sources of godlpack")
needs_go = pytest.mark.skipif(not (HAS_GO and SAMPLES.exists()), reason="needs Go, and the sources of godlpack")

# ---- C ----


def c_library(path: Path, source: Path | str, *options: str) -> Path:
    """Compiles C code, a file or a text, into the library of that path."""
    file, text = ("-", source) if isinstance(source, str) else (str(source), None)
    command = [*CC, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", *options, "-o", str(path), "-xc", file]
    subprocess.run(command, input=text, text=True, check=True)
    return path


def c_functions(path: Path, *options: str) -> Path:
    """Compiles functions.c, a library of functions without Go, into the library of that path."""
    return c_library(path, SOURCES / "functions.c", "-fvisibility=hidden", f"-I{HEADERS}", *options)


def preload(library: Path) -> str:
    """The value of LD_PRELOAD for a process with this library in addition to those of this process."""
    return f"{library} {os.environ.get('LD_PRELOAD', '')}"


# ---- Go ----


def go_library(folder: Path, name: str = "sample", added: Mapping[str, str] | None = None) -> Path:
    """Builds one of the libraries in library/testdata into the folder; skips the test if there is no Go. added: the
    text of more of its files, by their names."""
    if not HAS_GO or not SAMPLES.exists():
        pytest.skip("needs Go, and the sources")
    for file, text in (added or {}).items():
        folder.joinpath(file).write_text(text)
    replaced = {SAMPLES / name / file: folder / file for file in added or {}}
    linking = f"-ldflags=-extldflags=-Wl,--version-script={ROOT / 'library' / 'exports.map'}"
    return _go_build(folder / f"{name}.so", f"./library/testdata/{name}", replaced, linking)


def classes_library(folder: Path) -> Path:
    """Builds testdata/classes, with its sidecar, into the folder; skips the test if there is no Go."""
    if not HAS_GO:
        pytest.skip("needs Go")
    library = folder / "_classes.so"
    _inline.build(SOURCES / "classes", library, verbose=False)
    return library


def _go_build(path: Path, package: str, replaced: Mapping[Path, Path], *options: str) -> Path:
    command = ["go", "build", "-buildvcs=false", "-buildmode=c-shared", *options]
    if replaced:
        overlay = path.with_name("overlay.json")
        overlay.write_text(json.dumps({"Replace": {str(file): str(other) for file, other in replaced.items()}}))
        command.append(f"-overlay={overlay}")
    subprocess.run([*command, "-o", str(path), package], cwd=ROOT, check=True)
    return path


def describe(library: Path) -> Path:
    """Writes the library's sidecar, so that load_module does not open it. This process opens it."""
    functions, classes, exceptions = read_library(library)
    content = {"version": 1, "name": library.stem, "classes": classes, "exceptions": exceptions, "functions": functions}
    library.with_suffix(".json").write_text(json.dumps(content))
    return library


def described_twice(folder: Path, name: str = "sample") -> tuple[Path, Path]:
    """A library with its sidecar, and a copy of both: two libraries, each with its own Go runtime."""
    first = describe(go_library(folder, name))
    second = Path(shutil.copy(first, folder / "second.so"))
    shutil.copy(first.with_suffix(".json"), second.with_suffix(".json"))
    return first, second


# ---- packages of godlpack ----


def package(folder: Path, module: Path) -> Path:
    """A folder to import godlpack from, with another extension module."""
    shutil.copytree(godlpack.__path__[0], folder / "godlpack", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(module, folder / "godlpack" / "_core.abi3.so")
    return folder


def faulty_package(folder: Path) -> Path:
    """A folder to import godlpack from, whose Go code fails as a kernel might: `_core._layout(name)`, as in
    testdata/faults.go. Skips the test if there is no Go."""
    if not HAS_GO or not (ROOT / "go.mod").exists():
        pytest.skip("needs Go, and the sources")
    replaced = {ROOT / "pyext" / "zz_faults.go": SOURCES / "faults.go"}
    return package(folder, _go_build(folder / "_core.so", "./pyext/core", replaced))
