package pyext

import (
	"godlpack/builtin"
	"math/big"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
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

// create makes a tensor from the arguments of empty() and its like.
func create(function string, shape, dtype, device cpython.Object, zero bool) (cpython.Object, error) {
	d, err := parseDType(dtype, function)
	if err != nil {
		return cpython.Object{}, err
	}
	dims, err := parseShape(shape, function)
	if err != nil {
		return cpython.Object{}, err
	}
	if dev, err := parseDevice(device, function); err != nil {
		return cpython.Object{}, err
	} else if dev != nil && dev.Type != dlpack.CPU {
		return cpython.Object{}, argument(dlpack.KindValue, function, "device", "want 'cpu', got %s", *dev)
	}
	return cpython.NewTensor(d, dims, false, zero)
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
	value, err := parseScalar(args[1], "full", "value")
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
	if err := fillAll(t, value); err != nil {
		o.Release()
		return cpython.Object{}, err
	}
	return o, nil
}

// fillAll sets all elements: the first one, and the others to that.
func fillAll(t cpython.Tensor, value tensor.Scalar) error {
	if t.Bytes() == 0 {
		return nil
	}
	first := *t.Record()
	first.NDim, first.Shape, first.Strides = 0, nil, nil
	if err := tensor.Store(&first, t.Padded(), 0, value); err != nil {
		return err
	}
	return cpython.Unlocked(t.Bytes(), func(poll cpython.Poll) error {
		return builtin.Fill(builtin.Caller(poll), builtin.At(t.Record(), t.Flags()), builtin.At(&first, t.Flags()))
	})
}

// parseScalar reads a number: a bool, int, float or complex of Python, or an object with an item() that gives one.
func parseScalar(o cpython.Object, function, name string) (tensor.Scalar, error) {
	switch {
	case o.IsBool():
		truth, err := o.Truth()
		return tensor.Bool(truth), err
	case o.IsInt():
		return parseWhole(o, function, name)
	case o.IsFloat():
		v, err := o.Float64()
		return tensor.Float(v), err
	case o.IsComplex():
		return tensor.Complex(o.Complex128()), nil
	}
	if o.FindIn("item").Exists() {
		o.FindIn("item").Release()
		item, err := o.CallMethod("item", nil)
		if err != nil {
			return tensor.Scalar{}, err
		}
		defer item.Release()
		if item.IsInt() || item.IsFloat() || item.IsComplex() {
			return parseScalar(item, function, name)
		}
	}
	return tensor.Scalar{}, argument(dlpack.KindType, function, name, "want a bool, int, float or complex, got %s", o.Type().Name())
}

func parseWhole(o cpython.Object, function, name string) (tensor.Scalar, error) {
	v, fits, err := o.Int64()
	if err != nil {
		return tensor.Scalar{}, err
	}
	if fits {
		return tensor.Int(v), nil
	}
	if v, fits := o.Uint64(); fits {
		return tensor.UInt(v), nil
	}
	n, _ := new(big.Int).SetString(o.Str(), 10)
	if n == nil {
		return tensor.Scalar{}, argument(dlpack.KindValue, function, name, "an int with too many digits")
	}
	return tensor.BigInt(n)
}
