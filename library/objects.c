/* The objects that the host no longer has: a list that the host extends without Go, and that Go empties. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "library.h"

/* One for each place of package kernel's table of objects; in the list while its count is not 0. */
typedef struct {
  _Atomic int64_t count; /* how many times the host had received the object */
  _Atomic uint32_t next; /* in the list, as first */
} dropped;

enum { PLACES = 1024, CHUNKS = 1 << 16 };
static dropped *_Atomic chunks[CHUNKS];
static _Atomic uint32_t first; /* the place that was dropped last, plus 1; 0: the list is empty */
static atomic_bool asleep;     /* Go waits for the next one */
static int wake = -1;          /* wakes it, an eventfd */

static dropped *at(uint32_t place) {
  dropped *chunk = place / PLACES < CHUNKS ? chunks[place / PLACES] : NULL;
  return chunk ? chunk + place % PLACES : NULL;
}

/* Prepares the list for PLACES more places, up to n, a multiple; once for each n. False: no memory.
   C because: (b) the list outlives Go.
   GIL: any.
   Owns: the memory stays for the process.
   Threads: one at a time. */
bool gd_objects_grow(int n) {
  uint32_t last = (uint32_t)n / PLACES - 1;
  return last < CHUNKS && (chunks[last] = calloc(PLACES, sizeof(dropped)));
}

/* Returns the file that becomes readable when an object is dropped while Go waits. -1: there is none.
   C because: (b) the host writes to it without Go.
   GIL: any.
   Owns: the caller gets the file.
   Threads: one. */
int gd_objects_wake(void) { return wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* Records that Go waits from now on, unless the list has something.
   C because: (b) the host reads it without Go.
   GIL: any.
   Owns: nothing.
   Threads: one. */
bool gd_objects_sleep(void) {
  atomic_store(&asleep, true);
  return atomic_load(&first) == 0;
}

/* The table's entry drop: the host, which received an object count times, no longer has it.
   C because: (b) it must not wait for Go, which may not run any more.
   GIL: any.
   Owns: the host's references to the object.
   Threads: any. */
void gd_drop(int64_t number, int64_t count) {
  uint32_t place = (uint32_t)number;
  dropped *d = at(place);
  if (!d || atomic_fetch_add(&d->count, count) != 0) return; /* it is in the list */
  uint32_t next = atomic_load(&first);
  do atomic_store(&d->next, next);
  while (!atomic_compare_exchange_weak(&first, &next, place + 1));
  if (atomic_exchange(&asleep, false)) {
    uint64_t one = 1;
    (void)!write(wake, &one, sizeof one); /* fails if it is readable already */
  }
}

/* Whether the list has something.
   C because: (b) Go cannot read a C atomic.
   GIL: any.
   Owns: nothing.
   Threads: any. */
bool gd_objects_dropped(void) { return atomic_load_explicit(&first, memory_order_relaxed) != 0; }

/* Takes up to most objects from the list; *rest is 0 at first, and keeps what is left of it for the next call.
   C because: (b) the host extends it without Go.
   GIL: any.
   Owns: the caller gets the host's references to the objects.
   Threads: one at a time. */
int gd_objects_take(uint32_t *rest, uint32_t *places, int64_t *counts, int most) {
  int n = 0;
  if (*rest == 0) *rest = atomic_exchange(&first, 0);
  for (; *rest != 0 && n < most; n++) {
    dropped *d = at(places[n] = *rest - 1);
    *rest = atomic_load(&d->next); /* before the count is 0: then the host may put it into the list again */
    counts[n] = atomic_exchange(&d->count, 0);
  }
  return n;
}

/* ---- memory that the host has ---- */

static atomic_bool forgotten; /* Go does not run any more, or not in this process */

/* Records that Go does not run any more: the memory of tensors that the host still has stays as it is.
   C because: (b) fork() calls it.
   GIL: any.
   Owns: nothing.
   Threads: any. */
void gd_lent_forget(void) { forgotten = true; }

static void give_back(DLManagedTensorVersioned *m) {
  if (!forgotten) gd_drop((int64_t)(intptr_t)m->manager_ctx, 1);
  free(m);
}

/* Returns a record for memory of Go, with room for shape and strides, which the caller fills in.
   C because: (b) a deleter is a C function pointer, and does not wait for Go.
   GIL: any.
   Owns: the result is new, and its deleter, which any thread may call, gives the number back; NULL without memory.
   Threads: any. */
DLManagedTensorVersioned *gd_lend(int64_t number, int32_t ndim) {
  DLManagedTensorVersioned *m = calloc(1, sizeof *m + 2 * (size_t)ndim * sizeof(int64_t));
  if (m) {
    m->manager_ctx = (void *)(intptr_t)number;
    m->deleter = give_back;
    m->dl_tensor.shape = (int64_t *)(m + 1);
    m->dl_tensor.strides = ndim == 0 ? NULL : m->dl_tensor.shape + ndim;
  }
  return m;
}
