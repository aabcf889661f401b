/* One call of a library's function, for the files that work on it: call.c runs it, pin.c keeps the memory of its arguments in
   place, greenlet.c runs it on another thread, abandon.c ends it. */
#ifndef GODLPACK_CALL_H
#define GODLPACK_CALL_H

#include <pthread.h>
#include <setjmp.h>

#include "abandon.h"
#include "callbacks.h"
#include "core.h"
#include "greenlet.h"

enum {
  FEW = 8,        /* arguments, and dimensions, for which a frame has room */
  SCRATCH = 4096, /* bytes for small outputs: a copy costs less than an allocation that Go requests */
};

/* A tensor argument in its owner's memory, borrowed in place or imported by Go, with its own copies of shape and strides: the
   owner may change its own. */
typedef struct record {
  DLTensor t;
  struct record *next;          /* the previously made record */
  PyObject *object;             /* the owner of the memory; an argument, or held by the call */
  const DLPackExchangeAPI *api; /* the table that made the record; NULL: NumPy's fast path */
  bool torch;                   /* a tensor of torch */
  bool imported;                /* imported by Go: the memory stays alive, but its owner may still move it */
  gd_pin pin;                   /* once it is pinned */
  int64_t dims[2 * FEW];
} record;

typedef struct block block; /* these three are frame.c's */
typedef struct held held;
typedef union scratch scratch;
typedef struct followed {
  struct followed *next;
  int32_t device;
  uintptr_t *current, before;
} followed;

/* The memory that out= offers to the only output of a call. */
typedef struct {
  DLManagedTensorVersioned m;
  atomic_bool taken;
} offer;

typedef struct call {
  GDContext host; /* first: the library passes its address back */
  const gd_function *f;
  PyObject *const *objects;    /* the arguments, one for each parameter: NULL where none was given */
  PyObject *self;              /* the new object, of a constructor */
  const GDLibrary *objects_of; /* of the runtime that has the objects among the arguments; NULL: there are none */
  int64_t nested;              /* elements of lists in lists */
  struct {
    PyObject *like;               /* the type of outputs; NULL before the first tensor; a borrowed reference */
    gd_protocol protocol;         /* the plan for it; 0: Go converts */
    const DLPackExchangeAPI *api; /* by table */
    PyObject *out;                /* borrowed: the destination of outputs, a tensor or a tuple of them; or NULL */
    int given;                    /* outputs that were wrapped */
    offer *offer;                 /* NULL if there is none */
    scratch *scratch;             /* for small outputs; NULL if there is none */
  } outputs;
  struct {
    PyObject *class, *value, *trace; /* an exception that Python raised during the call */
    failure *_Atomic failure;        /* the error that fail() got; malloc'ed */
    atomic_bool message_lost;        /* no memory was left for the message */
  } error;
  struct {
    const GDLibrary *library; /* the table of the library that runs */
    PyThreadState *thread;    /* the calling one, while it is without the GIL */
    int64_t forks;            /* gd_forks() before the call */
    jmp_buf *back;            /* the jump target of a forked child, and of an abandoned call */
    TVMValue result;
    int code;     /* of the result */
    bool lost;    /* its library's runtime was given up: the call cannot return to it */
    bool holds;   /* holds the GIL until it returns; a copy for the watching thread, as the function may be gone */
    bool stopped; /* polling raised, or the call was abandoned: it fails, whatever the function returns */
  } entry;
  struct {
    block *blocks;
    char *room; /* unused part of the newest block */
    size_t left;
    held *held; /* objects that must live until the end */
  } memory;
  struct {
    record *borrowed,
        *pinned;        /* of tensors that were not imported: those kept only by their owner, and the pinned ones */
    followed *followed; /* our current streams that are set to others' until the end */
  } tensors;
  struct {
    struct proxy *proxy; /* the thread that runs it instead of the calling one; NULL: none */
    struct call *outer;  /* the next call that waits for a callback */
    uint64_t caller;     /* the waiting thread */
    PyObject *greenlet;  /* and its greenlet; NULL without the package greenlet */
  } wait;
} call;

/* ---- frame.c ---- */

void *gd_reserve(call *c, size_t size);
PyObject *gd_hold(call *c, PyObject *x);
GD_RARE void gd_keep_exception(call *c);
void gd_take_scratch(call *c);
void gd_call_begin(call *c, const gd_function *f, PyObject *const *objects);
void gd_call_end(call *c);

static inline bool gd_in_scratch(const call *c, const void *p) {
  return c->outputs.scratch != NULL && (uintptr_t)p - (uintptr_t)c->outputs.scratch < SCRATCH;
}

/* ---- arguments.c ---- */

bool gd_follows(const call *c, int32_t device);
GD_RARE bool gd_follow(call *c, const DLPackExchangeAPI *api, int32_t device);
bool gd_pack(call *c, PyObject *x, PyObject *name, bool writes, int depth, const GDList *to, int64_t i, record *r);
bool gd_pack_arguments(call *c, const GDList *to, record *records);
GD_RARE bool gd_bind(call *c, PyObject **objects, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
GD_RARE bool gd_take_like(call *c, PyObject *like);

/* ---- outputs.c ---- */

GD_RARE bool gd_take_out(call *c, const GDList *args);
PyObject *gd_wanted(call *c);
int gd_host_allocate(GDContext *host, DLTensor *prototype, DLManagedTensorVersioned **out);
bool gd_copy_out(call *c, TVMValue *v);

/* ---- results.c ---- */

PyObject *gd_wrap_result(call *c, TVMValue *v, int code, bool top);
void gd_drop_result(const call *c, TVMValue v, int code);
GD_RARE PyObject *gd_refuse(call *c);

/* ---- call.c ---- */

bool gd_may_give_gil(call *c);

/* ---- pin.c ---- */

bool gd_pin_borrowed(call *c);
bool gd_pin_imported(call *c, PyObject *x);
void gd_unpin(call *c);
bool gd_is_alone(void);

/* Pins the arguments before Python code runs in this thread, which may change any object. False with an exception set. */
static inline bool gd_before_python(call *c) { return c->tensors.borrowed == NULL || gd_pin_borrowed(c); }

#endif
