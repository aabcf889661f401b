/* The results of a call: packed values become Python objects, tensors become objects of the caller's framework, errors become
   exceptions. */
#include <stdlib.h>
#include <string.h>

#include "object.h"

static PyObject *bad_result(const call *c, const char *what) {
  return PyErr_Format(PyExc_RuntimeError, "%U(): its library returned %s", c->f->qualname, what);
}

static bool wants_numpy(const call *c) {
  return c->outputs.protocol == GD_BY_NUMPY || gd_numpy_is_type((PyTypeObject *)c->outputs.like);
}

/* Converts the tensor t to an object of the caller's framework; takes t. */
static PyObject *convert(call *c, PyObject *t) {
  PyObject *made = NULL, *args[] = {t, c->outputs.like};
  if (c->outputs.like == (PyObject *)gd_tensor_type) return t;
  if (wants_numpy(c)) made = gd_numpy_to_array((gd_tensor *)t);
  if (made == NULL && PyErr_Occurred() == NULL)
    made = gd_enter(GD_OP_function_convert, (PyObject *)c->f, args, 2, NULL);
  Py_DecRef(t);
  return made;
}

/* Copies x to the tensor wanted by out=, and returns that tensor; takes x. */
static PyObject *fill(call *c, PyObject *out, PyObject *x) {
  PyObject *args[] = {out, x, c->outputs.out};
  if (out == NULL || x == NULL || x == out) return x;
  PyObject *done = gd_enter(GD_OP_function_fill, (PyObject *)c->f, args, 3, NULL);
  Py_DecRef(x);
  if (done == NULL) return NULL;
  Py_DecRef(done);
  return Py_IncRef(out), out;
}

/* Wraps an output. A tensor that its own framework allocated goes back there at once, if nothing forbids it (R61). */
static PyObject *wrap_managed(call *c, TVMValue *v, PyObject *out) {
  DLManagedTensorVersioned *m = v->v_handle;
  void *made = NULL;
  if (m == NULL) return bad_result(c, "no tensor");
  if (c->outputs.offer != NULL && m == &c->outputs.offer->m)
    return v->v_handle = NULL, Py_IncRef(c->outputs.out), c->outputs.out;
  if (gd_in_scratch(c, m)) {
    if (wants_numpy(c)) return gd_numpy_copy(&m->dl_tensor);
    if (!gd_copy_out(c, v)) return NULL;
    m = v->v_handle;
  }
  bool plain = m->version.major == DLPACK_MAJOR && m->flags == 0 && gd_fast_path_ok(&m->dl_tensor);
  if (plain && out == NULL && c->outputs.protocol == GD_BY_TABLE) {
    if (c->outputs.api->managed_tensor_to_py_object_no_sync(m, &made) == 0 && made != NULL)
      return v->v_handle = NULL, made;
    PyErr_Clear(); /* Go has the reason, or uses another protocol */
  }
  if (gd_exchange_api.managed_tensor_to_py_object_no_sync(m, &made) != 0) return NULL;
  v->v_handle = NULL;
  return out != NULL ? made : convert(c, made);
}

static PyObject *wrap_list(call *c, const GDList *l, int code, bool top) {
  if (l == NULL || l->n < 0 || (l->n > 0 && (l->values == NULL || l->codes == NULL)))
    return bad_result(c, "a list that is not valid");
  PyObject *made = code == GD_LIST ? PyList_New(l->n) : PyTuple_New(l->n);
  for (int64_t i = 0; made != NULL && i < l->n; i++) {
    PyObject *x = gd_wrap_result(c, &l->values[i], l->codes[i], top && code == GD_TUPLE);
    if (x != NULL && (code == GD_LIST ? PyList_SetItem(made, i, x) : PyTuple_SetItem(made, i, x)) == 0) continue;
    Py_DecRef(made);
    return NULL;
  }
  return made;
}

/* gd_wrap_result makes a Python object of a packed value. The outputs for out= are at the top, and in a tuple there.
   GIL: held; may run Python code.
   Owns: takes only tensors and objects of what v owns; the result is the caller's, NULL with an exception set on failure.
   Threads: the calling one. */
PyObject *gd_wrap_result(call *c, TVMValue *v, int code, bool top) {
  const TVMByteArray *b = v->v_handle;
  PyObject *x, *out = top && (code == GD_MANAGED || code == GD_ARGUMENT) ? gd_wanted(c) : NULL;
  switch (code) {
    case GD_NULL: return Py_IncRef(Py_None), Py_None;
    case GD_INT: return PyLong_FromLongLong(v->v_int64);
    case GD_UINT: return PyLong_FromUnsignedLongLong((uint64_t)v->v_int64);
    case GD_FLOAT: return PyFloat_FromDouble(v->v_float64);
    case GD_BOOL: return PyBool_FromLong(v->v_int64 != 0);
    case GD_DTYPE: return gd_dtype_object(v->v_type);
    case GD_DEVICE: return gd_device_object(v->v_device);
    case GD_PART:
    case GD_TEXT:
      return b == NULL ? bad_result(c, "no text") : PyUnicode_FromStringAndSize(b->data, (Py_ssize_t)b->size);
    case GD_BYTES:
      return b == NULL ? bad_result(c, "no bytes") : PyBytes_FromStringAndSize(b->data, (Py_ssize_t)b->size);
    case GD_LIST:
    case GD_TUPLE: return wrap_list(c, v->v_handle, code, top);
    case GD_OBJECT: return gd_object_wrap(c, v);
    case GD_MANAGED: return fill(c, out, wrap_managed(c, v, out));
    case GD_ARGUMENT:
      if (v->v_int64 < 0 || v->v_int64 >= c->f->count)
        return bad_result(c, "the number of an argument that it does not have");
      x = c->objects[v->v_int64] == NULL ? Py_None : c->objects[v->v_int64];
      return Py_IncRef(x), fill(c, out, x);
    default:
      return PyErr_Format(PyExc_RuntimeError, "%U(): its library returned a value of code %d", c->f->qualname, code);
  }
}

/* gd_drop_result releases what a result owns, except for the tensors and objects that were taken.
   GIL: held; may run Python code.
   Owns: takes v.
   Threads: the calling one. */
void gd_drop_result(const call *c, TVMValue v, int code) {
  if (code == GD_MANAGED) gd_managed_drop(v.v_handle, NULL);
  if (code == GD_OBJECT && v.v_int64 >= 0) gd_object_drop(c->f->library, c->entry.library, v.v_int64, 1);
  const GDList *l = v.v_handle;
  bool list = (code == GD_LIST || code == GD_TUPLE) && l != NULL;
  for (int64_t i = 0; list && i < l->n && l->values != NULL && l->codes != NULL; i++)
    gd_drop_result(c, l->values[i], l->codes[i]);
  if (list || code == GD_TEXT || code == GD_BYTES) free(v.v_handle);
}

/* Raises the exception that the JSON in kind describes: Python makes it (godlpack/_exceptions.py). */
GD_RARE static PyObject *raise_described(const call *c, const failure *f) {
  PyObject *maker = PyImport_ImportModule("godlpack._exceptions");
  PyObject *made = maker == NULL ? NULL : PyObject_CallMethod(maker, "make", "Os", (PyObject *)c->f, f->kind);
  if (made != NULL) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_DecRef(made);
  Py_DecRef(maker);
  return NULL;
}

/* gd_refuse raises the exception of a call that failed: one that Python itself raised goes before the error of fail().
   Owns: takes the exception that the call keeps; NULL with an exception set.
   Threads: the calling one. */
PyObject *gd_refuse(call *c) {
  PyObject *class = PyExc_RuntimeError;
  if (c->error.class != NULL) {
    PyErr_Restore(c->error.class, c->error.value, c->error.trace);
    c->error.class = c->error.value = c->error.trace = NULL;
    return NULL;
  }
  const failure *f = c->error.failure;
  if (f == NULL && c->error.message_lost) return PyErr_NoMemory();
  if (f == NULL) return PyErr_Format(class, "%U() failed without an error message", c->f->qualname);
  if (f->kind[0] == '{') return raise_described(c, f);
  PyObject *kind = PyUnicode_FromStringAndSize(f->kind, (Py_ssize_t)strlen(f->kind));
  PyObject *named = kind == NULL
                        ? NULL
                        : PyDict_GetItemWithError(PyEval_GetBuiltins(), kind); /* borrowed: builtins holds it */
  Py_DecRef(kind);
  if (named == NULL && PyErr_Occurred() != NULL && PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
  PyErr_Clear(); /* no such name: it is not UTF-8 */
  bool exception = named != NULL && PyType_GetFlags(Py_TYPE(named)) & Py_TPFLAGS_TYPE_SUBCLASS &&
                   PyType_IsSubtype((PyTypeObject *)named, (PyTypeObject *)PyExc_Exception);
  PyObject *text = PyUnicode_DecodeUTF8(f->message, (Py_ssize_t)f->size, "replace");
  if (text == NULL) return NULL;
  PyErr_SetObject(exception ? named : class, text);
  Py_DecRef(text);
  return NULL;
}
