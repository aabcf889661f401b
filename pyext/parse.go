package pyext

import (
	"godlpack/dlpack"
	"godlpack/exchange"
	"godlpack/internal/cpython"
)

// argument makes an error about a Python argument: "full() argument 'shape': want ..., got ...".
func argument(kind dlpack.Kind, function, name, format string, a ...any) error {
	return dlpack.Errorf(kind, function+"() argument '"+name+"': "+format, a...)
}

// parseInt parses an integer that fits into 64 bits.
func parseInt(o cpython.Object, function, name string) (int64, error) {
	if !o.IsIndex() {
		return 0, argument(dlpack.KindType, function, name, "want an int, got %s", o.Type().Name())
	}
	v, fits, err := o.Int64()
	if err == nil && !fits {
		err = argument(dlpack.KindValue, function, name, "%s does not fit into 64 bits", o.Str())
	}
	return v, err
}

// parseInts parses a sequence of integers, or a single one.
func parseInts(o cpython.Object, function, name string) ([]int64, error) {
	if o.IsIndex() && !o.IsSequence() { // an array has both
		v, err := parseInt(o, function, name)
		return []int64{v}, err
	}
	if !o.IsSequence() || o.IsStr() {
		return nil, argument(dlpack.KindType, function, name, "want an int or a sequence of ints, got %s", o.Type().Name())
	}
	items, err := o.Items()
	if err != nil {
		return nil, err
	}
	defer cpython.ReleaseAll(items)
	return intsOf(items, function, name)
}

func intsOf(items []cpython.Object, function, name string) ([]int64, error) {
	v := make([]int64, len(items))
	for i, item := range items {
		var err error
		if v[i], err = parseInt(item, function, name); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// parseVariadic parses ints that were passed as several arguments or as one sequence: reshape(2, 3), reshape((2, 3)).
func parseVariadic(c *cpython.Call, function, name string) ([]int64, error) {
	if _, err := cpython.Sign(function + "()").Bind(c.KeywordsOnly()); err != nil {
		return nil, err
	}
	if args := c.Args(); len(args) != 1 {
		return intsOf(args, function, name)
	}
	return parseInts(c.Arg(0), function, name)
}

// parseShape parses the shape of a new tensor.
func parseShape(o cpython.Object, function string) ([]int64, error) {
	shape, err := parseInts(o, function, "shape")
	if err != nil {
		return nil, err
	}
	if len(shape) > dlpack.MaxNDim {
		return nil, argument(dlpack.KindValue, function, "shape", "want at most %d dimensions, got %d", dlpack.MaxNDim, len(shape))
	}
	for i, n := range shape {
		if n < 0 {
			return nil, argument(dlpack.KindValue, function, "shape", "want extents >= 0, got %d for axis %d", n, i)
		}
	}
	if _, err := dlpack.Elements(shape); err != nil {
		return nil, argument(dlpack.KindValue, function, "shape", "%s", dlpack.MessageOf(err))
	}
	return shape, nil
}

// parseDType parses a dtype argument; float32 if it was not given.
func parseDType(o cpython.Object, function string) (dlpack.DType, error) {
	if !o.Given() {
		return dlpack.Float32, nil
	}
	d, ok, err := exchange.DTypeOf(o)
	switch {
	case err != nil:
		return d, dlpack.Wrap(err, function+"() argument 'dtype'")
	case !ok:
		return d, argument(dlpack.KindType, function, "dtype", "want a DType, its name or another library's dtype, got %s", o.Repr())
	}
	return d, nil
}

// parseDevice parses a device argument; nil if it was not given.
func parseDevice(o cpython.Object, function string) (*dlpack.Device, error) {
	if !o.Given() {
		return nil, nil
	}
	d, ok, err := exchange.DeviceOf(o)
	switch {
	case err != nil:
		return nil, dlpack.Wrap(err, function+"() argument 'device'")
	case !ok:
		return nil, argument(dlpack.KindType, function, "device", "want a Device or its name, got %s", o.Repr())
	}
	return &d, nil
}
