package tensor

import "godlpack/dlpack"

// Assume returns t as a view without a look at it. The caller has made sure, of this very record, that it is valid
// (Tensor.Validate), that its elements are T's and stored as T stores them, that they are aligned, that the memory has an
// address, and that its elements may be written if they will be. OnDevice makes a view of it for memory that the host
// cannot reach, which must happen before anything else then. Of nil it is the zero view.
//
// View and MutView are for everybody else: a mistake here reads and writes any memory.
func Assume[T Element](t *dlpack.Tensor) (v Mut[T]) {
	if t == nil {
		return v
	}
	v.start, v.device = t.Start(), t.Device
	v.shape, v.strides = t.Dims(), t.Steps()
	for _, extent := range v.shape {
		if extent == 0 {
			v.start = nil
		}
	}
	return v
}
