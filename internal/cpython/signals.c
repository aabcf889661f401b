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
enum { HANDLED = sizeof handled / sizeof *handled };

static GD_OWN struct {
  go_sigaction go;           /* what Go wants to install */
  struct sigaction previous; /* what was there when it was */
} actions[HANDLED];

static int index_of(intptr_t number) {
  for (int i = 0; i < HANDLED; i++)
    if (handled[i] == number) return i;
  return -1;
}

/* Does what would have happened without Go. A fault that nobody handles happens again, when there is no handler. */
static void forward(int number, siginfo_t *info, void *context) {
  const struct sigaction *previous = &actions[index_of(number)].previous;
  bool fault = info->si_code > 0, none = previous->sa_handler == SIG_DFL;
  if (!none && previous->sa_handler != SIG_IGN) {
    if (previous->sa_flags & SA_SIGINFO) previous->sa_sigaction(number, info, context);
    else previous->sa_handler(number);
  } else if ((none || fault) && number != SIGURG) {
    signal(number, SIG_DFL);
    if (!fault) raise(number);
  }
}

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
  struct sigaction a;
  for (int number = 1; number <= SIGRTMAX; number++)
    if (sigaction(number, NULL, &a) == 0 && a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
      a.sa_flags |= SA_ONSTACK;
      sigaction(number, &a, NULL);
    }
}

/* gd_signals_install puts Go's handlers on top of those that are there now.
   C because: (b).
   GIL: not needed.
   Owns: nothing passes.
   Threads: the one that starts the runtime. */
void gd_signals_install(void) {
  use_signal_stacks();
  for (int i = 0; i < HANDLED; i++) {
    if (actions[i].go.handler == 0) continue;
    sigaction(handled[i], NULL, &actions[i].previous);
    go_sigaction ours = actions[i].go;
    ours.handler = (uintptr_t)on_signal;
    __real_x_cgo_sigaction(handled[i], &ours, NULL);
  }
}

/* gd_signals_withdraw puts back what was there before, where nobody else stands on top of it.
   C because: (b).
   GIL: not needed.
   Owns: nothing passes.
   Threads: the only one of a forked child. */
void gd_signals_withdraw(void) {
  struct sigaction now;
  for (int i = 0; i < HANDLED; i++)
    if (sigaction(handled[i], NULL, &now) == 0 && now.sa_sigaction == on_signal) sigaction(handled[i], &actions[i].previous, NULL);
}
