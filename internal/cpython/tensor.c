/* The Python types: Tensor, and the two descriptors DType and Device. Their data is C, so that it lives on
   whatever happens to the Go runtime; what they do beyond reading it is Go's. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "docstrings.h"

GD_KEPT PyTypeObject *gd_tensor_type, *gd_dtype_type, *gd_device_type;

/* ---- what a record means, as far as the fast paths need it ---- */

/* gd_element_count multiplies the extents of a record that was checked before.
   C because: (c).
   GIL: not needed.
   Owns: nothing.
   Threads: any. */
int64_t gd_element_count(const DLTensor *t) {
  int64_t count = 1;
  for (int i = 0; i < t->ndim; i++) count *= t->shape[i];
  return count;
}

/* gd_item_bits says how far apart neighbouring elements are, in bits: the rule of dlpack.DType.BitSize (R21,
   R22), here for the allocator and the attributes; a test holds the two together.
   C because: (c).
   GIL: not needed.
   Owns: nothing.
   Threads: any. */
int64_t gd_item_bits(DLDataType d, uint64_t flags) {
  return (int64_t)(flags & DLPACK_SUBBYTE_PADDED ? (d.bits + 7) & ~7 : d.bits) * d.lanes;
}

/* gd_byte_count is how many bytes compact elements take, of a record that was checked before.
   C because: (c).
   GIL: not needed.
   Owns: nothing.
   Threads: any. */
int64_t gd_byte_count(const DLTensor *t, uint64_t flags) {
  int64_t bits = gd_item_bits(t->dtype, flags), count = gd_element_count(t);
  return bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
}

/* Which numbers of bytes a dtype code may have, as a bit set; what is rarer than this is Go's to judge. */
static const uint32_t plain_bytes[kDLFloat4_e2m1fn + 1] = {
    [0] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, [1] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
    [2] = 1 << 2 | 1 << 4 | 1 << 8, [4] = 1 << 2, [5] = 1 << 4 | 1 << 8 | 1 << 16, [6] = 1 << 1,
    [7] = 1 << 1, [8] = 1 << 1, [9] = 1 << 1, [10] = 1 << 1, [11] = 1 << 1, [12] = 1 << 1, [13] = 1 << 1, [14] = 1 << 1,
};

static bool plain_dtype(DLDataType d) {
  return d.lanes == 1 && d.code < kDLFloat4_e2m1fn && d.bits % 8 == 0 && d.bits <= 128 && plain_bytes[d.code] >> (d.bits / 8) & 1;
}

#define FAR ((int64_t)1 << 56) /* elements of at most 16 bytes that are farther apart are not plain; 64 such sums fit */
#define ADDRESSES ((uintptr_t)1 << 62)

/* Whether so many elements, which reach that far before and behind the first, all have addresses. */
static bool addressable(const DLTensor *t, int64_t count, int64_t below, int64_t above) {
  uintptr_t size = t->dtype.bits / 8, start = (uintptr_t)t->data;
  if (!gd_is_address(t->data) || start > ADDRESSES || t->byte_offset > ADDRESSES || count > FAR) return false;
  start += t->byte_offset;
  return above <= FAR && below >= -FAR && (uintptr_t)-below * size <= start && start + (uintptr_t)(above + 1) * size <= ADDRESSES;
}

/* gd_fast_path_ok's last question, of elements that are not compact. */
static bool plain_strides(const DLTensor *t) {
  bool empty = false;
  int64_t count = 1, below = 0, above = 0, span; /* how far elements reach, in elements; extents of 0 count as 1 */
  for (int i = 0; i < t->ndim; i++) {
    int64_t n = t->shape[i] + (t->shape[i] == 0);
    if (n < 0 || __builtin_mul_overflow(count, n, &count)) return false;
    empty |= t->shape[i] == 0;
    if (__builtin_mul_overflow(n - 1, t->strides[i], &span) || span < -FAR || span > FAR) return false;
    below += span < 0 ? span : 0;
    above += span > 0 ? span : 0;
  }
  return (empty && t->data == NULL) || addressable(t, count, below, above);
}

/* gd_fast_path_ok is true for a record that needs no second look: R39-R42 hold, and so does everything that
   dlpack.Tensor.Validate would check. False means only that Go must look.
   C because: (c).
   GIL: not needed.
   Owns: nothing.
   Threads: any. */
bool gd_fast_path_ok(const DLTensor *t) {
  if ((uint32_t)t->ndim > DLPACK_MAX_NDIM || !plain_dtype(t->dtype)) return false;
  if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDA) return false;
  if (t->ndim > 0 && (!gd_is_address(t->shape) || !gd_is_address(t->strides))) return false;
  int64_t count = gd_compact_count(t);
  return count > 0 ? addressable(t, count, 0, count - 1) : plain_strides(t);
}

/* ---- Tensor ---- */

static bool address_data(DLDevice d) {
  switch (d.device_type) {
    case kDLCPU: case kDLCUDA: case kDLCUDAHost: case kDLROCM: case kDLROCMHost: case kDLCUDAManaged: case kDLOneAPI: case kDLTPUHost: return true;
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
   C because: (c).
   GIL: held.
   Owns: takes storage on success; on failure NULL with MemoryError set, and storage is still the caller's.
   Threads: any with the GIL. */
PyObject *gd_tensor_new(const DLTensor *t, uint64_t flags, gd_storage *storage) {
  size_t n = (size_t)t->ndim * sizeof(int64_t);
  gd_tensor *x = PyObject_Malloc(sizeof *x + 2 * n);
  if (x == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)x, gd_tensor_type);
  x->weakrefs = NULL;
  x->storage = storage;
  x->sole = NULL;
  x->flags = flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED); /* R24: a copy is no news to those who take it from us; R35: others mean nothing to us */
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

/* gd_tensor_make is gd_tensor_new from parts: Go must not put pointers to its own memory into
   records.
   C because: (a).
   GIL: held.
   Owns: as for gd_tensor_new; shape and strides are copied.
   Threads: any with the GIL. */
PyObject *gd_tensor_make(uintptr_t data, DLDevice device, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides, uint64_t flags,
                         gd_storage *storage) {
  DLTensor t = {(void *)data, device, ndim, dtype, shape, strides, 0};
  return gd_tensor_new(&t, flags, storage);
}

/* gd_tensor_view makes a Tensor over part of x's memory, offset bytes from its start, seen as dtype.
   C because: (a).
   GIL: held.
   Owns: the result is the caller's and keeps the memory alive by itself; NULL with MemoryError set on failure.
   Threads: any with the GIL. */
PyObject *gd_tensor_view(gd_tensor *x, int64_t offset, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides,
                         uint64_t flags) {
  DLTensor t = {x->t.data, x->t.device, ndim, dtype, shape, strides, x->t.byte_offset + (uint64_t)offset};
  if (!gd_tensor_share(x)) return NULL;
  PyObject *view = gd_tensor_new(&t, flags, gd_storage_retain(x->storage));
  if (view == NULL) gd_storage_release(x->storage);
  return view;
}

/* gd_tensor_share lets others hold x's memory, by x->storage (NULL where there is nothing to hold). What x held alone
   moves into a storage for that.
   C because: (c).
   GIL: held.
   Owns: nothing passes; false with MemoryError set on failure.
   Threads: any with the GIL. */
bool gd_tensor_share(gd_tensor *x) {
  if (x->sole == NULL) return true;
  x->storage = gd_storage_of_versioned(x->sole);
  if (x->storage == NULL) return PyErr_NoMemory(), false;
  x->sole = NULL;
  return true;
}

/* What is held may hold a tensor, and so on. Storages take turns to be given back, so from some depth on there is one: a depth
   of all threads together, which costs next to nothing to know. */
static void let_go(gd_tensor *x) {
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

/* A deleter may be Python's, and must not meet an exception that is on its way (R9). */
static void tensor_dealloc(PyObject *self) {
  gd_tensor *x = (gd_tensor *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject *class, *value, *trace;
  bool pending = PyErr_Occurred() != NULL;
  if (pending) PyErr_Fetch(&class, &value, &trace);
  if (x->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  let_go(x);
  if (pending) PyErr_Restore(class, value, trace);
  PyObject_Free(self);
  Py_DecRef((PyObject *)type);
}

/* gd_tuple_of makes a tuple of ints.
   C because: (c).
   GIL: held.
   Owns: the result is the caller's; NULL with an exception set on failure.
   Threads: any with the GIL. */
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

enum { SHAPE, STRIDES, NDIM, SIZE, ITEMSIZE, NBYTES, DTYPE, DEVICE, DATA_PTR, READONLY, TRANSPOSED, INTERFACE, CUDA_INTERFACE };

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
    case CUDA_INTERFACE: /* consumers ask whether there is one */
      if (x->t.device.device_type != kDLCUDA && x->t.device.device_type != kDLCUDAManaged)
        return PyErr_Format(PyExc_AttributeError, "a tensor that is not on a CUDA device has no __cuda_array_interface__");
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
static PyObject *tensor_subscript(PyObject *self, PyObject *key) { return gd_enter(GD_OP_tensor_subscript, self, &key, 1, NULL); }

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
GD_DTYPE_METHODS(GD_TRAMPOLINE)
GD_DEVICE_METHODS(GD_TRAMPOLINE)

static PyMethodDef tensor_methods[] = {
    GD_TENSOR_METHODS(GD_METHOD)
    {"to", (PyCFunction)(void *)gd_fast_to, GD_KEYWORDS, doc_tensor_to},
    {"__dlpack__", (PyCFunction)(void *)gd_fast_dlpack, GD_KEYWORDS, doc_tensor_dlpack},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, doc_tensor_dlpack_device},
    {0},
};
static PyMethodDef dtype_methods[] = {GD_DTYPE_METHODS(GD_METHOD) {0}};
static PyMethodDef device_methods[] = {GD_DEVICE_METHODS(GD_METHOD) {0}};

/* No Python object can be reached from a tensor so that it leads back to it: no cycle collection. */
static PyType_Spec tensor_spec = {
    "godlpack.Tensor", sizeof(gd_tensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
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

/* ---- DType and Device ---- */

/* gd_descriptor_new makes a DType or a Device.
   C because: (a).
   GIL: held.
   Owns: the result is the caller's, NULL with MemoryError set on failure; name and kind (which may be NULL)
     stay the caller's.
   Threads: any with the GIL. */
PyObject *gd_descriptor_new(PyTypeObject *type, uint64_t key, PyObject *name, PyObject *kind, int itemsize) {
  gd_descriptor *l = PyObject_Malloc(sizeof *l);
  if (l == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)l, type);
  l->value.key = key;
  l->itemsize = itemsize;
  Py_IncRef(l->name = name);
  if ((l->kind = kind) != NULL) Py_IncRef(kind);
  return (PyObject *)l;
}

static void descriptor_dealloc(PyObject *self) {
  gd_descriptor *l = (gd_descriptor *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_DecRef(l->name);
  Py_DecRef(l->kind);
  PyObject_Free(self);
  Py_DecRef((PyObject *)type);
}

static Py_hash_t descriptor_hash(PyObject *self) { return PyObject_Hash(((gd_descriptor *)self)->name); }

static PyObject *descriptor_str(PyObject *self) {
  Py_IncRef(((gd_descriptor *)self)->name);
  return ((gd_descriptor *)self)->name;
}

static PyObject *descriptor_repr(PyObject *self) {
  return PyUnicode_FromFormat("%s(%R)", Py_TYPE(self) == gd_dtype_type ? "DType" : "Device", ((gd_descriptor *)self)->name);
}

static PyObject *descriptor_compare(PyObject *self, PyObject *other, int how) {
  if (how != Py_EQ && how != Py_NE) {
    Py_IncRef(Py_NotImplemented);
    return Py_NotImplemented;
  }
  if (Py_TYPE(self) == Py_TYPE(other))
    return PyBool_FromLong((((gd_descriptor *)self)->value.key == ((gd_descriptor *)other)->value.key) == (how == Py_EQ));
  int op = Py_TYPE(self) == gd_dtype_type ? GD_OP_dtype_compare : GD_OP_device_compare;
  PyObject *equal = gd_enter(op, self, &other, 1, NULL);
  if (how == Py_EQ || equal == NULL || equal == Py_NotImplemented) return equal;
  PyObject *unequal = PyBool_FromLong(equal == Py_False);
  Py_DecRef(equal);
  return unequal;
}

static PyObject *descriptor_make(int op, PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *both[2] = {args, kwargs};
  return gd_enter(op, (PyObject *)type, both, kwargs == NULL ? 1 : 2, NULL);
}
static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *kw) { return descriptor_make(GD_OP_dtype_new, type, args, kw); }
static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kw) { return descriptor_make(GD_OP_device_new, type, args, kw); }

#define FIELD(name, kind, field, doc) {name, kind, offsetof(gd_descriptor, field), GD_READONLY, doc}
static PyMemberDef dtype_members[] = {
    FIELD("name", GD_T_OBJECT_EX, name, doc_dtype_name),
    FIELD("code", GD_T_UBYTE, value.dtype.code, doc_dtype_code),
    FIELD("bits", GD_T_UBYTE, value.dtype.bits, doc_dtype_bits),
    FIELD("lanes", GD_T_USHORT, value.dtype.lanes, doc_dtype_lanes),
    FIELD("itemsize", GD_T_INT, itemsize, doc_dtype_itemsize),
    {0},
};
static PyObject *dtype_numpy(PyObject *self, void *ignored) { return (void)ignored, gd_enter(GD_OP_dtype_numpy, self, NULL, 0, NULL); }
static PyGetSetDef dtype_getset[] = {
    {"__numpy_dtype__", dtype_numpy, NULL, doc_dtype_numpy_dtype, NULL},
    {0},
};
static PyMemberDef device_members[] = {
    FIELD("type", GD_T_OBJECT_EX, kind, doc_device_type),
    FIELD("id", GD_T_INT, value.device.device_id, doc_device_id),
    {0},
};

static PyGetSetDef device_getset[] = {{0}};

#define LABEL_SLOTS(doc, members, methods, getset, new) \
  (PyType_Slot[]) { \
    {Py_tp_doc, (void *)doc}, {Py_tp_new, new}, {Py_tp_dealloc, descriptor_dealloc}, {Py_tp_members, members}, {Py_tp_methods, methods}, {Py_tp_getset, getset}, \
        {Py_tp_repr, descriptor_repr}, {Py_tp_str, descriptor_str}, {Py_tp_hash, descriptor_hash}, {Py_tp_richcompare, descriptor_compare}, {0}, \
  }
#define LABEL_FLAGS Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE
static PyType_Spec dtype_spec = {"godlpack.DType", sizeof(gd_descriptor), 0, LABEL_FLAGS,
                                 LABEL_SLOTS(doc_dtype, dtype_members, dtype_methods, dtype_getset, dtype_new)};
static PyType_Spec device_spec = {"godlpack.Device", sizeof(gd_descriptor), 0, LABEL_FLAGS,
                                  LABEL_SLOTS(doc_device, device_members, device_methods, device_getset, device_new)};

/* gd_descriptor_cached finds an object by its key, and asks Go to make it the first time: dtypes and devices are read often
   and are few.
   C because: (c).
   GIL: held.
   Owns: the result is the caller's; NULL with an exception set on failure.
   Threads: any with the GIL. */
PyObject *gd_descriptor_cached(gd_descriptor_cache cache, uint64_t key, int op) {
  gd_descriptor_slot *slot = &cache[(key * 0x9E3779B97F4A7C15u) >> 58];
  if (slot->descriptor == NULL || slot->key != key) {
    PyObject *number = PyLong_FromUnsignedLongLong(key);
    PyObject *descriptor = number == NULL ? NULL : gd_enter(op, NULL, &number, 1, NULL);
    Py_DecRef(number);
    if (descriptor == NULL) return NULL;
    Py_DecRef(slot->descriptor);
    *slot = (gd_descriptor_slot){key, descriptor};
  }
  Py_IncRef(slot->descriptor);
  return slot->descriptor;
}

static GD_OWN gd_descriptor_cache own_dtypes, own_devices;
static GD_KEPT gd_descriptor_slot *dtypes = own_dtypes, *devices = own_devices;

/* gd_dtype_object is the DType of a record's dtype.
   C because: (c).
   GIL: held.
   Owns: the result is the caller's; NULL with an exception set on failure.
   Threads: any with the GIL. */
PyObject *gd_dtype_object(DLDataType d) {
  return gd_descriptor_cached(dtypes, gd_dtype_key(d), GD_OP_module_make_dtype);
}

/* gd_device_object is the Device of a record's device.
   C because: (c).
   GIL: held.
   Owns: the result is the caller's; NULL with an exception set on failure.
   Threads: any with the GIL. */
PyObject *gd_device_object(DLDevice d) {
  return gd_descriptor_cached(devices, (uint64_t)(uint32_t)d.device_id << 32 | (uint32_t)d.device_type, GD_OP_module_make_device);
}

/* ---- making the types ---- */

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

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec) {
  return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

/* gd_tensor_exec makes the types, once in the life of the process, and puts them into module: another
   import of the module finds the same types, since tensors of the first may still be about.
   C because: (a).
   GIL: held.
   Owns: nothing passes; on failure -1 with an exception set.
   Threads: the importing one. */
int gd_tensor_exec(PyObject *module) {
  if (gd_tensor_type == NULL) {
    PyTypeObject *tensor = make_type(module, &tensor_spec);
    if (tensor == NULL || publish(tensor) != 0 || gd_stream_exec() != 0) return -1;
    if ((gd_dtype_type = make_type(module, &dtype_spec)) == NULL) return -1;
    if ((gd_device_type = make_type(module, &device_spec)) == NULL) return -1;
    gd_tensor_type = tensor;
  }
  if (PyModule_AddObjectRef(module, "Tensor", (PyObject *)gd_tensor_type) != 0) return -1;
  if (PyModule_AddObjectRef(module, "DType", (PyObject *)gd_dtype_type) != 0) return -1;
  return PyModule_AddObjectRef(module, "Device", (PyObject *)gd_device_type);
}
