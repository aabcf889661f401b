package kernel

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"godlpack/dlpack"
)

// Error is an error that becomes a Python exception of its Kind: Errorf makes one. It is package dlpack's.
type Error = dlpack.Error

// The kinds of errors, each a Python exception.
const (
	BufferError  = dlpack.KindBuffer  // the data cannot be exchanged, or used, as requested
	TypeError    = dlpack.KindType    // a wrong kind of argument
	ValueError   = dlpack.KindValue   // an argument of the right kind with a wrong value
	RuntimeError = dlpack.KindRuntime // an internal failure
	MemoryError  = dlpack.KindMemory  // no memory
	IndexError   = dlpack.KindIndex   // an index outside its axis

	OverflowError       = dlpack.KindOverflow       // a number beyond the range of its kind's types
	AttributeError      = dlpack.KindAttribute      // an attribute that an object does not have
	KeyError            = dlpack.KindKey            // a key that a mapping does not have
	NotImplementedError = dlpack.KindNotImplemented // an operation that is not implemented
	StopIteration       = dlpack.KindStopIteration  // an iterator has no more elements
	EOFError            = dlpack.KindEOF            // the input ended early
	TimeoutError        = dlpack.KindTimeout        // an operation took too long
)

// Errorf returns an error that becomes an exception of that kind: Errorf(ValueError, "want a positive step, got %v", a).
func Errorf(kind dlpack.Kind, format string, a ...any) error {
	return dlpack.Errorf(kind, format, a...)
}

// ErrRaised reports that the host keeps the exception that is the reason: the caller wants to stop, or a callback raised one.
var ErrRaised = errors.New("the caller has an exception pending")

// raise ends the call with an error, in functions that return none. A panic with any *Error does the same.
func raise(err error) {
	panic(dlpack.Errorf(dlpack.KindOf(err), "%w", err))
}

// A panicError is a panic by the function's own fault, as an error that does not have the function's name yet.
type panicError struct{ err *Error }

// String is what Go prints of a panic in an author's own test.
func (p panicError) String() string { return p.err.Error() }

// asPanicError converts a panic to a panicError, or to the *Error that ends the call. Call it during the recovery,
// for the stack.
func asPanicError(p any) any {
	switch p := p.(type) {
	case panicError: // recovered before, in another goroutine
		return p
	case *Error:
		if line := misusedLine(); line != "" {
			return panicError{&Error{Kind: p.Kind, Msg: p.Msg + " (" + line + ")"}}
		}
		return p
	}
	return panicError{&Error{Kind: RuntimeError, Msg: fmt.Sprintf("Go panicked: %v\n\n%s", p, debug.Stack())}}
}

// misusedLine returns the line that called a method of package tensor that panicked, such as Slice or At; "" for other panics.
func misusedLine() string {
	var stack [32]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack[:])])
	frame, more := frames.Next()
	for more && frame.Function != "runtime.gopanic" {
		frame, more = frames.Next()
	}
	frame, more = frames.Next()
	if !inTensor(frame) {
		return ""
	}
	for more && inTensor(frame) {
		frame, more = frames.Next()
	}
	return filepath.Base(frame.File) + ":" + strconv.Itoa(frame.Line)
}

func inTensor(frame runtime.Frame) bool { return strings.HasPrefix(frame.Function, "godlpack/tensor.") }

// panicked returns the error that a panic becomes. Call it during the recovery, for the stack.
func panicked(name string, p any) error {
	switch p := asPanicError(p).(type) {
	case panicError:
		return dlpack.Wrap(p.err, name+"()")
	case *Error:
		return p
	}
	return nil
}
