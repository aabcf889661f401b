/* What a library may request from its caller during a call. */
#ifndef GODLPACK_CALLBACKS_H
#define GODLPACK_CALLBACKS_H

#include "packed.h"

/* The error that a library reported. */
typedef struct {
  size_t size;
  const char *message;
  char kind[];
} failure; /* the message follows the kind's NUL */

typedef struct call call;

int gd_invoke_here(call *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);
int gd_poll_here(call *c);
int gd_stream_here(call *c, DLDevice device, void **out);
int gd_host_invoke(GDContext *host, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);
int gd_host_poll(GDContext *host);
int gd_host_current_stream(GDContext *host, DLDevice device, void **out);
void gd_host_fail(GDContext *host, const char *kind, const char *message, size_t n);
void gd_allocation_failed(void *host, const char *kind, const char *message);
void gd_call_fails(call *c, const char *kind, const char *message);
void gd_call_forked(call *c);

#endif
