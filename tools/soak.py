"""Works godlpack hard for some minutes, and looks whether anything is left over: `tox -e soak`, or
`tox -e soak -- --minutes 60`.

Threads exchange tensors, call Go functions, are called back and meet errors, while the main thread is interrupted by
signals and forks children that do the same. Each minute everybody stops, and this is looked at: the memory of the process
is what it was after the warm-up, but for TOLERANCE; all that was made was given back, exactly; there are no more threads,
no more open files, no child that nobody waits for. The exit status is 1 if anything is not so.
"""

import argparse
import ctypes
import gc
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import godlpack as gd
from godlpack import _core

ROOT = Path(__file__).parents[1]
WARM_UP = 60  # seconds at most; a fifth of the time if that is less
TOLERANCE = 1.05, 24 << 20  # memory may grow by a factor, for fragments, and by bytes
THREADS = 3
ROUND = 2.0  # seconds that the threads work until they end, and others come


def library(folder: str) -> Path:
    """Builds the sample library."""
    path = Path(folder, "sample.so")
    linking = f"-ldflags=-extldflags=-Wl,--version-script={ROOT / 'library' / 'exports.map'}"
    command = ["go", "build", "-buildvcs=false", "-buildmode=c-shared", linking, "-o", str(path)]
    subprocess.run([*command, "./library/testdata/sample"], cwd=ROOT, check=True)
    return path


# ---- the work: each function is a small piece, right or an AssertionError ----


class Work:
    def __init__(self, path: Path) -> None:
        self.s = gd.load_module(path)
        self.big = gd.zeros((1 << 11, 1 << 11), "int8").T
        self.makers: list[Callable[[float], object]] = [
            lambda v: np.full(3, v, "float32"),
            lambda v: gd.full(3, v, "float32"),
        ]
        for framework, make in (("torch", self.torch), ("jax", self.jax)):
            try:
                self.makers.append(make(importlib.import_module(framework)))
            except ImportError:
                print(f"without {framework}, which is not there")
        self.anywhere = [self.exchange, self.views, self.kernels, self.values, self.callbacks, self.errors]
        self.anywhere += [self.pickling, self.deleters]

    @staticmethod
    def torch(torch):
        torch.set_num_threads(1)  # forked children cannot use its pool
        return lambda v: torch.full((3,), v)

    @staticmethod
    def jax(jax):
        jax.config.update("jax_platforms", "cpu")
        return lambda v: jax.numpy.full(3, v, "float32")

    def exchange(self, v: float) -> None:
        for make in self.makers:
            t = gd.from_dlpack(make(v))
            assert t.tolist() == [v] * 3 == t.to(np.ndarray).tolist()
            assert t.astype("float64").copy().tolist() == [v] * 3
            assert np.from_dlpack(t).tolist() == [v] * 3

    def views(self, v: float) -> None:
        t = gd.full((4, 5), v)
        views = [t[1:], t.T, t[:, 2], t.reshape(20), memoryview(t), gd.asarray(bytearray(5)), iter(t), t[0]]
        assert t.T[2].tolist() == [v] * 4 and views[0].shape == (3, 5)

    def kernels(self, v: float) -> None:
        for make in self.makers:
            x = make(v)
            assert self.s.total(x) == 3 * v
            assert type(self.s.tail(x)) is type(x)
            even, odd = self.s.split(x)
            assert gd.from_dlpack(even).tolist() == [v] * 2 and gd.from_dlpack(odd).tolist() == [v]
            assert self.s.totals(self.s.doubled([x, x])) == [6 * v] * 2
        x, y = np.full(100, v, "float32"), np.ones(100, "float32")
        self.s.saxpy(2, x, y)
        assert y.tolist() == [2 * v + 1] * 100
        assert self.s.softmax(x, out=y) is y

    def values(self, v: float) -> None:
        assert self.s.words("some words " * 50) == ["some", "words"] * 50
        assert self.s.join(["a", "é"], by="\0") == "a\0é"
        assert self.s.reversed(b"abc") == b"cba" and self.s.divmod(17) == (1, 7)

    def callbacks(self, v: float) -> None:
        x = np.full(3, v, "float32")
        assert self.s.apply(lambda x, n, new, text: gd.from_dlpack(x).copy(), x) == ("tensor", 3 * v)
        assert self.s.apply(lambda *_: self.s.apply(lambda *_: v, x)[1], x) == ("float", v)

    def errors(self, v: float) -> None:
        x = np.full(3, v, "float32")
        cases: list[tuple[type[Exception], Callable[[], object]]] = [
            (TypeError, lambda: self.s.total("text")),
            (TypeError, lambda: self.s.softmax(gd.zeros(2, "int8"))),
            (ValueError, lambda: self.s.saxpy(1, x, np.zeros(4, "float32"))),
            (IndexError, lambda: self.s.raise_error("IndexError")),
            (RuntimeError, self.s.panics),
            (RuntimeError, self.s.nil_pointer),
            (ZeroDivisionError, lambda: self.s.apply(lambda *_: 1 / 0, x)),
            (TypeError, lambda: gd.from_dlpack(3)),
            (ValueError, lambda: gd.zeros(-1)),
        ]
        for error, call in cases:
            try:
                call()
            except error:
                continue
            raise AssertionError(f"no {error.__name__}")

    def pickling(self, v: float) -> None:
        t = gd.full((2, 3), v)
        assert pickle.loads(pickle.dumps(t)).tolist() == t.tolist()
        assert pickle.loads(pickle.dumps(t.dtype)) == t.dtype

    def deleters(self, v: float) -> None:
        """What others took is given back on a thread without the GIL, and by one that Python does not know of."""
        capsules = [gd.full(10, v).__dlpack__(max_version=(1, 0)) for _ in range(4)]
        owned = [(as_managed(capsule), capsule) for capsule in capsules]
        thread = threading.Thread(target=lambda: [delete(m) for m, _ in owned])
        thread.start()
        thread.join()

    # ---- of the main thread alone ----

    def interrupted(self, v: float) -> None:
        """A signal's handler raises in the middle of work that would go on for long."""
        for work in (lambda: self.s.slow(False), lambda: self.s.slow(True), lambda: self.big.astype("float64").copy()):
            with interruptions():
                while True:
                    work()

    def forks(self, v: float) -> None:
        """A child, and a child of that, do all that was done here, with their own runtimes."""
        child(lambda: (self.inherited(v), child(lambda: self.inherited(v))))

    def inherited(self, v: float) -> None:
        self.makers = self.makers[:2]  # frameworks with threads of their own may not survive a fork
        for piece in self.anywhere:
            piece(v)
        self.interrupted(v)


class InterruptionError(Exception):
    pass


@contextmanager
def interruptions():
    """Raises in the block, and swallows, what a timer's handler raises every 5 ms; once is enough."""
    armed = True

    def handler(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise InterruptionError

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        yield
    except InterruptionError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def child(inside: Callable[[], object], limit: int = 60) -> None:
    """Forks, and waits for a child that must end well within limit seconds."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        timer = threading.Timer(limit, os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
        try:
            inside()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"a child ended with {status}"


NAME = ctypes.c_char_p(b"used_dltensor_versioned")  # capsules keep the pointer
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
DELETER = 16  # bytes into a DLManagedTensorVersioned


def as_managed(capsule: object) -> int:
    """Takes the managed tensor out of a capsule, as a consumer does."""
    managed = get_pointer(capsule, b"dltensor_versioned")
    set_name(capsule, NAME)
    return managed


def delete(managed: int) -> None:
    """Calls the deleter; ctypes gives up the GIL for it."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(managed + DELETER).value)(managed)


# ---- what is left over ----


@dataclass
class State:
    memory: int  # bytes
    owed: dict[str, int]
    threads: int
    files: int
    children: int


def owed() -> dict[str, int]:
    """How many storages, exports and imports were made and not yet given back."""
    score = _core._scoreboard()
    made = {"storages": "freed", "exports": "deleted", "imports": "deleted"}
    first = {"storages": "made", "exports": "made", "imports": "taken"}
    return {kind: score[f"{kind}_{first[kind]}"] - score[f"{kind}_{end}"] for kind, end in made.items()}


def look() -> State:
    """Counts, once threads have ended and garbage is gone; frameworks give back on threads of their own."""
    for _ in range(3):
        gc.collect()
        time.sleep(0.1)
    memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    children = "".join(f.read_text() for f in Path("/proc/self/task").glob("*/children")).split()
    threads, files = (len([*Path("/proc/self", what).iterdir()]) for what in ("task", "fd"))
    return State(memory, owed(), threads, files, len(children))


def findings(before: State, now: State) -> list[str]:
    """What is not as it was after the warm-up."""
    factor, more = TOLERANCE
    found = []
    if now.memory > before.memory * factor + more:
        found.append(f"memory grew from {before.memory >> 20} to {now.memory >> 20} MiB")
    if now.owed != before.owed:
        found.append(f"owed {before.owed}, and now {now.owed}")
    if now.threads > before.threads + 2:  # the Go runtimes' own, which come when they are needed and stay
        found.append(f"{now.threads} threads, {before.threads} before")
    if now.files > before.files:
        found.append(f"{now.files} open files, {before.files} before")
    if now.children:
        found.append(f"{now.children} children are left")
    return found


# ---- the time ----


class Soak:
    def __init__(self, work: Work) -> None:
        self.work, self.done, self.failed, self.stop = work, Counter[str](), list[str](), False

    def piece(self, f: Callable[[float], None], n: int) -> None:
        """Does a piece of work, and counts it."""
        try:
            f(float(n % 7))
        except BaseException:
            self.failed.append(f"{f.__name__}: {traceback.format_exc()}")
            self.stop = True
        self.done[f.__name__] += 1  # a count for people: threads may lose one

    def thread(self, first: int) -> None:
        n = first
        while not self.stop:
            self.piece(self.work.anywhere[n % len(self.work.anywhere)], n)
            n += 1

    def round(self, seconds: float) -> None:
        """Threads that end with the round, and the main thread, which is interrupted, and forks."""
        self.stop = False
        threads = [threading.Thread(target=self.thread, args=[i]) for i in range(THREADS)]
        end, n = time.monotonic() + seconds, 0
        for t in threads:
            t.start()
        while time.monotonic() < end and not self.stop:
            self.piece((self.work.interrupted, self.work.forks)[n % 2], n)
            n += 1
        self.stop = True
        for t in threads:
            t.join()

    def until(self, end: float) -> None:
        """Rounds, until the time has come; a line where people wait."""
        while (left := end - time.monotonic()) > 0 and not self.failed:
            self.round(min(ROUND, left))
            if sys.stderr.isatty():
                print(f"\r{sum(self.done.values())} pieces, {left:.0f} s to go ", end="", file=sys.stderr, flush=True)

    def report(self, minute: float, state: State) -> None:
        owing = sum(state.owed.values())
        print(
            f"{minute:5.1f} min: {sum(self.done.values())} pieces of work, {state.memory / (1 << 20):.1f} MiB, "
            f"owed {owing}, {state.threads} threads, {state.files} files, {state.children} children",
            flush=True,
        )


def run(soak: Soak, minutes: float) -> list[str]:
    """Works for so long, and returns what was found."""
    start = time.monotonic()
    end = start + 60 * minutes
    soak.until(start + min(WARM_UP, 60 * minutes / 5))
    before = look()
    soak.report((time.monotonic() - start) / 60, before)
    found = soak.failed
    while time.monotonic() < end and not found:
        soak.until(min(end, time.monotonic() + 60))
        now = look()
        soak.report((time.monotonic() - start) / 60, now)
        found = soak.failed or findings(before, now)
    print(", ".join(f"{name} {n}" for name, n in sorted(soak.done.items())))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="for how long (default: %(default)s)")
    minutes = parser.parse_args().minutes
    warnings.simplefilter("ignore")  # newer Pythons, and jax, warn of forks where there are threads
    with TemporaryDirectory(prefix="godlpack-soak-") as folder:
        found = run(Soak(Work(library(folder))), minutes)
    print(*(found or ["nothing was left over"]), sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
