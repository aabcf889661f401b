/* What a library may request from its caller during a call (GDContext of godlpack.h): signals, streams, callables; and the
   errors that it reports. */
#include <stdlib.h>
#include <string.h>

#include "call.h"

/* gd_host_fail is GDContext.fail: records the call's error.
   C because: (b).
   GIL: any.
   Threads: any. */
void gd_host_fail(GDContext *host, const char *kind, const char *message, size_t n) {
  size_t before = strlen(kind = kind == NULL ? "" : kind) + 1;
  failure *f = malloc(sizeof *f + before + (n = message == NULL ? 0 : n));
  if (f == NULL) return (void)(((call *)host)->error.message_lost = true);
  *f = (failure){n, f->kind + before};
  memcpy(f->kind, kind, before);
  if (n > 0) memcpy(f->kind + before, message, n);
  free(atomic_exchange(&((call *)host)->error.failure, f)); /* allocations may fail on several threads */
}

/* gd_allocation_failed is gd_host_fail for an exchange table's allocator.
   C because: (b).
   GIL: any.
   Threads: any. */
void gd_allocation_failed(void *host, const char *kind, const char *message) {
  gd_host_fail(host, kind, message, message == NULL ? 0 : strlen(message));
}

/* gd_call_fails records the call's error, for calls that end without a Python exception.
   GIL: any.
   Threads: any. */
void gd_call_fails(call *c, const char *kind, const char *message) { gd_allocation_failed(&c->host, kind, message); }

/* gd_call_forked records as the error that this process is a child of the one that made the call.
   GIL: any.
   Threads: the calling one. */
void gd_call_forked(call *c) {
  gd_call_fails(c, "RuntimeError", "this process was forked during the call, which only the parent can finish");
}

/* The process may have forked while Python code ran: the child has no Go to return to. It leaves the call from here, over Go's
   frames, which stay on the stack, with the pending exception, if there is one. */
static int go_back(call *c, int rc) {
  if (gd_forks() == c->entry.forks && !c->entry.lost) return rc;
  if (c->entry.lost) longjmp(*c->entry.back, GD_ABANDONED);
  gd_call_forked(c);
  longjmp(*c->entry.back, GD_FORKED);
}

/* Takes the GIL for the calling thread; give_gil releases it again. The call waits meanwhile: another greenlet of its thread
   may call. */
static void take_gil(call *c) {
  gd_unwatch_call(c);
  if (c->entry.thread != NULL) PyEval_RestoreThread(c->entry.thread);
  c->entry.thread = NULL;
  gd_begin_wait(c);
}

static void give_gil(call *c) {
  gd_end_wait(c);
  if (!c->f->holds) c->entry.thread = PyEval_SaveThread();
  gd_watch_call(c);
}

/* gd_poll_here checks for signals: nonzero if a handler raised an exception.
   C because: (b).
   GIL: held; may run Python code.
   Threads: the calling one. */
int gd_poll_here(call *c) {
  c->entry.stopped = c->entry.stopped || !gd_before_python(c) || PyErr_CheckSignals() != 0;
  if (c->entry.stopped) gd_keep_exception(c);
  return c->entry.stopped;
}

/* gd_stream_here reads the current stream of a device. If no argument lies on the device, the framework of the outputs decides.
   C because: (b).
   Threads: the calling one. */
int gd_stream_here(call *c, DLDevice device, void **out) {
  bool known = device.device_type != kDLCUDA || c->outputs.protocol != GD_BY_TABLE ||
               gd_follow(c, c->outputs.api, device.device_id);
  if (!known) gd_keep_exception(c);
  return known ? gd_exchange_api.current_work_stream(device.device_type, device.device_id, out) : -1;
}

/* gd_invoke_here calls a callable with the library's arguments, and packs its result.
   C because: (b).
   GIL: held; runs Python code.
   Owns: takes the arguments; the call holds the result.
   Threads: the calling one. */
int gd_invoke_here(call *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  uint64_t flags;
  GDList to = {1, ret, ret_code, &flags};
  PyObject *tuple = gd_before_python(c) ? PyTuple_New(n) : NULL;
  bool done = tuple != NULL;
  for (int i = 0; done && i < n; i++) {
    PyObject *x = gd_wrap_result(c, &args[i], codes[i], false);
    done = x != NULL && PyTuple_SetItem(tuple, i, x) == 0;
  }
  PyObject *result = done ? gd_hold(c, PyObject_Call(callable, tuple, NULL)) : NULL;
  done = result != NULL && gd_pack(c, result, NULL, false, 0, &to, 0, NULL) && gd_may_give_gil(c);
  if (!done) gd_keep_exception(c);
  Py_DecRef(tuple);
  for (int i = 0; i < n; i++) gd_drop_result(c, args[i], codes[i]);
  return done ? 0 : -1;
}

/* gd_host_poll is GDContext.poll: checks for signals.
   C because: (b).
   GIL: not held; takes it, and may run Python code.
   Owns: as godlpack.h says.
   Threads: the calling one. */
int gd_host_poll(GDContext *host) {
  call *c = (call *)host;
  if (gd_is_finalizing()) return 1;
  if (gd_is_proxy_thread(c)) return gd_ask_caller(c, &(question){.what = ASK_POLL});
  take_gil(c);
  int rc = gd_poll_here(c);
  give_gil(c);
  return go_back(c, rc);
}

/* gd_host_current_stream is GDContext.current_stream: reads the current stream.
   C because: (b).
   GIL: not held; takes it, and may run Python code.
   Owns: as godlpack.h says.
   Threads: the calling one. */
int gd_host_current_stream(GDContext *host, DLDevice device, void **out) {
  call *c = (call *)host;
  if (device.device_type != kDLCUDA || c->outputs.protocol != GD_BY_TABLE || gd_follows(c, device.device_id))
    return gd_exchange_api.current_work_stream(device.device_type, device.device_id, out);
  if (gd_is_finalizing()) return -1;
  if (gd_is_proxy_thread(c)) return gd_ask_caller(c, &(question){.what = ASK_STREAM, .device = device, .out = out});
  take_gil(c);
  int rc = gd_stream_here(c, device, out);
  give_gil(c);
  return rc;
}

/* gd_host_invoke is GDContext.invoke: calls a callable.
   C because: (b).
   GIL: not held; takes it, and may run Python code.
   Owns: as godlpack.h says.
   Threads: the calling one. */
int gd_host_invoke(GDContext *host, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  call *c = (call *)host;
  if (gd_is_finalizing()) return -1;
  if (gd_is_proxy_thread(c))
    return gd_ask_caller(c, &(question){ASK_INVOKE, {0}, NULL, callable, args, codes, n, ret, ret_code});
  take_gil(c);
  int rc = gd_invoke_here(c, callable, args, codes, n, ret, ret_code);
  give_gil(c);
  return go_back(c, rc);
}
