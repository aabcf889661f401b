package cpython

// #include "core.h"
import "C"

import (
	"errors"
	"strings"

	"godlpack/dlpack"
)

// ErrRaised says that a Python exception is pending: it goes on to the caller as it is, or is cleared.
var ErrRaised = errors.New("a Python exception is pending")

func raisedIfNil(p *C.PyObject) (Object, error) {
	if p == nil {
		return Object{}, ErrRaised
	}
	return Object{p}, nil
}

// raise makes err the pending exception, unless it is one already.
func raise(err error) {
	if errors.Is(err, ErrRaised) && C.PyErr_Occurred() != nil {
		return
	}
	class := map[dlpack.Kind]*C.PyObject{
		dlpack.KindBuffer: C.PyExc_BufferError, dlpack.KindType: C.PyExc_TypeError, dlpack.KindValue: C.PyExc_ValueError,
		dlpack.KindRuntime: C.PyExc_RuntimeError, dlpack.KindMemory: C.PyExc_MemoryError, dlpack.KindIndex: C.PyExc_IndexError,
		dlpack.KindOverflow: C.PyExc_OverflowError, dlpack.KindAttribute: C.PyExc_AttributeError,
	}[dlpack.KindOf(err)]
	message := dlpack.MessageOf(err)
	text := textObject(strings.ToValidUTF8(message, "\uFFFD"))
	defer text.Release()
	if text.Exists() {
		C.PyErr_SetObject(class, text.p)
	}
}

// ClearError forgets the pending exception, if there is one.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func ClearError() { C.PyErr_Clear() }

// RaisedTypeError reports whether the pending exception is a TypeError.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func RaisedTypeError() bool { return raised(C.PyExc_TypeError) }

// RaisedBufferError reports whether the pending exception is a BufferError.
//
// GIL: held.
// Owns: nothing passes.
// Threads: any with the GIL.
func RaisedBufferError() bool { return raised(C.PyExc_BufferError) }

func raised(class *C.PyObject) bool {
	return C.PyErr_Occurred() != nil && C.PyErr_ExceptionMatches(class) != 0
}

// Exception is a Python exception that was set aside.
type Exception struct{ class, value, trace *C.PyObject }

// TakeError sets the pending exception aside; the zero Exception if there is none.
//
// GIL: held.
// Owns: the result is new: Drop it.
// Threads: any with the GIL.
func TakeError() Exception {
	var e Exception
	C.PyErr_Fetch(&e.class, &e.value, &e.trace)
	return e
}

// Drop forgets e.
//
// GIL: held.
// Owns: takes e.
// Threads: any with the GIL.
func (e Exception) Drop() {
	for _, p := range []*C.PyObject{e.class, e.value, e.trace} {
		Object{p}.Release()
	}
}

// Text returns what the exception says.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
// Threads: any with the GIL.
func (e Exception) Text() string {
	if e.value == nil {
		return ""
	}
	return Object{e.value}.Str()
}
