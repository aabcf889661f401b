package cpython

// #include "core.h"
import "C"

import (
	"errors"
	"strings"

	"godlpack/dlpack"
)

// ErrRaised means that a Python exception is pending; the caller passes it on as it is, or clears it.
var ErrRaised = errors.New("a Python exception is pending")

func raisedIfNil(p *C.PyObject) (Object, error) {
	if p == nil {
		return Object{}, ErrRaised
	}
	return Object{p}, nil
}

// raise sets err as the pending exception; if err is ErrRaised, the pending exception stays.
func raise(err error) {
	if errors.Is(err, ErrRaised) && C.PyErr_Occurred() != nil {
		return
	}
	class := map[dlpack.Kind]*C.PyObject{
		dlpack.KindBuffer: C.PyExc_BufferError, dlpack.KindType: C.PyExc_TypeError, dlpack.KindValue: C.PyExc_ValueError,
		dlpack.KindRuntime: C.PyExc_RuntimeError, dlpack.KindMemory: C.PyExc_MemoryError, dlpack.KindIndex: C.PyExc_IndexError,
		dlpack.KindOverflow: C.PyExc_OverflowError, dlpack.KindAttribute: C.PyExc_AttributeError,
	}[dlpack.KindOf(err)]
	if class == nil {
		class = C.PyExc_RuntimeError // the other kinds are for functions of libraries
	}
	message := dlpack.MessageOf(err)
	text := textObject(strings.ToValidUTF8(message, "\uFFFD"))
	defer text.Release()
	if text.Exists() {
		C.PyErr_SetObject(class, text.p)
	}
}

// Wrap prefixes err's message with the name of x's type and the text behind. ErrRaised is returned unchanged, since the
// name of a type must not be read while an exception is pending.
func Wrap(err error, x Object, behind string) error {
	if err == nil || errors.Is(err, ErrRaised) {
		return err
	}
	return dlpack.Wrap(err, x.Type().Name()+behind)
}

// starved is the set of threads that ran out of memory in their current operation, after the MemoryError was cleared: a
// check that failed for lack of memory may have counted as a negative answer. The GIL guards it.
var starved = map[*C.PyThreadState]bool{}

// noteMemoryError marks the thread as starved if the pending exception is a MemoryError.
func noteMemoryError() {
	if C.PyErr_ExceptionMatches(C.PyExc_MemoryError) != 0 {
		starved[C.PyThreadState_Get()] = true
	}
}

// Starved reports whether memory ran out in this thread's current operation, which will end with MemoryError: its findings
// may be wrong and must not be stored.
func Starved() bool { return len(starved) > 0 && starved[C.PyThreadState_Get()] }

// takeStarved returns Starved and clears it.
func takeStarved() bool {
	is := Starved()
	if is {
		delete(starved, C.PyThreadState_Get())
	}
	return is
}

// leaveStarved ends an operation within another, and restores whether the outer one is starved.
func leaveStarved(before bool) {
	takeStarved()
	if before {
		starved[C.PyThreadState_Get()] = true
	}
}

// ClearError clears the pending exception, if there is one. After a MemoryError, the operation still ends with MemoryError.
func ClearError() {
	noteMemoryError()
	C.PyErr_Clear()
}

// BlamesArguments reports whether the pending exception is, by its text, a TypeError about the arguments of a call.
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

// TakeError fetches and clears the pending exception; it is the zero Exception if there is none. After a MemoryError, the
// operation still ends with MemoryError.
//
// Owns: the result is new: Drop it.
func TakeError() Exception {
	var e Exception
	noteMemoryError()
	C.PyErr_Fetch(&e.class, &e.value, &e.trace)
	return e
}

// Drop releases e.
//
// Owns: takes e.
func (e Exception) Drop() {
	for _, p := range []*C.PyObject{e.class, e.value, e.trace} {
		Object{p}.Release()
	}
}

// Text returns the exception's message, "" if it has no value.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
func (e Exception) Text() string {
	if e.value == nil {
		return ""
	}
	return Object{e.value}.Str()
}
