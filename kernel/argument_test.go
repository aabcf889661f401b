package kernel_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// run prepares a function, calls it, and expects no error.
func run(t *testing.T, params []kernel.Param, do func(*kernel.Call), args ...any) {
	t.Helper()
	f := prepare(t, kernel.Func{Params: params, Do: func(c *kernel.Call) error {
		do(c)
		return nil
	}})
	h := newHost()
	if err := newCall(args...).of(f, h); err != nil {
		t.Error(err)
	}
	h.balanced(t)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func TestScalars(t *testing.T) {
	params := []kernel.Param{
		{Name: "a", Kind: kernel.KindInt}, {Name: "b", Kind: kernel.KindFloat}, {Name: "c", Kind: kernel.KindBool},
		{Name: "d", Kind: kernel.KindString}, {Name: "e", Kind: kernel.KindBytes}, {Name: "f", Kind: kernel.KindDType},
		{Name: "g", Kind: kernel.KindDevice}, {Name: "h", Kind: kernel.KindDType}, {Name: "i", Kind: kernel.KindDevice},
	}
	cuda := dlpack.Device{Type: dlpack.CUDA, ID: 1}
	run(t, params, func(c *kernel.Call) {
		equal(t, "int", kernel.Int[int8](c, 0), int8(-3))
		equal(t, "float", kernel.Float[float32](c, 1), float32(0.5))
		equal(t, "bool", c.Bool(2), true)
		equal(t, "str", c.String(3), "a\x00b")
		equal(t, "bytes", c.Bytes(4), []byte{0, 255})
		equal(t, "dtype", c.DType(5), dlpack.BFloat16)
		equal(t, "device", c.Device(6), cuda)
		equal(t, "dtype's name", c.DType(7), dlpack.Float32)
		equal(t, "device's name", c.Device(8), cuda)
		equal(t, "given", c.Given(0), true)
	}, -3, 0.5, true, "a\x00b", []byte{0, 255}, dlpack.BFloat16, cuda, "float32", "cuda:1")
}

func TestNone(t *testing.T) {
	var params []kernel.Param
	for i, kind := range []kernel.Kind{kernel.KindInt, kernel.KindFloat, kernel.KindBool, kernel.KindString, kernel.KindBytes,
		kernel.KindDType, kernel.KindDevice, kernel.KindCallable, kernel.KindTensor} {
		params = append(params, kernel.Param{Name: string(rune('a' + i)), Kind: kind, Optional: true})
	}
	params = append(params, kernel.Param{Name: "z", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}, Optional: true})
	none := make([]any, len(params))
	run(t, params, func(c *kernel.Call) {
		for i := range params {
			equal(t, "given", c.Given(i), false)
		}
		equal(t, "int", kernel.Int[int](c, 0), 0)
		equal(t, "float", kernel.Float[float64](c, 1), 0.0)
		equal(t, "bool", c.Bool(2), false)
		equal(t, "str", c.String(3), "")
		equal(t, "bytes", c.Bytes(4), []byte(nil))
		equal(t, "dtype", c.DType(5), dlpack.DType{})
		equal(t, "device", c.Device(6), dlpack.Device{})
		equal(t, "callable", c.Callable(7).Exists(), false)
		equal(t, "tensor", kernel.Of[float32](c, 8).Len(), 0)
		equal(t, "tensor's dtype", c.TypeOf(8), dlpack.DType{})
		equal(t, "list", kernel.Ints[int](c, 9), []int{})
	}, none...)
}

func TestDefaults(t *testing.T) {
	value := func(v any) *kernel.Default { return kernel.DefaultOf(v) }
	listOf := func(k kernel.Kind) *kernel.Param { return &kernel.Param{Kind: k} }
	params := []kernel.Param{
		{Name: "first", Kind: kernel.KindInt},
		{Name: "a", Kind: kernel.KindInt, Default: value(-1)}, {Name: "b", Kind: kernel.KindFloat, Default: value(1.0)},
		{Name: "c", Kind: kernel.KindBool, Default: value(true)}, {Name: "d", Kind: kernel.KindString, Default: value("é\n")},
		{Name: "e", Kind: kernel.KindBytes, Default: value([]byte("a\x00\""))}, {Name: "f", Kind: kernel.KindDType, Default: value(dlpack.Float32)},
		{Name: "g", Kind: kernel.KindDevice, Default: value(dlpack.Device{Type: dlpack.CPU})},
		{Name: "h", Kind: kernel.KindTensor, Optional: true, Default: value(nil)},
		{Name: "i", Kind: kernel.KindList, Elem: listOf(kernel.KindInt), Default: value([]int64{1, 2})},
		{Name: "j", Kind: kernel.KindList, Elem: listOf(kernel.KindFloat), Default: value([]float64{math.Inf(-1)})},
		{Name: "k", Kind: kernel.KindList, Elem: listOf(kernel.KindString), Default: value([]string{})},
		{Name: "l", Kind: kernel.KindList, Elem: listOf(kernel.KindBool), Default: value([]bool{false})},
		{Name: "m", Kind: kernel.KindInt, Default: value(int64(7))},
		{Name: "n", Kind: kernel.KindList, Elem: listOf(kernel.KindFloat), Default: value([]float64{math.Inf(1), math.MaxFloat64, -math.MaxFloat64})},
	}
	read := func(c *kernel.Call) {
		equal(t, "int", kernel.Int[int](c, 1), -1)
		equal(t, "float", kernel.Float[float64](c, 2), 1.0)
		equal(t, "bool", c.Bool(3), true)
		equal(t, "str", c.String(4), "é\n")
		equal(t, "bytes", c.Bytes(5), []byte("a\x00\""))
		equal(t, "dtype", c.DType(6), dlpack.Float32)
		equal(t, "device", c.Device(7), dlpack.Device{Type: dlpack.CPU})
		equal(t, "tensor", c.Given(8), false)
		equal(t, "ints", kernel.Ints[int8](c, 9), []int8{1, 2})
		equal(t, "floats", kernel.Floats[float32](c, 10), []float32{float32(math.Inf(-1))})
		equal(t, "strings", c.Strings(11), []string{})
		equal(t, "bools", c.Bools(12), []bool{false})
		equal(t, "large floats", kernel.Floats[float64](c, 14), []float64{math.Inf(1), math.MaxFloat64, -math.MaxFloat64})
	}
	run(t, params, read, 1) // the others are omitted
	all := []any{1}
	for range len(params) - 3 {
		all = append(all, missing{})
	}
	run(t, params, func(c *kernel.Call) {
		read(c)
		equal(t, "given after those that are not", kernel.Int[int](c, 13), 8)
	}, append(all, 8, missing{})...)

	var texts []string
	for _, p := range params[1:] {
		texts = append(texts, p.Default.Text)
	}
	want := `-1 1.0 True "\u00e9\n" b"a\x00\x22" "float32" "cpu" None (1, 2) (-1e999,) () (False,) 7 (1e999, 1.7976931348623157e+308, -1.7976931348623157e+308)`
	equal(t, "literals", strings.Join(texts, " "), want)
}

// The memory of a default stays alive, though only the default refers to it.
func TestDefaultsStay(t *testing.T) {
	var all []*kernel.Default
	for i := range 1000 {
		all = append(all, kernel.DefaultOf(fmt.Sprintf("default number %d", i)))
	}
	runtime.GC()
	var other [][]byte
	for range 100_000 {
		other = append(other, bytes.Repeat([]byte{0xff}, 32))
	}
	for i, d := range all {
		run(t, []kernel.Param{{Name: "x", Kind: kernel.KindString, Default: d}}, func(c *kernel.Call) {
			equal(t, "default", c.String(0), fmt.Sprintf("default number %d", i))
		})
	}
	runtime.KeepAlive(other)
}

func TestLists(t *testing.T) {
	list := func(name string, k kernel.Kind) kernel.Param {
		return kernel.Param{Name: name, Kind: kernel.KindList, Elem: &kernel.Param{Kind: k}}
	}
	params := []kernel.Param{list("a", kernel.KindInt), list("b", kernel.KindFloat), list("c", kernel.KindString), list("d", kernel.KindBool)}
	run(t, params, func(c *kernel.Call) {
		equal(t, "ints", kernel.Ints[uint16](c, 0), []uint16{1, 2})
		equal(t, "floats", kernel.Floats[float64](c, 1), []float64{0.5, 2})
		equal(t, "strings", c.Strings(2), []string{"a", ""})
		equal(t, "bools", c.Bools(3), []bool{true})
	}, []any{1, 2}, []any{0.5, 2}, []any{"a", ""}, []any{true})
}

func TestTensors(t *testing.T) {
	x, y := []float32{1, 2, 3, 4, 5, 6}, []float64{1, 2}
	written := tensorOf("y", []dlpack.DType{dlpack.Float64}, "n")
	written.Mutable = true
	anywhere := tensorOf("z", nil)
	anywhere.Device = "any"
	devices := tensorOf("w", float32s)
	devices.Device, devices.Mutable = "any", true
	cuda := *record(make([]float32, 2), 2)
	cuda.Device.Type = dlpack.CUDA
	run(t, []kernel.Param{tensorOf("x", float32s, "n", "m"), written, anywhere, devices}, func(c *kernel.Call) {
		v := kernel.Of[float32](c, 0)
		equal(t, "transposed", v.At(1, 0), float32(2))
		kernel.Mut[float64](c, 1).Set(7, 1)
		equal(t, "device", kernel.DeviceOf[int8](c, 2).Device().Type, dlpack.CPU)
		equal(t, "dtype", c.TypeOf(2), dlpack.Int8)
		equal(t, "cuda", kernel.DeviceMut[float32](c, 3).Device().Type, dlpack.CUDA)
	}, strided(x, 0, []int64{2, 3}, []int64{1, 2}), record(y, 2), record([]int8{1}), &cuda)
	equal(t, "written", y, []float64{1, 7})
}

func TestListOfTensors(t *testing.T) {
	a, b := []float32{1, 2}, []float32{3}
	params := []kernel.Param{{Name: "x", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s, Mutable: true}}}
	run(t, params, func(c *kernel.Call) {
		sum := float32(0)
		for _, v := range kernel.OfList[float32](c, 0) {
			for _, e := range v.Slice() {
				sum += e
			}
		}
		equal(t, "sum", sum, float32(6))
		kernel.MutList[float32](c, 0)[1].Set(9, 0)
		equal(t, "dtype", c.TypeOf(0), dlpack.Float32)
	}, []any{record(a, 2), record(b, 1)})
	run(t, params, func(c *kernel.Call) { equal(t, "dtype of the only one", c.TypeOf(0), dlpack.Float32) }, []any{record(b, 1)})
	equal(t, "written", b[0], float32(9))
}

// TypeOf, for functions that choose by a type variable.
func TestTypeVariables(t *testing.T) {
	x, y := tensorOf("x", []dlpack.DType{dlpack.Float32, dlpack.Float64}), tensorOf("y", []dlpack.DType{dlpack.Float32, dlpack.Float64})
	x.Var, y.Var = "T", "T"
	x.Optional, y.Optional = true, true
	list := kernel.Param{Name: "z", Kind: kernel.KindList, Elem: &y}
	for _, c := range []struct {
		name string
		args []any
		want dlpack.DType
	}{
		{"of its own", []any{record([]float64{1}), nil, []any{}}, dlpack.Float64},
		{"of another", []any{nil, record([]float64{1}), []any{}}, dlpack.Float64},
		{"of an element", []any{nil, nil, []any{record([]float64{1})}}, dlpack.Float64},
		{"of nothing", []any{nil, nil, []any{}}, dlpack.Float32},
		{"of several", []any{record([]float64{1}), record([]float64{2}), []any{record([]float64{3}), record([]float64{4})}}, dlpack.Float64},
	} {
		elem := y
		elem.Optional = false
		list.Elem = &elem
		run(t, []kernel.Param{x, y, list}, func(call *kernel.Call) {
			for i := range 3 {
				equal(t, c.name, call.TypeOf(i), c.want)
			}
		}, c.args...)
	}
	single := tensorOf("x", float32s)
	single.Var, single.Optional = "T", true
	run(t, []kernel.Param{single}, func(call *kernel.Call) { equal(t, "of one type, for None", call.TypeOf(0), dlpack.Float32) }, nil)
	any2, none := tensorOf("x", nil), x
	any2.Var, any2.Optional = "T", true
	none.Name, none.Var = "y", ""
	run(t, []kernel.Param{any2, none}, func(call *kernel.Call) {
		equal(t, "of any type, for None", call.TypeOf(0), dlpack.DType{})
		equal(t, "without a variable, for None", call.TypeOf(1), dlpack.DType{})
	}, nil, nil)
}

func TestConvert(t *testing.T) {
	convert := func(name string, order kernel.Order, shape ...kernel.Extent) kernel.Param {
		p := tensorOf(name, float32s, shape...)
		p.Convert, p.Order = true, order
		return p
	}
	data := []float32{1, 2, 3, 4, 5, 6}
	pair := tensor.Float4E2M1FNx2From(tensor.Float4E2M1FNFrom(0.5), tensor.Float4E2M1FNFrom(6))
	run(t, []kernel.Param{convert("a", ""), convert("b", "C"), convert("c", "F"), convert("d", "C"), convert("e", ""),
		{Name: "f", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s, Convert: true}}},
		func(c *kernel.Call) {
			equal(t, "dtype", kernel.Of[float32](c, 0).Slice(), []float32{1, -2})
			equal(t, "order", kernel.Of[float32](c, 1).Slice(), []float32{1, 3, 5, 2, 4, 6})
			f := kernel.Of[float32](c, 2)
			equal(t, "column-major", []any{f.Stride(0), f.Stride(1), f.At(1, 2)}, []any{int64(1), int64(2), float32(6)})
			equal(t, "nothing to do", kernel.Of[float32](c, 3).Pointer(), unsafe.Pointer(&data[0]))
			equal(t, "empty", kernel.Of[float32](c, 4).Len(), 0)
			equal(t, "in a list", kernel.OfList[float32](c, 5)[1].At(0), float32(4))
		},
		record([]int64{1, -2}, 2), strided(data, 0, []int64{2, 3}, []int64{1, 2}), record(data, 2, 3), record(data, 2, 3), record([]int8{}, 0),
		[]any{record([]float32{3}, 1), record([]int8{4}, 1)})

	apart := tensorOf("x", []dlpack.DType{tensor.DTypeOf[tensor.Float4E2M1FNx2]()})
	apart.Convert, apart.Order = true, "C"
	run(t, []kernel.Param{apart}, func(c *kernel.Call) {
		equal(t, "order of pairs", kernel.Of[tensor.Float4E2M1FNx2](c, 0).Slice(), []tensor.Float4E2M1FNx2{pair, pair})
	}, strided([]tensor.Float4E2M1FNx2{pair, 0, pair}, 0, []int64{2}, []int64{2}))

	run(t, []kernel.Param{convert("a", "")}, func(c *kernel.Call) { equal(t, "no axes", kernel.Of[float32](c, 0).At(), float32(5)) }, record([]int64{5}))

	small := tensorOf("x", []dlpack.DType{dlpack.Float4E2M1FN})
	small.Convert = true
	packedPair := *record([]tensor.Float4E2M1FNx2{pair}, 1)
	packedPair.DType.Lanes = 1
	packedPair.Shape = &[]int64{2}[0]
	packedPair.Strides = nil
	run(t, []kernel.Param{small}, func(c *kernel.Call) {
		v := kernel.Of[tensor.Float4E2M1FN](c, 0)
		equal(t, "unpacked", []float64{v.At(0).Float64(), v.At(1).Float64()}, []float64{0.5, 6})
	}, &packedPair)
}

// oddly returns the elements of data, one byte off their alignment.
func oddly[T tensor.Element](data []T, shape ...int64) *dlpack.Tensor {
	t := record(data, shape...)
	size := len(data) * int(unsafe.Sizeof(data[0]))
	memory := make([]byte, size+1)
	copy(memory[1:], unsafe.Slice((*byte)(t.Data), size))
	t.Data, t.ByteOffset = unsafe.Pointer(&memory[0]), 1
	return t
}

// An unaligned argument that is only read is copied, at any position and with any declaration.
func TestMisaligned(t *testing.T) {
	columns := tensorOf("b", float32s)
	columns.Order, columns.Convert = kernel.ColumnMajor, true
	anywhere := tensorOf("c", []dlpack.DType{dlpack.Complex128})
	anywhere.Device = "any"
	several := tensorOf("e", []dlpack.DType{dlpack.Float16, dlpack.Int64})
	several.Var = "T"
	untyped := kernel.Param{Name: "f", Kind: kernel.KindTensor, Untyped: true}
	written := tensorOf("g", float32s)
	written.Mutable, written.MayOverlap = true, true
	odd := oddly([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	raw := oddly([]float32{1}, 1)
	run(t, []kernel.Param{
		tensorOf("a", float32s, "n", "m"), columns, anywhere,
		{Name: "d", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, DTypes: float32s}}, several, untyped, written,
	},
		func(c *kernel.Call) {
			a := kernel.Of[float32](c, 0)
			equal(t, "elements", a.Slice(), []float32{1, 2, 3, 4, 5, 6})
			equal(t, "alignment", uintptr(a.Pointer())%4, uintptr(0))
			b := kernel.Of[float32](c, 1)
			equal(t, "columns", []any{b.Stride(0), b.At(1, 2)}, []any{int64(1), float32(6)})
			host, err := kernel.DeviceOf[complex128](c, 2).Host()
			equal(t, "anywhere", []any{host.At(0), err}, []any{complex(1, 2), nil})
			list := kernel.OfList[float32](c, 3)
			equal(t, "list", []any{list[0].At(1), list[1].At(1, 0)}, []any{float32(9), float32(4)})
			equal(t, "variable", []any{c.TypeOf(4), kernel.Of[int64](c, 4).At(1)}, []any{dlpack.Int64, int64(-2)})
			record, _ := c.Tensor(5)
			equal(t, "untyped", record.Start(), raw.Start())
			equal(t, "to write", kernel.Mut[float32](c, 6).At(0), float32(9))
		},
		odd, odd, oddly([]complex128{complex(1, 2)}, 1), []any{record([]float32{8, 9}, 2), odd}, oddly([]int64{1, -2}, 2), raw, record([]float32{9}, 1))
}

// A handle has no value to convert.
func TestConvertRefuses(t *testing.T) {
	p := tensorOf("x", float32s)
	p.Convert = true
	f := prepare(t, kernel.Func{Params: []kernel.Param{p}, Do: nothing})
	x := *record([]int64{1}, 1)
	x.DType = dlpack.Complex64
	err := newCall(&x).of(f, newHost())
	if err == nil || !strings.HasPrefix(err.Error(), "TypeError: f(): argument 'x': want float32[...] on cpu, got complex64[1] on cpu, which does not convert") {
		t.Errorf("got %v", err)
	}
	x.DType = dlpack.Handle
	err = newCall(&x).of(f, newHost())
	if err == nil || err.Error() != "TypeError: f(): argument 'x': convert: want numbers of at most 64 bits a part, got handle to float32" {
		t.Errorf("got %v", err)
	}
}

// The memory of a conversion is the caller's, who may have none: a broadcast of one element has any size.
func TestConvertWithoutMemory(t *testing.T) {
	p := tensorOf("x", float32s)
	p.Convert = true
	f := prepare(t, kernel.Func{Params: []kernel.Param{p}, Do: nothing})
	huge := strided([]int8{1}, 0, []int64{1 << 40}, []int64{0})
	h := newHost()
	err := newCall(huge).of(f, h)
	if err == nil || err.Error() != "MemoryError: f(): argument 'x': want at most 16 MB, got 4398046511104" {
		t.Errorf("got %v", err)
	}
	h.allocate = func(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) { return nil, kernel.ErrRaised }
	if err := newCall(huge).of(f, h); !errors.Is(err, kernel.ErrRaised) {
		t.Errorf("the caller's exception: got %v", err)
	}
	h.balanced(t)
	h.allocate = func(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
		m, err := h.memory(prototype)
		m.Tensor.ByteOffset = 1
		return m, err
	}
	err = newCall(record([]int8{1, 2, 3}, 3)).of(f, h)
	if err == nil || !strings.HasPrefix(err.Error(), "BufferError: f(): argument 'x': the caller's allocator: want memory aligned to 4 bytes") {
		t.Errorf("an odd address: got %v", err)
	}
	h.balanced(t)
}

// Do panics with a message when it reads an argument as another type than declared.
func TestMisreading(t *testing.T) {
	anywhere := tensorOf("x", float32s)
	anywhere.Device = "any"
	list := func(elem kernel.Param) kernel.Param {
		return kernel.Param{Name: "x", Kind: kernel.KindList, Elem: &elem}
	}
	for _, c := range []struct {
		param kernel.Param
		read  func(*kernel.Call)
		arg   any
		want  string
	}{
		{tensorOf("x", float32s), func(c *kernel.Call) { kernel.Of[float64](c, 0) }, record([]float32{1}), "x was declared as float32[...] on cpu, and read as a tensor of float64"},
		{tensorOf("x", float32s), func(c *kernel.Call) { kernel.Mut[float32](c, 0) }, record([]float32{1}), "read as what may be written"},
		{anywhere, func(c *kernel.Call) { kernel.Of[float32](c, 0) }, record([]float32{1}), "on any device, and read as memory of the host"},
		{tensorOf("x", float32s), func(c *kernel.Call) { kernel.Int[int](c, 0) }, record([]float32{1}), "read as int64"},
		{tensorOf("x", float32s), func(c *kernel.Call) { kernel.OfList[float32](c, 0) }, record([]float32{1}), "read as packed.Args"},
		{kernel.Param{Name: "x", Kind: kernel.KindInt}, func(c *kernel.Call) { kernel.Of[float32](c, 0) }, 3, "x was declared as int, and read as memory of the host"},
		{kernel.Param{Name: "x", Kind: kernel.KindInt}, func(c *kernel.Call) { c.Bool(1) }, 3, "index out of range"},
		{list(tensorOf("", float32s)), func(c *kernel.Call) { kernel.OfList[float64](c, 0) }, []any{record([]float32{1})}, "read as a list of tensors of float64"},
		{list(tensorOf("", float32s)), func(c *kernel.Call) { kernel.MutList[float32](c, 0) }, []any{record([]float32{1})}, "read as a list of tensors of float32"},
		{list(anywhere), func(c *kernel.Call) { kernel.OfList[float32](c, 0) }, []any{record([]float32{1})}, "read as a list of tensors of float32"},
	} {
		f := prepare(t, kernel.Func{Params: []kernel.Param{c.param}, Do: func(call *kernel.Call) error {
			c.read(call)
			return nil
		}})
		for _, args := range [][]any{{c.arg}, vouched([]any{c.arg})} {
			err := newCall(args...).of(f, newHost())
			if err == nil || dlpack.KindOf(err) != kernel.RuntimeError || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a RuntimeError with %q", err, c.want)
			}
		}
	}
}

// A successful read in one call does not exempt the next call, where the argument may be of another type.
func TestMisreadingLater(t *testing.T) {
	f := prepare(t, kernel.Func{Params: []kernel.Param{tensorOf("x", []dlpack.DType{dlpack.Float32, dlpack.Float64})}, Do: func(c *kernel.Call) error {
		kernel.Of[float32](c, 0)
		return nil
	}})
	for i, x := range []*dlpack.Tensor{record([]float32{1}), record([]float32{1}), record([]float64{1})} {
		err := newCall(flagged{x, packed.Checked}).of(f, newHost())
		if fails := i == 2; (err != nil) != fails || fails && !strings.Contains(err.Error(), "read as a tensor of float32") {
			t.Errorf("call %d: got %v", i, err)
		}
	}
}
