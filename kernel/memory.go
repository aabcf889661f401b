package kernel

import (
	"unsafe"

	"godlpack/dlpack"
)

// NewMemory returns memory of the host like the prototype, for hosts whose caller has none to offer: one block with the
// record, its numbers and its elements, compact and row-major. Block makes it: of head bytes, which are zeroed, and size
// bytes behind them, both multiples of 64, as its address must be; nil if there is no memory. Who makes it sets the deleter.
//
// Another device than the host is a BufferError, no memory a MemoryError, and a shape that is none a ValueError.
func NewMemory(prototype *dlpack.Tensor, block func(head, size int) unsafe.Pointer) (*dlpack.ManagedTensorVersioned, error) {
	if prototype.Device.Type != dlpack.CPU {
		return nil, Errorf(BufferError, "want memory on %v, got a caller who has none but on cpu", prototype.Device)
	}
	n, err := prototype.Size()
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, prototype.DType, false)
	if err != nil {
		return nil, err
	}
	dims := prototype.Dims()
	record := int(unsafe.Sizeof(dlpack.ManagedTensorVersioned{}))
	head := roundUp(record + 16*len(dims))
	start := block(head, roundUp(int(size)))
	if start == nil {
		return nil, Errorf(MemoryError, "want %d bytes, got none", size)
	}
	m := (*dlpack.ManagedTensorVersioned)(start)
	m.Version = dlpack.Current
	m.Tensor = dlpack.Tensor{Device: prototype.Device, NDim: prototype.NDim, DType: prototype.DType}
	if len(dims) > 0 {
		axes := unsafe.Slice((*int64)(unsafe.Add(start, record)), 2*len(dims))
		copy(axes, dims)
		dlpack.CompactStrides(axes[len(dims):], dims)
		m.Tensor.Shape, m.Tensor.Strides = &axes[0], &axes[len(dims)]
	}
	if size > 0 {
		m.Tensor.Data = unsafe.Add(start, head)
	}
	return m, nil
}

// roundUp returns size as a multiple of 64, the alignment of elements.
func roundUp(size int) int { return int((uint(size) + 63) &^ 63) }
