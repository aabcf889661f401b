"""Tensors between Go and Python: zero-copy exchange with NumPy, PyTorch, JAX, CuPy and whatever speaks DLPack.

    >>> import godlpack as gd
    >>> t = gd.full((2, 3), 1.5)
    >>> t.shape, t.dtype, t.device
    ((2, 3), DType('float32'), Device('cpu'))
    >>> memoryview(t)[1, 2]
    1.5

Importing godlpack imports no framework.
"""

from ._core import (
    Device,
    DType,
    Function,
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
from ._library import load_module

TYPE_CHECKING = False  # as type checkers understand it: importing typing would cost more than all the rest
if TYPE_CHECKING:
    from . import cuda

__all__ = [
    "DType",
    "Device",
    "DeviceType",
    "Function",
    "Tensor",
    "__version__",
    "asarray",
    "cuda",
    "empty",
    "from_dlpack",
    "full",
    "get_build_info",
    "load_module",
    "zeros",
]


def __getattr__(name: str) -> object:
    """Imports godlpack.cuda when it is first asked for."""
    if name == "cuda":
        import importlib

        return importlib.import_module(".cuda", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
