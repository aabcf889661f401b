/* The extension module bench_calls: callables that do nothing, for the calling overhead that is subtracted, and the
   floor. It is called from Python by the same conventions as godlpack, and declares Python as godlpack does. */
#include "pyabi.h"
#include "records.h"

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS

static PyObject *none(void) {
  Py_IncRef(Py_None);
  return Py_None;
}

/* ---- nothing, as a function, a method and an attribute ---- */

static PyObject *nothing(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  (void)self, (void)args, (void)nargs, (void)kwnames;
  return none();
}
static PyObject *nothing_more(PyObject *self, PyObject *ignored) { return (void)self, (void)ignored, none(); }
static PyObject *no_attribute(PyObject *self, void *ignored) { return (void)self, (void)ignored, none(); }

static PyMethodDef empty_methods[] = {
    {"method", (PyCFunction)(void *)nothing, KEYWORDS, NULL},
    {"method_without_arguments", nothing_more, METH_NOARGS, NULL},
    {0},
};
static PyGetSetDef empty_getset[] = {{"attribute", no_attribute, NULL, NULL, NULL}, {0}};
static PyType_Spec empty_spec = {"bench_calls.Empty", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT,
                                 (PyType_Slot[]){{Py_tp_methods, empty_methods}, {Py_tp_getset, empty_getset}, {0}}};

/* ---- the floor: what from_dlpack(torch tensor) costs whoever keeps its one guard ---- */

typedef struct {
  PyObject_HEAD
  DLManagedTensorVersioned *managed;
} holder;

static PyTypeObject *holder_type;
static PyObject *str_requires_grad;
static const DLPackExchangeAPI *api;

static void holder_dealloc(PyObject *self) {
  DLManagedTensorVersioned *m = ((holder *)self)->managed;
  m->deleter(m);
  PyObject_Free(self);
  Py_DecRef((PyObject *)holder_type);
}
static PyType_Spec holder_spec = {"bench_calls.Holder", sizeof(holder), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  (PyType_Slot[]){{Py_tp_dealloc, holder_dealloc}, {0}}};

static PyObject *hold(DLManagedTensorVersioned *m) {
  holder *h = PyObject_Malloc(sizeof *h);
  if (h == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)h, holder_type);
  h->managed = m;
  return (PyObject *)h;
}

/* Takes torch's managed tensor, reads requires_grad, makes an object that frees both. */
static PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  DLManagedTensorVersioned *m = NULL;
  (void)self;
  if (nargs != 1 || kwnames != NULL || api == NULL)
    return PyErr_Format(PyExc_TypeError, "floor: want one tensor, after use()");
  if (api->managed_tensor_from_py_object_no_sync(args[0], &m) != 0) return NULL;
  PyObject *grad = PyObject_GetAttr(args[0], str_requires_grad);
  if (grad != NULL) Py_DecRef(grad);
  PyObject *held = grad == Py_False ? hold(m) : NULL;
  if (held != NULL) return held;
  m->deleter(m);
  return PyErr_Occurred() != NULL ? NULL : PyErr_Format(PyExc_BufferError, "floor: the tensor requires grad");
}

/* use(capsule): the exchange table that the floor is to call. */
static PyObject *use(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  (void)self, (void)kwnames;
  if (nargs == 1) api = PyCapsule_GetPointer(args[0], "dlpack_exchange_api");
  return api == NULL ? NULL : none();
}

/* ---- the floor of a call: the records of torch's tensors, and an empty entry into Go without the GIL ---- */

static void (*enter_go)(void);
static void (*enter_go_and_call)(void (*)(void *), void *);

/* enter_by(empty, within): the functions of Go that the floors are to call. */
static PyObject *enter_by(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  (void)self, (void)kwnames;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "enter_by: want two addresses");
  enter_go = (void (*)(void))PyLong_AsVoidPtr(args[0]);
  enter_go_and_call = (void (*)(void (*)(void *), void *))PyLong_AsVoidPtr(args[1]);
  return PyErr_Occurred() != NULL ? NULL : none();
}

static PyObject *call_go(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  DLTensor seen;
  (void)self, (void)kwnames;
  for (Py_ssize_t i = 0; i < nargs; i++)
    if (api->dltensor_from_py_object_no_sync(args[i], &seen) != 0) return NULL;
  PyThreadState *thread = PyEval_SaveThread();
  enter_go();
  PyEval_RestoreThread(thread);
  return none();
}

typedef struct {
  DLTensor like;
  DLManagedTensorVersioned *made;
} output;

static void ignore(void *context, const char *kind, const char *message) { (void)context, (void)kind, (void)message; }

static void allocate(void *x) {
  output *o = x;
  if (api->managed_tensor_allocator(&o->like, &o->made, NULL, ignore) != 0) o->made = NULL;
}

/* Go asks for memory like torch's tensor, and torch makes a tensor of it. */
static PyObject *call_go_new(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  output o = {.made = NULL};
  void *tensor = NULL;
  (void)self, (void)kwnames;
  if (nargs != 1 || api->dltensor_from_py_object_no_sync(args[0], &o.like) != 0) return NULL;
  PyThreadState *thread = PyEval_SaveThread();
  enter_go_and_call(allocate, &o);
  PyEval_RestoreThread(thread);
  if (o.made == NULL || api->managed_tensor_to_py_object_no_sync(o.made, &tensor) != 0) return NULL;
  return tensor;
}

/* ---- the module ---- */

static int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out) {
  *out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  return *out == NULL ? -1 : PyModule_AddObjectRef(module, name, (PyObject *)*out);
}

static int module_exec(PyObject *module) {
  PyTypeObject *empty;
  if ((str_requires_grad = PyUnicode_InternFromString("requires_grad")) == NULL) return -1;
  if (add_type(module, "Empty", &empty_spec, &empty) != 0) return -1;
  return add_type(module, "Holder", &holder_spec, &holder_type);
}

static PyMethodDef functions[] = {
    {"nothing", (PyCFunction)(void *)nothing, KEYWORDS, NULL},
    {"floor", (PyCFunction)(void *)take, KEYWORDS, NULL},
    {"use", (PyCFunction)(void *)use, KEYWORDS, NULL},
    {"call_go", (PyCFunction)(void *)call_go, KEYWORDS, NULL},
    {"call_go_new", (PyCFunction)(void *)call_go_new, KEYWORDS, NULL},
    {"enter_by", (PyCFunction)(void *)enter_by, KEYWORDS, NULL},
    {0},
};

__attribute__((visibility("default"))) PyObject *PyInit_bench_calls(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0}};
  static PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "bench_calls", .m_methods = functions, .m_slots = slots};
  return PyModuleDef_Init(&def);
}
