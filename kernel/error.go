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

// raise ends the call with an error: what the functions do that return none. Any *Error that is panicked does.
func raise(err error) {
	panic(dlpack.Errorf(dlpack.KindOf(err), "%w", err))
}

// A crash is a panic that is the function's own doing, as an error which lacks the function's name yet.
type crash struct{ err *Error }

// caught returns what a panic is, a crash or the *Error that the call shall end with. To be called while it is recovered, for
// its stack.
func caught(p any) any {
	switch p := p.(type) {
	case crash: // caught before, in another goroutine
		return p
	case *Error:
		if line := misuse(); line != "" {
			return crash{&Error{Kind: p.Kind, Msg: p.Msg + " (" + line + ")"}}
		}
		return p
	}
	return crash{&Error{Kind: RuntimeError, Msg: fmt.Sprintf("Go panicked: %v\n\n%s", p, debug.Stack())}}
}

// misuse returns the line that called a method of package tensor's which panicked, such as Slice or At; "" if none did.
func misuse() string {
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

// panicked returns the error that a panic becomes. To be called while it is recovered, for its stack.
func panicked(name string, p any) error {
	switch p := caught(p).(type) {
	case crash:
		return dlpack.Wrap(p.err, name+"()")
	case *Error:
		return p
	}
	return nil
}
