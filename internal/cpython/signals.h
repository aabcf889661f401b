/* Handlers of signals: Go's, installed late, and those of libraries. */
#ifndef GODLPACK_SIGNALS_H
#define GODLPACK_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

void gd_signals_install(void);
void gd_signals_uninstall(void);
void gd_pass_on(const struct sigaction *previous, int number, siginfo_t *info, void *context);
void gd_faults_open(void);
void gd_faults_close(void);
void gd_faults_look(void);
void gd_faults_forked(void);
void gd_faults_lift(void);

/* Returns the current handler of a signal; SIG_DFL if the number is not a signal that a program can handle, the only
   failure. */
static inline struct sigaction gd_handler_of(int number) {
  struct sigaction now = {.sa_handler = SIG_DFL};
  sigaction(number, NULL, &now);
  return now;
}

enum { GD_HANDLED = 5 }; /* the signals that a Go runtime in a library handles */
typedef struct sigaction gd_handlers[GD_HANDLED];
void gd_signals_read(gd_handlers now);
int gd_signals_chain(const gd_handlers before);
void gd_signals_drop(int link);
bool gd_signals_unchain(void);

#endif
