/* The functions of library.c for the Go side of this package. */
#ifndef GODLPACK_LIBRARY_H
#define GODLPACK_LIBRARY_H

#include <stdbool.h>

#include "godlpack.h"

TVMBackendPackedCFunc gd_entry(void);
void (*gd_retire(void))(void);
typedef int (*gd_threads_function)(int n);
gd_threads_function gd_threads_entry(void);
typedef void (*gd_drop_function)(int64_t number, int64_t count);
gd_drop_function gd_drop_entry(void);
typedef uintptr_t (*gd_address_function)(int64_t number);
gd_address_function gd_address_entry(void);
void gd_fail(GDContext *c, const char *kind, const char *message, size_t size);
int gd_poll(GDContext *c, int *asked);
int gd_invoke(GDContext *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);
DLManagedTensorVersioned *gd_allocate(GDContext *c, DLDataType dtype, DLDevice device, int32_t ndim, int64_t *shape);
DLManagedTensorVersioned *gd_memory(size_t head, size_t size);
int gd_stream(GDContext *c, DLDevice device, uintptr_t *out);
void gd_delete(DLManagedTensorVersioned *m);

/* ---- objects.c ---- */

bool gd_objects_grow(int n);
int gd_objects_wake(void);
bool gd_objects_sleep(void);
bool gd_objects_dropped(void);
int gd_objects_take(uint32_t *rest, uint32_t *places, int64_t *counts, int most);
void gd_drop(int64_t number, int64_t count);
DLManagedTensorVersioned *gd_lend(int64_t number, int32_t ndim);
void gd_lent_forget(void);

#endif
