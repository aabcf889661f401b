package tensor

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
)

// Of is a read-only view of elements of type T in memory that the host can access. It is small: pass it by value.
//
// A view of Go memory keeps that memory alive, as any Go pointer does. A view of other memory borrows it, with shape and
// strides: all three must outlive the view, unless the view holds their owner (Hold). Shape and strides must not change as long
// as a view exists, since its bounds checks rely on them.
type Of[T Element] struct{ span[T] }

// Mut is a view whose elements may also be set.
type Mut[T Element] struct{ Of[T] }

// View returns t as a view of elements T, if it meets the options. It checks t itself (Tensor.Validate) and does not allocate.
//
// It is a TypeError if t has another type or other lanes than T. It is a ValueError if t does not have the requested number of
// axes. It is a BufferError if the host cannot read the memory, if the elements are not aligned (R42), if lanes below a byte
// are stored differently than in T (see Flagged), for the other options, and for all that Validate rejects. Any strides within
// the address space are accepted, also negative, zero, or NULL for compact ones (R40).
func View[T Element](t *dlpack.Tensor, options ...Option) (Of[T], error) {
	v, err := viewOf[T](t, newRequest(options))
	if err == nil {
		err = reachable(t)
	}
	if err != nil {
		return Of[T]{}, err
	}
	return Of[T]{v}, nil
}

// MutView returns t as a writable view; see View. The caller must ensure that t may be written (R43): a Tensor does not contain
// that information, but its flags do. With Flagged, one that is ReadOnly is a BufferError.
func MutView[T Element](t *dlpack.Tensor, options ...Option) (Mut[T], error) {
	if err := newRequest(options).writable(); err != nil {
		return Mut[T]{}, err
	}
	v, err := View[T](t, options...)
	return Mut[T]{v}, err
}

// Hold returns v as a view that keeps owner reachable, as do all views made from it: for memory that Go does not manage, whose
// owner frees it when it is collected (runtime.AddCleanup). Results of Slice do not hold the owner. Hold allocates memory for a
// copy of shape and strides and the owner.
func (v Of[T]) Hold(owner any) Of[T] {
	v.span = v.hold(owner)
	return v
}

// Hold returns v as a view that keeps owner reachable; see Of.Hold.
func (v Mut[T]) Hold(owner any) Mut[T] {
	v.span = v.hold(owner)
	return v
}

// At returns one element. It panics with an IndexError if the number of indices is not that of the axes, or if one is outside
// its axis. For speed, loop over All or Pointers, or over the Slice of a compact view: they cost nothing per element.
func (v Of[T]) At(index ...int) T { return *v.at(offsetOf(v.Shape(), v.strides(), index)) }

// Set sets one element; see At.
func (v Mut[T]) Set(value T, index ...int) { *v.at(offsetOf(v.Shape(), v.strides(), index)) = value }

// offsetOf returns the offset of an element, and checks its index.
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

// The panics carry only numbers, so that At does not allocate.
func panicRank(got, want int) {
	panic(dlpack.Errorf(dlpack.KindIndex, "want %d indices, got %d", want, got))
}

func panicIndex(i, axis int, extent int64) {
	panic(dlpack.Errorf(dlpack.KindIndex, "axis %d: want an index below %d, got %d", axis, extent, i))
}

// Slice returns all elements in row-major order as a slice of the tensor's own memory, empty if there are none. A slice of an
// Of must not be written. It is for Contiguous views, which can be requested: by RowMajor of View, order=C of an exported
// function. It panics with a BufferError for others, which All, Pointers, At and Row can read.
func (v Of[T]) Slice() []T { return v.compact('C', false) }

// Slice is Slice of an Of. Writes to it change the tensor.
func (v Mut[T]) Slice() []T { return v.compact('C', true) }

// SliceF is Slice in column-major order, the first axis the fastest, as Fortran and BLAS store matrices. It is for views
// requested so: by ColumnMajor of View, order=F of an exported function. It panics with a BufferError for others.
func (v Of[T]) SliceF() []T { return v.compact('F', false) }

// SliceF is SliceF of an Of. Writes to it change the tensor.
func (v Mut[T]) SliceF() []T { return v.compact('F', true) }

// compact returns the memory of a view with consecutive elements in the given order: 'C', the order of all without strides, or
// 'F'.
func (v Of[T]) compact(order byte, writes bool) []T {
	if v.start == nil {
		return nil
	}
	if (order != 'C' || v.steps != nil) && !dlpack.IsContiguous(v.Shape(), v.strides(), order) {
		panicGaps(v.span, order, writes)
	}
	return unsafe.Slice((*T)(v.start), v.Len())
}

// panicGaps panics with the remedies for the function's author and for its caller, who may be different people.
func panicGaps[T Element](v span[T], order byte, writes bool) {
	method := "Slice: want elements one behind the other"
	if order == 'F' {
		method = "SliceF: want elements one behind the other in column-major order"
	}
	panic(dlpack.Errorf(dlpack.KindBuffer, "%s, got %v%v with strides %v; %s; "+
		"in Go, loop by All, Pointers or At, or declare order=%c or convert",
		method, DTypeOf[T](), slices.Clone(v.Shape()), slices.Clone(v.strides()), dlpack.OrderRemedy("x", order, v.NDim(), writes), order))
}

// Rows returns the number of rows along the last axis: 6 for shape (2, 3, 4). A view without axes is one row.
func (v Of[T]) Rows() int {
	rows := 1
	for _, extent := range v.Shape()[:max(v.NDim()-1, 0)] {
		rows *= int(extent)
	}
	return rows
}

// Row returns row i of Rows as a view of one axis, which has one element for a view without axes. Rows are counted in row-major
// order. It panics with an IndexError for any other i.
func (v Of[T]) Row(i int) Of[T] {
	if rows := v.Rows(); uint(i) >= uint(rows) {
		panic(dlpack.Errorf(dlpack.KindIndex, "want a row below %d, got %d", rows, i))
	}
	last := v.NDim() - 1
	if last < 0 {
		return v.alone()
	}
	if v.start != nil {
		v.start = unsafe.Pointer(v.at(v.rowOffset(int64(i))))
	}
	v.dims = &v.Shape()[last]
	if v.steps != nil {
		v.steps = &v.strides()[last]
	}
	v.axes = 1
	return v
}

// one is the extent of the row of a view without axes. Hold has another beside the owner.
var one = int64(1)

// alone returns a view without axes as one of one axis.
func (v Of[T]) alone() Of[T] {
	if !v.held {
		v.dims = &one
	}
	v.steps, v.axes = nil, 1
	return v
}

// Row returns row i as a writable view; see Of.Row.
func (v Mut[T]) Row(i int) Mut[T] { return Mut[T]{v.Of.Row(i)} }

// rowOffset returns the offset of the first element of row i.
func (v Of[T]) rowOffset(i int64) int64 {
	shape, strides := v.Shape(), v.strides()
	if strides == nil {
		return i * shape[len(shape)-1]
	}
	offset := int64(0)
	for axis := len(shape) - 2; axis > 0; axis-- {
		offset += i % shape[axis] * strides[axis]
		i /= shape[axis]
	}
	if len(shape) > 1 {
		offset += i * strides[0]
	}
	return offset
}
