/* Objects of a library's Go types, as Python objects. */
#ifndef GODLPACK_OBJECT_H
#define GODLPACK_OBJECT_H

#include "call.h"

/* One Go object: C knows it by its number in the library's runtime. */
typedef struct {
  PyObject_HEAD
  PyObject *weakrefs;
  gd_library *library;    /* NULL: __init__ has not run */
  const GDLibrary *table; /* of the runtime that has the object */
  int64_t number;
  int64_t received;  /* how often the library gave it to us */
  uintptr_t address; /* of its memory, if numbers were read there; 0 and 1: not known */
} gd_object;

/* What a library's objects are to Python; a part of gd_library. */
typedef struct {
  PyObject *classes; /* a tuple of the Python classes, by number; NULL: none are known */
  gd_object **known; /* the Python objects by their place, NULL where there is none; not references */
  uint32_t room;     /* places in known */
} gd_objects;

bool gd_object_pack(call *c, PyObject *x, TVMValue *v, int32_t *code);
PyObject *gd_object_lost(const call *c, PyObject *type);
PyObject *gd_object_wrap(call *c, TVMValue *v);
PyObject *gd_object_begin(call *c, PyObject *self, TVMValue *v, int code);
void gd_object_drop(gd_library *l, const GDLibrary *table, int64_t number, int64_t received);

extern PyTypeObject *gd_object_type;
gd_objects *gd_library_objects(gd_library *l);
const GDLibrary *gd_library_running(const gd_library *l);

PyObject *gd_object_read(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames);
PyObject *gd_set_classes(PyObject *module, PyObject *arguments);
int gd_object_exec(PyObject *module);

static inline bool gd_is_object(PyObject *x) { return PyType_IsSubtype(Py_TYPE(x), gd_object_type); }

#endif
