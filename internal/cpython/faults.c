/* Faults in Go code must reach Go's handlers. A handler of SIGSEGV, SIGBUS or SIGFPE that is set while Go runs comes before
   Go's, and Python's handlers cannot handle Go's faults: that of signal.signal() records the signal and returns to the fault,
   for ever; faulthandler's treats it as a crash. So the handlers of all Go runtimes lie between a floor and a lid. The floor
   runs the handler that was there before, or that Python has set since. The lid passes faults to Go, but not signals that were
   sent, which would end Go: it passes those to the floor. A thread (abandon.c) checks whether Python has covered the lid, and
   puts it back on top. Handlers of others stay in place: they pass on the faults that are not theirs. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "core.h"

enum { FAULTS = 3, MAX_ACTIONS = 16 };
typedef struct sigaction action;
typedef void handler(int number, siginfo_t *info, void *context);

static const int faults[FAULTS] = {SIGSEGV, SIGBUS, SIGFPE};
static const action default_action = {.sa_handler = SIG_DFL};
static GD_OWN struct {
  _Atomic(const action *) below,
      reporter;          /* run by the floor; reporter: faulthandler's handler, which comes first, or NULL */
  _Atomic(handler *) go; /* run by the lid: the last runtime's handler, which passes on to the previous one */
  action lid;
  bool laid, opened, covered; /* the floor is installed; a runtime may start; the lid is installed */
} handlers[FAULTS];
static GD_OWN action actions[MAX_ACTIONS]; /* all found actions; never changed, since a handler may be reading them */
static GD_OWN int count;
static GD_OWN uintptr_t interpreter, end; /* the range of Python's own code */
static GD_OWN pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static int index_of(int number) {
  int i = 0;
  while (faults[i] != number) i++;
  return i;
}

static void on_floor(int number, siginfo_t *info, void *context) {
  int i = index_of(number), saved = errno;
  const action *reporter = handlers[i].reporter, *below = handlers[i].below;
  if (reporter != NULL) reporter->sa_handler(number); /* returns, and the handler below ends the process */
  gd_pass_on(below, number, info, context);
  errno = saved;
}

static void on_lid(int number, siginfo_t *info, void *context) {
  handler *go = handlers[index_of(number)].go;
  (info->si_code > 0 && go != NULL ? go : on_floor)(number, info, context);
}

static const action *remember(const action *a) {
  for (int i = 0; i < count; i++)
    if (actions[i].sa_handler == a->sa_handler && actions[i].sa_flags == a->sa_flags) return &actions[i];
  return count == MAX_ACTIONS ? NULL : (actions[count] = *a, &actions[count++]);
}

/* Whether the handler is Python's, from signal.signal() or faulthandler, or the default, or SIG_IGN. */
static bool is_pythons(const action *a) {
  uintptr_t at = (uintptr_t)a->sa_handler;
  return a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN ||
         (interpreter <= at && at < end && !(a->sa_flags & SA_SIGINFO));
}

/* Makes a handler that was found the floor's; false if there is no room to remember it. */
static bool take_over(int i, const action *a) {
  const action *known = remember(a);
  if (known == NULL) return false;
  bool reports = is_pythons(a) && a->sa_handler != SIG_DFL && a->sa_flags & SA_NODEFER;
  handlers[i].reporter = reports ? known : NULL;
  if (!reports) handlers[i].below = known;
  else if (handlers[i].below == NULL) handlers[i].below = &default_action;
  return true;
}

/* Puts the lid back on top of a handler that Python has set. */
static void restore_lid(int i) {
  action now = gd_handler_of(faults[i]), other = now;
  if (!handlers[i].covered || now.sa_sigaction == on_lid || !is_pythons(&now) || !take_over(i, &now)) return;
  sigaction(faults[i], &handlers[i].lid, &other);
  if (other.sa_handler != now.sa_handler) take_over(i, &other); /* another thread has set one in between */
}

/* Prepares for a Go runtime to install its handlers between floor and lid: takes the lid off, or installs the floor. A handler
   that others have put on the lid stays. */
static void uncover(int i) {
  action under = {.sa_sigaction = on_floor, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  restore_lid(i);
  action now = gd_handler_of(faults[i]);
  if (handlers[i].covered && now.sa_sigaction == on_lid) under = handlers[i].lid, under.sa_sigaction = handlers[i].go;
  else if (handlers[i].laid || (now.sa_sigaction != on_lid && !take_over(i, &now))) return;
  handlers[i].laid = handlers[i].opened = sigaction(faults[i], &under, NULL) == 0;
}

static void cover(int i) {
  if (!handlers[i].opened) return;
  handlers[i].opened = false;
  handlers[i].lid = gd_handler_of(faults[i]);
  handlers[i].go = handlers[i].lid.sa_sigaction;
  handlers[i].lid.sa_sigaction = on_lid;
  handlers[i].covered = sigaction(faults[i], &handlers[i].lid, NULL) == 0;
}

/* gd_faults_open is called before a Go runtime starts, or before its handlers are uninstalled.
   C because: (b).
   GIL: any.
   Owns: locks out other threads until gd_faults_close.
   Threads: any. */
void gd_faults_open(void) {
  pthread_mutex_lock(&changing);
  if (interpreter == 0) gd_find_code((void *)PyErr_CheckSignals, &interpreter, &end);
  for (int i = 0; i < FAULTS && gd_runtime_is_lazy(); i++)
    uncover(i); /* otherwise Go's handlers were installed first */
}

/* gd_faults_close is called after that.
   C because: (b).
   GIL: any.
   Threads: the one that opened. */
void gd_faults_close(void) {
  for (int i = 0; i < FAULTS; i++) cover(i);
  pthread_mutex_unlock(&changing);
}

/* gd_faults_look puts Go's handlers back on top of Python's.
   GIL: not needed.
   Threads: the watcher. */
void gd_faults_look(void) {
  if (pthread_mutex_trylock(&changing) != 0) return;
  for (int i = 0; i < FAULTS; i++) restore_lid(i);
  pthread_mutex_unlock(&changing);
}

/* gd_faults_forked is gd_faults_open in a child, whose Go is dead: its handlers are uninstalled next.
   GIL: not needed.
   Threads: the only one of a forked child. */
void gd_faults_forked(void) {
  changing = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < FAULTS; i++)
    if (handlers[i].laid) uncover(i);
}

/* gd_faults_lift uninstalls the floor, if no other handler is on top of it. A handler that still calls the lid then runs those
   below the floor.
   GIL: not needed.
   Threads: the only one of a forked child. */
void gd_faults_lift(void) {
  for (int i = 0; i < FAULTS; i++) {
    const action *under = handlers[i].reporter != NULL ? handlers[i].reporter : handlers[i].below;
    handlers[i].covered = handlers[i].opened = false;
    handlers[i].go = on_floor;
    if (!handlers[i].laid || gd_handler_of(faults[i]).sa_sigaction != on_floor) continue;
    sigaction(faults[i], under, NULL);
    handlers[i].reporter = NULL;
    handlers[i].laid = false;
  }
}
