/* The second Ctrl-C. Python's handler of SIGINT only records the signal. A Go function that never polls (kernel.Ctx.Err) does
   not notice it, and nothing stops a goroutine from outside. So a second Ctrl-C leaves the call: the main thread jumps out of
   it, from the signal's handler, and the library's runtime is given up, with all that it holds. The library's next call opens a
   copy, as in a forked child. A program that has set a handler of its own handles its signals itself: its calls are not
   left. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "call.h"

enum {
  TICK = 50,      /* milliseconds between looks at a long call */
  REST = 250,     /* between checks for a watched call, and of the handlers of faults */
  TWICE = 50,     /* a second signal within this time belongs to the same key press */
  PATIENCE = 1000 /* for a function to end after it has noticed the signal */
};

GD_OWN gd_watch gd_watched;

/* The state of the watched call, the one with this serial number. */
static GD_OWN struct {
  _Atomic uint64_t serial;
  _Atomic int64_t first; /* time of the first signal, in milliseconds; 0: no signal yet */
  atomic_bool wanted;    /* the second signal arrived */
  atomic_bool again;     /* the watcher sent one, to check again whether the call can be abandoned */
  bool told;
  sigset_t mask; /* of the thread before the handler */
} state;

typedef struct sigaction action;
static GD_OWN _Atomic(action *) previous; /* the handler of SIGINT before ours; never freed, since it may be running */
static GD_OWN PyObject *ask, *usual;      /* signal.getsignal; signal.default_int_handler */

/* The program has set a handler of its own in Python. Read with the GIL when our handler was put on top, and valid as long as
   ours is there: signal.signal() replaces it. */
static GD_OWN atomic_bool program_handler;
static GD_OWN pthread_t watcher;
static GD_OWN bool watching;
static GD_OWN sem_t work;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the handler ---- */

static uintptr_t counter(const void *context) {
  const ucontext_t *u = context;
#if defined(__x86_64__)
  return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)u->uc_mcontext.pc;
#else
  return (void)u, 0; /* no call is abandoned on other processors */
#endif
}

/* Leaves the call if the thread runs its library's own code: elsewhere it may hold a lock of the process. */
static void leave(call *c, const void *context) {
  if (!gd_library_runs(c->f->library, counter(context))) return;
  state.mask = ((const ucontext_t *)context)->uc_sigmask;
  gd_watched.call = NULL;
  longjmp(*c->entry.back, GD_ABANDONED);
}

/* Records a signal, and reports whether it is the second. */
static bool count(const call *c) {
  int64_t t = now();
  if (state.serial != gd_watched.serial || state.first == 0) {
    state.serial = gd_watched.serial;
    state.wanted = state.told = false;
    state.first = t;
    return false;
  }
  int64_t waited = t - state.first;
  return state.wanted = state.wanted || (waited >= TWICE && (!c->entry.stopped || waited >= PATIENCE));
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
  static GD_OWN volatile sig_atomic_t inside; /* the previous handler may itself call this one */
  int saved = errno;
  call *c = gd_watched.call;
  bool main = pthread_equal(pthread_self(), gd_watched.thread), again = main && atomic_exchange(&state.again, false);
  if (c != NULL && !program_handler && (again ? state.wanted && state.serial == gd_watched.serial : count(c))) {
    if (main) leave(c, context);
    sem_post(&work); /* not at this point, or not in this thread: the watcher sends the main thread another signal */
  }
  const action *before = previous;
  if (!again && !inside && before != NULL) {
    inside = 1;
    if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(number, info, context);
    else before->sa_handler(number);
    inside = 0;
  }
  errno = saved;
}

/* Reads the handler of SIGINT, and reports whether another one than ours is on top. False where the signal is ignored or ends
   the process: that stays so. */
static bool is_covered(action *found) {
  *found = gd_handler_of(SIGINT);
  return found->sa_sigaction != on_interrupt && found->sa_handler != SIG_DFL && found->sa_handler != SIG_IGN;
}

/* Whether Python has a handler for SIGINT other than its default one. Needs the GIL. */
static bool has_program_handler(void) {
  PyObject *set = PyObject_CallFunction(ask, "i", SIGINT);
  if (set == NULL) return PyErr_Clear(), false;
  bool other = set != usual;
  Py_DecRef(set);
  return other;
}

/* Puts the handler on top of the current one of SIGINT, usually Python's. Whose that is can be found out only with the GIL. */
static void install(bool gil) {
  action found, *before;
  if (!is_covered(&found) || (before = malloc(sizeof *before)) == NULL) return;
  *before = found;
  previous = before;
  program_handler = gil && has_program_handler();
  found.sa_sigaction = on_interrupt;
  found.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGINT, &found, NULL);
}

/* ---- the watcher: a thread that watches long calls, and the handlers of faults ---- */

/* Puts the handler back on top. Only the main thread sets Python's, and it is in the call, so none is set meanwhile. If the
   call holds the GIL, the program is assumed to have no handler of its own. */
static void return_to_top(const call *c, uint64_t serial) {
  action found;
  if (!is_covered(&found) || gd_is_finalizing()) return;
  if (c->entry.holds) return install(false);
  PyGILState_STATE gil = PyGILState_Ensure();
  if (gd_watched.call == c && gd_watched.serial == serial) install(true);
  PyGILState_Release(gil);
}

static void look(const call *c, uint64_t serial) {
  static const char hint[] =
      "\ngodlpack: the running Go function does not check for Ctrl-C (kernel.Ctx.Err); "
      "press Ctrl-C again to abandon the call\n";
  return_to_top(c, serial);
  if (state.serial != serial || state.first == 0) return;
  if (state.wanted) {
    state.again = true;
    pthread_kill(gd_watched.thread, SIGINT);
  } else if (!state.told && !c->entry.stopped && now() - state.first >= PATIENCE) {
    state.told = true;
    if (write(STDERR_FILENO, hint, sizeof hint - 1) < 0) return;
  }
}

static void *watch(void *ignored) {
  uint64_t last = 0;
  for (;;) {
    struct timespec t;
    int64_t tick = gd_watched.call == NULL ? REST : TICK;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += tick % 1000 * 1000000;
    t.tv_sec += tick / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    sem_timedwait(&work, &t);
    gd_faults_look();
    uint64_t serial = gd_watched.serial;
    const call *c = gd_watched.call;
    if (c != NULL && serial == last) look(c, serial);
    last = serial;
  }
  return ignored;
}

/* gd_watch_start starts the watcher, unless it runs already. Without it no call can be left, and Go's handlers of faults are
   not put back on top.
   C because: (b).
   Owns: nothing passes; false if there is no watcher. */
bool gd_watch_start(void) {
  sigset_t all, before;
  pthread_attr_t small;
  if (watching) return true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 17);
  watching = sem_init(&work, 0, 0) == 0 && pthread_create(&watcher, &small, watch, NULL) == 0;
  if (watching) pthread_detach(watcher);
  pthread_attr_destroy(&small);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return watching;
}

/* gd_watch_calls makes it possible to leave the main thread's calls from now on.
   C because: (b).
   Owns: nothing passes; no exception. */
void gd_watch_calls(void) {
  if (!gd_watch_start() || gd_watched.thread != 0) return;
  PyObject *threading = PyImport_ImportModule("threading");
  PyObject *thread = threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
  PyObject *ident = thread == NULL ? NULL : PyObject_GetAttrString(thread, "ident");
  gd_watched.thread = ident == NULL ? 0 : (pthread_t)PyLong_AsUnsignedLongLong(ident);
  PyObject *signals = ident == NULL ? NULL : PyImport_ImportModule("_signal");
  if (signals != NULL && ask == NULL) ask = PyObject_GetAttrString(signals, "getsignal");
  if (signals != NULL && usual == NULL) usual = PyObject_GetAttrString(signals, "default_int_handler");
  PyObject *made[] = {threading, thread, ident, signals};
  for (int i = 0; i < 4; i++) Py_DecRef(made[i]);
  if (PyErr_Occurred() != NULL) return gd_watched.thread = 0, PyErr_Clear();
  install(true);
}

/* gd_watch_forked forgets the watcher, which a child does not have, and uninstalls the handler if no other is on top of it.
   Threads: the only one of a forked child. */
void gd_watch_forked(void) {
  const action *before = previous;
  if (before != NULL && gd_handler_of(SIGINT).sa_sigaction == on_interrupt) sigaction(SIGINT, before, NULL);
  watching = false;
  gd_watched.thread = 0;
  gd_watched.call = NULL;
  state.first = 0;
}

/* ---- after the jump ---- */

/* gd_abandon ends a call that was left. Everything that goroutines may still use stays: arguments, records, the call itself. So
   do this thread's outer calls of the same library: they cannot be returned to.
   Owns: the call keeps what it has for ever; an exception is set, usually KeyboardInterrupt.
   Threads: the one that was in the call. */
PyObject *gd_abandon(call *c) {
  pthread_sigmask(SIG_SETMASK, &state.mask, NULL);
  c->entry.stopped = true;
  for (followed *f = c->tensors.followed; f != NULL; f = f->next) *f->current = f->before;
  for (int i = 0; i < c->f->count; i++)
    if (c->objects[i] != NULL) Py_IncRef(c->objects[i]);
  if (c->outputs.out != NULL) Py_IncRef(c->outputs.out);
  Py_IncRef((PyObject *)c->f);
  if (!c->entry.lost) {
    gd_lose_waiting(c);
    gd_library_abandon(c->f->library);
  }
  c->entry.lost = true;
  if (c->error.class != NULL) { /* of a call that encloses the abandoned one */
    PyErr_Restore(c->error.class, c->error.value, c->error.trace);
    c->error.class = c->error.value = c->error.trace = NULL;
    return NULL;
  }
  if (PyErr_CheckSignals() != 0 && !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return NULL;
  PyErr_Clear();
  return PyErr_Format(
      PyExc_KeyboardInterrupt,
      "%U() did not stop and was abandoned while it ran: its data stays in memory, its goroutines may continue, "
      "and the next call restarts its library, without its state",
      c->f->qualname);
}
