package memory

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/elementwise"
	"godlpack/tensor"
)

// Assign copies the elements of a tensor on the host to another one of the same dtype, padding and shape: see tensor.Copy.
// For much memory it uses all processors; then an exception that a signal handler raises stops it.
//
// GIL: held; released while much memory is copied.
func Assign(to, from cpython.Tensor) error { return run(elementwise.Copy, to, place(from)) }

// Convert is Assign from any dtype; it converts the elements to the dtype of to: see tensor.Convert.
//
// GIL: held; released while much memory is copied.
func Convert(to, from cpython.Tensor) error { return run(elementwise.Convert, to, place(from)) }

// fillOnHost sets the first element to value, and then copies it to all others.
func fillOnHost(t cpython.Tensor, value tensor.Scalar) error {
	first := *t.Record()
	first.NDim, first.Shape, first.Strides = 0, nil, nil
	if t.Bytes() == 0 {
		return nil
	}
	if err := tensor.Store(&first, t.Padded(), 0, value); err != nil {
		return err
	}
	return run(elementwise.Fill, t, elementwise.At(&first, t.Flags()))
}

func run(kernel func(elementwise.Caller, elementwise.Place, elementwise.Place) error, to cpython.Tensor, from elementwise.Place) error {
	return cpython.Unlocked(to.Bytes(), func(poll cpython.Poll) error { return kernel(elementwise.Caller(poll), place(to), from) })
}

// place returns t without its ReadOnly flag: t is a source, was just made, or its owner allows the write.
func place(t cpython.Tensor) elementwise.Place {
	return elementwise.At(t.Record(), t.Flags()&^dlpack.ReadOnly)
}
