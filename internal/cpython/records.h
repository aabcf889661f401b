/* DLPack's records in C, with the layout of the DLPack 1.3 header. Package dlpack has the same records for Go. Both assert
   their layout at compile time, and a test compares the shipped module with the official headers in other packages. */
#ifndef GODLPACK_RECORDS_H
#define GODLPACK_RECORDS_H

#include <stddef.h>
#include <stdint.h>

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

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

typedef struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

typedef void (*DLPackSetError)(void *error_ctx, const char *kind, const char *message);

typedef struct {
  DLPackExchangeAPIHeader header;
  int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                                  DLPackSetError set_error);
  int (*managed_tensor_from_py_object_no_sync)(void *py_object, DLManagedTensorVersioned **out);
  int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **out_py_object);
  int (*dltensor_from_py_object_no_sync)(void *py_object, DLTensor *out);
  int (*current_work_stream)(int32_t device_type, int32_t device_id, void **out_current_stream);
} DLPackExchangeAPI;

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3, DLPACK_MAX_NDIM = 64 };
enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2, DLPACK_SUBBYTE_PADDED = 4 };
enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLTPUHost = 20
};
enum { kDLFloat = 2, kDLComplex = 5, kDLFloat6_e2m3fn = 15, kDLFloat4_e2m1fn = 17, kDLBcomplex = 18 };

#define GD_FREEZE(T, size) _Static_assert(sizeof(T) == (size), #T " does not have DLPack's size")
#define GD_FREEZE_FIELD(T, field, offset) \
  _Static_assert(offsetof(T, field) == (offset), #T "." #field " does not have DLPack's offset")
GD_FREEZE(DLTensor, 48);
GD_FREEZE_FIELD(DLTensor, ndim, 16);
GD_FREEZE_FIELD(DLTensor, dtype, 20);
GD_FREEZE_FIELD(DLTensor, byte_offset, 40);
GD_FREEZE(DLManagedTensor, 64);
GD_FREEZE_FIELD(DLManagedTensor, deleter, 56);
GD_FREEZE(DLManagedTensorVersioned, 80);
GD_FREEZE_FIELD(DLManagedTensorVersioned, flags, 24);
GD_FREEZE_FIELD(DLManagedTensorVersioned, dl_tensor, 32);
GD_FREEZE(DLPackExchangeAPI, 56);
GD_FREEZE_FIELD(DLPackExchangeAPI, managed_tensor_allocator, 16);
GD_FREEZE_FIELD(DLPackExchangeAPI, current_work_stream, 48);

#endif
