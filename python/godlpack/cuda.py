"""CUDA devices and their current streams.

Each thread has a current stream on each device; at first it is the
default stream, as in torch and cupy. godlpack queues its own work on it
(copies, fills) and names it to other libraries: a library that imports a
tensor by ``__dlpack__`` waits for it, and one that uses the exchange
table works on it.

The first use of a device looks for a driver; the import of this module
does not.

Examples
--------
>>> import godlpack.cuda
>>> godlpack.cuda.current_stream()
0
"""

from types import TracebackType
from typing import Any

from ._core import Device, _current_stream, _device_count, _swap_stream, _synchronize

__all__ = ["current_stream", "device_count", "stream", "synchronize"]


class stream:  # noqa: N801, a context manager as torch.cuda.stream is
    """Context manager that sets the calling thread's current stream.

    Parameters
    ----------
    stream : stream or int
        A stream of torch or cupy, an object with ``__cuda_stream__``, or a
        handle: 0 and 1 are the default stream, 2 is the thread's own one.
        The stream must live until the end of the block.
    device : Device, str or int, optional
        The device of the stream: a CUDA device, its name or its number.
        Default: the device of `stream` if it has one, else the first
        device.

    Raises
    ------
    TypeError
        `stream` is not a stream, or `device` is not a device. The entry of
        the block raises, not the constructor.
    ValueError
        A number is not a handle, or `device` is not a CUDA device.

    Examples
    --------
    >>> import godlpack.cuda
    >>> with godlpack.cuda.stream(2, "cuda:1"):
    ...     godlpack.cuda.current_stream("cuda:1"), godlpack.cuda.current_stream()
    (2, 0)
    >>> godlpack.cuda.current_stream("cuda:1")
    0
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
    """Return the calling thread's current stream on a device.

    Parameters
    ----------
    device : Device, str or int, optional
        A CUDA device, its name or its number. Default: the first device.

    Returns
    -------
    int
        The handle of the stream, 0 for the default stream.

    Raises
    ------
    TypeError
        `device` is not a device.
    ValueError
        `device` is not a CUDA device.
    """
    return _current_stream(device)


def synchronize(device: Device | str | int | None = None) -> None:
    """Wait for all work on the calling thread's current stream of a device.

    Parameters
    ----------
    device : Device, str or int, optional
        A CUDA device, its name or its number. Default: the first device.

    Raises
    ------
    TypeError
        `device` is not a device.
    ValueError
        `device` is not a CUDA device, or there is no device of that number.
    BufferError
        There is no CUDA driver.
    """
    _synchronize(device)


def device_count() -> int:
    """Return the number of CUDA devices.

    Returns
    -------
    int
        The number of devices, 1 or more.

    Raises
    ------
    BufferError
        There is no CUDA driver, or no device.
    """
    return _device_count()
