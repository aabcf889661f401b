package pyext

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

var signAsType = cpython.Sign("astype(dtype, /)")

func init() {
	cpython.Handle(cpython.OpTensorAsType, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signAsType.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		if args[0].IsNone() {
			return cpython.Object{}, argument(dlpack.KindType, "astype", "dtype", "want a DType, its name or another library's dtype, got None")
		}
		d, err := parseDType(args[0], "astype")
		if err != nil {
			return cpython.Object{}, err
		}
		return asType(c.Tensor(), d)
	})
}

// asType returns a C-contiguous copy of t whose elements are converted to d; sub-byte types stay padded if t is.
func asType(t cpython.Tensor, d dlpack.DType) (cpython.Object, error) {
	if err := readable(t); err != nil {
		return cpython.Object{}, err
	}
	rec, padded := t.Record(), t.Padded() && d.SubByte()
	o, err := cpython.NewTensor(d, rec.ShapeSlice(), padded, false)
	if err != nil {
		return o, err
	}
	to, _ := cpython.TensorOf(o)
	return orRelease(o, dlpack.Wrap(memory.Convert(to, t), "astype()"))
}
