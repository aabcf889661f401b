package tvmffi

// #include <pthread.h>
// #include <stdint.h>
// extern int32_t godlpackSafeCall(uintptr_t handle, void *args, int32_t n, void *result);
import "C"

import (
	"unsafe"

	"godlpack/packed"
)

// godlpackSafeCall is the TVMFFISafeCallType of all functions, which tvm-ffi calls; handle says which.
//
// GIL: any; Go does not know of it.
// Owns: borrows the arguments; the result is the caller's; with -1 there is none, and the thread's error is set.
// Threads: any.
//
//export godlpackSafeCall
func godlpackSafeCall(handle C.uintptr_t, args unsafe.Pointer, n C.int32_t, result unsafe.Pointer) C.int32_t {
	return C.int32_t(current.call(uintptr(handle), unsafe.Slice((*packed.Any)(args), int(n)), (*packed.Any)(result)))
}

// safeCall is its address for C. It is an export of cgo, and no callback of purego, since that takes ten times as long.
func safeCall() uintptr { return uintptr(C.godlpackSafeCall) }

// thread returns a number that the threads of now have no two of. The kernel's own, by gettid, takes several times as long.
func (l *library) thread() uintptr { return uintptr(C.pthread_self()) }
