package cpython

// #include "core.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
)

// EnableNumPy turns on the fast path for NumPy's arrays: array is the type ndarray, api the capsule with NumPy's functions. It
// reports whether api is a capsule. The caller must prove that the fast path is correct.
//
// Owns: a reference to array is kept.
func EnableNumPy(array, api Object) bool {
	if !api.IsCapsule() {
		return false
	}
	table := C.PyCapsule_GetPointer(api.p, nil)
	if table == nil {
		ClearError()
		return false
	}
	C.gd_numpy_enable((*C.PyTypeObject)(unsafe.Pointer(array.p)), (*unsafe.Pointer)(table))
	return true
}

// DisableNumPy turns the fast path off.
func DisableNumPy() { C.gd_numpy_enable(nil, nil) }

// LearnNumPy records for the fast path that arrays with array x's type number have dtype d, padded or not.
func LearnNumPy(x Object, d dlpack.DType, padded bool) {
	C.gd_numpy_learn(x.p, cDType(d), C.bool(padded))
}

// ImportNumPy makes a Tensor over the memory of array x, by the fast path; the zero Object if the fast path cannot.
//
// Owns: the result is new, and keeps x.
func ImportNumPy(x Object) Object {
	t := C.gd_numpy_import(x.p)
	if t == nil {
		ClearError()
	}
	return Object{t}
}

// ImportNumPyBuffer makes a read-only Tensor over the buffer of x, whose dtype attribute is a dtype of NumPy; the zero
// Object if the fast path cannot.
//
// Owns: the result is new, and holds x's buffer.
func ImportNumPyBuffer(x Object) Object {
	name := textObject("dtype")
	if !name.Exists() {
		ClearError()
		return name
	}
	defer name.Release()
	t := C.gd_numpy_import_buffer(x.p, name.p)
	if t == nil {
		ClearError()
	}
	return Object{t}
}

// ToNumPy makes an array over the memory of t, by the fast path; the zero Object without an error if the fast path is off or
// the memory is not on the CPU.
//
// Owns: the result is new, and keeps t.
func ToNumPy(t Tensor) (Object, error) {
	a := C.gd_numpy_to_array(t.p)
	if a == nil && C.PyErr_Occurred() != nil {
		return Object{}, ErrRaised
	}
	return Object{a}, nil
}
