/* godlpack.h: the C ABI of a library of packed functions, version 1.

   A library exports one symbol, godlpack_library, which returns a table: the functions' names, their declarations as
   JSON, and one entry point. Any host may open such a library and call its functions; it needs no Python. The host
   passes a GDContext with each call: function pointers for memory, stopping, callbacks and errors.

       const GDLibrary *(*open)(void) = dlsym(dlopen("./fastops.so", RTLD_NOW | RTLD_LOCAL), "godlpack_library");
       const GDLibrary *library = open();                        // refuse another version than GODLPACK_LIBRARY_VERSION
       GDContext context = {.size = sizeof context, .function = 0};
       TVMValue args[] = {{.v_float64 = 0.5}, {.v_handle = &x}, {.v_handle = &y}}, result;
       int codes[] = {GD_FLOAT, GD_TENSOR, GD_TENSOR}, result_code;
       int rc = library->call(args, codes, 3, &result, &result_code, &context);

   The convention is TVM's (TVMBackendPackedCFunc): a value of 8 bytes and a code for each argument.

   - Arguments are borrowed for the call: the library frees none of them and keeps no pointer. Their codes are trusted;
     the records of tensors are checked (DLPack's rules) unless GD_CHECKED marks them as checked by the host.
   - The call returns 0, with the result in *ret and its code in *ret_code, or -1 after context->fail, with GD_NULL in
     *ret_code and nothing to free. A panic in Go, also one due to a wild pointer, is a RuntimeError with Go's stack.
   - Results belong to the caller. Ints, floats, bools, null, dtypes and devices are values. GD_TEXT, GD_BYTES, GD_LIST
     and GD_TUPLE are one malloc'ed block each: free() the elements of lists first, then the list. A GD_PART lies in the
     block of its list. Managed tensors are freed by their deleter, which may be called in any thread, at any time.
     GD_ARGUMENT stands for an argument of this call, which is returned unchanged.
   - Calls may be made from any thread, many at a time.
   - The library's Go starts when the library is opened, and must not be used in a child after fork(). */
#ifndef GODLPACK_H
#define GODLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GODLPACK_LIBRARY_VERSION 1

/* DLPack's records, with the layout of DLPack 1.3, unless its own header or one that has them was included before. */
#if !defined(DLPACK_DLPACK_H_) && !defined(GODLPACK_RECORDS_H)
#define GODLPACK_RECORDS_H

typedef struct { uint32_t major, minor; } DLPackVersion;
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; /* in elements */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

/* Codes of values: the kind of each. 0 to 15 are TVM's; from 65 on they are ours, in the range that TVM leaves to others. */
enum {
  GD_INT = 0,       /* v_int64 */
  GD_FLOAT = 2,     /* v_float64 */
  GD_HANDLE = 3,    /* v_handle: a pointer, opaque except to its makers */
  GD_NULL = 4,      /* nothing: None */
  GD_DTYPE = 5,     /* v_type */
  GD_DEVICE = 6,    /* v_device */
  GD_TENSOR = 7,    /* v_handle: DLTensor * */
  GD_CALLABLE = 10, /* v_handle: the callable for context->invoke */
  GD_STR = 11,      /* v_str: UTF-8, ends at the first NUL */
  GD_BYTES = 12,    /* v_handle: TVMByteArray * */
  GD_BOOL = 15,     /* v_int64, 0 or 1 */
  GD_TEXT = 65,     /* v_handle: TVMByteArray *, UTF-8, may hold NUL */
  GD_LIST = 66,     /* v_handle: GDList * */
  GD_MANAGED = 67,  /* v_handle: DLManagedTensorVersioned *, which passes to the receiver */
  GD_DEFAULT = 68,  /* as an argument: not given, the declaration has a default */
  GD_ARGUMENT = 69, /* v_int64: the number of an argument, as a result or as an argument of context->invoke */
  GD_TUPLE = 70,    /* v_handle: GDList * */
  GD_UINT = 71,     /* v_int64 as a uint64_t: an integer of 2^63 to 2^64-1 */
  GD_HUGE = 72,     /* v_float64: the number nearest to an integer beyond 64 bits; for arguments only */
  GD_OBJECT = 73,   /* v_int64: the number of an object of this library; its class is number >> 32 */
  GD_PART = 74      /* v_handle: TVMByteArray *, UTF-8, in the block of the list around it; in results only */
};

#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
typedef union { /* 8 bytes; always write all 8 */
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

typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code,
                                     void *resource_handle);
#endif

/* Flags of a tensor argument: those of DLPack (1 read-only, 2 copied, 4 sub-byte lanes padded to bytes), and our own. */
#define GD_CHECKED (UINT64_C(1) << 32) /* the record obeys DLPack's rules: the host has checked it */

typedef struct {
  int64_t n;
  TVMValue *values;
  int32_t *codes;
  uint64_t *flags; /* of tensors among the elements; NULL: unknown */
} GDList;

/* GDContext is a call's resource_handle, valid during the call only. The host fills it. The library may set thread, scratch,
   scratch_size and logged, and only reads the rest. Every function pointer may be NULL: then memory comes from malloc (on cpu), nothing
   stops the function, no callback is possible, streams are default streams, and of an error only the -1 is known. */
typedef struct GDContext GDContext;
struct GDContext {
  uint32_t size;         /* sizeof(GDContext) of the host: later versions append */
  int32_t function;      /* index of the function in GDLibrary.functions; below 0, those that every library has */
  const uint64_t *flags; /* one for each argument, valid for tensors; NULL: unknown */

  /* Allocates an output in the caller's framework. The prototype has ndim, shape, dtype and device; data and strides are NULL.
     *out is compact and row-major, writable, and owned by the library until it is returned as a result. Called in any thread.
     -1 after an error that the host keeps. */
  int (*allocate)(GDContext *, DLTensor *prototype, DLManagedTensorVersioned **out);

  /* Nonzero: stop, the host has an exception pending. Called in the calling thread only, about every 10 ms by functions that
     poll. */
  int (*poll)(GDContext *);

  /* Calls a callable. The arguments may have all codes of results, in the same kind of memory: tensors and blocks pass to the
     host, also on error. What *ret refers to is borrowed until the library's function returns. Called in the calling thread
     only. -1: it raised, and the host keeps the exception. */
  int (*invoke)(GDContext *, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code);

  /* Reports the error of a call that will return -1. Kind is the name of a Python exception: "TypeError", "ValueError",
     "BufferError", "RuntimeError", "MemoryError", "IndexError"; a host treats names that it does not support as "RuntimeError".
     Or it is a JSON object, which begins with "{", that describes an exception: one of GDLibrary.exceptions, or one with a number
     of the operating system, attributes or a cause (package kernel, type raised).
     The message is UTF-8, of that size, without a NUL at its end. Called at most once, right before the return; an exception
     that the host itself keeps takes precedence. */
  void (*fail)(GDContext *, const char *kind, const char *message, size_t message_size);

  /* The calling thread, which the library records here. */
  uintptr_t thread;

  /* Reads the stream that the caller works on, on a device: for cuda a CUstream, NULL is the default stream. Work queued there
     comes after the work that made the arguments, and before the caller's next work: no wait is necessary, so a call may be
     captured in a graph. Called in the calling thread only, since each thread has its own current streams. -1 after an error
     that the host keeps. Hosts whose size ends before this entry work on default streams. */
  int (*current_stream)(GDContext *, DLDevice device, void **out);

  /* Memory for small outputs on cpu, for this call only: scratch_size bytes from scratch on, aligned to 64. Instead of calling
     allocate, which takes longer, a library may put a managed tensor there: the record without a deleter, its shape and
     strides, its elements, compact and row-major. It returns the tensor as any other; the host copies it. The library must not
     use the same bytes for two tensors. It may advance scratch and reduce scratch_size by what it has used, rounded up to 64,
     or leave both entries and count by itself. Libraries in Go (package library) do the latter, since many goroutines take
     memory at once. The host does not read the entries after the call has begun. NULL: there is none, as for hosts whose size
     ends before these entries. */
  void *scratch;
  size_t scratch_size;

  /* The library sets this when it returns, if the host has not handled all of its log records: the number of the last one. The
     host sets it to 0 before the call. A host takes them by two functions, which every library has: number -1 starts to keep the
     records from a level of slog on, and writes a byte to wake, a file that does not block, when records wait for longer than a
     call; wake -1 ends it. Number -2 returns the next records, at most most, as JSON (package internal/logs); the host has
     handled those up to a number.
         start_logs(level int, wake int)
         take_logs(handled int, most int) str
     Number -3 returns what the calls have reported of their progress, as JSON (package kernel, ProgressFunc), and says whether
     they are to report:
         progress(show bool) str
   */
  uint64_t logged;
};

typedef struct {
  const char *name;        /* a Python identifier */
  const char *declaration; /* JSON: parameters, results, documentation; see package kernel, type Func */
} GDFunction;

typedef struct {
  uint32_t version; /* GODLPACK_LIBRARY_VERSION; another one means another layout */
  uint32_t size;    /* sizeof(GDLibrary) of the library: later versions append */
  const char *name; /* of the library: the module path of its Go package */
  int64_t count;
  const GDFunction *functions;
  TVMBackendPackedCFunc call;

  /* Called when the host gives the library up, in the middle of calls that it has left: no thread enters it again, not even one
     that ends. NULL: threads that end may hang. */
  void (*retire)(void);

  /* Sets the number of threads that the library's Go may compute in, at once and from now on; 0: the number of processors of
     this process, which is the initial one unless the process began with GOMAXPROCS in its environment; -1: no change. Returns
     the current number. Called in any thread. Libraries whose size ends before this entry choose by themselves. */
  int (*threads)(int n);
  /* The state that a process forked after a call does not have: JSON as package kernel's type State, NULL for a library whose
     functions keep no state. Libraries whose size ends before this entry do not declare it. */
  const char *state;
  /* The classes, a JSON list of type Class of package kernel; NULL if there are none. A function belongs to a class by its
     declaration. */
  const char *classes;
  /* The host no longer has an object, which it has received count times, as a result or as an argument of context->invoke.
     The library keeps an object for as long as the host has it, and gives the same object the same number. Called in any
     thread, at any time; it does not enter Go, and does not wait. Must not be called after retire, or in a child after
     fork(). */
  void (*drop)(int64_t number, int64_t count);
  /* The exported errors, a JSON list of type Exception of package kernel; NULL if there are none. */
  const char *exceptions;
  /* The address of an object that the host has, 0 if it has none of this number. It does not change while the host has the
     object. The host may read the numbers whose place a getter's declaration names; Go may write them meanwhile. Called in any
     thread. */
  uintptr_t (*address)(int64_t number);
} GDLibrary;

/* Returns the table, the same at each call, never freed. The first call waits until the library's Go runs. NULL: no memory. */
const GDLibrary *godlpack_library(void);

#ifdef __cplusplus
}
#endif
#endif
