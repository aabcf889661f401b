package cpython

// #include "core.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
)

// Tensor is a godlpack.Tensor. It holds no reference of its own: it is valid as long as the Object it came from.
type Tensor struct{ p *C.gd_tensor }

// TensorOf returns o as a Tensor; ok is false if it is not one. Tensor has no subclasses.
func TensorOf(o Object) (t Tensor, ok bool) {
	return Tensor{(*C.gd_tensor)(unsafe.Pointer(o.p))}, o.p.ob_type == C.gd_tensor_type
}

// Tensor returns the call's self, which Python has checked to be a Tensor.
func (c *Call) Tensor() Tensor { return Tensor{(*C.gd_tensor)(unsafe.Pointer(c.Self.p))} }

// Object returns the tensor as a borrowed Object.
func (t Tensor) Object() Object { return Object{(*C.PyObject)(unsafe.Pointer(t.p))} }

// Record returns the tensor's record, in place: shape and strides are never NULL where there are dimensions.
func (t Tensor) Record() *dlpack.Tensor { return (*dlpack.Tensor)(unsafe.Pointer(&t.p.t)) }

// Flags returns the tensor's flags.
func (t Tensor) Flags() dlpack.Flags { return dlpack.Flags(t.p.flags) }

// ReadOnly reports whether the memory must not be written.
func (t Tensor) ReadOnly() bool { return t.Flags().Has(dlpack.ReadOnly) }

// Padded reports whether the lanes of a sub-byte dtype take a byte each.
func (t Tensor) Padded() bool { return t.Flags().Has(dlpack.SubbytePadded) }

// Bytes returns the number of bytes that the elements take without gaps.
func (t Tensor) Bytes() int64 {
	n, _ := dlpack.DataSize(int64(t.count()), t.Record().DType, t.Padded()) // checked when the tensor was made
	return n
}

// View makes a tensor over part of t's memory, offset bytes from its start.
//
// Owns: the result is new, and keeps the memory without t; on error there is none.
func (t Tensor) View(offset int64, shape, strides []int64, flags dlpack.Flags) (Object, error) {
	return t.ViewAs(t.Record().DType, offset, shape, strides, flags)
}

// ViewAs is View with another dtype; strides are in elements of that dtype.
//
// Owns: as for View.
func (t Tensor) ViewAs(d dlpack.DType, offset int64, shape, strides []int64, flags dlpack.Flags) (Object, error) {
	return raisedIfNil(C.gd_tensor_view(t.p, C.int64_t(offset), cDType(d), C.int32_t(len(shape)), extents(shape), extents(strides), C.uint64_t(flags)))
}

// Alias makes another tensor over all of t's memory, with other flags.
//
// Owns: as for View.
func (t Tensor) Alias(flags dlpack.Flags) (Object, error) {
	return t.View(0, t.Record().ShapeSlice(), t.Record().StridesSlice(), flags)
}

// NewBorrowed makes a tensor over memory on a device that is valid as long as owner exists.
//
// Owns: a reference to owner is kept; the result is new; on error there is none.
func NewBorrowed(owner Object, dev dlpack.Device, data uintptr, d dlpack.DType, shape, strides []int64, flags dlpack.Flags) (Object, error) {
	s := C.gd_storage_of_object(owner.p)
	if s == nil {
		return Object{}, ErrRaised
	}
	return newTensorOn(dev, data, d, shape, strides, flags, s)
}

// newTensor takes s, also on error.
func newTensor(data uintptr, d dlpack.DType, shape, strides []int64, flags dlpack.Flags, s *C.gd_storage) (Object, error) {
	return newTensorOn(dlpack.Device{Type: dlpack.CPU}, data, d, shape, strides, flags, s)
}

func newTensorOn(dev dlpack.Device, data uintptr, d dlpack.DType, shape, strides []int64, flags dlpack.Flags, s *C.gd_storage) (Object, error) {
	o, err := raisedIfNil(C.gd_tensor_make(C.uintptr_t(data), cDevice(dev), cDType(d), C.int32_t(len(shape)), extents(shape), extents(strides), C.uint64_t(flags), s))
	if err != nil {
		C.gd_storage_release(s)
	}
	return o, err
}

func extents(v []int64) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(v))) }

func cDevice(d dlpack.Device) C.DLDevice { return C.DLDevice{C.int32_t(d.Type), C.int32_t(d.ID)} }

func cDType(d dlpack.DType) C.DLDataType {
	return C.DLDataType{C.uint8_t(d.Code), C.uint8_t(d.Bits), C.uint16_t(d.Lanes)}
}

// NewTensor allocates a C-contiguous tensor on the CPU, with the lanes of sub-byte dtypes padded if padded is true; its
// content is undefined unless zero is true.
//
// GIL: held; released while much memory is zeroed.
// Owns: the result is new; on error (MemoryError; BufferError for more than 2^63 elements) there is none.
func NewTensor(d dlpack.DType, shape []int64, padded, zero bool) (Object, error) {
	count, err := dlpack.Elements(shape)
	if err != nil {
		return Object{}, err
	}
	nbytes, err := dlpack.DataSize(count, d, padded)
	if err != nil {
		return Object{}, dlpack.Errorf(dlpack.KindMemory, "godlpack: %s", dlpack.MessageOf(err))
	}
	strides := make([]int64, len(shape))
	dlpack.CompactStrides(strides, shape)
	var flags dlpack.Flags
	if padded {
		flags = dlpack.SubbytePadded
	}
	if count == 0 {
		return newTensor(0, d, shape, strides, flags, nil)
	}
	var storage *C.gd_storage
	var data unsafe.Pointer
	_ = Unlocked(nbytes, func(Poll) error { data = C.gd_storage_block(C.size_t(nbytes), C.bool(zero), &storage); return nil })
	if data == nil {
		return Object{}, dlpack.Errorf(dlpack.KindMemory, "godlpack: no memory for %d bytes (%s, shape %v)", nbytes, d, shape)
	}
	if count*int64(d.BitSize(padded))%8 != 0 {
		*(*byte)(unsafe.Add(data, nbytes-1)) = 0 // clear the bits of no element: equal tensors pickle to equal bytes
	}
	return newTensor(uintptr(data), d, shape, strides, flags, storage)
}
