/* The Python objects: Tensor, and its descriptors DType and Device. */
#ifndef GODLPACK_TENSOR_H
#define GODLPACK_TENSOR_H

#include "storage.h"

typedef struct {
  PyObject_HEAD
  PyObject *weakrefs;
  gd_storage *storage;            /* shared with views and exports; NULL if there is nothing to hold, or: */
  DLManagedTensorVersioned *sole; /* held by this tensor alone, until it is shared */
  uint64_t flags;                 /* DLPack's: read-only, padded */
  DLTensor t;                     /* shape and strides point into dims */
  int64_t dims[];
} gd_tensor;

extern PyTypeObject *gd_tensor_type, *gd_dtype_type, *gd_device_type;

PyObject *gd_tensor_new(const DLTensor *t, uint64_t flags, gd_storage *stolen);
PyObject *gd_tensor_make(uintptr_t data, DLDevice device, DLDataType dtype, int32_t ndim, int64_t *shape,
                         int64_t *strides, uint64_t flags, gd_storage *storage);
PyObject *gd_tensor_view(gd_tensor *x, int64_t offset, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides,
                         uint64_t flags);
bool gd_fast_path_ok(const DLTensor *t);
/* Reports whether p can be an address: none is in the first page. A smaller number is an error, and would end Go. */
static inline bool gd_is_address(const void *p) { return (uintptr_t)p >= 4096; }
/* Returns the number of elements if they are exactly in row-major order, extents of 1 included; 0 if not, or if there are
   none. */
static inline int64_t gd_compact_count(const DLTensor *t) {
  int64_t step = 1;
  for (int i = t->ndim - 1; i >= 0; i--)
    if (t->strides[i] != step || __builtin_mul_overflow(step, t->shape[i], &step) || step <= 0) return 0;
  return step;
}
PyObject *gd_tuple_of(const int64_t *v, int n);
int64_t gd_element_count(const DLTensor *t);
int64_t gd_item_bits(DLDataType d, uint64_t flags);
int64_t gd_byte_count(const DLTensor *t, uint64_t flags);

int gd_tensor_exec(PyObject *module); /* makes the type; part of the module's execution */
int gd_descriptor_exec(PyObject *module);

/* A dtype or a device: an immutable value with a name. */
typedef struct {
  PyObject_HEAD
  PyObject *name;
  PyObject *kind; /* of a device: its DeviceType member; of a dtype: NULL */
  union {
    DLDataType dtype;
    DLDevice device;
    uint64_t key;
  } value;
  int itemsize; /* of a dtype */
} gd_descriptor;

PyObject *gd_descriptor_new(PyTypeObject *type, uint64_t key, PyObject *name, PyObject *kind, int itemsize);
typedef struct {
  uint64_t key;
  PyObject *descriptor;
} gd_descriptor_slot;
typedef gd_descriptor_slot gd_descriptor_cache[64];
PyObject *gd_descriptor_cached(gd_descriptor_cache cache, uint64_t key, int op);
static inline uint64_t gd_dtype_key(DLDataType d) { return (uint64_t)d.lanes << 16 | (uint64_t)d.bits << 8 | d.code; }
PyObject *gd_dtype_object(DLDataType d);
PyObject *gd_device_object(DLDevice d);

#endif
