/* Storage: memory with a reference count, kept in C, so that the last holder may be anything: a thread without the GIL, a
   process after fork(), an interpreter that has ended (R12). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

enum {
  ALIGNMENT = 256,            /* R16; jax needs 64 to import at zero copy */
  HUGE_PAGE = 2 << 20,        /* pages of 2 MB save page faults ... */
  HUGE_BLOCK = 2 * HUGE_PAGE, /* ... for blocks from 4 MB on */
  SMALL_BLOCK = 1024,         /* up to this size malloc, with room to align, is faster than an aligned allocation */
};

static GD_OWN gd_counters own_counters;
GD_KEPT gd_counters *gd_counted = &own_counters;

static gd_storage *track(gd_storage *s, void (*release)(gd_storage *)) {
  atomic_init(&s->refs, 1);
  s->release = release;
  s->slot = NULL;
  gd_count_one(&gd_counted->storages_made);
  return s;
}

static void untrack(void) { gd_count_one(&gd_counted->storages_freed); }

/* gd_storage_retain adds a holder.
   GIL: not needed.
   Owns: the caller owns the new reference; cannot fail.
   Threads: any. */
gd_storage *gd_storage_retain(gd_storage *s) {
  if (s != NULL) atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  return s;
}

/* gd_storage_release drops a holder; the last one frees the memory.
   C because: (b), deleters end here.
   GIL: not needed.
   Owns: takes the caller's reference.
   Threads: any. */
void gd_storage_release(gd_storage *s) {
  if (s == NULL) return;
  /* The only holder need not decrement the count. */
  if (atomic_load_explicit(&s->refs, memory_order_acquire) != 1 &&
      atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
    return;
  s->release(s);
}

/* gd_storage_take_slot takes the slot, if it is free, and holds s as gd_storage_retain does: in one atomic operation.
   GIL: not needed.
   Owns: on true the caller holds s until gd_storage_free_slot; on false nothing passes.
   Threads: any. */
bool gd_storage_take_slot(gd_storage *s) {
  int64_t refs = atomic_load_explicit(&s->refs, memory_order_relaxed);
  return s->slot != NULL && !(refs & GD_SLOT_TAKEN) &&
         atomic_compare_exchange_strong_explicit(&s->refs, &refs, (refs + 1) | GD_SLOT_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* gd_storage_free_slot frees the slot and drops its hold on s.
   C because: (b), deleters end here.
   GIL: not needed.
   Owns: takes the slot's hold.
   Threads: any. */
void gd_storage_free_slot(gd_storage *s) {
  if (atomic_load_explicit(&s->refs, memory_order_acquire) != (GD_SLOT_TAKEN | 1) &&
      atomic_fetch_sub_explicit(&s->refs, GD_SLOT_TAKEN | 1, memory_order_acq_rel) != (GD_SLOT_TAKEN | 1))
    return;
  s->release(s);
}

/* ---- chains: a storage may hold another one, and so on ---- */

/* Of each thread: the number of nested storages that it is freeing, and those that wait until it has finished. Otherwise a
   chain of a hundred thousand would overflow its stack. */
typedef struct {
  int depth;
  gd_storage *waiting;
} descent;
static GD_KEPT pthread_key_t descents_key;

/* gd_storage_exec makes the key of each thread's descent.
   C because: (b), deleters end here.
   Owns: nothing passes; -1 on failure, with MemoryError set.
   Threads: the importing one. */
int gd_storage_exec(void) { return pthread_key_create(&descents_key, free) == 0 ? 0 : (PyErr_NoMemory(), -1); }

static descent *descent_here(void) {
  descent *d = pthread_getspecific(descents_key);
  if (d != NULL || (d = calloc(1, sizeof *d)) == NULL) return d;
  return pthread_setspecific(descents_key, d) == 0 ? d : (free(d), NULL);
}

/* Calls give_back for s, now or, if s is nested too deeply in others of its kind, after them. s has no holder any more: its
   slot is free to link to the next one. */
static void release_nested(gd_storage *s, void (*give_back)(gd_storage *)) {
  descent *d = descent_here();
  if (d != NULL && d->depth >= GD_DEEPEST) {
    s->slot = d->waiting;
    d->waiting = s;
    return;
  }
  if (d != NULL) d->depth++;
  give_back(s);
  if (d == NULL) return;
  while (d->depth == 1 && (s = d->waiting) != NULL) {
    d->waiting = s->slot;
    s->release(s);
  }
  d->depth--;
}

/* ---- our own memory: header and data in one block ---- */

typedef struct {
  gd_storage base;
  size_t mapped; /* bytes to unmap; 0 if the block came from malloc ... */
  void *start;   /* ... at this address */
  gd_slot slot;
} block;
_Static_assert(sizeof(block) <= ALIGNMENT, "the header must leave the data aligned");

static void block_release(gd_storage *s) {
  block *b = (block *)s;
  untrack();
  if (b->mapped != 0) munmap(b, b->mapped);
  else free(b->start);
}

/* Allocates a block. For small ones, memory of malloc with room to align its start costs half of aligned memory. */
static block *block_malloc(size_t total) {
  void *start = NULL;
  size_t roomy = total + ALIGNMENT - _Alignof(max_align_t);
  if (roomy <= SMALL_BLOCK) start = malloc(roomy);
  else if (posix_memalign(&start, ALIGNMENT, total) != 0) start = NULL;
  if (start == NULL) return NULL;
  block *b = (block *)(((uintptr_t)start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  b->mapped = 0;
  b->start = start;
  return b;
}

/* Maps whole huge pages; the kernel returns them zeroed. */
static block *block_map(size_t total) {
  size_t mapped = (total + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
  char *p = mmap(NULL, mapped + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t before = (HUGE_PAGE - ((uintptr_t)p & (HUGE_PAGE - 1))) & (HUGE_PAGE - 1);
  if (before != 0) munmap(p, before);
  munmap(p + before + mapped, HUGE_PAGE - before);
  block *b = (block *)(p + before);
  madvise(b, mapped, MADV_HUGEPAGE); /* only a hint: the kernel may ignore it */
  b->mapped = mapped;
  return b;
}

/* gd_storage_block allocates nbytes, aligned to 256; their content is undefined unless zero is true. Returns the data, NULL if
   there is no memory. The data is not NULL for 0 bytes either.
   C because: (b), the code that frees it has only C.
   GIL: not needed.
   Owns: *out is the caller's; on failure there is nothing to free.
   Threads: any. */
void *gd_storage_block(size_t nbytes, bool zero, gd_storage **out) {
  size_t total = nbytes + ALIGNMENT;
  block *b = NULL;
  *out = NULL;
  if (nbytes > (size_t)PTRDIFF_MAX - 2 * HUGE_PAGE) return NULL;
  if (total >= HUGE_BLOCK) {
    b = block_map(total);
  } else if ((b = block_malloc(total)) != NULL && zero) {
    memset((char *)b + ALIGNMENT, 0, nbytes);
  }
  if (b == NULL) return NULL;
  *out = track(&b->base, block_release);
  b->base.slot = &b->slot;
  return (char *)b + ALIGNMENT;
}

/* ---- memory of others, held by their managed tensor ---- */

typedef struct {
  gd_storage base;
  union {
    DLManagedTensorVersioned *versioned;
    DLManagedTensor *legacy;
  } m;
  gd_slot slot;
} foreign;

static void foreign_taken_back(gd_storage *s) {
  gd_count_one(&gd_counted->imports_deleted);
  untrack();
  free(s);
}

static void give_back_versioned(gd_storage *s) {
  DLManagedTensorVersioned *m = ((foreign *)s)->m.versioned;
  if (m->deleter != NULL) m->deleter(m); /* R13: a producer may leave it out */
  foreign_taken_back(s);
}

static void give_back_legacy(gd_storage *s) {
  DLManagedTensor *m = ((foreign *)s)->m.legacy;
  if (m->deleter != NULL) m->deleter(m);
  foreign_taken_back(s);
}

static void versioned_release(gd_storage *s) { release_nested(s, give_back_versioned); }
static void legacy_release(gd_storage *s) { release_nested(s, give_back_legacy); }

static foreign *foreign_new(void (*release)(gd_storage *)) {
  foreign *f = malloc(sizeof *f);
  if (f == NULL) return NULL;
  track(&f->base, release)->slot = &f->slot;
  return f;
}

/* gd_storage_of_versioned holds a managed tensor and calls its deleter once, at the end (R36). The tensor was counted when it
   was taken.
   GIL: not needed.
   Owns: takes m; on failure (NULL) m is still the caller's.
   Threads: any. */
gd_storage *gd_storage_of_versioned(DLManagedTensorVersioned *m) {
  foreign *f = foreign_new(versioned_release);
  if (f == NULL) return NULL;
  f->m.versioned = m;
  return &f->base;
}

/* gd_storage_of_legacy is gd_storage_of_versioned for the record of DLPack 0.x.
   Owns: takes m; on failure (NULL) m is still the caller's.
   Threads: any. */
gd_storage *gd_storage_of_legacy(DLManagedTensor *m) {
  foreign *f = foreign_new(legacy_release);
  if (f == NULL) return NULL;
  f->m.legacy = m;
  gd_counted->imports_taken.held++;
  return &f->base;
}

/* gd_storage_abandon undoes gd_storage_of_legacy: the managed tensor is the caller's again, its deleter not called.
   GIL: not needed.
   Owns: takes s, which must have no other holder.
   Threads: any. */
void gd_storage_abandon(gd_storage *s) {
  gd_counted->imports_taken.held--;
  untrack();
  free(s);
}

/* ---- memory of a Python object, held by its buffer or by the object itself ---- */

typedef struct {
  gd_storage base;
  PyObject *object;
} kept;

typedef struct {
  gd_storage base;
  Py_buffer view;
} buffer;

/* Whether Python still runs, so that objects can be released; after finalization they are leaked instead (R12). */
static bool python_is_running(void) { return Py_IsInitialized() && !gd_is_finalizing(); }

static void give_back_object(gd_storage *s) {
  untrack();
  if (python_is_running()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DecRef(((kept *)s)->object);
    PyGILState_Release(gil);
  }
  free(s);
}

static void give_back_buffer(gd_storage *s) {
  untrack();
  if (python_is_running()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(&((buffer *)s)->view);
    PyGILState_Release(gil);
  }
  free(s);
}

static void kept_release(gd_storage *s) { release_nested(s, give_back_object); }
static void buffer_release(gd_storage *s) { release_nested(s, give_back_buffer); }

/* ---- memory that CUDA's driver allocated, and frees ---- */

typedef struct {
  gd_storage base;
  gd_driver_memory m;
  pid_t owner;
} device_block;

/* In a forked child, and during finalization, the driver cannot be used: the memory is leaked instead. */
static void device_release(gd_storage *s) {
  device_block *d = (device_block *)s;
  uintptr_t popped;
  untrack();
  if (d->owner == getpid() && python_is_running() && ((int (*)(uintptr_t))d->m.push)(d->m.context) == 0) {
    ((int (*)(uintptr_t))d->m.free)(d->m.address);
    ((int (*)(uintptr_t *))d->m.pop)(&popped);
  }
  free(d);
}

/* gd_storage_of_driver holds memory of CUDA's driver. Its free function waits for all work that uses the memory.
   C because: (b), the code that frees it has only C.
   GIL: not needed.
   Owns: takes the memory; on failure (NULL) it is still the caller's.
   Threads: any. */
gd_storage *gd_storage_of_driver(gd_driver_memory m) {
  device_block *d = malloc(sizeof *d);
  if (d == NULL) return NULL;
  d->m = m;
  d->owner = getpid();
  return track(&d->base, device_release);
}

/* gd_storage_of_object keeps an object whose memory stays in place as long as the object lives.
   Owns: the storage is the caller's; on failure NULL with MemoryError set. */
gd_storage *gd_storage_of_object(PyObject *object) {
  kept *k = malloc(sizeof *k);
  if (k == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_IncRef(k->object = object);
  return track(&k->base, kept_release);
}

/* gd_storage_of_buffer holds exporter's buffer, which keeps its memory in place (R32).
   C because: (a), Py_buffer must not move.
   Owns: the storage is the caller's; on failure NULL with a Python exception set, and nothing is held. */
gd_storage *gd_storage_of_buffer(PyObject *exporter, int flags, Py_buffer **view) {
  buffer *b = malloc(sizeof *b);
  if (b == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (PyObject_GetBuffer(exporter, &b->view, flags) != 0) {
    free(b);
    return NULL;
  }
  *view = &b->view;
  return track(&b->base, buffer_release);
}
