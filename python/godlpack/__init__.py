"""Tensors between Go and Python, without copies, by DLPack.

godlpack exchanges memory with NumPy, PyTorch, JAX, CuPy and every other
library that has DLPack, and runs Go functions over their tensors. Its
import does not import a framework.

Examples
--------
>>> import godlpack as gd
>>> t = gd.full((2, 3), 1.5)
>>> t.shape, t.dtype, t.device
((2, 3), DType('float32'), Device('cpu'))
>>> memoryview(t)[1, 2]
1.5
"""

import sys as _sys

from . import _numpy as _numpy
from ._core import (
    Device,
    DType,
    Function,
    Method,
    Object,
    Tensor,
    __version__,
    asarray,
    empty,
    from_dlpack,
    full,
    get_build_info,
    zeros,
)
from ._device import DeviceType

TYPE_CHECKING = False  # type checkers take it for True; importing typing would take longer than all the rest
if TYPE_CHECKING:
    from . import cuda
    from ._inline import load, load_inline
    from ._iterators import AsyncIterator, Iterator
    from ._library import load_module
    from ._logs import capture_logs
    from ._progress import show_progress
    from ._threads import get_num_threads, set_num_threads
    from ._tool import BuildError
    from ._torch import torch_op

__all__ = [
    "AsyncIterator",
    "BuildError",
    "DType",
    "Device",
    "DeviceType",
    "Function",
    "Iterator",
    "Method",
    "Object",
    "Tensor",
    "__version__",
    "asarray",
    "capture_logs",
    "cuda",
    "empty",
    "from_dlpack",
    "full",
    "get_build_info",
    "get_num_threads",
    "load",
    "load_inline",
    "load_module",
    "set_num_threads",
    "show_progress",
    "torch_op",
    "zeros",
]


if "threadpoolctl" in _sys.modules:
    from . import _threads as _threads


def __getattr__(name: str) -> object:
    """Imports the less common parts at their first use: together they would take longer to import than all the rest."""
    import importlib

    if name == "cuda":
        return importlib.import_module(".cuda", __name__)
    module = {
        "AsyncIterator": "._iterators",
        "BuildError": "._inline",
        "Iterator": "._iterators",
        "capture_logs": "._logs",
        "get_num_threads": "._threads",
        "load": "._inline",
        "load_inline": "._inline",
        "load_module": "._library",
        "set_num_threads": "._threads",
        "show_progress": "._progress",
        "torch_op": "._torch",
    }.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(module, __name__), name)
    return globals()[name]


def load_ipython_extension(shell: object) -> None:
    """Add the cell magic ``%%go`` to IPython: ``%load_ext godlpack`` calls this."""
    from ._magic import register

    register(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
