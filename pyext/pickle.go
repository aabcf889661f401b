package pyext

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

var (
	signReduce  = cpython.Sign("__reduce_ex__(protocol, /)")
	signRebuild = cpython.Sign("_rebuild(buffer, dtype, shape, flags, /)")
)

func init() {
	cpython.Handle(cpython.OpTensorReduceEx, reduceEx)
	cpython.Handle(cpython.OpRebuild, rebuild)
}

// outOfBand is the first pickle protocol with out-of-band buffers (PEP 574).
const outOfBand = 5

// reduceEx pickles a tensor: its bytes in row-major order, and the function and arguments that make a tensor of them again.
func reduceEx(c *cpython.Call) (cpython.Object, error) {
	args, err := signReduce.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	protocol, err := parseInt(args[0], "__reduce_ex__", "protocol")
	if err != nil {
		return cpython.Object{}, err
	}
	t := c.Tensor()
	if err := readable(t); err != nil {
		return cpython.Object{}, dlpack.Wrap(err, "cannot pickle")
	}
	buffer, err := pickled(t, protocol)
	if err != nil {
		return cpython.Object{}, err
	}
	defer buffer.Release()
	return recipe(t, buffer)
}

// pickled returns the tensor's bytes as an object that pickle takes: a buffer over its own memory, or, for old protocols, a
// bytearray, or bytes if it is read-only.
func pickled(t cpython.Tensor, protocol int64) (cpython.Object, error) {
	flat, err := flatBytes(t)
	if err != nil {
		return flat, err
	}
	defer flat.Release()
	module, class := "builtins", "bytearray"
	switch {
	case protocol >= outOfBand:
		module, class = "pickle", "PickleBuffer"
	case t.ReadOnly():
		class = "bytes"
	}
	m, err := cpython.Import(module)
	if err != nil {
		return m, err
	}
	defer m.Release()
	return m.CallMethod(class, []cpython.Object{flat})
}

// flatBytes returns the elements in row-major order as a tensor of bytes: a view of t if it is C-contiguous, else of a copy.
// It is read-only if t is.
func flatBytes(t cpython.Tensor) (cpython.Object, error) {
	rec, flags := t.Record(), t.Flags()
	if !dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		o, err := memory.Clone(t)
		if err != nil {
			return o, err
		}
		defer o.Release()
		t, _ = cpython.TensorOf(o)
	}
	return t.ViewAs(dlpack.UInt8, 0, []int64{t.Bytes()}, []int64{1}, flags&dlpack.ReadOnly)
}

// recipe makes the tuple (_rebuild, (buffer, dtype, shape, flags)).
func recipe(t cpython.Tensor, buffer cpython.Object) (cpython.Object, error) {
	core, err := cpython.Import("godlpack._core")
	if err != nil {
		return core, err
	}
	defer core.Release()
	function, err := core.Attr("_rebuild")
	if err != nil {
		return function, err
	}
	defer function.Release()
	dtype, err := cpython.Str(t.Record().DType.String())
	if err != nil {
		return dtype, err
	}
	defer dtype.Release()
	shape, err := t.Object().Attr("shape")
	if err != nil {
		return shape, err
	}
	defer shape.Release()
	flags := cpython.Int(int64(t.Flags()))
	defer flags.Release()
	args, err := cpython.TupleOf([]cpython.Object{buffer, dtype, shape, flags})
	if err != nil {
		return args, err
	}
	defer args.Release()
	return cpython.TupleOf([]cpython.Object{function, args})
}

// rebuild makes the tensor again, over the buffer's memory; it is read-only if the tensor was, or if the buffer is.
func rebuild(c *cpython.Call) (cpython.Object, error) {
	args, err := signRebuild.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	d, err := parseDType(args[1], "_rebuild")
	if err != nil {
		return cpython.Object{}, err
	}
	shape, err := parseShape(args[2], "_rebuild")
	if err != nil {
		return cpython.Object{}, err
	}
	flags, err := parseInt(args[3], "_rebuild", "flags")
	if err != nil {
		return cpython.Object{}, err
	}
	o, err := fromBuffer(args[0])
	if err != nil {
		return o, err
	}
	defer o.Release()
	t, _ := cpython.TensorOf(o)
	return reinterpret(t, d, shape, dlpack.Flags(flags)|t.Flags())
}

// reinterpret returns contiguous bytes as a tensor of another dtype and shape, which must have the same number of bytes.
func reinterpret(t cpython.Tensor, d dlpack.DType, shape []int64, flags dlpack.Flags) (cpython.Object, error) {
	count, err := dlpack.Elements(shape)
	if err != nil {
		return cpython.Object{}, err
	}
	want, err := dlpack.DataSize(count, d, flags.Has(dlpack.SubbytePadded))
	if err != nil {
		return cpython.Object{}, err
	}
	rec := t.Record()
	if t.Bytes() != want || !dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindValue, "_rebuild(): want %d contiguous bytes for %s of shape %v, got %d", want, d, shape, t.Bytes())
	}
	strides := make([]int64, len(shape))
	dlpack.CompactStrides(strides, shape)
	return t.ViewAs(d, 0, shape, strides, flags)
}
