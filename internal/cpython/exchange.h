/* Exchange: tables, plans, the fast paths, and NumPy's arrays. */
#ifndef GODLPACK_EXCHANGE_H
#define GODLPACK_EXCHANGE_H

#include "tensor.h"

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

/* Go's decision about a type: the protocol by which its objects are imported, and what must be asked first. */
typedef enum { GD_BY_TABLE = 1, GD_BY_METHOD, GD_BY_NUMPY, GD_BY_BUFFER } gd_protocol;
typedef struct {
  PyTypeObject *type; /* exact; a strong reference */
  gd_protocol protocol;
  const DLPackExchangeAPI *api; /* by table */
  bool guarded;                 /* by table: has torch's requires_grad, is_conj and is_neg, which its table ignores */
  bool asks_python;             /* the guards may be Python code, since the type is not torch's own */
  bool torch;                   /* torch's Tensor, or a type derived from it */
  PyObject *grad;               /* the type's requires_grad, if no object's own attribute can hide it; or NULL */
  descrgetfunc get_grad;        /* reads that attribute */
  bool immutable;               /* by method: legacy capsules are read-only */
  bool bare;                    /* by method: it takes no max_version */
} gd_plan;

enum { GD_PLANS = 64 };
void gd_plan_set(gd_plan plan);
PyObject *gd_plan_type(int i);
extern gd_plan *gd_plans;
static inline gd_plan *gd_plan_slot(const PyTypeObject *type) {
  return &gd_plans[((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15u >> 58];
}

/* gd_plan_of returns the plan for objects of exactly this type, NULL if Go has made none. It is valid until other Python code
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

/* Methods of the hot path, in C; each calls gd_enter for unusual input. */
bool gd_blames_arguments(void);
PyObject *gd_fast_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *gd_fast_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *gd_fast_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
int gd_fastpath_exec(void); /* interns the names that the fast paths look up */

#endif
