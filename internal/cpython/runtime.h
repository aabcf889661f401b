/* The Go runtime: its start at first need, its restart after a fork; and the ways into Go. */
#ifndef GODLPACK_RUNTIME_H
#define GODLPACK_RUNTIME_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "pyabi.h"
#include "ops.h"

/* The interface of one copy of this library to the others: its ways into Go, and operations on its runtime. */
typedef struct {
  PyObject *(*enter)(int op, PyObject *self, PyObject **args, Py_ssize_t nargs, PyObject *kwnames);
  int (*get_buffer)(PyObject *self, Py_buffer *view, int flags);
  void (*start)(void);             /* does nothing if it is running */
  void (*mark_dead)(void);         /* in a forked child: no thread enters it from now on, not even one that ends */
  void (*uninstall_signals)(void); /* puts back the previous handlers of Go's signals */
  char *kept;                      /* its GD_KEPT variables */
  _Atomic bool started;
  bool dead; /* its threads are in the parent: no thread may enter */
} gd_runtime;
extern gd_runtime gd_own_runtime;
typedef struct {
  PyModuleDef module;
  gd_runtime *runtime;
} gd_definition; /* what PyInit__core returns */

int gd_runtime_exec(void); /* watches for forks; part of the module's execution */
bool gd_runtime_is_lazy(void);
int64_t gd_runtime_generation(void);
PyObject *gd_no_room(char *why, size_t n);
bool gd_runtime_threads(int n);
void *gd_open_copy(const char *path, char *why, size_t size);
void gd_say_remedy(char *why, size_t size);

typedef struct entry *gd_entry;
bool gd_entry_begin(gd_entry *out);
void gd_entry_end(gd_entry e);
void gd_greenlets_forked(void);
bool gd_ensure_runtime(void);
int gd_get_buffer(PyObject *self, Py_buffer *view, int flags);
PyObject *gd_enter(int op, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* For the method lists of ops.h: a method that enters Go, and its entry in a method table. */
#define GD_TRAMPOLINE(owner, name, ...) \
  static PyObject *owner##_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) { \
    return gd_enter(GD_OP_##owner##_##name, self, args, n, kw); \
  }
#define GD_KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define GD_METHOD(owner, name, python) {python, (PyCFunction)(void *)owner##_##name, GD_KEYWORDS, doc_##owner##_##name},

#endif
