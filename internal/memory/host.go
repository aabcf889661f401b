package memory

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/elementwise"
	"godlpack/tensor"
)

// Assign sets the elements of a tensor on the host to those of another one of the same dtype, storage and shape, and
// Convert to those of any dtype, as values of its own: see tensor.Copy and tensor.Convert. Both use all processors where
// there is much to do; then an exception that a signal's handler raises stops them.
//
// GIL: held; released while much memory is copied.
func Assign(to, from cpython.Tensor) error { return run(elementwise.Copy, to, place(from)) }

// Convert is Assign for another dtype.
//
// GIL: held; released while much memory is copied.
func Convert(to, from cpython.Tensor) error { return run(elementwise.Convert, to, place(from)) }

// fillOnHost sets the first element, and then all others to that.
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

// place is a tensor that is written although nobody else may: one that was just made, or that its owner gave for it.
func place(t cpython.Tensor) elementwise.Place {
	return elementwise.At(t.Record(), t.Flags()&^dlpack.ReadOnly)
}
