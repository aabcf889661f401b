package cpython

// #include "core.h"
import "C"

import "unsafe"

func textObject(s string) Object {
	return Object{C.PyUnicode_FromStringAndSize((*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.Py_ssize_t(len(s)))}
}

// nameObject is textObject for the name of an attribute. It is interned, as names in Python code are: Python's cache of type
// attributes uses the address of the name as key, and would keep each new one.
func nameObject(s string) Object {
	o := textObject(s)
	if o.Exists() {
		C.PyUnicode_InternInPlace(&o.p)
	}
	return o
}

// Str makes a Python str from UTF-8.
//
// Owns: the result is new; on ErrRaised there is none.
func Str(s string) (Object, error) {
	o := textObject(s)
	if !o.Exists() {
		return o, ErrRaised
	}
	return o, nil
}

// Bytes makes a Python bytes object.
//
// Owns: the result is new; on ErrRaised there is none.
func Bytes(b []byte) (Object, error) {
	return raisedIfNil(C.PyBytes_FromStringAndSize((*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.Py_ssize_t(len(b))))
}

// StrValue returns the characters of a str object (see IsStr) without calling a subclass's __str__. A lone surrogate, which
// UTF-8 cannot encode, is escaped as Python escapes it: such a text equals no name, and no exception is pending.
//
// GIL: held; no exception may be pending.
// Owns: the result is Go's copy.
func (o Object) StrValue() string {
	var n C.Py_ssize_t
	s := C.PyUnicode_AsUTF8AndSize(o.p, &n)
	if s != nil {
		return string(unsafe.Slice((*byte)(unsafe.Pointer(s)), int(n)))
	}
	ClearError()
	return o.escaped()
}

// backslashReplace is Python's error handler that escapes characters which an encoding does not have.
var backslashReplace = C.CString("backslashreplace")

func (o Object) escaped() string {
	var data *C.char
	var n C.Py_ssize_t
	encoded := Object{C.PyUnicode_AsEncodedString(o.p, nil, backslashReplace)}
	defer encoded.Release()
	if !encoded.Exists() || C.PyBytes_AsStringAndSize(encoded.p, &data, &n) != 0 {
		ClearError()
		return "?" // no memory
	}
	return string(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(n)))
}

// Str returns str(o), or its type's name in angle brackets if that fails.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
func (o Object) Str() string { return o.textOr(C.PyObject_Str(o.p)) }

// Repr returns repr(o), or its type's name in angle brackets if that fails.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
func (o Object) Repr() string { return o.textOr(C.PyObject_Repr(o.p)) }

func (o Object) textOr(text *C.PyObject) string {
	if !o.Exists() { // Python's text is "<NULL>", if it has memory for that
		Object{text}.Release()
		ClearError()
		return "<NULL>"
	}
	if text != nil {
		t := Object{text}
		defer t.Release()
		return t.StrValue()
	}
	ClearError()
	return "<" + o.Type().Name() + ">"
}
