#include "entry.h"

#include <stdbool.h>

#include "_cgo_export.h"

static bool forked; /* this is a forked child: its Go is dead */
static gd_set_raised set_raised;
static void *refusal;

static void after_fork(void) { forked = true; }

/* Registers the fork handler. Calls after a fork raise the error, which is made beforehand: to raise one from a text takes a
   backtrace, for which a new process reads the debug information of all libraries. Not 0: no memory.

   C because: (b) a fork handler is a C function pointer.
   GIL: any.
   Owns: takes the error, for as long as the process lives.
   Threads: any, once. */
int gd_tvm_begin(gd_set_raised raise, void *error) {
  set_raised = raise;
  refusal = error;
  return pthread_atfork(NULL, NULL, after_fork);
}

/* The TVMFFISafeCallType of all functions, called by tvm-ffi; handle identifies the function.

   C because: (b) it is a C function pointer; in a forked child, a thread that enters Go may never return.
   GIL: any.
   Owns: borrows the arguments; the result is the caller's; with -1 there is none, and the thread's error is set.
   Threads: any. */
int32_t gd_tvm_call(uintptr_t handle, void *args, int32_t n, void *result) {
  if (!forked) return godlpackSafeCall(handle, args, n, result, (uintptr_t)pthread_self());
  set_raised(refusal);
  return -1;
}
