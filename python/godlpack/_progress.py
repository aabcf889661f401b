"""Bars that show the progress of Go functions."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from ._library import progress_functions

EVERY = 0.1  # seconds between looks at the calls
WIDTH = 30  # of a bar, in characters


class Bar(Protocol):
    """What shows one call."""

    def show(self, done: int, total: int) -> None: ...

    def close(self) -> None: ...


class TqdmBar:
    """A bar of tqdm, for terminals and notebooks."""

    def __init__(self, tqdm: Any, label: str) -> None:
        self.bar = tqdm(desc=label, total=None)

    def show(self, done: int, total: int) -> None:
        self.bar.total = total or None
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()


class TextBar:
    """A line of text, without tqdm."""

    def __init__(self, file: TextIO, label: str) -> None:
        self.file = file
        self.label = label

    def show(self, done: int, total: int) -> None:
        text = f"{done:,}"
        if total > 0:
            filled = max(0, min(WIDTH, done * WIDTH // total))
            text = f"{100 * done // total:3d}% [{'#' * filled:{WIDTH}}] {done:,}/{total:,}"
        self.file.write(f"\r{self.label}: {text}")
        self.file.flush()

    def close(self) -> None:
        self.file.write("\n")
        self.file.flush()


def make_bar(label: str) -> Bar | None:
    """A bar in a terminal or a notebook; None where nobody sees it."""
    seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return TextBar(sys.stderr, label) if seen else None
    return TqdmBar(tqdm, label) if seen else None


class Watch:
    """A thread that looks at the calls of all libraries now and then."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.bars: dict[tuple[tuple[str, int, int], int], Bar | None] = {}
        self.thread = threading.Thread(target=self.run, name="godlpack-progress", daemon=True)

    def run(self) -> None:
        while not self.stop.wait(EVERY):
            self.look(True)

    def look(self, show: bool) -> None:
        """Shows what has changed. Without show, calls no longer report."""
        for library, progress in list(progress_functions.items()):
            with suppress(ImportError, RuntimeError):  # it does not run, or is older
                for one in json.loads(progress(show) or "[]"):  # None: it has not been opened
                    self.update((library, one["number"]), **one)

    def update(self, key: Any, label: str, done: int, total: int, over: bool, number: int) -> None:
        try:
            if key not in self.bars:
                self.bars[key] = None
                self.bars[key] = make_bar(f"{label}()")
            bar = self.bars[key]
            if bar is not None:
                bar.show(done, total)
                if over:
                    bar.close()
        except Exception:  # of a terminal that is gone, as of tqdm: other calls still have their bars
            self.bars[key] = None
        if over:
            del self.bars[key]

    def end(self) -> None:
        self.stop.set()
        self.thread.join()
        self.look(False)
        for bar in self.bars.values():
            if bar is not None:
                with suppress(Exception):
                    bar.close()


watch: Watch | None = None
changing = threading.Lock()


def forked() -> None:
    """Forgets the thread, which the child does not have."""
    global watch, changing
    watch, changing = None, threading.Lock()


os.register_at_fork(after_in_child=forked)


class Shown:
    """What `show_progress` returns: at the end of a with statement, bars are shown or not as before it."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Show bars, or none, as before."""
        show_progress(self._before)


def show_progress(show: bool = True) -> Shown:
    """Show bars for Go functions that report their progress.

    Parameters
    ----------
    show : bool, default True
        False ends it.

    Returns
    -------
    context manager
        As ``with show_progress():``, bars are shown until its end.

    Notes
    -----
    A function reports by ``kernel.Progress(ctx, done, total)``. A call that
    runs for more than a fifth of a second has a bar: of tqdm, if that is
    installed, in terminals and notebooks, else a line on stderr. Where
    stderr is neither, as in a batch job, there are none.

    A thread of godlpack's own looks at the calls ten times a second. Without
    it, which is the default, reporting costs nothing. A forked child shows
    no bars until it asks for them.

    Examples
    --------
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import "godlpack/kernel"
    ...
    ... //godlpack:export
    ... func Count(ctx *kernel.Ctx, n int) (sum int) {
    ...     for i := range n {
    ...         kernel.Progress(ctx, int64(i), int64(n))
    ...         sum += i
    ...     }
    ...     return sum
    ... }
    ... ''')
    >>> with gd.show_progress():
    ...     ops.count(1_000_000)
    499999500000
    """
    global watch
    with changing:
        before = watch is not None
        if show and watch is None:
            begun = Watch()
            begun.look(True)
            begun.thread.start()
            watch = begun
        elif not show and watch is not None:
            ended, watch = watch, None
            ended.end()
    return Shown(before)
