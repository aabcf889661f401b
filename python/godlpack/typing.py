"""Types for annotations, which the stubs of Go functions use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer


class SupportsDLPack(Protocol):
    """An array or a tensor of any framework that has DLPack.

    The parameters of the methods differ between frameworks.
    """

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsCudaArrayInterface(Protocol):
    """An array on a CUDA device, such as Numba's."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


TensorLike: TypeAlias = Union["SupportsDLPack", "SupportsCudaArrayInterface", "Buffer"]
"""An argument that a Go function takes as a tensor, bytes and other buffers too."""
