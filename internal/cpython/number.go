package cpython

// #include "core.h"
import "C"

import (
	"math"
	"unsafe"
)

// Int makes a Python int.
//
// Owns: the result is new.
func Int(v int64) Object { return Object{C.PyLong_FromLongLong(C.longlong(v))} }

// UInt makes a Python int from an unsigned integer.
//
// Owns: the result is new.
func UInt(v uint64) Object { return Object{C.PyLong_FromUnsignedLongLong(C.ulonglong(v))} }

// BigInt makes a Python int from its decimal digits.
//
// Owns: the result is new; on ErrRaised there is none.
func BigInt(decimal string) (Object, error) {
	digits := append([]byte(decimal), 0)
	return raisedIfNil(C.PyLong_FromString((*C.char)(unsafe.Pointer(&digits[0])), nil, 10))
}

// Float makes a Python float.
//
// Owns: the result is new.
func Float(v float64) Object { return Object{C.PyFloat_FromDouble(C.double(v))} }

// Complex makes a Python complex.
//
// Owns: the result is new.
func Complex(v complex128) Object {
	return Object{C.PyComplex_FromDoubles(C.double(real(v)), C.double(imag(v)))}
}

// Bool makes a Python bool.
//
// Owns: the result is new.
func Bool(v bool) Object {
	n := C.long(0)
	if v {
		n = 1
	}
	return Object{C.PyBool_FromLong(n)}
}

// Index returns the int value of o, an integer of any type, by its __index__.
//
// GIL: held; may run o's Python code.
// Owns: the result is new; on ErrRaised there is none.
func (o Object) Index() (Object, error) { return raisedIfNil(C.PyNumber_Index(o.p)) }

// Pointer returns the address whose value is the int o.
func (o Object) Pointer() unsafe.Pointer { return C.PyLong_AsVoidPtr(o.p) }

// Int64 returns the value of an integer (int, or anything with __index__). fits is false if it does not fit in an int64;
// then v is the nearest int64.
func (o Object) Int64() (v int64, fits bool, err error) {
	index, err := raisedIfNil(C.PyNumber_Index(o.p))
	if err != nil {
		return 0, false, err
	}
	defer index.Release()
	var overflow C.int
	n := C.PyLong_AsLongLongAndOverflow(index.p, &overflow)
	if n == -1 && overflow == 0 && C.PyErr_Occurred() != nil {
		return 0, false, ErrRaised
	}
	switch {
	case overflow > 0:
		return math.MaxInt64, false, nil
	case overflow < 0:
		return math.MinInt64, false, nil
	}
	return int64(n), true, nil
}

// IntPair returns the values of a tuple of two integers, which is how DLPack writes devices and versions. ok is false for all
// other objects; a value that does not fit in an int64 is the nearest int64.
func (o Object) IntPair() (first, second int64, ok bool, err error) {
	if !o.IsTuple() {
		return 0, 0, false, nil
	}
	items, err := o.Items()
	if err != nil {
		return 0, 0, false, err
	}
	defer ReleaseAll(items)
	if len(items) != 2 || !items[0].IsIndex() || !items[1].IsIndex() {
		return 0, 0, false, nil
	}
	if first, _, err = items[0].Int64(); err != nil {
		return 0, 0, false, err
	}
	second, _, err = items[1].Int64()
	return first, second, err == nil, err
}

// Uint64 returns the value of an int from 0 to 2^64-1; fits is false for others.
func (o Object) Uint64() (v uint64, fits bool) {
	n := C.PyLong_AsUnsignedLongLong(o.p)
	if n == C.ulonglong(1<<64-1) && C.PyErr_Occurred() != nil {
		ClearError()
		return 0, false
	}
	return uint64(n), true
}

// Float64 returns the value of a real number.
func (o Object) Float64() (float64, error) {
	v := C.PyFloat_AsDouble(o.p)
	if v == -1 && C.PyErr_Occurred() != nil {
		return 0, ErrRaised
	}
	return float64(v), nil
}

// Complex128 returns the value of a complex object (see IsComplex).
func (o Object) Complex128() complex128 {
	return complex(float64(C.PyComplex_RealAsDouble(o.p)), float64(C.PyComplex_ImagAsDouble(o.p)))
}
