"""Log records of libraries, passed on to Python's logging: after each call, and by a thread between calls."""

from __future__ import annotations

import atexit
import json
import logging
import os
import socket
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from contextlib import suppress
from math import inf
from types import ModuleType
from typing import Any

from ._classes import ExportedType
from ._core import Function, Method
from ._exceptions import ExportedException
from ._library import Origin, log_functions, log_starters, origins

BATCH = 256  # records that Go gives at a time
PATIENCE = 1.0  # seconds without a handled record, while a call waits for the thread that handles its records
END = 1.0  # seconds for what is left when the interpreter ends


def capture_logs(module: ModuleType, capture: bool = True, *, level: int | str | None = None) -> None:
    """Pass what a module's Go functions log on to Python's logging.

    Parameters
    ----------
    module : module
        A module with functions of a library: one that `load_module`, `load`
        or `load_inline` returned, or a package that imports from one.
    capture : bool, default True
        False ends it: what the library logs then goes where it went before,
        to stderr unless its author decided otherwise.
    level : int or str, optional
        The lowest level that is passed on, as logging has it: 10 or "DEBUG".
        Default: the effective level of the module's logger at this time.
        Records below it cost next to nothing.

    Raises
    ------
    TypeError
        `module` is not a module, or `level` neither an int nor a str.
    ValueError
        The module has no function of a library, or there is no such level.

    Warns
    -----
    RuntimeWarning
        The library was built by a godlpack that could not do this.

    See Also
    --------
    logging.captureWarnings : The same for warnings.

    Notes
    -----
    Captured is what goes through Go's default loggers: `slog.Info` and the
    like, and `log.Printf` and the like, at level INFO. The logger is named
    after the module that the functions belong to. Debug, Info, Warn and
    Error are DEBUG, INFO, WARNING and ERROR; other levels lie between them.
    A record has the message with its attributes as slog writes them, and
    the attributes as a dict: ``record.go``. Its time and its place in the
    source are Go's.

    Handlers run in the thread that made the call, before the call returns,
    or, for what goroutines log between calls and during long ones, in a
    thread of godlpack's own. No thread of Go enters Python.

    The records wait in a queue of 16,384. What does not fit is lost: a
    warning in its place has the number of lost records.

    A forked child passes on its records, too.

    Examples
    --------
    >>> import unittest
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import "log/slog"
    ...
    ... //godlpack:export
    ... func Double(x int) int {
    ...     slog.Warn("doubling", "x", x)
    ...     return 2 * x
    ... }
    ... ''', name="ops")
    >>> gd.capture_logs(ops)
    >>> with unittest.TestCase().assertLogs("ops") as logs:
    ...     _ = ops.double(4)
    >>> logs.output
    ['WARNING:ops:doubling x=4']
    >>> logs.records[0].go
    {'x': 4}
    """
    if not isinstance(module, ModuleType):
        raise TypeError(f"capture_logs(): want a module, got {type(module).__name__}")
    found = libraries_of(module)
    if not found:
        raise ValueError(f"capture_logs(): {module.__name__} has no function of a Go library")
    least = None if level is None else number_of(level)
    with changing:
        for origin in found.values():
            if capture and origin[3:] not in captured:
                captured[origin[3:]] = Capture(origin)
            if origin[3:] in captured:
                captured[origin[3:]].set(least, capture)


def libraries_of(module: ModuleType) -> dict[tuple[str, int, int], Origin]:
    """The origins of a module's functions, classes and exceptions, one for each library."""
    types = (Function, ExportedType, ExportedException)
    found = [origins.get(thing) for thing in vars(module).values() if isinstance(thing, types)]
    return {origin[3:]: origin for origin in found if origin}


def number_of(level: int | str) -> int:
    """A level of logging as a number."""
    if isinstance(level, int) and not isinstance(level, bool):
        return level
    if not isinstance(level, str):
        raise TypeError(f"capture_logs(): level: want an int or a str, got {type(level).__name__}")
    names = logging.getLevelNamesMapping()
    if level not in names:
        raise ValueError(f"capture_logs(): level: want one of {', '.join(names)}, or a number, got {level!r}")
    return names[level]


class Capture:
    """What one library logs, on its way to a logger. One thread at a time handles records, in their order."""

    def __init__(self, origin: Origin) -> None:
        self.start, self.take = log_functions[origin[3:]]
        self.module = origin.module
        self.logger = logging.getLogger(origin.module)
        self.on = False
        self.level = 0
        self.reset()
        log_starters[origin[3:]] = self.opened

    def reset(self) -> None:
        self.changed = threading.Condition()
        self.owner: int | None = None  # the thread that handles records
        self.taken: deque[dict[str, Any]] = deque()  # records that are not handled yet
        self.last = 0  # number of the last record of taken
        self.handled = 0  # number of the last record that was handled, with all before it
        self.count = 0  # records that were handled

    def set(self, level: int | None, on: bool) -> None:
        self.level = self.logger.getEffectiveLevel() if level is None else level
        self.on = on
        self.begin()
        if not on:
            self.settle(inf)

    def begin(self) -> None:
        """Starts the records in Go, or ends them, if the library runs: later that is done when it is opened."""
        try:
            self.take(0, 0)
            self.start(go_level(self.level), pump.started() if self.on else -1)
        except ImportError:
            return
        except RuntimeError as error:
            warnings.warn(
                f"capture_logs(): {self.module} cannot pass on what it logs: {error}: build it again with this godlpack",
                RuntimeWarning,
                stacklevel=4,
            )

    def opened(self) -> None:
        """Starts the records of a new runtime of the library, which counts them from 1 on."""
        with self.changed:
            if self.owner is None:
                self.last = self.handled = 0
        self.begin()

    def settle(self, last: float, patience: float = PATIENCE) -> None:
        """Handles the records up to a number, or waits until another thread has.

        That thread's handlers may wait for this one: the wait ends when no record has been handled for some time.
        """
        me = threading.get_ident()
        end = time.monotonic() + patience if last == inf else inf
        with self.changed:
            if self.owner == me:
                return  # a handler has called the library
            count = -1
            while count != self.count and self.owner is not None and self.handled < last and time.monotonic() < end:
                count = self.count
                self.changed.wait_for(lambda: self.owner is None or self.handled >= last, patience)
            if self.owner is not None or self.handled >= last:
                return
            self.owner = me
        try:
            while self.handled < last and time.monotonic() < end and self.handle_some():
                pass
            self.call_take(0)
        finally:
            with self.changed:
                self.owner = None
                self.changed.notify_all()
            if self.taken:  # a handler has raised KeyboardInterrupt
                pump.wake()

    def handle_some(self) -> bool:
        """Handles some records, in their order. False if there are none."""
        if not self.taken:
            self.handled = self.last
            text = self.call_take(BATCH)
            if not text:
                return False
            some = json.loads(text)
            self.last = some["last"]
            self.taken.extend(some["records"])
        while self.taken:
            self.handle(**self.taken.popleft())
            self.count += 1
        with self.changed:
            self.handled = self.last
            self.changed.notify_all()
        return True

    def call_take(self, most: int) -> str:
        try:
            return str(self.take(self.handled, most))
        except ImportError:  # the library does not run: this process was forked, or a call was abandoned
            return ""

    def handle(
        self,
        level: int,
        time: int,
        message: str,
        file: str = "(unknown file)",
        line: int = 0,
        function: str = "",
        attrs: list[tuple[str, Any]] | None = None,
    ) -> None:
        """Passes one record to the logger. Its exceptions are reported: nobody could handle them."""
        number = max(python_level(level), 1)
        try:
            if not self.logger.isEnabledFor(number):
                return
            record = self.logger.makeRecord(
                self.logger.name,
                number,
                file,
                line,
                message,
                (),
                None,
                function.rpartition("/")[2],
                {"go": dict(attrs or ())},
            )
            seconds = time / 1e9
            record.relativeCreated += (seconds - record.created) * 1000
            record.created, record.msecs = seconds, time // 1_000_000 % 1000 + 0.0
            record.thread, record.threadName = 0, "Go"
            self.logger.handle(record)
        except Exception:
            if logging.raiseExceptions and sys.stderr:
                traceback.print_exc()


def python_level(level: int) -> int:
    """The level of logging for one of slog: -4 to 8 are 10 to 40."""
    return 20 + level * 5 // 2


def go_level(level: int) -> int:
    """The least level of slog whose level of logging is at least this one."""
    return -((20 - level) * 2 // 5)


class Pump:
    """The thread that handles records between calls, and those of long calls. Go wakes it by a socket."""

    def __init__(self) -> None:
        self.end: socket.socket | None = None  # the thread's
        self.file = -1  # the end that Go writes to

    def started(self) -> int:
        """Starts the thread, unless it runs, and returns the file that wakes it."""
        if self.end is None:
            self.end, other = socket.socketpair()
            other.setblocking(False)
            self.file = other.detach()  # stays open as long as Go may write to it
            thread = threading.Thread(target=self.run, args=(self.end,), name="godlpack-logs", daemon=True)
            with suppress(RuntimeError):  # no more threads: calls handle the records
                thread.start()
        return self.file

    def wake(self) -> None:
        if self.file >= 0:
            with suppress(OSError):  # it is full: the thread has a reason to wake already
                os.write(self.file, b"\0")

    def close(self) -> None:
        """Closes the socket, in a child that has neither the thread nor the Go that writes to it."""
        if self.end is not None:
            self.end.close()
            os.close(self.file)

    @staticmethod
    def run(end: socket.socket) -> None:
        while end.recv(4096):
            for one in list(captured.values()):
                try:
                    one.settle(inf, threading.TIMEOUT_MAX)
                except Exception:
                    traceback.print_exc()


captured: dict[tuple[str, int, int], Capture] = {}  # by library
changing = threading.RLock()
pump = Pump()


def returned(function: Function | Method, last: int) -> None:
    """Handles the records of a call that returns, up to a number: C calls it before the call's result or exception."""
    origin = origins.get(function)
    one = captured.get(origin[3:]) if origin else None
    if one:
        one.settle(last)


def forked() -> None:
    """Starts anew in a forked child: its libraries run no more, nor do the threads that handled records."""
    global changing, pump
    pump.close()
    changing, pump = threading.RLock(), Pump()
    for one in captured.values():
        one.reset()


def end() -> None:
    """Handles what is left when the interpreter ends."""
    for one in captured.values():
        one.settle(inf, END)


os.register_at_fork(after_in_child=forked)
atexit.register(end)
