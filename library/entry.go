package library

// #include "library.h"
import "C"

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/logs"
	"godlpack/kernel"
	"godlpack/packed"
)

// hidden are functions that are in no table, from number -1 downwards.
var hidden = append(slices.Clip(logs.Funcs), kernel.ProgressFunc)

// godlpackCall is the Go side of the table's entry gd_call; dropped: the host no longer has some objects. It never panics:
// Func.Call recovers.
//
// GIL: any; Go does not use it.
// Owns: as in godlpack.h.
// Threads: any.
//
//export godlpackCall
func godlpackCall(args *C.TVMValue, codes *C.int, n C.int, ret *C.TVMValue, retCode *C.int, ctx *C.GDContext, dropped C.bool) C.int {
	if dropped {
		release()
	}
	result := packed.Ret{Value: (*packed.Value)(unsafe.Pointer(ret)), Code: (*packed.Code)(unsafe.Pointer(retCode))}
	functions, i := kernel.Funcs(), int(ctx.function)
	if i < 0 {
		functions, i = hidden, -1-i
	}
	err := error(nil)
	if uint(i) < uint(len(functions)) {
		given := packed.View(unsafe.Pointer(args), unsafe.Pointer(codes), unsafe.Pointer(ctx.flags), int(n))
		err = functions[i].Call(given, &result, host{ctx})
	} else {
		result.Set(packed.Null)
		err = kernel.Errorf(kernel.RuntimeError, "the library has %d functions, got number %d", len(kernel.Funcs()), ctx.function)
	}
	if last := logs.Pending(); last != 0 && ctx.function >= 0 && uintptr(ctx.size) >= unsafe.Offsetof(ctx.logged)+unsafe.Sizeof(ctx.logged) {
		ctx.logged = C.uint64_t(last)
	}
	if err == nil {
		return 0
	}
	fail(ctx, err)
	return -1
}

// godlpackAddress is the table's entry address. It returns a number, since what the object refers to may move.
//
// GIL: any; Go does not use it.
// Owns: nothing; the object stays where it is until it is released.
// Threads: any.
//
//export godlpackAddress
func godlpackAddress(number C.int64_t) C.uintptr_t {
	return C.uintptr_t(uintptr(kernel.Address(uint64(number))))
}

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
