/* The module that Python loads. None of it enters Go, so that importing godlpack does not start Go's runtime. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "core.h"
#include "docstrings.h"
#include "object.h"

/* gd_is_finalizing reports whether the interpreter is finalizing. The function is public since Python 3.13; before, it has a
   private name.
   C because: (a).
   GIL: not needed.
   Threads: any. */
bool gd_is_finalizing(void) {
  static GD_OWN _Atomic(int (*)(void)) ask;
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
    GD_MODULE_METHODS(GD_METHOD){"from_dlpack", (PyCFunction)(void *)gd_fast_from_dlpack, GD_KEYWORDS,
                                 doc_module_from_dlpack},
    {"_function", gd_function_make, METH_VARARGS, NULL},
    {"_set_classes", gd_set_classes, METH_VARARGS, NULL},
    {"_declarations", gd_declarations, METH_VARARGS, NULL},
    {"_choose_threads", gd_choose_threads, METH_O, NULL},
    {0},
};

/* Types, tables and the GIL functions belong to one interpreter: the main one. The slot below declares that to Python 3.12 and
   later, but subinterpreters that share the GIL load the module all the same. */
static int module_exec(PyObject *module) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "godlpack cannot be imported in a subinterpreter");
    return -1;
  }
  if (gd_runtime_exec() != 0 || gd_storage_exec() != 0 || gd_fastpath_exec() != 0 || gd_tensor_exec(module) != 0 ||
      gd_descriptor_exec(module) != 0 || gd_function_exec(module) != 0 || gd_object_exec(module) != 0)
    return -1;
  return PyModule_AddStringConstant(module, "__version__", GODLPACK_VERSION);
}

/* PyInit__core is called by Python to load the module: it returns the definition, for multi-phase initialization. It is the
   library's only symbol, so the definition leads to everything else: the runtime that a forked child needs.
   C because: (a), and Go must not be entered yet.
   Owns: the definition is static.
   Threads: the importing one. */
__attribute__((visibility("default"))) PyObject *PyInit__core(void) {
  static GD_OWN PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0}, {0}};
  static GD_OWN gd_definition definition = {
      .module = {PyModuleDef_HEAD_INIT, .m_name = "_core", .m_doc = "godlpack's extension module, written in Go.",
                 .m_methods = module_methods, .m_slots = slots},
      .runtime = &gd_own_runtime};
  if (Py_Version >= 0x030C0000) slots[1] = (PyModuleDef_Slot){GD_MOD_MULTIPLE_INTERPRETERS, NULL}; /* not supported */
  return PyModuleDef_Init(&definition.module);
}
