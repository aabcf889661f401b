"""The number of threads that Go computes in: one for godlpack and all libraries of Go functions."""

from __future__ import annotations

import operator
import sys
from pathlib import Path
from typing import Any, SupportsIndex

from . import _core
from ._core import __version__, _choose_threads, _threads

core: str = getattr(_core, "__file__", "")  # empty where the module is linked into a program and has no file

registered: list[Any] = []  # threadpoolctl modules that know godlpack: at most one, unless it was reloaded


def set_num_threads(n: SupportsIndex | None) -> None:
    """Set the number of threads that Go computes in.

    Parameters
    ----------
    n : int or None
        A number from 1 to 4096. None: the number from the environment, as
        at the start of the process.

    Raises
    ------
    TypeError
        `n` is neither an int nor None.
    ValueError
        `n` is less than 1 or more than 4096.

    Warns
    -----
    RuntimeWarning
        A variable of the environment is not such a number. It is ignored.

    See Also
    --------
    get_num_threads : Return the number.

    Notes
    -----
    The number holds from now on, for godlpack and all libraries of Go
    functions. All Python threads together have this number, not each one.
    Forked children inherit it. A child that is started in another way reads
    its environment.

    The environment gives the first of these: GODLPACK_NUM_THREADS,
    GOMAXPROCS, OMP_NUM_THREADS, the number of processors that the process
    may use (its affinity and the limit of its container). Each library has
    a Go runtime of its own. Until the first call of this function, the
    start of a runtime reads the environment again, and the number holds for
    all runtimes.

    Examples
    --------
    >>> import godlpack as gd
    >>> gd.set_num_threads(3)
    >>> gd.get_num_threads()
    3
    >>> gd.set_num_threads(None)
    """
    register_threadpool()
    _choose_threads(0 if n is None else positive(n))


def get_num_threads() -> int:
    """Return the number of threads that Go computes in.

    Returns
    -------
    int
        The number of threads at a time.

    See Also
    --------
    set_num_threads : Set the number.

    Notes
    -----
    The call starts Go's runtime if it does not run yet.
    """
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
    """Registers godlpack with threadpoolctl if that is imported, so that threadpool_limits() limits it, too."""
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
                raise OSError  # threadpoolctl then skips this _core, which is another package's
            return __version__

    threadpoolctl.register(GoController)


register_threadpool()
