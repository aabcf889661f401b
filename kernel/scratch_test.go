package kernel_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// newScratchHost is a host with scratch memory that still holds data of another call.
func newScratchHost(blocks int) *fakeHost {
	h := newHost()
	h.scratch = make([][8]uint64, blocks)
	for i := range h.scratch {
		for k := range h.scratch[i] {
			h.scratch[i][k] = 0xaaaaaaaaaaaaaaaa
		}
	}
	return h
}

// inScratch reports whether p points into the host's scratch memory.
func (h *fakeHost) inScratch(p unsafe.Pointer) bool {
	s := h.Scratch()
	return uintptr(p)-uintptr(s.Start) < uintptr(s.Size)
}

// Outputs are in the scratch memory if they are small, on the CPU and not empty, as long as there is room.
func TestScratch(t *testing.T) {
	const blocks = 16 // 1024 bytes
	for _, c := range []struct {
		name string
		do   func(ctx *kernel.Ctx) unsafe.Pointer
		want bool
	}{
		{"small", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[float32](ctx, 2, 3).Pointer() }, true},
		{"no axes", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[float64](ctx).Pointer() }, true},
		{"all that there is", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[int8](ctx, 1024-128).Pointer() }, true},
		{"a byte more", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[int8](ctx, 1024-128+1).Pointer() }, false},
		{"many axes", func(ctx *kernel.Ctx) unsafe.Pointer {
			return kernel.Empty[int8](ctx, slices.Repeat([]int64{1}, 50)...).Pointer()
		}, true},
		{"too many axes", func(ctx *kernel.Ctx) unsafe.Pointer {
			return kernel.Empty[int8](ctx, slices.Repeat([]int64{1}, 64)...).Pointer()
		}, false},
		{"wide elements", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[complex128](ctx, 8, 7).Pointer() }, true},
		{"too many wide elements", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[complex128](ctx, 8, 8).Pointer() }, false},
		{"empty", func(ctx *kernel.Ctx) unsafe.Pointer { return kernel.Empty[int8](ctx, 3, 0).Pointer() }, false},
		{"another device", func(ctx *kernel.Ctx) unsafe.Pointer {
			return kernel.EmptyOn[int8](ctx, dlpack.Device{Type: dlpack.CUDAHost}, 3).Pointer()
		}, false},
		{"after others", func(ctx *kernel.Ctx) unsafe.Pointer {
			for range 4 {
				kernel.Empty[int8](ctx, 64)
			}
			return kernel.Empty[int8](ctx, 64).Pointer()
		}, true},
		{"after all", func(ctx *kernel.Ctx) unsafe.Pointer {
			for range 5 {
				kernel.Empty[int8](ctx, 64)
			}
			return kernel.Empty[int8](ctx, 64).Pointer()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newScratchHost(blocks)
			var p unsafe.Pointer
			f := prepare(t, kernel.Func{Do: func(call *kernel.Call) error {
				p = c.do(call.Ctx())
				return nil
			}})
			if err := newCall().of(f, h); err != nil {
				t.Fatal(err)
			}
			if h.inScratch(p) != c.want {
				t.Errorf("at %p, of scratch memory at %p", p, h.Scratch().Start)
			}
			if c.want && uintptr(p)%64 != 0 {
				t.Errorf("not aligned: %p", p)
			}
			h.balanced(t)
		})
	}
}

// A whole output in the scratch memory is returned in place, each time it is returned. A part of it is a copy, and so is a
// tensor that only resembles it.
func TestScratchIsReturned(t *testing.T) {
	list := kernel.Param{Kind: kernel.KindList, Elem: &anyTensor}
	h := newScratchHost(64)
	var whole unsafe.Pointer
	f := prepare(t, kernel.Func{Results: append(results(5), list), Do: func(c *kernel.Call) error {
		y := kernel.Empty[float32](c.Ctx(), 2, 2)
		copy(y.Slice(), []float32{0, 1, 2, 3})
		whole = y.Pointer()
		kernel.ReturnMut(c, y)
		kernel.Return(c, y.Of)
		kernel.ReturnDeviceMut(c, y.OnDevice())
		kernel.Return(c, y.Row(0).Of)
		r := y.Record()
		record := r.Tensor()
		bits, err := tensor.View[int32](&dlpack.Tensor{Data: record.Data, Device: record.Device, NDim: 2, DType: dlpack.Int32, Shape: record.Shape})
		if err != nil {
			return err
		}
		kernel.Return(c, bits)
		kernel.ReturnMutList(c, []tensor.Mut[float32]{y, y.Row(1)})
		return nil
	}})
	called := newCall()
	if err := called.of(f, h); err != nil {
		t.Fatal(err)
	}
	if !h.inScratch(whole) {
		t.Fatalf("the output is at %p", whole)
	}
	all, _ := called.ret.Get().List()
	last, _ := all.At(5).List()
	for i, cell := range []packed.Cell{all.At(0), all.At(1), all.At(2), all.At(3), all.At(4), last.At(0), last.At(1)} {
		got, err := cell.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if want := i != 3 && i != 4 && i != 6; (got.Data == whole) != want {
			t.Errorf("tensor %d at %p, the output at %p", i, got.Data, whole)
		}
	}
	bits := []float64{0, 0x3f800000, 0x40000000, 0x40400000}
	equal(t, "values", called.result(t, h), []any{
		[]float64{0, 1, 2, 3}, []float64{0, 1, 2, 3}, []float64{0, 1, 2, 3}, []float64{0, 1}, bits, []any{[]float64{0, 1, 2, 3}, []float64{2, 3}},
	})
	h.balanced(t)
}

// Each goroutine gets scratch memory of its own.
func TestScratchOfManyGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const goroutines, outputs = 4, 8
	h := newScratchHost(64)
	for round := range 50 {
		f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
			var wait sync.WaitGroup
			all := make([][]tensor.Mut[int32], goroutines)
			ctx := c.Ctx()
			for g := range goroutines {
				wait.Go(func() {
					for i := range outputs {
						y := kernel.Empty[int32](ctx, 10)
						for k := range y.Slice() {
							y.Slice()[k] = int32(g*100 + i)
						}
						all[g] = append(all[g], y)
						runtime.Gosched()
					}
				})
			}
			wait.Wait()
			for g := range all {
				for i, y := range all[g] {
					if !slices.Equal(y.Slice(), slices.Repeat([]int32{int32(g*100 + i)}, 10)) {
						t.Errorf("round %d: goroutine %d, output %d: %v", round, g, i, y.Slice())
					}
				}
			}
			return nil
		}})
		if err := newCall().of(f, h); err != nil {
			t.Fatal(err)
		}
		h.balanced(t)
	}
}

// A context that is kept after the call has no scratch memory: another call may use it.
func TestScratchAfterTheCall(t *testing.T) {
	h := newScratchHost(64)
	for _, asks := range []bool{false, true} {
		var kept *kernel.Ctx
		f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
			kept = c.Ctx()
			kernel.Empty[float32](kept, 3)
			if asks {
				kernel.Empty[float32](kept, 10_000)
			}
			return nil
		}})
		if err := newCall().of(f, h); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			kernel.Empty[float32](kept, 3)
		}()
		if err := kept.Err(); err == nil {
			t.Error("Err of a call that has ended: got nil")
		}
		h.balanced(t)
	}
}

// A callback gets a copy of an output in the scratch memory.
func TestScratchIsLentAsACopy(t *testing.T) {
	h := newScratchHost(64)
	var start, lent unsafe.Pointer
	h.invoke = func(_ unsafe.Pointer, args packed.Args, _ *packed.Ret) error {
		x, err := args.At(0).Tensor()
		if err != nil {
			return err
		}
		lent = x.Data
		kernel.Drop(h, args.At(0))
		return nil
	}
	f := callsBack(t, func(c *kernel.Call, g kernel.Callable) error {
		y := kernel.Zeros[float32](c.Ctx(), 3)
		start = y.Pointer()
		_, err := g.Call(y)
		return err
	})
	if err := newCall(function, record([]float32{1}, 1)).of(f, h); err != nil {
		t.Fatal(err)
	}
	if !h.inScratch(start) || lent == start || lent == nil {
		t.Errorf("the output is at %p, the callback got %p", start, lent)
	}
	h.balanced(t)
}

// Outputs of any shapes are disjoint from each other and from all records, which hold what was requested.
func FuzzScratch(f *testing.F) {
	f.Add([]byte{0, 1, 9, 2, 3, 4, 3, 1, 0, 7, 1, 12, 3, 15, 15, 15})
	f.Fuzz(func(t *testing.T, numbers []byte) {
		h := newScratchHost(64)
		type extent struct{ from, to uintptr }
		var taken []extent
		take := func(start unsafe.Pointer, size int) {
			e := extent{uintptr(start), uintptr(start) + uintptr(size)}
			for _, other := range taken {
				if e.from < other.to && other.from < e.to {
					t.Errorf("%x and %x share memory", e, other)
				}
			}
			taken = append(taken, e)
		}
		ready := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
			for len(numbers) > 0 {
				rank := min(int(numbers[0]%4), len(numbers)-1)
				shape := make([]int64, rank)
				for i := range shape {
					shape[i] = int64(numbers[1+i] % 16)
				}
				numbers = numbers[1+rank:]
				y := kernel.Empty[uint16](c.Ctx(), shape...)
				if !slices.Equal(y.Shape(), shape) || !y.Contiguous() {
					t.Errorf("want %v, got %v", shape, y.Shape())
				}
				if y.Len() > 0 {
					take(y.Pointer(), 2*y.Len())
					if rank > 0 {
						take(unsafe.Pointer(unsafe.SliceData(y.Shape())), 8*rank)
					}
				}
				for i := range y.Len() {
					y.Slice()[i] = 0xaaaa
				}
			}
			return nil
		}})
		if err := newCall().of(ready, h); err != nil {
			t.Error(err)
		}
		h.balanced(t)
	})
}
