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
		t := reflect.TypeOf(err)
		return t == e.of || t == reflect.PointerTo(e.of) // a pointer has the value's methods
	}
	value := e.value()
	return value != nil && isError(err, value)
}

// isError is errors.Is without the errors that err wraps.
func isError(err, value error) bool {
	if reflect.TypeOf(value).Comparable() && err == value {
		return true
	}
	is, ok := err.(interface{ Is(error) bool })
	return ok && is.Is(value)
}

// mostCauses is the number of causes that an exception may have.
const mostCauses = 50

// A raised describes an exception for the host (godlpack/_exceptions.py).
type raised struct {
	class      string // of the library, or built in
	message    string
	errno      int // of an OSError, whose own text replaces the message
	filenames  []string
	attributes []attribute
	note       string
	cause      *raised
}

type attribute struct {
	name  string
	value reflect.Value
}

// attributes returns the values of an error's fields that are attributes.
func (e *registeredException) attributes(err error) []attribute {
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var all []attribute
	for _, f := range e.Fields {
		all = append(all, attribute{f.Name, v.FieldByName(f.Go)})
	}
	return all
}

// An explained error is an author's error, read once: a panic of its methods counts as the function's, and would end the
// process in the host.
type explained struct {
	error
	text          string // Error's
	kind          dlpack.Kind
	message, json string
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.error }

// Explanation returns what the host needs of an error from Func.Call: the kind and the message of its exception, and the JSON
// that describes it; "" if kind and message do. It calls no method of the author's.
func Explanation(err error) (kind dlpack.Kind, message, json string) {
	if e, ok := err.(*explained); ok {
		return e.kind, e.message, e.json
	}
	return dlpack.KindOf(err), dlpack.MessageOf(err), ""
}

// explain reads an error that ends a call.
func (c *Call) explain(err error) (result error) {
	if e, ok := err.(*Error); ok && e.Unwrap() == nil || err == ErrRaised {
		return err // the usual case
	}
	defer func() {
		if p := recover(); p != nil {
			result = Errorf(RuntimeError, "%s", dlpack.MessageOf(panicked(c.fn.label(), fmt.Sprint(p))))
		}
	}()
	if errors.Is(err, ErrRaised) {
		return ErrRaised
	}
	e := &explained{err, err.Error(), dlpack.KindOf(err), dlpack.MessageOf(err), ""}
	if r, plain := raisedBy(err, 0); r != nil && !plain {
		e.json = string(r.appendJSON(nil))
	} else if _, ok := err.(*Error); ok {
		return err // its methods are ours
	}
	return e
}

// raisedBy returns the exception that the first known error in err's tree becomes; nil if none is known. It is plain if it has
// nothing but a kind and a message.
func raisedBy(err error, depth int) (r *raised, plain bool) {
	known, r, rest := find(err)
	if r == nil {
		return nil, true
	}
	_, plain = known.(*Error)
	message := dlpack.MessageOf(err)
	switch {
	case r.errno == 0:
		r.message = message
	case message != known.Error():
		r.note = message
	}
	if depth < mostCauses {
		if r.cause, _ = raisedBy(rest, depth+1); r.cause != nil {
			plain = false
		}
	}
	return r, plain
}

// find returns the first known error in err's tree, in the order of errors.Is, its exception, and the error that it wraps.
func find(err error) (known error, r *raised, rest error) {
	if err == nil {
		return nil, nil, nil
	}
	if e := registeredAs(err); e != nil {
		return err, &raised{class: e.Name, attributes: e.attributes(err)}, wrappedBy(err)
	}
	if e, ok := err.(*Error); ok {
		rest := e.Unwrap()
		if inner, ok := rest.(*Error); ok && inner.Kind == e.Kind { // dlpack.Wrap added words
			_, _, rest = find(inner)
		}
		return e, &raised{class: e.Kind.String()}, rest
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

// registeredAs returns the exception of an error itself: a value goes before its type.
func registeredAs(err error) (found *registeredException) {
	for i := range registeredExceptions {
		e := &registeredExceptions[i]
		if (e.value != nil || found == nil) && e.matches(err) {
			if found = e; e.value != nil {
				return e
			}
		}
	}
	return found
}

// wrappedBy returns the error that err wraps, or all of them as one.
func wrappedBy(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(several.Unwrap()...)
	}
	return errors.Unwrap(err)
}
