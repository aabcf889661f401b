package tensor

import (
	"iter"

	"godlpack/dlpack"
)

// Offsets yields the offset of every element from the first, in elements, in row-major order: the last index varies
// fastest. Strides of nil mean compact row-major (R40).
func Offsets(shape, strides []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if n, err := dlpack.Elements(shape); n == 0 || err != nil {
			return
		}
		if strides == nil {
			strides = make([]int64, len(shape))
			dlpack.CompactStrides(strides, shape)
		}
		index := make([]int64, len(shape))
		for offset, more := int64(0), true; more; {
			if !yield(offset) {
				return
			}
			offset, more = advance(index, shape, strides, offset)
		}
	}
}

// advance moves index to its successor and returns the offset there; more is false after the last one.
func advance(index, shape, strides []int64, offset int64) (next int64, more bool) {
	for i := len(shape) - 1; i >= 0; i-- {
		offset += strides[i]
		if index[i]++; index[i] < shape[i] {
			return offset, true
		}
		offset -= shape[i] * strides[i]
		index[i] = 0
	}
	return offset, false
}

// Values yields every element of t in row-major order. See Load.
func Values(t *dlpack.Tensor, padded bool) iter.Seq[Scalar] {
	return func(yield func(Scalar) bool) {
		for offset := range Offsets(t.ShapeSlice(), t.StridesSlice()) {
			if !yield(Load(t, padded, offset)) {
				return
			}
		}
	}
}

// strides returns the strides of t, computed if it has none.
func strides(t *dlpack.Tensor) []int64 {
	if given := t.StridesSlice(); given != nil {
		return given
	}
	compact := make([]int64, len(t.ShapeSlice()))
	dlpack.CompactStrides(compact, t.ShapeSlice())
	return compact
}
