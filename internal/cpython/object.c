/* godlpack.Object: the base of the classes that libraries export. An object refers to a Go object by a number, and keeps it
   alive in the library's runtime. */
#include "object.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "docstrings.h"

GD_KEPT PyTypeObject *gd_object_type;

/* ---- arguments ---- */

/* gd_object_pack packs an object of the call's library.
   Owns: references are borrowed; false with an exception set on failure.
   Threads: the calling one. */
bool gd_object_pack(call *c, PyObject *x, TVMValue *v, int32_t *code) {
  const gd_object *o = (gd_object *)x;
  PyObject *type = (PyObject *)Py_TYPE(x);
  *code = GD_OBJECT;
  v->v_int64 = o->number;
  c->objects_of = o->table;
  if (o->library == c->f->library && o->table == gd_library_running(o->library)) return true;
  if (o->library == NULL)
    PyErr_Format(PyExc_RuntimeError, "%U(): %R has no Go object yet: its __init__ must call super().__init__()",
                 c->f->qualname, type);
  else if (o->library != c->f->library)
    PyErr_Format(PyExc_TypeError, "%U(): %R is a class of another library", c->f->qualname, type);
  else gd_object_lost(c, type);
  return false;
}

/* gd_object_lost raises the error for an object of a runtime that does not run in this process.
   Threads: the calling one. */
PyObject *gd_object_lost(const call *c, PyObject *type) {
  return PyErr_Format(
      PyExc_RuntimeError,
      "%U(): the object of %R was made before this process was forked, or before a call of its library was abandoned: "
      "make it in the process that uses it, send it by pickle, or start workers by multiprocessing's spawn or forkserver",
      c->f->qualname, type);
}

/* ---- results ---- */

/* Makes sure that there is room for the object at a place. */
static bool has_room(gd_objects *all, uint32_t place) {
  if (place < all->room) return true;
  uint32_t room = place < 1024 ? 1024 : 2 * place;
  gd_object **known = realloc(all->known, room * sizeof *known);
  if (known == NULL) return PyErr_NoMemory(), false;
  memset(known + all->room, 0, (room - all->room) * sizeof *known);
  all->known = known;
  all->room = room;
  return true;
}

static void bind(call *c, gd_object *o, TVMValue *v) {
  o->library = c->f->library;
  o->table = c->entry.library;
  o->number = v->v_int64;
  o->received = 1;
  o->address = 0;
  v->v_int64 = -1;
}

/* Returns the class of a number, a borrowed reference, and makes room for its object. */
static PyTypeObject *class_at(const call *c, int64_t number) {
  gd_objects *all = gd_library_objects(c->f->library);
  bool known = all->classes != NULL && number >= 0 && number >> 32 < PyTuple_Size(all->classes);
  if (!known)
    PyErr_Format(PyExc_RuntimeError, "%U(): its library returned an object of an unknown class", c->f->qualname);
  if (!known || !has_room(all, (uint32_t)number)) return NULL;
  return (PyTypeObject *)PyTuple_GetItem(all->classes, (Py_ssize_t)(number >> 32));
}

/* Returns the live Python object of a Go object, for whose place there is room; NULL if there is none. An object without
   references is being freed: the code of its attributes and weak references, which runs meanwhile, must not get it back. */
static gd_object *known_at(const call *c, uint32_t place) {
  gd_object *o = gd_library_objects(c->f->library)->known[place];
  return o != NULL && o->table == c->entry.library && o->ob_base.ob_refcnt > 0 ? o : NULL;
}

/* gd_object_wrap returns the Python object for the Go object in v: the one that there is, or a new one.
   GIL: held; may run Python code.
   Owns: takes the reference of v, which is -1 then; the result is the caller's, NULL with an exception set on failure.
   Threads: the calling one. */
PyObject *gd_object_wrap(call *c, TVMValue *v) {
  gd_objects *all = gd_library_objects(c->f->library);
  uint32_t place = (uint32_t)v->v_int64;
  PyTypeObject *type = class_at(c, v->v_int64);
  if (type == NULL) return NULL;
  PyObject *made = NULL;
  if (known_at(c, place) == NULL) {
    made = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0); /* may collect garbage */
    if (made == NULL) return NULL;
  }
  gd_object *o = known_at(c, place);
  if (o == NULL) {
    o = all->known[place] = (gd_object *)made;
    bind(c, o, v);
    return made;
  }
  o->received++;
  v->v_int64 = -1;
  Py_IncRef((PyObject *)o);
  Py_DecRef(made);
  return (PyObject *)o;
}

/* gd_object_begin makes a new Python object the one of the Go object in v, its constructor's result.
   Owns: takes the reference of v, which is -1 then; the result is None, NULL with an exception set on failure.
   Threads: the calling one. */
PyObject *gd_object_begin(call *c, PyObject *self, TVMValue *v, int code) {
  gd_object *o = (gd_object *)self;
  gd_objects *all = gd_library_objects(c->f->library);
  if (code != GD_OBJECT)
    return PyErr_Format(PyExc_RuntimeError, "%U(): the constructor returned nil, and no error", c->f->qualname);
  if (o->library != NULL)
    return PyErr_Format(PyExc_RuntimeError, "%U(): the object has a Go object already", c->f->qualname);
  PyTypeObject *class = class_at(c, v->v_int64);
  if (class == NULL) return NULL;
  if (!PyType_IsSubtype(Py_TYPE(self), class))
    return PyErr_Format(PyExc_TypeError, "%U(): want an object of %R, got one of %R", c->f->qualname, (PyObject *)class,
                        (PyObject *)Py_TYPE(self));
  uint32_t place = (uint32_t)v->v_int64;
  if (known_at(c, place) == NULL) all->known[place] = o;
  bind(c, o, v);
  return Py_IncRef(Py_None), Py_None;
}

/* gd_object_drop gives a received object back to the library, if its runtime is still there.
   Owns: takes the references.
   Threads: the calling one. */
void gd_object_drop(gd_library *l, const GDLibrary *table, int64_t number, int64_t received) {
  if (table == gd_library_running(l) && table->size >= offsetof(GDLibrary, drop) + sizeof table->drop &&
      table->drop != NULL)
    table->drop(number, received);
}

/* ---- numbers in an object ---- */

enum { ONCE = 1 }; /* as an address: a number was read by a call */
#define READ(type, make) return make((type) * (volatile type *)at)

static PyObject *number_at(uintptr_t at, char format) {
  switch (format) {
    case '?': READ(bool, PyBool_FromLong);
    case 'b': READ(int8_t, PyLong_FromLongLong);
    case 'h': READ(int16_t, PyLong_FromLongLong);
    case 'i': READ(int32_t, PyLong_FromLongLong);
    case 'q': READ(int64_t, PyLong_FromLongLong);
    case 'B': READ(uint8_t, PyLong_FromLongLong);
    case 'H': READ(uint16_t, PyLong_FromLongLong);
    case 'I': READ(uint32_t, PyLong_FromLongLong);
    case 'Q': READ(uint64_t, PyLong_FromUnsignedLongLong);
    case 'f': READ(float, PyFloat_FromDouble);
    default: READ(double, PyFloat_FromDouble);
  }
}

/* gd_object_read is the vectorcall of a getter whose value the host may read by itself. What is not as it should be is left to
   the getter's call.
   C because: (d), to enter Go takes longer than all else. */
PyObject *gd_object_read(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames) {
  const gd_function *f = (gd_function *)self;
  gd_object *o = (gd_object *)args[0];
  bool fits = (nargs & ~GD_VECTORCALL_ARGUMENTS_OFFSET) == 1 && kwnames == NULL && gd_is_object(args[0]) &&
              o->library == f->library && o->table != NULL && o->table == gd_library_running(o->library) &&
              o->number >> 32 == f->place.class;
  if (fits && o->address > ONCE) return number_at(o->address + f->place.offset, f->place.format);
  if (fits && o->address == ONCE && gd_waiting == 0 &&
      o->table->size >= offsetof(GDLibrary, address) + sizeof o->table->address) {
    o->address = o->table->address(o->number);
    return gd_object_read(self, args, nargs, kwnames);
  }
  if (fits) o->address = ONCE; /* an object that is read once needs no address */
  return gd_call(self, args, nargs, kwnames);
}

/* ---- the type ---- */

static PyObject *object_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)args, (void)keywords; /* they are __init__'s */
  if (type == gd_object_type)
    return PyErr_SetString(PyExc_TypeError, "godlpack.Object is a base of classes: call one of a library"), NULL;
  return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void object_dealloc(PyObject *self) {
  gd_object *o = (gd_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (o->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  if (o->library != NULL) {
    gd_object **known = &gd_library_objects(o->library)->known[(uint32_t)o->number];
    if (*known == o) *known = NULL;
    gd_object_drop(o->library, o->table, o->number, o->received);
  }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DecRef((PyObject *)type);
}

static PyObject *object_reduce(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return PyErr_Format(PyExc_TypeError,
                      "cannot pickle or copy an object of %R: its Go type has no MarshalBinary and UnmarshalBinary",
                      (PyObject *)Py_TYPE(self));
}

static PyMemberDef object_members[] = {
    {"__weaklistoffset__", GD_T_PYSSIZET, offsetof(gd_object, weakrefs), GD_READONLY, NULL},
    {0},
};
static PyMethodDef object_methods[] = {
    {"__reduce__", object_reduce, METH_NOARGS, doc_object_reduce},
    {0},
};
static PyType_Spec object_spec = {"godlpack.Object", sizeof(gd_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                                  (PyType_Slot[]){
                                      {Py_tp_doc, (void *)doc_object},
                                      {Py_tp_new, object_new},
                                      {Py_tp_dealloc, object_dealloc},
                                      {Py_tp_members, object_members},
                                      {Py_tp_methods, object_methods},
                                      {0},
                                  }};

/* gd_set_classes is _set_classes: it tells the library in a file its Python classes, by number.
   C because: (b), a library outlives any Go runtime.
   Owns: keeps the tuple, also for libraries that are loaded again. */
PyObject *gd_set_classes(PyObject *module, PyObject *arguments) {
  const char *path;
  PyObject *check, *classes;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sOO!:_set_classes", &path, &check, &PyTuple_Type, &classes)) return NULL;
  for (Py_ssize_t i = 0; i < PyTuple_Size(classes); i++) {
    PyObject *class = PyTuple_GetItem(classes, i);
    if (!(PyType_GetFlags(Py_TYPE(class)) & Py_TPFLAGS_TYPE_SUBCLASS) ||
        !PyType_IsSubtype((PyTypeObject *)class, gd_object_type))
      return PyErr_SetString(PyExc_TypeError, "_set_classes(): want subclasses of Object"), NULL;
  }
  gd_library *l = gd_library_at(path, check);
  if (l == NULL) return NULL;
  gd_objects *all = gd_library_objects(l);
  PyObject *old = all->classes;
  Py_IncRef(all->classes = classes);
  Py_DecRef(old);
  return Py_IncRef(Py_None), Py_None;
}

/* gd_object_exec makes the type, once in the life of the process, and adds it to module.
   C because: (a).
   Threads: the importing one. */
int gd_object_exec(PyObject *module) {
  if (gd_object_type == NULL &&
      (gd_object_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &object_spec, NULL)) == NULL)
    return -1;
  return PyModule_AddObjectRef(module, "Object", (PyObject *)gd_object_type);
}
