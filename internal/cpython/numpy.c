/* NumPy, which publishes no exchange table: its arrays are read in place, and made by its C API. Both rely on a layout that is
   not ours, so Go enables this fast path only after a proof: it has compared what the fast path reads with NumPy's public
   interface (package exchange). */
#include <string.h>

#include "core.h"

typedef struct {
  PyObject_HEAD
  PyObject *typeobj;
  char kind, type, byteorder, former_flags;
  int type_num;
} numpy_dtype;

typedef struct {
  PyObject_HEAD
  char *data;
  int nd;
  int64_t *dimensions, *strides; /* npy_intp; strides in bytes */
  PyObject *base;
  numpy_dtype *descr;
  int flags;
} numpy_array;

enum { OWNS_DATA = 0x4, WRITEABLE = 0x400 };         /* NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE */
enum { NEW_FROM_DESCR = 94, SET_BASE_OBJECT = 282 }; /* indices in NumPy's table of functions */
enum { TYPE_NUMBERS = 512 };                         /* NumPy's own are below 32, registered ones count from 256 */

typedef PyObject *(*new_from_descr)(PyTypeObject *, PyObject *descr, int nd, const int64_t *dims,
                                    const int64_t *strides, void *data, int flags, PyObject *);
typedef int (*set_base_object)(PyObject *array, PyObject *base);

typedef struct {
  PyTypeObject *array_type;
  void **functions;
  struct {
    DLDataType dtype;
    bool padded;
  } learned[TYPE_NUMBERS];   /* the dtype of each type number; bits 0: unknown */
  PyTypeObject *dtype_class; /* the metaclass of NumPy's dtypes: an object of another one is no dtype; never freed */
  gd_descriptor_cache dtypes;
} numpy_state;

static GD_OWN numpy_state own_numpy;
static GD_KEPT numpy_state *numpy = &own_numpy;

/* gd_numpy_enable turns the fast path on, with ndarray's type and NumPy's table of functions; NULL turns it off.
   C because: (a).
   Owns: keeps a reference to type; the table is static. */
void gd_numpy_enable(PyTypeObject *type, void **table) {
  if (type != NULL) Py_IncRef((PyObject *)type);
  numpy->array_type = type;
  numpy->functions = table;
}

/* gd_numpy_learn records the dtype that the type number of array x stands for.
   C because: (a). */
void gd_numpy_learn(PyObject *x, DLDataType dtype, bool padded) {
  numpy_dtype *descr = ((numpy_array *)x)->descr;
  unsigned n = (unsigned)descr->type_num;
  if (n >= TYPE_NUMBERS) return;
  numpy->dtype_class = Py_TYPE(Py_TYPE(descr));
  numpy->learned[n].dtype = dtype;
  numpy->learned[n].padded = padded;
}

/* gd_numpy_borrow fills t with a view of x, an array of NumPy of at most ndim dimensions. It copies x's shape and strides to
   dims, which has room for 2 * ndim numbers. It adds the flags for memory that is not writeable, and for padded elements.
   Owns: nothing passes: t is valid as long as x keeps its memory (gd_numpy_pin). False without an exception if Go must
     handle x. */
bool gd_numpy_borrow(PyObject *x, DLTensor *t, int64_t *dims, int ndim, uint64_t *flags) {
  const numpy_array *a = (numpy_array *)x;
  unsigned n = (unsigned)a->descr->type_num;
  if (n >= TYPE_NUMBERS || numpy->learned[n].dtype.bits == 0 || a->descr->byteorder == '>') return false;
  if (a->nd > ndim) return false;
  int64_t itemsize = gd_item_bits(numpy->learned[n].dtype, numpy->learned[n].padded ? DLPACK_SUBBYTE_PADDED : 0) / 8;
  /* A shift is faster than a division. Sizes that are not powers of 2 fail the check of strides below. */
  int shift = __builtin_ctzll((uint64_t)itemsize);
  int64_t *strides = dims + a->nd;
  for (int i = 0; i < a->nd; i++) {
    dims[i] = a->dimensions[i];
    strides[i] = a->strides[i] >> shift;
    if (strides[i] * itemsize != a->strides[i] && dims[i] > 1) return false; /* R17 */
  }
  *t = (DLTensor){a->data, {kDLCPU, 0}, a->nd, numpy->learned[n].dtype, dims, strides, 0};
  *flags |= (a->flags & WRITEABLE ? 0 : DLPACK_READ_ONLY) | (numpy->learned[n].padded ? DLPACK_SUBBYTE_PADDED : 0);
  return true;
}

/* gd_numpy_is_array reports whether x is an array, also of a derived type, and the fast path is on; x may be NULL. */
bool gd_numpy_is_array(PyObject *x) {
  return x != NULL && numpy->array_type != NULL && PyType_IsSubtype(Py_TYPE(x), numpy->array_type);
}

/* gd_numpy_pin keeps the memory of x, an array of NumPy, in place. The array that owns the memory must not resize or free it:
   NumPy refuses both for arrays that do not own their memory, so the pin clears the flag OWNDATA meanwhile.
   Owns: pin holds what gd_numpy_unpin gives back. */
void gd_numpy_pin(PyObject *x, gd_pin *pin) {
  numpy_array *a = (numpy_array *)x;
  while (gd_numpy_is_array(a->base)) a = (numpy_array *)a->base;
  Py_IncRef(pin->owner = (PyObject *)a);
  if ((pin->base = a->base) != NULL) Py_IncRef(pin->base);
  if (!(a->flags & OWNS_DATA) && gd_lock_find(a, NULL) == NULL) return;
  pin->lock = (gd_lock){.where = a, .data = a->data, .cleared = true};
  gd_lock_add(&pin->lock);
  a->flags &= ~OWNS_DATA;
}

/* gd_numpy_unpin undoes gd_numpy_pin. An array that was given other memory meanwhile does not own that: its flag stays clear.
   GIL: held; may run Python code.
   Owns: takes what the pin holds. */
void gd_numpy_unpin(gd_pin *pin) {
  numpy_array *a = (numpy_array *)pin->owner;
  if (pin->lock.where != NULL && gd_lock_remove(&pin->lock) && a->data == pin->lock.data && a->base == NULL)
    a->flags |= OWNS_DATA;
  Py_DecRef(pin->base);
  Py_DecRef((PyObject *)a);
}

/* gd_numpy_import makes a Tensor over the memory of x, an array of NumPy; read-only if x is not writeable.
   Owns: the result is the caller's; NULL without an exception if Go must handle x, with one if there is no memory. */
PyObject *gd_numpy_import(PyObject *x) {
  int64_t dims[2 * DLPACK_MAX_NDIM];
  uint64_t flags = 0;
  DLTensor t;
  if (!gd_numpy_borrow(x, &t, dims, DLPACK_MAX_NDIM, &flags)) return NULL;
  gd_storage *storage = gd_storage_of_object(x);
  PyObject *tensor = storage == NULL ? NULL : gd_tensor_new(&t, flags, storage);
  if (tensor == NULL) gd_storage_release(storage);
  return tensor;
}

/* gd_numpy_import_buffer makes a read-only Tensor over the buffer of x, an object whose dtype attribute is one of NumPy's own
   dtypes: the buffer's format is not needed then. jax's arrays are such objects, and their __dlpack__ is slow Python code. The
   fast path is on.
   Owns: the result is the caller's; NULL if x has no such buffer, with or without an exception. */
PyObject *gd_numpy_import_buffer(PyObject *x, PyObject *dtype_name) {
  PyObject *descr = PyObject_GetAttr(x, dtype_name);
  if (descr == NULL) return NULL;
  unsigned n = Py_TYPE(Py_TYPE(descr)) == numpy->dtype_class ? (unsigned)((numpy_dtype *)descr)->type_num
                                                             : TYPE_NUMBERS;
  Py_DecRef(descr);
  if (n >= TYPE_NUMBERS || numpy->learned[n].dtype.bits == 0 || numpy->learned[n].padded) return NULL;
  Py_buffer *view;
  gd_storage *storage = gd_storage_of_buffer(x, PyBUF_STRIDES, &view);
  if (storage == NULL) return NULL;
  int64_t strides[DLPACK_MAX_NDIM], itemsize = gd_item_bits(numpy->learned[n].dtype, 0) / 8;
  PyObject *tensor = NULL;
  if (view->ndim <= DLPACK_MAX_NDIM && view->itemsize == itemsize &&
      (view->ndim == 0 || (view->shape != NULL && view->strides != NULL))) {
    for (int i = 0; i < view->ndim; i++) strides[i] = view->strides[i] / itemsize; /* XLA's layouts have whole ones */
    DLTensor t = {view->buf, {kDLCPU, 0}, view->ndim, numpy->learned[n].dtype, view->shape, strides, 0};
    tensor = gd_tensor_new(&t, DLPACK_READ_ONLY, storage);
  }
  if (tensor == NULL) gd_storage_release(storage);
  return tensor;
}

/* Makes an array with the dtype and the shape of t; without data, in memory of NumPy's own, compact. */
static PyObject *new_array(const DLTensor *t, uint64_t padded, const int64_t *strides, void *data, int flags) {
  PyObject *descr = gd_descriptor_cached(numpy->dtypes, gd_dtype_key(t->dtype) | padded << 32,
                                         GD_OP_module_numpy_dtype);
  if (descr == NULL) return NULL;
  return ((new_from_descr)numpy->functions[NEW_FROM_DESCR])(numpy->array_type, descr, t->ndim, t->shape, strides, data,
                                                            flags, NULL); /* takes descr */
}

/* gd_numpy_to_array makes an array over the memory of x; x becomes its base. Not writeable if x is read-only.
   Owns: the result is the caller's and keeps x; NULL with an exception set on failure, without one if the fast path is off. */
PyObject *gd_numpy_to_array(gd_tensor *x) {
  static GD_OWN char nothing[16]; /* the address of empty arrays: with NULL, NumPy would allocate */
  if (numpy->array_type == NULL || x->t.device.device_type != kDLCPU) return NULL;
  int64_t strides[DLPACK_MAX_NDIM], itemsize = gd_item_bits(x->t.dtype, x->flags) / 8;
  for (int i = 0; i < x->t.ndim; i++) strides[i] = x->t.strides[i] * itemsize;
  PyObject *a = new_array(&x->t, x->flags & DLPACK_SUBBYTE_PADDED, strides, x->t.data == NULL ? nothing : x->t.data,
                          x->flags & DLPACK_READ_ONLY ? 0 : WRITEABLE);
  if (a == NULL) return NULL;
  Py_IncRef((PyObject *)x);
  if (((set_base_object)numpy->functions[SET_BASE_OBJECT])(a, (PyObject *)x) != 0) { /* takes x, also on error */
    Py_DecRef(a);
    return NULL;
  }
  return a;
}

/* gd_numpy_copy makes an array in memory of NumPy's own, with the elements of t, which are compact and a byte or more each. The
   fast path is on. */
PyObject *gd_numpy_copy(const DLTensor *t) {
  PyObject *a = new_array(t, 0, NULL, NULL, 0);
  if (a != NULL) memcpy(((numpy_array *)a)->data, t->data, (size_t)gd_byte_count(t, 0));
  return a;
}

/* gd_numpy_is_type reports whether type is ndarray itself, and the fast path is on. */
bool gd_numpy_is_type(const PyTypeObject *type) { return type == numpy->array_type; }
