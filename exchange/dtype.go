package exchange

import (
	"strings"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// DTypeOf returns the dtype that a Python object stands for: a DType, a name, or the dtype of numpy, ml_dtypes, torch,
// jax or tvm-ffi. ok is false if the object is not a dtype; a dtype that DLPack does not have is an error.
//
// GIL: held; may run the other library's Python code.
func DTypeOf(o cpython.Object) (d dlpack.DType, ok bool, err error) {
	switch {
	case o.IsDType():
		return o.DType(), true, nil
	case o.IsStr():
		d, err = dlpack.ParseDType(o.StrValue())
		return d, true, err
	case o.IsType():
		return dtypeOfClass(o)
	}
	if name := foreignName(o); name != "" {
		d, err = dlpack.ParseDType(name)
		return d, true, err
	}
	return d, false, nil
}

// foreignName returns godlpack's name for another library's dtype object, "" for anything else. torch's text for a dtype is
// "torch.float32", with "_x2" at the end for vectors; a dtype of numpy has a name, which omits its byte order.
func foreignName(o cpython.Object) string {
	switch typ := o.Type(); {
	case typ.Name() == "torch.dtype":
		return strings.ReplaceAll(strings.TrimPrefix(o.Str(), "torch."), "_x", "x")
	case strings.HasPrefix(typ.Module(), "numpy"):
		native := o.Find("isnative")
		defer native.Release()
		if !native.Exists() {
			return ""
		}
		if yes, err := native.Truth(); err != nil || !yes {
			return o.Str() // ">f4" is not the name of a dtype, and shows the reason in the error
		}
		name := o.Find("name")
		defer name.Release()
		if !name.Exists() {
			return ""
		}
		if text := name.Str(); text != "float128" { // NumPy's float128 is the C compiler's long double
			return text
		}
		return o.Str() + " (long double)"
	}
	return ""
}

// dtypeOfClass returns the dtype of a scalar class of numpy or ml_dtypes, or a scalar type of jax, by way of numpy.dtype.
func dtypeOfClass(class cpython.Object) (d dlpack.DType, ok bool, err error) {
	module, _, _ := strings.Cut(class.Module(), ".")
	if module != "numpy" && module != "ml_dtypes" {
		return d, false, nil
	}
	dtype, err := cpython.Imported("numpy").CallIn("dtype", class)
	if err != nil {
		cpython.ClearError()
		return d, false, nil
	}
	defer dtype.Release()
	name := foreignName(dtype)
	if name == "" {
		return d, false, nil
	}
	d, err = dlpack.ParseDType(name)
	return d, true, err
}
