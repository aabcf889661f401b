package cuda

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// View returns the first elements of memory as a tensor of a type and a shape, in row-major order, which keeps m reachable;
// Close still frees the memory. A shape larger than the memory is a ValueError.
func View[T tensor.Element](m *Memory, shape ...int64) (tensor.DeviceMut[T], error) {
	count, err := dlpack.Elements(shape)
	if err != nil {
		return tensor.DeviceMut[T]{}, dlpack.Errorf(dlpack.KindValue, "%s", dlpack.MessageOf(err))
	}
	if size := int64(unsafe.Sizeof(*new(T))); count > int64(m.size)/size {
		return tensor.DeviceMut[T]{}, dlpack.Errorf(dlpack.KindValue, "shape %v of %d bytes an element: want at most %d bytes", shape, size, m.size)
	}
	v, err := tensor.FromPointer[T](m.start, m.DLPack(), shape, nil)
	return v.Hold(m), err
}
