package cuda

import (
	"errors"
	"unsafe"

	"godlpack/dlpack"
)

// The pointer attributes that this package reads (CUpointer_attribute).
const (
	attributeMemoryType    = 2
	attributeIsManaged     = 8
	attributeDeviceOrdinal = 9
	attributeRangeStart    = 11
	attributeRangeSize     = 12
)

// Locate returns the device of the memory at an address, in DLPack's terms: cuda:1, cuda_host, cuda_managed. Memory unknown to
// CUDA is the host's own: cpu.
func (d *Driver) Locate(p uintptr) (dlpack.Device, error) {
	kind, err := d.pointerNumber(p, attributeMemoryType)
	if errors.Is(err, &Error{Result: InvalidValue}) {
		return dlpack.Device{Type: dlpack.CPU}, nil
	}
	if err != nil {
		return dlpack.Device{}, err
	}
	if managed, err := d.pointerNumber(p, attributeIsManaged); err == nil && managed != 0 {
		return dlpack.Device{Type: dlpack.CUDAManaged}, nil
	}
	const host = 1
	if kind == host {
		return dlpack.Device{Type: dlpack.CUDAHost}, nil
	}
	id, err := d.pointerNumber(p, attributeDeviceOrdinal)
	return dlpack.Device{Type: dlpack.CUDA, ID: int32(id)}, err
}

// Range returns the allocation that contains an address: its start, and its bytes.
func (d *Driver) Range(p uintptr) (start uintptr, bytes int64, err error) {
	if err = d.call(fnPointerGetAttribute, uintptr(unsafe.Pointer(&start)), attributeRangeStart, p); err != nil {
		return 0, 0, err
	}
	err = d.call(fnPointerGetAttribute, uintptr(unsafe.Pointer(&bytes)), attributeRangeSize, p)
	return start, bytes, err
}

// pointerNumber reads an attribute of 32 bits or fewer.
func (d *Driver) pointerNumber(p uintptr, attribute uintptr) (uint32, error) {
	var v uint32
	err := d.call(fnPointerGetAttribute, uintptr(unsafe.Pointer(&v)), attribute, p)
	return v, err
}
