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
func (v *span[T]) Assume(t *dlpack.Tensor) {
	if t == nil {
		return
	}
	v.start, v.dims, v.steps, v.place = first(t), t.Shape, t.Strides, placeOf(int(t.NDim), t.Device)
}

// Assumed reports whether v is what Assume makes of t: the same elements, by the very numbers that t has for them.
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
