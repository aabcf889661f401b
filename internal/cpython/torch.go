package cpython

// #include <malloc.h>
// #include "core.h"
import "C"

import "unsafe"

// TorchLayout is the memory layout of torch's storages, as offsets in bytes: of the storage in the Python object; and, in the
// storage, of the address and size of its memory, the flag that it is resizable, the memory's deleter, and the deleter's
// argument. FreesOwn and FreesForeign are the deleters of torch's own memory and of others'.
type TorchLayout struct {
	Type                                             Object // of the Python objects; borrowed
	Storage, Data, Size, Resizable, Deleter, Context int
	FreesOwn, FreesForeign                           uint64
}

// LearnTorch gives the layout of storages to the fast path.
func LearnTorch(l TorchLayout) {
	found := C.gd_torch{
		_type: (*C.PyTypeObject)(unsafe.Pointer(l.Type.p)), storage: C.size_t(l.Storage), data: C.size_t(l.Data),
		size: C.size_t(l.Size), resizable: C.size_t(l.Resizable), deleter: C.size_t(l.Deleter), context: C.size_t(l.Context), known: true,
	}
	frees := (*[2]uint64)(unsafe.Pointer(&found.frees))
	frees[C.GD_TORCH_OWN], frees[C.GD_TORCH_FOREIGN] = l.FreesOwn, l.FreesForeign
	C.gd_torch_learn(&found)
}

// ForgetTorch removes the layout of storages: torch's is another one.
func ForgetTorch() { C.gd_torch_learn(nil) }

// TryTorchPin pins a storage of torch and calls f, which drops the storage. It reports whether torch then left the memory to
// the pin, which frees it.
func TryTorchPin(storage Object, f func()) bool {
	pin := (*C.gd_pin)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gd_pin{}))))
	if pin == nil {
		f()
		return false
	}
	pin.owner = storage.p
	C.gd_torch_pin(pin, nil)
	pin.owner = nil
	f()
	if pin.lock.where != nil && pin.lock.free == nil {
		return false // the owner of the memory is unknown: the lock stays
	}
	left := pin.lock.free != nil
	C.gd_torch_unpin(pin)
	C.free(unsafe.Pointer(pin))
	return left
}

// IsCode reports whether the address is that of an instruction of a loaded library.
//
// GIL: any.
// Threads: any.
func IsCode(address uint64) bool {
	var start, end C.uintptr_t
	C.gd_find_code(*(*unsafe.Pointer)(unsafe.Pointer(&address)), &start, &end)
	return start != 0
}

// Memory returns a copy of the first size bytes of an object; size is at most its type's __basicsize__.
//
// Owns: the result is Go's.
func (o Object) Memory(size int) []byte { return C.GoBytes(unsafe.Pointer(o.p), C.int(size)) }

// Allocation returns a copy of the block of malloc whose address is the int o, 512 bytes at most.
//
// GIL: held; keeps others from changing the block.
// Owns: the result is Go's.
func (o Object) Allocation() []byte {
	p := o.Pointer()
	return C.GoBytes(p, C.int(min(C.malloc_usable_size(p), 512)))
}
