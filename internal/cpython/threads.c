/* The number of threads that Go may compute in: one number for all runtimes in the process. A runtime in a library only has the
   environment from the start of the process, without later changes; so the host reads the environment, and passes the number
   on. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { MOST_THREADS = 4096 };
static GD_OWN int chosen; /* by set_num_threads(); 0: the environment is read whenever a runtime starts */

/* Returns the number of the first variable that has one; 0 if none has, -1 with an exception set where warnings are errors. */
static int from_environment(void) {
  static const char *const names[] = {"GODLPACK_NUM_THREADS", "GOMAXPROCS", "OMP_NUM_THREADS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *text = getenv(names[i]), *end;
    if (text == NULL || *text == 0) continue;
    long n = strtol(text, &end, 10);
    end += strspn(end, " \t");
    if (n > 0 && n <= MOST_THREADS && (*end == 0 || *end == ','))
      return (int)n; /* "4,2": of OpenMP's nested teams the outer one */
    if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                         "%s=%s is ignored by godlpack: want a number of threads, from 1 to %d", names[i], text,
                         MOST_THREADS) != 0)
      return -1;
  }
  return 0;
}

/* gd_threads_apply passes the number of threads to all runtimes; called whenever one has started.
   C because: (c), libraries are used without this library's Go.
   GIL: held; a warning may run Python code. */
bool gd_threads_apply(void) {
  int n = chosen != 0 ? chosen : from_environment();
  if (n >= 0) gd_library_threads(n);
  return n >= 0 && gd_runtime_threads(n);
}

/* gd_choose_threads is _choose_threads: sets the number for all runtimes from now on, also in children; 0: as the environment
   says.
   C because: (b), the number outlives any Go runtime. */
PyObject *gd_choose_threads(PyObject *module, PyObject *n) {
  (void)module;
  long long number = PyLong_AsLongLong(n);
  if (number == -1 && PyErr_Occurred() != NULL) return NULL;
  if (number < 0 || number > MOST_THREADS)
    return PyErr_Format(PyExc_ValueError, "set_num_threads(): want a number from 1 to %d, or None, got %S",
                        MOST_THREADS, n),
           NULL;
  chosen = (int)number;
  return gd_threads_apply() ? PyLong_FromLong(chosen) : NULL;
}
