/* How many threads Go may compute in: one number for all runtimes in the process. A runtime in a library knows the environment that
   the process began with, and nothing of what was put there since; so the host reads it, and hands the number over. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { MOST_THREADS = 4096 };
static GD_OWN int chosen; /* by set_num_threads(); 0: the environment is asked whenever a runtime starts */

/* The first of the variables that says it; 0 if none does, -1 with an exception set where warnings are errors. */
static int from_environment(void) {
  static const char *const names[] = {"GODLPACK_NUM_THREADS", "GOMAXPROCS", "OMP_NUM_THREADS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *text = getenv(names[i]), *end;
    if (text == NULL || *text == 0) continue;
    long n = strtol(text, &end, 10);
    end += strspn(end, " \t");
    if (n > 0 && n <= MOST_THREADS && (*end == 0 || *end == ',')) return (int)n; /* "4,2": of OpenMP's nested teams the outer one */
    if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s=%s is ignored by godlpack: want a number of threads, from 1 to %d", names[i], text, MOST_THREADS) != 0)
      return -1;
  }
  return 0;
}

/* gd_threads_apply tells all runtimes how many threads there are; called whenever one has started.
   C because: (c), libraries are used without this library's Go.
   GIL: held; a warning may run Python code. */
bool gd_threads_apply(void) {
  int n = chosen != 0 ? chosen : from_environment();
  if (n >= 0) gd_library_threads(n);
  return n >= 0 && gd_runtime_threads(n);
}

/* gd_choose_threads is _choose_threads: n for all runtimes from now on, in children, too; 0: what the environment says.
   C because: (b), the number outlives any Go runtime. */
PyObject *gd_choose_threads(PyObject *module, PyObject *n) {
  (void)module;
  long long number = PyLong_AsLongLong(n);
  if (number == -1 && PyErr_Occurred() != NULL) return NULL;
  if (number < 0 || number > MOST_THREADS)
    return PyErr_Format(PyExc_ValueError, "set_num_threads(): want a number from 1 to %d, or None, got %S", MOST_THREADS, n), NULL;
  chosen = (int)number;
  return gd_threads_apply() ? PyLong_FromLong(chosen) : NULL;
}
