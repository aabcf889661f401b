package library

// #include "library.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// godlpackCall is the Go side of the table's entry gd_call. It never panics: Func.Call recovers.
//
// GIL: any; Go does not use it.
// Owns: as in godlpack.h.
// Threads: any.
//
//export godlpackCall
func godlpackCall(args *C.TVMValue, codes *C.int, n C.int, ret *C.TVMValue, retCode *C.int, ctx *C.GDContext) C.int {
	result := packed.Ret{Value: (*packed.Value)(unsafe.Pointer(ret)), Code: (*packed.Code)(unsafe.Pointer(retCode))}
	functions := kernel.Funcs()
	err := error(nil)
	if i := int(ctx.function); uint(i) < uint(len(functions)) {
		given := packed.View(unsafe.Pointer(args), unsafe.Pointer(codes), unsafe.Pointer(ctx.flags), int(n))
		err = functions[i].Call(given, &result, host{ctx})
	} else {
		result.Set(packed.Null)
		err = kernel.Errorf(kernel.RuntimeError, "the library has %d functions, got number %d", len(functions), i)
	}
	if err == nil {
		return 0
	}
	fail(ctx, err)
	return -1
}

// godlpackRelease releases the objects that the host no longer has.
//
// GIL: any; Go does not use it.
// Owns: nothing.
// Threads: any.
//
//export godlpackRelease
func godlpackRelease() { release() }

// godlpackThreads is the table's entry for threads.
//
// GIL: any; Go does not use it.
// Owns: nothing.
// Threads: any.
//
//export godlpackThreads
func godlpackThreads(n C.int) C.int { return C.int(kernel.SetThreads(int(n))) }

// fail reports an error to the host. The host's own exception needs no report.
func fail(ctx *C.GDContext, err error) {
	if err == kernel.ErrRaised {
		return
	}
	number, message, description := kernel.Explanation(err)
	kind := kindNames[kernel.RuntimeError]
	switch {
	case description != "":
		kind = description + "\x00"
	case number >= 0 && int(number) < len(kindNames):
		kind = kindNames[number]
	}
	C.gd_fail(ctx, (*C.char)(unsafe.Pointer(unsafe.StringData(kind))), (*C.char)(unsafe.Pointer(unsafe.StringData(message))),
		C.size_t(len(message)))
}

// kindNames are the kinds of errors for C, with their NUL.
var kindNames = func() (names [kernel.TimeoutError + 1]string) {
	for kind := range names {
		names[kind] = dlpack.Kind(kind).String() + "\x00"
	}
	return names
}()
