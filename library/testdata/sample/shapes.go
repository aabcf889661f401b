package main

import (
	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

// Functions whose declarations say of what shape and dtype their results are, or which of many tensors they write.
func init() {
	generic := func(name string, shape ...kernel.Extent) kernel.Param {
		return kernel.Param{Name: name, Kind: kernel.KindTensor, DTypes: floats, Var: "T", Shape: shape}
	}
	register("outer", "outer returns the product of each element of x with each of y.",
		params{generic("x", "n"), generic("y", "m")}, params{generic("", "n", "m")},
		func(c *kernel.Call) error {
			switch c.TypeOf(0) {
			case dlpack.Float32:
				kernel.ReturnMut(c, outer(c.Ctx(), kernel.Of[float32](c, 0), kernel.Of[float32](c, 1)))
			case dlpack.Float64:
				kernel.ReturnMut(c, outer(c.Ctx(), kernel.Of[float64](c, 0), kernel.Of[float64](c, 1)))
			}
			return nil
		})
	factor := of("by", kernel.KindFloat)
	factor.Default = kernel.DefaultOf(2.0)
	register("scale", "scale multiplies each tensor of a list, in place.",
		params{list("x", mutable(vector("", "*"))), factor}, nil,
		func(c *kernel.Call) error {
			for _, x := range kernel.MutList[float32](c, 0) {
				for i := range x.Len() {
					x.Set(x.At(i)*kernel.Float[float32](c, 1), i)
				}
			}
			return nil
		})
}

func outer[T float32 | float64](ctx *kernel.Ctx, x, y tensor.Of[T]) tensor.Mut[T] {
	z := kernel.Empty[T](ctx, int64(x.Len()), int64(y.Len()))
	for i := range x.Len() {
		for j := range y.Len() {
			z.Set(x.At(i)*y.At(j), i, j)
		}
	}
	return z
}
