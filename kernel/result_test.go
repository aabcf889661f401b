package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

var (
	anyTensor = kernel.Param{Kind: kernel.KindTensor}
	anyInt    = kernel.Param{Kind: kernel.KindInt}
)

// results declares n tensors.
func results(n int) []kernel.Param {
	all := make([]kernel.Param, n)
	for i := range all {
		all[i] = anyTensor
	}
	return all
}

func TestResults(t *testing.T) {
	data := []float32{1, 2, 3, 4}
	x := tensorOf("x", float32s)
	cuda := dlpack.Device{Type: dlpack.CUDA, ID: 1}
	for _, c := range []struct {
		name string
		do   func(c *kernel.Call)
		want any
	}{
		{"none", func(c *kernel.Call) { c.ReturnNone() }, nil},
		{"bool", func(c *kernel.Call) { c.ReturnBool(true) }, true},
		{"int", func(c *kernel.Call) { c.ReturnInt(-5) }, int64(-5)},
		{"uint", func(c *kernel.Call) { c.ReturnUint(math.MaxInt64) }, int64(math.MaxInt64)},
		{"large uint", func(c *kernel.Call) { c.ReturnUint(1<<63 + 1) }, uint64(1<<63 + 1)},
		{"large uints", func(c *kernel.Call) { kernel.ReturnInts(c, []uint64{1, 1 << 63}) }, []any{int64(1), uint64(1 << 63)}},
		{"float", func(c *kernel.Call) { c.ReturnFloat(0.1) }, 0.1},
		{"str", func(c *kernel.Call) { c.ReturnString("a\x00é") }, "a\x00é"},
		{"bytes", func(c *kernel.Call) { c.ReturnBytes([]byte{0, 1}) }, []byte{0, 1}},
		{"dtype", func(c *kernel.Call) { c.ReturnDType(dlpack.Float8E4M3FN) }, dlpack.Float8E4M3FN},
		{"device", func(c *kernel.Call) { c.ReturnDevice(cuda) }, cuda},
		{"strings", func(c *kernel.Call) { c.ReturnStrings([]string{"a", ""}) }, []any{"a", ""}},
		{"bools", func(c *kernel.Call) { c.ReturnBools([]bool{true, false}) }, []any{true, false}},
		{"ints", func(c *kernel.Call) { kernel.ReturnInts(c, []int16{-1, 2}) }, []any{int64(-1), int64(2)}},
		{"floats", func(c *kernel.Call) { kernel.ReturnFloats(c, []float32{0.5}) }, []any{0.5}},
		{"empty list", func(c *kernel.Call) { kernel.ReturnInts(c, []int{}) }, []any{}},
		{"argument", func(c *kernel.Call) { kernel.Return(c, kernel.Of[float32](c, 0)) }, argument(0)},
		{"part of an argument", func(c *kernel.Call) { kernel.Return(c, kernel.Of[float32](c, 0).Row(1)) }, []float64{3, 4}},
		{"transposed argument", func(c *kernel.Call) {
			v, _ := tensor.FromStrided(kernel.Of[float32](c, 0).Slice(), 0, []int64{2, 2}, []int64{1, 2})
			kernel.ReturnMut(c, v)
		}, []float64{1, 3, 2, 4}},
		{"flattened argument", func(c *kernel.Call) {
			v, _ := tensor.FromSlice(kernel.Of[float32](c, 0).Slice(), 4)
			kernel.ReturnMut(c, v)
		}, []float64{1, 2, 3, 4}},
		{"bits of an argument", func(c *kernel.Call) {
			data := kernel.Of[float32](c, 0).Slice()
			v, _ := tensor.FromSlice(unsafe.Slice((*int32)(unsafe.Pointer(&data[0])), 4), 2, 2)
			kernel.ReturnMut(c, v)
		}, []float64{0x3f800000, 0x40000000, 0x40400000, 0x40800000}},
		{"output", func(c *kernel.Call) {
			y := kernel.Empty[float32](c.Ctx(), 2)
			y.Set(1, 0)
			y.Set(2, 1)
			kernel.ReturnMut(c, y)
		}, []float64{1, 2}},
		{"output to read", func(c *kernel.Call) { kernel.Return(c, kernel.Zeros[float64](c.Ctx(), 1, 2).Of) }, []float64{0, 0}},
		{"part of an output", func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 2, 3).Row(0)) }, []float64{0, 0, 0}},
		{"empty output", func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[int8](c.Ctx(), 2, 0)) }, []float64{}},
		{"output without axes", func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx())) }, []float64{0}},
		{"output on a device", func(c *kernel.Call) {
			kernel.ReturnDeviceMut(c, kernel.EmptyOn[int8](c.Ctx(), dlpack.Device{Type: dlpack.CPU}, 2)) // hosts leave 0xaa in this memory
		}, []float64{-0x56, -0x56}},
		{"Go memory", func(c *kernel.Call) {
			v, _ := tensor.FromSlice([]int32{1, 2, 3}, 3)
			kernel.ReturnMut(c, v)
		}, []float64{1, 2, 3}},
		{"device memory of the host", func(c *kernel.Call) {
			v, _ := tensor.FromSlice([]int32{4}, 1)
			kernel.ReturnDeviceMut(c, v.OnDevice())
		}, []float64{4}},
		{"device view to read", func(c *kernel.Call) { kernel.ReturnDeviceOf(c, kernel.Of[float32](c, 0).OnDevice()) }, argument(0)},
		{"padded lanes into packed ones", func(c *kernel.Call) {
			v, _ := tensor.FromSlice([]tensor.Float6E2M3FN{tensor.Float6E2M3FNFrom(0.5), tensor.Float6E2M3FNFrom(-2)}, 2)
			kernel.ReturnMut(c, v)
		}, []float64{0.5, -2}},
		{"tensors", func(c *kernel.Call) {
			y, z := kernel.Zeros[float32](c.Ctx(), 1), kernel.Of[float32](c, 0)
			kernel.ReturnList(c, []tensor.Of[float32]{y.Of, z, z.Row(0)})
		}, []any{[]float64{0}, argument(0), []float64{1, 2}}},
		{"tensors to write", func(c *kernel.Call) {
			kernel.ReturnMutList(c, []tensor.Mut[float32]{kernel.Zeros[float32](c.Ctx(), 1)})
		}, []any{[]float64{0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := prepare(t, kernel.Func{Params: []kernel.Param{x}, Results: results(1), Do: func(call *kernel.Call) error {
				c.do(call)
				return nil
			}})
			for _, h := range []*fakeHost{newHost(), newScratchHost(16)} {
				called := newCall(record(data, 2, 2))
				if err := called.of(f, h); err != nil {
					t.Fatal(err)
				}
				equal(t, "result", called.result(t, h), c.want)
				h.balanced(t)
			}
		})
	}
}

// A returned tensor is checked against its declaration: torch_op and others rely on it.
func TestResultsAreAsDeclared(t *testing.T) {
	data := make([]float32, 12)
	matrix := record(data, 3, 4)
	x := tensorOf("x", []dlpack.DType{dlpack.Float32}, "n", "m")
	for _, c := range []struct {
		name  string
		shape []kernel.Extent
		do    func(c *kernel.Call)
		want  string
	}{
		{"right", []kernel.Extent{"m", "n"}, func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 4, 3)) }, ""},
		{"dots", []kernel.Extent{"...", "n"}, func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 7, 8, 3)) }, ""},
		{"a new name", []kernel.Extent{"k", "k"}, func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 9, 9)) }, ""},
		{"extent", []kernel.Extent{"m", "n"}, func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 3, 4)) },
			"RuntimeError: f(): result 0: declared as float32[m, n] on cpu, returned float32[3, 4] on cpu"},
		{"rank", []kernel.Extent{"n"}, func(c *kernel.Call) { kernel.Return(c, kernel.Of[float32](c, 0)) },
			"RuntimeError: f(): result 0: declared as float32[n] on cpu, returned float32[3, 4] on cpu"},
		{"dtype", nil, func(c *kernel.Call) { kernel.ReturnMut(c, kernel.Empty[int8](c.Ctx(), 3)) },
			"RuntimeError: f(): result 0: declared as float32[...] on cpu, returned int8[3] on cpu"},
	} {
		result := tensorOf("", []dlpack.DType{dlpack.Float32})
		result.Shape = c.shape
		f := prepare(t, kernel.Func{Params: []kernel.Param{x}, Results: []kernel.Param{result}, Do: func(call *kernel.Call) error {
			c.do(call)
			return nil
		}})
		h := newHost()
		call := newCall(matrix)
		err := call.of(f, h)
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && c.want != "" {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		call.result(t, h)
		h.balanced(t)
	}
}

// An output is passed on, not copied; if it is returned twice, the second is a copy.
func TestOutputsAreNotCopied(t *testing.T) {
	var start unsafe.Pointer
	f := prepare(t, kernel.Func{Results: results(2), Do: func(c *kernel.Call) error {
		y := kernel.Zeros[float32](c.Ctx(), 3)
		start = y.Pointer()
		kernel.ReturnMut(c, y)
		kernel.ReturnMut(c, y)
		return nil
	}})
	h, called := newHost(), newCall()
	if err := called.of(f, h); err != nil {
		t.Fatal(err)
	}
	list, _ := called.ret.Get().List()
	first, _ := list.At(0).Tensor()
	second, _ := list.At(1).Tensor()
	if first.Data != start || second.Data == start {
		t.Errorf("got %p and %p for the output at %p", first.Data, second.Data, start)
	}
	equal(t, "values", called.result(t, h), []any{[]float64{0, 0, 0}, []float64{0, 0, 0}})
	h.balanced(t)
}

// Omitted strides are compact strides.
func TestArgumentsWithoutStrides(t *testing.T) {
	f := prepare(t, kernel.Func{Params: []kernel.Param{tensorOf("x", float32s)}, Results: results(1), Do: func(c *kernel.Call) error {
		v, err := tensor.FromSlice(kernel.Of[float32](c, 0).Slice(), 2, 3)
		kernel.ReturnMut(c, v)
		return err
	}})
	bare := *record([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	bare.Strides = nil
	h, called := newHost(), newCall(&bare)
	if err := called.of(f, h); err != nil {
		t.Fatal(err)
	}
	equal(t, "the argument", called.result(t, h), argument(0))
}

func TestSeveralResults(t *testing.T) {
	f := prepare(t, kernel.Func{Results: []kernel.Param{anyInt, anyInt, anyTensor}, Do: func(c *kernel.Call) error {
		c.ReturnInt(1)
		c.ReturnString("two")
		kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 1))
		return nil
	}})
	h, called := newHost(), newCall()
	if err := called.of(f, h); err != nil {
		t.Fatal(err)
	}
	if code := called.ret.Get().Code; code != packed.CodeTuple {
		t.Errorf("got a %v, want a tuple", code)
	}
	equal(t, "results", called.result(t, h), []any{int64(1), "two", []float64{0}})
	h.balanced(t)
}

// After every failure the error describes it, the result is None, and nothing leaks.
func TestFailuresLoseNothing(t *testing.T) {
	full := func(h *fakeHost) { h.full = true }
	for _, c := range []struct {
		name string
		host func(*fakeHost)
		do   func(c *kernel.Call) error
		want string
	}{
		{"own error", nil, func(*kernel.Call) error { return errors.New("no") }, "no"},
		{"own kind", nil, func(*kernel.Call) error { return kernel.Errorf(kernel.IndexError, "no %d", 1) }, "IndexError: no 1"},
		{"the caller's exception", nil, func(*kernel.Call) error { return kernel.ErrRaised }, "the caller has an exception pending"},
		{"too few", nil, func(*kernel.Call) error { return nil }, "RuntimeError: f() declares 1 results, and returned 0"},
		{"too many", nil, func(c *kernel.Call) error {
			c.ReturnString("a")
			c.ReturnString("b")
			return nil
		}, "RuntimeError: f() declares 1 results, and returned 2"},
		{"too many tensors", nil, func(c *kernel.Call) error {
			kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 1))
			kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 1))
			return nil
		}, "RuntimeError: f() declares 1 results, and returned 2"},
		{"no block", full, func(c *kernel.Call) error {
			c.ReturnString("a")
			return nil
		}, "MemoryError: want 18 bytes for a result, got none"},
		{"no block for a list", full, func(c *kernel.Call) error {
			kernel.ReturnMutList(c, []tensor.Mut[int8]{kernel.Zeros[int8](c.Ctx(), 1)})
			return nil
		}, "MemoryError: want 44 bytes for a result, got none"},
		{"no output", func(h *fakeHost) {
			h.allocate = func(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
				return nil, kernel.Errorf(kernel.MemoryError, "full")
			}
		}, func(c *kernel.Call) error {
			kernel.Empty[float32](c.Ctx(), 3)
			return nil
		}, "MemoryError: full"},
		{"no shape", nil, func(c *kernel.Call) error {
			kernel.Empty[float32](c.Ctx(), 3, -1)
			return nil
		}, "ValueError: shape[1]: want 0 or more, got -1"},
		{"no shape, for no caller", nil, func(*kernel.Call) error {
			kernel.Empty[float32](nil, 3, -1)
			return nil
		}, "ValueError: shape[1]: want 0 or more, got -1"},
		{"part of device memory", nil, func(c *kernel.Call) error {
			p := unsafe.Pointer(&make([]float32, 4)[0])
			v, _ := tensor.FromPointer[float32](p, dlpack.Device{Type: dlpack.CUDA}, []int64{4}, nil)
			kernel.ReturnDeviceMut(c, v)
			return nil
		}, "BufferError: result: want a whole output, an argument, or memory of the host, got a part of memory on cuda:0"},
		{"after an output", nil, func(c *kernel.Call) error {
			kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 1))
			kernel.Empty[int8](c.Ctx(), 1)
			c.ReturnBytes([]byte("a"))
			return errors.New("no")
		}, "no"},
		{"a nil pointer", nil, func(c *kernel.Call) error {
			kernel.ReturnMut(c, kernel.Zeros[int8](c.Ctx(), 1))
			var p *int
			*p = 1
			return nil
		}, "RuntimeError: f(): Go panicked: runtime error: invalid memory address or nil pointer dereference"},
		{"a wild pointer", nil, func(c *kernel.Call) error {
			c.ReturnString("a")
			wild := uintptr(0x7eadbeef0000)
			**(**byte)(unsafe.Pointer(&wild)) = 1
			return nil
		}, "RuntimeError: f(): Go panicked: runtime error: invalid memory address or nil pointer dereference"},
		{"an index", nil, func(c *kernel.Call) error {
			kernel.Zeros[int8](c.Ctx(), 1).At(5)
			return nil
		}, "IndexError: f(): axis 0: want an index below 1, got 5 (result_test.go:"},
		{"a slice of what has gaps", nil, func(c *kernel.Call) error {
			v, _ := tensor.FromStrided(make([]float32, 6), 0, []int64{3}, []int64{2})
			v.Slice()
			return nil
		}, "BufferError: f(): Slice: want elements one behind the other, got float32[3] with strides [2]; use a copy, np.ascontiguousarray(x) or x.contiguous(), and put it back by x[...] = copy; " +
			"in Go, loop by All, Pointers or At, or declare order=C or convert (result_test.go:"},
		{"an error that is panicked", nil, func(c *kernel.Call) error {
			panic(kernel.Errorf(kernel.ValueError, "no %d", 1))
		}, "ValueError: no 1"},
		{"an error that is wrapped", nil, func(c *kernel.Call) error {
			return fmt.Errorf("reading: %w", kernel.Errorf(kernel.ValueError, "no %d", 1))
		}, "reading: ValueError: no 1"}, // Go's text: hosts read kind and message (dlpack.MessageOf)
		{"an allocator's tensor that is read-only", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Flags = dlpack.ReadOnly }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[2] on cpu, strides [1]"},
		{"one with gaps", allocates(func(m *dlpack.ManagedTensorVersioned) { *m.Tensor.Strides = 2 }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[2] on cpu, strides [2]"},
		{"one of another type", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.DType = dlpack.Int32 }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got int32[2] on cpu, strides [1]"},
		{"one on another device", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = dlpack.CUDA }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[2] on cuda:0, strides [1]"},
		{"one of another shape", allocates(func(m *dlpack.ManagedTensorVersioned) { *m.Tensor.Shape = 1 }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[1] on cpu, strides [1]"},
		{"one of another rank", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.NDim = 0 }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[] on cpu, strides []"},
		{"one that is not aligned", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.ByteOffset = 1 }), empty,
			"BufferError: the caller's allocator: want compact and writable float32[2] on cpu, got float32[2] on cpu, strides [1]"},
		{"one without memory", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Data = nil }), empty,
			"BufferError: the caller's allocator: data: want a pointer"},
		{"one that is no tensor", allocates(func(m *dlpack.ManagedTensorVersioned) { m.Tensor.NDim = -1 }), empty,
			"BufferError: the caller's allocator: ndim: want 0 to 64, got -1"},
		{"packed lanes", nil, func(c *kernel.Call) error {
			kernel.Empty[tensor.Float6E2M3FN](c.Ctx(), 2)
			return nil
		}, "BufferError: want memory for float6_e2m3fn with one byte a lane, but the caller allocates packed lanes: return Go memory instead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := prepare(t, kernel.Func{Results: results(1), Do: c.do})
			h, called := newHost(), newCall()
			if c.host != nil {
				c.host(h)
			}
			err := called.of(f, h)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if called.ret.Get() != packed.Null {
				t.Errorf("result %v, want None", called.ret.Get())
			}
			h.balanced(t)
		})
	}
}

func empty(c *kernel.Call) error {
	kernel.Empty[float32](c.Ctx(), 2)
	return nil
}

// allocates makes the host's allocator return changed records.
func allocates(change func(*dlpack.ManagedTensorVersioned)) func(*fakeHost) {
	return func(h *fakeHost) {
		h.allocate = func(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
			m, err := h.memory(prototype)
			change(m)
			return m, err
		}
	}
}

// The stack contains the line that panicked.
func TestPanicsCarryTheirStack(t *testing.T) {
	f := prepare(t, kernel.Func{Do: func(*kernel.Call) error { panics(); return nil }})
	err := newCall().of(f, newHost())
	if dlpack.KindOf(err) != kernel.RuntimeError || !strings.Contains(err.Error(), "f(): Go panicked: on purpose\n\ngoroutine") ||
		!strings.Contains(err.Error(), "kernel_test.panics") {
		t.Errorf("got %v", err)
	}
}

//go:noinline
func panics() { panic("on purpose") }

// A fault is a panic within a call; afterwards the goroutine has its previous setting.
func TestFaultsAfterTheCall(t *testing.T) {
	f := prepare(t, kernel.Func{Do: func(*kernel.Call) error {
		if !debug.SetPanicOnFault(true) {
			t.Error("a fault within a call ends the process")
		}
		return nil
	}})
	for _, before := range []bool{false, true} {
		old := debug.SetPanicOnFault(before)
		if err := newCall().of(f, newHost()); err != nil || debug.SetPanicOnFault(old) != before {
			t.Errorf("got %v, or another setting than %t", err, before)
		}
	}
}

// After a panic the function can be called again, with a reset Call.
func TestCallsAreIndependent(t *testing.T) {
	fail := true
	f := prepare(t, kernel.Func{Params: []kernel.Param{tensorOf("x", float32s, "n")}, Results: results(1), Do: func(c *kernel.Call) error {
		c.ReturnString("a")
		if fail {
			panic("on purpose")
		}
		return nil
	}})
	h := newHost()
	for i := range 10 {
		fail = i%2 == 0
		called := newCall(record(make([]float32, i), int64(i)))
		err := called.of(f, h)
		if (err != nil) != fail {
			t.Errorf("call %d: got %v", i, err)
		}
		called.result(t, h)
	}
	h.balanced(t)
}

// A function may be called during its own run, by itself or by others.
func TestNestedCalls(t *testing.T) {
	h := newHost()
	var f *kernel.Func
	f = prepare(t, kernel.Func{Params: []kernel.Param{{Name: "n", Kind: kernel.KindInt}}, Results: []kernel.Param{anyInt}, Do: func(c *kernel.Call) error {
		n := kernel.Int[int](c, 0)
		if n > 0 {
			inner := newCall(n - 1)
			if err := inner.of(f, h); err != nil {
				return err
			}
			below, _ := inner.ret.Get().Int()
			c.ReturnInt(below + int64(n))
			return nil
		}
		c.ReturnInt(0)
		return nil
	}})
	called := newCall(10)
	if err := called.of(f, h); err != nil {
		t.Fatal(err)
	}
	equal(t, "sum", called.result(t, h), int64(55))
	runtime.KeepAlive(called)
}

func TestRagged(t *testing.T) {
	for _, rows := range [][][]int16{nil, {nil}, {{1, 2}, nil, {3}, {}}} {
		values, offsets := kernel.Ragged(nil, rows)
		if offsets.Len() != len(rows)+1 || offsets.At(0) != 0 || offsets.At(len(rows)) != int64(values.Len()) {
			t.Fatalf("%v: %d offsets, %d values", rows, offsets.Len(), values.Len())
		}
		for i, row := range rows {
			if got := values.Slice()[offsets.At(i):offsets.At(i+1)]; !slices.Equal(got, row) {
				t.Errorf("%v: row %d: %v", rows, i, got)
			}
		}
	}
}
