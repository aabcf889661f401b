#include "library.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

/* A hook of Go's runtime/cgo: a thread that has been in Go calls it when it ends, to deregister from Go. In a forked child,
   whose Go is dead, it would wait for ever if Go's collector was working on the thread at the fork. The name is private to Go;
   tests/test_workers.py fails if a new Go has another. internal/cpython/runtime.c does the same for itself (docs/rationale.md). */
extern void (*x_crosscall2_ptr)(void (*)(void *), void *, int, size_t) __attribute__((weak));

static void gd_mark_dead(void) {
  if (&x_crosscall2_ptr) x_crosscall2_ptr = NULL;
  gd_lent_forget();
}

/* Called when the library is loaded. Without memory for the handler, threads in children may hang at their end.

   C because: (b) the loader calls it, and fork() calls the handler.
   GIL: any.
   Owns: nothing.
   Threads: the loading one. */
__attribute__((constructor)) static void gd_watch_forks(void) { pthread_atfork(NULL, NULL, gd_mark_dead); }

/* Returns the function that the host calls to give up the library.

   C because: (b) it is a C function pointer.
   GIL: any.
   Owns: nothing.
   Threads: any. */
void (*gd_retire(void))(void) { return gd_mark_dead; }

/* Whether this is the calling thread. Go moves goroutines between threads, but the goroutine of the call stays in its own. The
   context records the thread: a thread-local variable would take as much of the loader's room for libraries as Go does. */
static bool gd_is_caller(const GDContext *c) { return c->thread == (uintptr_t)pthread_self(); }

/* Enters Go, and records the thread. A call may come while another one of this thread waits in gd_invoke.

   C because: (b) the table's entry is a C function pointer.
   GIL: any.
   Owns: as godlpack.h says; -1 leaves nothing.
   Threads: any. */
static int gd_call(TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code, void *resource_handle) {
  GDContext *c = resource_handle;
  if (!c || c->size < offsetof(GDContext, current_stream) || !ret || !ret_code || n < 0 || (n && (!args || !codes)))
    return -1;
  c->thread = (uintptr_t)pthread_self();
  return godlpackCall(args, codes, n, ret, ret_code, c, gd_objects_dropped());
}

/* Returns the table's entry.

   C because: (b) it is a C function pointer.
   GIL: any.
   Owns: nothing.
   Threads: any. */
TVMBackendPackedCFunc gd_entry(void) { return gd_call; }

/* Returns the table's entry threads.

   C because: (b) it is a C function pointer.
   GIL: any.
   Owns: nothing.
   Threads: any. */
gd_threads_function gd_threads_entry(void) { return godlpackThreads; }

/* Returns the table's entry drop.
   C because: (b) it is a C function pointer.
   GIL: any.
   Owns: nothing.
   Threads: any. */
gd_drop_function gd_drop_entry(void) { return gd_drop; }

/* Returns the table's entry address.
   C because: (b) it is a C function pointer.
   GIL: any.
   Owns: nothing.
   Threads: any. */
gd_address_function gd_address_entry(void) { return godlpackAddress; }

/* The symbol that hosts look up.

   C because: (b) it must be a C function of its declared type, which cgo's export is not.
   GIL: any.
   Owns: nothing passes; the table lives as long as the process; NULL if there is no memory, or no thread key, for it.
   Threads: any. */
__attribute__((visibility("default"))) const GDLibrary *godlpack_library(void) { return godlpackTable(); }

/* Passes an error to the host.

   C because: (b) Go cannot call a C function pointer.
   GIL: any.
   Owns: nothing; the message is borrowed.
   Threads: the calling one. */
void gd_fail(GDContext *c, const char *kind, const char *message, size_t size) {
  if (c->fail) c->fail(c, kind, message, size);
}

/* Polls the host, if this is the calling thread: *asked reports that. Nonzero: stop.

   C because: (b) Go cannot call a C function pointer.
   GIL: any.
   Owns: nothing; with nonzero the host has an exception pending.
   Threads: any. */
int gd_poll(GDContext *c, int *asked) {
  *asked = gd_is_caller(c);
  return *asked && c->poll ? c->poll(c) : 0;
}

/* Calls a function of the host. -2: not the calling thread, -3: the host has no invoke.

   C because: (b) Go cannot call a C function pointer.
   GIL: any.
   Owns: what the arguments own passes to the host, unless the result is -2 or -3; the result is borrowed.
   Threads: any, but only the calling one gets through. */
int gd_invoke(GDContext *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  if (!gd_is_caller(c)) return -2;
  return c->invoke ? c->invoke(c, callable, args, codes, n, ret, ret_code) : -3;
}

/* Reads the caller's stream on a device. -1: the host keeps an error, -2: not the calling thread.

   C because: (b) Go cannot call a C function pointer.
   GIL: any.
   Owns: nothing; the stream is the caller's.
   Threads: any, but only the calling one gets through. */
int gd_stream(GDContext *c, DLDevice device, uintptr_t *out) {
  void *stream = NULL;
  if (!gd_is_caller(c)) return -2;
  bool known = c->size >= offsetof(GDContext, current_stream) + sizeof c->current_stream && c->current_stream;
  int rc = known ? c->current_stream(c, device, &stream) : 0;
  *out = (uintptr_t)stream;
  return rc ? -1 : 0;
}

/* Returns memory from the host, NULL after an error that the host keeps.

   C because: (b) Go cannot call a C function pointer.
   GIL: any.
   Owns: the result is new.
   Threads: any. */
DLManagedTensorVersioned *gd_allocate(GDContext *c, DLDataType dtype, DLDevice device, int32_t ndim, int64_t *shape) {
  DLTensor prototype = {.device = device, .ndim = ndim, .dtype = dtype, .shape = shape};
  DLManagedTensorVersioned *out = NULL;
  return c->allocate(c, &prototype, &out) ? NULL : out;
}

static void gd_free(DLManagedTensorVersioned *m) { free(m); }

/* Returns memory for an output where the host has no allocator: a block of head + size bytes, both multiples of 64; the head is
   zero except for the deleter. NULL: no memory.

   C because: (b) a deleter is a C function pointer.
   GIL: any.
   Owns: the result is new, and its deleter frees it.
   Threads: any. */
DLManagedTensorVersioned *gd_memory(size_t head, size_t size) {
  DLManagedTensorVersioned *m = aligned_alloc(64, head + size);
  if (m) {
    memset(m, 0, head);
    m->deleter = gd_free;
  }
  return m;
}

/* Deletes a tensor that the host does not get.

   C because: (b) a deleter is a C function pointer.
   GIL: any.
   Owns: takes the tensor.
   Threads: any. */
void gd_delete(DLManagedTensorVersioned *m) {
  if (m->deleter) m->deleter(m);
}
