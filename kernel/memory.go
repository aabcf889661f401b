package kernel

import (
	"unsafe"

	"godlpack/dlpack"
)

// NewMemory returns memory of the host like the prototype, for hosts whose caller has none to offer: one block with the
// record, its numbers and its elements, compact and row-major. Block makes it: of head bytes, which are zeroed, and size
// bytes behind them, both multiples of 64, as its address must be; nil if there is no memory. Who makes it sets the deleter.
//
// Another device than the host, or a shape that is none, is a BufferError; no memory is a MemoryError.
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
	head := headSize(int(prototype.NDim))
	start := block(head, roundUp(int(size)))
	if start == nil {
		return nil, Errorf(MemoryError, "want %d bytes, got none", size)
	}
	m := layOut(start, prototype.DType, prototype.Device, prototype.ShapeSlice())
	if size == 0 {
		m.Tensor.Data = nil
	}
	return m, nil
}

const recordSize = int(unsafe.Sizeof(dlpack.ManagedTensorVersioned{}))

// headSize returns how many bytes lie in front of the elements: of a record and its numbers.
func headSize(ndim int) int { return roundUp(recordSize + 16*ndim) }

// layOut makes a tensor of a block: the record, shape and strides, which are zero as yet, and the elements. The tensor is
// compact and row-major. Shape leads to the numbers, also if there is none.
func layOut(start unsafe.Pointer, d dlpack.DType, device dlpack.Device, shape []int64) *dlpack.ManagedTensorVersioned {
	m := (*dlpack.ManagedTensorVersioned)(start)
	m.Version = dlpack.Current
	t := &m.Tensor
	t.Data, t.Device, t.NDim, t.DType = unsafe.Add(start, headSize(len(shape))), device, int32(len(shape)), d
	t.Shape = (*int64)(unsafe.Add(start, recordSize))
	if n := len(shape); n > 0 {
		axes := unsafe.Slice(t.Shape, 2*n)
		copy(axes, shape)
		dlpack.CompactStrides(axes[n:], shape)
		t.Strides = &axes[n]
	}
	return m
}

// roundUp returns size as a multiple of 64, the alignment of elements.
func roundUp(size int) int { return int((uint(size) + 63) &^ 63) }
