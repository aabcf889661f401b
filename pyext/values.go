package pyext

import (
	"fmt"
	"iter"
	"strings"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/tensor"
)

func init() {
	cpython.Handle(cpython.OpTensorItem, item)
	cpython.Handle(cpython.OpTensorToList, toList)
	cpython.Handle(cpython.OpTensorRepr, repr)
}

// readable refuses memory that the CPU cannot read.
func readable(t cpython.Tensor) error {
	if dev := t.Record().Device; !dev.Type.HostReadable() {
		return dlpack.Errorf(dlpack.KindBuffer, "the CPU cannot read memory on %s", dev)
	}
	return nil
}

func item(c *cpython.Call) (cpython.Object, error) {
	if _, err := signNothing["item"].Bind(c); err != nil {
		return cpython.Object{}, err
	}
	t := c.Tensor()
	if err := readable(t); err != nil {
		return cpython.Object{}, err
	}
	if n, err := t.Record().Size(); err != nil || n != 1 {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindValue, "item(): want a tensor of 1 element, got %d", n)
	}
	return number(tensor.Load(t.Record(), t.Padded(), 0))
}

// number makes the Python value of one element: an int, float, complex or bool; a tuple for lanes, bytes for an element that
// is not a number in Python.
func number(s tensor.Scalar) (cpython.Object, error) {
	switch s.Kind() {
	case tensor.KindInt:
		if v, ok := s.Int64(); ok {
			return cpython.Int(v), nil
		}
		return cpython.BigInt(s.BigInt().String())
	case tensor.KindUInt:
		if v, ok := s.UInt64(); ok {
			return cpython.UInt(v), nil
		}
		return cpython.BigInt(s.BigInt().String())
	case tensor.KindFloat:
		return cpython.Float(s.Float64()), nil
	case tensor.KindComplex:
		return cpython.Complex(s.Complex128()), nil
	case tensor.KindBool:
		return cpython.Bool(s.Bool()), nil
	case tensor.KindLanes:
		return numbers(s.Lanes())
	}
	return cpython.Bytes(s.Raw())
}

func numbers(lanes []tensor.Scalar) (cpython.Object, error) {
	var items []cpython.Object
	defer func() { cpython.ReleaseAll(items) }()
	for _, lane := range lanes {
		n, err := number(lane)
		if err != nil {
			return n, err
		}
		items = append(items, n)
	}
	return cpython.TupleOf(items)
}

func toList(c *cpython.Call) (cpython.Object, error) {
	if _, err := signNothing["tolist"].Bind(c); err != nil {
		return cpython.Object{}, err
	}
	t := c.Tensor()
	if err := readable(t); err != nil {
		return cpython.Object{}, err
	}
	next, stop := iter.Pull(tensor.Values(t.Record(), t.Padded()))
	defer stop()
	return nested(t.Record().ShapeSlice(), func() (cpython.Object, error) {
		s, _ := next()
		return number(s)
	})
}

// nested makes lists of lists of the numbers that next returns in row-major order.
func nested(shape []int64, next func() (cpython.Object, error)) (cpython.Object, error) {
	if len(shape) == 0 {
		return next()
	}
	return cpython.ListOf(shape[0], func(int64) (cpython.Object, error) { return nested(shape[1:], next) })
}

// repr returns values, dtype, shape and device: Tensor([1., 2.], dtype=float32, shape=(2,), device='cpu').
func repr(c *cpython.Call) (cpython.Object, error) {
	t := c.Tensor()
	rec := t.Record()
	values := tensor.Text(rec, t.Padded(), tensor.TextOptions{Indent: len("Tensor(")})
	about := fmt.Sprintf("dtype=%s, shape=%s, device='%s'", rec.DType, shapeText(rec.ShapeSlice()), rec.Device)
	if t.ReadOnly() {
		about += ", readonly=True"
	}
	separator := ", "
	if strings.Contains(values, "\n") {
		separator = ",\n" + strings.Repeat(" ", len("Tensor("))
	}
	return cpython.Str("Tensor(" + values + separator + about + ")")
}

// shapeText returns a shape as Python writes a tuple.
func shapeText(shape []int64) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
