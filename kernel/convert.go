package kernel

import (
	"errors"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// A conversion is a tensor that the function gets in place of a given one.
type conversion struct {
	position
	tensor *dlpack.Tensor // over an output of the call, or over the caller's bytes
}

// seeBytes makes a tensor uint8[n] over bytes, without a copy.
func (c *Call) seeBytes(cell packed.Cell, at position) (*dlpack.Tensor, error) {
	bytes, err := cell.Bytes()
	if err != nil {
		return nil, err
	}
	axis := &[2]int64{int64(len(bytes)), 1}
	t := &dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: 1, DType: dlpack.UInt8, Shape: &axis[0], Strides: &axis[1]}
	if len(bytes) > 0 {
		t.Data = unsafe.Pointer(&bytes[0])
	}
	c.converted = append(c.converted, conversion{at, t})
	return t, nil
}

// convert makes an aligned copy of the dtype and order that the slot requires. Its memory is the caller's, who reports a lack
// of memory: a broadcast of few elements may expand to any number, and Go would end the process.
func (c *Call) convert(o *operand, dtype dlpack.DType, at position) *refusal {
	padded := dtype.SubByte() && paddedInGo(dtype)
	copied, err := c.copyFor(o, dtype, padded)
	if err == nil {
		err = tensor.Convert(copied, o.Tensor, padded, o.flags.Has(dlpack.SubbytePadded))
	}
	if errors.Is(err, ErrRaised) {
		c.err = err
	}
	if err != nil {
		return &refusal{Kind: dlpack.KindOf(err), Msg: dlpack.MessageOf(err)}
	}
	c.converted = append(c.converted, conversion{at, copied})
	return nil
}

// copyFor returns a tensor like o, of another dtype, compact in the slot's order. Its memory is allocated as bytes, so that
// allocators need not support lanes below a byte, or orders.
func (c *Call) copyFor(o *operand, dtype dlpack.DType, padded bool) (*dlpack.Tensor, error) {
	n, err := o.Size()
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, dtype, padded)
	if err != nil {
		return nil, err
	}
	memory, err := c.Ctx().output(dlpack.UInt8, dlpack.Device{Type: dlpack.CPU}, []int64{size})
	if err != nil {
		return nil, err
	}
	if uintptr(memory.Start())%uintptr(dtype.Align()) != 0 {
		return nil, Errorf(BufferError, "the caller's allocator: want memory aligned to %d bytes, got %#x", dtype.Align(), uintptr(memory.Start()))
	}
	t := newRecord(dtype, o.ShapeSlice(), o.slot.Order)
	t.Data = memory.Start()
	return t, nil
}

// newRecord returns a compact tensor without memory, with its own shape and strides.
func newRecord(dtype dlpack.DType, dims []int64, order Order) *dlpack.Tensor {
	t := &dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: int32(len(dims)), DType: dtype}
	if len(dims) > 0 {
		axes := make([]int64, 2*len(dims))
		shape, strides := axes[:len(dims)], axes[len(dims):]
		copy(shape, dims)
		compactStrides(strides, shape, order)
		t.Shape, t.Strides = &shape[0], &strides[0]
	}
	return t
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
