// Package pyext implements the Python interface: the functions of the module godlpack, the methods of Tensor, DType and
// Device. Each file registers its operations (see internal/cpython) and implements them with the packages below this one.
//
// Package pyext/core links all of it into the extension module; the tests link it into a Go program that hosts Python.
//
//	var signAsType = cpython.Sign("astype(dtype, /)")
//
//	func init() {
//		cpython.Handle(cpython.OpTensorAsType, func(c *cpython.Call) (cpython.Object, error) {
//			args, err := signAsType.Bind(c) // a TypeError, as Python words it
//			if err != nil {
//				return cpython.Object{}, err
//			}
//			d, err := parseDType(args[0], "astype")
//			if err != nil {
//				return cpython.Object{}, err
//			}
//			return asType(c.Tensor(), d)
//		})
//	}
package pyext
