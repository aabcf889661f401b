package main

import (
	"math"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

func init() {
	kernel.Register(kernel.Func{
		Name: "nop", Doc: "nop takes three tensors, and does nothing.", HoldGIL: true,
		Params: params{vector("x", "n"), vector("y", "n"), vector("z", "n")},
		Do: func(c *kernel.Call) error {
			nop(kernel.Of[float32](c, 0), kernel.Of[float32](c, 1), kernel.Of[float32](c, 2))
			return nil
		},
	})
	register("saxpy", "saxpy adds a*x to y, in place.",
		params{of("a", kernel.KindFloat), vector("x", "n"), mutable(vector("y", "n"))}, nil,
		func(c *kernel.Call) error {
			saxpy(kernel.Float[float32](c, 0), kernel.Of[float32](c, 1), kernel.Mut[float32](c, 2))
			return nil
		})
	matrix := kernel.Param{Name: "x", Kind: kernel.KindTensor, DTypes: floats, Var: "T", Shape: []kernel.Extent{"...", "m"}, Order: kernel.RowMajor}
	register("softmax", "softmax returns the softmax of x along its last axis.",
		params{matrix}, params{{Kind: kernel.KindTensor, DTypes: floats, Var: "T", Shape: []kernel.Extent{"...", "m"}}},
		func(c *kernel.Call) error {
			switch c.TypeOf(0) {
			case dlpack.Float32:
				kernel.ReturnMut(c, softmax(c.Ctx(), kernel.Of[float32](c, 0)))
			case dlpack.Float64:
				kernel.ReturnMut(c, softmax(c.Ctx(), kernel.Of[float64](c, 0)))
			}
			return nil
		})
	anywhere := vector("x", "n")
	anywhere.Device = "any"
	register("where", "where returns the dtype and the device of x, which may be anywhere.",
		params{anywhere}, params{of("", kernel.KindDType), of("", kernel.KindDevice)},
		func(c *kernel.Call) error {
			c.ReturnDType(c.TypeOf(0))
			c.ReturnDevice(kernel.DeviceOf[float32](c, 0).Device())
			return nil
		})
	register("echo", "echo returns x itself.",
		params{vector("x", "n")}, params{vector("", "n")},
		func(c *kernel.Call) error {
			kernel.Return(c, kernel.Of[float32](c, 0))
			return nil
		})
	register("tail", "tail returns a copy of x without its first element.",
		params{vector("x", "n")}, params{vector("", "m")},
		func(c *kernel.Call) error {
			x := kernel.Of[float32](c, 0)
			data := make([]float32, max(x.Len()-1, 0))
			for i := range data {
				data[i] = x.At(i + 1)
			}
			v, err := tensor.FromSlice(data, int64(len(data)))
			if err != nil {
				return err
			}
			kernel.ReturnMut(c, v)
			return nil
		})
	register("split", "split returns the even and the odd elements of x.",
		params{vector("x", "n")}, params{vector("even", "*"), vector("odd", "*")},
		func(c *kernel.Call) error {
			even, odd := split(c.Ctx(), kernel.Of[float32](c, 0))
			kernel.ReturnMut(c, even)
			kernel.ReturnMut(c, odd)
			return nil
		})
	converted := vector("x", "n")
	converted.Convert, converted.Order = true, kernel.RowMajor
	register("total", "total returns the sum of x, of whatever dtype.",
		params{converted}, params{of("", kernel.KindFloat)},
		func(c *kernel.Call) error {
			c.ReturnFloat(sum(kernel.Of[float32](c, 0)))
			return nil
		})
	register("totals", "totals returns the sum of each tensor.",
		params{list("x", vector("", "*"))}, params{list("", of("", kernel.KindFloat))},
		func(c *kernel.Call) error {
			all := []float64{}
			for _, x := range kernel.OfList[float32](c, 0) {
				all = append(all, sum(x))
			}
			kernel.ReturnFloats(c, all)
			return nil
		})
	register("doubled", "doubled returns twice each tensor of a list.",
		params{list("x", vector("", "*"))}, params{list("", vector("", "*"))},
		func(c *kernel.Call) error {
			all := []tensor.Mut[float32]{}
			for _, x := range kernel.OfList[float32](c, 0) {
				y := kernel.Zeros[float32](c.Ctx(), x.Shape()...)
				saxpy(2, x, y)
				all = append(all, y)
			}
			kernel.ReturnMutList(c, all)
			return nil
		})
}

func nop(x, y, z tensor.Of[float32]) {}

func saxpy(a float32, x tensor.Of[float32], y tensor.Mut[float32]) {
	for i := range x.Len() {
		y.Set(y.At(i)+a*x.At(i), i)
	}
}

func softmax[T float32 | float64](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] {
	y := kernel.Empty[T](ctx, x.Shape()...)
	kernel.Parallel(ctx, x.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			softmaxRow(x.Row(i).Slice(), y.Row(i).Slice())
		}
	})
	return y
}

func softmaxRow[T float32 | float64](x, y []T) {
	if len(x) == 0 {
		return
	}
	top, sum := x[0], T(0)
	for _, v := range x {
		top = max(top, v)
	}
	for i, v := range x {
		y[i] = T(math.Exp(float64(v - top)))
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
}

func split(ctx *kernel.Ctx, x tensor.Of[float32]) (even, odd tensor.Mut[float32]) {
	n := int64(x.Len())
	even, odd = kernel.Empty[float32](ctx, (n+1)/2), kernel.Empty[float32](ctx, n/2)
	for i := range x.Len() {
		half := even
		if i%2 == 1 {
			half = odd
		}
		half.Set(x.At(i), i/2)
	}
	return even, odd
}

func sum(x tensor.Of[float32]) float64 {
	total := 0.0
	for i := range x.Len() {
		total += float64(x.At(i))
	}
	return total
}
