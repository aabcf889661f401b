package elementwise

import (
	"sync/atomic"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// pieces runs work on all of dst, and of src, of the same shape, if there is one: divided along the longest axis, in
// parallel goroutines. Memory that cannot be divided gets one call: elements below a byte share bytes, and overlapping
// memory must be read before it is written. It returns the first error.
func pieces(ctx *kernel.Ctx, dst Place, src *Place, work func(dst, src *dlpack.Tensor) error) error {
	axis := longest(dst.record.ShapeSlice())
	if n, err := dst.record.Size(); err != nil || n < few || !separate(dst, src) {
		var from *dlpack.Tensor
		if src != nil {
			from = src.record
		}
		return work(dst.record, from)
	}
	var failed atomic.Pointer[error]
	kernel.Parallel(ctx, int(dst.record.ShapeSlice()[axis]), func(lo, hi int) {
		to, from := cut(dst, axis, lo, hi), (*dlpack.Tensor)(nil)
		if src != nil {
			from = cut(*src, axis, lo, hi)
		}
		if err := work(to, from); err != nil {
			failed.CompareAndSwap(nil, &err)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// few is the number of elements below which the work is not divided.
const few = 1 << 14

// longest returns the first of the axes with the most elements.
func longest(shape []int64) int {
	axis := 0
	for i, n := range shape {
		if n > shape[axis] {
			axis = i
		}
	}
	return axis
}

// separate reports whether no piece of dst shares memory with another one, or with src.
func separate(dst Place, src *Place) bool {
	d := dst.record
	if dst.bits()%8 != 0 || dlpack.SelfOverlap(d.ShapeSlice(), d.StridesSlice()) {
		return false
	}
	return src == nil || (src.bits()%8 == 0 && !dlpack.Overlap(d, src.record) && len(src.record.ShapeSlice()) == len(d.ShapeSlice()))
}

// bits returns the distance between neighbouring elements, in bits.
func (p Place) bits() int64 {
	return int64(p.record.DType.BitSize(p.padded()))
}

// cut returns the part of p from lo up to but not including hi along an axis.
func cut(p Place, axis, lo, hi int) *dlpack.Tensor {
	part := *p.record
	shape := append([]int64(nil), p.record.ShapeSlice()...)
	shape[axis] = int64(hi - lo)
	strides := append([]int64(nil), p.record.StridesSlice()...)
	if len(strides) == 0 {
		strides = make([]int64, len(shape))
		dlpack.CompactStrides(strides, p.record.ShapeSlice())
	}
	part.Shape, part.Strides = &shape[0], &strides[0]
	part.Data, part.ByteOffset = unsafe.Add(part.Start(), int64(lo)*strides[axis]*(p.bits()/8)), 0
	return &part
}
