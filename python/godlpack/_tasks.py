"""Coroutines: the results of async functions of libraries, whose Go code runs in goroutines while an event loop goes on."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from ._core import Tensor

# Each Go code that is waited for has one: a number that Go gives back when it has ended, or has an element.
tickets = itertools.count(1)
ONE = (1).to_bytes(8, sys.byteorder)


class Notifier:
    """What wakes the coroutines of one event loop that wait for Go code of one library.

    Go makes a file readable, which the loop watches: no thread of Go enters Python.
    """

    def __init__(self, tasks: Any) -> None:
        self.files = open_files()
        self.source = tasks.open(self.files[-1])  # Go's part, which has its own copy of the file
        self.waiting: dict[int, Any] = {}  # by ticket
        self._known = 0  # tickets that have come back

    def drain(self) -> None:
        """Wakes all whose tickets have come back. An exception, as of a signal's handler, loses none of them."""
        with suppress(BlockingIOError):
            os.read(self.files[0], 4096)
        try:
            ended = self.source.ended(self._known)
            for ticket in ended:
                waiting = self.waiting.pop(ticket, None)
                if waiting is not None:
                    self.wake(waiting)
            self._known += len(ended)
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
        """Lets a coroutine go on."""
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
        self.waiter = loop.create_future  # type: ignore[method-assign]
        loop.add_reader(self.files[0], self.drain)

    async def sleep(self, waiting: Any) -> None:
        await waiting

    def wake(self, waiting: Any) -> None:
        if not waiting.done():
            waiting.set_result(None)


class TrioNotifier(Notifier):
    """For trio: one of its system tasks watches the file."""

    def __init__(self, tasks: Any, trio: Any) -> None:
        super().__init__(tasks)
        self.trio = trio
        trio.lowlevel.spawn_system_task(self.watch)

    async def watch(self) -> None:
        try:
            while True:
                await self.trio.lowlevel.wait_readable(self.files[0])
                self.drain()
        finally:
            self.close()

    def waiter(self) -> Any:
        return [self.trio.lowlevel.current_task(), False]  # the task, and whether it may go on

    async def sleep(self, waiting: Any) -> None:
        def abort(_: object) -> Any:
            waiting[0] = None
            return self.trio.lowlevel.Abort.SUCCEEDED

        if not waiting[1]:
            await self.trio.lowlevel.wait_task_rescheduled(abort)

    def wake(self, waiting: Any) -> None:
        task, waiting[0], waiting[1] = waiting[0], None, True
        if task is not None:
            self.trio.lowlevel.reschedule(task)


# For each event loop, one notifier for each library, which its class of tasks stands for.
notifiers: WeakKeyDictionary[Any, dict[type, Notifier]] = WeakKeyDictionary()
changing = threading.Lock()


def forked() -> None:
    """Forgets the notifiers of the parent, whose Go does not run here."""
    global changing
    changing = threading.Lock()
    notifiers.clear()


os.register_at_fork(after_in_child=forked)


def notifier_of(tasks: type, name: str) -> Notifier:
    """The notifier of the event loop that runs in this thread."""
    loop, make = running(name)
    try:
        return notifiers[loop][tasks]
    except KeyError:
        made = make(tasks)
    with changing:
        for other in [other for other, found in notifiers.items() if is_over(other, found)]:
            for notifier in notifiers.pop(other).values():
                notifier.close()
        notifiers.setdefault(loop, {})[tasks] = made
    return made


def is_over(loop: Any, found: dict[type, Notifier]) -> bool:
    """Whether an event loop, with these notifiers, is closed; trio closes them itself."""
    return getattr(loop, "is_closed", bool)() or not all(notifier.files for notifier in found.values())


def running(name: str) -> tuple[Any, Callable[[type], Notifier]]:
    """The event loop that runs in this thread, or what stands for it, and what makes a notifier for it."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio.lowlevel.current_trio_token(), lambda tasks: TrioNotifier(tasks, trio)
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
    return loop, lambda tasks: AsyncioNotifier(tasks, loop)


async def result(name: str, task: Any, take: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    """Runs a task; its results. If this is cancelled, or closed, so is the context of the Go code, for which nothing waits."""
    try:
        await notifier_of(type(task), name).wait(task.begin)
    except BaseException:
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
