/* The ABI between a library of Go functions and its host, as in the public header library/godlpack.h; a test compares the two.
   A call uses TVM's packed convention, with codes of our own from 65 on. */
#ifndef GODLPACK_PACKED_H
#define GODLPACK_PACKED_H

#include "records.h"

enum { GODLPACK_LIBRARY_VERSION = 1 };

typedef union {
  int64_t v_int64;
  double v_float64;
  void *v_handle;
  const char *v_str;
  DLDataType v_type;
  DLDevice v_device;
} TVMValue;

typedef struct {
  const char *data;
  size_t size;
} TVMByteArray;
typedef struct {
  int64_t n;
  TVMValue *values;
  int32_t *codes;
  uint64_t *flags;
} GDList;

enum { /* codes of values; library/godlpack.h explains each */
       GD_INT = 0,
       GD_FLOAT = 2,
       GD_NULL = 4,
       GD_DTYPE = 5,
       GD_DEVICE = 6,
       GD_TENSOR = 7,
       GD_CALLABLE = 10,
       GD_STR = 11,
       GD_BYTES = 12,
       GD_BOOL = 15,
       GD_TEXT = 65,
       GD_LIST = 66,
       GD_MANAGED = 67,
       GD_DEFAULT = 68,
       GD_ARGUMENT = 69,
       GD_TUPLE = 70,
       GD_UINT = 71,
       GD_HUGE = 72,
       GD_OBJECT = 73,
       GD_PART = 74
};
#define GD_CHECKED ((uint64_t)1 << 32) /* a flag of tensors, beside DLPack's: the record was validated */

typedef struct GDContext GDContext;
struct GDContext {
  uint32_t size;
  int32_t function;
  const uint64_t *flags;
  int (*allocate)(GDContext *, DLTensor *prototype, DLManagedTensorVersioned **out);
  int (*poll)(GDContext *);
  int (*invoke)(GDContext *, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);
  void (*fail)(GDContext *, const char *kind, const char *message, size_t message_size);
  uintptr_t thread;
  int (*current_stream)(GDContext *, DLDevice device, void **out);
  void *scratch;
  size_t scratch_size;
  uint64_t logged;
};

typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code,
                                     void *resource_handle);
typedef struct { const char *name, *declaration; } GDFunction;
typedef struct {
  uint32_t version, size;
  const char *name;
  int64_t count;
  const GDFunction *functions;
  TVMBackendPackedCFunc call;
  void (*retire)(void);
  int (*threads)(int n); /* size may end before it */
  const char *state, *classes;
  void (*drop)(int64_t number, int64_t count);
  const char *exceptions;
  uintptr_t (*address)(int64_t number);
} GDLibrary;

#endif
