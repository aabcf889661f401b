package dlpack

import "unsafe"

// MaxNDim is the highest accepted number of dimensions, NumPy's limit (R42).
const MaxNDim = 64

// Validate returns nil if a consumer can use the record, and otherwise a BufferError that names the field, the expectation and
// the value. It checks all that can be checked without access to the tensor's memory: NDim, the pointers, the type, the device,
// the extents, and that sizes and addresses are numbers that exist (R20, R21, R35, R39, R41, R42). It reads Shape and Strides,
// NDim numbers each.
//
// Strides of NULL and any strides within the address space are valid; so is unaligned data, which Aligned reports. Numbers
// below 4096 are rejected as pointers and also as handles, because Go does not permit them in a pointer variable. After
// Validate the record may be copied, and every method of it is safe to call.
func (t *Tensor) Validate() error {
	if t.NDim < 0 || t.NDim > MaxNDim {
		return Errorf(KindBuffer, "ndim: want 0 to %d, got %d", MaxNDim, t.NDim)
	}
	if err := t.checkPointers(); err != nil {
		return err
	}
	if err := t.DType.Valid(); err != nil {
		return err
	}
	if !t.Device.Type.Known() {
		return Errorf(KindBuffer, "device: want a device type of DLPack %v, got %d", Current, t.Device.Type)
	}
	return t.checkMemory()
}

// checkPointers checks the three pointers as numbers, since they may hold anything.
func (t *Tensor) checkPointers() error {
	pointers := [...]struct {
		name  string
		value uintptr
	}{
		{"data", t.Address()},
		{"shape", address(unsafe.Pointer(&t.Shape))},
		{"strides", address(unsafe.Pointer(&t.Strides))},
	}
	for _, p := range pointers {
		if p.value != 0 && p.value < MinAddress {
			return Errorf(KindBuffer, "%s: want a pointer or NULL, got %#x", p.name, p.value)
		}
	}
	if t.Shape == nil && t.NDim > 0 {
		return Errorf(KindBuffer, "shape: want a pointer to %d extents, got NULL", t.NDim)
	}
	return nil
}

// checkMemory checks that size and address of the elements are numbers that exist, and that there is memory at all. It treats
// sub-byte types as padded, which can only be larger.
func (t *Tensor) checkMemory() error {
	n, err := t.Size()
	if err != nil || n == 0 {
		return err
	}
	if _, err := DataSize(n, t.DType, true); err != nil {
		return err
	}
	lo, hi, err := t.ByteExtent(true)
	if err != nil {
		return err
	}
	if t.Address() == 0 {
		return Errorf(KindBuffer, "data: want a pointer for %d elements of %v, got NULL", n, t.DType)
	}
	if start, ok := t.startAddress(); !ok || !within(start, lo, hi) {
		return Errorf(KindBuffer, "byte_offset: want elements within the address space, got bytes %d to %d from %#x + %d",
			lo, hi, t.Address(), t.ByteOffset)
	}
	return nil
}
