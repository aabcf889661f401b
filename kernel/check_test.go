package kernel_test

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

func nothing(*kernel.Call) error { return nil }

// Every refusal: the declaration, the argument, and the error text.
func TestRefusals(t *testing.T) {
	x23 := record(make([]float32, 6), 2, 3)
	ints := record(make([]int64, 4), 4)
	data := make([]float32, 8)
	cuda := *record(make([]float32, 3), 3)
	cuda.Device = dlpack.Device{Type: dlpack.CUDA, ID: 1}
	opencl := cuda
	opencl.Device.Type = dlpack.OpenCL
	odd := *record(make([]float32, 3), 3)
	odd.ByteOffset = 1
	oddPinned := odd
	oddPinned.Device.Type = dlpack.CUDAHost
	oddCUDA := cuda
	oddCUDA.ByteOffset = 1
	bad := *x23
	bad.NDim = 99
	fp6 := &dlpack.Tensor{Data: unsafe.Pointer(&data[0]), Device: dlpack.Device{Type: dlpack.CPU}, NDim: 1, DType: dlpack.Float6E2M3FN, Shape: &[]int64{2}[0]}
	fp4x2 := record(make([]tensor.Float4E2M1FNx2, 2), 2)

	float := func(shape ...kernel.Extent) kernel.Param { return tensorOf("x", float32s, shape...) }
	with := func(p kernel.Param, change func(*kernel.Param)) kernel.Param {
		change(&p)
		return p
	}
	named := func(p kernel.Param, name string) kernel.Param {
		p.Name = name
		return p
	}
	of2 := []kernel.Param{tensorOf("x", []dlpack.DType{dlpack.Float32, dlpack.Float64}), tensorOf("y", []dlpack.DType{dlpack.Float32, dlpack.Float64})}
	of2[0].Var, of2[1].Var = "T", "T"
	for _, c := range []struct {
		name   string
		params []kernel.Param
		args   []any
		want   string
	}{
		{"kind", []kernel.Param{float("n")}, []any{3}, "TypeError: f(): argument 'x': want float32[n] on cpu, got int: pass an array (numpy.asarray(x))"},
		{"none", []kernel.Param{float("n")}, []any{nil}, "TypeError: f(): argument 'x': want float32[n] on cpu, got None"},
		{"dtype", []kernel.Param{tensorOf("x", []dlpack.DType{dlpack.Float32, dlpack.Float64}, "n", "m")}, []any{ints},
			"TypeError: f(): argument 'x': want float32|float64[n, m] on cpu, got int64[4] on cpu"},
		{"rank", []kernel.Param{float("n")}, []any{x23}, "TypeError: f(): argument 'x': want float32[n] on cpu, got float32[2, 3] on cpu"},
		{"no axes", []kernel.Param{float([]kernel.Extent{}...)}, []any{3.0}, "TypeError: f(): argument 'x': want float32[] on cpu, got float: pass an array (numpy.asarray(x))"},
		{"scalar", []kernel.Param{float([]kernel.Extent{}...)}, []any{x23},
			"TypeError: f(): argument 'x': want float32[] on cpu, got float32[2, 3] on cpu"},
		{"rank with dots", []kernel.Param{float("n", "...", "m", "k")}, []any{x23},
			"TypeError: f(): argument 'x': want float32[n, ..., m, k] on cpu, got float32[2, 3] on cpu"},
		{"extent", []kernel.Param{float("n", "4")}, []any{x23}, "ValueError: f(): argument 'x': want float32[n, 4] on cpu, got float32[2, 3] on cpu"},
		{"extent behind dots", []kernel.Param{float("...", "2")}, []any{x23}, "ValueError: f(): argument 'x': want float32[..., 2] on cpu, got float32[2, 3] on cpu"},
		{"square", []kernel.Param{float("n", "n")}, []any{x23},
			"ValueError: f(): argument 'x': want float32[n, n] on cpu, got float32[2, 3] on cpu, but n is 2 in 'x'"},
		{"extents disagree", []kernel.Param{float("n", "m"), named(float("m"), "y")}, []any{x23, record(data, 8)},
			"ValueError: f(): argument 'y': want float32[m] on cpu, got float32[8] on cpu, but m is 3 in 'x'"},
		{"extents disagree with an empty one", []kernel.Param{float("m"), named(float("m"), "y")}, []any{record(data[:0], 0), record(data, 8)},
			"ValueError: f(): argument 'y': want float32[m] on cpu, got float32[8] on cpu, but m is 0 in 'x'"},
		{"variable", []kernel.Param{with(float(), func(p *kernel.Param) { p.Var, p.DTypes = "T", nil }), with(float(), func(p *kernel.Param) { p.Name, p.Var, p.DTypes = "y", "T", nil })},
			[]any{x23, ints}, "TypeError: f(): argument 'y': want any[...] on cpu, got int64[4] on cpu, but T is float32"},
		{"variable of two types", of2, []any{x23, record([]float64{1}, 1)},
			"TypeError: f(): argument 'y': want float32|float64[...] on cpu, got float64[1] on cpu, but T is float32"},
		{"variable of another type", of2, []any{x23, ints}, "TypeError: f(): argument 'y': want float32|float64[...] on cpu, got int64[4] on cpu"},
		{"order C", []kernel.Param{with(float("n", "m"), func(p *kernel.Param) { p.Order = "C" })}, []any{strided(data, 0, []int64{2, 3}, []int64{1, 2})},
			"BufferError: f(): argument 'x': want float32[n, m] on cpu, C-contiguous, got float32[2, 3] on cpu, strides [1, 2]; " +
				"use np.ascontiguousarray(x) or x.contiguous(), or declare it convert in Go"},
		{"order F", []kernel.Param{with(float("n", "m"), func(p *kernel.Param) { p.Order = "F" })}, []any{x23},
			"BufferError: f(): argument 'x': want float32[n, m] on cpu, F-contiguous, got float32[2, 3] on cpu, strides [3, 1]; " +
				"use np.asfortranarray(x) or x.T.contiguous().T, or declare it convert in Go"},
		{"order C to write", []kernel.Param{with(float("n", "m"), func(p *kernel.Param) { p.Order, p.Mutable = "C", true })}, []any{strided(data, 0, []int64{2, 3}, []int64{1, 2})},
			"BufferError: f(): argument 'x': want float32[n, m] on cpu, C-contiguous, writable, got float32[2, 3] on cpu, strides [1, 2]; " +
				"use a copy, np.ascontiguousarray(x) or x.contiguous(), and put it back by x[...] = copy"},
		{"order F of three axes", []kernel.Param{with(float(), func(p *kernel.Param) { p.Order, p.Device = "F", "any" })}, []any{record(data, 2, 2, 2)},
			"BufferError: f(): argument 'x': want float32[...] on any device, F-contiguous, got float32[2, 2, 2] on cpu, strides [4, 2, 1]; use np.asfortranarray(x)"},
		{"device", []kernel.Param{float("n")}, []any{&cuda}, "BufferError: f(): argument 'x': want float32[n] on cpu, got float32[3] on cuda:1; use x.to(\"cpu\")"},
		{"host", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Device = "cuda" })}, []any{record(data, 8)},
			"BufferError: f(): argument 'x': want float32[n] on cuda, got float32[8] on cpu; use x.to(\"cuda\")"},
		{"pinned memory", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Device = "cuda_host" })}, []any{record(data, 8)},
			"BufferError: f(): argument 'x': want float32[n] on cuda_host, got float32[8] on cpu; use x.to(\"cuda_host\")"},
		{"alignment of pinned memory", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Device = "cuda_host" })}, []any{&oddPinned},
			"BufferError: f(): argument 'x': want float32[n] on cuda_host, got float32[3] on cuda_host, not aligned to 4 bytes; use x.copy() or x.clone()"},
		{"handle", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Device = "any" })}, []any{&opencl},
			"BufferError: f(): argument 'x': want float32[n] on any device, got float32[3] on opencl:1, a handle without an address"},
		{"read-only", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Mutable = true })}, []any{flagged{record(data, 8), dlpack.ReadOnly}},
			"BufferError: f(): argument 'x': want float32[n] on cpu, writable, got float32[8] on cpu, read-only; use a copy, np.array(x) or x.clone()"},
		{"alignment to write", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Mutable = true })}, []any{&odd},
			"BufferError: f(): argument 'x': want float32[n] on cpu, writable, got float32[3] on cpu, not aligned to 4 bytes; " +
				"use a copy, x.copy() or x.clone(), and put it back by x[...] = copy"},
		{"alignment in a list", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s, Mutable: true}}}, []any{[]any{x23, &odd}},
			"BufferError: f(): argument 'x': element 1: want float32[...] on cpu, writable, got float32[3] on cpu, not aligned to 4 bytes; " +
				"use a copy, x.copy() or x.clone(), and put it back by x[...] = copy"},
		{"alignment on a device", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Device = "cuda" })}, []any{&oddCUDA},
			"BufferError: f(): argument 'x': want float32[n] on cuda, got float32[3] on cuda:1, not aligned to 4 bytes; use x.copy() or x.clone()"},
		{"padded pairs", []kernel.Param{tensorOf("x", []dlpack.DType{fp4x2.DType}, "n")}, []any{flagged{fp4x2, dlpack.SubbytePadded}},
			"BufferError: f(): argument 'x': want float4_e2m1fnx2[n] on cpu, got float4_e2m1fnx2[2] on cpu, with lanes padded to a byte each"},
		{"packed lanes", []kernel.Param{tensorOf("x", []dlpack.DType{dlpack.Float6E2M3FN}, "n")}, []any{fp6},
			"BufferError: f(): argument 'x': want float6_e2m3fn[n] on cpu, got float6_e2m3fn[2] on cpu, with lanes packed"},
		{"broadcast to write", []kernel.Param{with(float("n"), func(p *kernel.Param) { p.Mutable = true })}, []any{strided(data, 0, []int64{4}, []int64{0})},
			"ValueError: f(): argument 'x': want float32[n] on cpu, writable, got float32[4] on cpu, with elements that share memory; use a copy, np.array(x) or x.clone()"},
		{"invalid", []kernel.Param{float("n")}, []any{&bad}, "BufferError: f(): argument 'x': ndim: want 0 to 64, got 99"},
		{"overlap", []kernel.Param{float("n"), with(float("m"), func(p *kernel.Param) { p.Name, p.Mutable = "y", true })},
			[]any{record(data[:5], 5), record(data[4:], 4)}, "ValueError: f(): argument 'y': want memory of its own, since the function writes to it, got memory that 'x' shares"},
		{"overlap in a list", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s, Mutable: true}}},
			[]any{[]any{record(data[:5], 5), record(data[4:], 4)}}, "ValueError: f(): argument 'x': want memory of its own, since the function writes to it, got memory that two of its elements share"},
		{"overlap of what has gaps", []kernel.Param{float("n"), with(float("m"), func(p *kernel.Param) { p.Name, p.Mutable = "y", true })},
			[]any{strided(data, 1, []int64{3}, []int64{2}), record(data[3:], 5)}, "ValueError: f(): argument 'y': want memory of its own, since the function writes to it, got memory that 'x' shares"},
		{"overlap with what has gaps", []kernel.Param{float("n"), with(float("m"), func(p *kernel.Param) { p.Name, p.Mutable = "y", true })},
			[]any{record(data[3:], 5), strided(data, 1, []int64{3}, []int64{2})}, "ValueError: f(): argument 'y': want memory of its own, since the function writes to it, got memory that 'x' shares"},
		{"no pointer", []kernel.Param{float("n")}, []any{packed.Cell{Value: 7, Code: packed.CodeTensor}},
			"ValueError: f(): argument 'x': want the address of a tensor, got 0x7 for a Tensor"},
		{"list element", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s}}},
			[]any{[]any{x23, ints}}, "TypeError: f(): argument 'x': element 1: want float32[...] on cpu, got int64[4] on cpu"},
		{"no list", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}}}, []any{3},
			"TypeError: f(): argument 'x': want list of int, got int"},
		{"array as a list", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}}}, []any{x23},
			"TypeError: f(): argument 'x': want list of int, got a tensor, float32[2, 3] on cpu: pass a list (x.reshape(-1).tolist())"},

		{"list of other", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}}}, []any{[]any{1, "a"}},
			"TypeError: f(): argument 'x': element 1: want int, got str"},
		{"int", []kernel.Param{{Name: "x", Kind: kernel.KindInt}}, []any{1.5}, "TypeError: f(): argument 'x': want int, got float"},
		{"int of a tensor", []kernel.Param{{Name: "x", Kind: kernel.KindInt}}, []any{record(data, 8)},
			"TypeError: f(): argument 'x': want int, got a tensor, float32[8] on cpu: pass one of its elements (x[0].item())"},
		{"int8", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 8}}, []any{128}, "ValueError: f(): argument 'x': want int8, got 128"},
		{"uint16", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 16, Unsigned: true}}, []any{-1}, "ValueError: f(): argument 'x': want uint16, got -1"},
		{"uint64", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Unsigned: true}}, []any{-1}, "ValueError: f(): argument 'x': want uint64, got -1"},
		{"large int", []kernel.Param{{Name: "x", Kind: kernel.KindInt}}, []any{packed.Uint(math.MaxUint64)}, "OverflowError: f(): argument 'x': want int, got 18446744073709551615"},
		{"float", []kernel.Param{{Name: "x", Kind: kernel.KindFloat}}, []any{"1"}, "TypeError: f(): argument 'x': want float, got str"},
		{"bool", []kernel.Param{{Name: "x", Kind: kernel.KindBool}}, []any{1.0}, "TypeError: f(): argument 'x': want bool, got float"},
		{"str", []kernel.Param{{Name: "x", Kind: kernel.KindString}}, []any{[]byte("a")}, "TypeError: f(): argument 'x': want str, got bytes"},
		{"str or None", []kernel.Param{{Name: "x", Kind: kernel.KindString, Optional: true}}, []any{1}, "TypeError: f(): argument 'x': want str or None, got int"},
		{"bytes", []kernel.Param{{Name: "x", Kind: kernel.KindBytes}}, []any{"a"}, "TypeError: f(): argument 'x': want bytes, got str"},
		{"dtype of another kind", []kernel.Param{{Name: "x", Kind: kernel.KindDType}}, []any{1}, "TypeError: f(): argument 'x': want dtype, got int"},
		{"dtype that is none", []kernel.Param{{Name: "x", Kind: kernel.KindDType}}, []any{dlpack.DType{Code: 2, Bits: 33, Lanes: 1}},
			"BufferError: f(): argument 'x': dtype float: want 16, 32, 64 or 128 bits, got 33"},
		{"dtype name", []kernel.Param{{Name: "x", Kind: kernel.KindDType}}, []any{"float33"}, "ValueError: f(): argument 'x': dtype float: want 16, 32, 64 or 128 bits, got 33"},
		{"device name", []kernel.Param{{Name: "x", Kind: kernel.KindDevice}}, []any{"cpu:x"},
			"ValueError: f(): argument 'x': device \"cpu:x\": want a number from 0 to 2147483647 after the colon, got \"x\""},
		{"device type", []kernel.Param{{Name: "x", Kind: kernel.KindDevice}}, []any{dlpack.Device{Type: 99}},
			"ValueError: f(): argument 'x': want a device type of DLPack, got 99"},
		{"callable", []kernel.Param{{Name: "x", Kind: kernel.KindCallable}}, []any{record(data, 8)}, "TypeError: f(): argument 'x': want callable, got a tensor, float32[8] on cpu"},
		{"missing", []kernel.Param{float("n"), {Name: "y", Kind: kernel.KindInt}}, []any{record(data, 8)}, "TypeError: f() missing argument 'y'"},
		{"missing in between", []kernel.Param{{Name: "x", Kind: kernel.KindInt}, {Name: "y", Kind: kernel.KindInt}}, []any{missing{}, 1}, "TypeError: f() missing argument 'x'"},
		{"too many", []kernel.Param{float("n")}, []any{record(data, 8), 1, 2}, "TypeError: f() takes 1 argument, got 3"},
		{"too many for none", nil, []any{1}, "TypeError: f() takes 0 arguments, got 1"},
		{"unknown code", []kernel.Param{float("n")}, []any{packed.Cell{Code: 99}}, "TypeError: f(): argument 'x': want float32[n] on cpu, got code 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := prepare(t, kernel.Func{Params: c.params, Do: func(*kernel.Call) error {
				t.Error("the function ran")
				return nil
			}})
			for _, args := range [][]any{c.args, vouched(c.args)} {
				h := newHost()
				called := newCall(args...)
				err := called.of(f, h)
				if err == nil || err.Error() != c.want {
					t.Errorf("got  %v\nwant %v", err, c.want)
				}
				if called.ret.Get() != packed.Null {
					t.Errorf("result %v, want None", called.ret.Get())
				}
				h.balanced(t)
			}
		})
	}
}

// Unusual arguments that are accepted.
func TestAccepted(t *testing.T) {
	data := make([]float32, 8)
	param := func(change func(*kernel.Param)) []kernel.Param {
		p := tensorOf("x", float32s, "n")
		change(&p)
		return []kernel.Param{p}
	}
	pinned := *record(data, 8)
	pinned.Device.Type = dlpack.CUDAHost
	pinnedOddly := *oddly(data, 8)
	pinnedOddly.Device.Type = dlpack.CUDAHost
	fp4x2 := record(make([]tensor.Float4E2M1FNx2, 2), 2)
	cuda := *record(data, 8)
	cuda.Device.Type = dlpack.CUDA
	written := tensorOf("y", float32s, "m")
	written.Mutable = true
	loose := written
	loose.MayOverlap = true
	for _, c := range []struct {
		name   string
		params []kernel.Param
		args   []any
	}{
		{"pinned memory", param(func(p *kernel.Param) {}), []any{&pinned}},
		{"pinned memory, not aligned", param(func(p *kernel.Param) {}), []any{&pinnedOddly}},
		{"pairs", param(func(p *kernel.Param) { p.DTypes = []dlpack.DType{fp4x2.DType} }), []any{fp4x2}},
		{"any device", param(func(p *kernel.Param) { p.Device = "any" }), []any{&cuda}},
		{"cuda", param(func(p *kernel.Param) { p.Device = "cuda" }), []any{&cuda}},
		{"read-only to read", param(func(p *kernel.Param) {}), []any{flagged{record(data, 8), dlpack.ReadOnly}}},
		{"broadcast to read", param(func(p *kernel.Param) {}), []any{strided(data, 0, []int64{4}, []int64{0})}},
		{"dots of nothing", param(func(p *kernel.Param) { p.Shape = []kernel.Extent{"n", "..."} }), []any{record(data, 8)}},
		{"star", param(func(p *kernel.Param) { p.Shape = []kernel.Extent{"*", "*"} }), []any{record(data, 2, 4)}},
		{"empty is contiguous", param(func(p *kernel.Param) { p.Shape, p.Order = nil, "F" }), []any{record([]float32{}, 2, 0, 3)}},
		{"neighbours", []kernel.Param{tensorOf("x", float32s, "n"), written}, []any{record(data[:4], 4), record(data[4:], 4)}},
		{"among the gaps", []kernel.Param{tensorOf("x", float32s, "n"), written}, []any{strided(data, 0, []int64{4}, []int64{2}), strided(data, 1, []int64{4}, []int64{2})}},
		{"overlap allowed", []kernel.Param{tensorOf("x", float32s, "n"), loose}, []any{record(data[:5], 5), record(data[4:], 4)}},
		{"int as float", []kernel.Param{{Name: "x", Kind: kernel.KindFloat}}, []any{3}},
		{"bool as int", []kernel.Param{{Name: "x", Kind: kernel.KindInt}}, []any{true}},
		{"small int8", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 8}}, []any{-128}},
		{"large int8", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 8}}, []any{127}},
		{"uint8 of 0", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 8, Unsigned: true}}, []any{0}},
		{"uint8", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Bits: 8, Unsigned: true}}, []any{255}},
		{"large uint64", []kernel.Param{{Name: "x", Kind: kernel.KindInt, Unsigned: true}}, []any{packed.Uint(math.MaxUint64)}},
		{"large int as float", []kernel.Param{{Name: "x", Kind: kernel.KindFloat}}, []any{packed.Uint(1 << 63)}},
		{"None", []kernel.Param{{Name: "x", Kind: kernel.KindString, Optional: true}}, []any{nil}},
		{"empty list", []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor}}}, []any{[]any{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := 0
			f := prepare(t, kernel.Func{Params: c.params, Do: func(*kernel.Call) error {
				ran++
				return nil
			}})
			for i, args := range [][]any{c.args, vouched(c.args)} {
				if err := newCall(args...).of(f, newHost()); err != nil || ran != i+1 {
					t.Errorf("got %v, ran %d times", err, ran)
				}
			}
		})
	}
}

// A record that the host has checked is not validated again.
func TestCheckedRecordsAreNotValidated(t *testing.T) {
	x := *record(make([]float32, 3), 3)
	x.Device.ID = 5
	x.Data = nil // Validate would reject it
	f := prepare(t, kernel.Func{Params: []kernel.Param{tensorOf("x", float32s, "n")}, Do: nothing})
	if err := newCall(flagged{&x, packed.Checked}).of(f, newHost()); err != nil {
		t.Error(err)
	}
	if err := newCall(&x).of(f, newHost()); err == nil || !strings.Contains(err.Error(), "data: want a pointer") {
		t.Errorf("without the flag: got %v", err)
	}
}

func TestUnpreparedFunc(t *testing.T) {
	f := kernel.Func{Name: "f", Do: nothing}
	if err := newCall().of(&f, newHost()); err == nil || !strings.Contains(err.Error(), "prepared") {
		t.Errorf("got %v", err)
	}
}
