/* Exports, and the exchange table that publishes them. Foreign code calls all of it and expects speed, in part without the GIL,
   in forked children and during finalization: no Go here.
   The way of a tensor: docs/architecture.md, "Four paths through the code", 1, 2 and 4. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "core.h"

/* Frees an export; one in the storage's own slot was never counted, and releases the slot's hold on the storage. */
static void export_delete(gd_export *e) {
  gd_storage *s = e->storage;
  if (s != NULL && e == s->slot) return gd_storage_free_slot(s);
  gd_count_one(&gd_counted->exports_deleted);
  free(e);
  gd_storage_release(s);
}

static void delete_versioned(DLManagedTensorVersioned *m) { export_delete((gd_export *)m); }
static void delete_legacy(DLManagedTensor *m) { export_delete((gd_export *)m); }

/* Fills out by R14: shape and strides are never NULL. */
static void export_record(DLTensor *out, int64_t *dims, const DLTensor *t) {
  *out = *t;
  out->shape = dims;
  out->strides = dims + t->ndim;
  for (int i = 0; i < t->ndim; i++) dims[i] = t->shape[i], dims[i + t->ndim] = t->strides[i];
}

/* Makes an export without its record. It holds s, which may be NULL. */
static gd_export *export_new(int ndim, gd_storage *s) {
  if (s != NULL && ndim <= GD_SLOT_NDIM && gd_storage_take_slot(s)) {
    gd_export *in_slot = s->slot;
    in_slot->storage = s;
    return in_slot;
  }
  gd_export *e = malloc(sizeof *e + 2 * (size_t)ndim * sizeof(int64_t));
  if (e == NULL) return NULL;
  gd_count_one(&gd_counted->exports_made);
  e->storage = gd_storage_retain(s);
  return e;
}

static DLManagedTensorVersioned *export_versioned(const DLTensor *t, uint64_t flags, gd_storage *s) {
  gd_export *e = export_new(t->ndim, s);
  if (e == NULL) return NULL;
  DLManagedTensorVersioned *m = &e->m.versioned;
  m->version = (DLPackVersion){DLPACK_MAJOR, DLPACK_MINOR};
  m->manager_ctx = e;
  m->deleter = delete_versioned; /* never NULL: jax would abort (R13) */
  m->flags = flags;
  export_record(&m->dl_tensor, e->dims, t);
  return m;
}

/* gd_export_versioned makes a managed tensor that keeps x's memory alive; extra_flags are added to x's own.
   Owns: the result is the caller's; on failure NULL with MemoryError set.
   Threads: any with the GIL; the result's deleter may be called from any thread, once. */
DLManagedTensorVersioned *gd_export_versioned(gd_tensor *x, uint64_t extra_flags) {
  if (!gd_tensor_share(x)) return NULL;
  DLManagedTensorVersioned *m = export_versioned(&x->t, x->flags | extra_flags, x->storage);
  if (m == NULL) PyErr_NoMemory();
  return m;
}

static DLManagedTensor *export_legacy(gd_tensor *x) {
  if (!gd_tensor_share(x)) return NULL;
  gd_export *e = export_new(x->t.ndim, x->storage);
  if (e == NULL) return PyErr_NoMemory(), NULL;
  e->m.legacy.manager_ctx = e;
  e->m.legacy.deleter = delete_legacy;
  export_record(&e->m.legacy.dl_tensor, e->dims, &x->t);
  return &e->m.legacy;
}

/* ---- capsules ---- */

static const char name_legacy[] = "dltensor", name_versioned[] = "dltensor_versioned"; /* R8: static strings */

/* A capsule that still has its first name was never consumed: its tensor is ours to delete (R9). The destructor may run while
   an exception is pending, and must not change it. */
static void capsule_destroy(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, name_versioned)) gd_managed_drop(PyCapsule_GetPointer(capsule, name_versioned), NULL);
  else if (PyCapsule_IsValid(capsule, name_legacy)) gd_managed_drop(NULL, PyCapsule_GetPointer(capsule, name_legacy));
}

/* gd_capsule exports x in a new capsule, versioned or legacy; only a versioned one can carry extra_flags.
   Owns: the capsule is the caller's and owns the export; on failure NULL with an exception set, and nothing is
     allocated. */
PyObject *gd_capsule(gd_tensor *x, bool versioned, uint64_t extra_flags) {
  void *m = versioned ? (void *)gd_export_versioned(x, extra_flags) : (void *)export_legacy(x);
  if (m == NULL) return NULL;
  PyObject *capsule = PyCapsule_New(m, versioned ? name_versioned : name_legacy, capsule_destroy);
  if (capsule == NULL) {
    if (versioned) delete_versioned(m);
    else delete_legacy(m);
  }
  return capsule;
}

/* ---- the table's slots ---- */

static int fail(void *ctx, DLPackSetError set_error, const char *kind, const char *message) {
  if (set_error != NULL) set_error(ctx, kind, message);
  return -1;
}

/* R57: called without the GIL; reports an error once, through set_error; *out is NULL then. */
static int slot_allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *ctx, DLPackSetError set_error) {
  int64_t dims[2 * DLPACK_MAX_NDIM];
  DLTensor t = *prototype;
  *out = NULL;
  if (t.device.device_type != kDLCPU) return fail(ctx, set_error, "BufferError", "godlpack allocates on cpu only");
  if (t.ndim < 0 || t.ndim > DLPACK_MAX_NDIM || t.dtype.lanes == 0 || t.dtype.bits == 0 || t.dtype.code > kDLBcomplex)
    return fail(ctx, set_error, "ValueError",
                "godlpack's allocator: want 0 to 64 dimensions and a dtype of DLPack 1.3");
  if (t.ndim > 0 && t.shape == NULL)
    return fail(ctx, set_error, "ValueError", "godlpack's allocator: the shape is NULL");
  t.strides = dims + t.ndim;
  int64_t count = 1, reach = 1;
  for (int i = t.ndim - 1; i >= 0; i--) {
    t.strides[i] = reach;
    if (t.shape[i] < 0)
      return fail(ctx, set_error, "ValueError", "godlpack's allocator: the shape has a negative extent");
    if (__builtin_mul_overflow(count, t.shape[i], &count) ||
        __builtin_mul_overflow(reach, t.shape[i] ? t.shape[i] : 1, &reach))
      return fail(ctx, set_error, "MemoryError", "godlpack's allocator: more elements than 2^63");
  }
  int64_t bits;
  if (__builtin_mul_overflow(count, gd_item_bits(t.dtype, 0), &bits) || bits > INT64_MAX - 7)
    return fail(ctx, set_error, "MemoryError", "godlpack's allocator: more bytes than can be addressed");
  gd_storage *storage;
  void *data = gd_storage_block((size_t)(bits + 7) / 8, false, &storage);
  t.data = count == 0 ? NULL : data; /* R15 */
  t.byte_offset = 0;
  DLManagedTensorVersioned *m = data == NULL ? NULL : export_versioned(&t, 0, storage);
  gd_storage_release(storage); /* the export has its own hold */
  if (m == NULL) return fail(ctx, set_error, "MemoryError", "godlpack's allocator: out of memory");
  *out = m;
  return 0;
}

/* Returns x if the table may export it. A borrowed record has no flags, and no consumer of managed tensors by a table is known
   to check theirs: read-only memory would come back writable (R43). A consumer that checks falls back on __dlpack__ (R67). */
static gd_tensor *own_tensor(PyObject *x) {
  if (Py_TYPE(x) != gd_tensor_type)
    return PyErr_SetString(PyExc_TypeError, "godlpack's exchange table: want a godlpack.Tensor"), NULL;
  if (!(((gd_tensor *)x)->flags & DLPACK_READ_ONLY)) return (gd_tensor *)x;
  return PyErr_SetString(
             PyExc_BufferError,
             "the tensor is read-only, which consumers of an exchange table do not honour; use .copy(), or __dlpack__(max_version=(1, 0))"),
         NULL;
}

static int slot_managed_from_py(void *x, DLManagedTensorVersioned **out) {
  gd_tensor *t = own_tensor(x);
  *out = t == NULL ? NULL : gd_export_versioned(t, 0);
  return *out == NULL ? -1 : 0;
}

/* R55: a borrow; its pointers are valid as long as the Python object lives. A record has no flags to mark padded lanes. */
static int slot_dltensor_from_py(void *x, DLTensor *out) {
  gd_tensor *t = own_tensor(x);
  if (t == NULL) return -1;
  if (t->flags & DLPACK_SUBBYTE_PADDED)
    return PyErr_SetString(
               PyExc_BufferError,
               "the lanes are padded to bytes, which a borrowed DLTensor cannot express; use managed_tensor_from_py_object_no_sync"),
           -1;
  *out = t->t;
  return 0;
}

/* gd_wrap_managed makes a Tensor of a managed tensor that was checked; flags replace its own.
   Owns: takes m on success; on failure NULL with MemoryError set, and m is still the caller's (R56). */
PyObject *gd_wrap_managed(DLManagedTensorVersioned *m, uint64_t flags) {
  PyObject *x = gd_tensor_new(&m->dl_tensor, flags, NULL);
  if (x == NULL) return NULL;
  ((gd_tensor *)x)->sole = m;
  gd_counted->imports_taken.held++;
  return x;
}

/* R61: the tensor was not checked before; Go checks one that is not plain, and writes the error. */
static int slot_managed_to_py(DLManagedTensorVersioned *m, void **out) {
  if (m->version.major == DLPACK_MAJOR && gd_fast_path_ok(&m->dl_tensor)) {
    *out = gd_wrap_managed(m, m->flags);
  } else {
    PyObject *address = PyLong_FromVoidPtr(m);
    *out = address == NULL ? NULL : gd_enter(GD_OP_module_wrap_managed, NULL, &address, 1, NULL);
    Py_DecRef(address);
  }
  return *out == NULL ? -1 : 0;
}

/* R58: tensors on the CPU have no stream. */
static int slot_current_stream(int32_t device_type, int32_t device_id, void **out) {
  uintptr_t *stream = device_type == kDLCUDA || device_type == kDLCUDAManaged ? gd_current_stream(device_id, false)
                                                                              : NULL;
  *out = stream == NULL ? NULL : (void *)*stream;
  return 0;
}

/* R52, R53: one table for the life of the process, complete, and never changed. */
const DLPackExchangeAPI gd_exchange_api = {
    .header = {{DLPACK_MAJOR, DLPACK_MINOR}, NULL},
    .managed_tensor_allocator = slot_allocate,
    .managed_tensor_from_py_object_no_sync = slot_managed_from_py,
    .managed_tensor_to_py_object_no_sync = slot_managed_to_py,
    .dltensor_from_py_object_no_sync = slot_dltensor_from_py,
    .current_work_stream = slot_current_stream,
};

/* ---- for Go, which cannot call C function pointers ---- */

/* gd_table_import calls a table's managed_tensor_from_py_object_no_sync.
   C because: (b).
   Owns: *out is the caller's; on failure (-1, an exception set) it is NULL. */
int gd_table_import(const DLPackExchangeAPI *api, PyObject *x, DLManagedTensorVersioned **out) {
  *out = NULL;
  int rc = api->managed_tensor_from_py_object_no_sync(x, out);
  if (rc != 0) *out = NULL;
  return rc;
}

/* gd_table_to_object calls a table's managed_tensor_to_py_object_no_sync.
   C because: (b).
   Owns: takes m on success; on failure (-1, an exception set) m is still the caller's (R56). *out is the
     caller's. */
int gd_table_to_object(const DLPackExchangeAPI *api, DLManagedTensorVersioned *m, PyObject **out) {
  *out = NULL;
  return api->managed_tensor_to_py_object_no_sync(m, (void **)out);
}

/* gd_managed_delete calls the deleter of the argument that is not NULL, if it has one.
   C because: (b).
   GIL: held or not.
   Owns: takes the managed tensor.
   Threads: any. */
void gd_managed_delete(DLManagedTensorVersioned *versioned, DLManagedTensor *legacy) {
  if (versioned != NULL && versioned->deleter != NULL) versioned->deleter(versioned);
  if (legacy != NULL && legacy->deleter != NULL) legacy->deleter(legacy);
}

/* gd_managed_drop is gd_managed_delete for where an exception may be pending: a deleter may run Python code.
   C because: (b).
   Owns: takes the managed tensor. */
void gd_managed_drop(DLManagedTensorVersioned *versioned, DLManagedTensor *legacy) {
  PyObject *class, *value, *trace;
  PyErr_Fetch(&class, &value, &trace);
  gd_managed_delete(versioned, legacy);
  PyErr_Restore(class, value, trace);
}

/* gd_legacy_library returns the path of the library that contains a legacy managed tensor's deleter, NULL if unknown.
   C because: (b).
   GIL: not needed.
   Owns: the result lives as long as the library.
   Threads: any. */
const char *gd_legacy_library(const DLManagedTensor *m) {
  Dl_info info;
  return m->deleter != NULL && dladdr((void *)m->deleter, &info) != 0 ? info.dli_fname : NULL;
}
