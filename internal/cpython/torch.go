package cpython

// #include <malloc.h>
// #include "core.h"
import "C"

import "unsafe"

// TorchLayout says how torch's storages are made: where the Python object has the storage, and that the address and size of its memory,
// the flag that lets it be resized, the deleter of the memory, and what that is called with: offsets in bytes. And which deleters there are.
type TorchLayout struct {
	Type                                             Object // of the Python objects; borrowed
	Storage, Data, Size, Resizable, Deleter, Context int
	FreesOwn, FreesForeign                           uint64
}

// LearnTorch tells the fast path how storages are made.
func LearnTorch(l TorchLayout) {
	found := C.gd_torch{
		_type: (*C.PyTypeObject)(unsafe.Pointer(l.Type.p)), storage: C.size_t(l.Storage), data: C.size_t(l.Data),
		size: C.size_t(l.Size), resizable: C.size_t(l.Resizable), deleter: C.size_t(l.Deleter), context: C.size_t(l.Context), known: true,
	}
	frees := (*[2]uint64)(unsafe.Pointer(&found.frees))
	frees[C.GD_TORCH_OWN], frees[C.GD_TORCH_FOREIGN] = l.FreesOwn, l.FreesForeign
	C.gd_torch_learn(&found)
}

// ForgetTorch tells the fast path that storages are made in another way.
func ForgetTorch() { C.gd_torch_learn(nil) }

// TryTorchPin pins a storage of torch and calls f, which drops it. It reports whether torch has then left the memory to the
// pin, which frees it.
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
		return false // whoever has the memory now, the lock stays
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

// Memory returns a copy of the size bytes of an object, as its type says.
//
// Owns: the result is Go's.
func (o Object) Memory(size int) []byte { return C.GoBytes(unsafe.Pointer(o.p), C.int(size)) }

// Allocation returns a copy of the block of malloc that starts at the address that the int o is.
//
// GIL: held; keeps others from changing the block.
// Owns: the result is Go's.
func (o Object) Allocation() []byte {
	p := o.Pointer()
	return C.GoBytes(p, C.int(min(C.malloc_usable_size(p), 512)))
}
