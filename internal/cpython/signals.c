/* Go's signal handlers, installed late. Go installs handlers for five signals when the library is loaded: before that
   there was no need for them, and whoever installs one later (faulthandler does) would stand before Go and take a fault
   in Go code for a crash. So Go is told that its handlers are in place; they are put there when its runtime starts, on top
   of what is there then, and taken away in a forked child. Works through --wrap=x_cgo_sigaction (pyext/core/lazy.go). */
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

/* What a C library may handle: faults, which become panics; SIGPIPE; and SIGURG, by which Go preempts goroutines. */
static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG};
enum { HANDLED = sizeof handled / sizeof *handled, URGENT = HANDLED - 1 };
_Static_assert((int)HANDLED == (int)GD_HANDLED, "signals.h says how many there are");

static GD_OWN struct {
  go_sigaction go;           /* what Go wants to install */
  struct sigaction previous; /* what was there when it was */
} actions[HANDLED];

static int index_of(intptr_t number) {
  for (int i = 0; i < HANDLED; i++)
    if (handled[i] == number) return i;
  return -1;
}

/* gd_pass_on does what would have happened without Go. A fault that nobody handles happens again, when there is no handler.
   C because: (b).
   GIL: any.
   Threads: any, in a signal's handler. */
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

static void forward(int number, siginfo_t *info, void *context) { gd_pass_on(&actions[index_of(number)].previous, number, info, context); }

/* Go forwards what is not its own to the handler that it believes was there before, but two things: SIGURG, which two Go
   runtimes in one process must both see, or one of them cannot preempt; and a fault's signal that somebody has sent, of
   which Go would die. */
static void on_signal(int number, siginfo_t *info, void *context) {
  int saved = errno;
  bool asynchronous = number == SIGURG || number == SIGPIPE, fault = info->si_code > 0;
  bool go = !gd_own_runtime.dead && (asynchronous || fault);
  if (go) ((void (*)(int, siginfo_t *, void *))actions[index_of(number)].go.handler)(number, info, context);
  if (!go || number == SIGURG) forward(number, info, context);
  errno = saved;
}

/* __wrap_x_cgo_sigaction stands between Go and sigaction. Until the runtime starts nothing is installed; a handler that
   Go asks for is remembered, and the one before it is said to be forward().
   C because: (b).
   GIL: not needed.
   Owns: nothing passes; returns 0, or errno.
   Threads: any. */
int32_t __wrap_x_cgo_sigaction(intptr_t number, const go_sigaction *new, go_sigaction *old) {
  if (gd_own_runtime.started) return __real_x_cgo_sigaction(number, new, old);
  int i = index_of(number);
  if (i < 0) return __real_x_cgo_sigaction(number, NULL, old); /* Go only means to set SA_ONSTACK: see gd_signals_install */
  if (old != NULL) *old = (go_sigaction){.handler = (uintptr_t)forward, .flags = SA_SIGINFO | SA_ONSTACK};
  if (new != NULL) actions[i].go = *new;
  return 0;
}

/* Go's threads have alternate signal stacks, and goroutines' own are too small for other handlers: those must use them. */
static void use_signal_stacks(void) {
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction a = gd_handler_of(number);
    if (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
      a.sa_flags |= SA_ONSTACK;
      sigaction(number, &a, NULL);
    }
  }
}

/* gd_signals_install puts Go's handlers on top of those that are there now.
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

/* gd_signals_uninstall puts back what was there before, where nobody else stands on top of it.
   C because: (b).
   GIL: not needed.
   Threads: the only one of a forked child. */
void gd_signals_uninstall(void) {
  for (int i = 0; i < HANDLED; i++)
    if (gd_handler_of(handled[i]).sa_sigaction == on_signal) sigaction(handled[i], &actions[i].previous, NULL);
}

/* ---- libraries of Go functions, whose runtimes install their handlers themselves ---- */

/* Go takes each SIGURG for its own: of two runtimes, only the one that came last could interrupt its goroutines. So a library
   that was opened gets a link, whose function runs the library's handler and then the one that was there before. */
enum { LINKS = 32 }; /* libraries beyond that have Go's way */
static GD_OWN struct {
  gd_handlers own, previous; /* own: those that the library put on top of the previous; no handler where it did not */
  struct sigaction urgent;   /* its handler of SIGURG, in whose place the link's function is; none if its Go is dead */
} chain[LINKS];
static GD_OWN int chained;

static void on_urgent(int link, int number, siginfo_t *info, void *context) {
  int saved = errno;
  if (chain[link].urgent.sa_handler != NULL) chain[link].urgent.sa_sigaction(number, info, context);
  gd_pass_on(&chain[link].previous[URGENT], number, info, context);
  errno = saved;
}

#define LINK(i, k) static void urgent_##i##k(int n, siginfo_t *info, void *context) { on_urgent(8 * i + k, n, info, context); }
#define EIGHT(i) LINK(i, 0) LINK(i, 1) LINK(i, 2) LINK(i, 3) LINK(i, 4) LINK(i, 5) LINK(i, 6) LINK(i, 7)
#define NAMES(i) urgent_##i##0, urgent_##i##1, urgent_##i##2, urgent_##i##3, urgent_##i##4, urgent_##i##5, urgent_##i##6, urgent_##i##7
EIGHT(0) EIGHT(1) EIGHT(2) EIGHT(3)
static void (*const urgent[LINKS])(int, siginfo_t *, void *) = {NAMES(0), NAMES(1), NAMES(2), NAMES(3)};

/* gd_signals_read tells who handles Go's signals now.
   C because: (a).
   GIL: not needed.
   Threads: any. */
void gd_signals_read(gd_handlers now) {
  for (int i = 0; i < HANDLED; i++) now[i] = gd_handler_of(handled[i]);
}

/* gd_signals_chain lets the handlers that were there before see SIGURG too, if a library that was opened since has a Go
   runtime, and remembers what there is to undo.
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

/* Puts back what was there before a link, where nobody else stands on top of it; true if that uncovered anything. Its Go is dead. */
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

/* gd_signals_drop takes one library's handlers away, as far as they are on top: its runtime was given up.
   C because: (b).
   GIL: any.
   Threads: any; one at a time. */
void gd_signals_drop(int link) {
  if (link >= 0) uncover(link);
}

/* gd_signals_unchain puts back what was there before libraries were opened, where nobody else stands on top of it; true if that
   uncovered anything. Their Go is dead.
   C because: (b).
   GIL: not needed.
   Threads: the only one of a forked child. */
bool gd_signals_unchain(void) {
  bool changed = false;
  for (int k = chained - 1; k >= 0; k--) changed |= uncover(k);
  while (chained > 0 && chain[chained - 1].own[URGENT].sa_handler == NULL) chained--;
  return changed;
}
