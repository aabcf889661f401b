/* Storage keeps memory alive, shared by tensors, their views and their exports. */
#ifndef GODLPACK_STORAGE_H
#define GODLPACK_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "pyabi.h"
#include "records.h"

typedef struct gd_storage gd_storage;
struct gd_storage {
  _Atomic int64_t refs;              /* holders, and GD_SLOT_TAKEN while the slot is taken */
  void (*release)(gd_storage *self); /* releases the memory and frees self; any thread, no GIL */
  void *slot; /* room for one managed tensor (gd_export), or NULL; later the next storage to release */
};
#define GD_SLOT_TAKEN ((int64_t)1 << 62)
enum { GD_DEEPEST = 16 }; /* nesting depth of releases; each may take a kilobyte of a small stack */
int gd_storage_exec(void);

/* Counters for leak tests: each pair is equal when everything was given back. Events under the GIL are counted without atomic
   operations, which cost as much as the rest of an exchange. */
typedef struct {
  int64_t held;
  _Atomic int64_t unheld;
} gd_count;
typedef struct {
  gd_count storages_made, storages_freed;  /* storages of any kind */
  gd_count exports_made, exports_deleted;  /* managed tensors handed to others */
  gd_count imports_taken, imports_deleted; /* managed tensors taken from others */
} gd_counters;
extern gd_counters *gd_counted;
static inline void gd_count_one(gd_count *c) { atomic_fetch_add_explicit(&c->unheld, 1, memory_order_relaxed); }

/* A managed tensor of ours: the record, the storage that it holds, and its own copy of shape and strides, so that it outlives
   its Python object. The first one of a storage uses the storage's slot, and needs no allocation. */
typedef struct {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
  } m;
  gd_storage *storage;
  int64_t dims[];
} gd_export;
enum { GD_SLOT_NDIM = 6 };
typedef struct {
  gd_export export;
  int64_t dims[2 * GD_SLOT_NDIM];
} gd_slot;

void *gd_storage_block(size_t nbytes, bool zero, gd_storage **out);
gd_storage *gd_storage_of_versioned(DLManagedTensorVersioned *m);
gd_storage *gd_storage_of_legacy(DLManagedTensor *m);
gd_storage *gd_storage_of_object(PyObject *object);
/* Memory of CUDA's driver, its context, and the driver's functions that make the context current, free the memory, and restore
   the previous context. */
typedef struct { uintptr_t address, context, push, free, pop; } gd_driver_memory;
gd_storage *gd_storage_of_driver(gd_driver_memory m);
gd_storage *gd_storage_of_buffer(PyObject *exporter, int flags, Py_buffer **view);
gd_storage *gd_storage_retain(gd_storage *s);
bool gd_storage_take_slot(gd_storage *s);
void gd_storage_free_slot(gd_storage *s);
void gd_storage_release(gd_storage *s);
void gd_storage_abandon(gd_storage *s);

#endif
