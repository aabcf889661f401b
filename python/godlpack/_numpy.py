"""Sample arrays of every layout: NumPy's fast path is used only if it reads and makes them as NumPy does.

This module is imported with godlpack, before NumPy, and not at its first use: a child that is forked while another
thread imports a module can never import that module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._core import Tensor


def samples() -> list[Any]:
    """C order, negative and gapped strides, Fortran order, 0-d, empty, broadcast, read-only, misaligned; every dtype."""
    import numpy as np

    base = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    frozen = np.ones(5, np.complex64)
    frozen.flags.writeable = False
    misaligned = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64)
    return [
        base,
        base[::-1, ::2, ::-3],
        np.zeros((3, 2), np.float64, order="F"),
        np.array(True),
        np.zeros((0, 3), np.float16),
        np.broadcast_to(np.float32(1), (2, 3)),
        frozen,
        misaligned,
        *(np.ones(2, code) for code in "?bBhHiIlLqQefdFD"),
    ]


def agree(x: Any, tensor: Tensor, made: Any) -> bool:
    """Whether the tensor made from x, and the array made from that tensor, match what NumPy reports about x."""
    import numpy as np

    said, again = x.__array_interface__, made.__array_interface__
    same_memory = x.size == 0 or said["data"] == again["data"]
    strides = tuple(step * x.itemsize for step in tensor.strides)
    return bool(
        type(made) is np.ndarray
        and made.dtype == x.dtype
        and id(made.base) == id(tensor)
        and same_memory
        and tensor.data_ptr == (0 if x.size == 0 else said["data"][0])
        and tensor.readonly == (not x.flags.writeable)
        and made.flags.writeable == x.flags.writeable
        and made.flags.aligned == x.flags.aligned
        and made.flags.c_contiguous == x.flags.c_contiguous
        and made.flags.f_contiguous == x.flags.f_contiguous
        and tensor.shape == made.shape == x.shape
        and strides == made.strides == x.strides
        and tensor.dtype == x.dtype
    )
