"""The examples as users get them: built into a wheel by godlpack's backend, installed, tested by their own tests."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers import build

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {
    "biasgelu": [],
    "bpe": ["hypothesis", "tokenizers"],
    "imagebatch": ["PIL"],
    "jsonnet": ["_gojsonnet"],
    "shards": ["PIL", "pyarrow", "zstandard"],
    "textfeat": ["hypothesis", "sklearn"],
    "vecindex": ["usearch"],
}  # for its tests, in addition to numpy and torch
QUICK = {
    "bpe": ["--megabytes", "0.3"],
    "imagebatch": ["--files", "4"],
    "jsonnet": [],
    "shards": ["--samples", "400"],
    "textfeat": ["--texts", "4"],
    "vecindex": ["--vectors", "500"],
}
MODULES = {"imagebatch", "jsonnet", "shards"}  # those that need modules of others, which Go fetches unless it has them
USED = {"shards": ["imagebatch"]}  # examples that others are made of
BUILD = "import godlpack.build, sys; godlpack.build.build_wheel(sys.argv[1])"


def python(folder: Path, *arguments: str, path: Path | None = None, **environment: str) -> str:
    """Runs Python in a folder, with this Python's packages, and before them those in path."""
    places = [str(path)] if path else []
    env = {**os.environ, **environment, "PYTHONPATH": os.pathsep.join([*places, *filter(None, sys.path)])}
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-10_000:]
    return done.stdout


@pytest.fixture(scope="module", params=sorted(NEEDS))
def example(request, tmp_path_factory) -> tuple[str, Path, Path]:
    """An example's name, a copy of its folder, and the folder of its installed wheel. The build downloads nothing."""
    name = request.param
    for module in ("hatchling", "numpy", "torch", *NEEDS[name]):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp(name)
    source, wheels, installed = folder / "source", folder / "wheels", folder / "installed"
    ignored = shutil.ignore_patterns("*.so", "*.json", "*.pyi", "zz_godlpack.go", "__pycache__", "dist", ".venv")
    shutil.copytree(EXAMPLES / name, source, ignore=ignored)
    for used in USED.get(name, []):
        shutil.copytree(EXAMPLES / used, folder / used, ignore=ignored)
    if name in MODULES:
        fetch = [os.environ.get("GO", "go"), "list", "-deps", "."]
        subprocess.run(fetch, cwd=EXAMPLES / name, check=True, capture_output=True, timeout=300)
    before = files(source)
    python(source, "-c", BUILD, str(wheels), GOPROXY="off", GOFLAGS="-mod=mod")
    assert files(source) == before, "a build leaves the sources as they were"
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    return name, source, installed


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_examples_are_tested():
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/go.mod")) == sorted(NEEDS)


def test_its_own_tests(example):
    _, source, installed = example
    run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert " passed" in python(source, *run, path=installed, GODLPACK_FAKE_CUDA=str(build.DRIVER))


def test_its_benchmark_runs(example):
    name, source, installed = example
    if name not in QUICK:
        pytest.skip("it has none: what it costs shows on a GPU")
    assert f"| {name} |" in python(source, "bench.py", "--rounds", "1", *QUICK[name], path=installed)
