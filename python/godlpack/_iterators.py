"""Iterators over what Go yields, in a goroutine of its own: results of functions of libraries."""

from __future__ import annotations

import os
import threading
from collections import abc
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from weakref import WeakSet

from ._core import Tensor
from ._tasks import notifier_of

T_co = TypeVar("T_co", covariant=True)


class Elements(Generic[T_co]):
    """What iterators have in common: Go's part, and the last batch that was taken from it."""

    __slots__ = ("__weakref__", "_forks", "_name", "_source", "_state", "_take")

    def __init__(self, name: str, source: object, take: Callable[[object, int], abc.Iterator[T_co] | None]) -> None:
        self._name = name
        self._source: object | None = source  # Go's part; None when it is closed
        self._take = take  # the next batch, or None at the end
        # The number of batches that were taken, and the last one. In one attribute: a handler of a signal, which may raise or
        # use the iterator, runs before it is set or after. Go gives a batch again until it is told that it has arrived.
        self._state: tuple[int, abc.Iterator[T_co]] = (0, iter(()))
        self._forks = forks
        alive.add(self)

    def _check_process(self) -> None:
        if self._forks != forks:
            raise RuntimeError(
                f"the iterator of {self._name}() was made before this process was forked, and its Go code does not run here: "
                "make it in the worker, or start workers by multiprocessing's spawn or forkserver"
            )

    def _forked(self) -> None:
        self._state, self._source = (0, iter(())), None

    def _close(self) -> None:
        source, self._source = self._source, None
        self._state = (self._state[0], iter(()))
        if source is not None and self._forks == forks:
            self._take(source, -1)

    def __repr__(self) -> str:
        """Name the function that returned it."""
        return f"<godlpack.{type(self).__name__} of {self._name}()>"

    def __reduce__(self) -> Any:
        """Refuse: running Go code cannot be pickled."""
        raise TypeError(f"cannot pickle the iterator of {self._name}(): call {self._name}() where it is needed")


class Iterator(Elements[T_co], abc.Iterator[T_co]):
    """An iterator over what a Go function yields.

    A function that returns an iter.Seq, an iter.Seq2 or a channel in Go
    returns one in Python.

    Notes
    -----
    The Go code runs in a goroutine, ahead of Python by the number of
    elements that its author chose (``//godlpack:prefetch``), and without
    the GIL. It ends when the iterator is closed, or no longer referred to.

    Any thread may take elements, each of which goes to one of them. In a
    forked process, an iterator of the parent raises RuntimeError.

    Examples
    --------
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import "iter"
    ...
    ... //godlpack:export
    ... func Squares() iter.Seq[int] {
    ...     return func(yield func(int) bool) {
    ...         for i := 0; yield(i * i); i++ {
    ...         }
    ...     }
    ... }
    ... ''')
    >>> with ops.squares() as squares:
    ...     [next(squares), next(squares), next(squares)]
    [0, 1, 4]
    """

    __slots__ = ("_lock",)

    def __init__(self, name: str, source: object, take: Callable[[object, int], abc.Iterator[T_co] | None]) -> None:
        super().__init__(name, source, take)
        self._lock = threading.RLock()

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> T_co:
        """Return the next element.

        Raises
        ------
        StopIteration
            There are no more, or the iterator is closed.
        RuntimeError
            This process was forked after the iterator was made; or the Go
            code panicked.
        """
        for element in self._state[1]:
            return element
        return self._next()

    def _next(self) -> T_co:
        self._check_process()
        with self._lock:
            while True:
                batches, batch = self._state
                for element in batch:  # another thread, or a handler, has taken some meanwhile
                    return element
                source = self._source
                if source is None:
                    raise StopIteration
                taken = self._take(source, batches)
                if self._state[0] != batches:  # a handler has taken this batch
                    continue
                if taken is None:
                    self.close()
                    continue
                self._state = (batches + 1, taken)
                if self._source is None:  # another thread has closed it
                    self._state = (batches + 1, iter(()))
                for element in taken:  # unless other threads, or a handler, have taken all
                    return element

    def close(self) -> None:
        """End the iterator: its Go code is told to stop, and there are no more elements.

        It does not wait for the Go code. Closing again has no effect.
        """
        self._close()

    def __enter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the iterator."""
        self.close()

    def _forked(self) -> None:
        super()._forked()
        self._lock = threading.RLock()


class AsyncIterator(Elements[T_co], abc.AsyncIterator[T_co]):
    """An iterator over what a Go function yields, for ``async for``.

    A function that returns an iter.Seq, an iter.Seq2 or a channel in Go,
    and is marked ``//godlpack:async``, returns one in Python.

    Notes
    -----
    It is an `Iterator` whose elements are awaited: the event loop, of
    asyncio, uvloop or trio, goes on while there is none. One task at a time
    may wait for the next element.

    Examples
    --------
    >>> import asyncio
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import "iter"
    ...
    ... //godlpack:async
    ... func Squares() iter.Seq[int] {
    ...     return func(yield func(int) bool) {
    ...         for i := 0; yield(i * i); i++ {
    ...         }
    ...     }
    ... }
    ... ''')
    >>> async def main():
    ...     async with ops.squares() as squares:
    ...         return [await anext(squares) for _ in range(3)]
    >>> asyncio.run(main())
    [0, 1, 4]
    """

    __slots__ = ("_tasks", "_waits")

    def __init__(
        self,
        name: str,
        source: object,
        take: Callable[[object, int], abc.Iterator[T_co] | None],
        tasks: Callable[[], type],
    ) -> None:
        super().__init__(name, source, take)
        self._tasks = tasks
        self._waits = threading.Lock()  # held by a task that waits for the next element

    def __aiter__(self) -> Self:
        """Return the iterator itself."""
        return self

    async def __anext__(self) -> T_co:
        """Return the next element, when there is one.

        Raises
        ------
        StopAsyncIteration
            There are no more, or the iterator is closed.
        RuntimeError
            Another task waits for the next element; this process was forked
            after the iterator was made; or the Go code panicked.
        """
        for element in self._state[1]:
            return element
        self._check_process()
        if not self._waits.acquire(blocking=False):
            raise RuntimeError(
                f"anext(): another task waits for the next element of {self._name}() already: take elements in one task, "
                "and give them to others by an asyncio.Queue"
            )
        try:
            return await self._next()
        finally:
            self._waits.release()

    async def _next(self) -> T_co:
        while True:
            batches, batch = self._state
            for element in batch:  # another thread has taken some meanwhile
                return element
            source: Any = self._source
            if source is None:
                raise StopAsyncIteration
            notifier = notifier_of(self._tasks(), self._name)
            await notifier.wait(lambda of_go, ticket: of_go.watch(source, ticket, batches))  # noqa: B023  # at once
            if self._source is None:  # it was closed meanwhile
                continue
            taken = self._take(source, batches)
            if taken is None:
                self._close()
                continue
            self._state = (batches + 1, taken)
            for element in taken:
                return element

    def _forked(self) -> None:
        super()._forked()
        self._waits = threading.Lock()

    async def aclose(self) -> None:
        """End the iterator: its Go code is told to stop, and there are no more elements.

        It does not wait for the Go code. Closing again has no effect.
        """
        self._close()

    async def __aenter__(self) -> Self:
        """Return the iterator itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the iterator."""
        self._close()


Iterator.__module__ = AsyncIterator.__module__ = "godlpack"
forks = 0  # between the first process and this one
alive: WeakSet[Elements[Any]] = WeakSet()


def forked() -> None:
    """Lets the iterators of the parent refuse: both processes would have the elements that are taken already."""
    global forks
    forks += 1
    for iterator in list(alive):
        iterator._forked()
    alive.clear()


os.register_at_fork(after_in_child=forked)


def maker(
    name: str, take: Callable[..., Any], pairs: bool, tensors: bool, tasks: Callable[[], type] | None
) -> Callable[[object, type], Elements[Any]]:
    """What makes an iterator of Go's part, and of the type that tensors come back as.

    The library's class of tasks makes it an AsyncIterator.
    """

    def make(source: object, like: type = Tensor) -> Elements[Any]:
        keywords = {"like": like} if tensors else {}

        def some(source: object, batches: int) -> abc.Iterator[Any] | None:
            found = take(source, batches, **keywords)
            if not (found[0] if pairs else found):
                return None
            return zip(*found, strict=True) if pairs else iter(found)

        return Iterator(name, source, some) if tasks is None else AsyncIterator(name, source, some, tasks)

    return make
