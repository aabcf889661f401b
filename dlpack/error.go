package dlpack

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the Python exception that an error becomes.
type Kind int

// The kinds, and their uses.
const (
	KindBuffer    Kind = iota // BufferError: the data cannot be exchanged as requested
	KindType                  // TypeError: a wrong kind of argument
	KindValue                 // ValueError: an argument of the right kind with a wrong value
	KindRuntime               // RuntimeError: an internal failure, for instance a panic
	KindMemory                // MemoryError: no memory
	KindIndex                 // IndexError: an index outside its axis
	KindOverflow              // OverflowError: a number beyond the range of its kind's types
	KindAttribute             // AttributeError: an attribute that this object does not have

	KindKey            // KeyError: a key that a mapping does not have
	KindNotImplemented // NotImplementedError: an operation that is not implemented
	KindStopIteration  // StopIteration: an iterator has no more elements
	KindEOF            // EOFError: the input ended early
	KindTimeout        // TimeoutError: an operation took too long
)

// String returns the name of the Python exception.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

var kindNames = [...]string{
	"BufferError", "TypeError", "ValueError", "RuntimeError", "MemoryError", "IndexError", "OverflowError", "AttributeError",
	"KeyError", "NotImplementedError", "StopIteration", "EOFError", "TimeoutError",
}

// Error is an error that becomes the Python exception Kind with the text Msg. A Msg states what was expected and what came,
// with names and numbers.
type Error struct {
	Kind Kind
	Msg  string

	cause error
}

// Error returns the kind and the message as Python prints them: "BufferError: ndim: want 0 to 64, got -1".
func (e *Error) Error() string { return e.Kind.String() + ": " + e.Msg }

// Unwrap returns the error that was wrapped, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Errorf returns an *Error of kind k. errors.Is and errors.As find an error formatted with %w; the text of an *Error formatted
// so is its message alone, since k is the kind.
func Errorf(k Kind, format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	cause := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		cause = err
	}
	return &Error{Kind: k, Msg: MessageOf(err), cause: cause}
}

// Wrap prepends where to err's message and keeps its kind: Wrap(err, "argument x") turns "BufferError: ndim: want 0 to 64, got
// 99" into "BufferError: argument x: ndim: want 0 to 64, got 99". It returns nil for nil.
func Wrap(err error, where string) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: KindOf(err), Msg: where + ": " + MessageOf(err), cause: err}
}

// KindOf returns the kind of the *Error in err's chain, and KindRuntime if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindRuntime
}

// MessageOf returns err's text without the kind, as Python expects it, or "" for nil. It also omits the kinds of *Errors that
// err wraps (fmt.Errorf, errors.Join).
func MessageOf(err error) string {
	if err == nil {
		return ""
	}
	return withoutKinds(err.Error(), err)
}

// withoutKinds removes the kinds of all *Errors in err's tree from its text.
func withoutKinds(text string, err error) string {
	switch err := err.(type) {
	case *Error:
		return strings.Replace(text, err.Error(), err.Msg, 1)
	case interface{ Unwrap() error }:
		return withoutKinds(text, err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range err.Unwrap() {
			text = withoutKinds(text, e)
		}
	}
	return text
}
