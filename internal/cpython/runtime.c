/* The Go runtime: started at first need, and started again in a forked child.

   A Go c-shared library starts its runtime when it is loaded: a constructor creates a thread. Here the linker replaces that by
   __wrap_x_cgo_sys_thread_create (pyext/core/lazy.go), which only records what to run. Where nothing wraps it (a Go test, or a
   build with the tag godlpack_eager) the runtime starts as Go does it; everything else is the same.

   fork() copies one thread, so a child has no Go runtime: a thread that entered it would hang at the first garbage collection.
   The child opens a copy of this library instead, once it needs Go, and starts the copy's runtime. Python's types and all
   tensors stay with the first library, whose C code enters Go through `life->current`; the copy's Go code calls the copy's C
   code, which works on the first library's variables (GD_KEPT). Copies are never closed: deleters lead into them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "core.h"

/* Defined by the linker: the start and the end of the section. */
extern __attribute__((visibility("hidden"))) char __start_gd_kept[], __stop_gd_kept[];

/* ---- starting ---- */

void __real_x_cgo_sys_thread_create(void *(*run)(void *), void *argument) __attribute__((weak));
uintptr_t __real__cgo_wait_runtime_init_done(void) __attribute__((weak));

static GD_OWN struct {
  void *(*run)(void *);
  void *argument;
} postponed;

/* __wrap_x_cgo_sys_thread_create is called by Go's constructor when the library is loaded. It starts nothing.
   C because: (b).
   GIL: not needed.
   Owns: keeps the argument.
   Threads: the loading one. */
void __wrap_x_cgo_sys_thread_create(void *(*run)(void *), void *argument) {
  postponed.run = run;
  postponed.argument = argument;
}

/* gd_runtime_is_lazy reports whether the linker replaced Go's functions by the ones above and below.
   C because: (a).
   GIL: not needed.
   Threads: any. */
bool gd_runtime_is_lazy(void) { return __real_x_cgo_sys_thread_create != NULL; }

static void start(void) {
  if (atomic_load_explicit(&gd_own_runtime.started, memory_order_relaxed)) return; /* the fast case of each entry */
  if (atomic_exchange(&gd_own_runtime.started, true) || !gd_runtime_is_lazy()) return;
  gd_signals_install();
  __real_x_cgo_sys_thread_create(postponed.run, postponed.argument);
}

/* __wrap__cgo_wait_runtime_init_done is called by every C function that cgo makes for an exported Go function, and waits until
   Go is ready. A caller that did not call gd_ensure_runtime gets a runtime all the same, or the process ends with a message if
   the runtime is dead: it would hang.
   C because: (b).
   GIL: any.
   Threads: any. */
uintptr_t __wrap__cgo_wait_runtime_init_done(void) {
  static const char message[] = "godlpack: fatal: a forked child entered the Go runtime of its parent\n";
  if (gd_own_runtime.dead) {
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written; /* it may be closed */
    abort();
  }
  start();
  return __real__cgo_wait_runtime_init_done();
}

/* A hook of Go's runtime/cgo: a thread that has been in Go calls it when it ends, to deregister from Go. In a forked child it
   would wait for ever if Go's collector was working on the thread at the fork. The name is private to Go, and
   tests/test_workers.py fails if a new Go has another. library/library.c does the same for itself (docs/rationale.md). */
extern void (*x_crosscall2_ptr)(void (*)(void *), void *, int, size_t) __attribute__((weak));

static void mark_dead(void) {
  gd_own_runtime.dead = true;
  if (&x_crosscall2_ptr != NULL) x_crosscall2_ptr = NULL;
}

GD_OWN gd_runtime gd_own_runtime = {.enter = godlpackEnter,
                                    .get_buffer = godlpackGetBuffer,
                                    .start = start,
                                    .mark_dead = mark_dead,
                                    .uninstall_signals = gd_signals_uninstall,
                                    .kept = __start_gd_kept};

/* ---- forks ---- */

typedef struct {
  gd_runtime *current;
  bool ready; /* current is started, and alive in this process */
  int64_t
      generation; /* how often the runtime was restarted after forks: a Go handle is valid only in its own generation */
  char path[PATH_MAX]; /* this library's file */
  struct stat file;    /* and its metadata when it was loaded */
} lifetime;

static GD_OWN lifetime own_life = {.current = &gd_own_runtime};
static GD_KEPT lifetime *life = &own_life;

static void after_fork(void) {
  gd_runtime *r = life->current;
  if (r->started) {
    r->mark_dead();
    life->ready = false;
  }
  gd_faults_forked();
  do r->uninstall_signals();
  while (gd_signals_unchain()); /* libraries of functions were opened before and after it was started */
  gd_faults_lift();
}

/* gd_runtime_exec registers the fork handler, and records the library's path.
   C because: (b).
   Owns: nothing passes; on failure -1 with MemoryError set.
   Threads: the importing one. */
int gd_runtime_exec(void) {
  Dl_info info;
  if (life->path[0] != 0) return 0;
  if (!gd_runtime_is_lazy()) gd_own_runtime.started = true;
  if (pthread_atfork(NULL, NULL, after_fork) != 0) return PyErr_NoMemory(), -1;
  if (dladdr(&own_life, &info) == 0 || realpath(info.dli_fname, life->path) == NULL ||
      stat(life->path, &life->file) != 0)
    strcpy(life->path, "?"); /* not from a file: restart() fails in a forked child */
  return 0;
}

/* An upgrade of the package may have replaced this library by another; a process that changed its user may have lost access to
   it. */
static bool is_unchanged(char *why, size_t size) {
  struct stat now;
  if (stat(life->path, &now) != 0) {
    snprintf(why, size, "%.900s: %s", life->path, strerror(errno));
    return false;
  }
  bool same = now.st_ino == life->file.st_ino && now.st_size == life->file.st_size &&
              now.st_mtim.tv_sec == life->file.st_mtim.tv_sec && now.st_mtim.tv_nsec == life->file.st_mtim.tv_nsec;
  if (!same) snprintf(why, size, "%.900s is no longer the file that was loaded", life->path);
  return same;
}

/* Opens a copy of this library, passes it the GD_KEPT variables, and makes its runtime the current one. */
static bool restart(void) {
  char why[1024];
  void *copy = is_unchanged(why, sizeof why) ? gd_open_copy(life->path, why, sizeof why) : NULL;
  PyObject *(*init)(void) = copy == NULL ? NULL : (PyObject * (*)(void)) dlsym(copy, "PyInit__core");
  if (init != NULL) {
    gd_runtime *r = ((gd_definition *)init())->runtime;
    memcpy(r->kept, __start_gd_kept, (size_t)(__stop_gd_kept - __start_gd_kept));
    life->current = r;
    life->generation++;
    return true;
  }
  gd_say_remedy(why, sizeof why);
  PyErr_Format(PyExc_RuntimeError,
               "godlpack: this process was made by fork(), and a Go runtime of its own cannot be started (%s); start "
               "workers by 'spawn' or 'forkserver' (exchanges that need no Go still work)",
               why);
  return false;
}

/* gd_runtime_generation counts how often the runtime was restarted after a fork.
   C because: (a). */
int64_t gd_runtime_generation(void) { return life->generation; }

/* Whether the current runtime runs, or has room to start; called before a copy is opened, as that may start its runtime. */
static bool has_room(void) {
  char why[512];
  const gd_runtime *r = life->current;
  PyObject *error = r->started && !r->dead ? NULL : gd_no_room(why, sizeof why);
  if (error != NULL) PyErr_Format(error, "godlpack: %s (exchanges that need no Go still work)", why);
  return error == NULL;
}

/* gd_runtime_threads sets the number of threads that this library's Go may compute in (_threads, ops.h), if it runs. */
bool gd_runtime_threads(int n) {
  if (!life->ready) return true;
  PyObject *number = PyLong_FromLong(n),
           *now = number == NULL ? NULL : gd_enter(GD_OP_module_threads, NULL, &number, 1, NULL);
  Py_DecRef(number);
  Py_DecRef(now);
  return now != NULL;
}

/* ---- the entry into Go ---- */

/* gd_ensure_runtime makes sure that a Go runtime can be entered: it starts the existing one, or in a forked child a new one.
   False with RuntimeError or MemoryError set if that is not possible now. It takes no lock that another thread may have held at
   the fork. */
bool gd_ensure_runtime(void) {
  if (life->ready) return true;
  if (!has_room() || (life->current->dead && !restart())) return false;
  gd_faults_open();
  life->current->start();
  gd_faults_close();
  gd_watch_start();
  life->ready = true;
  return gd_threads_apply();
}

/* gd_enter passes a call to Go: operation op on self with the arguments of CPython's fast calling convention.
   C because: (b).
   GIL: held, and held again on return. */
PyObject *gd_enter(int op, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  if (nargs < 0) { /* what CPython's specialized call makes of a method called without its object */
    PyErr_SetString(PyExc_TypeError, "unbound method needs an argument");
    return NULL;
  }
  gd_entry entry;
  if (!gd_ensure_runtime() || !gd_entry_begin(&entry)) return NULL;
  PyObject *result = life->current->enter(op, self, (PyObject **)args, nargs, kwnames);
  gd_entry_end(entry);
  return result;
}

/* gd_get_buffer implements Tensor's buffer protocol.
   C because: (b).
   Owns: on success view owns a reference to self; on failure -1 with an exception set. */
int gd_get_buffer(PyObject *self, Py_buffer *view, int flags) {
  view->obj = NULL;
  return gd_ensure_runtime() ? life->current->get_buffer(self, view, flags) : -1;
}
