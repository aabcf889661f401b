/* Calls of several greenlets of one thread. */
#ifndef GODLPACK_GREENLET_H
#define GODLPACK_GREENLET_H

#include <stdbool.h>

#include "packed.h"

typedef struct call call;

extern int gd_waiting; /* calls, of all threads, that wait for a callback */
void gd_begin_wait(call *c);
void gd_end_wait(call *c);
void gd_lose_waiting(const call *c);
bool gd_needs_proxy(const call *c);
int gd_call_on_proxy(call *c, const GDList *args);
bool gd_is_proxy_thread(const call *c);

/* A proxy's question to the calling thread. */
typedef struct {
  enum { ASK_POLL, ASK_STREAM, ASK_INVOKE } what;
  DLDevice device; /* ASK_STREAM */
  void **out;
  void *callable; /* ASK_INVOKE */
  TVMValue *args;
  int *codes, n;
  TVMValue *ret;
  int *ret_code;
} question;
int gd_ask_caller(call *c, const question *q);

#endif
