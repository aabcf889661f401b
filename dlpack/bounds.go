package dlpack

import "slices"

// Extent returns the lowest and the highest offset, in elements from the start and both inclusive, that an index can reach.
// Negative strides make lo negative. For size 0, lo is 0 and hi is -1. An offset or a span (hi - lo + 1) beyond int64 is a
// BufferError (R17).
func Extent(shape, strides []int64) (lo, hi int64, err error) {
	n, err := Elements(shape)
	if err != nil || n == 0 {
		return 0, -1, err
	}
	if strides == nil {
		return 0, n - 1, nil
	}
	for i, extent := range shape {
		reach, fits := mul(extent-1, strides[i])
		if reach < 0 {
			lo += reach
			fits = fits && lo < 0
		} else {
			hi += reach
			fits = fits && hi >= 0
		}
		if !fits || hi-lo+1 <= 0 {
			return 0, -1, Errorf(KindBuffer, "shape %v with strides %v: want a span of fewer than 2^63 elements, got more",
				slices.Clone(shape), slices.Clone(strides))
		}
	}
	return lo, hi, nil
}

// ByteExtent returns the range of bytes, relative to Start, that the elements of t occupy: from lo, which is at most 0, up to
// but not including hi. For size 0 it is the empty range 0, 0. The BufferErrors are those of Extent, and a span of 2^63 bits or
// more.
func (t *Tensor) ByteExtent(padded bool) (lo, hi int64, err error) {
	lo, hi, err = Extent(t.ShapeSlice(), t.StridesSlice())
	if err != nil {
		return 0, 0, err
	}
	step := int64(t.DType.BitSize(padded))
	low, fitsLow := mul(step, lo)
	span, fits := mul(step, hi-lo+1)
	if high := low + span; fitsLow && fits && high <= high+7 {
		return low >> 3, (high + 7) >> 3, nil // both shifts round away from the elements, also below 0
	}
	return 0, 0, Errorf(KindBuffer, "span: want fewer than 2^63 bits, got %d elements of %v", hi-lo+1, t.DType)
}
