/* Pins keep the memory of a call's arguments in place. To borrow a tensor in place costs nothing, and is safe as long as no
   code runs that may change its owner: resize it, or give it other memory. So before such code runs, the call holds the memory,
   and forbids its owner to move it: before a callback, before the __dlpack__ of another argument, and before the GIL is
   released while Python has other threads. What Go has imported is held from the start; only moving it must still be
   forbidden. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "call.h"

/* ---- locks: on owners of memory ---- */

static GD_OWN gd_lock *locks; /* written under both the GIL and the mutex, so either is enough for reading */
static GD_OWN pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

/* gd_lock_find returns a lock of the owner where on the memory data; NULL for either means any. NULL if there is none.
   Owns: the result is borrowed. */
const gd_lock *gd_lock_find(const void *where, const void *data) {
  const gd_lock *l = locks;
  while (l != NULL && ((where != NULL && l->where != where) || (data != NULL && l->data != data))) l = l->next;
  return l;
}

/* gd_lock_add adds l, which the caller owns, to the list, with where, data and cleared as they are.
   Owns: l stays the caller's, who removes it. */
void gd_lock_add(gd_lock *l) {
  pthread_mutex_lock(&listing);
  l->next = locks;
  l->link = &locks;
  if (locks != NULL) locks->link = &l->next;
  locks = l;
  pthread_mutex_unlock(&listing);
}

/* gd_lock_remove takes l off the list, and reports whether it was the last one of its owner. */
bool gd_lock_remove(gd_lock *l) {
  pthread_mutex_lock(&listing);
  if (l->next != NULL) l->next->link = l->link;
  *l->link = l->next;
  pthread_mutex_unlock(&listing);
  return gd_lock_find(l->where, NULL) == NULL;
}

/* gd_lock_leave passes memory that its owner would free to the last of the locks on it. False if there is none.
   C because: (b).
   GIL: any.
   Owns: the locks take data, and pass it to free; not if the result is false.
   Threads: any. */
bool gd_lock_leave(const void *data, void (*free)(void *)) {
  bool left = false;
  pthread_mutex_lock(&listing);
  for (gd_lock *l = locks; l != NULL; l = l->next)
    if (l->data == data) l->free = free, left = true;
  pthread_mutex_unlock(&listing);
  return left;
}

/* gd_locks_forked resets the list's mutex in a child: another thread of the parent may have held it.
   C because: (b).
   GIL: any.
   Threads: the only one. */
void gd_locks_forked(void) { listing = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

/* ---- what is held ---- */

/* Finds out, once, the layout of torch's storages. */
static bool learn_torch(const call *c) {
  static GD_OWN bool tried;
  if (tried) return true;
  tried = true; /* set first: Go's calls may re-enter this function */
  PyObject *done = gd_enter(GD_OP_function_learn_torch, (PyObject *)c->f, NULL, 0, NULL);
  tried = done != NULL; /* if Go cannot be entered, such as from a second greenlet, the next call tries again */
  Py_DecRef(done);
  return done != NULL;
}

/* Holds the storage of a tensor of torch. Its table would share only the tensor, which may be given another storage. */
static bool hold_storage(record *r) {
  static GD_OWN PyObject *name;
  if (name == NULL && (name = PyUnicode_InternFromString("untyped_storage")) == NULL) return false;
  r->pin.owner = PyObject_CallMethodObjArgs(r->object, name, NULL);
  return r->pin.owner != NULL;
}

/* Holds the memory that a table lends: it stays alive, whatever happens to its owner. */
static bool hold_lent(record *r) {
  DLManagedTensorVersioned *m = NULL;
  if (r->torch && hold_storage(r)) return true;
  if (r->torch && r->imported && PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError))
    return PyErr_Clear(), true; /* a wrapper of tensors has no storage */
  if (r->torch) return false;
  if (gd_table_import(r->api, r->object, &m) != 0 || m == NULL) {
    if (PyErr_Occurred() == NULL)
      PyErr_SetString(PyExc_BufferError, "a tensor's exchange table lends a DLTensor, but exports no managed tensor");
    return false;
  }
  if (m->dl_tensor.data == r->t.data && m->dl_tensor.byte_offset == r->t.byte_offset) return r->pin.managed = m, true;
  gd_managed_drop(m, NULL);
  return PyErr_SetString(PyExc_BufferError, "a tensor's memory was replaced during the call"), false;
}

/* ---- the pins of a call ---- */

static bool is_numpy(const record *r) { return !r->torch && (r->imported || r->api == NULL); }

static void unpin(record *r) {
  if (is_numpy(r)) return gd_numpy_unpin(&r->pin);
  gd_torch_unpin(&r->pin);
  gd_managed_drop(r->pin.managed, NULL);
}

/* gd_pin_borrowed pins all tensors that the call has borrowed in place since the last time.
   GIL: held; for torch, the first time runs torch's Python code.
   Owns: the call holds the pins for gd_unpin, also on failure: false with an exception set.
   Threads: the calling one. */
bool gd_pin_borrowed(call *c) {
  bool of_torch = false;
  if (gd_hold(c, (Py_IncRef(c->outputs.like), c->outputs.like)) == NULL)
    return false; /* an object may change its class */
  for (record *r; (r = c->tensors.borrowed) != NULL;) {
    r->pin = (gd_pin){0};
    of_torch |= r->torch;
    if (is_numpy(r)) gd_numpy_pin(r->object, &r->pin);
    else if (!hold_lent(r)) return false; /* stays on the list: a caller that clears the exception retries */
    c->tensors.borrowed = r->next;
    r->next = c->tensors.pinned;
    c->tensors.pinned = r;
  }
  if (of_torch && !learn_torch(c)) return false;
  for (record *r = c->tensors.pinned; of_torch && r != NULL; r = r->next)
    if (r->torch && r->pin.lock.where == NULL && !gd_torch_pin(&r->pin, r->imported ? NULL : &r->t)) return false;
  return true;
}

/* gd_pin_imported adds an object that Go imported to those that are pinned, if its owner could move the memory.
   GIL: held; no exception is pending.
   Owns: nothing passes: x must live until the end of the call; false with MemoryError set on failure.
   Threads: the calling one. */
bool gd_pin_imported(call *c, PyObject *x) {
  const gd_plan *plan = gd_plan_of(Py_TYPE(x)); /* arrays of jax have a plan, and get here in each call */
  bool torch = plan != NULL ? plan->torch : gd_torch_is_type(Py_TYPE(x));
  record *r = torch || gd_numpy_is_array(x) ? gd_reserve(c, sizeof *r) : NULL;
  if (r == NULL) return PyErr_Occurred() == NULL;
  r->object = x;
  r->torch = torch;
  r->imported = true;
  r->next = c->tensors.borrowed;
  c->tensors.borrowed = r;
  return true;
}

/* gd_unpin releases what gd_pin_borrowed held.
   GIL: held; may run Python code.
   Owns: takes what the call has pinned.
   Threads: the calling one. */
void gd_unpin(call *c) {
  for (record *r; (r = c->tensors.pinned) != NULL;) {
    c->tensors.pinned = r->next;
    unpin(r);
  }
}

/* gd_is_alone reports whether Python has no other thread, which could run when this one releases the GIL. A thread unknown to
   Python may still come, and change an argument.
   C because: (a), the stable ABI has no functions for threads. */
bool gd_is_alone(void) {
  typedef PyThreadState *(*first)(PyInterpreterState *);
  typedef PyThreadState *(*after)(PyThreadState *);
  static GD_OWN first head;
  static GD_OWN after next;
  static GD_OWN PyInterpreterState *interpreter;
  if (interpreter == NULL) {
    head = (first)dlsym(RTLD_DEFAULT, "PyInterpreterState_ThreadHead");
    next = (after)dlsym(RTLD_DEFAULT, "PyThreadState_Next");
    interpreter = PyInterpreterState_Get();
  }
  if (head == NULL || next == NULL) return false;
  PyThreadState *newest = head(interpreter);
  return newest != NULL && next(newest) == NULL;
}
