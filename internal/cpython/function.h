/* Functions of libraries, and the libraries. */
#ifndef GODLPACK_FUNCTION_H
#define GODLPACK_FUNCTION_H

#include "tensor.h"
#include "packed.h"

typedef struct gd_library gd_library;
gd_library *gd_library_at(const char *path, PyObject *check);
int64_t gd_forks(void);
bool gd_library_runs(const gd_library *l, uintptr_t pc);
void gd_library_abandon(gd_library *l);
void gd_find_code(const void *inside, uintptr_t *start, uintptr_t *end);
bool gd_watch_start(void);
void gd_watch_calls(void);
void gd_watch_forked(void);
PyObject *gd_declarations(PyObject *module, PyObject *arguments);
int gd_library_exec(void);
void gd_library_threads(int n);

bool gd_threads_apply(void);
PyObject *gd_choose_threads(PyObject *module, PyObject *n);

typedef enum { GD_FREE, GD_METHOD, GD_CONSTRUCTOR } gd_role; /* a constructor's object comes before its arguments */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *weakrefs;
  gd_library *library;
  PyObject *name, *qualname, *module, *doc, *text,
      *names;      /* text: the signature; names: of the parameters, a tuple of str */
  uint64_t writes; /* bit i: tensors of parameter i are written */
  int index;       /* in the library's table */
  int count;       /* of parameters */
  int positional;  /* of parameters that may be passed by position, which come first */
  int variadic;    /* the parameter that takes all further arguments by position; -1: none */
  int outputs;     /* how many results are tensors; -1: a list of them */
  int holds;       /* the caller keeps the GIL */
  gd_role role;
  struct { /* of a getter: a number in the object's memory, by a letter of the module struct */
    size_t offset;
    int format; /* 0: none */
    int class;
  } place;
  PyObject *like; /* the framework of outputs if no argument has one: a str until its type is needed; NULL: ours */
  PyObject
      *converts; /* a tuple of callables or None: for each argument before the call, and for the result; NULL: none */
  PyObject *parameters[]; /* the elements of names */
} gd_function;
const GDLibrary *gd_library_open(gd_library *l, const gd_function *f);
bool gd_function_like(gd_function *f);

PyObject *gd_function_make(PyObject *module, PyObject *arguments);
PyObject *gd_call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames);

bool gd_is_finalizing(void);
int gd_function_exec(PyObject *module);

#endif
