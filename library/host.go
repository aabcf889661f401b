package library

// #include <stdlib.h>
// #include "library.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// A host is the caller, by the context of the call.
type host struct{ ctx *C.GDContext }

// Alloc returns zeroed memory, which the caller frees by free().
//
// GIL: any.
// Owns: the result is new; nil where there is no memory.
// Threads: any.
func (host) Alloc(size int) unsafe.Pointer { return C.calloc(1, C.size_t(size)) }

// Free frees what Alloc gave.
//
// GIL: any.
// Owns: takes p.
// Threads: any.
func (host) Free(p unsafe.Pointer) { C.free(p) }

// Allocate returns memory in the caller's framework, or that of C if the caller has none.
//
// GIL: any.
// Owns: the result is new.
// Threads: any.
func (h host) Allocate(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	if h.ctx.allocate == nil {
		return memory(prototype)
	}
	m := C.gd_allocate(h.ctx, *(*C.DLDataType)(unsafe.Pointer(&prototype.DType)), *(*C.DLDevice)(unsafe.Pointer(&prototype.Device)),
		C.int32_t(prototype.NDim), (*C.int64_t)(prototype.Shape))
	if m == nil {
		return nil, kernel.ErrRaised
	}
	return (*dlpack.ManagedTensorVersioned)(unsafe.Pointer(m)), nil
}

// Delete deletes a tensor.
//
// GIL: any.
// Owns: takes m.
// Threads: any.
func (host) Delete(m *dlpack.ManagedTensorVersioned) {
	C.gd_delete((*C.DLManagedTensorVersioned)(unsafe.Pointer(m)))
}

// Scratch returns the host's memory for small outputs, all of it at each call: kernel.Ctx counts what is used, and the entries of
// the context stay as they are.
//
// GIL: any.
// Owns: nothing; the memory is the host's.
// Threads: any.
func (h host) Scratch() kernel.Scratch {
	if uintptr(h.ctx.size) < unsafe.Offsetof(h.ctx.scratch_size)+unsafe.Sizeof(h.ctx.scratch_size) {
		return kernel.Scratch{}
	}
	return kernel.Scratch{Start: h.ctx.scratch, Size: int(h.ctx.scratch_size)}
}

// Poll reports whether the host requests a stop.
//
// GIL: any.
// Owns: nothing; with ErrRaised the host has an exception pending.
// Threads: any, but only the calling one polls.
func (h host) Poll() (asked bool, err error) {
	var here C.int
	if C.gd_poll(h.ctx, &here) != 0 {
		err = kernel.ErrRaised
	}
	return here != 0, err
}

// Invoke calls a function of the host.
//
// GIL: any.
// Owns: what the arguments own passes to the host, also on error; the result is borrowed.
// Threads: the calling one; a RuntimeError in others.
func (h host) Invoke(callable unsafe.Pointer, args packed.Args, ret *packed.Ret) error {
	values, codes := args.Arrays()
	rc := C.gd_invoke(h.ctx, callable, (*C.TVMValue)(unsafe.Pointer(values)), (*C.int)(unsafe.Pointer(codes)),
		C.int(args.Len()), (*C.TVMValue)(unsafe.Pointer(ret.Value)), (*C.int)(unsafe.Pointer(ret.Code)))
	switch rc {
	case 0:
		return nil
	case -2, -3:
		for i := range args.Len() {
			kernel.Drop(h, args.At(i))
		}
		reason := "a function of the caller was called from a goroutine other than that of the call"
		if rc == -3 {
			reason = "the caller does not support callbacks"
		}
		return kernel.Errorf(kernel.RuntimeError, "%s", reason)
	}
	return kernel.ErrRaised
}

// Stream returns the host's current stream. It is a number, and never a pointer in Go: 1 and 2 are streams, too.
//
// GIL: any.
// Owns: nothing; the stream is the caller's.
// Threads: the calling one; a RuntimeError in others.
func (h host) Stream(device dlpack.Device) (uintptr, error) {
	var stream C.uintptr_t
	switch C.gd_stream(h.ctx, *(*C.DLDevice)(unsafe.Pointer(&device)), &stream) {
	case 0:
		return uintptr(stream), nil
	case -2:
		return 0, kernel.Errorf(kernel.RuntimeError, "the caller's stream was requested from a goroutine other than that of the call")
	}
	return 0, kernel.ErrRaised
}
