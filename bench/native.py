"""The benchmarks' own C and C++: compiled into a temporary folder, then loaded."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import machine

BENCH = Path(__file__).parent
CPYTHON = BENCH.parent / "internal" / "cpython"
"""The C of the product, and the header that declares Python."""
ENTER_GO = {"module.c", "runtime.c", "signals.c"}
"""The C that only stands between Python and Go."""
SHARED = ["-fPIC", "-fvisibility=hidden", f"-I{CPYTHON}"]
OPTIMIZED = ["-O2"]  # as cgo compiles godlpack


class AbsentError(Exception):
    """Something cannot be measured here; the message names it and the reason."""


def compiler(variable: str, default: str) -> list[str]:
    command = shlex.split(os.environ.get(variable, default))
    if not command or not shutil.which(command[0]):
        raise AbsentError(f"no compiler: {variable} is not set, and {default} is not on PATH")
    return command


def compile_into(output: Path, command: list[str], *sources: Path) -> Path:
    """Compiles the sources in parallel, on all cores, and links them."""
    objects = [output.with_name(f"{output.stem}-{source.name}.o") for source in sources]
    steps = [[*command, "-c", "-o", str(o), str(source)] for o, source in zip(objects, sources, strict=True)]
    with machine.all_cores(), ThreadPoolExecutor() as pool:
        list(pool.map(execute, steps))
    execute([*command, "-shared", "-o", str(output), *map(str, objects)])
    return output


def execute(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:])
        raise AbsentError(f"{Path(command[-1]).name} does not compile: {first}")


def compile_c(folder: Path, name: str, *sources: Path) -> Path:
    return compile_into(folder / f"{name}.so", [*compiler("CC", "cc"), *OPTIMIZED, *SHARED], *sources)


def load_module(name: str, path: Path, dlopen_flags: int = os.RTLD_NOW) -> ModuleType:
    """Imports an extension module from any path."""
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    flags = sys.getdlopenflags()
    sys.setdlopenflags(dlopen_flags)
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    finally:
        sys.setdlopenflags(flags)
    return module


def calls(folder: Path) -> ModuleType:
    """bench_calls: callables that do nothing, and the floor."""
    return load_module("bench_calls", compile_c(folder, "bench_calls", BENCH / "calls.c"))


def slots(folder: Path) -> Path:
    """The library that calls the slots of exchange tables."""
    return compile_c(folder, "slots", BENCH / "slots.c")


def ladder(folder: Path) -> ModuleType:
    """bench_ladder: rungs made of godlpack's own C files, except those that only enter Go."""
    product = [source for source in sorted(CPYTHON.glob("*.c")) if source.name not in ENTER_GO]
    path = compile_c(folder, "bench_ladder", BENCH / "ladder.c", *product)
    return load_module("bench_ladder", path, os.RTLD_LAZY)  # the functions that enter Go are missing, and never called


def go_library(folder: Path, name: str, *linking: str) -> Path:
    """A library written in Go, from testdata; linking has options of the C linker."""
    if not shutil.which("go"):
        raise AbsentError("no compiler: go is not on PATH")
    output, root = folder / f"{name}.so", BENCH.parent
    flags = " ".join(["-s -w", *(f"-extldflags={option}" for option in linking)])
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", f"-ldflags={flags}"]
    with machine.all_cores():
        done = subprocess.run(
            [*command, "-o", str(output), f"./bench/testdata/{name}"], cwd=root, capture_output=True, text=True
        )
    if done.returncode != 0:
        raise AbsentError(f"{name} does not build: {done.stderr[-300:]}")
    return output


def go_functions(folder: Path, name: str) -> Path:
    """A library of Go functions, linked as authors' libraries are."""
    return go_library(folder, name, f"-Wl,--version-script={BENCH.parent / 'library' / 'exports.map'}")


def empty(folder: Path) -> tuple[int, int]:
    """The addresses of a Go function that does nothing, and of one that calls C."""
    library = ctypes.CDLL(str(go_library(folder, "empty")))
    nothing, within = (ctypes.cast(f, ctypes.c_void_p).value for f in (library.bench_empty, library.bench_within))
    assert nothing is not None
    assert within is not None
    return nothing, within


def nanobind(folder: Path) -> ModuleType:
    """The nanobind peer, with nanobind itself compiled in."""
    try:
        import nanobind as library
    except ImportError as error:
        raise AbsentError(f"nanobind is not installed ({error})") from None
    include, source = Path(library.include_dir()), Path(library.source_dir())
    flags = ["-std=c++17", "-O3", "-DNDEBUG", "-DNB_COMPACT_ASSERTIONS", "-fno-strict-aliasing"]
    folders = [sysconfig.get_path("include"), include, source, source.parent / "ext" / "robin_map" / "include"]
    command = [*compiler("CXX", "c++"), *flags, *SHARED, *(f"-I{path}" for path in folders)]
    path = compile_into(folder / "nanobind_peer.so", command, BENCH / "nanobind_peer.cpp", source / "nb_combined.cpp")
    return load_module("nanobind_peer", path)


def pyo3(folder: Path) -> ModuleType:
    """The PyO3 peer, which cargo builds from crates.io."""
    if not shutil.which("cargo"):
        raise AbsentError("no compiler: cargo is not on PATH")
    command = ["cargo", "build", "--release", "--quiet", "--target-dir", str(folder / "pyo3")]
    with machine.all_cores():
        env = os.environ | {"PYO3_PYTHON": sys.executable}
        done = subprocess.run(command, cwd=BENCH / "pyo3_peer", env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise AbsentError(f"pyo3_peer does not build: {done.stderr[-300:]}")
    return load_module("pyo3_peer", folder / "pyo3" / "release" / "libpyo3_peer.so")
