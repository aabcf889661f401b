"""The cache of built libraries: folders that only their owner can write to, with hashes of the built files."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def kept(entry: str, file: str) -> Iterator[tuple[Path, bool]]:
    """The path of a library in an entry of the cache, and whether the caller must build it there.

    Other processes that need it wait until it is built. A library that differs from what was built (a full disk, a
    crash) is built again. If the cache cannot be written to, the library is in a temporary folder, with a warning.
    Raises PermissionError for files and folders that others can write to.
    """
    try:
        try:
            library = cache() / entry / file
            lock = None if is_whole(library) else open_lock(library)
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
            library = instead_of_cache(str(error)) / entry / file
            lock = None if is_whole(library) else open_lock(library)
    except UnsafeError as error:
        raise PermissionError(str(error)) from None
    if lock is None:
        yield library, False
        return
    with os.fdopen(lock, "w"):
        with suppress(OSError):  # no locks in this file system: two processes may build, and both store the result
            fcntl.flock(lock, fcntl.LOCK_EX)
        needed = not is_whole(library)
        yield library, needed
        if needed:
            seal(library)


def cache() -> Path:
    """The cache's folder with links resolved: checks and uses are of the same path."""
    folder: str | Path | None = os.environ.get("GODLPACK_CACHE")
    if not folder:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "godlpack"
    return Path(folder).resolve()


class UnsafeError(Exception):
    """Others can write to a file or folder."""


def refuse_others(path: Path) -> None:
    """Raises UnsafeError unless the path is not a link, belongs to this user or root, and only its owner can write.

    Code that is loaded from there runs with all rights of this user.
    """
    s = path.lstat()
    if stat.S_ISLNK(s.st_mode):
        raise UnsafeError(f"{path} is a symbolic link, which the cache never contains: delete it")
    if s.st_uid not in (os.geteuid(), 0):
        raise UnsafeError(
            f"{path} belongs to user {s.st_uid}, but this process runs as user {os.geteuid()}: code in it is not run; "
            "set GODLPACK_CACHE to a folder of your own"
        )
    if s.st_mode & OTHERS and not s.st_mode & stat.S_ISVTX:  # in /tmp, which is sticky, nobody replaces others' files
        raise UnsafeError(
            f"users other than its owner can write to {path} (mode {stat.S_IMODE(s.st_mode):04o}): code in it is not run; "
            f"if you trust its content, run `chmod -R go-w {path}`, else delete it, or set GODLPACK_CACHE to another folder"
        )


def make_private(folder: Path) -> Path:
    """Makes a folder that only its owner can use, and its missing parents in the same way."""
    missing = [folder]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for path in reversed(missing):
        with suppress(FileExistsError):  # another process made it first
            path.mkdir(mode=0o700)
    return folder


def open_lock(library: Path) -> int:
    for folder in (library.parent.parent, make_private(library.parent)):
        refuse_others(folder)  # another user may have made it first
    return os.open(library.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


def temporary_folder() -> Path:
    """This user's own folder within the system's temporary folder."""
    folder = make_private(Path(tempfile.gettempdir()).resolve() / f"godlpack-{os.geteuid()}")
    refuse_others(folder)
    return folder


@functools.cache
def instead_of_cache(why: str) -> Path:
    """The folder that replaces the cache, with a warning."""
    folder = temporary_folder()
    message = (
        f"godlpack's cache cannot be used ({why}): libraries are built into {folder}; set GODLPACK_CACHE to a folder that "
        "can be written to"
    )
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return folder


def go_folders() -> dict[str, str]:
    """Environment variables for Go if it has no writable cache of its own; else none."""
    home, caches, kept = (os.environ.get(name) for name in ("HOME", "XDG_CACHE_HOME", "GOCACHE"))
    caches = caches or (home and f"{home}/.cache")
    kept = kept or (caches and f"{caches}/go-build")
    if kept and is_writable(Path(kept)):
        return {}
    folder = temporary_folder()
    paths = {} if home or os.environ.get("GOPATH") else {"GOPATH": str(folder / "gopath")}
    return {"GOCACHE": str(folder / "go-build"), **paths}


def is_writable(folder: Path) -> bool:
    """Whether a folder, or files in an existing one, can be made."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def seal(library: Path) -> None:
    """Writes the hashes of the built files, as the last step."""
    written = library.with_suffix(".sums.new")
    written.touch(mode=0o600)
    written.write_text(sums(library))
    written.replace(library.with_suffix(".sums"))


def is_whole(library: Path) -> bool:
    """Whether a library is as it was built. Raises UnsafeError if others can write to it."""
    for path in (
        library.parent.parent,
        library.parent,
        *(library.with_suffix(end) for end in (".so", ".json", ".sums")),
    ):
        try:
            refuse_others(path)
        except FileNotFoundError:
            return False
    return library.with_suffix(".sums").read_text() == sums(library)


def sums(library: Path) -> str:
    """The hashes of a library and its sidecar."""
    text = ""
    for file in (library, library.with_suffix(".json")):
        with file.open("rb") as content:
            text += f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {file.name}\n"
    return text
