package pyext

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

var signArrow = cpython.Sign("__arrow_c_array__(requested_schema=?)")

func init() {
	cpython.Handle(cpython.OpTensorArrow, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signArrow.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		return arrowArray(c.Tensor(), args[0])
	})
}

// arrowArray exports a tensor of one dimension and a primitive type as an Arrow array. The elements are copied if they are not
// contiguous, not aligned, or requested as a wider type.
func arrowArray(t cpython.Tensor, requested cpython.Object) (cpython.Object, error) {
	rec := t.Record()
	if err := fitsArrow(rec); err != nil {
		return cpython.Object{}, err
	}
	if err := readable(t); err != nil {
		return cpython.Object{}, err
	}
	want, err := arrowRequest(requested, rec.DType)
	if err != nil {
		return cpython.Object{}, err
	}
	if want == rec.DType && rec.Aligned() && dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		return t.Arrow()
	}
	copied := memory.Clone
	if want != rec.DType {
		copied = func(t cpython.Tensor) (cpython.Object, error) { return asType(t, want) }
	}
	o, err := copied(t)
	if err != nil {
		return o, err
	}
	defer o.Release()
	t, _ = cpython.TensorOf(o)
	return t.Arrow()
}

func fitsArrow(rec *dlpack.Tensor) error {
	switch {
	case rec.NDim != 1:
		return dlpack.Errorf(dlpack.KindBuffer, "an Arrow array has 1 dimension, the tensor %d; use .reshape(-1)", rec.NDim)
	case rec.DType == dlpack.Bool:
		return dlpack.Errorf(dlpack.KindBuffer, "Arrow's bools are bits, the tensor's are bytes; use .astype('uint8')")
	case !cpython.HasArrow(rec.DType):
		return dlpack.Errorf(dlpack.KindBuffer, "Arrow has no %s; use .astype()", rec.DType)
	}
	return nil
}

// arrowRequest returns the dtype that a consumer requests by a schema; the tensor's own if it requests none.
func arrowRequest(schema cpython.Object, own dlpack.DType) (dlpack.DType, error) {
	if !schema.Given() {
		return own, nil
	}
	format, ok := cpython.ArrowFormat(schema)
	if !ok {
		return own, argument(dlpack.KindType, "__arrow_c_array__", "requested_schema", "want None or a capsule \"arrow_schema\", got %s", schema.Repr())
	}
	if d, primitive := cpython.ArrowDType(format); primitive && holds(d, own) {
		return d, nil
	}
	return own, dlpack.Errorf(dlpack.KindBuffer, "Arrow's type of format %q does not hold every %s; use .astype()", format, own)
}

// holds reports whether the type to has each number of the type from; both are integer or float types.
func holds(to, from dlpack.DType) bool {
	digits := map[uint8]uint8{16: 11, 32: 24, 64: 53} // of the floats, in bits
	switch {
	case to.Code == from.Code:
		return to.Bits >= from.Bits
	case to.Code == dlpack.CodeFloat:
		return from.Bits <= digits[to.Bits]
	}
	return to.Code == dlpack.CodeInt && from.Code == dlpack.CodeUInt && to.Bits > from.Bits
}
