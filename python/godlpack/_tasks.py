"""Coroutines: the results of async functions of libraries, whose Go code runs in goroutines while an event loop goes on."""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from collections.abc import Callable, Coroutine, MutableMapping
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from ._core import Tensor

# Each Go code that is waited for has one: a number that Go gives back when it has ended, or has an element.
tickets = itertools.count(1)
MOST = 64  # that are woken at a time
ONE = (1).to_bytes(8, sys.byteorder)
forks = 0  # between the first process and this one


class Notifier:
    """What wakes the coroutines of one event loop that wait for Go code of one library.

    Go makes a file readable, which the loop watches: no thread of Go enters Python.
    """

    files: tuple[int, ...] = ()  # which Go writes to, and the loop watches: the last, and the first

    def __init__(self, tasks: Any) -> None:
        self.files = open_files()
        self.source = tasks.open(self.files[-1])  # Go's part, which has its own copy of the file
        self.waiting: dict[int, Any] = {}  # by ticket
        self.forks = forks
        # How many tickets have come back, and those that are still to be woken, the next one last. In one attribute: a
        # signal's handler may raise before it is set, or after; Go gives tickets again until it is told that they have arrived.
        self._ended: tuple[int, list[int]] = (0, [])

    def drain(self) -> None:
        """Wakes those whose tickets have come back; some of many, so that the loop's timers have their turn.

        An exception, as of a signal's handler, loses none of them.
        """
        try:
            with suppress(BlockingIOError):
                os.read(self.files[0], 4096)
            left = bool(self._ended[1])  # from last time: there may be others, too
            if not left:
                known, _ = self._ended
                found = self.source.ended(known)
                self._ended = (known + len(found), found[::-1])
            ended = self._ended[1]
            for ticket in ended[: -MOST - 1 : -1]:
                if ticket in self.waiting:
                    self.wake(self.waiting[ticket])
                    self.waiting.pop(ticket, None)
                ended.pop()
            if left or ended:
                os.write(self.files[-1], ONE)
        except BaseException:
            os.write(self.files[-1], ONE)
            raise

    async def wait(self, begin: Callable[[Any, int], object]) -> None:
        """Waits until Go gives back the ticket that begin() gets, with Go's part of this."""
        ticket = next(tickets)
        waiting = self.waiting[ticket] = self.waiter()
        try:
            begin(self.source, ticket)
            await self.sleep(waiting)
        finally:
            self.waiting.pop(ticket, None)

    def waiter(self) -> Any:
        """What wake() wakes."""
        raise NotImplementedError

    async def sleep(self, waiting: Any) -> None:
        """Waits for wake()."""
        raise NotImplementedError

    def wake(self, waiting: Any) -> None:
        """Lets a coroutine go on. Again, it has no effect."""
        raise NotImplementedError

    def close(self, *, close: Callable[[int], None] = os.close) -> None:
        """Closes the file; at the interpreter's end, too, when os is gone."""
        files, self.files = self.files, ()
        for file in files:
            close(file)

    __del__ = close


def open_files() -> tuple[int, ...]:
    """An eventfd, or the two ends of a pipe where there is none."""
    if hasattr(os, "eventfd"):
        return (os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC),)
    files = os.pipe()
    for file in files:
        os.set_blocking(file, False)
    return files


class AsyncioNotifier(Notifier):
    """For loops of asyncio, and those that are like it, as of uvloop."""

    def __init__(self, tasks: Any, loop: Any) -> None:
        super().__init__(tasks)
        self.loop = weakref.ref(loop)  # which has this as an attribute
        try:
            loop.add_reader(self.files[0], self.drain)
        except NotImplementedError:
            raise RuntimeError(
                f"{type(loop).__name__} cannot watch files (add_reader), by which Go tells that a function has ended: use "
                "asyncio's SelectorEventLoop, uvloop or trio"
            ) from None
        for other in list(asyncio_notifiers):
            ended = other.loop()
            if ended is not None and ended.is_closed():
                other.close()
        asyncio_notifiers.add(self)

    def waiter(self) -> Any:
        loop: Any = self.loop()
        return loop.create_future()

    async def sleep(self, waiting: Any) -> None:
        await waiting

    def wake(self, waiting: Any) -> None:
        if not waiting.done():
            waiting.set_result(None)


asyncio_notifiers: WeakSet[AsyncioNotifier] = WeakSet()


class TrioNotifier(Notifier):
    """For trio: one of its system tasks watches the file."""

    def __init__(self, tasks: Any, trio: Any) -> None:
        super().__init__(tasks)
        self.trio = trio
        # Trio ends its system tasks before the cleanup of asynchronous generators: then each call watches a file of its own.
        self.watched = False
        with suppress(RuntimeError):
            trio.lowlevel.spawn_system_task(self.watch)
            self.watched = True

    async def watch(self) -> None:
        try:
            while True:
                await self.trio.lowlevel.wait_readable(self.files[0])
                self.drain()
        finally:
            self.watched = False
            for waiting in self.waiting.values():
                self.wake(waiting)

    def waiter(self) -> Any:
        return [None, False]  # the task that sleeps, and whether it may go on

    async def sleep(self, waiting: Any) -> None:
        lowlevel = self.trio.lowlevel

        def abort(_: object) -> Any:
            waiting[0] = None
            return lowlevel.Abort.SUCCEEDED

        while not waiting[1]:
            if self.watched:
                waiting[0] = lowlevel.current_task()
                await lowlevel.wait_task_rescheduled(abort)
            else:
                await lowlevel.wait_readable(self.files[0])
                self.drain()

    def wake(self, waiting: Any) -> None:
        task, waiting[0], waiting[1] = waiting[0], None, True
        if task is not None:
            self.trio.lowlevel.reschedule(task)


def forked() -> None:
    """Marks the notifiers of the parent, whose Go does not run here."""
    global forks
    forks += 1


os.register_at_fork(after_in_child=forked)


def notifier_of(tasks: type, name: str) -> Notifier:
    """The notifier of the event loop that runs in this thread, which has one for each library's class of tasks."""
    found, make = running(name)
    notifier = found.get(tasks)
    if notifier is None or notifier.forks != forks:
        notifier = found[tasks] = make(tasks)
    return notifier


Notifiers = MutableMapping[type, Notifier]


def running(name: str) -> tuple[Notifiers, Callable[[type], Notifier]]:
    """The notifiers of the event loop that runs in this thread, and what makes one. They live as long as the loop."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio_notifiers(trio), lambda tasks: TrioNotifier(tasks, trio)
    asyncio = sys.modules.get("asyncio")
    try:
        loop: Any = asyncio.get_running_loop() if asyncio is not None else None
    except RuntimeError:
        loop = None
    if loop is None:
        raise RuntimeError(
            f"{name}() must be awaited in an event loop of asyncio (or uvloop), trio or anyio, and none runs in this thread: "
            f"call asyncio.run() with a coroutine that awaits {name}()"
        )
    if not hasattr(loop, "_godlpack_notifiers"):
        loop._godlpack_notifiers = {}
    return loop._godlpack_notifiers, lambda tasks: AsyncioNotifier(tasks, loop)


trio_variable: Any = None  # of each run of trio: its notifiers


def trio_notifiers(trio: Any) -> Notifiers:
    global trio_variable
    if trio_variable is None:
        trio_variable = trio.lowlevel.RunVar("godlpack")
    try:
        return trio_variable.get()  # type: ignore[no-any-return]
    except LookupError:
        trio_variable.set({})
        return trio_variable.get()  # type: ignore[no-any-return]


async def result(name: str, task: Any, take: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    """Runs a task; its results. If this is cancelled, or closed, so is the context of the Go code, for which nothing waits."""
    begun = forks
    try:
        await notifier_of(type(task), name).wait(task.begin)
    except BaseException:
        if begun == forks:  # a forked child has no such Go code
            task.cancel()
        raise
    return take(task, **keywords)


def maker(name: str, take: Callable[..., Any], tensors: bool) -> Callable[[object, type], Coroutine[Any, Any, Any]]:
    """What makes a coroutine of a task, and of the type that tensors come back as."""

    def make(task: object, like: type = Tensor) -> Coroutine[Any, Any, Any]:
        coroutine: Any = result(name, task, take, {"like": like} if tensors else {})
        coroutine.__name__ = coroutine.__qualname__ = name  # for warnings, and representations of tasks
        return coroutine  # type: ignore[no-any-return]

    return make
