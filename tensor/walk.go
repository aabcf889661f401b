package tensor

import (
	"iter"
	"unsafe"
)

// All yields every element with its number, from 0 on, in row-major order, for any strides:
//
//	for i, x := range v.All() {
//		squares[i] = x * x
//	}
//
// The compiler makes simple loops of it, one for each run of elements at equal distances: a compact view, and each view of one
// axis, is a single run.
func (v Of[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		i := 0
		for w := v.walk(); w.runs > 0; w.next() {
			start, step := w.start, w.step
			for k := range w.length {
				if !yield(i, *(*T)(unsafe.Add(start, k*step))) {
					return
				}
				i++
			}
		}
	}
}

// Pointers yields the address of every element, in the order of All, for loops that change them:
//
//	for p := range v.Pointers() {
//		*p *= 2
//	}
func (v Mut[T]) Pointers() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for w := v.walk(); w.runs > 0; w.next() {
			start, step := w.start, w.step
			for k := range w.length {
				if !yield((*T)(unsafe.Add(start, k*step))) {
					return
				}
			}
		}
	}
}

// A walk visits the elements of a view run by run, in row-major order.
type walk struct {
	start  unsafe.Pointer // the first element of this run
	step   int            // from one element of a run to the next, in bytes
	length int            // the number of elements in a run
	runs   int            // the number of runs left, including this one

	first          unsafe.Pointer // the first element of all
	size           int            // of an element, in bytes
	offset         int64          // of this run from the first, in elements
	shape, strides []int64        // the axes outside the runs
	index          [inlineAxes]int64
	more           []int64 // the index, if the array is too small
}

// walk returns the walk over all elements.
func (v Of[T]) walk() walk {
	size := int(unsafe.Sizeof(*(*T)(nil)))
	w := walk{start: v.start, first: v.start, step: size, size: size, length: v.Len(), runs: min(v.Len(), 1)}
	if w.length > 0 && !v.Contiguous() {
		w.split(v.Shape(), v.strides())
	}
	return w
}

// split uses as many of the last axes as possible for the runs: those that one axis could replace.
func (w *walk) split(shape, strides []int64) {
	length, step, outer := int64(1), int64(0), len(shape)
	for ; outer > 0; outer-- {
		extent, stride := shape[outer-1], strides[outer-1]
		switch {
		case extent == 1:
			continue
		case length == 1:
			step = stride
		case stride != length*step:
			w.cut(shape[:outer], strides[:outer])
			w.length, w.step, w.runs = int(length), int(step)*w.size, w.length/int(length)
			return
		}
		length *= extent
	}
	w.step = int(step) * w.size // all are one run
}

// cut sets the axes outside the runs.
func (w *walk) cut(shape, strides []int64) {
	w.shape, w.strides = shape, strides
	if len(shape) > len(w.index) {
		w.more = make([]int64, len(shape))
	}
}

// next proceeds to the next run.
func (w *walk) next() {
	if w.runs--; w.runs == 0 {
		return
	}
	index := w.more
	if index == nil {
		index = w.index[:len(w.shape)]
	}
	w.offset, _ = advance(index, w.shape, w.strides, w.offset)
	w.start = unsafe.Add(w.first, w.offset*int64(w.size))
}
