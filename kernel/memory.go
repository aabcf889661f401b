package kernel

import (
	"unsafe"

	"godlpack/dlpack"
)

// NewMemory returns memory of the host like the prototype, for hosts whose caller cannot allocate: one block with the record,
// its shape and strides, and its elements, compact and row-major. Block allocates it: head bytes, which are zeroed, followed by
// size bytes, both multiples of 64, as its address must be; nil without memory. NewMemory's caller sets the deleter.
//
// A device other than the host, or an invalid shape, is a BufferError; lack of memory is a MemoryError.
func NewMemory(prototype *dlpack.Tensor, block func(head, size int) unsafe.Pointer) (*dlpack.ManagedTensorVersioned, error) {
	if prototype.Device.Type != dlpack.CPU {
		return nil, Errorf(BufferError, "want memory on %v, but this caller allocates on cpu only", prototype.Device)
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

// headSize returns the size of the record, shape and strides in front of the elements.
func headSize(ndim int) int { return roundUp(recordSize + 16*ndim) }

// layOut makes a tensor in a block: the record, shape and strides, which are zero before, and the elements. The tensor is
// compact and row-major. Shape points behind the record, also without axes.
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
