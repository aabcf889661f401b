/* The call of a library's function: what Python passes is gathered into packed values, Go is entered once, and what comes
   back is wrapped in the caller's framework. Tensors whose type has a plan are borrowed where they are, in nanoseconds;
   whatever is out of the ordinary is made ordinary by Go first. */
#include <stdlib.h>
#include <string.h>

#include "call.h"

enum {
  DEEP = 64,            /* lists in lists */
  MOST_NESTED = 1 << 20 /* elements of these */
};

/* A call with its first arguments. It lies in memory of its own, not on the stack: the library's goroutines may look at it
   after a greenlet has taken the stack away, or after the call was abandoned. */
typedef struct frame {
  struct frame *next;
  call call;
  record records[FEW];
  TVMValue values[FEW];
  uint64_t flags[FEW];
  int32_t codes[FEW];
  PyObject *objects[FEW];
} frame;

/* ---- memory and objects for the time of a call ---- */

/* gd_reserve is memory that lasts as long as the call, aligned to 16 bytes.
   C because: (c).
   GIL: held.
   Owns: the call owns it; NULL with MemoryError set on failure.
   Threads: the calling one. */
void *gd_reserve(call *c, size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (size > c->left) {
    size_t n = size > PAGE ? size : PAGE;
    block *b = malloc(sizeof *b + sizeof *b + n); /* a second one: to keep what follows aligned to 16 */
    if (b == NULL) return PyErr_NoMemory();
    b->next = c->blocks;
    c->blocks = b;
    c->room = (char *)(b + 2);
    c->left = n;
  }
  void *p = c->room;
  c->room += size;
  c->left -= size;
  return p;
}

/* gd_hold keeps x, which may be NULL, until the end of the call.
   C because: (c).
   GIL: held.
   Owns: takes x, also on failure: NULL, with an exception set unless x is NULL.
   Threads: the calling one. */
PyObject *gd_hold(call *c, PyObject *x) {
  held *h = x == NULL ? NULL : gd_reserve(c, sizeof *h);
  if (h == NULL) return x == NULL ? NULL : (Py_DecRef(x), NULL);
  *h = (held){c->held, x};
  c->held = h;
  return x;
}

/* Keeps the pending exception for the end of the call; the first one counts. */
GD_RARE static void keep_exception(call *c) {
  if (c->class == NULL) PyErr_Fetch(&c->class, &c->value, &c->trace);
  PyErr_Clear();
}

static GD_OWN scratch *scratches; /* that no call uses */

/* Gives a call memory for small outputs, unless it has a place for its outputs. If there is none it goes without. */
static void take_scratch(call *c) {
  if (c->f->outputs == 0 || c->out != NULL) return;
  if ((c->scratch = scratches) != NULL) scratches = c->scratch->next;
  else c->scratch = aligned_alloc(64, sizeof *c->scratch);
}

static void give_scratch(scratch *s) {
  if (s == NULL) return;
  s->next = scratches;
  scratches = s;
}

static bool in_scratch(const call *c, const void *p) {
  return c->scratch != NULL && (uintptr_t)p - (uintptr_t)c->scratch < sizeof *c->scratch;
}

static void let_go(call *c) {
  give_scratch(c->scratch);
  if (c->pinned != NULL) gd_unpin(c);
  for (followed *f = c->followed; f != NULL; f = f->next) *f->current = f->before;
  for (held *h = c->held; h != NULL; h = h->next) Py_DecRef(h->object);
  for (block *b = c->blocks, *next; b != NULL; b = next) next = b->next, free(b);
  free(c->failure);
  if (c->class == NULL) return;
  Py_DecRef(c->class);
  Py_DecRef(c->value);
  Py_DecRef(c->trace);
}

/* ---- streams ---- */

static bool follows(const call *c, int32_t device) {
  for (followed *f = c->followed; f != NULL; f = f->next)
    if (f->device == device) return true;
  return false;
}

/* Makes the stream that a framework works on ours too, on a CUDA device, until the call ends: it is what the library asks
   for, and what producers and consumers are told meanwhile. The first framework on a device decides. False with an
   exception. */
GD_RARE static bool follow(call *c, const DLPackExchangeAPI *api, int32_t device) {
  if (follows(c, device)) return true;
  uintptr_t *current = gd_current_stream(device, true);
  if (current == NULL) return PyErr_Format(PyExc_BufferError, "%U(): no place for a stream of cuda:%d", c->f->name, (int)device), false;
  void *stream = (void *)*current; /* if the table cannot tell */
  if (api->current_work_stream != NULL && api->current_work_stream(kDLCUDA, device, &stream) != 0) {
    if (PyErr_Occurred() == NULL) PyErr_Format(PyExc_RuntimeError, "%U(): its caller's library does not know its stream of cuda:%d", c->f->name, (int)device);
    return false;
  }
  followed *f = gd_reserve(c, sizeof *f);
  if (f == NULL) return false;
  *f = (followed){c->followed, device, current, *current};
  c->followed = f;
  *current = (uintptr_t)stream;
  return true;
}

/* Follows the library that x, of which t was borrowed, belongs to. */
static bool follow_owner(call *c, PyObject *x, const DLTensor *t) {
  const gd_plan *plan = t->device.device_type == kDLCUDA ? gd_plan_of(Py_TYPE(x)) : NULL;
  return t->device.device_type != kDLCUDA || follow(c, plan != NULL && plan->protocol == GD_BY_TABLE ? plan->api : &gd_exchange_api, t->device.device_id);
}

/* ---- arguments ---- */

/* The first tensor decides what outputs are. */
static void choose(call *c, PyObject *type, const gd_plan *plan) {
  if (c->like != NULL) return;
  c->like = type;
  if (plan != NULL) c->protocol = plan->protocol, c->api = plan->api;
}

/* Gives r a shape and strides of its own, since their owner may change its at any time. */
static bool own_dims(call *c, record *r) {
  int n = r->t.ndim;
  int64_t *dims = n <= FEW ? r->dims : gd_reserve(c, 2 * (size_t)n * sizeof *dims);
  if (dims == NULL) return false;
  for (int i = 0; i < n; i++) dims[i] = r->t.shape[i], dims[n + i] = r->t.strides[i];
  r->t.shape = dims;
  r->t.strides = dims + n;
  return true;
}

/* Sees a tensor by its type's table. The guards of a type that is not torch's own may be Python code: it runs before anybody
   looks at the tensor, and after the others are pinned. */
static bool borrow_by_table(call *c, PyObject *x, const gd_plan *plan, bool writes, record *r) {
  const DLPackExchangeAPI *api = plan->api;
  r->object = x;
  r->api = api;
  r->torch = plan->torch;
  r->imported = false;
  if (api->dltensor_from_py_object_no_sync == NULL || (writes && !plan->guarded)) return false; /* it may be read-only */
  if (api->dltensor_from_py_object_no_sync(x, &r->t) != 0 || !gd_fast_path_ok(&r->t)) return false;
  if (plan->asks_python) {
    if (!gd_before_python(c) || !gd_torch_fast_path_ok(x, plan, &r->t, writes)) return false;
    if (api->dltensor_from_py_object_no_sync(x, &r->t) != 0 || !gd_fast_path_ok(&r->t)) return false;
  } else if (plan->guarded && !gd_torch_fast_path_ok(x, plan, &r->t, writes)) {
    return false;
  }
  return own_dims(c, r);
}

/* Sees a tensor in place: Go has no say in it. NULL if it must have, with or without an exception. */
static const DLTensor *borrow(call *c, PyObject *x, bool writes, record *r, uint64_t *flags) {
  PyTypeObject *type = Py_TYPE(x);
  *flags = GD_CHECKED;
  if (type == gd_tensor_type) {
    choose(c, (PyObject *)type, NULL);
    *flags |= ((gd_tensor *)x)->flags;
    return &((gd_tensor *)x)->t;
  }
  const gd_plan *plan = gd_plan_of(type);
  if (plan == NULL || (r == NULL && (r = gd_reserve(c, sizeof *r)) == NULL)) return NULL;
  choose(c, (PyObject *)type, plan); /* before any code of Python's, which may change the plan */
  if (plan->protocol == GD_BY_NUMPY) {
    r->object = x;
    r->api = NULL;
    r->torch = r->imported = false;
    if (!gd_numpy_borrow(x, &r->t, r->dims, FEW, flags)) return NULL;
  } else if (plan->protocol != GD_BY_TABLE || !borrow_by_table(c, x, plan, writes, r)) {
    return NULL;
  }
  r->next = c->borrowed;
  c->borrowed = r;
  return &r->t;
}

static bool pack(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r);

static bool pack_tensor(call *c, PyObject *x, bool writes, const GDList *to, int64_t i, record *r) {
  to->values[i].v_handle = (void *)borrow(c, x, writes, r, &to->flags[i]);
  to->codes[i] = GD_TENSOR;
  return to->values[i].v_handle != NULL;
}

/* Lets Go make something ordinary of x, and a plan for its type. A class that Go leaves as it is is a callable. */
GD_RARE static bool pack_by_go(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r) {
  PyObject *args[] = {x, name == NULL ? Py_None : name, writes ? Py_True : Py_False, depth > 0 ? Py_True : Py_False}, *y = NULL;
  PyErr_Clear();
  if (!gd_before_python(c)) return false;
  const gd_plan *plan = gd_plan_of(Py_TYPE(x));
  if (plan != NULL && (plan->protocol == GD_BY_METHOD || plan->protocol == GD_BY_BUFFER)) y = gd_fast_from_dlpack(NULL, &x, 1, NULL);
  else y = gd_enter(GD_OP_function_argument, (PyObject *)c->f, args, 4, NULL);
  if (gd_hold(c, y) == NULL) return false;
  if (y == x) return to->codes[i] = GD_CALLABLE, to->values[i].v_handle = x, true;
  if (Py_TYPE(y) == gd_tensor_type) {
    choose(c, (PyObject *)Py_TYPE(x), gd_plan_of(Py_TYPE(x)));
    if (!follow_owner(c, x, &((gd_tensor *)y)->t) || !gd_pin_imported(c, x)) return false;
  }
  return pack(c, y, name, writes, depth, to, i, r);
}

/* Lists that hold one another, or the same one many times, have more elements than memory has room. */
static bool may_nest(call *c, Py_ssize_t n, int depth) {
  if (depth >= DEEP) return PyErr_Format(PyExc_ValueError, "%U(): lists nested deeper than %d", c->f->name, DEEP), false;
  if (depth > 0) c->nested += n;
  if (c->nested <= MOST_NESTED) return true;
  return PyErr_Format(PyExc_ValueError, "%U(): lists in lists with more than %d elements: pass a tensor, or one list", c->f->name, MOST_NESTED), false;
}

static bool pack_list(call *c, PyObject *x, PyObject *name, bool writes, int depth, TVMValue *value) {
  bool tuple = PyType_GetFlags(Py_TYPE(x)) & Py_TPFLAGS_TUPLE_SUBCLASS;
  if (!tuple && (!gd_before_python(c) || (x = gd_hold(c, PyList_AsTuple(x))) == NULL)) return false; /* the list may change; a new tuple may collect garbage */
  Py_ssize_t n = PyTuple_Size(x);
  if (!may_nest(c, n, depth)) return false;
  GDList *list = gd_reserve(c, sizeof *list + (size_t)n * (sizeof *list->values + sizeof *list->flags + sizeof *list->codes));
  if (list == NULL) return false;
  TVMValue *values = (TVMValue *)(list + 1);
  *list = (GDList){n, values, (int32_t *)((uint64_t *)(values + n) + n), (uint64_t *)(values + n)};
  value->v_handle = list;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!pack(c, PyTuple_GetItem(x, i), name, writes, depth + 1, list, i, NULL)) return false;
  return true;
}

/* What the parameter's kind makes of an int beyond 64 bits, is the library's to say. */
GD_RARE static bool pack_huge(call *c, PyObject *x, PyObject *name, TVMValue *value, int32_t *code) {
  *code = GD_UINT;
  value->v_int64 = (int64_t)PyLong_AsUnsignedLongLong(x);
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  *code = GD_HUGE;
  value->v_float64 = PyLong_AsDouble(x);
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  if (name == NULL) return PyErr_Format(PyExc_OverflowError, "%U(): what a callable returned: the int is too large, also for a float", c->f->name), false;
  return PyErr_Format(PyExc_OverflowError, "%U(): argument '%U': the int is too large, also for a float", c->f->name, name), false;
}

static bool pack_int(call *c, PyObject *x, PyObject *name, TVMValue *value, int32_t *code) {
  int overflow;
  *code = GD_INT;
  value->v_int64 = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow == 0 || pack_huge(c, x, name, value, code);
}

/* Texts, which may hold NUL, and bytes lie where Python keeps them. */
static bool pack_bytes(call *c, PyObject *x, bool text, TVMValue *value) {
  Py_ssize_t n = 0;
  char *data = NULL;
  if (text) data = (char *)PyUnicode_AsUTF8AndSize(x, &n);
  else PyBytes_AsStringAndSize(x, &data, &n); /* which it is: this does not fail */
  TVMByteArray *bytes = data == NULL ? NULL : gd_reserve(c, sizeof *bytes);
  if (bytes != NULL) *bytes = (TVMByteArray){data, (size_t)n};
  value->v_handle = bytes;
  return bytes != NULL;
}

/* pack for what is no tensor that can be borrowed in place. */
static bool pack_other(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r) {
  PyTypeObject *type = Py_TYPE(x);
  TVMValue *v = &to->values[i];
  int32_t *code = &to->codes[i];
  if (PyErr_Occurred() != NULL) return pack_by_go(c, x, name, writes, depth, to, i, r);
  unsigned long flags = PyType_GetFlags(type);
  to->flags[i] = 0;
  v->v_int64 = 0;
  if (x == Py_None) return *code = GD_NULL, true;
  if (type == &PyBool_Type) return *code = GD_BOOL, v->v_int64 = x == Py_True, true;
  if (flags & Py_TPFLAGS_LONG_SUBCLASS) return pack_int(c, x, name, v, code);
  if (PyType_IsSubtype(type, &PyFloat_Type)) return *code = GD_FLOAT, v->v_float64 = PyFloat_AsDouble(x), true;
  if (flags & Py_TPFLAGS_UNICODE_SUBCLASS) return *code = GD_TEXT, pack_bytes(c, x, true, v);
  if (flags & (Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS)) return *code = GD_LIST, pack_list(c, x, name, writes, depth, v);
  if (flags & Py_TPFLAGS_BYTES_SUBCLASS) return *code = GD_BYTES, pack_bytes(c, x, false, v);
  if (type == gd_dtype_type) return *code = GD_DTYPE, v->v_type = ((gd_descriptor *)x)->value.dtype, true;
  if (type == gd_device_type) return *code = GD_DEVICE, v->v_device = ((gd_descriptor *)x)->value.device, true;
  if (gd_plan_of(type) == NULL && !(flags & Py_TPFLAGS_TYPE_SUBCLASS) && PyCallable_Check(x)) return *code = GD_CALLABLE, v->v_handle = x, true;
  return pack_by_go(c, x, name, writes, depth, to, i, r);
}

/* Packs x into place i of a list. name is the parameter's, NULL for what a callable returned; r is room for a tensor. */
static inline bool pack(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r) {
  if (pack_tensor(c, x, writes, to, i, r)) return follow_owner(c, x, to->values[i].v_handle);
  return pack_other(c, x, name, writes, depth, to, i, r);
}

/* like=: an array type, or an array. What Go must convert to is tried once, before the call. */
GD_RARE static bool take_like(call *c, PyObject *like) {
  bool is_type = PyType_GetFlags(Py_TYPE(like)) & Py_TPFLAGS_TYPE_SUBCLASS;
  PyTypeObject *type = is_type ? (PyTypeObject *)like : Py_TYPE(like);
  if (like == Py_None) return true;
  if (type != gd_tensor_type && !gd_numpy_is_type(type) && gd_plan_of(type) == NULL) {
    PyObject *tried = gd_enter(GD_OP_function_like, (PyObject *)c->f, &like, 1, NULL);
    if (tried == NULL) return false;
    Py_DecRef(tried);
  }
  choose(c, (PyObject *)type, gd_plan_of(type));
  return true;
}

/* Gives each parameter its argument, as Python does. */
GD_RARE static bool bind(call *c, PyObject **objects, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
  const gd_function *f = c->f;
  if (n > f->count)
    return PyErr_Format(PyExc_TypeError, "%U() takes %d positional argument%s but %zd %s given", f->name, f->count,
                        f->count == 1 ? "" : "s", n, n == 1 ? "was" : "were"), false;
  for (Py_ssize_t i = 0; i < f->count; i++) objects[i] = i < n ? args[i] : NULL;
  PyObject *like = Py_None;
  for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_Size(kwnames); k++) {
    PyObject *name = PyTuple_GetItem(kwnames, k), *x = args[n + k];
    int i = 0;
    while (i < f->count && f->parameters[i] != name) i++;
    if (i == f->count) /* not the same object: perhaps the same name */
      for (i = 0; i < f->count && PyUnicode_Compare(f->parameters[i], name) != 0; i++) {}
    if (i == f->count && f->outputs != 0 && PyUnicode_CompareWithASCIIString(name, "like") == 0) like = x;
    else if (i == f->count && f->outputs != 0 && PyUnicode_CompareWithASCIIString(name, "out") == 0) c->out = x == Py_None ? NULL : x;
    else if (i == f->count) return PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", f->name, name), false;
    else if (objects[i] != NULL) return PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", f->name, name), false;
    else objects[i] = x;
  }
  c->objects = objects;
  return take_like(c, like);
}

static bool pack_arguments(call *c, const GDList *to, record *records) {
  const gd_function *f = c->f;
  for (int i = 0; i < f->count; i++) {
    bool writes = i >= 64 || f->writes >> i & 1;
    if (c->objects[i] == NULL) to->codes[i] = GD_DEFAULT, to->values[i].v_int64 = 0, to->flags[i] = 0;
    else if (!pack(c, c->objects[i], f->parameters[i], writes, 0, to, i, i < FEW ? &records[i] : NULL))
      return false;
  }
  return true;
}

/* ---- out= ---- */

static void keep_offer(DLManagedTensorVersioned *m) { (void)m; }

/* out=: Go looks whether it will do, and whether the memory of the one output may be offered: if not, it is filled at the
   end. */
GD_RARE static bool take_out(call *c, const GDList *args) {
  TVMValue value;
  int32_t code;
  uint64_t flags;
  GDList out = {1, &value, &code, &flags};
  PyObject *name = gd_hold(c, PyUnicode_InternFromString("out"));
  if (name == NULL || !gd_before_python(c)) return false;
  if (PyType_GetFlags(Py_TYPE(c->out)) & Py_TPFLAGS_LIST_SUBCLASS && (c->out = gd_hold(c, PyList_AsTuple(c->out))) == NULL) return false;
  if (!pack(c, c->out, name, true, 0, &out, 0, NULL) || !gd_before_python(c)) return false;
  PyObject *where[] = {gd_hold(c, PyLong_FromVoidPtr((void *)args)), gd_hold(c, PyLong_FromVoidPtr(&out)), gd_hold(c, PyLong_FromLong(c->f->outputs))};
  PyObject *offered = where[0] && where[1] && where[2] ? gd_enter(GD_OP_function_out, (PyObject *)c->f, where, 3, NULL) : NULL;
  if (offered == NULL) return false;
  bool failed = offered == Py_True && (c->offer = gd_reserve(c, sizeof *c->offer)) == NULL;
  if (c->offer != NULL)
    *c->offer = (offer){{{DLPACK_MAJOR, DLPACK_MINOR}, NULL, keep_offer, flags & DLPACK_SUBBYTE_PADDED, *(DLTensor *)value.v_handle}, false};
  Py_DecRef(offered);
  return !failed;
}

/* Whether t has the dtype and the shape that were asked for. */
static bool alike(const DLTensor *t, const DLTensor *want) {
  return t->ndim == want->ndim && memcmp(&t->dtype, &want->dtype, sizeof t->dtype) == 0 &&
         (t->ndim == 0 || (gd_is_address(t->shape) && memcmp(t->shape, want->shape, (size_t)t->ndim * sizeof *t->shape) == 0));
}

static bool takes(offer *o, const DLTensor *want) {
  if (o == NULL || !alike(&o->m.dl_tensor, want)) return false;
  return memcmp(&o->m.dl_tensor.device, &want->device, sizeof want->device) == 0 && !atomic_exchange(&o->taken, true);
}

/* Where out= wants the next output, borrowed; NULL if nowhere. */
static PyObject *wanted(call *c) {
  if (c->out == NULL || c->given >= c->f->outputs) return NULL;
  int i = c->given++;
  return PyType_GetFlags(Py_TYPE(c->out)) & Py_TPFLAGS_TUPLE_SUBCLASS ? PyTuple_GetItem(c->out, i) : c->out;
}

/* ---- what the library may ask for meanwhile ---- */

static void host_fail(GDContext *host, const char *kind, const char *message, size_t n) {
  size_t before = strlen(kind = kind == NULL ? "" : kind) + 1;
  failure *f = malloc(sizeof *f + before + (n = message == NULL ? 0 : n));
  if (f == NULL) return (void)(((call *)host)->speechless = true);
  *f = (failure){n, f->kind + before};
  memcpy(f->kind, kind, before);
  if (n > 0) memcpy(f->kind + before, message, n);
  free(atomic_exchange(&((call *)host)->failure, f)); /* allocations may fail on several threads */
}

static void allocation_failed(void *host, const char *kind, const char *message) {
  host_fail(host, kind, message, message == NULL ? 0 : strlen(message));
}

/* gd_call_fails says why the call fails, if Python says nothing.
   C because: (c).
   GIL: any.
   Owns: nothing passes.
   Threads: any. */
void gd_call_fails(call *c, const char *kind, const char *message) { allocation_failed(&c->host, kind, message); }

/* gd_call_forked says that this is a child of the process that made the call.
   C because: (c).
   GIL: any.
   Owns: nothing passes.
   Threads: the calling one. */
void gd_call_forked(call *c) {
  gd_call_fails(c, "RuntimeError", "this process was forked in the middle of the call, which only its parent can end");
}

/* Memory of a device for a framework whose table has no allocator, or that has no table: ours, made by Go. */
static int allocate_by_go(call *c, const DLTensor *t, DLManagedTensorVersioned **out) {
  if (gd_is_finalizing()) return -1;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *args[] = {gd_tuple_of(t->shape, t->ndim), gd_dtype_object(t->dtype), gd_device_object(t->device)}, *x = NULL;
  if (gd_before_python(c) && args[0] && args[1] && args[2]) x = gd_enter(GD_OP_function_allocate, (PyObject *)c->f, args, 3, NULL);
  *out = x == NULL ? NULL : gd_export_versioned((gd_tensor *)x, 0);
  for (int i = 0; i < 3; i++)
    Py_DecRef(args[i]);
  Py_DecRef(x);
  if (*out == NULL) keep_exception(c);
  PyGILState_Release(gil);
  return *out == NULL ? -1 : 0;
}

static int host_allocate(GDContext *host, DLTensor *prototype, DLManagedTensorVersioned **out) {
  call *c = (call *)host;
  const DLPackExchangeAPI *api = c->protocol == GD_BY_TABLE && c->api->managed_tensor_allocator != NULL ? c->api : &gd_exchange_api;
  if (takes(c->offer, prototype)) return *out = &c->offer->m, 0;
  *out = NULL;
  if (api == &gd_exchange_api && prototype->device.device_type != kDLCPU) return allocate_by_go(c, prototype, out);
  int rc = api->managed_tensor_allocator(prototype, out, host, allocation_failed);
  if (rc == 0 && *out != NULL) return 0;
  if (c->failure == NULL) allocation_failed(host, "MemoryError", "the caller's framework has no memory for an output");
  return -1;
}

/* Where Python code ran, the process may have forked: the child has no Go to go back to. It leaves the call from here, over
   Go's frames, which stay behind on the stack, with the exception that it has, if it has one. */
static int go_back(call *c, int rc) {
  if (gd_forks() == c->forks && !c->lost) return rc;
  if (c->lost) longjmp(*c->back, GD_ABANDONED);
  gd_call_forked(c);
  longjmp(*c->back, GD_FORKED);
}

/* Takes the GIL for the calling thread, and gives it up again. A callback waits: another greenlet of its thread may call. */
static void take_gil(call *c) {
  gd_unwatch_call(c);
  if (c->thread != NULL) PyEval_RestoreThread(c->thread);
  c->thread = NULL;
  gd_begin_wait(c);
}

static void give_gil(call *c) {
  gd_end_wait(c);
  if (!c->f->holds) c->thread = PyEval_SaveThread();
  gd_watch_call(c);
}

/* gd_poll_here looks for signals: nonzero if one's handler raised an exception.
   C because: (b).
   GIL: held; runs Python's code.
   Owns: nothing passes.
   Threads: the calling one. */
int gd_poll_here(call *c) {
  c->stopped = c->stopped || !gd_before_python(c) || PyErr_CheckSignals() != 0;
  if (c->stopped) keep_exception(c);
  return c->stopped;
}

/* gd_stream_here asks for the current stream of a device. Where no argument lies on it, the framework of the outputs decides.
   C because: (b).
   GIL: held.
   Owns: nothing passes.
   Threads: the calling one. */
int gd_stream_here(call *c, DLDevice device, void **out) {
  bool known = device.device_type != kDLCUDA || c->protocol != GD_BY_TABLE || follow(c, c->api, device.device_id);
  if (!known) keep_exception(c);
  return known ? gd_exchange_api.current_work_stream(device.device_type, device.device_id, out) : -1;
}

static PyObject *wrap(call *c, TVMValue *v, int code, bool top);
static PyObject *refuse(call *c);
static void drop(TVMValue v, int code);
static bool may_give_gil(call *c);

/* gd_invoke_here calls a callable with what the library passes, and gathers what it returns.
   C because: (b).
   GIL: held; runs Python's code.
   Owns: takes the arguments; the call holds the result.
   Threads: the calling one. */
int gd_invoke_here(call *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  uint64_t flags;
  GDList to = {1, ret, ret_code, &flags};
  PyObject *tuple = gd_before_python(c) ? PyTuple_New(n) : NULL;
  bool done = tuple != NULL;
  for (int i = 0; done && i < n; i++) {
    PyObject *x = wrap(c, &args[i], codes[i], false);
    done = x != NULL && PyTuple_SetItem(tuple, i, x) == 0;
  }
  PyObject *result = done ? gd_hold(c, PyObject_Call(callable, tuple, NULL)) : NULL;
  done = result != NULL && pack(c, result, NULL, false, 0, &to, 0, NULL) && may_give_gil(c);
  if (!done) keep_exception(c);
  Py_DecRef(tuple);
  for (int i = 0; i < n; i++) drop(args[i], codes[i]);
  return done ? 0 : -1;
}

static int host_poll(GDContext *host) {
  call *c = (call *)host;
  if (gd_is_finalizing()) return 1;
  if (gd_is_elsewhere(c)) return gd_ask_caller(c, &(question){.what = ASK_POLL});
  take_gil(c);
  int rc = gd_poll_here(c);
  give_gil(c);
  return go_back(c, rc);
}

static int host_current_stream(GDContext *host, DLDevice device, void **out) {
  call *c = (call *)host;
  if (device.device_type != kDLCUDA || c->protocol != GD_BY_TABLE || follows(c, device.device_id))
    return gd_exchange_api.current_work_stream(device.device_type, device.device_id, out);
  if (gd_is_finalizing()) return -1;
  if (gd_is_elsewhere(c)) return gd_ask_caller(c, &(question){.what = ASK_STREAM, .device = device, .out = out});
  take_gil(c);
  int rc = gd_stream_here(c, device, out);
  give_gil(c);
  return rc;
}

static int host_invoke(GDContext *host, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  call *c = (call *)host;
  if (gd_is_finalizing()) return -1;
  if (gd_is_elsewhere(c)) return gd_ask_caller(c, &(question){ASK_INVOKE, {0}, NULL, callable, args, codes, n, ret, ret_code});
  take_gil(c);
  int rc = gd_invoke_here(c, callable, args, codes, n, ret, ret_code);
  give_gil(c);
  return go_back(c, rc);
}

/* ---- results ---- */

static PyObject *bad_result(const call *c, const char *what) {
  return PyErr_Format(PyExc_RuntimeError, "%U(): its library returned %s", c->f->name, what);
}

static bool wants_numpy(const call *c) { return c->protocol == GD_BY_NUMPY || gd_numpy_is_type((PyTypeObject *)c->like); }

/* The tensor t as an object of the caller's framework; takes t. */
static PyObject *convert(call *c, PyObject *t) {
  PyObject *made = NULL, *args[] = {t, c->like};
  if (c->like == (PyObject *)gd_tensor_type) return t;
  if (wants_numpy(c)) made = gd_numpy_to_array((gd_tensor *)t);
  if (made == NULL && PyErr_Occurred() == NULL) made = gd_enter(GD_OP_function_convert, (PyObject *)c->f, args, 2, NULL);
  Py_DecRef(t);
  return made;
}

/* Fills the tensor wanted by out= with x, and is that tensor then; takes x. */
static PyObject *fill(call *c, PyObject *out, PyObject *x) {
  PyObject *args[] = {out, x, c->out};
  if (out == NULL || x == NULL || x == out) return x;
  PyObject *done = gd_enter(GD_OP_function_fill, (PyObject *)c->f, args, 3, NULL);
  Py_DecRef(x);
  if (done == NULL) return NULL;
  Py_DecRef(done);
  return Py_IncRef(out), out;
}

/* Whether an allocator gave what it was asked for: memory like want, which is compact. */
static bool is_as_asked(const DLManagedTensorVersioned *m, const DLTensor *want) {
  const DLTensor *t = &m->dl_tensor;
  if (m->flags & DLPACK_READ_ONLY || !gd_is_address(t->data) || (t->strides != NULL && !gd_is_address(t->strides))) return false;
  if (t->device.device_type != want->device.device_type || !alike(t, want)) return false;
  for (int i = 0; t->strides != NULL && i < t->ndim; i++)
    if (t->shape[i] != 1 && t->strides[i] != want->strides[i]) return false;
  return true;
}

/* Copies an output from the call's scratch into memory of the caller's framework. False with an exception. */
static bool copy_out(call *c, TVMValue *v) {
  const DLTensor *from = &((DLManagedTensorVersioned *)v->v_handle)->dl_tensor;
  DLTensor prototype = {NULL, from->device, from->ndim, from->dtype, from->shape, NULL, 0};
  DLManagedTensorVersioned *m;
  if (host_allocate(&c->host, &prototype, &m) != 0) return refuse(c), false;
  v->v_handle = m;
  if (is_as_asked(m, from)) return memcpy((char *)m->dl_tensor.data + m->dl_tensor.byte_offset, from->data, (size_t)gd_byte_count(from, 0)), true;
  return PyErr_Format(PyExc_BufferError, "%U(): the caller's allocator gave another tensor than it was asked for", c->f->name), false;
}

/* An output. What its own framework allocated goes back there at once, if nothing forbids it (R61). */
static PyObject *wrap_managed(call *c, TVMValue *v, PyObject *out) {
  DLManagedTensorVersioned *m = v->v_handle;
  void *made = NULL;
  if (m == NULL) return bad_result(c, "no tensor");
  if (c->offer != NULL && m == &c->offer->m) return v->v_handle = NULL, Py_IncRef(c->out), c->out;
  if (in_scratch(c, m)) {
    if (wants_numpy(c)) return gd_numpy_copy(&m->dl_tensor);
    if (!copy_out(c, v)) return NULL;
    m = v->v_handle;
  }
  bool plain = m->version.major == DLPACK_MAJOR && m->flags == 0 && gd_fast_path_ok(&m->dl_tensor);
  if (plain && out == NULL && c->protocol == GD_BY_TABLE) {
    if (c->api->managed_tensor_to_py_object_no_sync(m, &made) == 0 && made != NULL) return v->v_handle = NULL, made;
    PyErr_Clear(); /* Go knows why, or another protocol */
  }
  if (gd_exchange_api.managed_tensor_to_py_object_no_sync(m, &made) != 0) return NULL;
  v->v_handle = NULL;
  return out != NULL ? made : convert(c, made);
}

static PyObject *wrap_list(call *c, const GDList *l, int code, bool top) {
  if (l == NULL || l->n < 0 || (l->n > 0 && (l->values == NULL || l->codes == NULL))) return bad_result(c, "a list that is not valid");
  PyObject *made = code == GD_LIST ? PyList_New(l->n) : PyTuple_New(l->n);
  for (int64_t i = 0; made != NULL && i < l->n; i++) {
    PyObject *x = wrap(c, &l->values[i], l->codes[i], top && code == GD_TUPLE);
    if (x != NULL && (code == GD_LIST ? PyList_SetItem(made, i, x) : PyTuple_SetItem(made, i, x)) == 0) continue;
    Py_DecRef(made);
    return NULL;
  }
  return made;
}

/* Makes a Python object of a packed value. Of what v owns, only a tensor is taken. At the top, and in a tuple there, are the
   outputs that out= wants somewhere. */
static PyObject *wrap(call *c, TVMValue *v, int code, bool top) {
  const TVMByteArray *b = v->v_handle;
  PyObject *x, *out = top && (code == GD_MANAGED || code == GD_ARGUMENT) ? wanted(c) : NULL;
  switch (code) {
    case GD_NULL: return Py_IncRef(Py_None), Py_None;
    case GD_INT: return PyLong_FromLongLong(v->v_int64);
    case GD_UINT: return PyLong_FromUnsignedLongLong((uint64_t)v->v_int64);
    case GD_FLOAT: return PyFloat_FromDouble(v->v_float64);
    case GD_BOOL: return PyBool_FromLong(v->v_int64 != 0);
    case GD_DTYPE: return gd_dtype_object(v->v_type);
    case GD_DEVICE: return gd_device_object(v->v_device);
    case GD_TEXT: return b == NULL ? bad_result(c, "no text") : PyUnicode_FromStringAndSize(b->data, (Py_ssize_t)b->size);
    case GD_BYTES: return b == NULL ? bad_result(c, "no bytes") : PyBytes_FromStringAndSize(b->data, (Py_ssize_t)b->size);
    case GD_LIST: case GD_TUPLE: return wrap_list(c, v->v_handle, code, top);
    case GD_MANAGED: return fill(c, out, wrap_managed(c, v, out));
    case GD_ARGUMENT:
      if (v->v_int64 < 0 || v->v_int64 >= c->f->count) return bad_result(c, "an argument that there is not");
      x = c->objects[v->v_int64] == NULL ? Py_None : c->objects[v->v_int64];
      return Py_IncRef(x), fill(c, out, x);
    default: return PyErr_Format(PyExc_RuntimeError, "%U(): its library returned a value of code %d", c->f->name, code);
  }
}

/* Gives back what a result owns, but for the tensors that were taken. */
static void drop(TVMValue v, int code) {
  if (code == GD_MANAGED) gd_managed_drop(v.v_handle, NULL);
  const GDList *l = v.v_handle;
  bool list = (code == GD_LIST || code == GD_TUPLE) && l != NULL;
  for (int64_t i = 0; list && i < l->n && l->values != NULL && l->codes != NULL; i++) drop(l->values[i], l->codes[i]);
  if (list || code == GD_TEXT || code == GD_BYTES) free(v.v_handle);
}

/* ---- the call ---- */

/* The exception of a call that failed: one that Python itself raised goes first, then what fail() was told. */
GD_RARE static PyObject *refuse(call *c) {
  PyObject *class = PyExc_RuntimeError;
  if (c->class != NULL) {
    PyErr_Restore(c->class, c->value, c->trace);
    c->class = c->value = c->trace = NULL;
    return NULL;
  }
  const failure *f = c->failure;
  if (f == NULL && c->speechless) return PyErr_NoMemory();
  if (f == NULL) return PyErr_Format(class, "%U() failed, and did not say why", c->f->name);
  PyObject *kind = PyUnicode_FromStringAndSize(f->kind, (Py_ssize_t)strlen(f->kind));
  PyObject *named = kind == NULL ? NULL : PyDict_GetItemWithError(PyEval_GetBuiltins(), kind); /* which keeps it */
  Py_DecRef(kind);
  if (named == NULL && PyErr_Occurred() != NULL && PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
  PyErr_Clear(); /* no such name: it is not UTF-8 */
  bool exception = named != NULL && PyType_GetFlags(Py_TYPE(named)) & Py_TPFLAGS_TYPE_SUBCLASS &&
                   PyType_IsSubtype((PyTypeObject *)named, (PyTypeObject *)PyExc_Exception);
  PyObject *text = PyUnicode_DecodeUTF8(f->message, (Py_ssize_t)f->size, "replace");
  if (text == NULL) return NULL;
  PyErr_SetObject(exception ? named : class, text);
  Py_DecRef(text);
  return NULL;
}

/* The one call into the library. */
static int cross(call *c, const GDList *args) {
  jmp_buf back;
  c->back = &back;
  int left = setjmp(back);
  if (left != 0) return c->code = GD_NULL, left;
  gd_watch_call(c);
  int rc = c->library->call(args->values, args->codes, (int)args->n, &c->result, &c->code, &c->host);
  gd_unwatch_call(c);
  return rc == 0 ? 0 : -1;
}

/* While the GIL is given up, other threads may change what is passed, if there are any. */
static bool may_give_gil(call *c) { return c->borrowed == NULL || c->f->holds || gd_is_alone() || gd_pin_borrowed(c); }

static PyObject *enter(call *c, const GDList *args) {
  if (!may_give_gil(c)) return NULL;
  take_scratch(c);
  c->forks = gd_forks();
  c->host = (GDContext){sizeof c->host, c->f->index, args->flags, host_allocate, host_poll, host_invoke, host_fail, 0, host_current_stream,
                        c->scratch, c->scratch == NULL ? 0 : SCRATCH};
  bool elsewhere = gd_waiting != 0 && gd_needs_standin(c);
  if (!c->f->holds) c->thread = PyEval_SaveThread();
  int rc = elsewhere ? gd_stand_in(c, args) : cross(c, args);
  if (c->thread != NULL) PyEval_RestoreThread(c->thread);
  c->thread = NULL;
  if (rc == GD_ABANDONED) return gd_abandon(c);
  if (rc != 0) return refuse(c);
  PyObject *made = c->stopped ? refuse(c) : wrap(c, &c->result, c->code, true);
  drop(c->result, c->code);
  return made;
}

/* Field by field: clearing the whole call by one instruction, as compilers do, takes as long as seeing an argument. */
static void begin(call *c, const gd_function *f, PyObject *const *objects) {
  c->f = f;
  c->objects = objects;
  c->like = c->out = c->class = c->value = c->trace = NULL;
  c->protocol = 0;
  c->given = 0;
  c->offer = NULL;
  c->scratch = NULL;
  c->thread = NULL;
  c->stopped = c->lost = false;
  c->holds = f->holds;
  atomic_init(&c->failure, NULL);
  atomic_init(&c->speechless, false);
  c->result.v_int64 = 0;
  c->code = GD_NULL;
  c->blocks = NULL;
  c->left = 0;
  c->held = NULL;
  c->followed = NULL;
  c->nested = 0;
  c->borrowed = c->pinned = NULL;
  c->standin = NULL;
}

static GD_OWN frame *frames; /* that no call uses */
static GD_OWN frame *left;   /* of calls that were left: goroutines may still look at them */

static frame *take_frame(void) {
  frame *f = frames;
  if (f != NULL) frames = f->next;
  else if ((f = malloc(sizeof *f)) == NULL) PyErr_NoMemory();
  return f;
}

static void give_frame(frame *f, frame **to) {
  f->next = *to;
  *to = f;
}

/* gd_call is the vectorcall of Function.
   C because: (b), (d).
   GIL: held; released while the library runs, unless its declaration says otherwise.
   Owns: the result is the caller's; on failure NULL with an exception set, and nothing is held.
   Threads: any with the GIL. */
PyObject *gd_call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames) {
  const gd_function *f = (gd_function *)self;
  if (gd_library_open(f->library, f) == NULL) return NULL;
  frame *fr = take_frame();
  if (fr == NULL) return NULL;
  call *c = &fr->call;
  begin(c, f, args);
  PyObject **all = fr->objects, *made = NULL;
  GDList list = {f->count, fr->values, fr->codes, fr->flags};
  Py_ssize_t n = (Py_ssize_t)(nargs & ~GD_VECTORCALL_ARGUMENTS_OFFSET);
  bool ready = true;
  if (f->count > FEW) {
    list.values = gd_reserve(c, (size_t)f->count * (sizeof *list.values + sizeof *list.flags + sizeof *list.codes + sizeof *all));
    list.flags = (uint64_t *)(list.values + f->count);
    all = (PyObject **)(list.flags + f->count);
    list.codes = (int32_t *)(all + f->count);
    ready = list.values != NULL;
  }
  if (ready && (n != f->count || kwnames != NULL)) ready = bind(c, all, args, n, kwnames);
  if (ready && pack_arguments(c, &list, fr->records) && (c->out == NULL || take_out(c, &list)) &&
      (c->like != NULL || f->like == NULL || (gd_function_like((gd_function *)self) && take_like(c, f->like)))) {
    if (c->like == NULL) c->like = (PyObject *)gd_tensor_type;
    c->library = gd_library_open(f->library, f); /* once more: an argument's own code may have forked */
    made = c->library == NULL ? NULL : enter(c, &list);
  }
  if (c->lost) return give_frame(fr, &left), NULL;
  let_go(c);
  give_frame(fr, &frames);
  return made;
}
