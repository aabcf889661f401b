package cpython

// #include "core.h"
import "C"

import "unsafe"

func textObject(s string) Object {
	return Object{C.PyUnicode_FromStringAndSize((*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.Py_ssize_t(len(s)))}
}

// Text makes a Python str from UTF-8.
//
// GIL: held.
// Owns: the result is new; on ErrRaised there is none.
// Threads: any with the GIL.
func Text(s string) (Object, error) {
	o := textObject(s)
	if !o.Exists() {
		return o, ErrRaised
	}
	return o, nil
}

// Bytes makes a Python bytes object.
//
// GIL: held.
// Owns: the result is new; on ErrRaised there is none.
// Threads: any with the GIL.
func Bytes(b []byte) (Object, error) {
	return raisedIfNil(C.PyBytes_FromStringAndSize((*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.Py_ssize_t(len(b))))
}

// Text reads a str object (see IsText).
//
// GIL: held.
// Owns: the result is Go's copy.
// Threads: any with the GIL.
func (o Object) Text() (string, error) {
	var n C.Py_ssize_t
	s := C.PyUnicode_AsUTF8AndSize(o.p, &n)
	if s == nil {
		return "", ErrRaised
	}
	return C.GoStringN(s, C.int(n)), nil
}

// Str returns str(o), or its type's name in angle brackets if that fails.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
// Threads: any with the GIL.
func (o Object) Str() string { return o.textOr(C.PyObject_Str(o.p)) }

// Repr returns repr(o), or its type's name in angle brackets if that fails.
//
// GIL: held; runs Python code; no exception may be pending.
// Owns: the result is Go's copy.
// Threads: any with the GIL.
func (o Object) Repr() string { return o.textOr(C.PyObject_Repr(o.p)) }

func (o Object) textOr(text *C.PyObject) string {
	if text != nil {
		t := Object{text}
		defer t.Release()
		if s, err := t.Text(); err == nil {
			return s
		}
	}
	ClearError()
	return "<" + o.Type().Name() + ">"
}
