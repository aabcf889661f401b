package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"godlpack/dlpack"
)

// Exception describes an exported error, a class of exceptions in Python.
type Exception struct {
	Name   string           `json:"name"`          // a Python identifier, in CapWords
	Doc    string           `json:"doc,omitempty"` // a description, as in Go's doc comment
	Base   string           `json:"base"`          // a built-in exception, or another one of this library
	Fields []ExceptionField `json:"fields,omitempty"`
}

// ExceptionField is an exported field of an error type, an attribute of the exception.
type ExceptionField struct {
	Go   string `json:"-"`
	Name string `json:"name"`           // in Python
	Type string `json:"type,omitempty"` // a type hint
}

// A registeredException is a class of exceptions, with the errors that it stands for: a value, or all of a type.
type registeredException struct {
	Exception
	value func() error // nil for a type
	of    reflect.Type
}

var registeredExceptions []registeredException

// RegisterError adds the exception that an error value becomes, also where other errors wrap it. It is for init functions, and
// panics if the name is no Python identifier or is registered already, which is a mistake of the author.
func RegisterError(e Exception, value func() error) {
	registerException(registeredException{Exception: e, value: value})
}

// RegisterErrorType adds the exception that errors of type T become. It is as RegisterError otherwise.
func RegisterErrorType[T error](e Exception) {
	registerException(registeredException{Exception: e, of: reflect.TypeFor[T]()})
}

func registerException(e registeredException) {
	if !identifier(e.Name) {
		panic("kernel: exception: want a Python identifier, got " + e.Name)
	}
	if slices.ContainsFunc(registeredExceptions, func(o registeredException) bool { return o.Name == e.Name }) {
		panic("kernel: exception " + e.Name + ": registered twice")
	}
	registeredExceptions = append(registeredExceptions, e)
}

// Exceptions returns the registered exceptions as JSON, a list; "" if there are none.
func Exceptions() string {
	if len(registeredExceptions) == 0 {
		return ""
	}
	list := make([]Exception, len(registeredExceptions))
	for i, e := range registeredExceptions {
		list[i] = e.Exception
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // they consist of strings
	}
	return string(text)
}

// matches reports whether err itself, without the errors that it wraps, is of the exception.
func (e *registeredException) matches(err error) bool {
	if e.value == nil {
		return reflect.TypeOf(err) == e.of
	}
	value := e.value()
	if value == nil {
		return false
	}
	if reflect.TypeOf(value).Comparable() && err == value {
		return true
	}
	is, ok := err.(interface{ Is(error) bool })
	return ok && is.Is(value)
}

// attributes returns the values of an error's fields that are attributes. Those that JSON cannot say are texts.
func (e *registeredException) attributes(err error) map[string]any {
	v := reflect.Indirect(reflect.ValueOf(err))
	if len(e.Fields) == 0 || v.Kind() != reflect.Struct {
		return nil
	}
	all := map[string]any{}
	for _, f := range e.Fields {
		value := v.FieldByName(f.Go).Interface()
		if _, err := json.Marshal(value); err != nil {
			value = fmt.Sprint(value)
		}
		all[f.Name] = value
	}
	return all
}

// A raised describes an exception for the host (godlpack/_exceptions.py).
type raised struct {
	Class      string         `json:"class"` // of the library, or built in
	Message    string         `json:"message"`
	Errno      int            `json:"errno,omitempty"` // of an OSError; then Message is its description
	Filenames  []string       `json:"filenames,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
	Cause      *raised        `json:"cause,omitempty"`
}

// An explained error is an author's error with the description of its exception as JSON.
type explained struct {
	error
	json string
}

func (e explained) Unwrap() error { return e.error }

// Description returns the JSON that describes the exception of an error from Func.Call; "" if its kind and its message do.
func Description(err error) string {
	if e, ok := err.(explained); ok {
		return e.json
	}
	return ""
}

// describe adds the description to an error that is more than its kind and its message.
func describe(err error) error {
	r, plain := raisedBy(err)
	if r == nil || plain {
		return err
	}
	text, failure := json.Marshal(r)
	if failure != nil {
		return err
	}
	return explained{err, string(text)}
}

// raisedBy returns the exception that the first known error in err's tree becomes; nil if none is known. It is plain if it has
// nothing but a kind and a message.
func raisedBy(err error) (r *raised, plain bool) {
	known, r, rest := find(err)
	if r == nil {
		return nil, true
	}
	_, plain = known.(*Error)
	message := dlpack.MessageOf(err)
	switch {
	case r.Errno == 0:
		r.Message = message
	case message != known.Error():
		r.Notes = []string{message}
	}
	if cause, _ := raisedBy(rest); cause != nil {
		r.Cause, plain = cause, false
	}
	return r, plain
}

// find returns the first known error in err's tree, in the order of errors.Is, its exception, and the error that it wraps.
func find(err error) (known error, r *raised, rest error) {
	if err == nil {
		return nil, nil, nil
	}
	for i := range registeredExceptions {
		if e := &registeredExceptions[i]; e.matches(err) {
			return err, &raised{Class: e.Name, Attributes: e.attributes(err)}, errors.Unwrap(err)
		}
	}
	if e, ok := err.(*Error); ok {
		rest := e.Unwrap()
		if wrapped, inner, below := find(rest); inner != nil {
			if _, same := wrapped.(*Error); same { // dlpack.Wrap added words
				rest = below
			}
		}
		return e, &raised{Class: e.Kind.String()}, rest
	}
	if r := standard(err); r != nil {
		return err, r, nil
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		return find(wrapping.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range wrapping.Unwrap() {
			if known, r, rest := find(one); r != nil {
				return known, r, rest
			}
		}
	}
	return nil, nil, nil
}
