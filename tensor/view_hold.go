package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// A hold is an owner with the numbers of a view, which thereby keeps it: Go keeps all of what a pointer leads into.
type hold struct {
	owner any
	axes  [2 * inlineAxes]int64
}

// A bigHold is one for views of more axes.
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
	copy(axes, v.Shape())
	v.dims = unsafe.SliceData(axes)
	if v.steps != nil {
		copy(axes[n:], v.strides())
		v.steps = &axes[n]
	}
	return v
}
