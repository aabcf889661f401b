package dlpack

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says which Python exception an error becomes.
type Kind int

// The kinds, and what each is for.
const (
	KindBuffer    Kind = iota // BufferError: the data cannot be exchanged as asked
	KindType                  // TypeError: a wrong kind of argument
	KindValue                 // ValueError: an argument of the right kind with a wrong value
	KindRuntime               // RuntimeError: something broke, for instance a panic
	KindMemory                // MemoryError: no memory
	KindIndex                 // IndexError: an index outside its axis
	KindOverflow              // OverflowError: a number that no type of its kind can hold
	KindAttribute             // AttributeError: an attribute that this object has not
)

// String returns the name of the Python exception.
func (k Kind) String() string {
	names := [...]string{"BufferError", "TypeError", "ValueError", "RuntimeError", "MemoryError", "IndexError", "OverflowError", "AttributeError"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Error is an error that Python shall see as the exception Kind, with the text Msg.
// A Msg says what was wanted and what came, with names and numbers.
type Error struct {
	Kind Kind
	Msg  string

	cause error
}

// Error returns the kind and the message as Python prints them: "BufferError: ndim: want 0 to 64, got -1".
func (e *Error) Error() string { return e.Kind.String() + ": " + e.Msg }

// Unwrap returns the error that was wrapped, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Errorf returns an *Error of kind k. An error formatted with %w can be found again by errors.Is and errors.As; of an
// *Error the message alone is in the text, since k is the kind.
func Errorf(k Kind, format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &Error{Kind: k, Msg: MessageOf(err), cause: errors.Unwrap(err)}
}

// Wrap puts where in front of err's message and keeps its kind: Wrap(err, "argument x") turns
// "BufferError: ndim: want 0 to 64, got 99" into "BufferError: argument x: ndim: want 0 to 64, got 99".
// It returns nil for nil.
func Wrap(err error, where string) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: KindOf(err), Msg: where + ": " + MessageOf(err), cause: err}
}

// KindOf returns the kind of the *Error in err's chain, and KindRuntime where there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindRuntime
}

// MessageOf returns err's text without the kind, as Python wants it, or "" for nil. The kinds of *Errors that err wraps
// (fmt.Errorf, errors.Join) are not in it either.
func MessageOf(err error) string {
	if err == nil {
		return ""
	}
	return withoutKinds(err.Error(), err)
}

// withoutKinds takes the kinds of all *Errors in err's tree out of its text.
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
