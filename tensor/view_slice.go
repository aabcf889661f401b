package tensor

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
)

// FromSlice returns data as a view of that shape, in row-major order: FromSlice(data, 2, 3). Pass an array as arr[:]. The view
// keeps shape; do not change its elements. It does not allocate.
//
// It is a ValueError if shape does not have exactly len(data) elements, or has a negative extent or more than 64 axes.
func FromSlice[T Element](data []T, shape ...int64) (Mut[T], error) {
	n, err := checkShape(shape)
	if err != nil {
		return Mut[T]{}, err
	}
	if n != int64(len(data)) {
		return Mut[T]{}, dlpack.Errorf(dlpack.KindValue, "shape %v: want %d elements, as the slice has, got %d",
			slices.Clone(shape), len(data), n)
	}
	return sliceView(data, 0, shape, nil), nil
}

// FromStrided returns elements of data as a view of any shape and strides. Index 0 of all axes is data[offset]; strides are in
// elements, of any sign, and nil for row-major ones. The view keeps shape and strides; do not change their elements. It does
// not allocate.
//
// It is a ValueError if an index could reach outside data, if shape and strides differ in length, and for shapes as in
// FromSlice.
func FromStrided[T Element](data []T, offset int, shape, strides []int64) (Mut[T], error) {
	n, err := checkShape(shape)
	if err != nil {
		return Mut[T]{}, err
	}
	if err := checkStrides(shape, strides); err != nil {
		return Mut[T]{}, err
	}
	if offset < 0 || offset > len(data) {
		return Mut[T]{}, dlpack.Errorf(dlpack.KindValue, "offset: want 0 to %d, got %d", len(data), offset)
	}
	lo, hi, err := dlpack.Extent(shape, strides)
	if err != nil {
		return Mut[T]{}, asValue(err)
	}
	if n > 0 && (lo < -int64(offset) || hi >= int64(len(data)-offset)) {
		return Mut[T]{}, outside(len(data), shape, strides, int64(offset)+lo, uint64(offset)+uint64(hi))
	}
	return sliceView(data, offset, shape, strides), nil
}

// FromBools returns Go's booleans as a view; see FromSlice. It is read-only because a Mut[Bool8] could store a byte that
// Go's bool must never hold.
func FromBools(data []bool, shape ...int64) (Of[Bool8], error) {
	v, err := FromSlice(unsafe.Slice((*Bool8)(unsafe.Pointer(unsafe.SliceData(data))), len(data)), shape...)
	return v.Of, err
}

// sliceView makes a view whose bounds were checked.
func sliceView[T Element](data []T, offset int, shape, strides []int64) Mut[T] {
	v := spanOf[T](nil, shape, strides, dlpack.Device{Type: dlpack.CPU})
	if !slices.Contains(shape, 0) {
		v.start = unsafe.Pointer(&data[offset])
	}
	return Mut[T]{Of[T]{v}}
}

// checkShape returns the number of elements.
func checkShape(shape []int64) (int64, error) {
	if len(shape) > dlpack.MaxNDim {
		return 0, dlpack.Errorf(dlpack.KindValue, "shape: want at most %d axes, got %d", dlpack.MaxNDim, len(shape))
	}
	n, err := dlpack.Elements(shape)
	return n, asValue(err)
}

func checkStrides(shape, strides []int64) error {
	if strides != nil && len(strides) != len(shape) {
		return dlpack.Errorf(dlpack.KindValue, "strides: want %d, one for each axis, got %d", len(shape), len(strides))
	}
	return nil
}

func outside(n int, shape, strides []int64, first int64, last uint64) error {
	return dlpack.Errorf(dlpack.KindValue, "shape %v with strides %v: want elements of a slice of %d, got %d to %d",
		slices.Clone(shape), slices.Clone(strides), n, first, last)
}

// asValue converts an error about a foreign tensor to one about an argument.
func asValue(err error) error {
	if err == nil {
		return nil
	}
	return dlpack.Errorf(dlpack.KindValue, "%s", dlpack.MessageOf(err))
}
