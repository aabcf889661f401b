/* godlpack.Function: a function of a library, as a Python object. Its call is in call.c. */
#include <stdlib.h>

#include "core.h"
#include "object.h"
#include "docstrings.h"

static GD_KEPT PyTypeObject *function_type, *method_type;
static GD_KEPT PyObject *str_module, *str_doc, *bound_type;

/* gd_function_make is _function: it makes the Function that the arguments describe, without opening the library.
   C because: (b), a function outlives any Go runtime. */
PyObject *gd_function_make(PyObject *module, PyObject *arguments) {
  PyObject *check, *name, *qualname, *from, *doc, *text, *names, *like, *converts = Py_None;
  const char *path;
  unsigned long long writes;
  int index, outputs, holds, role = GD_FREE, positional = -1, variadic = -1, format = 0, class = 0;
  Py_ssize_t offset = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sOiUUUUUO!KipO|iOiinCi:_function", &path, &check, &index, &name, &qualname, &from,
                        &doc, &text, &PyTuple_Type, &names, &writes, &outputs, &holds, &like, &role, &converts,
                        &positional, &variadic, &offset, &format, &class))
    return NULL;
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++)
    if (Py_TYPE(PyTuple_GetItem(names, i)) != &PyUnicode_Type)
      return PyErr_SetString(PyExc_TypeError, "_function(): want a tuple of str for the names"), NULL;
  gd_library *library = gd_library_at(path, check);
  size_t count = (size_t)PyTuple_Size(names);
  gd_function *f = library == NULL ? NULL : PyObject_Malloc(sizeof *f + count * sizeof *f->parameters);
  if (f == NULL) return library == NULL ? NULL : PyErr_NoMemory();
  PyObject_Init((PyObject *)f, role == GD_FREE ? function_type : method_type);
  *f = (gd_function){.ob_base = f->ob_base,
                     .vectorcall = format == 0 ? gd_call : gd_object_read,
                     .library = library,
                     .name = name,
                     .qualname = qualname,
                     .module = from,
                     .doc = doc,
                     .text = text,
                     .names = names,
                     .writes = writes,
                     .index = index,
                     .count = (int)count,
                     .positional = positional < 0 ? (int)count : positional,
                     .variadic = variadic,
                     .outputs = outputs,
                     .holds = holds,
                     .role = (gd_role)role,
                     .place = {(size_t)offset, format, class},
                     .like = like == Py_None ? NULL : like,
                     .converts = converts == Py_None ? NULL : converts};
  for (size_t i = 0; i < count; i++) f->parameters[i] = PyTuple_GetItem(names, (Py_ssize_t)i);
  PyObject *kept[] = {name, qualname, from, doc, text, names, f->like, f->converts};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) Py_IncRef(kept[i]);
  return (PyObject *)f;
}

static void function_dealloc(PyObject *self) {
  gd_function *f = (gd_function *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (f->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  PyObject *kept[] = {f->name, f->qualname, f->module, f->doc, f->text, f->names, f->like, f->converts, self};
  for (size_t i = 0; i + 1 < sizeof kept / sizeof *kept; i++) Py_DecRef(kept[i]);
  PyObject_Free(self);
  Py_DecRef((PyObject *)type);
}

static PyObject *retained(PyObject *x) { return Py_IncRef(x), x; }

/* The type's own __module__ and __doc__ hide those that its objects need. */
static PyObject *function_getattr(PyObject *self, PyObject *name) {
  if (PyObject_RichCompareBool(name, str_module, Py_EQ) == 1) return retained(((gd_function *)self)->module);
  if (PyObject_RichCompareBool(name, str_doc, Py_EQ) == 1) return retained(((gd_function *)self)->doc);
  return PyObject_GenericGetAttr(self, name);
}

/* gd_function_like sets f->like to the framework's type, if the function names one: it is imported when it is first needed.
   C because: (b).
   GIL: held; released where Python code runs.
   Owns: f keeps the type; false with an exception set on failure. */
bool gd_function_like(gd_function *f) {
  if (Py_TYPE(f->like) != &PyUnicode_Type) return true;
  PyObject *python = PyImport_ImportModule("godlpack._library"), *name = f->like;
  PyObject *type = python == NULL ? NULL : PyObject_CallMethod(python, "framework", "OO", f, name);
  Py_DecRef(python);
  if (type == NULL) return false;
  if (f->like == name) f->like = type, Py_DecRef(name);
  else Py_DecRef(type); /* another thread was faster */
  return true;
}

static PyObject *function_repr(PyObject *self) {
  const gd_function *f = (gd_function *)self;
  return PyUnicode_FromFormat("<function %U.%U%U>", f->module, f->qualname, f->text);
}

static PyObject *ask_library(const char *what, PyObject *argument) {
  PyObject *python = PyImport_ImportModule("godlpack._library");
  PyObject *answer = python == NULL ? NULL : PyObject_CallMethod(python, what, "O", argument);
  Py_DecRef(python);
  return answer;
}

static PyObject *function_signature(PyObject *self, void *ignored) {
  (void)ignored;
  return ask_library("signature", ((gd_function *)self)->text);
}

/* The marks by which inspect and asyncio know coroutine functions. */
static PyObject *function_mark(PyObject *self, void *name) {
  PyObject *marks = ask_library("coroutine_marks", self);
  PyObject *mark = marks == NULL ? NULL : PyDict_GetItemString(marks, name);
  if (marks != NULL && mark == NULL) PyErr_SetString(PyExc_AttributeError, name);
  Py_IncRef(mark);
  Py_DecRef(marks);
  return mark;
}

static PyObject *function_reduce(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return ask_library("reduce", self);
}

/* Copies are the function itself: copy.copy(), copy.deepcopy(). */
static PyObject *function_copy(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return retained(self);
}

#define FIELD(name, kind, field, doc) {name, kind, offsetof(gd_function, field), GD_READONLY, doc}
static PyMemberDef function_members[] = {
    FIELD("__name__", GD_T_OBJECT_EX, name, doc_function_name),
    FIELD("__qualname__", GD_T_OBJECT_EX, qualname, doc_function_qualname),
    FIELD("__text_signature__", GD_T_OBJECT_EX, text, doc_function_text_signature),
    FIELD("__vectorcalloffset__", GD_T_PYSSIZET, vectorcall, NULL),
    FIELD("__weaklistoffset__", GD_T_PYSSIZET, weakrefs, NULL),
    {0},
};
static PyGetSetDef function_getset[] = {
    {"__signature__", function_signature, NULL, doc_function_signature, NULL},
    {"_is_coroutine_marker", function_mark, NULL, NULL, "_is_coroutine_marker"},
    {"_is_coroutine", function_mark, NULL, NULL, "_is_coroutine"},
    {0},
};
static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, doc_function_reduce},
    {"__copy__", function_copy, METH_NOARGS, doc_function_copy},
    {"__deepcopy__", function_copy, METH_O, doc_function_deepcopy},
    {0},
};
static PyType_Spec function_spec = {
    "godlpack.Function", sizeof(gd_function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE | GD_TPFLAGS_HAVE_VECTORCALL,
    (PyType_Slot[]){
        {Py_tp_doc, (void *)doc_function},
        {Py_tp_dealloc, function_dealloc},
        {Py_tp_getattro, function_getattr},
        {Py_tp_repr, function_repr},
        {Py_tp_call, PyVectorcall_Call},
        {Py_tp_members, function_members},
        {Py_tp_getset, function_getset},
        {Py_tp_methods, function_methods},
        {0},
    }};

/* Binds a method to its object, or returns it unchanged for the class: __get__(None, class) passes no object. */
static PyObject *method_get(PyObject *self, PyObject *object, PyObject *class) {
  (void)class;
  if (object == NULL) return retained(self);
  return PyObject_CallFunctionObjArgs(bound_type, self, object, NULL);
}

static PyType_Spec method_spec = {"godlpack.Method", sizeof(gd_function), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE |
                                      GD_TPFLAGS_HAVE_VECTORCALL | GD_TPFLAGS_METHOD_DESCRIPTOR,
                                  (PyType_Slot[]){
                                      {Py_tp_doc, (void *)doc_method},
                                      {Py_tp_dealloc, function_dealloc},
                                      {Py_tp_getattro, function_getattr},
                                      {Py_tp_repr, function_repr},
                                      {Py_tp_call, PyVectorcall_Call},
                                      {Py_tp_descr_get, method_get},
                                      {Py_tp_members, function_members},
                                      {Py_tp_getset, function_getset},
                                      {Py_tp_methods, function_methods},
                                      {0},
                                  }};

/* Makes Method and Function, and finds the type of bound methods; what an earlier import could make stays. */
static int make_types(PyObject *module) {
  if (bound_type == NULL) {
    PyObject *types = PyImport_ImportModule("types");
    bound_type = types == NULL ? NULL : PyObject_GetAttrString(types, "MethodType");
    Py_DecRef(types);
    if (bound_type == NULL) return -1;
  }
  if (method_type == NULL) {
    method_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &method_spec, NULL);
    if (method_type == NULL) return -1;
  }
  function_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &function_spec, NULL);
  return function_type == NULL ? -1 : 0;
}

/* gd_function_exec makes the type, once in the life of the process, and adds it to module.
   C because: (a).
   Threads: the importing one. */
int gd_function_exec(PyObject *module) {
  if (function_type == NULL) {
    if ((str_module = PyUnicode_InternFromString("__module__")) == NULL) return -1;
    if ((str_doc = PyUnicode_InternFromString("__doc__")) == NULL) return -1;
    if (gd_library_exec() != 0) return -1;
    if (make_types(module) != 0) return -1;
  }
  return PyModule_AddObjectRef(module, "Function", (PyObject *)function_type) == 0
             ? PyModule_AddObjectRef(module, "Method", (PyObject *)method_type)
             : -1;
}
