/* The module, and the door into Go. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "_cgo_export.h"
#include "core.h"

/* ---- the door ---- */

static volatile bool forked; /* this process is a child whose parent had the Go runtime */

static void after_fork(void) { forked = true; }

/* gd_may_enter says whether there is a Go runtime to enter; false with RuntimeError set in a forked child, where Go's
   threads are missing.
   C because: (c).
   GIL: held.
   Owns: nothing passes.
   Threads: any with the GIL. */
bool gd_may_enter(void) {
  if (!forked) return true;
  PyErr_SetString(PyExc_RuntimeError, "godlpack: this process was made by fork(), and the Go runtime does not survive that; "
                                      "start workers by 'spawn' or 'forkserver' (exchange that needs no Go still works)");
  return false;
}

/* gd_enter hands a call to Go: operation op on self with the arguments of CPython's fast calling convention.
   C because: (b).
   GIL: held, and held again on return.
   Owns: the result is the caller's; NULL with an exception set on failure.
   Threads: any with the GIL. */
PyObject *gd_enter(int op, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  return gd_may_enter() ? godlpackEnter(op, self, (PyObject **)args, nargs, kwnames) : NULL;
}

/* gd_is_finalizing tells whether the interpreter is on its way out. Python 3.13 made the question public;
   before, it is answered under a private name.
   C because: (a).
   GIL: not needed.
   Owns: nothing.
   Threads: any. */
bool gd_is_finalizing(void) {
  static _Atomic(int (*)(void)) ask;
  int (*f)(void) = atomic_load(&ask);
  if (f == NULL) {
    f = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    if (f == NULL) f = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    atomic_store(&ask, f);
  }
  return f != NULL && f();
}

/* ---- the module ---- */

GD_MODULE_METHODS(GD_TRAMPOLINE)

static PyMethodDef module_methods[] = {
    GD_MODULE_METHODS(GD_METHOD)
    {"from_dlpack", (PyCFunction)(void *)gd_lane_from_dlpack, GD_KEYWORDS, GD_DOC_FROM_DLPACK},
    {"_function", gd_function_make, METH_VARARGS, NULL},
    {"_declarations", gd_declarations, METH_VARARGS, NULL},
    {0},
};

/* Types, tables and the GIL functions belong to one interpreter: the main one. The slot below says so to
   Python 3.12 and later, but subinterpreters that share the GIL load the module all the same. */
static int module_exec(PyObject *module) {
  static bool watching;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "godlpack cannot be imported in a subinterpreter");
    return -1;
  }
  if (!watching && pthread_atfork(NULL, NULL, after_fork) == 0) watching = true;
  if (gd_lane_exec() != 0 || gd_tensor_exec(module) != 0 || gd_function_exec(module) != 0) return -1;
  return PyModule_AddStringConstant(module, "__version__", GODLPACK_VERSION);
}

/* gd_module_init is PyInit__core: the module's definition, for multi-phase initialization.
   C because: (a).
   GIL: held.
   Owns: the definition is static.
   Threads: the importing one. */
PyObject *gd_module_init(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0}, {0}};
  static PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "_core", .m_doc = "godlpack's extension module, written in Go.",
                            .m_methods = module_methods, .m_slots = slots};
  if (Py_Version >= 0x030C0000) slots[1] = (PyModuleDef_Slot){GD_MOD_MULTIPLE_INTERPRETERS, NULL}; /* not supported */
  return PyModuleDef_Init(&def);
}
