/* What the reference of helpers/reference.py has in C, right and wrong: it runs where no Python may, or ends as only C can. */
#include <stdlib.h>
#include <string.h>

int Py_IsInitialized(void);
int PyGILState_Ensure(void);
void PyGILState_Release(int);
void *PyGILState_GetThisThreadState(void);
void Py_DecRef(void *);
void PyErr_Fetch(void **, void **, void **);
void PyErr_Restore(void *, void *, void *);
void PyErr_Clear(void);
void PyErr_BadArgument(void);
int PyCapsule_IsValid(void *, const char *);
const char *PyCapsule_GetName(void *);
void *PyCapsule_GetPointer(void *, const char *);
void *PyObject_CallFunction(void *, const char *, ...);
long PyLong_AsLong(void *);

/* The fields that matter: manager_ctx and deleter are elsewhere in the two kinds of managed tensors. */
typedef struct {
  char tensor[48];
  void *owner;
  void (*deleter)(void *);
} Legacy;
typedef struct {
  char version[8];
  void *owner;
  void (*deleter)(void *);
} Versioned;

/* ---- deleters ---- */

static void release(void *owner, void *block) {
  void *type, *value, *trace;
  int gil = PyGILState_Ensure();
  PyErr_Fetch(&type, &value, &trace);
  if (owner) Py_DecRef(owner);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
  free(block);
}

static void *owner_of(void *m, int versioned) { return versioned ? ((Versioned *)m)->owner : ((Legacy *)m)->owner; }

#define DELETER(name, body) \
  static void name(void *m, int versioned) { \
    void *owner = owner_of(m, versioned); \
    body \
  } \
  void name##_legacy(void *m) { name(m, 0); } \
  void name##_versioned(void *m) { name(m, 1); }

DELETER(delete_right, {
  if (Py_IsInitialized()) release(owner, m);
})
DELETER(delete_after_the_end, { release(owner, m); })
DELETER(delete_without_the_gil, {
  PyErr_Clear();
  Py_DecRef(owner);
  free(m);
})
DELETER(delete_but_keep_the_owner, {
  (void)owner;
  free(m);
})
DELETER(delete_but_keep_the_block, {
  if (Py_IsInitialized()) release(owner, NULL);
})
DELETER(delete_on_threads_of_python, {
  if (!PyGILState_GetThisThreadState()) abort();
  release(owner, m);
})
DELETER(delete_nothing, { (void)owner; })

/* ---- destructors of capsules ---- */

static void delete(void *m, int versioned) {
  void (*deleter)(void *) = versioned ? ((Versioned *)m)->deleter : ((Legacy *)m)->deleter;
  if (deleter) deleter(m);
}

static void destroy(void *capsule, int times) {
  void *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  for (int versioned = 0; versioned < 2; versioned++) {
    const char *name = versioned ? "dltensor_versioned" : "dltensor";
    if (PyCapsule_IsValid(capsule, name))
      for (int i = 0; i < times; i++) delete(PyCapsule_GetPointer(capsule, name), versioned);
  }
  PyErr_Restore(type, value, trace);
}

void destroy_right(void *capsule) { destroy(capsule, 1); }
void destroy_twice(void *capsule) { destroy(capsule, 2); }

/* Frees the block itself, and forgets what the deleter would have given back. */
void destroy_without_the_deleter(void *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  if (strncmp(name, "used_", 5) != 0) free(PyCapsule_GetPointer(capsule, name));
}

void destroy_used_ones_too(void *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  delete(PyCapsule_GetPointer(capsule, name), strstr(name, "versioned") != NULL);
}

void destroy_and_forget_exceptions(void *capsule) {
  destroy(capsule, 1);
  PyErr_Clear();
}

/* The shape, which ends the block, is gone with the capsule. */
void destroy_the_shape(void *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  int versioned = strstr(name, "versioned") != NULL;
  char *m = PyCapsule_GetPointer(capsule, name);
  long *shape = *(long **)(m + (versioned ? 32 : 0) + 24);
  if (shape && strncmp(name, "used_", 5) == 0) shape[0] = -1;
  destroy(capsule, 1);
}

void destroy_with_an_exception(void *capsule) {
  destroy(capsule, 1);
  if (strncmp(PyCapsule_GetName(capsule), "used_", 5) == 0) PyErr_BadArgument();
}

/* ---- slots of a table: what Python functions return, or -1 with what they raise ---- */

void *hooks[3];
int failure = -1; /* the status of a function that raised */
int keeps_exception = 1;

static int call(void *hook, void *argument, void *out) {
  void *result = PyObject_CallFunction(hook, "KK", (unsigned long long)argument, (unsigned long long)out);
  if (result == NULL) {
    if (!keeps_exception) PyErr_Clear();
    return failure;
  }
  int status = (int)PyLong_AsLong(result);
  Py_DecRef(result);
  return status;
}

int managed_from_py(void *x, void *out) { return call(hooks[0], x, out); }
int managed_to_py(void *m, void *out) { return call(hooks[1], m, out); }
int record_from_py(void *x, void *out) { return call(hooks[2], x, out); }

int (*allocate)(void *, void *, void *, void *);

/* An allocator that leaves an exception behind. */
int allocate_and_raise(void *prototype, void *out, void *context, void *set_error) {
  int status = allocate(prototype, out, context, set_error);
  int gil = PyGILState_Ensure();
  if (status != 0) PyErr_BadArgument();
  PyGILState_Release(gil);
  return status;
}

/* An allocator that needs the GIL, and does not take it. */
int allocate_without_the_gil(void *prototype, void *out, void *context, void *set_error) {
  PyErr_Clear();
  return allocate(prototype, out, context, set_error);
}
