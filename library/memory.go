package library

// #include "library.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// memory returns memory of C in the place of that of a framework: one block with the record, its numbers and its elements.
func memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	if prototype.Device.Type != dlpack.CPU {
		return nil, kernel.Errorf(kernel.BufferError, "want memory on %v, got a caller who has none but on cpu", prototype.Device)
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
	block := C.gd_memory(C.size_t(head), C.size_t(roundUp(int(size))))
	if block == nil {
		return nil, kernel.Errorf(kernel.MemoryError, "want %d bytes, got none", size)
	}
	m := (*dlpack.ManagedTensorVersioned)(unsafe.Pointer(block))
	m.Version = dlpack.Current
	m.Tensor = dlpack.Tensor{Device: prototype.Device, NDim: prototype.NDim, DType: prototype.DType}
	if len(dims) > 0 {
		axes := unsafe.Slice((*int64)(unsafe.Add(unsafe.Pointer(block), record)), 2*len(dims))
		copy(axes, dims)
		dlpack.CompactStrides(axes[len(dims):], dims)
		m.Tensor.Shape, m.Tensor.Strides = &axes[0], &axes[len(dims)]
	}
	if size > 0 {
		m.Tensor.Data = unsafe.Add(unsafe.Pointer(block), head)
	}
	return m, nil
}

// roundUp returns size as a multiple of 64, the alignment of elements.
func roundUp(size int) int { return int((uint(size) + 63) &^ 63) }
