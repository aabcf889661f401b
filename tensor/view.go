package tensor

import (
	"fmt"
	"unsafe"

	"godlpack/dlpack"
)

// Bool8 is an element of type bool: a byte that stands for true unless it is 0. Values other than 0 and 1 do arrive
// (R45), and Go's bool must never hold those.
type Bool8 uint8

// Bool reports whether b is not 0.
func (b Bool8) Bool() bool { return b != 0 }

// Element is any Go type that has the memory of a DLPack type. The packed ones (int4, fp6, fp4) have none: Load and
// Store serve those.
type Element interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128 | Bool8 |
		Float16 | BFloat16 | Float8E3M4 | Float8E4M3 | Float8E4M3B11FNUZ | Float8E4M3FN | Float8E4M3FNUZ | Float8E5M2 |
		Float8E5M2FNUZ | Float8E8M0FNU
}

// DTypeOf returns the DLPack type of T.
func DTypeOf[T Element]() dlpack.DType {
	var zero T
	switch any(zero).(type) {
	case int8:
		return dlpack.Int8
	case int16:
		return dlpack.Int16
	case int32:
		return dlpack.Int32
	case int64:
		return dlpack.Int64
	case uint8:
		return dlpack.UInt8
	case uint16:
		return dlpack.UInt16
	case uint32:
		return dlpack.UInt32
	case uint64:
		return dlpack.UInt64
	case float32:
		return dlpack.Float32
	case float64:
		return dlpack.Float64
	case complex64:
		return dlpack.Complex64
	case complex128:
		return dlpack.Complex128
	case Bool8:
		return dlpack.Bool
	}
	return smallFloatDType(any(zero))
}

func smallFloatDType(zero any) dlpack.DType {
	switch zero.(type) {
	case Float16:
		return dlpack.Float16
	case BFloat16:
		return dlpack.BFloat16
	case Float8E3M4:
		return dlpack.Float8E3M4
	case Float8E4M3:
		return dlpack.Float8E4M3
	case Float8E4M3B11FNUZ:
		return dlpack.Float8E4M3B11FNUZ
	case Float8E4M3FN:
		return dlpack.Float8E4M3FN
	case Float8E4M3FNUZ:
		return dlpack.Float8E4M3FNUZ
	case Float8E5M2:
		return dlpack.Float8E5M2
	case Float8E5M2FNUZ:
		return dlpack.Float8E5M2FNUZ
	case Float8E8M0FNU:
		return dlpack.Float8E8M0FNU
	}
	panic(fmt.Sprintf("tensor: no dtype for %T", zero)) // Element and the two lists differ: a mistake in this file
}

// Of is a read-only view of a tensor with elements of type T. It borrows the tensor's memory, shape and strides: all
// three must outlive it. It is small: pass it by value.
type Of[T Element] struct {
	start   unsafe.Pointer
	shape   []int64
	strides []int64 // in elements; nil means compact row-major
	size    int
}

// Mut is a view whose elements may also be set.
type Mut[T Element] struct{ Of[T] }

// View returns t as a view of elements T. It checks t itself (Tensor.Validate) and does not allocate.
//
// It is a TypeError if t has another type than T. It is a BufferError if the host cannot read the memory, if the
// elements are not aligned (R42), and for whatever Validate refuses.
func View[T Element](t *dlpack.Tensor) (Of[T], error) {
	if err := t.Validate(); err != nil {
		return Of[T]{}, err
	}
	if want := DTypeOf[T](); t.DType != want {
		return Of[T]{}, dlpack.Errorf(dlpack.KindType, "want a tensor of %v, got %v", want, t.DType)
	}
	if err := reachable(t); err != nil {
		return Of[T]{}, err
	}
	if !t.Aligned() {
		return Of[T]{}, dlpack.Errorf(dlpack.KindBuffer, "want %v aligned to %d bytes, got address %#x",
			t.DType, t.DType.Align(), uintptr(t.Start()))
	}
	size, err := t.Size()
	return Of[T]{start: t.Start(), shape: t.Dims(), strides: t.Steps(), size: int(size)}, err
}

// MutView returns t as a view that can be written; see View. Whether t may be written at all (R43) the caller knows:
// a Tensor does not say.
func MutView[T Element](t *dlpack.Tensor) (Mut[T], error) {
	v, err := View[T](t)
	return Mut[T]{v}, err
}

// Shape returns the extents. The slice is the tensor's own: do not change it.
func (v Of[T]) Shape() []int64 { return v.shape }

// NDim returns the number of axes.
func (v Of[T]) NDim() int { return len(v.shape) }

// Len returns the number of elements.
func (v Of[T]) Len() int { return v.size }

// Stride returns the distance between neighbours along axis i, in elements.
func (v Of[T]) Stride(i int) int64 {
	if v.strides != nil {
		return v.strides[i]
	}
	step := int64(1)
	for _, extent := range v.shape[i+1:] {
		step *= max(extent, 1)
	}
	return step
}

// At returns one element. Where speed counts, take whole rows: Slice costs nothing per element. It panics if there is not one index for each axis, or if one lies outside its axis.
func (v Of[T]) At(index ...int) T { return *v.at(offsetOf(v.shape, v.strides, index)) }

// Set sets one element; see At.
func (v Mut[T]) Set(value T, index ...int) { *v.at(offsetOf(v.shape, v.strides, index)) = value }

func (v Of[T]) at(offset int64) *T {
	var zero T
	return (*T)(unsafe.Add(v.start, offset*int64(unsafe.Sizeof(zero))))
}

// offsetOf returns the offset of an element, after checking its index.
func offsetOf(shape, strides []int64, index []int) int64 {
	if len(index) != len(shape) {
		panicRank(len(index), len(shape))
	}
	offset := int64(0)
	for axis, i := range index {
		extent := shape[axis]
		if uint64(i) >= uint64(extent) {
			panicIndex(i, axis, extent)
		}
		if len(strides) != 0 {
			offset += int64(i) * strides[axis]
		} else {
			offset = offset*extent + int64(i)
		}
	}
	return offset
}

// The panics carry numbers alone, so that At needs no memory.
func panicRank(got, want int) {
	panic(dlpack.Errorf(dlpack.KindIndex, "want %d indices, got %d", want, got))
}

func panicIndex(i, axis int, extent int64) {
	panic(dlpack.Errorf(dlpack.KindIndex, "axis %d: want an index below %d, got %d", axis, extent, i))
}

// Contiguous reports whether the elements lie one behind the other in row-major order, so that Slice works.
func (v Of[T]) Contiguous() bool { return dlpack.IsContiguous(v.shape, v.strides, 'C') }

// Slice returns all elements in row-major order as a slice of the tensor's own memory, and nil unless Contiguous and
// not empty. A slice of an Of must not be written.
func (v Of[T]) Slice() []T {
	if v.size == 0 || !v.Contiguous() {
		return nil
	}
	return unsafe.Slice((*T)(v.start), v.size)
}

// Rows returns how many rows there are along the last axis: 6 for shape (2, 3, 4). A view without axes is one row.
func (v Of[T]) Rows() int {
	rows := 1
	for _, extent := range v.shape[:max(len(v.shape)-1, 0)] {
		rows *= int(extent)
	}
	return rows
}

// Row returns row i of Rows as a view of one axis. Rows are counted in row-major order. It panics if there is none.
func (v Of[T]) Row(i int) Of[T] {
	if rows := v.Rows(); uint(i) >= uint(rows) {
		panic(dlpack.Errorf(dlpack.KindIndex, "want a row below %d, got %d", rows, i))
	}
	last := len(v.shape) - 1
	if last < 0 {
		return v
	}
	row := Of[T]{start: v.start, shape: v.shape[last:], size: int(v.shape[last])}
	if v.strides != nil {
		row.strides = v.strides[last:]
	}
	if row.size > 0 {
		row.start = unsafe.Pointer(v.at(v.rowOffset(int64(i))))
	}
	return row
}

// Row returns row i as a view that can be written; see Of.Row.
func (v Mut[T]) Row(i int) Mut[T] { return Mut[T]{v.Of.Row(i)} }

// rowOffset returns the offset of the first element of row i.
func (v Of[T]) rowOffset(i int64) int64 {
	offset := int64(0)
	for axis := len(v.shape) - 2; axis >= 0; axis-- {
		offset += i % v.shape[axis] * v.Stride(axis)
		i /= v.shape[axis]
	}
	return offset
}
