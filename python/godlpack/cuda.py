"""CUDA devices and their current streams.

godlpack queues its own work on a CUDA device (copies, fills) on the calling thread's current stream there, which is also
what it tells other libraries: those that import a tensor by `__dlpack__` wait for it, and those that use the exchange
table work on it. At first it is the default stream, as in torch and cupy.

    >>> import godlpack.cuda
    >>> godlpack.cuda.current_stream()
    0

A driver is looked for at the first use of a device, never by importing this module.
"""

from types import TracebackType
from typing import Any

from ._core import Device, _current_stream, _device_count, _swap_stream, _synchronize

__all__ = ["current_stream", "device_count", "stream", "synchronize"]


class stream:  # noqa: N801, a context manager as torch.cuda.stream is
    """Makes a stream the calling thread's current one on its device, until the end of the block.

    stream: a stream of torch or cupy, an object with `__cuda_stream__`, or a handle as an int (0 and 1 are the default
    stream, 2 is the thread's own one). It must live that long. device: a Device, its name or its number; else what the
    stream says, else the first device.
    Raises TypeError for what is no stream, ValueError for a number that is no handle, or a device that is none of CUDA.
    """

    def __init__(self, stream: Any, device: Device | str | int | None = None) -> None:
        self._stream = stream
        self._device = device
        self._before: list[tuple[int, int]] = []

    def __enter__(self) -> None:
        self._before.append(_swap_stream(self._stream, self._device))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        device, handle = self._before.pop()
        _swap_stream(handle, device)


def current_stream(device: Device | str | int | None = None) -> int:
    """The handle of the calling thread's current stream on a device, 0 for the default stream."""
    return _current_stream(device)


def synchronize(device: Device | str | int | None = None) -> None:
    """Waits for all work on the calling thread's current stream of a device. Raises BufferError without a driver."""
    _synchronize(device)


def device_count() -> int:
    """How many CUDA devices there are. Raises BufferError without a driver, or without a device."""
    return _device_count()
