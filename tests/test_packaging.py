"""The contents of the wheel, the symbols of its extension module, and that wheel and sdist can be built again."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import godlpack._core

ROOT = Path(__file__).parents[1]
CORE = Path(godlpack._core.__file__)
VERSION = re.search(
    r'#define GODLPACK_VERSION "([^"]+)"', ROOT.joinpath("internal/cpython/version.h").read_text()
).group(1)
DISTRIBUTION = importlib.metadata.distribution("godlpack")
EDITABLE = "editable" in json.loads(DISTRIBUTION.read_text("direct_url.json") or "{}").get("dir_info", {})
MOST_BYTES = 6_000_000  # for a wheel: the extension, the authors' tool, Go sources

wheel = pytest.mark.skipif(EDITABLE, reason="an editable install holds a path only")
binutils = pytest.mark.skipif(not shutil.which("readelf"), reason="needs binutils")


def readelf(option: str) -> str:
    command = ["readelf", "--wide", option, str(CORE)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- the installed distribution


def test_metadata():
    assert DISTRIBUTION.version == VERSION
    assert DISTRIBUTION.requires is None
    assert DISTRIBUTION.metadata["Requires-Python"] == ">=3.11"
    assert DISTRIBUTION.metadata["License-Expression"] == "Apache-2.0"


@wheel
def test_one_wheel_serves_all_pythons():
    assert CORE.name == "_core.abi3.so"
    tag = re.search("^Tag: (.*)$", DISTRIBUTION.read_text("WHEEL"), re.MULTILINE).group(1)
    assert re.fullmatch(r"cp311-abi3-\w*linux\w*", tag)


@wheel
def test_wheel_holds_what_python_needs():
    files = {str(file) for file in DISTRIBUTION.files}
    assert {"godlpack/__init__.py", "godlpack/_core.abi3.so", "godlpack/py.typed"} <= files
    strangers = [f for f in files if not re.match(r"godlpack(-[^/]*\.dist-info)?/", f)]
    assert [Path(f).name for f in strangers] in ([], ["godlpack"]), "nothing but the console script"
    assert not [f for f in files if f.endswith("_core.abi3.h")]


@wheel
def test_wheel_holds_what_authors_need():
    files = {str(file) for file in DISTRIBUTION.files if str(file).startswith("godlpack/go/")}
    packages = {file.split("/")[2] for file in files}
    assert packages >= {"go.mod", "go.sum", "cuda", "dlpack", "tensor", "packed", "kernel", "library", "tvmffi"}
    assert not [file for file in files if file.endswith("_test.go") or "testdata" in file]
    assert os.access(CORE.parent / "bin" / "godlpack", os.X_OK)


@binutils
def test_module_exports_its_init_function_only():
    rows = [line.split() for line in readelf("--dyn-syms").splitlines()]
    symbols = [(row[6], row[7]) for row in rows if len(row) > 7 and row[4] in ("GLOBAL", "WEAK")]
    assert [name for section, name in symbols if section != "UND"] == ["PyInit__core"]


@binutils
def test_module_needs_no_libpython():
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("--dynamic"))
    assert needed
    assert not [name for name in needed if "python" in name]


# --- building again, from the sources

builds = [
    pytest.mark.packaging,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="slow, and the same on every Python"),
]


def hatchling(source: Path, target: str, to: Path) -> Path:
    """Builds one distribution of a source tree, without isolation and reproducibly."""
    env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", target, "-d", str(to)]
    subprocess.run(command, cwd=source, env=env, check=True)
    (built,) = to.iterdir()
    return built


def unpack(sdist: Path, to: Path) -> Path:
    shutil.unpack_archive(sdist, to)
    (source,) = to.iterdir()
    return source


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    pytest.importorskip("hatchling")
    return hatchling(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


class TestBuild:
    pytestmark = builds

    def test_sdist_holds_the_sources(self, sdist):
        with tarfile.open(sdist) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        assert not [name for name in names if name.endswith((".so", ".pyc"))]
        missing = [name for name in tracked() if name not in names and not name.startswith(".")]
        assert not missing

    def test_wheel_of_sdist_is_reproducible(self, sdist, tmp_path):
        sources = [unpack(sdist, tmp_path / "one"), unpack(sdist, tmp_path / "another" / "and deeper")]
        wheels = [hatchling(s, "wheel", tmp_path / f"wheel{i}") for i, s in enumerate(sources)]
        assert wheels[0].name == wheels[1].name
        assert wheels[0].read_bytes() == wheels[1].read_bytes()
        assert wheels[0].stat().st_size < MOST_BYTES
        assert not list(sources[0].rglob("*.so")), "a wheel's build leaves the sources clean"
        with zipfile.ZipFile(wheels[0]) as archive:
            assert "godlpack/_core.abi3.so" in archive.namelist()

    def test_editable_install(self, sdist, tmp_path):
        source = unpack(sdist, tmp_path / "source")
        build = "import hatchling.build, sys; hatchling.build.build_editable(sys.argv[1])"
        wheels = tmp_path / "wheels"
        wheels.mkdir()
        subprocess.run([sys.executable, "-P", "-c", build, str(wheels)], cwd=source, check=True)
        venv.create(tmp_path / "venv", with_pip=True)
        python = tmp_path / "venv" / "bin" / "python"
        (built,) = wheels.iterdir()
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", built], check=True)
        where = "import godlpack._core as core; print(core.__file__)"
        found = subprocess.run([python, "-P", "-c", where], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert found.stdout.strip() == str(source / "python" / "godlpack" / "_core.abi3.so")


def tracked() -> list[str]:
    """The files of the repository; empty outside a clone."""
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    return git.stdout.splitlines()
