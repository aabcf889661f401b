/* What entry.c offers to the Go side of this package. */
#ifndef GODLPACK_TVMFFI_ENTRY_H
#define GODLPACK_TVMFFI_ENTRY_H

#include <pthread.h>
#include <stdint.h>

typedef void (*gd_set_raised)(void *error); /* TVMFFIErrorSetRaised */

int gd_tvm_begin(gd_set_raised raise, void *error);
int32_t gd_tvm_call(uintptr_t handle, void *args, int32_t n, void *result);

#endif
