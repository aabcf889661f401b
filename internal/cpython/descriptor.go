package cpython

// #include "core.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
)

func newDescriptor(t *C.PyTypeObject, key uint64, name string, kind Object, itemsize int) (Object, error) {
	text, err := Str(name)
	if err != nil {
		return Object{}, err
	}
	defer text.Release()
	return raisedIfNil(C.gd_descriptor_new(t, C.uint64_t(key), text.p, kind.p, C.int(itemsize)))
}

// NewDType makes a godlpack.DType.
//
// Owns: the result is new; on ErrRaised there is none.
func NewDType(d dlpack.DType) (Object, error) {
	var key uint64
	*(*dlpack.DType)(unsafe.Pointer(&key)) = d
	return newDescriptor(C.gd_dtype_type, key, d.String(), Object{}, d.ItemSize(false))
}

// NewDevice makes a godlpack.Device; kind is its DeviceType.
//
// Owns: kind stays the caller's; the result is new; on ErrRaised there is none.
func NewDevice(d dlpack.Device, kind Object) (Object, error) {
	var key uint64
	*(*dlpack.Device)(unsafe.Pointer(&key)) = d
	return newDescriptor(C.gd_device_type, key, d.String(), kind, 0)
}

func (o Object) descriptor() unsafe.Pointer {
	return unsafe.Pointer(&(*C.gd_descriptor)(unsafe.Pointer(o.p)).value)
}

// DType returns the dtype of a godlpack.DType (see IsDType).
func (o Object) DType() dlpack.DType { return *(*dlpack.DType)(o.descriptor()) }

// Device returns the device of a godlpack.Device (see IsDevice).
func (o Object) Device() dlpack.Device { return *(*dlpack.Device)(o.descriptor()) }

// TensorDType returns the DType object of a dtype, from the types' own cache.
//
// Owns: the result is new; on ErrRaised there is none.
func TensorDType(d dlpack.DType) (Object, error) { return raisedIfNil(C.gd_dtype_object(cDType(d))) }

// TensorDevice returns the Device object of a device, from the types' own cache.
//
// Owns: the result is new; on ErrRaised there is none.
func TensorDevice(d dlpack.Device) (Object, error) {
	return raisedIfNil(C.gd_device_object(cDevice(d)))
}
