package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// Assume makes v, a zero view of any kind, one of t, without a look at it. The caller has made sure, of this very record,
// that it is valid (Tensor.Validate), that its elements are T's and stored as T stores them, that they are aligned, that
// the memory has an address, that the host can reach it if v is an Of or a Mut, and that it may be written if v is a Mut or
// a DeviceMut. Of nil, v stays zero.
//
// View, MutView and their siblings are for everybody else: a mistake here reads and writes any memory.
func (v *span[T]) Assume(t *dlpack.Tensor) { v.start, v.shape, v.strides, v.device = parts(t) }

// parts returns what a view has of a record. It is apart so that Assume can be inlined: then the view is made where it is
// needed, and not copied there.
func parts(t *dlpack.Tensor) (start unsafe.Pointer, shape, strides []int64, device dlpack.Device) {
	if t == nil {
		return nil, nil, nil, dlpack.Device{}
	}
	start, shape = t.Start(), t.Dims()
	for _, extent := range shape {
		if extent == 0 {
			start = nil
		}
	}
	return start, shape, t.Steps(), t.Device
}
