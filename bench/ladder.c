/* The extension module bench_ladder: from_dlpack(torch tensor), one step at a time. Each rung does what the one below
   does, and one thing more; where the product has a function for it, that very function is linked in here. */
#include "core.h"

enum step { TAKE, GUARD, OBJECT, PLAN, CHECK, SHAPE, STORAGE };

static PyTypeObject *holder_type;
static PyObject *str_requires_grad;

/* Stand for what the product has in Go, or at the entry to it. */
PyObject *gd_enter(int op, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  (void)self, (void)args, (void)nargs, (void)kwnames;
  return PyErr_Format(PyExc_RuntimeError, "the ladder has no Go: operation %d", op);
}
int gd_get_buffer(PyObject *self, Py_buffer *view, int flags) { return (void)self, (void)view, (void)flags, -1; }
bool gd_is_finalizing(void) { return false; }

/* ---- an object that holds a managed tensor, and no more ---- */

typedef struct {
  PyObject_HEAD
  DLManagedTensorVersioned *managed;
} holder;

static void holder_dealloc(PyObject *self) {
  DLManagedTensorVersioned *m = ((holder *)self)->managed;
  m->deleter(m);
  PyObject_Free(self);
  Py_DecRef((PyObject *)holder_type);
}
static PyType_Spec holder_spec = {"bench_ladder.Holder", sizeof(holder), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  (PyType_Slot[]){{Py_tp_dealloc, holder_dealloc}, {0}}};

static PyObject *hold(DLManagedTensorVersioned *m) {
  holder *h = PyObject_Malloc(sizeof *h);
  if (h == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)h, holder_type);
  h->managed = m;
  return (PyObject *)h;
}

/* ---- the steps ---- */

static gd_plan plans[GD_PLANS]; /* as fastpath.c keeps them */
static const gd_plan *the_plan; /* for rungs that need not look it up; plan() comes first */

static gd_plan *plan_slot(const PyTypeObject *type) {
  return &plans[((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15u >> 58];
}

static bool needs_no_grad(PyObject *x) {
  PyObject *grad = PyObject_GetAttr(x, str_requires_grad);
  if (grad != NULL) Py_DecRef(grad);
  return grad == Py_False;
}

static PyObject *finish(DLManagedTensorVersioned *m, enum step top) {
  PyObject *made;
  if (top >= STORAGE) return gd_wrap_managed(m, m->flags);
  if (top == OBJECT || top == PLAN || top == CHECK) return hold(m);
  if (top == SHAPE) {
    made = gd_tensor_new(&m->dl_tensor, m->flags, NULL);
  } else {
    Py_IncRef(Py_None);
    made = Py_None;
  }
  m->deleter(m);
  return made;
}

static inline __attribute__((always_inline)) PyObject *climb(PyObject *x, enum step top) {
  DLManagedTensorVersioned *m = NULL;
  const gd_plan *plan = top >= PLAN ? plan_slot(Py_TYPE(x)) : the_plan;
  if (top >= PLAN && plan->type != Py_TYPE(x))
    return PyErr_Format(PyExc_TypeError, "the ladder: no plan for this type");
  if (plan->api->managed_tensor_from_py_object_no_sync(x, &m) != 0) return NULL;
  bool plain = top < CHECK || (m->version.major == DLPACK_MAJOR && gd_fast_path_ok(&m->dl_tensor));
  if (plain && (top < GUARD || needs_no_grad(x))) return finish(m, top);
  m->deleter(m);
  return PyErr_Format(PyExc_BufferError, "the ladder: want a plain tensor");
}

#define RUNG(name, top) \
  static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) { \
    (void)self, (void)nargs, (void)kwnames; \
    return climb(args[0], top); \
  }
RUNG(take, TAKE)
RUNG(guard, GUARD)
RUNG(object, OBJECT)
RUNG(planned, PLAN)
RUNG(check, CHECK)
RUNG(shape, SHAPE)
RUNG(storage, STORAGE)

/* plan(type, capsule): the exchange table of a type's objects. */
static PyObject *plan(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  (void)self, (void)kwnames;
  const DLPackExchangeAPI *api = nargs == 2 ? PyCapsule_GetPointer(args[1], "dlpack_exchange_api") : NULL;
  if (api == NULL) return PyErr_Format(PyExc_TypeError, "plan: want a type and its exchange table");
  gd_plan *slot = plan_slot((PyTypeObject *)args[0]);
  *slot = (gd_plan){.type = (PyTypeObject *)args[0], .api = api};
  the_plan = slot;
  Py_IncRef(args[0]);
  Py_IncRef(Py_None);
  return Py_None;
}

/* ---- the module ---- */

static int module_exec(PyObject *module) {
  if (gd_fastpath_exec() != 0 || gd_tensor_exec(module) != 0 || gd_descriptor_exec(module) != 0) return -1;
  if ((str_requires_grad = PyUnicode_InternFromString("requires_grad")) == NULL) return -1;
  return (holder_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &holder_spec, NULL)) == NULL ? -1 : 0;
}

#define FUNCTION(name) {#name, (PyCFunction)(void *)name, METH_FASTCALL | METH_KEYWORDS, NULL}
static PyMethodDef functions[] = {FUNCTION(take),    FUNCTION(guard), FUNCTION(object),
                                  FUNCTION(planned), FUNCTION(check), FUNCTION(shape),
                                  FUNCTION(storage), FUNCTION(plan),  {0}};

__attribute__((visibility("default"))) PyObject *PyInit_bench_ladder(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0}};
  static PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "bench_ladder", .m_methods = functions, .m_slots = slots};
  return PyModuleDef_Init(&def);
}
