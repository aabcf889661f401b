package pyext

import (
	"godlpack/dlpack"
	"godlpack/exchange"
	"godlpack/internal/cpython"
)

var signArray = cpython.Sign("__array__(dtype=?, copy=?)")

func init() {
	cpython.Handle(cpython.OpTensorArray, array)
	cpython.Handle(cpython.OpDTypeNumPy, numpyDType)
}

// array implements __array__, which NumPy calls for tensors without a buffer and an array interface, such as bfloat16. NumPy
// converts and copies by the rules of its own arrays.
func array(c *cpython.Call) (cpython.Object, error) {
	args, err := signArray.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	if err := readable(c.Tensor()); err != nil {
		return cpython.Object{}, dlpack.Wrap(err, "__array__(): use .to('cpu')")
	}
	module, err := cpython.Import("numpy")
	if err != nil {
		return module, err
	}
	defer module.Release()
	class, err := module.Attr("ndarray")
	if err != nil {
		return class, err
	}
	defer class.Release()
	a, err := exchange.Convert(c.Tensor(), class)
	if err != nil || !args[0].Given() && !args[1].Given() {
		return a, err
	}
	defer a.Release()
	var keywords []cpython.Keyword
	if args[0].Given() {
		keywords = append(keywords, cpython.Keyword{Name: "dtype", Value: args[0]})
	}
	if !args[1].Given() {
		return module.CallMethod("asarray", []cpython.Object{a}, keywords...)
	}
	return module.CallMethod("array", []cpython.Object{a}, append(keywords, cpython.Keyword{Name: "copy", Value: args[1]})...)
}

// numpyDType returns the dtype of NumPy or ml_dtypes for a DType, which numpy.dtype() uses since NumPy 2.4.
func numpyDType(c *cpython.Call) (cpython.Object, error) {
	module, err := cpython.Import("numpy")
	if err != nil {
		return module, err
	}
	defer module.Release()
	dtype, err := exchange.NumPyDType(c.Self.DType(), true)
	if err != nil {
		return dtype, dlpack.Errorf(dlpack.KindType, "%s", dlpack.MessageOf(err))
	}
	return dtype, nil
}
