package pyext

import (
	"math/big"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
	"godlpack/tensor"
)

var (
	signEmpty = cpython.Sign("empty(shape, dtype=?, *, device=?)")
	signZeros = cpython.Sign("zeros(shape, dtype=?, *, device=?)")
	signFull  = cpython.Sign("full(shape, value, dtype=?, *, device=?)")
)

func init() {
	cpython.Handle(cpython.OpEmpty, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signEmpty.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		return create("empty", args[0], args[1], args[2], false)
	})
	cpython.Handle(cpython.OpZeros, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signZeros.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		return create("zeros", args[0], args[1], args[2], true)
	})
	cpython.Handle(cpython.OpFull, full)
}

// create makes a tensor from the arguments of empty(), zeros() or full().
func create(function string, shape, dtype, device cpython.Object, zero bool) (cpython.Object, error) {
	d, err := parseDType(dtype, function)
	if err != nil {
		return cpython.Object{}, err
	}
	dims, err := parseShape(shape, function)
	if err != nil {
		return cpython.Object{}, err
	}
	dev, err := parseDevice(device, function)
	if err != nil {
		return cpython.Object{}, err
	}
	if dev == nil || *dev == dlpack.Host {
		return cpython.NewTensor(d, dims, false, zero)
	}
	o, err := memory.New(d, dims, false, *dev)
	if err != nil {
		return o, dlpack.Wrap(err, function+"() argument 'device'")
	}
	if t, _ := cpython.TensorOf(o); zero {
		err = memory.Zero(t)
	}
	return orRelease(o, err)
}

// orRelease returns a new object, or releases it if there is an error.
func orRelease(o cpython.Object, err error) (cpython.Object, error) {
	if err != nil {
		o.Release()
		return cpython.Object{}, err
	}
	return o, nil
}

func full(c *cpython.Call) (cpython.Object, error) {
	args, err := signFull.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	d, err := parseDType(args[2], "full")
	if err != nil {
		return cpython.Object{}, err
	}
	value, err := parseScalar(args[1], d)
	if err != nil {
		return cpython.Object{}, err
	}
	if err := tensor.Check(d, value); err != nil {
		return cpython.Object{}, dlpack.Wrap(err, "full() argument 'value'")
	}
	o, err := create("full", args[0], args[2], args[3], false)
	if err != nil {
		return o, err
	}
	t, _ := cpython.TensorOf(o)
	return orRelease(o, memory.Fill(t, value))
}

// parseScalar returns a number for elements of type d: from a bool, int, float or complex of Python, or from an object whose
// item() returns one.
func parseScalar(o cpython.Object, d dlpack.DType) (tensor.Scalar, error) {
	switch {
	case o.IsBool():
		truth, err := o.Truth()
		return tensor.BoolScalar(truth), err
	case o.IsInt():
		return parseWhole(o, d)
	case o.IsFloat():
		v, err := o.Float64()
		return tensor.FloatScalar(v), err
	case o.IsComplex():
		return tensor.ComplexScalar(o.Complex128()), nil
	}
	if o.Has("item") {
		item, err := o.CallMethod("item", nil)
		if err != nil {
			return tensor.Scalar{}, err
		}
		defer item.Release()
		if item.IsInt() || item.IsFloat() || item.IsComplex() {
			return parseScalar(item, d)
		}
	}
	return tensor.Scalar{}, argument(dlpack.KindType, "full", "value", "want a bool, int, float or complex, got %s", o.Type().Name())
}

// parseWhole returns the value of an int. One of more than 128 bits fits no integer type, but may fit a float type.
func parseWhole(o cpython.Object, d dlpack.DType) (tensor.Scalar, error) {
	v, fits, err := o.Int64()
	if err != nil {
		return tensor.Scalar{}, err
	}
	if fits {
		return tensor.IntScalar(v), nil
	}
	if v, fits := o.Uint64(); fits {
		return tensor.UIntScalar(v), nil
	}
	if n, _ := new(big.Int).SetString(o.Str(), 10); n != nil {
		if s, err := tensor.BigInt(n); err == nil {
			return s, nil
		}
	}
	if d.Code != dlpack.CodeInt && d.Code != dlpack.CodeUInt && d.Code != dlpack.CodeOpaqueHandle && d.Lane() != dlpack.Float128 {
		if v, err := o.Float64(); err == nil {
			return tensor.FloatScalar(v), nil
		}
		cpython.ClearError()
	}
	return tensor.Scalar{}, argument(dlpack.KindValue, "full", "value", "%s: %s does not fit", d, o.Repr())
}
