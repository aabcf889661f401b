/* The arguments of a call: Python objects become packed values. Tensors whose type has a plan are borrowed in place, in
   nanoseconds; Go converts unusual objects to something that can be packed.
   The way of a tensor: docs/architecture.md, "Four paths through the code", 4. */
#include "call.h"
#include "object.h"

enum {
  DEEP = 64,            /* lists in lists */
  MOST_NESTED = 1 << 24 /* elements of these */
};

/* ---- streams of their devices ---- */

/* gd_follows reports whether the call follows a stream of the device.
   GIL: not needed.
   Threads: the calling one. */
bool gd_follows(const call *c, int32_t device) {
  for (followed *f = c->tensors.followed; f != NULL; f = f->next)
    if (f->device == device) return true;
  return false;
}

/* gd_follow makes the framework's current stream on a CUDA device ours too, until the call ends: the library gets it, and so do
   producers and consumers meanwhile. The first framework on a device decides.
   GIL: held; runs the framework's code.
   Threads: the calling one. */
bool gd_follow(call *c, const DLPackExchangeAPI *api, int32_t device) {
  if (gd_follows(c, device)) return true;
  uintptr_t *current = gd_current_stream(device, true);
  if (current == NULL)
    return PyErr_Format(PyExc_BufferError, "%U(): cannot store a stream of cuda:%d: want a device number below 64",
                        c->f->qualname, (int)device),
           false;
  void *stream = (void *)*current; /* if the table has no such function */
  if (api->current_work_stream != NULL && api->current_work_stream(kDLCUDA, device, &stream) != 0) {
    if (PyErr_Occurred() == NULL)
      PyErr_Format(PyExc_RuntimeError, "%U(): the caller's framework did not return its stream of cuda:%d",
                   c->f->qualname, (int)device);
    return false;
  }
  followed *f = gd_reserve(c, sizeof *f);
  if (f == NULL) return false;
  *f = (followed){c->tensors.followed, device, current, *current};
  c->tensors.followed = f;
  *current = (uintptr_t)stream;
  return true;
}

/* Follows the library of x, from which t was borrowed. */
static bool follow_owner(call *c, PyObject *x, const DLTensor *t) {
  const gd_plan *plan = t->device.device_type == kDLCUDA ? gd_plan_of(Py_TYPE(x)) : NULL;
  return t->device.device_type != kDLCUDA ||
         gd_follow(c, plan != NULL && plan->protocol == GD_BY_TABLE ? plan->api : &gd_exchange_api,
                   t->device.device_id);
}

/* ---- arguments ---- */

/* The first tensor decides the type of the outputs. */
static void choose(call *c, PyObject *type, const gd_plan *plan) {
  if (c->outputs.like != NULL) return;
  c->outputs.like = type;
  if (plan != NULL) c->outputs.protocol = plan->protocol, c->outputs.api = plan->api;
}

/* Gives r its own shape and strides, since the owner may change its own at any time. */
static bool own_dims(call *c, record *r) {
  int n = r->t.ndim;
  int64_t *dims = n <= FEW ? r->dims : gd_reserve(c, 2 * (size_t)n * sizeof *dims);
  if (dims == NULL) return false;
  for (int i = 0; i < n; i++) dims[i] = r->t.shape[i], dims[n + i] = r->t.strides[i];
  r->t.shape = dims;
  r->t.strides = dims + n;
  return true;
}

/* Borrows a tensor by its type's table. The guards of a type that is not torch's own may be Python code: it runs before the
   tensor is read, and after the others are pinned. */
static bool borrow_by_table(call *c, PyObject *x, const gd_plan *plan, bool writes, record *r) {
  const DLPackExchangeAPI *api = plan->api;
  r->object = x;
  r->api = api;
  r->torch = plan->torch;
  r->imported = false;
  if (api->dltensor_from_py_object_no_sync == NULL || (writes && !plan->guarded))
    return false; /* it may be read-only */
  if (api->dltensor_from_py_object_no_sync(x, &r->t) != 0 || !gd_fast_path_ok(&r->t)) return false;
  if (plan->asks_python) {
    if (!gd_before_python(c) || !gd_torch_fast_path_ok(x, plan, &r->t, writes)) return false;
    if (api->dltensor_from_py_object_no_sync(x, &r->t) != 0 || !gd_fast_path_ok(&r->t)) return false;
  } else if (plan->guarded && !gd_torch_fast_path_ok(x, plan, &r->t, writes)) {
    return false;
  }
  return own_dims(c, r);
}

/* Borrows a tensor in place, without Go. NULL if Go must handle it, with or without an exception. */
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
  r->next = c->tensors.borrowed;
  c->tensors.borrowed = r;
  return &r->t;
}

static bool pack_tensor(call *c, PyObject *x, bool writes, const GDList *to, int64_t i, record *r) {
  to->values[i].v_handle = (void *)borrow(c, x, writes, r, &to->flags[i]);
  to->codes[i] = GD_TENSOR;
  return to->values[i].v_handle != NULL;
}

/* Lets Go convert x, and make a plan for its type. A class that Go returns unchanged is a callable. */
GD_RARE static bool pack_by_go(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to,
                               int64_t i, record *r) {
  PyObject *args[] = {x, name == NULL ? Py_None : name, writes ? Py_True : Py_False, depth > 0 ? Py_True : Py_False},
           *y = NULL;
  PyErr_Clear();
  if (!gd_before_python(c)) return false;
  const gd_plan *plan = gd_plan_of(Py_TYPE(x));
  if (plan != NULL && (plan->protocol == GD_BY_METHOD || plan->protocol == GD_BY_BUFFER))
    y = gd_fast_from_dlpack(NULL, &x, 1, NULL);
  else y = gd_enter(GD_OP_function_argument, (PyObject *)c->f, args, 4, NULL);
  if (gd_hold(c, y) == NULL) return false;
  if (y == x) return to->codes[i] = GD_CALLABLE, to->values[i].v_handle = x, true;
  if (Py_TYPE(y) == gd_tensor_type) {
    choose(c, (PyObject *)Py_TYPE(x), gd_plan_of(Py_TYPE(x)));
    if (!follow_owner(c, x, &((gd_tensor *)y)->t) || !gd_pin_imported(c, x)) return false;
  }
  return gd_pack(c, y, name, writes, depth, to, i, r);
}

/* Lists that contain each other, or the same list many times, may have more elements than fit in memory. */
static bool may_nest(call *c, Py_ssize_t n, int depth) {
  if (depth >= DEEP)
    return PyErr_Format(PyExc_ValueError, "%U(): lists nested deeper than %d", c->f->qualname, DEEP), false;
  if (depth > 0) c->nested += n;
  if (c->nested <= MOST_NESTED) return true;
  return PyErr_Format(PyExc_ValueError, "%U(): nested lists with more than %d elements: pass a tensor, or one list",
                      c->f->qualname, MOST_NESTED),
         false;
}

static bool pack_list(call *c, PyObject *x, PyObject *name, bool writes, int depth, TVMValue *value) {
  bool tuple = PyType_GetFlags(Py_TYPE(x)) & Py_TPFLAGS_TUPLE_SUBCLASS;
  if (!tuple && (!gd_before_python(c) || (x = gd_hold(c, PyList_AsTuple(x))) == NULL))
    return false; /* the list may change; a new tuple may collect garbage */
  Py_ssize_t n = PyTuple_Size(x);
  if (!may_nest(c, n, depth)) return false;
  GDList *list = gd_reserve(
      c, sizeof *list + (size_t)n * (sizeof *list->values + sizeof *list->flags + sizeof *list->codes));
  if (list == NULL) return false;
  TVMValue *values = (TVMValue *)(list + 1);
  *list = (GDList){n, values, (int32_t *)((uint64_t *)(values + n) + n), (uint64_t *)(values + n)};
  value->v_handle = list;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!gd_pack(c, PyTuple_GetItem(x, i), name, writes, depth + 1, list, i, NULL)) return false;
  return true;
}

/* The library decides, by the parameter's kind, about an int beyond 64 bits. */
GD_RARE static bool pack_huge(call *c, PyObject *x, PyObject *name, TVMValue *value, int32_t *code) {
  *code = GD_UINT;
  value->v_int64 = (int64_t)PyLong_AsUnsignedLongLong(x);
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  *code = GD_HUGE;
  value->v_float64 = PyLong_AsDouble(x);
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  if (name == NULL)
    return PyErr_Format(PyExc_OverflowError, "%U(): the result of a callable: the int is too large, also for a float",
                        c->f->qualname),
           false;
  return PyErr_Format(PyExc_OverflowError, "%U(): argument '%U': the int is too large, also for a float",
                      c->f->qualname, name),
         false;
}

static bool pack_int(call *c, PyObject *x, PyObject *name, TVMValue *value, int32_t *code) {
  int overflow;
  *code = GD_INT;
  value->v_int64 = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow == 0 || pack_huge(c, x, name, value, code);
}

/* Texts, which may contain NUL, and bytes stay where Python keeps them. */
static bool pack_bytes(call *c, PyObject *x, bool text, TVMValue *value) {
  Py_ssize_t n = 0;
  char *data = NULL;
  if (text) data = (char *)PyUnicode_AsUTF8AndSize(x, &n);
  else PyBytes_AsStringAndSize(x, &data, &n); /* does not fail: x is bytes */
  TVMByteArray *bytes = data == NULL ? NULL : gd_reserve(c, sizeof *bytes);
  if (bytes != NULL) *bytes = (TVMByteArray){data, (size_t)n};
  value->v_handle = bytes;
  return bytes != NULL;
}

/* gd_pack for everything but tensors that can be borrowed in place. */
static bool pack_other(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i,
                       record *r) {
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
  if (flags & (Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS))
    return *code = GD_LIST, pack_list(c, x, name, writes, depth, v);
  if (flags & Py_TPFLAGS_BYTES_SUBCLASS) return *code = GD_BYTES, pack_bytes(c, x, false, v);
  if (type == gd_dtype_type) return *code = GD_DTYPE, v->v_type = ((gd_descriptor *)x)->value.dtype, true;
  if (type == gd_device_type) return *code = GD_DEVICE, v->v_device = ((gd_descriptor *)x)->value.device, true;
  if (gd_is_object(x)) return gd_object_pack(c, x, v, code);
  if (gd_plan_of(type) == NULL && !(flags & Py_TPFLAGS_TYPE_SUBCLASS) && PyCallable_Check(x))
    return *code = GD_CALLABLE, v->v_handle = x, true;
  return pack_by_go(c, x, name, writes, depth, to, i, r);
}

/* gd_pack packs x into place i of a list. name is the parameter's, NULL for the result of a callable; r is room for a tensor.
   GIL: held; may run Python code.
   Owns: the call holds what the value needs; false with an exception set on failure.
   Threads: the calling one. */
bool gd_pack(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r) {
  if (pack_tensor(c, x, writes, to, i, r)) return follow_owner(c, x, to->values[i].v_handle);
  return pack_other(c, x, name, writes, depth, to, i, r);
}

/* gd_take_like reads like=: an array type, or an array. If Go must convert the outputs, the conversion is tried once, before
   the call.
   GIL: held; may run Python code.
   Threads: the calling one. */
bool gd_take_like(call *c, PyObject *like) {
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

/* gd_bind assigns the arguments to parameters, as Python does.
   GIL: held; may run Python code.
   Owns: references are borrowed; false with an exception set on failure.
   Threads: the calling one. */
bool gd_bind(call *c, PyObject **objects, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
  const gd_function *f = c->f;
  if (n > f->positional && f->variadic < 0)
    return PyErr_Format(PyExc_TypeError, "%U() takes %d positional argument%s but %zd %s given", f->qualname,
                        f->positional, f->positional == 1 ? "" : "s", n, n == 1 ? "was" : "were"),
           false;
  for (Py_ssize_t i = 0; i < f->count; i++) objects[i] = i < n && i < f->positional ? args[i] : NULL;
  PyObject *like = Py_None;
  for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_Size(kwnames); k++) {
    PyObject *name = PyTuple_GetItem(kwnames, k), *x = args[n + k];
    int i = 0;
    while (i < f->count && f->parameters[i] != name) i++;
    if (i == f->count) /* another object, but perhaps an equal name */
      for (i = 0; i < f->count && PyUnicode_Compare(f->parameters[i], name) != 0; i++) {}
    if (i == f->variadic) i = f->count;
    if (i == f->count && f->outputs != 0 && PyUnicode_CompareWithASCIIString(name, "like") == 0) like = x;
    else if (i == f->count && f->outputs != 0 && PyUnicode_CompareWithASCIIString(name, "out") == 0)
      c->outputs.out = x == Py_None ? NULL : x;
    else if (i == f->count)
      return PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", f->qualname, name), false;
    else if (objects[i] != NULL)
      return PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", f->qualname, name), false;
    else objects[i] = x;
  }
  if (n > f->positional) {
    PyObject *more = gd_hold(c, PyTuple_New(n - f->positional));
    if (more == NULL) return false;
    for (Py_ssize_t i = f->positional; i < n; i++)
      PyTuple_SetItem(more, i - f->positional, (Py_IncRef(args[i]), args[i]));
    objects[f->variadic] = more;
  }
  c->objects = objects;
  return gd_take_like(c, like);
}

/* gd_pack_arguments packs all arguments.
   GIL: held; may run Python code.
   Owns: the call holds what the values need; false with an exception set on failure.
   Threads: the calling one. */
bool gd_pack_arguments(call *c, const GDList *to, record *records) {
  const gd_function *f = c->f;
  for (int i = 0; i < f->count; i++) {
    bool writes = i >= 64 || f->writes >> i & 1;
    if (i == 0 && f->role == GD_METHOD && c->objects[0] != NULL && gd_is_object(c->objects[0])) {
      to->flags[0] = 0;
      if (!gd_object_pack(c, c->objects[0], &to->values[0], &to->codes[0])) return false;
    } else if (c->objects[i] == NULL) to->codes[i] = GD_DEFAULT, to->values[i].v_int64 = 0, to->flags[i] = 0;
    else if (!gd_pack(c, c->objects[i], f->parameters[i], writes, 0, to, i, i < FEW ? &records[i] : NULL)) return false;
  }
  return true;
}
