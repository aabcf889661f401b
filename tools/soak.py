"""Runs a mix of godlpack's operations for some minutes, and checks that nothing leaks.

`tox -e soak` runs it, or `tox -e soak -- --minutes 60`.

Threads exchange tensors, call Go functions with callbacks, iterate, await and cancel, and cause errors. The main thread is interrupted by signals
and by Ctrl-C, switches between greenlets, runs DataLoaders, sends functions to other processes, changes the number of
Go's threads, and forks children that do the same. Each minute all threads stop for checks: the process's memory and
Python's blocks are as after the warm-up, within TOLERANCE and BLOCKS; everything that was made has been released
exactly once; there are no additional threads, open files or children. The exit status is 1 if a check fails. The last
line summarizes the run.
"""

import argparse
import asyncio
import ctypes
import gc
import importlib
import os
import pickle
import platform
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import godlpack as gd
from godlpack import _core

ROOT = Path(__file__).parents[1]
WARM_UP = 60  # seconds at most; a fifth of the time if that is less
TOLERANCE = 1.05, 24 << 20  # memory may grow by a factor, for fragmentation, and by bytes
BLOCKS = 1.02, 20_000  # the same for Python's blocks
THREADS = 3
ROUND = 2.0  # seconds until the threads end and new ones start


def library(folder: str) -> Path:
    """Builds the sample library."""
    path = Path(folder, "sample.so")
    linking = f"-ldflags=-extldflags=-Wl,--version-script={ROOT / 'library' / 'exports.map'}"
    command = ["go", "build", "-buildvcs=false", "-buildmode=c-shared", linking, "-o", str(path)]
    subprocess.run([*command, "./library/testdata/sample"], cwd=ROOT, check=True)
    return path


INLINE = """
package inline

import (
	"iter"

	"godlpack/tensor"
)

//godlpack:export
func Longest(words iter.Seq[string]) (longest string) {
	for word := range words {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

//godlpack:export
func Total(x tensor.Of[float32]) float64 {
	sum := 0.0
	for i := range x.Len() {
		sum += float64(x.At(i))
	}
	return sum
}
"""

# The program of a process that gets a pickled function and nothing else.
SPAWNED = "import pickle, sys, numpy; print(pickle.load(sys.stdin.buffer)(numpy.ones(3, 'float32')))"

# ---- the work: each function is a small piece that succeeds or raises AssertionError ----


class Work:
    def __init__(self, path: Path, switching: bool) -> None:
        self.s = gd.load_module(path)
        inline = gd.load_inline(INLINE, name="inline")
        self.total, self.longest = inline.total, inline.longest
        data = ROOT / "tests" / "testdata"
        self.iterators = gd.load_inline((data / "iterators" / "iterators.go").read_text(), name="iterators")
        self.tasks = gd.load_inline((data / "tasks" / "tasks.go").read_text(), name="tasks")
        self.switching = switching
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
        self.anywhere += [self.pickling, self.deleters, self.streams, self.coroutines]
        self.alone = [self.interrupted, self.forks, self.ctrl_c, self.numbers, self.sent]
        for framework, piece in (("gevent", self.greenlets), ("torch.utils.data", self.loaders)):
            try:
                importlib.import_module(framework)
                self.alone.append(piece)
            except ImportError:
                print(f"without {framework}, which is not there")

    @staticmethod
    def torch(torch):
        torch.set_num_threads(1)  # forked children cannot use its thread pool
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
        for f in (self.total, self.s.total):
            assert pickle.loads(pickle.dumps(f)) is f and f(np.full(3, v, "float32")) == 3 * v

    def deleters(self, v: float) -> None:
        """A thread without the GIL, and one that Python does not know, release tensors that others took."""
        capsules = [gd.full(10, v).__dlpack__(max_version=(1, 0)) for _ in range(4)]
        owned = [(as_managed(capsule), capsule) for capsule in capsules]
        thread = threading.Thread(target=lambda: [delete(m) for m, _ in owned])
        thread.start()
        thread.join()

    def streams(self, v: float) -> None:
        """Iterators that are left at some place, and an iterable that Go ranges over."""
        for iterator in (self.iterators.count(2000), self.iterators.lazy()):
            n = random.randrange(100)
            assert [next(iterator) for _ in range(n)] == list(range(n))
        assert self.longest("x" * i for i in range(500)) == "x" * 499
        with self.iterators.count(3) as iterator:
            assert list(iterator) == [0, 1, 2]

    def coroutines(self, v: float) -> None:
        """Calls in an event loop of their own, some of which are cancelled, and an asynchronous iterator that is left."""

        async def main() -> None:
            waiting = [asyncio.ensure_future(self.tasks.sleep(ms)) for ms in (0, 1, 2, 60_000) * 10]
            done = await asyncio.gather(*(f for i, f in enumerate(waiting) if i % 4 < 3))
            assert done == [0, 1, 2] * 10
            for future in waiting[3::4]:
                future.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            x = np.full(9, v, "float32")
            assert (await self.tasks.doubled(x, 0)).tolist() == [2 * v] * 9
            async with self.tasks.ticks(10**9, 0) as ticks:
                assert [await anext(ticks) for _ in range(20)] == list(range(20))

        loop = asyncio.new_event_loop()  # asyncio.run() would take Ctrl-C from other work
        try:
            loop.run_until_complete(main())
        finally:
            loop.close()

    # ---- only on the main thread ----

    def interrupted(self, v: float) -> None:
        """A signal handler raises in the middle of long work."""
        for work in (lambda: self.s.slow(False), lambda: self.s.slow(True), lambda: self.big.astype("float64").copy()):
            until_interrupted(work)

    def ctrl_c(self, v: float) -> None:
        """Ctrl-C in the middle of a call."""
        for work in (lambda: self.s.slow(False), lambda: self.s.slow(True)):
            timer = threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT))
            with suppress(KeyboardInterrupt):
                timer.start()
                while True:
                    work()
            timer.join()

    def numbers(self, v: float) -> None:
        """Changes the number of Go's threads while others compute."""
        for n in (1, 3, None):
            gd.set_num_threads(n)
            assert gd.get_num_threads() == (n or len(os.sched_getaffinity(0)))

    def sent(self, v: float) -> None:
        """Calls an inline function in a process that has only its pickle."""
        command = [sys.executable, "-P", "-c", SPAWNED]
        done = subprocess.run(command, input=pickle.dumps(self.total), stdout=subprocess.PIPE, check=True, timeout=60)
        assert done.stdout == b"3.0\n", done.stdout

    def greenlets(self, v: float) -> None:
        """Greenlets that call Go functions, and switch between calls; with `switching`, in callbacks, too."""
        gevent = importlib.import_module("gevent")

        def back(*_: object) -> float:
            if self.switching:
                gevent.sleep(0.001 * (v % 2))
            return v

        def work(n: int) -> bool:
            x = np.full(3, v + n, "float32")
            for _ in range(5):
                assert self.s.total(x) == 3 * (v + n)
                gevent.sleep(0)
                assert self.s.apply(back, x) == ("float", v)
            return True

        greenlets = [gevent.spawn(work, n) for n in range(8)]
        gevent.joinall(greenlets, timeout=60)
        assert all(g.get(block=False) for g in greenlets)

    def loaders(self, v: float) -> None:
        """Workers of a DataLoader, with tensors from Go functions."""
        torch, data = (importlib.import_module(name) for name in ("torch", "torch.utils.data"))
        make = lambda n: self.s.softmax(torch.full((4, 3), v + n))  # noqa: E731
        loader = data.DataLoader(Items(make), batch_size=2, num_workers=2, timeout=60, multiprocessing_context="fork")
        batches = list(loader)
        assert [batch.shape for batch in batches] == [(2, 4, 3)] * 4
        assert all(torch.allclose(batch.sum(-1), torch.ones(2, 4)) for batch in batches)

    def forks(self, v: float) -> None:
        """A child, and its child, do all of this work with their own runtimes."""
        child(lambda: (self.inherited(v), child(lambda: self.inherited(v))))

    def inherited(self, v: float) -> None:
        self.makers = self.makers[:2]  # other frameworks' threads may not survive a fork
        for piece in self.anywhere:
            piece(v)
        self.interrupted(v)
        self.ctrl_c(v)


class Items:
    """A data set of eight items, each made from its number by a function."""

    def __init__(self, make: Callable[[int], object]) -> None:
        self.make = make

    def __len__(self) -> int:
        return 8

    def __getitem__(self, n: int) -> object:
        return self.make(n)


class InterruptionError(Exception):
    pass


def until_interrupted(work: Callable[[], object]) -> None:
    """Repeats work until a timer's handler raises: every 5 ms, of which one suffices."""
    armed = True

    def handler(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise InterruptionError

    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        while True:
            work()
    except InterruptionError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def child(inside: Callable[[], object], limit: int = 60) -> None:
    """Forks, and waits for the child, which must exit with 0 within limit seconds."""
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
    """Calls the deleter; ctypes releases the GIL meanwhile."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(managed + DELETER).value)(managed)


# ---- leaks ----


@dataclass
class State:
    memory: int  # bytes
    blocks: int  # of Python's allocator
    owed: dict[str, int]
    threads: int
    files: int
    children: int


def owed() -> dict[str, int]:
    """How many storages, exports and imports have not been released."""
    counters = _core._counters()
    made = {"storages": "freed", "exports": "deleted", "imports": "deleted"}
    first = {"storages": "made", "exports": "made", "imports": "taken"}
    return {kind: counters[f"{kind}_{first[kind]}"] - counters[f"{kind}_{end}"] for kind, end in made.items()}


def look() -> State:
    """Counts after threads have ended and garbage is collected; frameworks release on threads of their own."""
    for _ in range(3):
        gc.collect()
        time.sleep(0.1)
    memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    children = "".join(f.read_text() for f in Path("/proc/self/task").glob("*/children")).split()
    threads, files = (len([*Path("/proc/self", what).iterdir()]) for what in ("task", "fd"))
    return State(memory, sys.getallocatedblocks(), owed(), threads, files, len(children))


def findings(before: State, now: State) -> list[str]:
    """The differences from the state after the warm-up."""
    factor, more = TOLERANCE
    found = []
    if now.memory > before.memory * factor + more:
        found.append(f"memory grew from {before.memory >> 20} to {now.memory >> 20} MiB")
    factor, more = BLOCKS
    if now.blocks > before.blocks * factor + more:
        found.append(f"Python's blocks grew from {before.blocks} to {now.blocks}")
    if now.owed != before.owed:
        found.append(f"owed {before.owed}, and now {now.owed}")
    if now.threads > before.threads + 2:  # Go runtimes start threads when they need them, and keep them
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
        self.turn = 0  # of the main thread's pieces

    def piece(self, f: Callable[[float], None], n: int) -> None:
        """Does a piece of work, and counts it."""
        try:
            f(float(n % 7))
        except BaseException:
            self.failed.append(f"{f.__name__}: {traceback.format_exc()}")
            self.stop = True
        self.done[f.__name__] += 1  # approximate: concurrent threads may lose a count

    def thread(self, first: int) -> None:
        n = first
        while not self.stop:
            self.piece(self.work.anywhere[n % len(self.work.anywhere)], n)
            n += 1

    def round(self, seconds: float) -> None:
        """Runs threads that end with the round, and meanwhile the main thread's work."""
        self.stop = False
        threads = [threading.Thread(target=self.thread, args=[i]) for i in range(THREADS)]
        end = time.monotonic() + seconds
        for t in threads:
            t.start()
        while time.monotonic() < end and not self.stop:
            self.piece(self.work.alone[self.turn % len(self.work.alone)], self.turn)
            self.turn += 1
        self.stop = True
        for t in threads:
            t.join()

    def until(self, end: float) -> None:
        """Runs rounds until that time, with a progress line on terminals."""
        while (left := end - time.monotonic()) > 0 and not self.failed:
            self.round(min(ROUND, left))
            if sys.stderr.isatty():
                print(f"\r{sum(self.done.values())} pieces, {left:.0f} s to go ", end="", file=sys.stderr, flush=True)

    def report(self, minute: float, state: State) -> None:
        owing = sum(state.owed.values())
        print(
            f"{minute:5.1f} min: {sum(self.done.values())} pieces of work, {state.memory / (1 << 20):.1f} MiB, "
            f"{state.blocks} blocks, owed {owing}, {state.threads} threads, {state.files} files, {state.children} children",
            flush=True,
        )


def run(soak: Soak, minutes: float) -> list[str]:
    """Works for so many minutes, and returns the findings."""
    start = time.monotonic()
    end = start + 60 * minutes
    soak.until(start + min(WARM_UP, 60 * minutes / 5))
    before = look()
    soak.report((time.monotonic() - start) / 60, before)
    found, now = soak.failed, before
    while time.monotonic() < end and not found:
        soak.until(min(end, time.monotonic() + 60))
        now = look()
        soak.report((time.monotonic() - start) / 60, now)
        found = soak.failed or findings(before, now)
    print(", ".join(f"{name} {n}" for name, n in sorted(soak.done.items())))
    print(*(found or ["nothing was left over"]), sep="\n")
    print(summary((time.monotonic() - start) / 60, sum(soak.done.values()), soak.done["forks"], before, now))
    return found


def summary(minutes: float, pieces: int, forks: int, before: State, now: State) -> str:
    """One line for the documentation."""
    return (
        f"{minutes:.0f} minutes, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores: {pieces:,} pieces of "
        f"work, {forks:,} of them forks; from the warm-up to the end memory {before.memory >> 20} to {now.memory >> 20} MiB, "
        f"Python's blocks {before.blocks:,} to {now.blocks:,}, threads {before.threads} to {now.threads}, files "
        f"{before.files} to {now.files}, tensors and deleters owed {sum(before.owed.values())} to {sum(now.owed.values())}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="for how long (default: %(default)s)")
    parser.add_argument(
        "--switching", action="store_true", help="let greenlets switch within callbacks of Go functions"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # newer Pythons, and jax, warn of forks in a process with threads
    with TemporaryDirectory(prefix="godlpack-soak-") as folder:
        os.environ["GODLPACK_CACHE"] = folder
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have set it to be ignored
        found = run(Soak(Work(library(folder), arguments.switching)), arguments.minutes)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
