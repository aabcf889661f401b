package cpython

// #include <malloc.h>
// #include "core.h"
import "C"

import "unsafe"

// TorchLayout says where a tensor of torch has its implementation, that its storage, and that the flag that lets it be
// resized: offsets in bytes.
type TorchLayout struct{ Impl, Storage, Resizable int }

// LearnTorch tells the lane where the flag is.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func LearnTorch(l TorchLayout) {
	C.gd_torch_learn(C.size_t(l.Impl), C.size_t(l.Storage), C.size_t(l.Resizable), true)
}

// ForgetTorch tells the lane that the flag cannot be found.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func ForgetTorch() { C.gd_torch_learn(0, 0, 0, false) }

// TryTorchLock forbids to resize the storage of tensor x, calls f, and allows it again.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func TryTorchLock(x Object, f func()) {
	l := (*C.gd_lock)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gd_lock{}))))
	if l == nil {
		return
	}
	defer C.free(unsafe.Pointer(l))
	C.gd_torch_lock(l, x.p)
	f()
	C.gd_torch_unlock(l)
}

// Memory returns a copy of the size bytes of an object, as its type says.
//
// GIL: held.
// Owns: the result is Go's.
// Threads: any with the GIL.
func (o Object) Memory(size int) []byte { return C.GoBytes(unsafe.Pointer(o.p), C.int(size)) }

// Allocation returns a copy of the block of malloc that starts at the address that the int o is.
//
// GIL: held; keeps others from changing the block.
// Owns: the result is Go's.
// Threads: any with the GIL.
func (o Object) Allocation() []byte {
	p := o.Pointer()
	return C.GoBytes(p, C.int(min(C.malloc_usable_size(p), 512)))
}
