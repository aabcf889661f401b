/* The fast paths: exchange at full speed, by plans that Go made. A fast path handles plain input only; at the first unusual
   thing it undoes its work, and Go handles the call from the start.
   The way of a tensor: docs/architecture.md, "Four paths through the code", 1 and 2. */
#include <string.h>

#include "core.h"

static GD_KEPT PyObject *str_requires_grad, *str_is_conj, *str_is_neg;
static GD_KEPT PyObject *str_dlpack, *str_dtype;
static GD_KEPT PyObject *no_arguments, *versioned_keyword; /* __dlpack__(max_version=(1, 3)) */
static GD_KEPT PyObject *str_stream, *str_max_version, *str_dl_device, *str_copy;

/* gd_fastpath_exec interns the names that the fast paths look up.
   Threads: the importing one. */
int gd_fastpath_exec(void) {
  struct {
    PyObject **where;
    const char *name;
  } names[] = {{&str_requires_grad, "requires_grad"},
               {&str_is_conj, "is_conj"},
               {&str_is_neg, "is_neg"},
               {&str_stream, "stream"},
               {&str_max_version, "max_version"},
               {&str_dl_device, "dl_device"},
               {&str_copy, "copy"},
               {&str_dlpack, "__dlpack__"},
               {&str_dtype, "dtype"}};
  if (versioned_keyword != NULL) return 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((*names[i].where = PyUnicode_InternFromString(names[i].name)) == NULL) return -1;
  PyObject *version = gd_tuple_of((int64_t[]){DLPACK_MAJOR, DLPACK_MINOR}, 2);
  PyObject *keyword = PyDict_New();
  no_arguments = PyTuple_New(0);
  if (version == NULL || keyword == NULL || no_arguments == NULL ||
      PyDict_SetItem(keyword, str_max_version, version) != 0)
    return -1;
  Py_DecRef(version);
  versioned_keyword = keyword;
  return 0;
}

/* ---- plans, by exact type (R63) ---- */

/* A type that collides with another replaces it; Go makes the other's plan again when an object of it comes back. */
static GD_OWN gd_plan own_plans[GD_PLANS];
GD_KEPT gd_plan *gd_plans = own_plans;

/* Finds a type's own requires_grad, as attribute lookup would for every object: a data descriptor, which no object's own
   attribute can hide, on a type with the usual attribute lookup. */
static void find_grad(gd_plan *p) {
  p->grad = PyObject_GetAttr((PyObject *)p->type, str_requires_grad);
  if (p->grad == NULL) return PyErr_Clear();
  PyTypeObject *kind = Py_TYPE(p->grad);
  p->get_grad = (descrgetfunc)PyType_GetSlot(kind, Py_tp_descr_get);
  bool data = p->get_grad != NULL && PyType_GetSlot(kind, Py_tp_descr_set) != NULL;
  if (data && PyType_GetSlot(p->type, Py_tp_getattro) == (void *)PyObject_GenericGetAttr) return;
  Py_DecRef(p->grad);
  p->grad = NULL;
}

/* gd_plan_set records what Go decided about a type.
   Owns: keeps a reference to the type, and to its requires_grad; the type's table lives for ever (R52). */
void gd_plan_set(gd_plan plan) {
  gd_plan *p = gd_plan_slot(plan.type);
  PyObject *old = (PyObject *)p->type, *old_grad = p->grad;
  Py_IncRef((PyObject *)plan.type);
  *p = plan;
  p->torch = gd_torch_is_type(plan.type);
  if (plan.guarded) find_grad(p);
  Py_DecRef(old);
  Py_DecRef(old_grad);
}

/* gd_plan_type returns the type of plan i, NULL if there is none.
   C because: (a).
   Owns: the result is borrowed. */
PyObject *gd_plan_type(int i) { return (PyObject *)gd_plans[i].type; }

/* ---- from_dlpack ---- */

static bool answers_false(PyObject *x, PyObject *method) {
  PyObject *answer = PyObject_CallMethodObjArgs(x, method, NULL);
  Py_DecRef(answer);
  return answer == Py_False;
}

/* gd_torch_fast_path_ok checks what torch's table does not report (R65): whether the tensor is a lazy conjugate or negative,
   whose memory holds other values than the tensor, and, with no_grad, whether it requires grad. Conjugates are complex. A
   negative of a real dtype is the imaginary part of a conjugate, so it has one element or gaps between its elements: all others
   are not asked.
   Owns: nothing passes; false, with or without an exception set, if Go must handle it. */
bool gd_torch_fast_path_ok(PyObject *x, const gd_plan *plan, const DLTensor *t, bool no_grad) {
  if (no_grad) {
    PyObject *grad = plan->grad != NULL ? plan->get_grad(plan->grad, x, (PyObject *)plan->type)
                                        : PyObject_GetAttr(x, str_requires_grad);
    Py_DecRef(grad);
    if (grad != Py_False) return false;
  }
  if (t->dtype.code == kDLComplex) return answers_false(x, str_is_conj) && answers_false(x, str_is_neg);
  if (t->dtype.code != kDLFloat || gd_compact_count(t) > 1) return true;
  return answers_false(x, str_is_neg);
}

static PyObject *take_by_table(PyObject *x, const gd_plan *plan) {
  DLManagedTensorVersioned *m = NULL;
  if (plan->api->managed_tensor_from_py_object_no_sync(x, &m) != 0 || m == NULL) return NULL;
  if (m->version.major == DLPACK_MAJOR) {
    bool plain = gd_fast_path_ok(&m->dl_tensor) &&
                 (!plan->guarded || gd_torch_fast_path_ok(x, plan, &m->dl_tensor, true));
    PyObject *tensor = plain ? gd_wrap_managed(m, m->flags) : NULL;
    if (tensor != NULL) return tensor;
  }
  gd_managed_drop(m, NULL);
  return NULL;
}

/* Imports the managed tensor in a live capsule, if it is plain. From the renaming on, it is ours (R36). */
static PyObject *import_capsule(PyObject *capsule, bool immutable) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (m->version.major != DLPACK_MAJOR || !gd_fast_path_ok(&m->dl_tensor)) return NULL;
    if (m->dl_tensor.device.device_type != kDLCPU) return NULL; /* the producer did not get our stream */
    if (PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0) return NULL;
    PyObject *tensor = gd_wrap_managed(m, m->flags);
    if (tensor == NULL) gd_managed_drop(m, NULL);
    return tensor;
  }
  if (!immutable || !PyCapsule_IsValid(capsule, "dltensor")) return NULL;
  DLManagedTensor *m = PyCapsule_GetPointer(capsule, "dltensor");
  if (!gd_fast_path_ok(&m->dl_tensor) || PyCapsule_SetName(capsule, "used_dltensor") != 0) return NULL;
  gd_storage *storage = gd_storage_of_legacy(m);
  PyObject *tensor = storage == NULL ? PyErr_NoMemory() : gd_tensor_new(&m->dl_tensor, DLPACK_READ_ONLY, storage);
  if (tensor == NULL && storage != NULL) gd_storage_release(storage);
  else if (tensor == NULL) gd_managed_drop(NULL, m);
  return tensor;
}

/* gd_blames_arguments reports whether the pending exception is a TypeError about a call's arguments, judged by its text.
   GIL: held; may run Python code.
   Owns: nothing passes; the exception stays pending. */
bool gd_blames_arguments(void) {
  static const char *const words[] = {"rgument", "keyword", "max_version"};
  PyObject *class, *value, *trace;
  bool found = false;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Fetch(&class, &value, &trace);
  PyErr_NormalizeException(&class, &value, &trace);
  PyObject *text = PyObject_Str(value);
  const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
  for (size_t i = 0; utf8 != NULL && i < sizeof words / sizeof *words; i++)
    found = found || strstr(utf8, words[i]) != NULL;
  Py_DecRef(text);
  PyErr_Restore(class, value, trace); /* replaces an exception of its str() */
  return found;
}

/* Calls a method again, with other arguments. If this call only fails because of its arguments, the first exception is
   raised. */
GD_RARE static PyObject *ask_again(PyObject *method, PyObject *keywords) {
  PyObject *class, *value, *trace;
  bool blamed = gd_blames_arguments();
  PyErr_Fetch(&class, &value, &trace);
  PyObject *answer = PyObject_Call(method, no_arguments, keywords);
  if (answer == NULL && !blamed && gd_blames_arguments()) return PyErr_Restore(class, value, trace), NULL;
  Py_DecRef(class);
  Py_DecRef(value);
  Py_DecRef(trace);
  return answer;
}

/* Calls x's __dlpack__ with max_version, or without arguments if its type's plan is bare. It tries the other form after an
   error that may be due to the arguments (R33): a TypeError about arguments, or a BufferError for what legacy capsules cannot
   express. */
static PyObject *ask_method(PyObject *x, bool bare) {
  PyObject *method = PyObject_GetAttr(x, str_dlpack);
  if (method == NULL) return NULL;
  PyObject *answer = PyObject_Call(method, no_arguments, bare ? NULL : versioned_keyword);
  if (answer == NULL && (gd_blames_arguments() || (bare && PyErr_ExceptionMatches(PyExc_BufferError))))
    answer = ask_again(method, bare ? versioned_keyword : NULL);
  Py_DecRef(method);
  return answer;
}

/* Imports x's answer, and drops the reference to it; Go handles an unusual one, so that x is not asked twice. A refused capsule
   may have a destructor in Python, which must not run with the exception pending. */
static PyObject *import_answer(PyObject *x, PyObject *answer, bool immutable) {
  PyObject *class, *value, *trace, *tensor = import_capsule(answer, immutable);
  if (tensor == NULL && PyErr_Occurred() == NULL) tensor = gd_enter(GD_OP_module_import_answer, x, &answer, 1, NULL);
  PyErr_Fetch(&class, &value, &trace);
  Py_DecRef(answer);
  PyErr_Restore(class, value, trace);
  return tensor;
}

/* gd_fast_from_dlpack is godlpack.from_dlpack: by the protocol in the plan for x's type, if there is one. Go handles an
   exception of a table (R67); one of x's own method goes to the caller.
   C because: (b), (c). */
PyObject *gd_fast_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  if (nargs == 1 && kwnames == NULL) {
    PyObject *x = args[0], *tensor = NULL, *answer;
    bool immutable;
    const gd_plan *plan = gd_plan_of(Py_TYPE(x));
    switch (plan == NULL ? 0 : plan->protocol) {
      case GD_BY_TABLE: tensor = take_by_table(x, plan); break;
      case GD_BY_NUMPY: tensor = gd_numpy_import(x); break;
      case GD_BY_BUFFER:
        if ((tensor = gd_numpy_import_buffer(x, str_dtype)) != NULL) return tensor;
        PyErr_Clear(); /* a dtype without a buffer format, or memory on another device */
        /* fall through */
      case GD_BY_METHOD:
        immutable = plan->immutable; /* x's Python code may change the plan */
        return (answer = ask_method(x, plan->bare)) == NULL ? NULL : import_answer(x, answer, immutable);
    }
    if (tensor != NULL) return tensor;
    PyErr_Clear();
  }
  return gd_enter(GD_OP_module_from_dlpack, module, args, nargs, kwnames);
}

/* ---- Tensor.to ---- */

static PyObject *make_by_table(gd_tensor *x, const gd_plan *plan) {
  void *made = NULL;
  if (x->flags & DLPACK_READ_ONLY) return NULL; /* importers of tables ignore the flag (R61) */
  if (x->t.device.device_type != kDLCPU && x->t.device.device_type != kDLCUDA)
    return NULL; /* other device types may crash torch */
  DLManagedTensorVersioned *m = gd_export_versioned(x, 0);
  if (m == NULL) return NULL;
  if (plan->api->managed_tensor_to_py_object_no_sync(m, &made) != 0 || made == NULL) {
    m->deleter(m); /* R56 */
    return NULL;
  }
  if (Py_TYPE(made) == plan->type) return made;
  Py_DecRef(made); /* an object of the base class that has the table: Go decides whether that suffices */
  return NULL;
}

/* gd_fast_to is Tensor.to: ndarrays are made by NumPy's C API, others through the table of the wanted type.
   C because: (b), (c). */
PyObject *gd_fast_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  if (nargs == 1 && kwnames == NULL) {
    PyTypeObject *type = Py_TYPE(args[0]);
    if (PyType_GetFlags(type) & Py_TPFLAGS_TYPE_SUBCLASS) type = (PyTypeObject *)args[0];
    const gd_plan *plan = gd_plan_of(type);
    PyObject *made = NULL;
    if (gd_numpy_is_type(type)) made = gd_numpy_to_array((gd_tensor *)self);
    else if (plan != NULL && plan->protocol == GD_BY_TABLE) made = make_by_table((gd_tensor *)self, plan);
    if (made != NULL) return made;
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
      PyObject *minor = PyTuple_GetItem(value, 1);
      long long major = PyLong_AsLongLong(PyTuple_GetItem(value, 0));
      if (major < 0 || Py_TYPE(minor) != &PyLong_Type) return PyErr_Clear(), -1;
      version = major >= 1;
    } else if (value != Py_None ||
               !(name == str_stream || name == str_max_version || name == str_dl_device || name == str_copy)) {
      return -1;
    }
  }
  return version;
}

/* gd_fast_dlpack is Tensor.__dlpack__ in its usual forms.
   C because: (b), (c). */
PyObject *gd_fast_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  gd_tensor *x = (gd_tensor *)self;
  int version = nargs == 0 ? usual_version(args, kwnames) : -1;
  bool says_less = version == 0 && (x->flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED)); /* R23 */
  if (version < 0 || says_less || x->t.device.device_type != kDLCPU)
    return gd_enter(GD_OP_tensor_dlpack, self, args, nargs, kwnames);
  return gd_capsule(x, version == 1, 0);
}
