"""Go functions from source in one step: built into a cache, and loaded."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType

from ._core import __version__
from ._library import load_module
from ._tool import TOOL, BuildError, environment, go_release, require_go

# The first part keeps a name from being one of Go's own packages.
MODULE = "module godlpack.inline/{name}\n\ngo 1.26.0\n\nrequire godlpack v0.0.0\n"
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# What takes no part in a build of a Go module's packages; all else may, by go:embed.
NOT_SOURCES = re.compile(r"[._].*|__pycache__|testdata|.*_test\.go|.*\.(so|pyc|pyi)")
MOST_READ = 1 << 20  # bytes of a file that are compared; of a larger one, its size and when it was changed


def load_inline(go_source: str, *, name: str | None = None, verbose: bool = False) -> ModuleType:
    """Builds a Go file and returns its functions as a module.

        ops = godlpack.load_inline('''
        package ops

        import "godlpack/tensor"

        //godlpack:export
        func Add(x tensor.Mut[float64], a float64) {
            for p := range x.Pointers() {
                *p += a
            }
        }
        ''')
        ops.add(numpy.zeros(3), 1.0)

    go_source: the text of one file; its package clause may be left out. Its own lines are counted in messages, from 1.
    name: the module's, by default made from the text. verbose: say on stderr that it was built; on a
    terminal a line says so meanwhile.

    Libraries are kept in a cache and used again, without a build, while the source, godlpack and Go are the same:
    $GODLPACK_CACHE, else $XDG_CACHE_HOME/godlpack, else ~/.cache/godlpack. It may be deleted at any time.

    Raises BuildError if there is no Go, and for whatever is wrong with the source.
    """
    key = hashlib.sha256(go_source.encode())
    name = name or f"inline_{key.hexdigest()[:8]}"
    if not name.isidentifier():
        raise ValueError(f"name: want an identifier, got {name!r}")
    files = {"go.mod": MODULE.format(name=name), f"{name}.go": with_package_clause(go_source, name)}
    library = entry(name, key) / f"_{name}.so"
    with missing(library) as needed:
        if needed:
            for file, text in files.items():
                library.with_name(file).write_text(text, encoding="utf-8")
            build(library.parent, library, verbose)
    return load_module(library)


def load(path: str | os.PathLike[str], *, name: str | None = None, verbose: bool = False) -> ModuleType:
    """Builds the Go package in a folder and returns its functions as a module.

    path: the folder; it lies in a Go module, of which nothing is changed. name: the module's, by default the folder's.
    verbose and the cache are those of load_inline; the package is built again when a file of its Go module has changed.

    Raises BuildError if there is no Go, and for whatever is wrong with the sources; NotADirectoryError if path is no folder.
    """
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise NotADirectoryError(f"{path}: want the folder of a Go package")
    name = name or re.sub(r"\W", "_", folder.name)
    key = hashlib.sha256()
    for file in sources(folder):
        stat = file.stat()
        key.update(f"{file}\0{stat.st_size}\0".encode())
        key.update(file.read_bytes() if stat.st_size <= MOST_READ else str(stat.st_mtime_ns).encode())
    library = entry(name, key) / f"_{name}.so"
    with missing(library) as needed:
        if needed:
            build(folder, library, verbose)
    return load_module(library)


def with_package_clause(source: str, name: str) -> str:
    """The source, with a package clause in front if it has none: on the line before its first."""
    if re.search(r"^\s*package\s", COMMENTS.sub("", source), re.MULTILINE):
        return source
    return f"package {name}\n//line {name}.go:1:1\n{source}"


def sources(folder: Path) -> Iterator[Path]:
    """The files of a folder's Go module that may take part in a build, in the order of their names."""
    root = next((parent for parent in (folder, *folder.parents) if (parent / "go.mod").exists()), folder)
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not NOT_SOURCES.fullmatch(f))
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        yield from (Path(parent, file) for file in sorted(files) if not NOT_SOURCES.fullmatch(file))


def entry(name: str, key: hashlib._Hash) -> Path:
    """The cache's folder for a library of that key, of this godlpack and this Go."""
    tool = TOOL.stat()
    key.update(f"{name} {__version__} {tool.st_size} {tool.st_mtime_ns} {go_release(require_go())}".encode())
    return cache() / f"{name}-{key.hexdigest()[:16]}"


def cache() -> Path:
    """The folder of all libraries that were built."""
    if folder := os.environ.get("GODLPACK_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "godlpack"


@contextmanager
def missing(library: Path) -> Iterator[bool]:
    """Whether the library must be built. Other processes that want it wait until it has been.

    The tool puts the library into its folder last, and at once: where it is, all is.
    """
    if library.exists():
        yield False
        return
    library.parent.mkdir(parents=True, exist_ok=True)
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not library.exists()


def build(folder: Path, library: Path, verbose: bool) -> None:
    """Runs the tool; its error text is the exception's."""
    name = library.stem.removeprefix("_")
    command: list[str | Path] = [TOOL, "build", folder, "-o", library.parent, "-name", name]
    environ = environment(require_go())
    start = time.monotonic()
    with TemporaryFile("w+", encoding="utf-8") as errors:
        with subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=errors) as tool:
            wait(tool, f"godlpack: building {name}", start)
        errors.seek(0)
        text = errors.read().strip()
    if verbose:
        print(f"godlpack: building {name} took {time.monotonic() - start:.1f} s", file=sys.stderr)
    if tool.returncode:
        raise BuildError(text)


def wait(tool: subprocess.Popen[bytes], text: str, start: float) -> None:
    """Waits for the tool. On a terminal one line counts the seconds meanwhile, and is cleared at the end."""
    if sys.stderr is None or not sys.stderr.isatty():
        tool.wait()
        return
    try:
        while tool.poll() is None:
            print(f"\r{text} ... {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
            with suppress(subprocess.TimeoutExpired):
                tool.wait(timeout=1)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
