/* The memory of a call's outputs: that of out=, the framework's, or scratch for small ones. */
#include <string.h>

#include "call.h"

static void keep_offer(DLManagedTensorVersioned *m) { (void)m; }

/* gd_take_out reads out=: Go checks it, and decides whether the memory of the only output may be offered. If not, out= is
   filled at the end.
   GIL: held; may run Python code.
   Owns: the call holds what it needs; false with an exception set on failure.
   Threads: the calling one. */
bool gd_take_out(call *c, const GDList *args) {
  TVMValue value;
  int32_t code;
  uint64_t flags;
  GDList out = {1, &value, &code, &flags};
  PyObject *name = gd_hold(c, PyUnicode_InternFromString("out"));
  if (name == NULL || !gd_before_python(c)) return false;
  if (PyType_GetFlags(Py_TYPE(c->outputs.out)) & Py_TPFLAGS_LIST_SUBCLASS &&
      (c->outputs.out = gd_hold(c, PyList_AsTuple(c->outputs.out))) == NULL)
    return false;
  if (!gd_pack(c, c->outputs.out, name, true, 0, &out, 0, NULL) || !gd_before_python(c)) return false;
  PyObject *where[] = {gd_hold(c, PyLong_FromVoidPtr((void *)args)), gd_hold(c, PyLong_FromVoidPtr(&out)),
                       gd_hold(c, PyLong_FromLong(c->f->outputs))};
  PyObject *offered = where[0] && where[1] && where[2] ? gd_enter(GD_OP_function_out, (PyObject *)c->f, where, 3, NULL)
                                                       : NULL;
  if (offered == NULL) return false;
  bool failed = offered == Py_True && (c->outputs.offer = gd_reserve(c, sizeof *c->outputs.offer)) == NULL;
  if (c->outputs.offer != NULL)
    *c->outputs.offer = (offer){
        {{DLPACK_MAJOR, DLPACK_MINOR}, NULL, keep_offer, flags & DLPACK_SUBBYTE_PADDED, *(DLTensor *)value.v_handle},
        false};
  Py_DecRef(offered);
  return !failed;
}

/* Whether t has the wanted dtype and shape. */
static bool alike(const DLTensor *t, const DLTensor *want) {
  return t->ndim == want->ndim && memcmp(&t->dtype, &want->dtype, sizeof t->dtype) == 0 &&
         (t->ndim == 0 ||
          (gd_is_address(t->shape) && memcmp(t->shape, want->shape, (size_t)t->ndim * sizeof *t->shape) == 0));
}

static bool takes(offer *o, const DLTensor *want) {
  if (o == NULL || !alike(&o->m.dl_tensor, want)) return false;
  return memcmp(&o->m.dl_tensor.device, &want->device, sizeof want->device) == 0 && !atomic_exchange(&o->taken, true);
}

/* gd_wanted returns the object of out= for the next output; NULL if there is none.
   Owns: the result is borrowed.
   Threads: the calling one. */
PyObject *gd_wanted(call *c) {
  if (c->outputs.out == NULL || c->outputs.given >= c->f->outputs) return NULL;
  int i = c->outputs.given++;
  return PyType_GetFlags(Py_TYPE(c->outputs.out)) & Py_TPFLAGS_TUPLE_SUBCLASS ? PyTuple_GetItem(c->outputs.out, i)
                                                                              : c->outputs.out;
}

/* Allocates for a framework without a table or an allocator, on a device other than the CPU: a Tensor of ours, made by Go. */
static int allocate_by_go(call *c, const DLTensor *t, DLManagedTensorVersioned **out) {
  if (gd_is_finalizing()) return -1;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *args[] = {gd_tuple_of(t->shape, t->ndim), gd_dtype_object(t->dtype), gd_device_object(t->device)},
           *x = NULL;
  if (gd_before_python(c) && args[0] && args[1] && args[2])
    x = gd_enter(GD_OP_function_allocate, (PyObject *)c->f, args, 3, NULL);
  *out = x == NULL ? NULL : gd_export_versioned((gd_tensor *)x, 0);
  for (int i = 0; i < 3; i++) Py_DecRef(args[i]);
  Py_DecRef(x);
  if (*out == NULL) gd_keep_exception(c);
  PyGILState_Release(gil);
  return *out == NULL ? -1 : 0;
}

/* gd_host_allocate is GDContext.allocate: memory for an output.
   C because: (b).
   GIL: any.
   Owns: the output is the library's; -1 with an error that the call keeps.
   Threads: any. */
int gd_host_allocate(GDContext *host, DLTensor *prototype, DLManagedTensorVersioned **out) {
  call *c = (call *)host;
  const DLPackExchangeAPI *api = c->outputs.protocol == GD_BY_TABLE && c->outputs.api->managed_tensor_allocator != NULL
                                     ? c->outputs.api
                                     : &gd_exchange_api;
  if (takes(c->outputs.offer, prototype)) return *out = &c->outputs.offer->m, 0;
  *out = NULL;
  if (api == &gd_exchange_api && prototype->device.device_type != kDLCPU) return allocate_by_go(c, prototype, out);
  int rc = api->managed_tensor_allocator(prototype, out, host, gd_allocation_failed);
  if (rc == 0 && *out != NULL) return 0;
  if (c->error.failure == NULL)
    gd_allocation_failed(host, "MemoryError", "the caller's framework has no memory for an output");
  return -1;
}

/* Whether an allocator returned the tensor that was requested: memory like want, which is compact. */
static bool is_as_asked(const DLManagedTensorVersioned *m, const DLTensor *want) {
  const DLTensor *t = &m->dl_tensor;
  if (m->flags & DLPACK_READ_ONLY || !gd_is_address(t->data) || (t->strides != NULL && !gd_is_address(t->strides)))
    return false;
  if (t->device.device_type != want->device.device_type || !alike(t, want)) return false;
  for (int i = 0; t->strides != NULL && i < t->ndim; i++)
    if (t->shape[i] != 1 && t->strides[i] != want->strides[i]) return false;
  return true;
}

/* gd_copy_out copies an output from the call's scratch to memory of the caller's framework.
   Owns: v owns the copy; false with an exception set on failure.
   Threads: the calling one. */
bool gd_copy_out(call *c, TVMValue *v) {
  const DLTensor *from = &((DLManagedTensorVersioned *)v->v_handle)->dl_tensor;
  DLTensor prototype = {NULL, from->device, from->ndim, from->dtype, from->shape, NULL, 0};
  DLManagedTensorVersioned *m;
  if (gd_host_allocate(&c->host, &prototype, &m) != 0) return gd_refuse(c), false;
  v->v_handle = m;
  if (is_as_asked(m, from))
    return memcpy((char *)m->dl_tensor.data + m->dl_tensor.byte_offset, from->data, (size_t)gd_byte_count(from, 0)),
           true;
  return PyErr_Format(PyExc_BufferError, "%U(): the caller's allocator returned a tensor other than the requested one",
                      c->f->qualname),
         false;
}
