/* The slots of an exchange table, timed from C. Loaded by ctypes: each function here calls one slot number times and
   returns the nanoseconds they took together, -1 if a call failed. The caller holds the GIL, but for
   slots_allocate, which needs none. */
#define _GNU_SOURCE
#include <time.h>

#include "pyabi.h"
#include "records.h"

#define EXPORT __attribute__((visibility("default")))
typedef const DLPackExchangeAPI table;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int empty_slot(void *object, DLTensor *out) { return (void)object, (void)out, 0; }

/* The loop and one call through a pointer: what is subtracted from the others. */
EXPORT int64_t slots_nothing(table *api, PyObject *x, int64_t number) {
  int (*volatile slot)(void *, DLTensor *) = empty_slot;
  DLTensor out;
  int64_t start = now();
  (void)api;
  for (int64_t i = 0; i < number; i++)
    if (slot(x, &out) != 0) return -1;
  return now() - start;
}

EXPORT int64_t slots_view(table *api, PyObject *x, int64_t number) {
  DLTensor out;
  int64_t start = now();
  for (int64_t i = 0; i < number; i++)
    if (api->dltensor_from_py_object_no_sync(x, &out) != 0) return -1;
  return now() - start;
}

EXPORT int64_t slots_take(table *api, PyObject *x, int64_t number) {
  DLManagedTensorVersioned *m;
  int64_t start = now();
  for (int64_t i = 0; i < number; i++) {
    if (api->managed_tensor_from_py_object_no_sync(x, &m) != 0) return -1;
    m->deleter(m);
  }
  return now() - start;
}

/* ---- to_py: of a managed tensor that costs nothing ---- */

static void keep(DLManagedTensorVersioned *self) { (void)self; }

static _Alignas(64) float memory[24];
static int64_t shape[] = {2, 3, 4}, strides[] = {12, 4, 1};
static DLManagedTensorVersioned neutral = {
    .version = {DLPACK_MAJOR, DLPACK_MINOR},
    .deleter = keep,
    .dl_tensor = {memory, {kDLCPU, 0}, 3, {kDLFloat, 32, 1}, shape, strides, 0},
};

/* Makes objects, and frees them while the clock stands still. */
EXPORT int64_t slots_make(table *api, PyObject *x, int64_t number) {
  enum { GROUP = 256 }; /* enough to hide the clock's own cost, few enough to stay in the cache */
  void *made[GROUP];
  int64_t taken = 0;
  (void)x;
  for (int64_t left = number; left > 0; left -= GROUP) {
    int n = left < GROUP ? (int)left : GROUP;
    int64_t start = now();
    for (int i = 0; i < n; i++)
      if (api->managed_tensor_to_py_object_no_sync(&neutral, &made[i]) != 0) return -1;
    taken += now() - start;
    for (int i = 0; i < n; i++) Py_DecRef(made[i]);
  }
  return taken;
}

EXPORT int64_t slots_make_free(table *api, PyObject *x, int64_t number) {
  void *made;
  int64_t start = now();
  (void)x;
  for (int64_t i = 0; i < number; i++) {
    if (api->managed_tensor_to_py_object_no_sync(&neutral, &made) != 0) return -1;
    Py_DecRef(made);
  }
  return now() - start;
}

/* ---- the two slots that see no Python object ---- */

EXPORT int64_t slots_allocate(table *api, PyObject *x, int64_t number) {
  DLTensor prototype = neutral.dl_tensor;
  DLManagedTensorVersioned *m;
  int64_t start = now();
  (void)x;
  for (int64_t i = 0; i < number; i++) {
    if (api->managed_tensor_allocator(&prototype, &m, NULL, NULL) != 0) return -1;
    m->deleter(m);
  }
  return now() - start;
}

EXPORT int64_t slots_stream(table *api, PyObject *x, int64_t number) {
  void *stream;
  int64_t start = now();
  (void)x;
  for (int64_t i = 0; i < number; i++)
    if (api->current_work_stream(kDLCPU, 0, &stream) != 0) return -1;
  return now() - start;
}
