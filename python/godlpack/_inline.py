"""Go functions from source in one step: builds a library into the cache and loads it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType

from . import _cache, _tool
from ._core import __version__
from ._library import load_from
from ._tool import TOOL, BuildError, environment, require_go
from ._toolchain import go_directive, go_release

# The path's first element keeps a name from matching one of Go's own packages.
MODULE = "module godlpack.inline/{name}\n\ngo {go}\n\nrequire godlpack v0.0.0\n"
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Files that take no part in a build of a Go module's packages. All others may take part, by go:embed.
NOT_SOURCES = re.compile(r"[._].*|__pycache__|testdata|.*_test\.go|.*\.(so|pyc|pyi)")
FULL = """
(the disk of {folder}, of Go's build cache or of temporary files is full; set GODLPACK_CACHE, GOCACHE or TMPDIR to another disk)"""
MOST_READ = 1 << 20  # bytes: larger files are compared by size and time of change, not by content


def load_inline(go_source: str, *, name: str | None = None, verbose: bool = False) -> ModuleType:
    """Build a Go file and return its functions as a module.

    Parameters
    ----------
    go_source : str
        Text of one Go file. The package clause may be left out. Messages
        count the lines of this text, from 1.
    name : str, optional
        Name of the module, an identifier. Default: a name made from the
        text.
    verbose : bool, default False
        Print to stderr that the library was built, and how long that took.
        On a terminal a line counts the seconds meanwhile, in any case.

    Returns
    -------
    module
        A module whose attributes are the exported functions, each a
        `Function`.

    Raises
    ------
    BuildError
        There is no Go command, or the source has an error.
    ValueError
        `name` is not an identifier.
    PermissionError
        Another user could have changed what the cache holds.

    Warns
    -----
    RuntimeWarning
        The cache cannot be written to. A folder for temporary files
        replaces it.

    See Also
    --------
    load : Build the Go package in a folder.
    load_module : Load a library that is built.

    Notes
    -----
    A cache keeps the libraries: $GODLPACK_CACHE, else
    $XDG_CACHE_HOME/godlpack, else ~/.cache/godlpack. A call builds nothing
    if the cache has a library of the same source, godlpack and Go. The
    cache is for its owner alone and may be deleted at any time.

    The functions can be pickled. A pickle holds the source. The process
    that loads it builds the library if its cache does not have it.

    Examples
    --------
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import "godlpack/tensor"
    ...
    ... // Add adds a to each element of x, in place.
    ... //
    ... //godlpack:export
    ... func Add(x tensor.Mut[float64], a float64) {
    ...     for p := range x.Pointers() {
    ...         *p += a
    ...     }
    ... }
    ... ''')
    >>> x = gd.zeros((2, 3), "float64")
    >>> ops.add(x[:, ::-2], 1.5)
    >>> x.tolist()
    [[1.5, 0.0, 1.5], [1.5, 0.0, 1.5]]
    """
    key = hashlib.sha256(go_source.encode())
    name = name or f"inline_{key.hexdigest()[:8]}"
    if not name.isidentifier():
        raise ValueError(f"name: want an identifier, got {name!r}")
    with _cache.kept(*place(name, key)) as (library, needed):
        if needed:
            module = MODULE.format(name=name, go=go_directive(_tool.sources()))
            files = {"go.mod": module, f"{name}.go": with_package_clause(go_source, name)}
            for file, text in files.items():
                library.with_name(file).write_text(text, encoding="utf-8")
            build(library.parent, library, verbose)
    return load_from("source", go_source, name, library)


def load(path: str | os.PathLike[str], *, name: str | None = None, verbose: bool = False) -> ModuleType:
    """Build the Go package in a folder and return its functions as a module.

    Parameters
    ----------
    path : str or path-like
        The folder. It lies in a Go module, which the call does not change.
    name : str, optional
        Name of the module. Default: the name of the folder, with _ for
        characters that a name in Python cannot have.
    verbose : bool, default False
        Print to stderr that the library was built, and how long that took.
        On a terminal a line counts the seconds meanwhile, in any case.

    Returns
    -------
    module
        A module whose attributes are the exported functions, each a
        `Function`.

    Raises
    ------
    BuildError
        There is no Go command, or the sources have an error.
    NotADirectoryError
        `path` is not a folder.
    PermissionError
        Another user could have changed what the cache holds.

    Warns
    -----
    RuntimeWarning
        The cache cannot be written to. A folder for temporary files
        replaces it.

    See Also
    --------
    load_inline : Build one Go file; also describes the cache.
    load_module : Load a library that is built.

    Notes
    -----
    The call builds the package again after a change of a file of its Go
    module that may take part in the build.

    The functions can be pickled. A pickle names the folder. A process with
    another cache builds what the folder holds at that time.
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
    with _cache.kept(*place(name, key)) as (library, needed):
        if needed:
            build(folder, library, verbose)
    return load_from("folder", str(folder), name, library)


def load_again(how: str, what: str, name: str, library: Path) -> ModuleType:
    """The module for a pickled function: from the pickled library if it is there, else from a new build."""
    with suppress(OSError, _cache.UnsafeError):
        if _cache.is_whole(library):
            return load_from(how, what, name, library)
    return load_inline(what, name=name) if how == "source" else load(what, name=name)


def with_package_clause(source: str, name: str) -> str:
    """The source, with a package clause in front if it has none; line numbers stay the same."""
    if re.search(r"^\s*package\s", COMMENTS.sub("", source), re.MULTILINE):
        return source
    return f"package {name}\n//line {name}.go:1:1\n{source}"


def sources(folder: Path) -> Iterator[Path]:
    """The files of a folder's Go module that may take part in a build, sorted in each folder."""
    root = next((parent for parent in (folder, *folder.parents) if (parent / "go.mod").exists()), folder)
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not NOT_SOURCES.fullmatch(f))
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        yield from (Path(parent, file) for file in sorted(files) if not NOT_SOURCES.fullmatch(file))


def place(name: str, key: hashlib._Hash) -> tuple[str, str]:
    """A library's entry in the cache, by its key, this godlpack and this Go; and its file name there."""
    tool = TOOL.stat()
    key.update(f"{name} {__version__} {tool.st_size} {tool.st_mtime_ns} {go_release(require_go())}".encode())
    return f"{name}-{key.hexdigest()[:16]}", f"_{name}.so"


def build(folder: Path, library: Path, verbose: bool) -> None:
    """Runs the tool. If it fails, its error text becomes the exception's."""
    name = library.stem.removeprefix("_")
    command: list[str | Path] = [TOOL, "build", folder, "-o", library.parent, "-name", name]
    environ = environment(require_go()) | _cache.go_folders()
    start = time.monotonic()
    with TemporaryFile("w+", encoding="utf-8") as errors:
        with subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=errors, umask=0o077
        ) as tool:
            wait(tool, f"godlpack: building {name}", start)
        errors.seek(0)
        text = errors.read().strip()
    if verbose:
        print(f"godlpack: building {name} took {time.monotonic() - start:.1f} s", file=sys.stderr)
    if tool.returncode:
        raise BuildError(text + FULL.format(folder=library.parent) * ("no space left on device" in text))


def wait(tool: subprocess.Popen[bytes], text: str, start: float) -> None:
    """Waits for the tool. On a terminal, one line counts the seconds and is cleared at the end."""
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
