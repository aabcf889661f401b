package tvmffi

// #include "entry.h"
import "C"

import (
	"unsafe"

	"godlpack/kernel"
	"godlpack/packed"
)

// godlpackSafeCall is the Go side of gd_tvm_call. It never panics: Func.Call recovers.
//
// GIL: any; Go does not use it.
// Owns: as gd_tvm_call.
// Threads: any; thread is its number.
//
//export godlpackSafeCall
func godlpackSafeCall(handle C.uintptr_t, args unsafe.Pointer, n C.int32_t, result unsafe.Pointer, thread C.uintptr_t) C.int32_t {
	given := unsafe.Slice((*packed.Any)(args), int(n))
	return C.int32_t(current.call(uintptr(handle), uintptr(thread), given, (*packed.Any)(result)))
}

// safeCall returns the address of gd_tvm_call. It is in C, not a callback of purego, which takes ten times as long.
func safeCall() uintptr { return uintptr(C.gd_tvm_call) }

// errForked is the error of calls in a forked child.
const errForked = "a Go function was registered before this process was forked, and cannot be called in it: " +
	"register it again, and look it up again"

// watch makes calls in forked children fail, instead of entering a dead Go runtime.
func (l *library) watch() error {
	refusal := l.newError(kernel.RuntimeError.String(), errForked)
	if refusal == nil || C.gd_tvm_begin(*(*C.gd_set_raised)(unsafe.Pointer(&l.errorSetRaised)), unsafe.Pointer(refusal)) != 0 {
		return kernel.Errorf(kernel.MemoryError, "no memory to detect forks")
	}
	return nil
}

// thread returns a number that is unique among the present threads. The kernel's own, by gettid, takes several times as long.
func thread() uintptr { return uintptr(C.pthread_self()) }
