// Package pyext implements the Python interface: the functions of the module godlpack, the methods of Tensor, DType and
// Device. Each file registers its operations (see internal/cpython) and implements them with the packages below this one.
//
// Package pyext/core links all of it into the extension module; the tests link it into a Go program that hosts Python.
//
//	func init() {
//		sign := cpython.Sign("item()")
//		cpython.Handle(cpython.OpTensorItem, func(c *cpython.Call) (cpython.Object, error) { ... })
//	}
package pyext
