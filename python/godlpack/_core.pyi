"""The extension module, written in Go. Import its names from godlpack."""

from collections.abc import Callable, Iterator, Sequence
from inspect import Signature
from types import EllipsisType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Never,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    final,
    overload,
)

from typing_extensions import Buffer, CapsuleType, disjoint_base

from ._device import DeviceType

__version__: Final[str]
"""Version of godlpack."""

_T = TypeVar("_T")
_Shape: TypeAlias = int | Sequence[int]
_Number: TypeAlias = bool | int | float | complex
_Index: TypeAlias = int | slice | EllipsisType | None
_Nested: TypeAlias = Any  # a number, or lists of lists of numbers

class _Producer(Protocol):
    """Object that exports its memory by DLPack."""

    def __dlpack__(self) -> CapsuleType: ...

class _BuildInfo(TypedDict):
    """The dict that `get_build_info` returns."""

    godlpack: str
    go: str
    platform: str
    dlpack: str
    abi: str
    runtime_start: Literal["lazy", "eager"]
    runtime_generation: int
    fast_paths: list[str]

@final
class DType:
    """Type of an element: DLPack's type code, bits and lanes.

    Parameters
    ----------
    x : str, DType or dtype of another library
        A name such as 'float32', 'bfloat16', 'float8_e4m3fn', 'int4' or
        'float32x4' (4 lanes), or a dtype of another library. docs/dtypes.md
        lists the types.

    Raises
    ------
    ValueError
        `x` is an unknown name, or a dtype that DLPack does not have.
    TypeError
        `x` is not a dtype.

    Notes
    -----
    A DType is equal to its name and to the same dtype of other libraries.
    Its hash is that of its name. It is immutable.

    Examples
    --------
    >>> import numpy as np
    >>> import godlpack as gd
    >>> d = gd.DType("float32x4")
    >>> d.code, d.bits, d.lanes, d.itemsize
    (2, 32, 4, 16)
    >>> gd.DType(np.int16) == "int16", gd.DType("int16") == np.dtype("i2")
    (True, True)
    >>> gd.DType("f4")
    Traceback (most recent call last):
        ...
    ValueError: DType(): dtype "f4": want a name such as float32, ...
    """

    def __new__(cls, x: Any, /) -> DType: ...
    @property
    def name(self) -> str:
        """Name, such as 'float32' or 'float32x4'."""
    @property
    def code(self) -> int:
        """DLPack's type code: kDLInt is 0, kDLUInt 1, kDLFloat 2, and so on."""
    @property
    def bits(self) -> int:
        """Size of one lane in bits."""
    @property
    def lanes(self) -> int:
        """Number of lanes of one element; 1 if it is not a vector."""
    @property
    def itemsize(self) -> int:
        """Size of one element in bytes, rounded up to a whole byte."""
    @property
    def __numpy_dtype__(self) -> Any:
        """The same dtype of NumPy or ml_dtypes.

        ``numpy.dtype(d)`` returns it, since NumPy 2.4. Raises TypeError if
        neither has the dtype.
        """

    def __eq__(self, other: object, /) -> bool:
        """Compare with a DType, a name or a dtype of another library."""
    def __hash__(self) -> int:
        """Return the hash of the name."""
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Pickle the dtype by its name."""

@final
class Device:
    """Device of memory: a device type and a number.

    Parameters
    ----------
    x : str, DeviceType, int, tuple of two int, torch.device or Device
        A name such as 'cpu' or 'cuda:1', a device type, or DLPack's pair of
        type and number.
    id : int, default 0
        The number, if `x` is a device type. It must be 0 or more.

    Raises
    ------
    ValueError
        DLPack does not have the device type, or the number is negative.
    TypeError
        `x` is not a device, or `id` is given and `x` is not a device type.

    Notes
    -----
    A Device is equal to its name, which is ``str(device)``, and to the same
    torch.device. A name has the number, as 'cuda:0' has, except for memory
    of the host, such as 'cpu' and 'cuda_host', of number 0. The hash is
    that of the name. A Device is immutable.

    Examples
    --------
    >>> import godlpack as gd
    >>> d = gd.Device("cuda")
    >>> d, d.type, d.id
    (Device('cuda:0'), <DeviceType.CUDA: 2>, 0)
    >>> d == "cuda:0", d == "cuda"
    (True, False)
    >>> gd.Device(gd.DeviceType.ROCM, 1)
    Device('rocm:1')
    """

    def __new__(cls, x: Any, /, id: int = 0) -> Device: ...
    @property
    def type(self) -> DeviceType:
        """Kind of device, a `DeviceType`.

        A type that DLPack does not define is an int.
        """

    @property
    def id(self) -> int:
        """Number among the devices of its type; the host's memory has 0 (R30)."""
    def __eq__(self, other: object, /) -> bool:
        """Compare with a Device, a name or a torch.device."""
    def __hash__(self) -> int:
        """Return the hash of the name."""
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Pickle the device by its name."""

@final
class Tensor:
    """N-dimensional array over memory that any DLPack library may own.

    The type has no public constructor. `from_dlpack` and `asarray` make a
    tensor over the memory of another object; `empty`, `zeros` and `full`
    allocate memory; functions of Go libraries may return a tensor.

    See Also
    --------
    from_dlpack : Make a tensor of another library's tensor.
    asarray : Make a tensor of any object that gives access to its memory.
    empty, zeros, full : Create a tensor.

    Notes
    -----
    ``t[key]`` is a view of the same memory. `key` is an int, a slice, None,
    an ellipsis, or a tuple of these. A bool or an array as `key` is a
    TypeError, an index out of range an IndexError. Elements cannot be
    assigned: write through ``memoryview(t)`` or ``t.to(numpy.ndarray)``.

    ``len(t)`` is the extent of the first axis, and iteration gives a view
    for each index of it. Both raise TypeError for a tensor of 0 dimensions.

    ``memoryview(t)`` shares the memory. It raises BufferError for memory
    that the CPU cannot read and for a dtype that the buffer protocol cannot
    describe, such as bfloat16. Other libraries take a tensor by DLPack's
    exchange table, ``__dlpack__``, the array interfaces of NumPy and CUDA
    or Arrow's PyCapsule interface.

    A tensor and its views keep the memory alive. ``t == u`` compares
    identity.

    Examples
    --------
    >>> import godlpack as gd
    >>> t = gd.full((2, 3), 1.5)
    >>> t[1, ::-2].shape
    (2,)
    >>> memoryview(t)[1, 2] = 4
    >>> [row.tolist() for row in t]
    [[1.5, 1.5, 1.5], [1.5, 1.5, 4.0]]
    >>> t.T
    Tensor([[1.5, 1.5],
            [1.5, 1.5],
            [1.5, 4. ]],
           dtype=float32, shape=(3, 2), device='cpu')
    """

    __dlpack_c_exchange_api__: ClassVar[CapsuleType]
    """DLPack's exchange table, as DLPack 1.3 publishes it: a capsule (R50)."""
    __c_dlpack_exchange_api__: ClassVar[int]
    """Address of the exchange table, as DLPack 1.2 publishes it (R50)."""
    def __new__(cls, *args: Never) -> Never: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis, as a tuple of int."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbors along each axis, in elements.

        DLPack counts strides in elements, NumPy in bytes (R17). A stride may be
        0 or negative.
        """

    @property
    def ndim(self) -> int:
        """Number of axes, 0 to 64."""
    @property
    def size(self) -> int:
        """Number of elements; a vector such as float32x4 counts as one."""
    @property
    def itemsize(self) -> int:
        """Size of one element in bytes, rounded up to a whole byte."""
    @property
    def nbytes(self) -> int:
        """Size of all elements in bytes, without gaps between them.

        Elements of less than 8 bits are packed (R21, R22): 3 elements of int4
        take 2 bytes, unless the producer says that they are padded.
        """

    @property
    def dtype(self) -> DType:
        """Type of the elements, a `DType`."""
    @property
    def device(self) -> Device:
        """Device of the memory, a `Device`."""
    @property
    def data_ptr(self) -> int:
        """Address of the first element, an int; 0 if there are no elements."""
    @property
    def readonly(self) -> bool:
        """True if the memory must not be written (R23, R43)."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3, as a dict.

        Raises AttributeError for memory that the CPU cannot read and for a
        dtype that the interface cannot describe, such as bfloat16.
        """

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """CUDA array interface, version 3, as a dict.

        It names the calling thread's current stream; see `godlpack.cuda`.
        Raises AttributeError if the memory is not on a CUDA device, and
        BufferError for a dtype that the interface cannot describe.
        """

    @property
    def T(self) -> Tensor:  # noqa: N802
        """View with the axes in reverse order."""
    def is_contiguous(self, order: Literal["C", "F"] = "C") -> bool:
        """Test whether the elements lie in order without gaps.

        Parameters
        ----------
        order : {'C', 'F'}, default 'C'
            'C': the last axis is the fastest. 'F': the first axis is.

        Returns
        -------
        bool
            True if the elements lie so. Axes of extent 1 do not matter, and an
            empty tensor is contiguous in both orders.

        Raises
        ------
        ValueError
            `order` is neither 'C' nor 'F'.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.zeros((2, 3))
        >>> t.is_contiguous(), t.T.is_contiguous(), t.T.is_contiguous("F")
        (True, False, True)
        >>> t[:, 0:1].is_contiguous()
        False
        """

    def reshape(self, *shape: Any) -> Tensor:
        """Return a view of the same elements with another shape.

        Parameters
        ----------
        *shape : int, or one sequence of int
            The new extents. One of them may be -1; it is computed from the
            others.

        Returns
        -------
        Tensor
            A view with the elements in row-major order.

        Raises
        ------
        ValueError
            The new shape has another number of elements, or more than 64 axes.
        BufferError
            The strides do not allow a view. Use `contiguous` first.
        TypeError
            `shape` has a value that is not an int.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.zeros((2, 6))
        >>> t.reshape(3, -1).shape
        (3, 4)
        >>> t[:, ::2].reshape(2, 3, 1).strides
        (6, 2, 2)
        >>> t.T.reshape(12)
        Traceback (most recent call last):
            ...
        BufferError: reshape() from shape [6 2] with strides [1 6] ...
        """

    def permute(self, *axes: Any) -> Tensor:
        """Return a view with the axes in another order.

        Parameters
        ----------
        *axes : int, or one sequence of int
            Each axis once. Negative numbers count from the last axis.

        Returns
        -------
        Tensor
            A view. Its axis ``i`` is the axis ``axes[i]`` of this tensor.

        Raises
        ------
        ValueError
            `axes` is not a permutation of all axes.
        TypeError
            `axes` has a value that is not an int.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.zeros((2, 3, 4))
        >>> t.permute(-1, 0, 1).shape
        (4, 2, 3)
        >>> t.permute((0, 2, 1)).strides
        (12, 1, 4)
        """

    def copy(self) -> Tensor:
        """Copy the elements to new memory.

        Returns
        -------
        Tensor
            A C-contiguous, writable copy. It is on the same CUDA device if the
            tensor is on one, else on the CPU.

        Raises
        ------
        BufferError
            The memory is neither on a CUDA device nor readable by the CPU.
        MemoryError
            There is not enough memory.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.asarray(b"abc")[::-1]
        >>> t.readonly, t.copy().readonly
        (True, False)
        >>> t.strides, t.copy().strides
        ((-1,), (1,))
        """

    def astype(self, dtype: Any, /) -> Tensor:
        """Convert the elements to another dtype.

        Parameters
        ----------
        dtype : DType, str or dtype of another library
            The new type of the elements.

        Returns
        -------
        Tensor
            A C-contiguous, writable copy on the CPU, also if the dtype is the
            same.

        Raises
        ------
        TypeError
            `dtype` is not a dtype, or a conversion between the two does not
            exist: of handles, and of parts of more than 64 bits.
        ValueError
            `dtype` is an unknown name, or has another number of lanes.
        BufferError
            The CPU cannot read the memory.

        Notes
        -----
        The conversion is that of numpy and ml_dtypes. docs/dtypes.md has the
        rules for rounding, overflow and NaN. No value is an error.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.full((2,), 464.5)
        >>> t.astype("float8_e4m3fn").tolist()
        [nan, nan]
        >>> t.astype("uint8").tolist()
        [208, 208]
        """

    def contiguous(self) -> Tensor:
        """Return a C-contiguous tensor with the same elements.

        Returns
        -------
        Tensor
            The tensor itself if it is C-contiguous, else a copy; see `copy`.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.zeros((2, 3))
        >>> t.contiguous() is t
        True
        >>> t.T.contiguous().strides
        (2, 1)
        """

    def item(self) -> Any:
        """Return the only element as a Python number.

        Returns
        -------
        int, float, complex or bool
            The element. A vector such as float32x4 is a tuple of numbers. A
            handle or a float128 is bytes, since Python has no number for it.

        Raises
        ------
        ValueError
            The tensor does not have exactly one element.
        BufferError
            The CPU cannot read the memory.

        Examples
        --------
        >>> import godlpack as gd
        >>> gd.full((1, 1), -3, "int4").item()
        -3
        >>> gd.full((), 0.5, "float32x2").item()
        (0.5, 0.5)
        """

    def tolist(self) -> _Nested:
        """Return the elements as nested lists of Python numbers.

        Returns
        -------
        list
            A list for each axis. The elements are as `item` returns them. A
            tensor of 0 dimensions gives the element itself.

        Raises
        ------
        BufferError
            The CPU cannot read the memory.

        Examples
        --------
        >>> import godlpack as gd
        >>> gd.asarray(b"abcd").reshape(2, 2).T.tolist()
        [[97, 99], [98, 100]]
        """

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]:
        """Take the tensor apart for pickle.

        Parameters
        ----------
        protocol : int
            Protocol of the pickle. From 5 on the elements are a
            ``pickle.PickleBuffer``, which can travel out of band (PEP 574).

        Returns
        -------
        tuple
            A function and its arguments, which make the tensor again. That
            tensor is C-contiguous. It is read-only if this one is, or if its
            out-of-band buffer is.

        Raises
        ------
        BufferError
            The CPU cannot read the memory.

        Notes
        -----
        Protocol 5 does not copy the elements of a C-contiguous tensor.
        """

    @overload
    def to(self, like: str | Device, /) -> Tensor:
        """Make an object of another library, or move the tensor to a device.

        Parameters
        ----------
        like : type, array, str or Device
            An array type (torch.Tensor, numpy.ndarray, jax.Array,
            cupy.ndarray, ...) or an array of that type; or a device, such as
            'cpu' or 'cuda:0'.

        Returns
        -------
        object
            For an array type or an array: an object of that library over the
            same memory. For a device: the tensor itself if it is there, else a
            copy.

        Raises
        ------
        BufferError
            The library cannot take the tensor without a copy, or the memory
            cannot be copied to the device. A read-only tensor is refused by
            every library but numpy and jax (R43).
        TypeError
            `like` is neither an array type, an array nor a device.
        ValueError
            `like` is the name of an unknown device.

        Examples
        --------
        >>> import numpy as np
        >>> import godlpack as gd
        >>> t = gd.full((2, 3), 1.5)
        >>> a = t[:, ::-1].to(np.ndarray)
        >>> a.strides
        (12, -4)
        >>> a[0, 0] = 7
        >>> t.tolist()
        [[1.5, 1.5, 7.0], [1.5, 1.5, 1.5]]
        >>> t.to("cpu") is t
        True
        """

    @overload
    def to(self, like: type[_T], /) -> _T: ...
    @overload
    def to(self, like: _T, /) -> _T: ...
    def __len__(self) -> int:
        """Return the extent of the first axis; TypeError for 0 dimensions."""
    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over views along the first axis; TypeError for 0 dimensions."""
    def __getitem__(self, key: _Index | tuple[_Index, ...], /) -> Tensor:
        """Return a view of part of the tensor.

        Parameters
        ----------
        key : int, slice, None, ellipsis or tuple of these
            The part. None adds an axis of extent 1.

        Returns
        -------
        Tensor
            A view of the same memory. An index for each axis gives a tensor of
            0 dimensions.

        Raises
        ------
        IndexError
            An index is out of range, or there are too many indices.
        TypeError
            `key` has another type, such as bool or list.
        BufferError
            The view of packed elements would begin inside a byte.
        """

    def __dlpack__(
        self,
        /,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """Export the memory as a DLPack capsule.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream, which then waits for the work on the calling
            thread's current stream (see `godlpack.cuda`). On CUDA: None or 1
            for the default stream, 2 for the thread's own one, a handle, or -1
            for no wait (R28). On the CPU: None or -1 (R27).
        max_version : tuple of two int, optional
            The consumer's DLPack version. From (1, 0) on the capsule is
            "dltensor_versioned", else the legacy "dltensor" (R4, R5).
        dl_device : tuple of two int, optional
            DLPack's type and number of the device to export to (R26). Default:
            the tensor's own.
        copy : bool, optional
            True copies always, False never. Default: copy only if `dl_device`
            is another device (R25).

        Returns
        -------
        capsule
            A capsule that owns a managed tensor.

        Raises
        ------
        BufferError
            The tensor cannot be exported as asked: it is read-only or padded
            and the capsule is a legacy one (R23), `copy` is False and
            `dl_device` is another device, or that device does not exist.
        TypeError
            An argument has the wrong type, or is not passed by keyword (R1).
        ValueError
            `stream` is not a stream of the device, or `copy` is a str.

        Notes
        -----
        The array API 2024.12 specifies this method. It keeps the rules R1 to
        R32 of docs/conformance.md.

        Examples
        --------
        >>> import godlpack as gd
        >>> t = gd.asarray(b"abc")
        >>> "dltensor_versioned" in repr(t.__dlpack__(max_version=(1, 0)))
        True
        >>> t.__dlpack__(stream=1, max_version=(1, 0))
        Traceback (most recent call last):
            ...
        ValueError: __dlpack__() argument 'stream': 1 is not a stream of device cpu
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and device number.

        Returns
        -------
        tuple of two int
            The type, a value of `DeviceType`, and the number. The memory of the
            host has number 0 (R30).

        Notes
        -----
        The array API 2024.12 specifies this method.

        Examples
        --------
        >>> import godlpack as gd
        >>> gd.zeros(3).__dlpack_device__()
        (1, 0)
        """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Make a NumPy array over the same memory.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            Convert the elements to this dtype, by NumPy's rules. Default: the
            dtype of the tensor.
        copy : bool, optional
            True copies always, False never. Default: copy only to convert.

        Returns
        -------
        numpy.ndarray
            The array. An array that shares memory is read-only if the tensor
            is.

        Raises
        ------
        ValueError
            `copy` is False and the conversion needs a copy.
        BufferError
            NumPy does not have the dtype, or the CPU cannot read the memory.
        ImportError
            NumPy is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import godlpack as gd
        >>> t = gd.asarray(b"abc")
        >>> np.asarray(t).flags.writeable
        False
        >>> np.asarray(t, dtype="f8")
        array([97., 98., 99.])
        """

    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]:
        """Export the tensor as an Arrow array.

        Parameters
        ----------
        requested_schema : capsule "arrow_schema", optional
            A type of Arrow to convert to. It must hold every value of the
            tensor's dtype. Default: the type of the tensor's dtype.

        Returns
        -------
        tuple of two capsules
            An "arrow_schema" and an "arrow_array". They share the memory if the
            elements lie without gaps, are aligned and are not converted.

        Raises
        ------
        BufferError
            The tensor does not have exactly 1 dimension, Arrow does not have
            its dtype (it has integers of 8 to 64 bits and floats of 16 to 64),
            the requested type does not hold it, or the CPU cannot read the
            memory.
        TypeError
            `requested_schema` is not a capsule "arrow_schema".

        Notes
        -----
        The Arrow PyCapsule interface specifies this method.
        """

    def __buffer__(self, flags: int, /) -> memoryview:
        """Share the memory by the buffer protocol; see ``memoryview(t)``.

        Raises BufferError for memory that the CPU cannot read, for a dtype that
        the protocol cannot describe, and for a writable buffer of a read-only
        tensor.
        """

    def __release_buffer__(self, buffer: memoryview, /) -> None:
        """Release a buffer of `__buffer__`."""

@final
class Function:
    """A function of a library of Go functions.

    `load_module`, `load` and `load_inline` make these objects. A function
    takes tensors of any library in place and other arguments by value. It
    copies a tensor to read that is misaligned or that its declaration
    converts. It returns tensors of the library of its first tensor
    argument; without one, of the library that its author declared, else of
    godlpack. Its docstring comes from the Go source.

    Notes
    -----
    A function that returns tensors has two more keyword arguments. `like`
    is an array type or an array, and chooses the library of the results.
    `out` is a tensor, or a tuple of tensors, that the results are written
    to; a function that returns a list of tensors does not have it.
    """

    def __new__(cls, *args: Never) -> Never: ...
    @property
    def __name__(self) -> str:
        """Name of the function."""
    @property
    def __qualname__(self) -> str:
        """Name of the function, without its module."""
    @property
    def __text_signature__(self) -> str:
        """Signature as text, such as '(x, axis=-1, *, like=None, out=None)'."""
    @property
    def __signature__(self) -> Signature:
        """Signature, as ``inspect.signature`` returns it."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the Go function."""
    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle the function by its library, or by its module and name."""
    def __copy__(self) -> Function:
        """Return the function itself."""
    def __deepcopy__(self, memo: Any, /) -> Function:
        """Return the function itself."""

@final
class Method:
    """A method of a class of a library of Go functions.

    It is a `Function` whose first parameter is the object. As an attribute
    of an object, it is bound to the object.
    """

    def __new__(cls, *args: Never) -> Never: ...
    @property
    def __name__(self) -> str:
        """Name of the function."""
    @property
    def __qualname__(self) -> str:
        """Name of the function, without its module."""
    @property
    def __text_signature__(self) -> str:
        """Signature as text, such as '(x, axis=-1, *, like=None, out=None)'."""
    @property
    def __signature__(self) -> Signature:
        """Signature, as ``inspect.signature`` returns it."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the Go function."""
    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle the function by its library, or by its module and name."""
    def __copy__(self) -> Method:
        """Return the function itself."""
    def __deepcopy__(self, memo: Any, /) -> Method:
        """Return the function itself."""
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        """Return the method bound to `instance`, or the method itself."""

@disjoint_base
class Object:
    """Base of the classes that libraries of Go functions export.

    An object stands for an object of Go and keeps it alive. The same Go
    object is the same Python object as long as that lives. The classes can
    be subclassed; a subclass with an ``__init__`` calls
    ``super().__init__``.

    Notes
    -----
    An object belongs to the process that made it. After ``os.fork()`` the
    child cannot use it: methods raise RuntimeError. Classes whose Go type
    has ``MarshalBinary`` and ``UnmarshalBinary`` can be pickled and copied.

    Objects can be used from several threads at once. Calls then run at the
    same time in Go: whether that is safe is documented by the author.
    """

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Raise TypeError: the object cannot be pickled."""

def from_dlpack(
    x: _Producer | CapsuleType, /, *, device: str | Device | None = None, copy: bool | None = None
) -> Tensor:
    """Make a tensor that shares the memory of another library's tensor.

    Parameters
    ----------
    x : object with ``__dlpack__``, or a DLPack capsule
        A tensor of any library that has DLPack's exchange table or
        ``__dlpack__``, or a capsule that nobody consumed. The call
        consumes the capsule.
    device : str or Device, optional
        Device of the result, such as 'cpu' or 'cuda:0'. Default: the
        device of `x`.
    copy : bool, optional
        True copies always, False never. Default: copy only if `device` is
        not the device of `x`.

    Returns
    -------
    Tensor
        A tensor over the memory of `x`, or over a copy of it. A tensor that
        shares memory is read-only if `x` reports it, and always if `x` is an
        array of jax or pyarrow, since these are immutable.

    Raises
    ------
    BufferError
        The memory cannot be shared as asked. For example, `x` requires
        grad, is a lazy conjugate or is sparse, its dtype does not exist in
        DLPack, or `copy` is False and `device` is another device.
    TypeError
        `x` is not a tensor, or `device` is not a device.
    ValueError
        `device` names an unknown device, `copy` is a str, or the capsule
        was consumed before.

    See Also
    --------
    asarray : Also takes buffers and array interfaces, and converts.
    Tensor.to : Make an object of another library.

    Notes
    -----
    The array API 2024.12 specifies this function. It keeps the rules R33 to
    R49 and R62 to R67 of docs/conformance.md. An exception of the
    producer's ``__dlpack__`` is raised unchanged (R49).

    Examples
    --------
    >>> import numpy as np
    >>> import godlpack as gd
    >>> x = np.arange(6, dtype=np.int16).reshape(2, 3)
    >>> t = gd.from_dlpack(x[:, ::-1])
    >>> t.shape, t.strides, t.dtype
    ((2, 3), (3, -1), DType('int16'))
    >>> x[0, 2] = 9
    >>> t.tolist()
    [[9, 1, 0], [5, 4, 3]]
    >>> gd.from_dlpack(x, device="cuda:0", copy=False)
    Traceback (most recent call last):
        ...
    BufferError: moving from cpu to cuda:0 needs a copy, and copy=False
    """

def asarray(obj: Buffer | _Producer | CapsuleType, /, *, dtype: Any = None, copy: bool | None = None) -> Tensor:
    """Make a tensor from any object that gives access to its memory.

    Parameters
    ----------
    obj : tensor, DLPack capsule, buffer or array interface
        A tensor of any library, a DLPack capsule, or an object with the
        buffer protocol (bytes, bytearray, memoryview, array.array, mmap),
        ``__array_interface__`` or ``__cuda_array_interface__``. The first
        of these that `obj` has is used, DLPack before all others.
    dtype : DType, str or dtype of another library, optional
        Convert the elements to this dtype. Default: the dtype of `obj`.
    copy : bool, optional
        True copies always, False never. Default: copy only to convert.

    Returns
    -------
    Tensor
        A tensor over the memory of `obj`, or over a copy of it. A tensor
        that shares memory is read-only if the memory must not be written.

    Raises
    ------
    BufferError
        The memory cannot be shared as asked, or a conversion needs a copy
        and `copy` is False.
    TypeError
        `obj` gives no access to memory, `dtype` is not a dtype, or
        `Tensor.astype` does not convert between the two dtypes.
    ValueError
        `dtype` is an unknown name, `copy` is a str, or the capsule was
        consumed before.

    See Also
    --------
    from_dlpack : The function of the array API, only for DLPack.
    Tensor.astype : The rules of the conversion.

    Notes
    -----
    An object with ``__cuda_array_interface__`` may name a stream. The
    calling thread's current stream then waits for it; see `godlpack.cuda`.

    Examples
    --------
    >>> import array
    >>> import godlpack as gd
    >>> gd.asarray(b"ab")
    Tensor([97, 98], dtype=uint8, shape=(2,), device='cpu', readonly=True)
    >>> numbers = array.array("d", [0.5, -2.75])
    >>> t = gd.asarray(numbers)
    >>> numbers[0] = 4
    >>> t.tolist()
    [4.0, -2.75]
    >>> gd.asarray(numbers, dtype="int8").tolist()
    [4, -2]
    """

def empty(shape: _Shape, dtype: Any = "float32", *, device: str | Device | None = None) -> Tensor:
    """Create a C-contiguous tensor without setting its elements.

    Parameters
    ----------
    shape : int or sequence of int
        Extents of the axes, each 0 or more, at most 64 of them.
    dtype : DType, str or dtype of another library, default 'float32'
        Type of the elements.
    device : str or Device, optional
        'cpu', a CUDA device such as 'cuda:0', or memory of the host that
        CUDA allocates: 'cuda_host' (pinned) or 'cuda_managed'. Default:
        'cpu'.

    Returns
    -------
    Tensor
        A new writable tensor. Its memory is aligned to 256 bytes. Its
        elements have arbitrary values.

    Raises
    ------
    ValueError
        An extent is negative, there are more than 64 extents or 2**63
        elements or more, `dtype` or `device` is an unknown name, or there
        is no CUDA device of that number.
    TypeError
        An argument has the wrong type.
    MemoryError
        There is not enough memory.
    BufferError
        Memory cannot be allocated on `device`, or there is no CUDA driver.

    See Also
    --------
    zeros : Create a tensor of zeros.
    full : Create a tensor with one value.

    Examples
    --------
    >>> import godlpack as gd
    >>> t = gd.empty((2, 0, 3), "bfloat16")
    >>> t.shape, t.dtype, t.nbytes
    ((2, 0, 3), DType('bfloat16'), 0)
    >>> gd.empty(3, "int4").nbytes
    2
    >>> gd.empty(-1)
    Traceback (most recent call last):
        ...
    ValueError: empty() argument 'shape': want extents >= 0, got -1 ...
    """

def zeros(shape: _Shape, dtype: Any = "float32", *, device: str | Device | None = None) -> Tensor:
    """Create a C-contiguous tensor whose elements are zero.

    Parameters
    ----------
    shape : int or sequence of int
        Extents of the axes, each 0 or more, at most 64 of them.
    dtype : DType, str or dtype of another library, default 'float32'
        Type of the elements.
    device : str or Device, optional
        'cpu', a CUDA device such as 'cuda:0', or memory of the host that
        CUDA allocates: 'cuda_host' (pinned) or 'cuda_managed'. Default:
        'cpu'.

    Returns
    -------
    Tensor
        A new writable tensor. Its memory is aligned to 256 bytes.

    Raises
    ------
    ValueError
        An extent is negative, there are more than 64 extents or 2**63
        elements or more, `dtype` or `device` is an unknown name, or there
        is no CUDA device of that number.
    TypeError
        An argument has the wrong type.
    MemoryError
        There is not enough memory.
    BufferError
        Memory cannot be allocated on `device`, or there is no CUDA driver.

    See Also
    --------
    empty : Create a tensor without setting its elements.
    full : Create a tensor with one value.

    Examples
    --------
    >>> import godlpack as gd
    >>> gd.zeros((2, 3), "int16").tolist()
    [[0, 0, 0], [0, 0, 0]]
    >>> gd.zeros((), "complex64").item()
    0j
    """

def full(shape: _Shape, value: _Number, dtype: Any = "float32", *, device: str | Device | None = None) -> Tensor:
    """Create a C-contiguous tensor whose elements have one value.

    Parameters
    ----------
    shape : int or sequence of int
        Extents of the axes, each 0 or more, at most 64 of them.
    value : int, float, complex or bool
        Value of each element.
    dtype : DType, str or dtype of another library, default 'float32'
        Type of the elements.
    device : str or Device, optional
        'cpu', a CUDA device such as 'cuda:0', or memory of the host that
        CUDA allocates: 'cuda_host' (pinned) or 'cuda_managed'. Default:
        'cpu'.

    Returns
    -------
    Tensor
        A new writable tensor. Its memory is aligned to 256 bytes.

    Raises
    ------
    ValueError
        An extent is negative, there are more than 64 extents or 2**63
        elements or more, `dtype` or `device` is an unknown name, or there
        is no CUDA device of that number.
        `dtype` is an integer type that does not hold `value` (300 or NaN in
        uint8), or `dtype` is real and `value` is complex.
    TypeError
        An argument has the wrong type.
    MemoryError
        There is not enough memory.
    BufferError
        Memory cannot be allocated on `device`, or there is no CUDA driver.

    See Also
    --------
    empty : Create a tensor without setting its elements.
    zeros : Create a tensor of zeros.

    Notes
    -----
    An integer dtype takes `value` without its fraction. A floating-point
    dtype takes the nearest number; docs/dtypes.md says what a number beyond
    its range becomes. The dtype bool takes False for 0, else True.

    Examples
    --------
    >>> import godlpack as gd
    >>> gd.full((2, 2), 1.5, "float8_e4m3fn").tolist()
    [[1.5, 1.5], [1.5, 1.5]]
    >>> gd.full(3, -2.75, "int8").tolist()
    [-2, -2, -2]
    >>> gd.full(2, 1e40).tolist()
    [inf, inf]
    >>> gd.full(3, 300, "uint8")
    Traceback (most recent call last):
        ...
    ValueError: full() argument 'value': uint8: 300 does not fit
    """

def get_build_info() -> _BuildInfo:
    """Describe this build and the state of its Go runtime.

    Returns
    -------
    dict
        The versions 'godlpack', 'go' and 'dlpack'; 'platform' (such as
        'linux/amd64'); 'abi' (of Python, such as 'cp311-abi3');
        'runtime_start', 'lazy' if Go's runtime starts when it is first
        needed, or 'eager' if it starts at import; 'runtime_generation', the
        number of times that Go was started again after a fork; and
        'fast_paths', the names of the types that have a fast path by now.

    Notes
    -----
    The call starts Go's runtime if it does not run yet.

    Examples
    --------
    >>> import godlpack as gd
    >>> info = gd.get_build_info()
    >>> info["dlpack"], info["runtime_generation"]
    ('1.3', 0)
    """

def _rebuild(buffer: Buffer, dtype: str, shape: tuple[int, ...], flags: int, /) -> Tensor:
    """Make the tensor that `Tensor.__reduce_ex__` took apart."""

def _layout() -> dict[str, int]:
    """Return sizes, offsets and constants of DLPack's records, by C name."""

def _function(
    path: str,
    check: Callable[[list[tuple[str, str]], str | None, str | None, bool], None],
    index: int,
    name: str,
    qualname: str,
    module: str,
    doc: str,
    text_signature: str,
    names: tuple[str, ...],
    writes: int,
    outputs: int,
    holds: bool,
    like: str | None,
    role: int = 0,
    converts: tuple[Callable[[Any], Any] | None, ...] | None = None,
    positional: int = -1,
    variadic: int = -1,
    offset: int = 0,
    format: str = "\0",
    class_number: int = 0,
    /,
) -> Function | Method: ...
def _set_classes(path: str, check: Callable[..., None], classes: tuple[type[Object], ...], /) -> None: ...
def _choose_threads(n: int, /) -> int: ...
def _threads(n: int, /) -> int:
    """Set the number of threads of this library's Go.

    `n` is the new number, 0 for the number that Go chooses, or -1 to leave
    it unchanged. Returns the number before.
    """

def _declarations(
    path: str, check: Callable[[list[tuple[str, str]], str | None, str | None, bool], None], /
) -> tuple[list[tuple[str, str]], str | None, str | None]: ...
def _counters() -> dict[str, int]:
    """Count the storages, exports and imports made and freed so far."""

def _swap_stream(stream: Any, device: Any, /) -> tuple[int, int]:
    """Set the calling thread's current stream.

    Returns the number of the stream's device and the handle before.
    """

def _current_stream(device: Any, /) -> int:
    """See `godlpack.cuda.current_stream`."""

def _synchronize(device: Any, /) -> None:
    """See `godlpack.cuda.synchronize`."""

def _device_count() -> int:
    """See `godlpack.cuda.device_count`."""
