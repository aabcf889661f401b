/* Every operation of Go that Python can call, by name. A line here makes the operation's number (GD_OP_...), its trampoline and
   its entry in a method table, with the docstring of that name (docstrings.h); its Go function is registered under the same
   number. */
#ifndef GODLPACK_OPS_H
#define GODLPACK_OPS_H

/* M(owner, name, Python's name) */
#define GD_MODULE_METHODS(M) \
  M(module, empty, "empty") \
  M(module, zeros, "zeros") \
  M(module, full, "full") \
  M(module, asarray, "asarray") \
  M(module, get_build_info, "get_build_info") \
  M(module, layout, "_layout") \
  M(module, rebuild, "_rebuild") \
  M(module, swap_stream, "_swap_stream") \
  M(module, current_stream, "_current_stream") \
  M(module, synchronize, "_synchronize") \
  M(module, device_count, "_device_count") \
  M(module, threads, "_threads") \
  M(module, counters, "_counters")

#define GD_TENSOR_METHODS(M) \
  M(tensor, copy, "copy") \
  M(tensor, contiguous, "contiguous") \
  M(tensor, is_contiguous, "is_contiguous") \
  M(tensor, reshape, "reshape") \
  M(tensor, permute, "permute") \
  M(tensor, astype, "astype") \
  M(tensor, item, "item") \
  M(tensor, reduce_ex, "__reduce_ex__") \
  M(tensor, array, "__array__") \
  M(tensor, arrow, "__arrow_c_array__") \
  M(tensor, tolist, "tolist")

/* Methods of DType and Device. */
#define GD_DTYPE_METHODS(M) M(dtype, reduce, "__reduce__")
#define GD_DEVICE_METHODS(M) M(device, reduce, "__reduce__")

/* Operations whose C side is written by hand: fast paths, slots, getters. */
#define GD_OTHER_OPS(M) \
  M(module, from_dlpack) \
  M(module, import_answer) \
  M(module, wrap_managed) \
  M(module, make_dtype) \
  M(module, make_device) \
  M(module, numpy_dtype) \
  M(tensor, to) \
  M(tensor, dlpack) \
  M(tensor, repr) \
  M(tensor, subscript) \
  M(tensor, iter) \
  M(tensor, transpose) \
  M(tensor, array_interface) \
  M(tensor, cuda_array_interface) \
  M(dtype, new) \
  M(dtype, compare) \
  M(dtype, numpy) \
  M(device, new) \
  M(device, compare) \
  M(function, argument) \
  M(function, like) \
  M(function, out) \
  M(function, convert) \
  M(function, fill) \
  M(function, allocate) \
  M(function, learn_torch)

#define GD_OP_NAME(owner, name, ...) GD_OP_##owner##_##name,
enum gd_op {
  GD_MODULE_METHODS(GD_OP_NAME) GD_TENSOR_METHODS(GD_OP_NAME) GD_DTYPE_METHODS(GD_OP_NAME) GD_DEVICE_METHODS(GD_OP_NAME)
      GD_OTHER_OPS(GD_OP_NAME) GD_OP_COUNT
};
#undef GD_OP_NAME

#endif
