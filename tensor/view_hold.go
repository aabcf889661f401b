package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// A hold is an owner with a view's shape and strides, which keep it alive: Go keeps the whole object that a pointer leads into.
type hold struct {
	owner any
	axes  [2 * inlineAxes]int64
}

// A bigHold is a hold for views of more axes.
type bigHold struct {
	owner any
	axes  [2 * dlpack.MaxNDim]int64
}

// hold returns v with shape and strides beside the owner.
func (v span[T]) hold(owner any) span[T] {
	n := v.NDim()
	var axes []int64
	if n <= inlineAxes {
		h := &hold{owner: owner}
		axes = h.axes[:]
	} else {
		h := &bigHold{owner: owner}
		axes = h.axes[:]
	}
	axes[0] = 1 // for the row of a view without axes
	copy(axes, v.Shape())
	v.dims, v.held = unsafe.SliceData(axes), true
	if v.steps != nil {
		copy(axes[n:], v.strides())
		v.steps = &axes[n]
	}
	return v
}
