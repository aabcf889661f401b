"""How many threads Go computes in: one number for godlpack and all libraries of Go functions."""

from __future__ import annotations

import operator
import sys
from pathlib import Path
from typing import Any, SupportsIndex

from . import _core
from ._core import __version__, _choose_threads, _threads

core: str = getattr(_core, "__file__", "")  # a program that has the module linked in has no file of it

registered: list[Any] = []  # threadpoolctl's modules that know of godlpack: one at most, unless it was reloaded


def set_num_threads(n: SupportsIndex | None) -> None:
    """Lets Go compute in n threads at a time, in all libraries and in godlpack itself, from now on.

    n: 1 to 4096; None for what the environment says, as at the beginning: GODLPACK_NUM_THREADS, else GOMAXPROCS, else
    OMP_NUM_THREADS, else as many as the processors that the process may use (its affinity, the limit of its container).
    It is one number for all Python threads together, not for each that calls. Forked children have it, too; in those that are
    started in other ways the environment counts.

    Whenever a Go runtime starts, which each library has of its own, the environment is read again, and what it says holds
    for all of them, until this function was called. What is no such number there is ignored with a RuntimeWarning.
    Raises TypeError if n is no int, ValueError if there are no such threads.
    """
    register_threadpool()
    _choose_threads(0 if n is None else positive(n))


def get_num_threads() -> int:
    """How many threads Go computes in at a time. Starts Go."""
    register_threadpool()
    return _threads(-1)


def positive(n: SupportsIndex) -> int:
    try:
        number = operator.index(n)
    except TypeError:
        raise TypeError(f"set_num_threads(): want an int, or None, got {type(n).__name__}") from None
    if not 1 <= number <= 4096:
        raise ValueError(f"set_num_threads(): want a number from 1 to 4096, or None, got {number}")
    return number


def register_threadpool() -> None:
    """Makes godlpack known to threadpoolctl, once that is imported; it is then one of what threadpool_limits() limits."""
    threadpoolctl = sys.modules.get("threadpoolctl")
    if not core or threadpoolctl is None or threadpoolctl in registered or not hasattr(threadpoolctl, "register"):
        return
    registered.append(threadpoolctl)

    class GoController(threadpoolctl.LibController):  # type: ignore[misc, name-defined]
        user_api = "godlpack"
        internal_api = "godlpack"
        filename_prefixes = ("_core.abi3",)

        def get_num_threads(self) -> int:
            return get_num_threads()

        def set_num_threads(self, num_threads: int) -> None:
            set_num_threads(num_threads)

        def get_version(self) -> str:
            if not Path(self.filepath).samefile(core):
                raise OSError  # by which threadpoolctl learns that it is another package's _core
            return __version__

    threadpoolctl.register(GoController)


register_threadpool()
