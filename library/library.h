/* The functions of library.c for the Go side of this package. */
#ifndef GODLPACK_LIBRARY_H
#define GODLPACK_LIBRARY_H

#include "godlpack.h"

TVMBackendPackedCFunc gd_entry(void);
void (*gd_retire(void))(void);
typedef int (*gd_threads_function)(int n);
gd_threads_function gd_threads_entry(void);
void gd_fail(GDContext *c, const char *kind, const char *message, size_t size);
int gd_poll(GDContext *c, int *asked);
int gd_invoke(GDContext *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);
DLManagedTensorVersioned *gd_allocate(GDContext *c, DLDataType dtype, DLDevice device, int32_t ndim, int64_t *shape);
DLManagedTensorVersioned *gd_memory(size_t head, size_t size);
int gd_stream(GDContext *c, DLDevice device, uintptr_t *out);
void gd_delete(DLManagedTensorVersioned *m);

#endif
