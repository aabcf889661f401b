/* The lanes: exchange at full speed, by plans that Go made. A lane only handles what is plain; at the
   first thing out of the ordinary it puts everything back and lets Go handle the call from the start. */
#include <string.h>

#include "core.h"

static PyObject *str_requires_grad, *str_is_conj, *str_is_neg;
static PyObject *str_stream, *str_max_version, *str_dl_device, *str_copy;

/* gd_lane_exec interns the names that the lanes look up.
   C because: (c).
   GIL: held.
   Owns: nothing passes; on failure -1 with an exception set.
   Threads: the importing one. */
int gd_lane_exec(void) {
  struct { PyObject **where; const char *name; } names[] = {
      {&str_requires_grad, "requires_grad"}, {&str_is_conj, "is_conj"}, {&str_is_neg, "is_neg"}, {&str_stream, "stream"},
      {&str_max_version, "max_version"}, {&str_dl_device, "dl_device"}, {&str_copy, "copy"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (*names[i].where == NULL && (*names[i].where = PyUnicode_InternFromString(names[i].name)) == NULL) return -1;
  return 0;
}

/* ---- plans, by exact type (R63) ---- */

/* A type that collides with another takes its place; Go plans the other again when it comes back. */
static gd_plan plans[GD_PLANS];

static gd_plan *plan_slot(const PyTypeObject *type) { return &plans[((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15u >> 58]; }

/* gd_plan_set writes down what Go decided about a type that publishes a table.
   C because: (c).
   GIL: held.
   Owns: keeps a reference to type; the table lives for ever (R52).
   Threads: any with the GIL. */
void gd_plan_set(PyTypeObject *type, const DLPackExchangeAPI *api, bool guarded) {
  gd_plan *p = plan_slot(type);
  PyTypeObject *old = p->type;
  Py_IncRef((PyObject *)type);
  *p = (gd_plan){type, api, guarded};
  if (old != NULL) Py_DecRef((PyObject *)old);
}

/* gd_plan_type is the type of plan i, if there is one.
   C because: (a).
   GIL: held.
   Owns: the result is borrowed.
   Threads: any with the GIL. */
PyObject *gd_plan_type(int i) { return (PyObject *)plans[i].type; }

static const gd_plan *plan_of(const PyTypeObject *type) {
  const gd_plan *p = plan_slot(type);
  return p->type == type ? p : NULL;
}

/* ---- from_dlpack ---- */

static bool answers_false(PyObject *x, PyObject *method) {
  PyObject *answer = PyObject_CallMethodObjArgs(x, method, NULL);
  if (answer != NULL) Py_DecRef(answer);
  return answer == Py_False;
}

/* Whether the elements lie exactly as in row-major order, extents of 1 included. */
static bool is_compact(const DLTensor *t) {
  int64_t step = 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    if (t->strides[i] != step) return false;
    step *= t->shape[i];
  }
  return true;
}

/* What torch's table does not say (R65): whether the tensor requires grad, or is a lazy conjugate or negative,
   whose memory holds other values than the tensor. Conjugates are complex. A negative of a real dtype is the
   imaginary part of a conjugate, so it has one element or gaps between its elements: all others need not be asked. */
static bool torch_says_plain(PyObject *x, const DLTensor *t) {
  PyObject *grad = PyObject_GetAttr(x, str_requires_grad);
  if (grad != NULL) Py_DecRef(grad);
  if (grad != Py_False) return false;
  if (t->dtype.code == kDLComplex) return answers_false(x, str_is_conj) && answers_false(x, str_is_neg);
  if (t->dtype.code != kDLFloat || (gd_element_count(t) > 1 && is_compact(t))) return true;
  return answers_false(x, str_is_neg);
}

static PyObject *take_by_table(PyObject *x, const gd_plan *plan) {
  DLManagedTensorVersioned *m = NULL;
  if (plan->api->managed_tensor_from_py_object_no_sync(x, &m) != 0 || m == NULL) return NULL;
  if (m->version.major == DLPACK_MAJOR) {
    bool plain = gd_is_plain(&m->dl_tensor) && (!plan->guarded || torch_says_plain(x, &m->dl_tensor));
    PyObject *tensor = plain ? gd_adopt(m) : NULL;
    if (tensor != NULL) return tensor;
  }
  if (m->deleter != NULL) m->deleter(m);
  return NULL;
}

/* gd_lane_from_dlpack is godlpack.from_dlpack: by the table of x's type if there is a plan for it.
   C because: (b), (c).
   GIL: held.
   Owns: the result is the caller's; on failure NULL with an exception set, and nothing is held.
   Threads: any with the GIL. */
PyObject *gd_lane_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  if (nargs == 1 && kwnames == NULL) {
    const gd_plan *plan = plan_of(Py_TYPE(args[0]));
    if (plan != NULL) {
      PyObject *tensor = take_by_table(args[0], plan);
      if (tensor != NULL) return tensor;
      PyErr_Clear(); /* R67: Go tries again, and by the other roads */
    }
  }
  return gd_enter(GD_OP_module_from_dlpack, module, args, nargs, kwnames);
}

/* ---- Tensor.to ---- */

/* gd_lane_to is Tensor.to: through the table of the wanted type if there is a plan for it. Read-only tensors
   take Go's way: no table's importer honours the flag (R61).
   C because: (b), (c).
   GIL: held.
   Owns: the result is the caller's; on failure NULL with an exception set, and nothing is held.
   Threads: any with the GIL. */
PyObject *gd_lane_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  const gd_tensor *x = (gd_tensor *)self;
  if (nargs == 1 && kwnames == NULL && !(x->flags & DLPACK_READ_ONLY)) {
    PyTypeObject *type = Py_TYPE(args[0]);
    if (PyType_GetFlags(type) & Py_TPFLAGS_TYPE_SUBCLASS) type = (PyTypeObject *)args[0];
    const gd_plan *plan = plan_of(type);
    DLManagedTensorVersioned *m = plan == NULL ? NULL : gd_export_versioned(x, 0);
    if (m != NULL) {
      void *made = NULL;
      if (plan->api->managed_tensor_to_py_object_no_sync(m, &made) == 0 && made != NULL) return made;
      m->deleter(m); /* R56 */
    }
    PyErr_Clear();
  }
  return gd_enter(GD_OP_tensor_to, self, args, nargs, kwnames);
}

/* ---- Tensor.__dlpack__ ---- */

/* Reads the keywords of the usual calls (R4, R5): all None but max_version. 0 legacy, 1 versioned, -1 unusual. */
static int usual_version(PyObject *const *values, PyObject *kwnames) {
  int version = 0;
  Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_Size(kwnames);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *name = PyTuple_GetItem(kwnames, i), *value = values[i];
    if (name == str_max_version && Py_TYPE(value) == &PyTuple_Type && PyTuple_Size(value) == 2) {
      long long major = PyLong_AsLongLong(PyTuple_GetItem(value, 0));
      if (major < 0) return PyErr_Clear(), -1;
      version = major >= 1;
    } else if (value != Py_None || !(name == str_stream || name == str_max_version || name == str_dl_device || name == str_copy)) {
      return -1;
    }
  }
  return version;
}

/* gd_lane_dlpack is Tensor.__dlpack__ in its usual forms.
   C because: (b), (c).
   GIL: held.
   Owns: the result is the caller's; on failure NULL with an exception set, and nothing is held.
   Threads: any with the GIL. */
PyObject *gd_lane_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  const gd_tensor *x = (gd_tensor *)self;
  int version = nargs == 0 ? usual_version(args, kwnames) : -1;
  bool says_less = version == 0 && (x->flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED)); /* R23 */
  if (version < 0 || says_less || x->t.device.device_type != kDLCPU)
    return gd_enter(GD_OP_tensor_dlpack, self, args, nargs, kwnames);
  return gd_capsule(x, version == 1, 0);
}
