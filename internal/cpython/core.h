/* What the C files of this package share. C is here for four reasons only, and each function names its
   own: (a) CPython offers it only as a macro or struct, (b) it must be a C function pointer,
   (c) it repeats a decision that Go made and must not pay a crossing, (d) it loops so that Go is entered
   once. Everything else is Go. */
#ifndef GODLPACK_CORE_H
#define GODLPACK_CORE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops.h"
#include "packed.h"
#include "pyabi.h"
#include "records.h"
#include "version.h"

/* ---- variables, and the copies of this library ----
   After a fork, Go runs in a fresh copy of this library (runtime.c), with a copy of every variable here. So each variable
   says whose it is. KEPT: the copy takes over the value that the first library has, which never changes once a tensor
   exists: types, names, and pointers to what does change. OWN: each copy has its own, and only that copy uses it, or
   others reach it through a KEPT pointer. */
#define GD_KEPT __attribute__((section("gd_kept")))
#define GD_OWN

/* Of functions: hardly ever called. The compiler puts them out of the way of the others, whose code then lies together. */
#define GD_RARE __attribute__((cold))

/* ---- storage: what keeps memory alive, shared by tensors, their views and their exports ---- */

typedef struct gd_storage gd_storage;
struct gd_storage {
  _Atomic int64_t refs;              /* holders, and GD_SLOT_TAKEN while the slot is taken */
  void (*release)(gd_storage *self); /* gives back what is held and frees self; any thread, no GIL */
  void *slot;                        /* room for one managed tensor (gd_export), NULL if there is none; at its end the next one */
};
#define GD_SLOT_TAKEN ((int64_t)1 << 62)
enum { GD_DEEPEST = 16 }; /* within how many others something is given back; each may take a kilobyte of a small stack */
int gd_storage_exec(void);

/* A counters for leak tests: each pair is equal when everything was given back. What happens under the GIL is
   counted without atomic operations, which cost as much as the rest of an exchange. */
typedef struct { int64_t held; _Atomic int64_t unheld; } gd_count;
typedef struct {
  gd_count storages_made, storages_freed; /* storages of any kind */
  gd_count exports_made, exports_deleted; /* managed tensors handed to others */
  gd_count imports_taken, imports_deleted; /* managed tensors taken from others */
} gd_counters;
extern gd_counters *gd_counted;
static inline void gd_count_one(gd_count *c) { atomic_fetch_add_explicit(&c->unheld, 1, memory_order_relaxed); }

/* A managed tensor of ours: the record, what it keeps alive, and its own copy of shape and strides, so that it outlives
   the Python object it came from. The first of a storage sits in the storage itself, and costs no allocation. */
typedef struct {
  union { DLManagedTensorVersioned versioned; DLManagedTensor legacy; } m;
  gd_storage *storage;
  int64_t dims[];
} gd_export;
enum { GD_SLOT_NDIM = 6 };
typedef struct { gd_export export; int64_t dims[2 * GD_SLOT_NDIM]; } gd_slot;

void *gd_storage_block(size_t nbytes, bool zero, gd_storage **out);
gd_storage *gd_storage_of_versioned(DLManagedTensorVersioned *m);
gd_storage *gd_storage_of_legacy(DLManagedTensor *m);
gd_storage *gd_storage_of_object(PyObject *object);
/* Memory of CUDA's driver, its context, and the driver's functions that make that current, free, and undo it. */
typedef struct { uintptr_t address, context, push, free, pop; } gd_driver_memory;
gd_storage *gd_storage_of_driver(gd_driver_memory m);
gd_storage *gd_storage_of_buffer(PyObject *exporter, int flags, Py_buffer **view);
gd_storage *gd_storage_retain(gd_storage *s);
bool gd_storage_take_slot(gd_storage *s);
void gd_storage_free_slot(gd_storage *s);
void gd_storage_release(gd_storage *s);
void gd_storage_abandon(gd_storage *s);

/* ---- tensor: the Python object ---- */

typedef struct {
  PyObject_HEAD
  PyObject *weakrefs;
  gd_storage *storage;            /* shared with views and exports; NULL if there is nothing to hold, or: */
  DLManagedTensorVersioned *sole; /* held by this tensor alone, until it is shared */
  uint64_t flags; /* DLPack's: read-only, padded */
  DLTensor t;     /* shape and strides point into dims */
  int64_t dims[];
} gd_tensor;

extern PyTypeObject *gd_tensor_type, *gd_dtype_type, *gd_device_type;

PyObject *gd_tensor_new(const DLTensor *t, uint64_t flags, gd_storage *stolen);
PyObject *gd_tensor_make(uintptr_t data, DLDevice device, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides, uint64_t flags,
                         gd_storage *storage);
PyObject *gd_tensor_view(gd_tensor *x, int64_t offset, DLDataType dtype, int32_t ndim, int64_t *shape, int64_t *strides,
                         uint64_t flags);
bool gd_fast_path_ok(const DLTensor *t);
/* No address lies in the first page: such a number is an error, and would stop Go. */
static inline bool gd_is_address(const void *p) { return (uintptr_t)p >= 4096; }
/* The number of elements if they lie exactly as in row-major order, extents of 1 included; 0 if not, or if there are none. */
static inline int64_t gd_compact_count(const DLTensor *t) {
  int64_t step = 1;
  for (int i = t->ndim - 1; i >= 0; i--)
    if (t->strides[i] != step || __builtin_mul_overflow(step, t->shape[i], &step) || step <= 0) return 0;
  return step;
}
PyObject *gd_tuple_of(const int64_t *v, int n);
int64_t gd_element_count(const DLTensor *t);
int64_t gd_item_bits(DLDataType d, uint64_t flags);
int64_t gd_byte_count(const DLTensor *t, uint64_t flags);

/* A dtype or a device: an immutable value with a name. */
typedef struct {
  PyObject_HEAD
  PyObject *name;
  PyObject *kind; /* of a device: its DeviceType member; of a dtype: NULL */
  union { DLDataType dtype; DLDevice device; uint64_t key; } value;
  int itemsize; /* of a dtype */
} gd_descriptor;

PyObject *gd_descriptor_new(PyTypeObject *type, uint64_t key, PyObject *name, PyObject *kind, int itemsize);
typedef struct { uint64_t key; PyObject *descriptor; } gd_descriptor_slot;
typedef gd_descriptor_slot gd_descriptor_cache[64];
PyObject *gd_descriptor_cached(gd_descriptor_cache cache, uint64_t key, int op);
static inline uint64_t gd_dtype_key(DLDataType d) { return (uint64_t)d.lanes << 16 | (uint64_t)d.bits << 8 | d.code; }
PyObject *gd_dtype_object(DLDataType d);
PyObject *gd_device_object(DLDevice d);

/* ---- exchange ---- */

extern const DLPackExchangeAPI gd_exchange_api;
int gd_stream_exec(void);
uintptr_t *gd_current_stream(int32_t device_id, bool make);
DLManagedTensorVersioned *gd_export_versioned(gd_tensor *x, uint64_t extra_flags);
PyObject *gd_wrap_managed(DLManagedTensorVersioned *m, uint64_t flags);
bool gd_tensor_share(gd_tensor *x);
PyObject *gd_capsule(gd_tensor *x, bool versioned, uint64_t extra_flags);

PyObject *gd_arrow_schema(const char *format);
PyObject *gd_arrow_array(gd_tensor *x);

int gd_table_import(const DLPackExchangeAPI *api, PyObject *x, DLManagedTensorVersioned **out);
int gd_table_to_object(const DLPackExchangeAPI *api, DLManagedTensorVersioned *m, PyObject **out);
void gd_managed_delete(DLManagedTensorVersioned *versioned, DLManagedTensor *legacy);
void gd_managed_drop(DLManagedTensorVersioned *versioned, DLManagedTensor *legacy);

const char *gd_legacy_library(const DLManagedTensor *m);

/* What Go decided about a type: by which protocol its objects are taken, and what must be asked first. */
typedef enum { GD_BY_TABLE = 1, GD_BY_METHOD, GD_BY_NUMPY, GD_BY_BUFFER } gd_protocol;
typedef struct {
  PyTypeObject *type;           /* exact; a strong reference */
  gd_protocol protocol;
  const DLPackExchangeAPI *api; /* by table */
  bool guarded;                 /* by table: has torch's requires_grad, is_conj and is_neg, which its table ignores */
  bool asks_python;             /* and they may be Python code, since the type is not torch's own */
  bool torch;                   /* torch's Tensor, or a type derived from it */
  PyObject *grad;               /* requires_grad as the type has it, if that cannot be hidden by an object: or NULL */
  descrgetfunc get_grad;        /* how to read it */
  bool immutable;               /* by method: legacy capsules are read-only */
  bool bare;                    /* by method: it takes no max_version */
} gd_plan;

enum { GD_PLANS = 64 };
void gd_plan_set(gd_plan plan);
PyObject *gd_plan_type(int i);
extern gd_plan *gd_plans;
static inline gd_plan *gd_plan_slot(const PyTypeObject *type) { return &gd_plans[((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15u >> 58]; }

/* gd_plan_of is the plan for objects of exactly this type, NULL if Go has made none. It is good until other Python code
   runs. */
static inline const gd_plan *gd_plan_of(const PyTypeObject *type) {
  const gd_plan *p = gd_plan_slot(type);
  return p->type == type ? p : NULL;
}
bool gd_torch_fast_path_ok(PyObject *x, const gd_plan *plan, const DLTensor *t, bool no_grad);

void gd_numpy_enable(PyTypeObject *type, void **table);
void gd_numpy_learn(PyObject *x, DLDataType dtype, bool padded);
bool gd_numpy_borrow(PyObject *x, DLTensor *t, int64_t *dims, int ndim, uint64_t *flags);
PyObject *gd_numpy_import(PyObject *x);
PyObject *gd_numpy_import_buffer(PyObject *x, PyObject *dtype_name);
PyObject *gd_numpy_to_array(gd_tensor *x);
PyObject *gd_numpy_copy(const DLTensor *t);
bool gd_numpy_is_type(const PyTypeObject *type);
bool gd_numpy_is_array(PyObject *x);

/* ---- pins: memory that others hold, and must not move while a function works on it ---- */

/* That the owner of some memory must not give it up: on a list of all, which several calls may have put it on. */
typedef struct gd_lock {
  struct gd_lock *next, **link; /* on the list; link leads here */
  void *where, *data;           /* the owner, an array or a storage, and its memory; where is NULL: no lock */
  void (*free)(void *);         /* what the last lock gives the memory to; NULL: its owner still has it */
  bool cleared;                 /* the owner's flag, that it may resize the memory, was set */
} gd_lock;
typedef struct {
  DLManagedTensorVersioned *managed; /* by a table that is not torch's */
  PyObject *owner, *base;            /* of torch: the storage; of NumPy: the array that has the memory, and what it has it from */
  gd_lock lock;
} gd_pin;

const gd_lock *gd_lock_find(const void *where, const void *data);
void gd_lock_add(gd_lock *l);
bool gd_lock_remove(gd_lock *l);
bool gd_lock_leave(const void *data, void (*free)(void *));
void gd_locks_forked(void);

/* Where a Python object of type has torch's storage, and that the address and size of its memory, the flag that lets it be
   resized, the deleter of the memory, and what that is called with. The memory of torch's own allocator has one deleter, memory of others has another; there are more. */
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

/* ---- functions of libraries ---- */

typedef struct gd_library gd_library;
gd_library *gd_library_at(const char *path, PyObject *check);
int64_t gd_forks(void);
bool gd_library_runs(const gd_library *l, uintptr_t pc);
void gd_library_abandon(gd_library *l);
void gd_find_code(const void *inside, uintptr_t *start, uintptr_t *end);
bool gd_watch_start(void);
void gd_watch_calls(void);
void gd_watch_forked(void);
PyObject *gd_declarations(PyObject *module, PyObject *arguments);
int gd_library_exec(void);
void gd_library_threads(int n);

bool gd_threads_apply(void);
PyObject *gd_choose_threads(PyObject *module, PyObject *n);

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *weakrefs;
  gd_library *library;
  PyObject *name, *qualname, *module, *doc, *text, *names; /* text: of the signature; names: of the parameters, a tuple of str */
  uint64_t writes; /* bit i: tensors of parameter i are written */
  int index;       /* in the library's table */
  int count;       /* of parameters */
  int outputs;     /* how many results are tensors; -1: a list of them */
  int holds;       /* the GIL stays with the caller */
  PyObject *like;  /* the framework of outputs where no argument has one: a str until its type is needed; NULL: ours */
  PyObject *parameters[]; /* what is in names */
} gd_function;
const GDLibrary *gd_library_open(gd_library *l, const gd_function *f);
bool gd_function_like(gd_function *f);

PyObject *gd_function_make(PyObject *module, PyObject *arguments);
PyObject *gd_call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames);

bool gd_is_finalizing(void);

/* ---- the Go runtime: started at first need, and anew after a fork ---- */

/* What one copy of this library offers the others: its ways into Go, and what to do with its runtime. */
typedef struct {
  PyObject *(*enter)(int op, PyObject *self, PyObject **args, Py_ssize_t nargs, PyObject *kwnames);
  int (*get_buffer)(PyObject *self, Py_buffer *view, int flags);
  void (*start)(void);            /* does nothing if it is running */
  void (*mark_dead)(void);             /* in a forked child: nobody enters it from now on, not even a thread that ends */
  void (*uninstall_signals)(void); /* puts back what handled Go's signals before */
  char *kept;                     /* where its GD_KEPT variables are */
  _Atomic bool started;
  bool dead; /* forked away from its threads: nobody may enter */
} gd_runtime;
extern gd_runtime gd_own_runtime;
typedef struct { PyModuleDef module; gd_runtime *runtime; } gd_definition; /* what PyInit__core returns */

int gd_runtime_exec(void); /* watches for forks; part of the module's execution */
bool gd_runtime_is_lazy(void);
int64_t gd_runtime_generation(void);
PyObject *gd_no_room(char *why, size_t n);
bool gd_runtime_threads(int n);
void *gd_open_copy(const char *path, char *why, size_t size);
void gd_say_remedy(char *why, size_t size);
void gd_signals_install(void);
void gd_signals_uninstall(void);
void gd_pass_on(const struct sigaction *previous, int number, siginfo_t *info, void *context);
void gd_faults_open(void);
void gd_faults_close(void);
void gd_faults_look(void);
void gd_faults_forked(void);
void gd_faults_lift(void);

/* What handles a signal now; nothing, if the number is none of a program's signals: nothing else can fail. */
static inline struct sigaction gd_handler_of(int number) {
  struct sigaction now = {.sa_handler = SIG_DFL};
  sigaction(number, NULL, &now);
  return now;
}

enum { GD_HANDLED = 5 }; /* the signals that a Go runtime in a library handles */
typedef struct sigaction gd_handlers[GD_HANDLED];
void gd_signals_read(gd_handlers now);
int gd_signals_chain(const gd_handlers before);
void gd_signals_drop(int link);
bool gd_signals_unchain(void);

/* ---- the one way into Go ---- */

typedef struct entry *gd_entry;
bool gd_entry_begin(gd_entry *out);
void gd_entry_end(gd_entry e);
void gd_greenlets_forked(void);
bool gd_ensure_runtime(void);
int gd_get_buffer(PyObject *self, Py_buffer *view, int flags);
PyObject *gd_enter(int op, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* For the method lists of ops.h: a method that enters Go, and its entry in a method table. */
#define GD_TRAMPOLINE(owner, name, ...) \
  static PyObject *owner##_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) { \
    return gd_enter(GD_OP_##owner##_##name, self, args, n, kw); \
  }
#define GD_KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define GD_METHOD(owner, name, python) {python, (PyCFunction)(void *)owner##_##name, GD_KEYWORDS, doc_##owner##_##name},

/* Methods of the hot path, in C; each falls through to gd_enter for anything out of the ordinary. */
bool gd_blames_arguments(void);
PyObject *gd_fast_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *gd_fast_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *gd_fast_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

int gd_tensor_exec(PyObject *module); /* makes the types; part of the module's execution */
int gd_fastpath_exec(void);               /* interns the names the fast paths look up */
int gd_function_exec(PyObject *module);

#endif
