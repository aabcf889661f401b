/* Every way into Go, by name: what Python can call, with the docstrings Python shows. A line here makes
   the operation's number (GD_OP_...), its trampoline and its entry in a method table; its Go function is
   registered under the same number. */
#ifndef GODLPACK_OPS_H
#define GODLPACK_OPS_H

/* M(owner, name, Python's name, docstring) */
#define GD_MODULE_METHODS(M) \
  M(module, empty, "empty", \
    "empty(shape, dtype='float32', *, device=None)\n--\n\n" \
    "A new C-contiguous tensor of undefined content.\n\n" \
    "shape: an int or a sequence of ints, each >= 0, at most 64 of them. dtype: a DType, its name, or another\n" \
    "library's dtype. device: None or 'cpu', 'cuda:0', 'cuda_host', 'cuda_managed'. The memory is aligned to 256 bytes.\n" \
    "Raises ValueError for a bad shape, dtype or device, MemoryError if there is not enough memory, BufferError for\n" \
    "other devices, and without a CUDA driver.") \
  M(module, zeros, "zeros", \
    "zeros(shape, dtype='float32', *, device=None)\n--\n\n" \
    "A new C-contiguous tensor whose elements are all zero. Arguments and errors as for empty().") \
  M(module, full, "full", \
    "full(shape, value, dtype='float32', *, device=None)\n--\n\n" \
    "A new C-contiguous tensor whose elements all have the value: an int, float, complex or bool that the dtype\n" \
    "can hold. Raises ValueError if it cannot (300 in uint8, 1j in float32); otherwise as empty().") \
  M(module, asarray, "asarray", \
    "asarray(obj, /, *, dtype=None, copy=None)\n--\n\n" \
    "A tensor over obj's memory: a tensor of any DLPack library, a DLPack capsule, or an object with the buffer\n" \
    "protocol (bytes, bytearray, memoryview, array.array, mmap), __array_interface__ or __cuda_array_interface__,\n" \
    "whose stream our current one then waits for. Memory that must not be written gives a\n" \
    "read-only tensor. dtype: convert to this one. copy: True always copies, False never does, None only if it must.\n" \
    "Raises BufferError if the memory cannot be shared as asked, TypeError for an object that has none.") \
  M(module, get_build_info, "get_build_info", \
    "get_build_info()\n--\n\n" \
    "What this build is, as a dict: versions of godlpack, Go and DLPack; whether the Go runtime starts when it is first\n" \
    "needed ('lazy') or at import ('eager'), and how many forks ago the first one was; which types have a fast lane by now.") \
  M(module, layout, "_layout", \
    "_layout()\n--\n\nSizes, offsets and constants of DLPack as this module has them, by their C names.") \
  M(module, rebuild, "_rebuild", \
    "_rebuild(buffer, dtype, shape, flags, /)\n--\n\nThe tensor that Tensor.__reduce_ex__ took apart.") \
  M(module, swap_stream, "_swap_stream", \
    "_swap_stream(stream, device, /)\n--\n\nMakes a stream current in this thread, and returns its device's number and the handle before.") \
  M(module, current_stream, "_current_stream", "_current_stream(device, /)\n--\n\nSee godlpack.cuda.current_stream.") \
  M(module, synchronize, "_synchronize", "_synchronize(device, /)\n--\n\nSee godlpack.cuda.synchronize.") \
  M(module, device_count, "_device_count", "_device_count()\n--\n\nSee godlpack.cuda.device_count.") \
  M(module, threads, "_threads", \
    "_threads(n, /)\n--\n\nHow many threads this library's Go computes in: n from now on, for 0 what it chooses, for -1 what it was.") \
  M(module, scoreboard, "_scoreboard", \
    "_scoreboard()\n--\n\nHow many storages, exports and imports were made and given back so far, as a dict.")

#define GD_TENSOR_METHODS(M) \
  M(tensor, copy, "copy", \
    "copy($self, /)\n--\n\nA C-contiguous, writable copy in new memory, on the same CUDA device or the CPU.") \
  M(tensor, contiguous, "contiguous", \
    "contiguous($self, /)\n--\n\nThe tensor itself if it is C-contiguous, else a copy that is.") \
  M(tensor, is_contiguous, "is_contiguous", \
    "is_contiguous($self, /, order='C')\n--\n\n" \
    "Whether the elements lie without gaps, the last axis fastest (order 'C') or the first ('F'). Extents of 1 and\n" \
    "empty tensors never matter. Raises ValueError for another order.") \
  M(tensor, reshape, "reshape", \
    "reshape($self, /, *shape)\n--\n\n" \
    "A view of the same elements, in row-major order, under another shape; one extent may be -1.\n" \
    "Raises ValueError if the sizes differ, BufferError where only a copy would do.") \
  M(tensor, permute, "permute", \
    "permute($self, /, *axes)\n--\n\n" \
    "A view with the axes in another order. Raises ValueError unless axes are a permutation of all axes.") \
  M(tensor, astype, "astype", \
    "astype($self, dtype, /)\n--\n\n" \
    "A C-contiguous copy with the elements converted to dtype, as numpy and ml_dtypes convert them: docs/dtypes.md has\n" \
    "the rules for rounding, overflow and NaN. Raises TypeError for types that are no numbers, ValueError if the\n" \
    "lanes differ.") \
  M(tensor, item, "item", \
    "item($self, /)\n--\n\nThe only element, as a Python number. Raises ValueError if there is not exactly one.") \
  M(tensor, reduce_ex, "__reduce_ex__", \
    "__reduce_ex__($self, protocol, /)\n--\n\n" \
    "Pickles the elements; from protocol 5 on as a buffer that can travel out of band, without a copy (PEP 574).") \
  M(tensor, array, "__array__", \
    "__array__($self, /, dtype=None, copy=None)\n--\n\n" \
    "An array of NumPy over the same memory, read-only if the tensor is; converted to dtype, or copied, as numpy.asarray\n" \
    "would. Raises ValueError if copy=False and only a copy would do, BufferError if NumPy has no such dtype.") \
  M(tensor, arrow, "__arrow_c_array__", \
    "__arrow_c_array__($self, /, requested_schema=None)\n--\n\n" \
    "The tensor as an Arrow array, a pair of capsules: 1 dimension of integers or floats, without a copy if they lie side\n" \
    "by side. Raises BufferError for other tensors. Source: the Arrow PyCapsule interface.") \
  M(tensor, tolist, "tolist", \
    "tolist($self, /)\n--\n\nThe elements as nested lists of Python numbers (a number for a tensor of 0 dimensions).")

/* Types' own methods and slots, which Python reaches by syntax. */
#define GD_DTYPE_METHODS(M) \
  M(dtype, reduce, "__reduce__", NULL)
#define GD_DEVICE_METHODS(M) \
  M(device, reduce, "__reduce__", NULL)

/* Operations whose C side is written by hand: lanes, slots, getters. */
#define GD_OTHER_OPS(M) \
  M(module, from_dlpack) M(module, take_answer) M(module, adopt) M(module, make_dtype) M(module, make_device) M(module, numpy_dtype) \
  M(tensor, to) M(tensor, dlpack) M(tensor, repr) M(tensor, subscript) M(tensor, iter) M(tensor, transpose) M(tensor, array_interface) \
  M(tensor, cuda_array_interface) \
  M(dtype, new) M(dtype, compare) M(dtype, numpy) M(device, new) M(device, compare) \
  M(function, argument) M(function, like) M(function, out) M(function, convert) M(function, fill) \
  M(function, allocate) M(function, learn_torch)

#define GD_OP_NAME(owner, name, ...) GD_OP_##owner##_##name,
enum gd_op {
  GD_MODULE_METHODS(GD_OP_NAME) GD_TENSOR_METHODS(GD_OP_NAME) GD_DTYPE_METHODS(GD_OP_NAME)
  GD_DEVICE_METHODS(GD_OP_NAME) GD_OTHER_OPS(GD_OP_NAME) GD_OP_COUNT
};
#undef GD_OP_NAME

#define GD_DOC_FROM_DLPACK \
  "from_dlpack(x, /, *, device=None, copy=None)\n--\n\n" \
  "A tensor over the memory of x: an object with DLPack's exchange table or __dlpack__, or a DLPack capsule.\n\n" \
  "Nothing is copied unless copy=True, or unless device names another device. The result is read-only if x says\n" \
  "so, and always for arrays of jax and pyarrow, which are immutable.\n" \
  "Raises BufferError if x cannot be shared as asked (it requires grad, is conjugated, is sparse, ...), TypeError\n" \
  "if x is no tensor, ValueError for a bad device; errors of x's own __dlpack__ come through unchanged.\n" \
  "Source: array API 2024.12, from_dlpack."
#define GD_DOC_TO \
  "to($self, like, /)\n--\n\n" \
  "The same memory as an object of another library, by the fastest road there is. like: an array type\n" \
  "(torch.Tensor, numpy.ndarray, jax.Array, cupy.ndarray, ...) or an object of one; or a device ('cpu', 'cuda:0', ...),\n" \
  "on which it is copied, unless it is there already.\n" \
  "Raises BufferError if that library cannot take the tensor without a copy, TypeError if like is neither."
#define GD_DOC_DLPACK \
  "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n" \
  "A capsule that shares this tensor's memory: 'dltensor_versioned' if max_version is (1, 0) or later, else the\n" \
  "legacy 'dltensor'. Raises BufferError if the tensor cannot be exported as asked (a read-only tensor in a\n" \
  "legacy capsule, another device without a copy). On CUDA, stream (None and 1: the default one; -1: none) waits for\n" \
  "godlpack.cuda.current_stream(). Source: array API 2024.12, __dlpack__."
#define GD_DOC_DLPACK_DEVICE \
  "__dlpack_device__($self, /)\n--\n\nDLPack's device type and device number. Source: array API 2024.12."
#define GD_DOC_TENSOR \
  "An n-dimensional array whose memory may belong to any library that speaks DLPack.\n\n" \
  "Made by from_dlpack(), asarray(), empty(), zeros() and full(); never by its type."
#define GD_DOC_DTYPE \
  "DType(x, /)\n--\n\n" \
  "The type of an element: DLPack's code, bits and lanes. x: a name such as 'float32', 'bfloat16',\n" \
  "'float8_e4m3fn', 'int4' or 'float32x4', or another library's dtype. Equal to its name and to the dtype of\n" \
  "other libraries that says the same. Raises ValueError for an unknown name, TypeError for what is no dtype."
#define GD_DOC_DEVICE \
  "Device(x, /, id=0)\n--\n\n" \
  "Where memory is: a DeviceType and a number. x: a name such as 'cpu' or 'cuda:1', a DeviceType, or DLPack's pair. Equal to its\n" \
  "name. Raises ValueError for an unknown device, TypeError for what is none."
#define GD_DOC_FUNCTION \
  "A function of a library of Go functions, made by load_module().\n\n" \
  "It takes any library's tensors where they are, other arguments by value, and gives its results back in the library\n" \
  "of its first tensor argument. Functions that return tensors also have the keywords like= (an array type, or an\n" \
  "array: whose library the results are to be of) and out= (a tensor, or a tuple of them: where the results go)."

#endif
