"""Iterables for functions that take an iter.Seq: Go gets their elements in batches."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

MOST = 1024  # elements in a batch, of kinds that do not change
SOON = 0.001  # seconds that a batch may take, so that Go does not wait long for its first elements


class Batches:
    """The elements of an iterable, which Go takes by calls of this."""

    def __init__(
        self, elements: Iterator[Any], feed: Callable[[object, Any], None], place: str, most: int = MOST
    ) -> None:
        self.elements = elements
        self.most = most  # elements in a batch
        self.feed = feed
        self.place = place  # how errors of feed() begin, but for the number of an element
        self.size = 1  # of the next batch: what Go does not use of it is lost to other users of the iterator
        self.fed = 0
        self.error: BaseException | None = None

    def __call__(self, into: object) -> bool:
        """Gives the next batch to Go; False if there are no more elements."""
        batch = self.next_batch()
        if not batch:
            return False
        try:
            self.feed(into, batch)
        except Exception as error:
            text = re.sub(rf"^({re.escape(self.place)}: (?:element |\[))(\d+)", self.numbered, str(error))
            if len(error.args) == 1 and text != str(error):
                error.args = (text,)
            raise
        self.fed += len(batch)
        return True

    def numbered(self, found: re.Match[str]) -> str:
        """An element's number in the iterable instead of that in its batch."""
        return f"{found[1]}{int(found[2]) + self.fed}"

    def next_batch(self) -> list[Any]:
        """Elements until there are enough, or it takes too long. An exception is raised after the elements before it."""
        batch: list[Any] = []
        begin = time.perf_counter()
        if self.error is None:
            try:
                for element in islice(self.elements, self.size):
                    batch.append(element)  # list() would lose them in an exception
                    if self.size < self.most and time.perf_counter() - begin > SOON:
                        break
            except BaseException as error:
                self.error = error
        if self.error is not None and not batch:
            raised, self.error, self.elements = self.error, None, iter(())
            raise raised
        took = time.perf_counter() - begin
        self.size = min(2 * self.size, self.most) if took < SOON else max(self.size // 2, 1)
        return batch


def giver(
    label: str, name: str, wanted: str, feed: Callable[[object, Any], None], kind: str
) -> Callable[[Any], Callable[[object], bool]]:
    """What makes Batches of an argument with elements of this kind; of an array of numbers, one batch that is the array.

    Arrays, buffers, lists and dicts come one by one: an iterable may change what it has yielded when it goes on.
    """
    arrays = kind in ("bool", "int", "float")
    most = MOST if arrays or kind in ("str", "object") else 1
    place = f"{label}: argument '{name}'"

    def give(x: Any) -> Callable[[object], bool]:
        if isinstance(x, (str, bytes, bytearray)):
            raise TypeError(f"{place}: want {wanted}, got {type(x).__name__}: pass a list of it ([x])")
        if arrays and hasattr(type(x), "__dlpack__"):
            left = [x]

            def whole(into: object) -> bool:
                if not left:
                    return False
                feed(into, left.pop())
                return True

            return whole
        try:
            elements = iter(x)
        except TypeError:
            raise TypeError(f"{place}: want {wanted}, got {type(x).__name__}: pass an iterable ([x])") from None
        return Batches(elements, feed, place, most)

    return give
