package kernel

import (
	"errors"
	"fmt"
	"runtime/debug"

	"godlpack/dlpack"
)

// Error is an error that becomes a Python exception of its Kind: Errorf makes one. It is DLPack's.
type Error = dlpack.Error

// The kinds of errors, each a Python exception.
const (
	BufferError  = dlpack.KindBuffer  // the data cannot be exchanged, or used, as asked
	TypeError    = dlpack.KindType    // a wrong kind of argument
	ValueError   = dlpack.KindValue   // an argument of the right kind with a wrong value
	RuntimeError = dlpack.KindRuntime // something broke
	MemoryError  = dlpack.KindMemory  // no memory
	IndexError   = dlpack.KindIndex   // an index outside its axis

	OverflowError = dlpack.KindOverflow // a number that no type of its kind can hold
)

// Errorf returns an error that becomes an exception of that kind: Errorf(ValueError, "want a positive step, got %v", a).
func Errorf(kind dlpack.Kind, format string, a ...any) error {
	return dlpack.Errorf(kind, format, a...)
}

// ErrRaised says that the host keeps the exception that is the reason: the caller wants to stop, or a function of the
// host that was called raised one.
var ErrRaised = errors.New("the caller has an exception pending")

// legible returns an author's error after it was read once, as the host will: a panic of its methods is the function's here, and would
// end the process there.
func legible(err error) error {
	if !errors.Is(err, ErrRaised) {
		_, _ = dlpack.KindOf(err), dlpack.MessageOf(err)
	}
	return err
}

// thrown is what the functions that return no error panic with: the error, on its way to Func.Call.
type thrown struct{ err error }

// A crash is a panic of another goroutine, on its way to Func.Call.
type crash struct {
	value any
	stack []byte
}

// panicked returns the error that a panic becomes. To be called while it is recovered, for its stack.
func panicked(name string, p any) error {
	switch p := p.(type) {
	case thrown:
		return p.err
	case crash:
		return panicError(name, p.value, p.stack)
	}
	return panicError(name, p, debug.Stack())
}

func panicError(name string, value any, stack []byte) error {
	return &Error{Kind: RuntimeError, Msg: fmt.Sprintf("%s(): Go panicked: %v\n\n%s", name, value, stack)}
}
