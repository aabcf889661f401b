package dlpack

import "slices"

// The functions of this file use slices alone: shape and strides of the same length, strides in elements. Strides of nil mean
// compact row-major, as NULL does in a record (R40). All others require a shape that Elements accepts. Error texts are made
// from clones, so that no argument escapes to the heap.

// Elements returns the number of elements of a shape, 1 for an empty one. It is 0 if any extent is 0.
//
// A negative extent is a BufferError, and so is a product beyond int64 in which extents of 0 count as 1: then the results of
// CompactStrides are always right too (R17, R42).
func Elements(shape []int64) (int64, error) {
	product, empty := int64(1), false
	for i, extent := range shape {
		if extent < 0 {
			return 0, Errorf(KindBuffer, "shape[%d]: want 0 or more, got %d", i, extent)
		}
		if extent == 0 {
			empty = true
			continue
		}
		var ok bool
		if product, ok = mul(product, extent); !ok {
			return 0, Errorf(KindBuffer, "shape %v: want fewer than 2^63 elements, got more", slices.Clone(shape))
		}
	}
	if empty {
		return 0, nil
	}
	return product, nil
}

// CompactStrides sets dst to the row-major strides of shape, in elements: the last axis has 1, every other one the product of
// all extents after it. Extents of 0 count as 1.
func CompactStrides(dst, shape []int64) {
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		dst[i] = step
		step *= max(shape[i], 1)
	}
}

// IsContiguous reports whether the elements fill their memory without gaps in the given order: 'C' (row-major, the
// last axis is the fastest) or 'F' (column-major, the first is). Strides of axes with extent 1, and all strides of an
// array of size 0, never matter (numpy's rule; R40). Any order but 'F' is read as 'C'.
func IsContiguous(shape, strides []int64, order byte) bool {
	step, matches := int64(1), true
	for k := range shape {
		i := len(shape) - 1 - k
		if order == 'F' {
			i = k
		}
		if shape[i] == 0 {
			return true
		}
		if shape[i] != 1 && stride(shape, strides, i) != step {
			matches = false // no return yet: an extent of 0 may follow
		}
		step *= shape[i]
	}
	return matches
}

// stride returns the stride of axis i, computed for strides of nil.
func stride(shape, strides []int64, i int) int64 {
	if strides != nil {
		return strides[i]
	}
	step := int64(1)
	for _, extent := range shape[i+1:] {
		step *= max(extent, 1)
	}
	return step
}

// mul returns a*b for a >= 0, and whether it fits.
func mul(a, b int64) (product int64, ok bool) {
	product = a * b
	return product, a == 0 || product/a == b
}
