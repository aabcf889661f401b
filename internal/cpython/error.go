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

// Wrap puts the name of x's type, and what comes behind that, in front of err's message. An exception of Python's own stays as it
// is, and x's type is not asked for its name while it is pending.
func Wrap(err error, x Object, behind string) error {
	if err == nil || errors.Is(err, ErrRaised) {
		return err
	}
	return dlpack.Wrap(err, x.Type().Name()+behind)
}

// starved has the threads that ran out of memory in the operation they are at, where that was not said any further: a
// question that could not be asked may have been taken for one that was answered. The GIL guards it.
var starved = map[*C.PyThreadState]bool{}

// noteMemoryError remembers that memory ran out, if that is the pending exception.
func noteMemoryError() {
	if C.PyErr_ExceptionMatches(C.PyExc_MemoryError) != 0 {
		starved[C.PyThreadState_Get()] = true
	}
}

// Starved reports whether memory ran out in the operation that this thread is at, which will end with MemoryError: what was
// found out in it may be wrong, and is not to be remembered.
func Starved() bool { return len(starved) > 0 && starved[C.PyThreadState_Get()] }

// takeStarved is Starved, which is forgotten then.
func takeStarved() bool {
	is := Starved()
	if is {
		delete(starved, C.PyThreadState_Get())
	}
	return is
}

// leaveStarved ends an operation within another, which was starved before or not.
func leaveStarved(before bool) {
	takeStarved()
	if before {
		starved[C.PyThreadState_Get()] = true
	}
}

// ClearError forgets the pending exception, if there is one. A MemoryError still ends the operation.
func ClearError() {
	noteMemoryError()
	C.PyErr_Clear()
}

// BlamesArguments reports whether the pending exception is a TypeError of how a function was called, as far as its text says.
//
// GIL: held; may run Python code.
func BlamesArguments() bool { return bool(C.gd_blames_arguments()) }

// RaisedBufferError reports whether the pending exception is a BufferError.
func RaisedBufferError() bool { return raised(C.PyExc_BufferError) }

func raised(class *C.PyObject) bool {
	return C.PyErr_Occurred() != nil && C.PyErr_ExceptionMatches(class) != 0
}

// Exception is a Python exception that was set aside.
type Exception struct{ class, value, trace *C.PyObject }

// TakeError sets the pending exception aside; the zero Exception if there is none. A MemoryError still ends the operation.
//
// Owns: the result is new: Drop it.
func TakeError() Exception {
	var e Exception
	noteMemoryError()
	C.PyErr_Fetch(&e.class, &e.value, &e.trace)
	return e
}

// Drop forgets e.
//
// Owns: takes e.
func (e Exception) Drop() {
	for _, p := range []*C.PyObject{e.class, e.value, e.trace} {
		Object{p}.Release()
	}
}

// Text returns what the exception says.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
func (e Exception) Text() string {
	if e.value == nil {
		return ""
	}
	return Object{e.value}.Str()
}
