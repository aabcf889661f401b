package pyext

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

var (
	signNothing    = map[string]*cpython.Signature{"copy": cpython.Sign("copy()"), "contiguous": cpython.Sign("contiguous()"), "item": cpython.Sign("item()"), "tolist": cpython.Sign("tolist()")}
	signContiguous = cpython.Sign("is_contiguous(order=?)")
)

func init() {
	cpython.Handle(cpython.OpTensorCopy, func(c *cpython.Call) (cpython.Object, error) {
		if _, err := signNothing["copy"].Bind(c); err != nil {
			return cpython.Object{}, err
		}
		return memory.Clone(c.Tensor())
	})
	cpython.Handle(cpython.OpTensorContiguous, contiguous)
	cpython.Handle(cpython.OpTensorIsContiguous, isContiguous)
	cpython.Handle(cpython.OpTensorReshape, reshape)
	cpython.Handle(cpython.OpTensorPermute, permute)
	cpython.Handle(cpython.OpTensorTranspose, func(c *cpython.Call) (cpython.Object, error) {
		axes := make([]int64, c.Tensor().Record().NDim)
		for i := range axes {
			axes[i] = int64(len(axes) - 1 - i)
		}
		return permuted(c.Tensor(), axes)
	})
}

func contiguous(c *cpython.Call) (cpython.Object, error) {
	if _, err := signNothing["contiguous"].Bind(c); err != nil {
		return cpython.Object{}, err
	}
	rec := c.Tensor().Record()
	if dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		return c.Self.Retain(), nil
	}
	return memory.Clone(c.Tensor())
}

func isContiguous(c *cpython.Call) (cpython.Object, error) {
	args, err := signContiguous.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	order := "C"
	if args[0].Exists() && args[0].IsStr() {
		order = args[0].StrValue()
	}
	if args[0].Exists() && !args[0].IsStr() || order != "C" && order != "F" {
		return cpython.Object{}, argument(dlpack.KindValue, "is_contiguous", "order", "want 'C' or 'F', got %s", args[0].Repr())
	}
	rec := c.Tensor().Record()
	return cpython.Bool(dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), order[0])), nil
}

func permute(c *cpython.Call) (cpython.Object, error) {
	axes, err := parseVariadic(c, "permute", "axes")
	if err != nil {
		return cpython.Object{}, err
	}
	return permuted(c.Tensor(), axes)
}

func permuted(t cpython.Tensor, axes []int64) (cpython.Object, error) {
	rec := t.Record()
	n := int64(rec.NDim)
	wrong := argument(dlpack.KindValue, "permute", "axes", "want each of the axes 0 to %d once, got %v", n-1, axes)
	if int64(len(axes)) != n {
		return cpython.Object{}, wrong
	}
	shape, strides, seen := make([]int64, n), make([]int64, n), make([]bool, n)
	for i, axis := range axes {
		if axis < 0 {
			axis += n
		}
		if axis < 0 || axis >= n || seen[axis] {
			return cpython.Object{}, wrong
		}
		seen[axis] = true
		shape[i], strides[i] = rec.ShapeSlice()[axis], rec.StridesSlice()[axis]
	}
	return t.View(0, shape, strides, t.Flags())
}

func reshape(c *cpython.Call) (cpython.Object, error) {
	shape, err := parseVariadic(c, "reshape", "shape")
	if err != nil {
		return cpython.Object{}, err
	}
	t := c.Tensor()
	size, err := t.Record().Size()
	if err != nil {
		return cpython.Object{}, err
	}
	if err := completeShape(shape, size); err != nil {
		return cpython.Object{}, err
	}
	rec := t.Record()
	strides, ok := dlpack.Reshape(rec.ShapeSlice(), rec.StridesSlice(), shape)
	if !ok {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "reshape() from shape %v with strides %v to %v needs a copy; use .contiguous() first", rec.ShapeSlice(), rec.StridesSlice(), shape)
	}
	return t.View(0, shape, strides, t.Flags())
}

// completeShape fills in an extent of -1, in place, and checks that the shape has size elements.
func completeShape(shape []int64, size int64) error {
	wrong := argument(dlpack.KindValue, "reshape", "shape", "cannot give %d elements the shape %v", size, shape)
	if len(shape) > dlpack.MaxNDim {
		return argument(dlpack.KindValue, "reshape", "shape", "want at most %d dimensions, got %d", dlpack.MaxNDim, len(shape))
	}
	unknown, rest := -1, make([]int64, 0, len(shape))
	for i, n := range shape {
		switch {
		case n == -1 && unknown < 0:
			unknown = i
		case n < 0:
			return wrong
		default:
			rest = append(rest, n)
		}
	}
	known, err := dlpack.Elements(rest)
	switch {
	case err != nil:
		return wrong
	case unknown < 0 && known == size:
		return nil
	case unknown < 0 || known == 0 || size%known != 0:
		return wrong
	}
	shape[unknown] = size / known
	return nil
}
