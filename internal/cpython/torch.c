/* Pins of torch's storages. A storage that is held stays alive, but torch may replace its memory: resize_() by other memory,
   share_memory_() permanently by memory that other processes share. So while a function works on a storage, torch's own flag
   forbids to resize it, and the deleter of its memory is replaced by one of ours, which leaves memory that torch would free to
   the last of its locks. Go finds the offsets of flag and deleter in a storage (package exchange). */
#define _GNU_SOURCE
#include "core.h"

/* The layout of torch's storages. */
static GD_OWN gd_torch own_torch;
static GD_KEPT gd_torch *torch = &own_torch;

/* gd_torch_learn sets the layout of storages; NULL: it is unknown after all.
   C because: (a). */
void gd_torch_learn(const gd_torch *found) {
  if (found != NULL) *torch = *found;
  torch->known = found != NULL; /* what frees memory stays: our deleters may be in use */
}

/* gd_torch_is_type reports whether a type is torch's Tensor, or derived from it: only in these are storages looked for.
   GIL: held; no exception is pending. */
bool gd_torch_is_type(PyTypeObject *type) {
  PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  PyObject *tensor = module == NULL ? NULL : PyObject_GetAttrString(module, "Tensor");
  bool is = tensor != NULL && PyType_GetFlags(Py_TYPE(tensor)) & Py_TPFLAGS_TYPE_SUBCLASS &&
            PyType_IsSubtype(type, (PyTypeObject *)tensor);
  Py_DecRef(tensor);
  return PyErr_Clear(), is;
}

/* ---- deleters ---- */

typedef void (*deleter)(void *context);

static void free_or_leave(void *context, deleter free) {
  if (!gd_lock_leave(context, free)) free(context);
}

/* Our deleters, which replace torch's: each calls the one that it replaces, and needs only the context that was there before.
   So it does not matter when another thread reads the deleter, and ours may stay where torch has moved it meanwhile.
   C because: (b).
   GIL: any.
   Owns: takes the context.
   Threads: any. */
static void free_own(void *context) { free_or_leave(context, torch->frees[GD_TORCH_OWN]); }
static void free_foreign(void *context) { free_or_leave(context, torch->frees[GD_TORCH_FOREIGN]); }

static deleter const ours[] = {[GD_TORCH_OWN] = free_own, [GD_TORCH_FOREIGN] = free_foreign};

/* ---- pins ---- */

static const char OTHER_MEMORY[] =
    "a tensor's untyped_storage() is not the memory that its exchange table lends: its memory was "
    "replaced during the call, or its class overrides untyped_storage(); pass x.detach().as_subclass(torch.Tensor)";

static void **context_of(char *storage) { return (void **)(storage + torch->context); }

static void exchange_deleter(char *storage, const deleter *from, const deleter *to) {
  deleter *d = (deleter *)(storage + torch->deleter);
  for (int i = 0; i < GD_TORCH_KINDS; i++)
    if (*d == from[i]) *d = to[i];
}

/* Reports whether t's elements are in the memory that a storage has now. */
static bool has(const char *storage, const DLTensor *t) {
  const char *start = *(char *const *)(storage + torch->data), *first = (char *)t->data + t->byte_offset;
  size_t size = *(const size_t *)(storage + torch->size);
  return gd_element_count(t) == 0 || (uintptr_t)first - (uintptr_t)start < size;
}

/* gd_torch_pin forbids to resize the storage that the pin holds, and keeps its current memory from being freed. It does nothing
   if the layout is unknown.
   Owns: the pin's lock stays the caller's, for gd_torch_unpin.
   False with a BufferError if t, which may be NULL, is in other memory: what gave the storage may have been Python's code. */
bool gd_torch_pin(gd_pin *pin, const DLTensor *t) {
  if (!torch->known || pin->owner == NULL) return true;
  bool is = Py_TYPE(pin->owner) == torch->type;
  char *storage = is ? *(char **)((char *)pin->owner + torch->storage) : NULL;
  if (t != NULL && (storage == NULL || !has(storage, t)))
    return PyErr_SetString(PyExc_BufferError, OTHER_MEMORY), false;
  if (storage == NULL || *context_of(storage) == NULL) return true;
  uint8_t *flag = (uint8_t *)storage + torch->resizable;
  const gd_lock *other = gd_lock_find(storage, NULL);
  pin->lock = (gd_lock){
      .where = storage, .data = *context_of(storage), .cleared = other == NULL ? *flag == 1 : other->cleared};
  gd_lock_add(&pin->lock);
  if (pin->lock.cleared) *flag = 0;
  exchange_deleter(storage, torch->frees, ours);
  return true;
}

/* gd_torch_unpin undoes gd_torch_pin, and releases the storage. It frees memory that torch has given up meanwhile; the storage
   then has memory that torch cannot resize.
   GIL: held; may run Python code.
   Owns: takes what the pin holds. */
void gd_torch_unpin(gd_pin *pin) {
  const gd_lock *l = &pin->lock;
  if (l->where != NULL) {
    if (gd_lock_remove(&pin->lock) && l->cleared && l->free == NULL) *((uint8_t *)l->where + torch->resizable) = 1;
    bool last = gd_lock_find(NULL, l->data) == NULL;
    if (last && l->free != NULL) l->free(l->data);
    else if (last && *context_of(l->where) == l->data) exchange_deleter(l->where, ours, torch->frees);
  }
  Py_DecRef(pin->owner);
}
