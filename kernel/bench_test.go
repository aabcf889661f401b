package kernel_test

import (
	"testing"

	"godlpack/dlpack"
	"godlpack/internal/gcstress"
	"godlpack/kernel"
	"godlpack/packed"
)

// bench calls a function repeatedly; an error is expected if fails is set.
func bench(b *testing.B, f kernel.Func, fails bool, args ...any) {
	ready := prepare(b, f)
	c, h := newCall(args...), newHost()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.of(ready, h); (err != nil) != fails {
			b.Fatal(err)
		}
	}
}

// known is a tensor that the host has checked.
func known(n int) flagged { return flagged{record(make([]float32, n), int64(n)), packed.Checked} }

func threeViews(c *kernel.Call) error {
	x, y, z := kernel.Of[float32](c, 0), kernel.Of[float32](c, 1), kernel.Of[float32](c, 2)
	if x.NDim()+y.NDim()+z.NDim() != 3 {
		panic("no vectors")
	}
	return nil
}

func threeTensors() []kernel.Param {
	return []kernel.Param{tensorOf("x", float32s, "n"), tensorOf("y", float32s, "n"), tensorOf("z", float32s, "n")}
}

func BenchmarkNothing(b *testing.B) { bench(b, kernel.Func{Do: nothing}, false) }

func BenchmarkThreeTensors(b *testing.B) {
	bench(b, kernel.Func{Params: threeTensors(), Do: threeViews}, false, known(3), known(3), known(3))
}

func BenchmarkThreeUncheckedTensors(b *testing.B) {
	x := record(make([]float32, 3), 3)
	bench(b, kernel.Func{Params: threeTensors(), Do: threeViews}, false, x, x, x)
}

func BenchmarkWrittenTensor(b *testing.B) {
	params := threeTensors()
	params[2].Mutable = true
	bench(b, kernel.Func{Params: params, Do: threeViews}, false, known(3), known(3), known(3))
}

func BenchmarkScalars(b *testing.B) {
	params := []kernel.Param{{Name: "a", Kind: kernel.KindInt}, {Name: "b", Kind: kernel.KindFloat}, {Name: "c", Kind: kernel.KindBool}}
	bench(b, kernel.Func{Params: params, Results: []kernel.Param{anyInt}, Do: func(c *kernel.Call) error {
		c.ReturnFloat(float64(kernel.Int[int](c, 0)) + kernel.Float[float64](c, 1))
		return nil
	}}, false, 1, 2.0, true)
}

func BenchmarkRefusal(b *testing.B) {
	ints := record(make([]int64, 3), 3)
	bench(b, kernel.Func{Params: threeTensors(), Do: threeViews}, true, known(3), known(3), flagged{ints, packed.Checked})
}

// A call of checked tensors allocates no memory.
func TestCallsTakeNoMemory(t *testing.T) {
	if gcstress.On {
		t.Skip("collections empty the pool of calls")
	}
	f := prepare(t, kernel.Func{Params: threeTensors(), Do: threeViews})
	c, h := newCall(known(3), known(3), known(3)), newHost()
	if n := testing.AllocsPerRun(100, func() {
		if err := c.of(f, h); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

func BenchmarkOutput(b *testing.B) {
	h := newHost()
	m, err := h.memory(record(make([]float32, 3), 3))
	if err != nil {
		b.Fatal(err)
	}
	h.allocate = func(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) { return m, nil }
	f := prepare(b, kernel.Func{Results: results(1), Do: func(c *kernel.Call) error {
		kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 3))
		return nil
	}})
	c := newCall()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.of(f, h); err != nil {
			b.Fatal(err)
		}
	}
}
