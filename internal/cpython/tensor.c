/* The Python type Tensor. Its data is C, so that it survives the Go runtime; Go implements everything beyond reading it. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "docstrings.h"

GD_KEPT PyTypeObject *gd_tensor_type;

static bool address_data(DLDevice d) {
  switch (d.device_type) {
    case kDLCPU:
    case kDLCUDA:
    case kDLCUDAHost:
    case kDLROCM:
    case kDLROCMHost:
    case kDLCUDAManaged:
    case kDLOneAPI:
    case kDLTPUHost: return true;
    default: return false; /* data is a handle: byte_offset stays beside it */
  }
}

static void compact_strides(gd_tensor *x) {
  int64_t step = 1;
  for (int i = x->t.ndim - 1; i >= 0; i--) {
    x->t.strides[i] = step;
    step *= x->t.shape[i] > 0 ? x->t.shape[i] : 1;
  }
}

/* gd_tensor_new makes a Tensor of a checked record, copying shape and strides (compact if NULL, R40).
   Owns: takes storage on success; on failure NULL with MemoryError set, and storage is still the caller's. */
PyObject *gd_tensor_new(const DLTensor *t, uint64_t flags, gd_storage *storage) {
  size_t n = (size_t)t->ndim * sizeof(int64_t);
  gd_tensor *x = PyObject_Malloc(sizeof *x + 2 * n);
  if (x == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)x, gd_tensor_type);
  x->weakrefs = NULL;
  x->storage = storage;
  x->sole = NULL;
  x->flags = flags &
             (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED); /* R24: consumers need no IS_COPIED; R35: others are ignored */
  x->t = *t;
  x->t.shape = x->dims;
  x->t.strides = x->dims + t->ndim;
  if (address_data(t->device)) { /* R39 */
    if (t->data != NULL) x->t.data = (char *)t->data + t->byte_offset;
    x->t.byte_offset = 0;
  }
  if (n != 0) {
    memcpy(x->t.shape, t->shape, n);
    if (t->strides != NULL) memcpy(x->t.strides, t->strides, n);
    else compact_strides(x);
  }
  if (gd_element_count(&x->t) == 0 && address_data(t->device)) x->t.data = NULL; /* R15 */
  return (PyObject *)x;
}

/* gd_tensor_make is gd_tensor_new from parts: Go must not put pointers to its own memory into records.
   C because: (a).
   Owns: as for gd_tensor_new; shape and strides are copied. */
PyObject *gd_tensor_make(uintptr_t data, DLDevice device, DLDataType dtype, int32_t ndim, int64_t *shape,
                         int64_t *strides, uint64_t flags, gd_storage *storage) {
  DLTensor t = {(void *)data, device, ndim, dtype, shape, strides, 0};
  return gd_tensor_new(&t, flags, storage);
}

/* gd_tensor_view makes a Tensor over part of x's memory, offset bytes from its start, as elements of dtype.
   C because: (a).
   Owns: the result is the caller's and keeps the memory alive by itself; NULL with MemoryError set on failure. */
PyObject *gd_tensor_view(gd_tensor *x, int64_t offset, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides,
                         uint64_t flags) {
  DLTensor t = {x->t.data, x->t.device, ndim, dtype, shape, strides, x->t.byte_offset + (uint64_t)offset};
  if (!gd_tensor_share(x)) return NULL;
  PyObject *view = gd_tensor_new(&t, flags, gd_storage_retain(x->storage));
  if (view == NULL) gd_storage_release(x->storage);
  return view;
}

/* gd_tensor_share makes x's memory shareable by x->storage (NULL if there is nothing to hold). A managed tensor that x held
   alone moves into a storage for that.
   Owns: nothing passes; false with MemoryError set on failure. */
bool gd_tensor_share(gd_tensor *x) {
  if (x->sole == NULL) return true;
  x->storage = gd_storage_of_versioned(x->sole);
  if (x->storage == NULL) return PyErr_NoMemory(), false;
  x->sole = NULL;
  return true;
}

/* Releases what x holds. That may hold another tensor, and so on. Only storages are freed in turn (storage.c), so from some
   depth on the managed tensor is put into one. The depth is counted for all threads together, which costs next to nothing. */
static void release_memory(gd_tensor *x) {
  static GD_OWN int depth; /* under the GIL */
  if (depth >= GD_DEEPEST && x->sole != NULL && (x->storage = gd_storage_of_versioned(x->sole)) != NULL) x->sole = NULL;
  depth++;
  if (x->sole != NULL) {
    gd_counted->imports_deleted.held++;
    if (x->sole->deleter != NULL) x->sole->deleter(x->sole); /* R13: a producer may leave it out */
  }
  gd_storage_release(x->storage);
  depth--;
}

/* A deleter may be Python code, and must not run with an exception pending (R9). */
static void tensor_dealloc(PyObject *self) {
  gd_tensor *x = (gd_tensor *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject *class, *value, *trace;
  bool pending = PyErr_Occurred() != NULL;
  if (pending) PyErr_Fetch(&class, &value, &trace);
  if (x->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  release_memory(x);
  if (pending) PyErr_Restore(class, value, trace);
  PyObject_Free(self);
  Py_DecRef((PyObject *)type);
}

/* gd_tuple_of makes a tuple of ints. */
PyObject *gd_tuple_of(const int64_t *v, int n) {
  PyObject *tuple = PyTuple_New(n);
  for (int i = 0; tuple != NULL && i < n; i++) {
    PyObject *item = PyLong_FromLongLong(v[i]);
    if (item == NULL || PyTuple_SetItem(tuple, i, item) != 0) {
      Py_DecRef(tuple);
      return NULL;
    }
  }
  return tuple;
}

enum {
  SHAPE,
  STRIDES,
  NDIM,
  SIZE,
  ITEMSIZE,
  NBYTES,
  DTYPE,
  DEVICE,
  DATA_PTR,
  READONLY,
  TRANSPOSED,
  INTERFACE,
  CUDA_INTERFACE
};

static PyObject *tensor_get(PyObject *self, void *what) {
  const gd_tensor *x = (gd_tensor *)self;
  switch ((intptr_t)what) {
    case SHAPE: return gd_tuple_of(x->t.shape, x->t.ndim);
    case STRIDES: return gd_tuple_of(x->t.strides, x->t.ndim);
    case NDIM: return PyLong_FromLong(x->t.ndim);
    case SIZE: return PyLong_FromLongLong(gd_element_count(&x->t));
    case ITEMSIZE: return PyLong_FromLongLong((gd_item_bits(x->t.dtype, x->flags) + 7) / 8);
    case NBYTES: return PyLong_FromLongLong(gd_byte_count(&x->t, x->flags));
    case DTYPE: return gd_dtype_object(x->t.dtype);
    case DEVICE: return gd_device_object(x->t.device);
    case DATA_PTR: return PyLong_FromUnsignedLongLong((uintptr_t)x->t.data + x->t.byte_offset);
    case READONLY: return PyBool_FromLong(x->flags & DLPACK_READ_ONLY);
    case TRANSPOSED: return gd_enter(GD_OP_tensor_transpose, self, NULL, 0, NULL);
    case CUDA_INTERFACE: /* consumers test for the attribute */
      if (x->t.device.device_type != kDLCUDA && x->t.device.device_type != kDLCUDAManaged)
        return PyErr_Format(PyExc_AttributeError,
                            "a tensor that is not on a CUDA device has no __cuda_array_interface__");
      return gd_enter(GD_OP_tensor_cuda_array_interface, self, NULL, 0, NULL);
    default: return gd_enter(GD_OP_tensor_array_interface, self, NULL, 0, NULL);
  }
}

static PyGetSetDef tensor_getset[] = {
    {"shape", tensor_get, NULL, doc_tensor_shape, (void *)SHAPE},
    {"strides", tensor_get, NULL, doc_tensor_strides, (void *)STRIDES},
    {"ndim", tensor_get, NULL, doc_tensor_ndim, (void *)NDIM},
    {"size", tensor_get, NULL, doc_tensor_size, (void *)SIZE},
    {"itemsize", tensor_get, NULL, doc_tensor_itemsize, (void *)ITEMSIZE},
    {"nbytes", tensor_get, NULL, doc_tensor_nbytes, (void *)NBYTES},
    {"dtype", tensor_get, NULL, doc_tensor_dtype, (void *)DTYPE},
    {"device", tensor_get, NULL, doc_tensor_device, (void *)DEVICE},
    {"data_ptr", tensor_get, NULL, doc_tensor_data_ptr, (void *)DATA_PTR},
    {"readonly", tensor_get, NULL, doc_tensor_readonly, (void *)READONLY},
    {"T", tensor_get, NULL, doc_tensor_transposed, (void *)TRANSPOSED},
    {"__array_interface__", tensor_get, NULL, doc_tensor_array_interface, (void *)INTERFACE},
    {"__cuda_array_interface__", tensor_get, NULL, doc_tensor_cuda_array_interface, (void *)CUDA_INTERFACE},
    {0},
};

static PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", GD_T_PYSSIZET, offsetof(gd_tensor, weakrefs), GD_READONLY, NULL},
    {0},
};

static PyObject *tensor_repr(PyObject *self) { return gd_enter(GD_OP_tensor_repr, self, NULL, 0, NULL); }
static PyObject *tensor_iter(PyObject *self) { return gd_enter(GD_OP_tensor_iter, self, NULL, 0, NULL); }
static PyObject *tensor_subscript(PyObject *self, PyObject *key) {
  return gd_enter(GD_OP_tensor_subscript, self, &key, 1, NULL);
}

static Py_ssize_t tensor_length(PyObject *self) {
  const gd_tensor *x = (gd_tensor *)self;
  if (x->t.ndim > 0) return x->t.shape[0];
  PyErr_SetString(PyExc_TypeError, "len() of a tensor of 0 dimensions");
  return -1;
}

static PyObject *tensor_dlpack_device(PyObject *self, PyObject *ignored) {
  (void)ignored;
  const DLDevice *d = &((gd_tensor *)self)->t.device;
  return gd_tuple_of((int64_t[]){d->device_type, d->device_id}, 2);
}

static void tensor_releasebuffer(PyObject *self, Py_buffer *view) {
  (void)self;
  free(view->internal); /* shape and strides in bytes */
}

GD_TENSOR_METHODS(GD_TRAMPOLINE)

static PyMethodDef tensor_methods[] = {
    GD_TENSOR_METHODS(GD_METHOD){"to", (PyCFunction)(void *)gd_fast_to, GD_KEYWORDS, doc_tensor_to},
    {"__dlpack__", (PyCFunction)(void *)gd_fast_dlpack, GD_KEYWORDS, doc_tensor_dlpack},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, doc_tensor_dlpack_device},
    {0},
};

/* A tensor reaches no Python object that leads back to it: no cycle collection. */
static PyType_Spec tensor_spec = {"godlpack.Tensor", sizeof(gd_tensor), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  (PyType_Slot[]){
                                      {Py_tp_doc, (void *)doc_tensor},
                                      {Py_tp_dealloc, tensor_dealloc},
                                      {Py_tp_getset, tensor_getset},
                                      {Py_tp_members, tensor_members},
                                      {Py_tp_methods, tensor_methods},
                                      {Py_tp_repr, tensor_repr},
                                      {Py_tp_iter, tensor_iter},
                                      {Py_mp_length, tensor_length},
                                      {Py_mp_subscript, tensor_subscript},
                                      {Py_bf_getbuffer, gd_get_buffer},
                                      {Py_bf_releasebuffer, tensor_releasebuffer},
                                      {0},
                                  }};

/* ---- making the type ---- */

static int publish(PyTypeObject *type) {
  PyObject *capsule = PyCapsule_New((void *)&gd_exchange_api, "dlpack_exchange_api", NULL); /* R50, R52 */
  PyObject *address = PyLong_FromVoidPtr((void *)&gd_exchange_api);
  int rc = capsule == NULL || address == NULL ||
           PyObject_SetAttrString((PyObject *)type, "__dlpack_c_exchange_api__", capsule) != 0 ||
           PyObject_SetAttrString((PyObject *)type, "__c_dlpack_exchange_api__", address) != 0;
  Py_DecRef(capsule);
  Py_DecRef(address);
  return rc ? -1 : 0;
}

/* gd_tensor_exec makes the type, once in the life of the process, and adds it to module: another import of the module gets the
   same type, since tensors of the first may still exist.
   C because: (a).
   Threads: the importing one. */
int gd_tensor_exec(PyObject *module) {
  if (gd_tensor_type == NULL) {
    PyTypeObject *tensor = (PyTypeObject *)PyType_FromModuleAndSpec(module, &tensor_spec, NULL);
    if (tensor == NULL || publish(tensor) != 0 || gd_stream_exec() != 0) return -1;
    gd_tensor_type = tensor;
  }
  return PyModule_AddObjectRef(module, "Tensor", (PyObject *)gd_tensor_type);
}
