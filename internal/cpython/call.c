/* The call of a library's function: arguments are packed (arguments.c), Go is entered once, and the results become objects of
   the caller's framework (results.c).
   The way of a tensor: docs/architecture.md, "Four paths through the code", 4. */
#include "frame.h"
#include "object.h"

/* gd_may_give_gil reports whether a call may release the GIL: other threads, if there are any, may then change the arguments,
   so these are pinned.
   GIL: held; may run Python code.
   Owns: the call holds the pins; false with an exception set on failure.
   Threads: the calling one. */
bool gd_may_give_gil(call *c) {
  return c->tensors.borrowed == NULL || c->f->holds || gd_is_alone() || gd_pin_borrowed(c);
}

/* The one call into the library. */
static int cross(call *c, const GDList *args) {
  jmp_buf back;
  c->entry.back = &back;
  int left = setjmp(back);
  if (left != 0) return c->entry.code = GD_NULL, left;
  gd_watch_call(c);
  int rc = c->entry.library->call(args->values, args->codes, (int)args->n, &c->entry.result, &c->entry.code, &c->host);
  gd_unwatch_call(c);
  return rc == 0 ? 0 : -1;
}

/* Passes the library's log records, up to those of this call, on to Python's logging, before its result or exception. A handler
   may raise KeyboardInterrupt: then the call fails. */
GD_RARE static void pass_logs(call *c) {
  PyObject *python = PyImport_ImportModule("godlpack._logs");
  PyObject *done = python == NULL ? NULL : PyObject_CallMethod(python, "returned", "OK", c->f, c->host.logged);
  if (done == NULL) c->entry.stopped = true, gd_keep_exception(c);
  Py_DecRef(done);
  Py_DecRef(python);
}

static PyObject *enter(call *c, const GDList *args) {
  if (!gd_may_give_gil(c)) return NULL;
  gd_take_scratch(c);
  c->entry.forks = gd_forks();
  c->host = (GDContext){sizeof c->host,
                        c->f->index,
                        args->flags,
                        gd_host_allocate,
                        gd_host_poll,
                        gd_host_invoke,
                        gd_host_fail,
                        0,
                        gd_host_current_stream,
                        c->outputs.scratch,
                        c->outputs.scratch == NULL ? 0 : SCRATCH};
  bool elsewhere = gd_waiting != 0 && gd_needs_proxy(c);
  if (!c->f->holds) c->entry.thread = PyEval_SaveThread();
  int rc = elsewhere ? gd_call_on_proxy(c, args) : cross(c, args);
  if (c->entry.thread != NULL) PyEval_RestoreThread(c->entry.thread);
  c->entry.thread = NULL;
  if (rc == GD_ABANDONED) return gd_abandon(c);
  if (c->host.logged != 0) pass_logs(c);
  if (rc != 0) return gd_refuse(c);
  PyObject *made;
  if (c->entry.stopped) made = gd_refuse(c);
  else if (c->self != NULL) made = gd_object_begin(c, c->self, &c->entry.result, c->entry.code);
  else made = gd_wrap_result(c, &c->entry.result, c->entry.code, true);
  gd_drop_result(c, c->entry.result, c->entry.code);
  return made;
}

/* Converts the arguments, before any is packed: Python code runs. It replaces them in all, where the call holds them. */
GD_RARE static bool convert_arguments(call *c, PyObject **all) {
  const gd_function *f = c->f;
  for (int i = 0; i < f->count; i++) {
    PyObject *convert = PyTuple_GetItem(f->converts, i), *x = c->objects[i];
    if (x != NULL && convert != Py_None) x = gd_hold(c, PyObject_CallFunctionObjArgs(convert, x, NULL));
    if (x == NULL && c->objects[i] != NULL) return false;
    all[i] = x;
  }
  c->objects = all;
  return true;
}

/* Converts the result; takes it. An iterator makes its tensors later, of the type like. */
GD_RARE static PyObject *convert_result(const call *c, PyObject *made) {
  PyObject *convert = PyTuple_GetItem(c->f->converts, c->f->count), *x = made;
  if (convert == Py_None) return made;
  made = PyObject_CallFunctionObjArgs(convert, x, c->outputs.like, NULL);
  Py_DecRef(x);
  return made;
}

/* gd_call is the vectorcall of Function.
   C because: (b), (d).
   GIL: held; released while the library runs, unless its declaration says otherwise. */
PyObject *gd_call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames) {
  const gd_function *f = (gd_function *)self;
  if (gd_library_open(f->library, f) == NULL) return NULL;
  frame *fr = gd_take_frame();
  if (fr == NULL) return NULL;
  call *c = &fr->call;
  gd_call_begin(c, f, args);
  PyObject **all = fr->objects, *made = NULL;
  GDList list = {f->count, fr->values, fr->codes, fr->flags};
  Py_ssize_t n = (Py_ssize_t)(nargs & ~GD_VECTORCALL_ARGUMENTS_OFFSET);
  bool ready = true;
  if (f->role == GD_CONSTRUCTOR) {
    ready = n > 0 && gd_is_object(args[0]) && ((gd_object *)args[0])->library == NULL;
    if (ready) c->self = args[0], args++, n--, c->objects = args;
    else if (n > 0 && gd_is_object(args[0]))
      PyErr_Format(PyExc_RuntimeError, "%U(): the object has a Go object already", f->qualname);
    else PyErr_Format(PyExc_TypeError, "%U(): want a new object as the first argument", f->qualname);
  }
  if (ready && f->count > FEW) {
    list.values = gd_reserve(
        c, (size_t)f->count * (sizeof *list.values + sizeof *list.flags + sizeof *list.codes + sizeof *all));
    list.flags = (uint64_t *)(list.values + f->count);
    all = (PyObject **)(list.flags + f->count);
    list.codes = (int32_t *)(all + f->count);
    ready = list.values != NULL;
  }
  if (ready && (n != f->count || kwnames != NULL || f->positional != f->count))
    ready = gd_bind(c, all, args, n, kwnames);
  if (ready && f->converts != NULL) ready = convert_arguments(c, all);
  if (ready && gd_pack_arguments(c, &list, fr->records) && (c->outputs.out == NULL || gd_take_out(c, &list)) &&
      (c->outputs.like != NULL || f->like == NULL ||
       (gd_function_like((gd_function *)self) && gd_take_like(c, f->like)))) {
    if (c->outputs.like == NULL) c->outputs.like = (PyObject *)gd_tensor_type;
    c->entry.library = gd_library_open(f->library, f); /* again: Python code of an argument may have forked */
    if (c->objects_of != NULL && c->entry.library != NULL && c->objects_of != c->entry.library)
      c->entry.library = NULL, gd_object_lost(c, (PyObject *)gd_object_type);
    made = c->entry.library == NULL ? NULL : enter(c, &list);
    if (made != NULL && f->converts != NULL) made = convert_result(c, made);
  }
  if (c->entry.lost) return gd_give_frame(fr, true), NULL;
  gd_call_end(c);
  gd_give_frame(fr, false);
  return made;
}
