package dlpack

import (
	"math/bits"
	"unsafe"
)

// MinAddress is the lowest number, except NULL, that Go permits in a pointer variable: it stops the process when it finds a
// lower one on a stack. No memory is ever mapped there.
const MinAddress = 4096

// Start returns the address of the first element, Data + ByteOffset (R39), or nil if Data is NULL. It has a meaning only if
// t.Device.Type.PointerData().
func (t *Tensor) Start() unsafe.Pointer {
	if t.Data == nil {
		return nil // not nil + ByteOffset, which could be lower than MinAddress
	}
	return unsafe.Add(t.Data, t.ByteOffset)
}

// Address returns Data as a number, which is safe for any content: a pointer, a handle or garbage.
func (t *Tensor) Address() uintptr { return address(unsafe.Pointer(&t.Data)) }

// address returns the pointer stored at place as a number.
func address(place unsafe.Pointer) uintptr { return *(*uintptr)(place) }

// startAddress returns Start as a number; ok is false on an overflow. On a device whose Data is not an address, start is the
// distance from the beginning of the handle's memory.
func (t *Tensor) startAddress() (start uint64, ok bool) {
	if !t.Device.Type.PointerData() {
		return t.ByteOffset, true
	}
	start, carry := bits.Add64(uint64(t.Address()), t.ByteOffset, 0)
	return start, carry == 0
}

// Aligned reports whether the lanes of t can be read as plain numbers: the address of the first one is a multiple of its
// natural alignment (DType.Align), and so are all others, since strides count whole elements. A tensor of size 0 is aligned.
func (t *Tensor) Aligned() bool {
	if n, err := t.Size(); err == nil && n == 0 {
		return true
	}
	start, ok := t.startAddress()
	return ok && start%uint64(t.DType.Align()) == 0
}

// within reports whether start + lo and start + hi are addresses, with lo at most 0 and hi at least 0.
func within(start uint64, lo, hi int64) bool {
	_, carry := bits.Add64(start, uint64(hi), 0)
	return carry == 0 && uint64(-lo) <= start
}
