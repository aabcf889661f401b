/* How the main thread leaves a call that does not stop, after the second Ctrl-C. */
#ifndef GODLPACK_ABANDON_H
#define GODLPACK_ABANDON_H

#include <pthread.h>
#include <stdatomic.h>

#include "pyabi.h"

typedef struct call call;

enum { GD_FORKED = 1, GD_ABANDONED }; /* why a call is left by its jump back */

/* The call that the main thread is in, unless the call waits for Python code. */
typedef struct {
  _Atomic(call *) call;
  _Atomic uint64_t serial; /* of the calls that were watched */
  pthread_t thread;        /* the main one; 0: no calls are watched */
} gd_watch;
extern gd_watch gd_watched;
PyObject *gd_abandon(call *c);

static inline void gd_watch_call(call *c) {
  if (!pthread_equal(pthread_self(), gd_watched.thread)) return;
  atomic_store_explicit(&gd_watched.serial, atomic_load_explicit(&gd_watched.serial, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store_explicit(&gd_watched.call, c, memory_order_release);
}

static inline void gd_unwatch_call(const call *c) {
  if (atomic_load_explicit(&gd_watched.call, memory_order_relaxed) == c)
    atomic_store_explicit(&gd_watched.call, NULL, memory_order_release);
}

#endif
