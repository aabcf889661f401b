package kernel_test

import (
	"fmt"
	"runtime"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// dot returns the sum of the products of the elements.
func dot(x, y tensor.Of[float64]) float64 {
	sum := 0.0
	for i := range x.Len() {
		sum += x.At(i) * y.At(i)
	}
	return sum
}

// A function is declared, and called as a host does: with values and codes.
func Example() {
	vector := func(name string) kernel.Param {
		return kernel.Param{Name: name, Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float64}, Shape: []kernel.Extent{"n"}}
	}
	f, err := kernel.Prepare(kernel.Func{
		Name:    "dot",
		Params:  []kernel.Param{vector("x"), vector("y")},
		Results: []kernel.Param{{Kind: kernel.KindFloat}},
		Do: func(c *kernel.Call) error {
			c.ReturnFloat(dot(kernel.Of[float64](c, 0), kernel.Of[float64](c, 1)))
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Name + f.Signature())

	call := func(x, y []float64) {
		args := newCall(record(x, int64(len(x))), record(y, int64(len(y)))) // packs them
		ret := packed.Ret{Value: new(packed.Value), Code: new(packed.Code)}
		err := f.Call(args.args, &ret, newHost())
		runtime.KeepAlive(args) // Go's collector does not see what a value points to
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ret.Get().Float())
	}
	call([]float64{1, 2}, []float64{3, 4})
	call([]float64{1, 2}, []float64{3, 4, 5})
	// Output:
	// dot(x, y)
	// 11 <nil>
	// ValueError: dot(): argument 'y': want float64[n] on cpu, got float64[3] on cpu, but n is 2 in 'x'
}

// Parallel splits a loop; a function can be tried without a caller, by a nil Ctx.
func ExampleParallel() {
	squares := kernel.Empty[int32](nil, 1000)
	s := squares.Slice()
	kernel.Parallel(nil, len(s), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s[i] = int32(i * i)
		}
	})
	fmt.Println(s[0], s[10], s[999])
	// Output: 0 100 998001
}
