/* Go's signal handlers, installed late. Go installs handlers for five signals when the library is loaded. That would be too
   early: Go does not run yet, and a handler that is installed later (by faulthandler) would come before Go's and treat a fault
   in Go code as a crash. So Go's calls to install handlers return success, and the handlers are installed when its runtime
   starts, on top of the current ones, and uninstalled in a forked child. Works through --wrap=x_cgo_sigaction
   (pyext/core/lazy.go). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include "core.h"

/* As in Go's runtime/cgo/gcc_sigaction.c. */
typedef struct {
  uintptr_t handler;
  unsigned long flags;
#ifdef __loongarch__
  uint64_t mask;
  uintptr_t restorer;
#else
  uintptr_t restorer;
  uint64_t mask;
#endif
} go_sigaction;

int32_t __real_x_cgo_sigaction(intptr_t number, const go_sigaction *new, go_sigaction *old) __attribute__((weak));

/* The signals that Go handles in a C library: faults, which become panics; SIGPIPE; and SIGURG, by which Go preempts
   goroutines. */
static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG};
enum { HANDLED = sizeof handled / sizeof *handled, URGENT = HANDLED - 1 };
_Static_assert((int)HANDLED == (int)GD_HANDLED, "signals.h has the number of handled signals");

static GD_OWN struct {
  go_sigaction go;           /* the handler that Go wants to install */
  struct sigaction previous; /* the handler before it was installed */
} actions[HANDLED];

static int index_of(intptr_t number) {
  for (int i = 0; i < HANDLED; i++)
    if (handled[i] == number) return i;
  return -1;
}

/* gd_pass_on does what would have happened without Go. A fault without a handler happens again, with the default action.
   C because: (b).
   GIL: any.
   Threads: any, in a signal handler. */
void gd_pass_on(const struct sigaction *previous, int number, siginfo_t *info, void *context) {
  bool fault = info->si_code > 0, none = previous->sa_handler == SIG_DFL;
  if (!none && previous->sa_handler != SIG_IGN) {
    if (previous->sa_flags & SA_SIGINFO) previous->sa_sigaction(number, info, context);
    else previous->sa_handler(number);
  } else if ((none || fault) && number != SIGURG) {
    signal(number, SIG_DFL);
    if (!fault) raise(number);
  }
}

static void forward(int number, siginfo_t *info, void *context) {
  gd_pass_on(&actions[index_of(number)].previous, number, info, context);
}

/* Go forwards signals that are not its own to the handler that it takes for the previous one, with two exceptions: SIGURG,
   which all Go runtimes in a process must get, or only one can preempt; and the signal of a fault that was sent, which would
   end Go. */
static void on_signal(int number, siginfo_t *info, void *context) {
  int saved = errno;
  bool asynchronous = number == SIGURG || number == SIGPIPE, fault = info->si_code > 0;
  bool go = !gd_own_runtime.dead && (asynchronous || fault);
  if (go) ((void (*)(int, siginfo_t *, void *))actions[index_of(number)].go.handler)(number, info, context);
  if (!go || number == SIGURG) forward(number, info, context);
  errno = saved;
}

/* __wrap_x_cgo_sigaction replaces Go's sigaction. Until the runtime starts it installs nothing; it records the handler that Go
   passes, and returns forward() as the previous one.
   C because: (b).
   GIL: not needed.
   Owns: nothing passes; returns 0, or errno.
   Threads: any. */
int32_t __wrap_x_cgo_sigaction(intptr_t number, const go_sigaction *new, go_sigaction *old) {
  if (gd_own_runtime.started) return __real_x_cgo_sigaction(number, new, old);
  int i = index_of(number);
  if (i < 0) return __real_x_cgo_sigaction(number, NULL, old); /* Go only sets SA_ONSTACK: see gd_signals_install */
  if (old != NULL) *old = (go_sigaction){.handler = (uintptr_t)forward, .flags = SA_SIGINFO | SA_ONSTACK};
  if (new != NULL) actions[i].go = *new;
  return 0;
}

/* Go's threads have alternate signal stacks, and the stacks of goroutines are too small for other handlers: those must use the
   alternate ones. */
static void use_signal_stacks(void) {
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction a = gd_handler_of(number);
    if (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
      a.sa_flags |= SA_ONSTACK;
      sigaction(number, &a, NULL);
    }
  }
}

/* gd_signals_install puts Go's handlers on top of the current ones.
   C because: (b).
   GIL: not needed.
   Threads: the one that starts the runtime. */
void gd_signals_install(void) {
  use_signal_stacks();
  for (int i = 0; i < HANDLED; i++) {
    if (actions[i].go.handler == 0) continue;
    actions[i].previous = gd_handler_of(handled[i]);
    go_sigaction ours = actions[i].go;
    ours.handler = (uintptr_t)on_signal;
    __real_x_cgo_sigaction(handled[i], &ours, NULL);
  }
}

/* gd_signals_uninstall puts back the previous handlers, where no other is on top of Go's.
   C because: (b).
   GIL: not needed.
   Threads: the only one of a forked child. */
void gd_signals_uninstall(void) {
  for (int i = 0; i < HANDLED; i++)
    if (gd_handler_of(handled[i]).sa_sigaction == on_signal) sigaction(handled[i], &actions[i].previous, NULL);
}

/* ---- libraries of Go functions, whose runtimes install their handlers themselves ---- */

/* Go treats each SIGURG as its own: of several runtimes, only the last one could interrupt its goroutines. So an opened library
   gets a link, whose function runs the library's handler and then the previous one. */
enum { LINKS = 32 }; /* further libraries get no link, so Go's default applies */
static GD_OWN struct {
  gd_handlers own, previous; /* own: the library's handlers on top of the previous ones; no handler where it has none */
  struct sigaction urgent;   /* its handler of SIGURG, which the link's function replaced; none if its Go is dead */
} chain[LINKS];
static GD_OWN int chained;

static void on_urgent(int link, int number, siginfo_t *info, void *context) {
  int saved = errno;
  if (chain[link].urgent.sa_handler != NULL) chain[link].urgent.sa_sigaction(number, info, context);
  gd_pass_on(&chain[link].previous[URGENT], number, info, context);
  errno = saved;
}

#define LINK(i, k) \
  static void urgent_##i##k(int n, siginfo_t *info, void *context) { on_urgent(8 * i + k, n, info, context); }
#define EIGHT(i) LINK(i, 0) LINK(i, 1) LINK(i, 2) LINK(i, 3) LINK(i, 4) LINK(i, 5) LINK(i, 6) LINK(i, 7)
#define NAMES(i) \
  urgent_##i##0, urgent_##i##1, urgent_##i##2, urgent_##i##3, urgent_##i##4, urgent_##i##5, urgent_##i##6, urgent_##i##7
EIGHT(0)
EIGHT(1)
EIGHT(2)
EIGHT(3)
static void (*const urgent[LINKS])(int, siginfo_t *, void *) = {NAMES(0), NAMES(1), NAMES(2), NAMES(3)};

/* gd_signals_read reads the current handlers of Go's signals.
   C because: (a).
   GIL: not needed.
   Threads: any. */
void gd_signals_read(gd_handlers now) {
  for (int i = 0; i < HANDLED; i++) now[i] = gd_handler_of(handled[i]);
}

/* gd_signals_chain passes SIGURG on to the previous handlers too, if a library that was opened since has a Go runtime, and
   records what to undo.
   C because: (b).
   GIL: not needed.
   Owns: nothing passes; the result is the link's number, below 0 if there is none.
   Threads: the one that opened the library; one at a time. */
int gd_signals_chain(const gd_handlers before) {
  gd_handlers now;
  gd_signals_read(now);
  if (chained == LINKS || now[URGENT].sa_sigaction == before[URGENT].sa_sigaction) return -1;
  chain[chained].urgent = now[URGENT];
  now[URGENT].sa_sigaction = urgent[chained];
  for (int i = 0; i < HANDLED; i++) {
    chain[chained].previous[i] = before[i];
    chain[chained].own[i] = now[i];
    if (now[i].sa_sigaction == before[i].sa_sigaction) chain[chained].own[i].sa_handler = NULL;
  }
  sigaction(SIGURG, &now[URGENT], NULL);
  return chained++;
}

/* Puts back the handlers before a link, where no other is on top; true if any changed. Its Go is dead. */
static bool uncover(int link) {
  bool changed = false;
  chain[link].urgent.sa_handler = NULL;
  for (int i = 0; i < HANDLED; i++) {
    struct sigaction *own = &chain[link].own[i];
    if (own->sa_handler == NULL || gd_handler_of(handled[i]).sa_sigaction != own->sa_sigaction) continue;
    sigaction(handled[i], &chain[link].previous[i], NULL);
    own->sa_handler = NULL;
    changed = true;
  }
  return changed;
}

/* gd_signals_drop uninstalls one library's handlers, where they are on top: its runtime was given up.
   C because: (b).
   GIL: any.
   Threads: any; one at a time. */
void gd_signals_drop(int link) {
  if (link >= 0) uncover(link);
}

/* gd_signals_unchain puts back the handlers before libraries were opened, where no other is on top; true if any changed. Their
   Go is dead.
   C because: (b).
   GIL: not needed.
   Threads: the only one of a forked child. */
bool gd_signals_unchain(void) {
  bool changed = false;
  for (int k = chained - 1; k >= 0; k--) changed |= uncover(k);
  while (chained > 0 && chain[chained - 1].own[URGENT].sa_handler == NULL) chained--;
  return changed;
}
