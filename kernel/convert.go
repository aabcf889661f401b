package kernel

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// A conversion is a tensor that the function sees in the place of one that was given.
type conversion struct {
	position
	tensor *dlpack.Tensor // over Go memory
}

// convert makes a copy of the dtype, and in the order, that the slot wants.
func (c *Call) convert(o *operand, dtype dlpack.DType, at position) *refusal {
	padded := dtype.SubByte() && paddedInGo(dtype)
	copied, err := newTensor(dtype, o.Dims(), padded, o.slot.Order)
	if err == nil {
		err = tensor.Convert(copied, o.Tensor, padded, o.flags.Has(dlpack.SubbytePadded))
	}
	if err != nil {
		return &refusal{Kind: dlpack.KindOf(err), Msg: dlpack.MessageOf(err)}
	}
	c.converted = append(c.converted, conversion{at, copied})
	return nil
}

// newTensor returns a compact tensor in Go memory. Its shape and strides are its own.
func newTensor(dtype dlpack.DType, dims []int64, padded bool, order Order) (*dlpack.Tensor, error) {
	n, err := dlpack.Elements(dims)
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, dtype, padded)
	if err != nil {
		return nil, err
	}
	t := &dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: int32(len(dims)), DType: dtype}
	if len(dims) > 0 {
		axes := make([]int64, 2*len(dims))
		shape, strides := axes[:len(dims)], axes[len(dims):]
		copy(shape, dims)
		compactStrides(strides, shape, order)
		t.Shape, t.Strides = &shape[0], &strides[0]
	}
	if size > 0 {
		memory := make([][2]uint64, (size+15)/16) // aligned for all types
		t.Data = unsafe.Pointer(&memory[0])
	}
	return t, nil
}

// compactStrides sets dst to the strides of shape in that order.
func compactStrides(dst, shape []int64, order Order) {
	if order != ColumnMajor {
		dlpack.CompactStrides(dst, shape)
		return
	}
	step := int64(1)
	for i, extent := range shape {
		dst[i] = step
		step *= max(extent, 1)
	}
}
