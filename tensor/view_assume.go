package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// Assume makes v, a zero view of any kind, a view of t, without checks. The caller has verified for this very record that it is
// valid (Tensor.Validate), that its elements are T's and stored as T stores them, that they are aligned, that the memory has an
// address, that the host can access it if v is an Of or a Mut, and that it may be written if v is a Mut or a DeviceMut. For
// nil, v stays zero.
//
// All other code uses View, MutView and the device views: a mistake here reads and writes arbitrary memory.
func (v *span[T]) Assume(t *dlpack.Tensor) {
	if t == nil {
		return
	}
	v.start, v.dims, v.steps, v.place = first(t), t.Shape, t.Strides, placeOf(int(t.NDim), t.Device)
}

// Assumed reports whether v is the result of Assume for t: the same elements, with t's own shape and strides.
func (v span[T]) Assumed(t *dlpack.Tensor) bool {
	return v.start == t.Start() && v.dims == t.Shape && v.steps == t.Strides && v.place == placeOf(int(t.NDim), t.Device) &&
		DTypeOf[T]() == t.DType
}

// first returns the address of the first element, nil if there is none.
func first(t *dlpack.Tensor) unsafe.Pointer {
	for i := range uintptr(t.NDim) {
		if *(*int64)(unsafe.Add(unsafe.Pointer(t.Shape), i*unsafe.Sizeof(*t.Shape))) == 0 {
			return nil
		}
	}
	return t.Start()
}
