/* Pins: memory of others, which must not move while a function works on it. */
#ifndef GODLPACK_PIN_H
#define GODLPACK_PIN_H

#include "records.h"
#include "pyabi.h"
#include <stdbool.h>

/* A lock: the owner of some memory must not give it up. On a list of all locks; several calls may lock one owner. */
typedef struct gd_lock {
  struct gd_lock *next, **link; /* on the list; link points to the pointer to this one */
  void *where, *data;           /* the owner, an array or a storage, and its memory; where is NULL: no lock */
  void (*free)(void *);         /* the last lock passes the memory to it; NULL: its owner still has it */
  bool cleared;                 /* the owner's flag that allows it to resize the memory was set */
} gd_lock;
typedef struct {
  DLManagedTensorVersioned *managed; /* by a table that is not torch's */
  PyObject *owner, *base;            /* of torch: the storage; of NumPy: the array that owns the memory, and its base */
  gd_lock lock;
} gd_pin;

const gd_lock *gd_lock_find(const void *where, const void *data);
void gd_lock_add(gd_lock *l);
bool gd_lock_remove(gd_lock *l);
bool gd_lock_leave(const void *data, void (*free)(void *));
void gd_locks_forked(void);

/* The offsets of torch's storage in a Python object of type, and, in the storage, of the address and size of its memory, the
   flag that allows it to be resized, the deleter of the memory, and the deleter's argument. The memory of torch's own allocator
   has one deleter, memory of others has another; there are more. */
enum { GD_TORCH_OWN, GD_TORCH_FOREIGN, GD_TORCH_KINDS };
typedef struct {
  PyTypeObject *type;
  size_t storage, data, size, resizable, deleter, context;
  void (*frees[GD_TORCH_KINDS])(void *context);
  bool known;
} gd_torch;

void gd_torch_learn(const gd_torch *found);
bool gd_torch_is_type(PyTypeObject *type);
bool gd_torch_pin(gd_pin *pin, const DLTensor *t);
void gd_torch_unpin(gd_pin *pin);
void gd_numpy_pin(PyObject *x, gd_pin *pin);
void gd_numpy_unpin(gd_pin *pin);

#endif
