/* What lasts as long as a call: its frame, memory, objects, and the exception that ends it. */
#include <stdlib.h>

#include "frame.h"

enum { PAGE = 4096 }; /* bytes of memory that a call takes at once, if it needs more */

struct block { struct block *next; };
struct held {
  struct held *next;
  PyObject *object;
};
union scratch {
  union scratch *next;
  char memory[SCRATCH];
};

/* gd_reserve allocates memory that lasts as long as the call, aligned to 16 bytes.
   Owns: the call owns it; NULL with MemoryError set on failure.
   Threads: the calling one. */
void *gd_reserve(call *c, size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (size > c->memory.left) {
    size_t n = size > PAGE ? size : PAGE;
    block *b = malloc(sizeof *b + sizeof *b + n); /* a second header keeps the data aligned to 16 */
    if (b == NULL) return PyErr_NoMemory();
    b->next = c->memory.blocks;
    c->memory.blocks = b;
    c->memory.room = (char *)(b + 2);
    c->memory.left = n;
  }
  void *p = c->memory.room;
  c->memory.room += size;
  c->memory.left -= size;
  return p;
}

/* gd_hold keeps x, which may be NULL, until the end of the call.
   Owns: takes x, also on failure: NULL, with an exception set unless x is NULL.
   Threads: the calling one. */
PyObject *gd_hold(call *c, PyObject *x) {
  held *h = x == NULL ? NULL : gd_reserve(c, sizeof *h);
  if (h == NULL) return x == NULL ? NULL : (Py_DecRef(x), NULL);
  *h = (held){c->memory.held, x};
  c->memory.held = h;
  return x;
}

/* gd_keep_exception keeps the pending exception for the end of the call; only the first one is kept.
   Owns: the call keeps the exception.
   Threads: the calling one. */
void gd_keep_exception(call *c) {
  if (c->error.class == NULL) PyErr_Fetch(&c->error.class, &c->error.value, &c->error.trace);
  PyErr_Clear();
}

static GD_OWN scratch *scratches; /* that no call uses */

/* gd_take_scratch gives a call memory for small outputs, unless its function has no outputs, or the caller passed out=. If
   there is no memory, the call has no scratch.
   Owns: the call owns it until gd_call_end.
   Threads: the calling one. */
void gd_take_scratch(call *c) {
  if (c->f->outputs == 0 || c->outputs.out != NULL) return;
  if ((c->outputs.scratch = scratches) != NULL) scratches = c->outputs.scratch->next;
  else c->outputs.scratch = aligned_alloc(64, sizeof *c->outputs.scratch);
}

/* gd_call_end gives back everything that a call holds.
   GIL: held; may run Python code.
   Owns: takes what the call holds.
   Threads: the calling one. */
void gd_call_end(call *c) {
  scratch *s = c->outputs.scratch;
  if (s != NULL) s->next = scratches, scratches = s;
  if (c->tensors.pinned != NULL) gd_unpin(c);
  for (followed *f = c->tensors.followed; f != NULL; f = f->next) *f->current = f->before;
  for (held *h = c->memory.held; h != NULL; h = h->next) Py_DecRef(h->object);
  for (block *b = c->memory.blocks, *next; b != NULL; b = next) next = b->next, free(b);
  free(c->error.failure);
  if (c->error.class == NULL) return;
  Py_DecRef(c->error.class);
  Py_DecRef(c->error.value);
  Py_DecRef(c->error.trace);
}

/* ---- frames ---- */

/* gd_call_begin initializes a call, field by field: to clear all of it at once, as compilers do, takes as long as to borrow an
   argument.
   Threads: the calling one. */
void gd_call_begin(call *c, const gd_function *f, PyObject *const *objects) {
  c->f = f;
  c->objects = objects;
  c->self = NULL;
  c->objects_of = NULL;
  c->outputs.like = c->outputs.out = c->error.class = c->error.value = c->error.trace = NULL;
  c->outputs.protocol = 0;
  c->outputs.given = 0;
  c->outputs.offer = NULL;
  c->outputs.scratch = NULL;
  c->entry.thread = NULL;
  c->entry.stopped = c->entry.lost = false;
  c->entry.holds = f->holds;
  atomic_init(&c->error.failure, NULL);
  atomic_init(&c->error.message_lost, false);
  c->entry.result.v_int64 = 0;
  c->entry.code = GD_NULL;
  c->memory.blocks = NULL;
  c->memory.left = 0;
  c->memory.held = NULL;
  c->tensors.followed = NULL;
  c->nested = 0;
  c->tensors.borrowed = c->tensors.pinned = NULL;
  c->wait.proxy = NULL;
}

static GD_OWN frame *frames; /* that no call uses */
static GD_OWN frame *left;   /* of calls that were left: goroutines may still use them */

/* gd_take_frame returns a frame that no call uses.
   Owns: the result is the caller's, for gd_give_frame; NULL with MemoryError set on failure. */
frame *gd_take_frame(void) {
  frame *f = frames;
  if (f != NULL) frames = f->next;
  else if ((f = malloc(sizeof *f)) == NULL) PyErr_NoMemory();
  return f;
}

/* gd_give_frame gives a frame back, at the end of a call. The frame of a call that was left is kept: goroutines may still use
   it.
   Owns: takes f. */
void gd_give_frame(frame *f, bool was_left) {
  frame **to = was_left ? &left : &frames;
  f->next = *to;
  *to = f;
}
