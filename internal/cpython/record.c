/* The meaning of a record, as far as the fast paths need it: elements, bytes, strides. */
#include <string.h>

#include "core.h"

/* gd_element_count returns the number of elements of a checked record.
   GIL: not needed.
   Threads: any. */
int64_t gd_element_count(const DLTensor *t) {
  int64_t count = 1;
  for (int i = 0; i < t->ndim; i++) count *= t->shape[i];
  return count;
}

/* gd_item_bits returns the distance of neighbouring elements in bits: the rule of dlpack.DType.BitSize (R21, R22), here for the
   allocator and the attributes; a test compares the two.
   GIL: not needed.
   Threads: any. */
int64_t gd_item_bits(DLDataType d, uint64_t flags) {
  return (int64_t)(flags & DLPACK_SUBBYTE_PADDED ? (d.bits + 7) & ~7 : d.bits) * d.lanes;
}

/* gd_byte_count returns the number of bytes that compact elements take, of a checked record.
   GIL: not needed.
   Threads: any. */
int64_t gd_byte_count(const DLTensor *t, uint64_t flags) {
  int64_t bits = gd_item_bits(t->dtype, flags), count = gd_element_count(t);
  return bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
}

/* The numbers of bytes that a dtype code may have, as a bit set; Go checks less common ones. */
static const uint32_t plain_bytes[kDLFloat4_e2m1fn + 1] = {
    [0] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
    [1] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
    [2] = 1 << 2 | 1 << 4 | 1 << 8,
    [4] = 1 << 2,
    [5] = 1 << 4 | 1 << 8 | 1 << 16,
    [6] = 1 << 1,
    [7] = 1 << 1,
    [8] = 1 << 1,
    [9] = 1 << 1,
    [10] = 1 << 1,
    [11] = 1 << 1,
    [12] = 1 << 1,
    [13] = 1 << 1,
    [14] = 1 << 1,
};

static bool plain_dtype(DLDataType d) {
  return d.lanes == 1 && d.code < kDLFloat4_e2m1fn && d.bits % 8 == 0 && d.bits <= 128 &&
         plain_bytes[d.code] >> (d.bits / 8) & 1;
}

#define FAR ((int64_t)1 << 56) /* elements of at most 16 bytes that are farther apart are not plain; 64 such sums fit */
#define ADDRESSES ((uintptr_t)1 << 62)

/* Whether count elements, which reach that far before and behind the first, all have addresses. */
static bool addressable(const DLTensor *t, int64_t count, int64_t below, int64_t above) {
  uintptr_t size = t->dtype.bits / 8, start = (uintptr_t)t->data;
  if (!gd_is_address(t->data) || start > ADDRESSES || t->byte_offset > ADDRESSES || count > FAR) return false;
  start += t->byte_offset;
  return above <= FAR && below >= -FAR && (uintptr_t)-below * size <= start &&
         start + (uintptr_t)(above + 1) * size <= ADDRESSES;
}

/* gd_fast_path_ok's last check, for elements that are not compact. */
static bool plain_strides(const DLTensor *t) {
  bool empty = false;
  int64_t count = 1, below = 0, above = 0, span; /* how far elements reach, in elements; extents of 0 count as 1 */
  for (int i = 0; i < t->ndim; i++) {
    int64_t n = t->shape[i] + (t->shape[i] == 0);
    if (n < 0 || __builtin_mul_overflow(count, n, &count)) return false;
    empty |= t->shape[i] == 0;
    if (__builtin_mul_overflow(n - 1, t->strides[i], &span) || span < -FAR || span > FAR) return false;
    below += span < 0 ? span : 0;
    above += span > 0 ? span : 0;
  }
  return (empty && t->data == NULL) || addressable(t, count, below, above);
}

/* gd_fast_path_ok reports whether a record needs no second look: R39-R42 hold, and so does everything that
   dlpack.Tensor.Validate would check. False only means that Go must check it.
   GIL: not needed.
   Threads: any. */
bool gd_fast_path_ok(const DLTensor *t) {
  if ((uint32_t)t->ndim > DLPACK_MAX_NDIM || !plain_dtype(t->dtype)) return false;
  if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDA) return false;
  if (t->ndim > 0 && (!gd_is_address(t->shape) || !gd_is_address(t->strides))) return false;
  int64_t count = gd_compact_count(t);
  return count > 0 ? addressable(t, count, 0, count - 1) : plain_strides(t);
}
