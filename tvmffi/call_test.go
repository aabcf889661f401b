package tvmffi

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

var vector = kernel.Param{Name: "x", Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32}, Shape: []kernel.Extent{"n"}}

func of(name string, kind kernel.Kind) kernel.Param { return kernel.Param{Name: name, Kind: kind} }

func list(elem kernel.Param) kernel.Param {
	return kernel.Param{Name: "x", Kind: kernel.KindList, Elem: &elem}
}

// invoke calls a function with params and results, and returns its result, an error as a Go error.
func (f *fake) invoke(do func(*kernel.Call) error, params, results []kernel.Param, args ...packed.Any) (packed.Any, error) {
	f.t.Helper()
	fn, err := kernel.Prepare(kernel.Func{Name: "f", Params: params, Results: results, Do: do})
	if err != nil {
		f.t.Fatal(err)
	}
	b := &bridge{ffi: f, functions: []*kernel.Func{nil, fn}}
	runtime.LockOSThread() // like a goroutine that C has called
	defer runtime.UnlockOSThread()
	var result packed.Any
	switch rc := b.call(2, thread(), args, &result); {
	case rc == 0:
		return result, nil
	case rc != -1 || f.raised == nil || result != packed.Any{}:
		f.t.Errorf("got %d, %v, error %v", rc, result, f.raised)
	}
	cell := body[errorCell](f.raised)
	return result, fmt.Errorf("%s: %s", textOf(cell.kind), textOf(cell.message))
}

// text returns a string as tvm-ffi's: small, or an object.
func (f *fake) text(s string) packed.Any {
	if len(s) > 7 {
		var a packed.Any
		f.newText(s, &a)
		return a
	}
	a := packed.Any{Index: packed.AnySmallStr, Small: uint32(len(s))}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&a.Value)), 8), s)
	return a
}

// tensor returns a Tensor of those elements.
func (f *fake) tensor(elements ...float32) packed.Any {
	n := int64(len(elements))
	o := f.allocate(&dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: 1, DType: dlpack.Float32, Shape: &n})
	copy(unsafe.Slice((*float32)(body[dlpack.Tensor](o).Data), n), elements)
	return anyOf(o)
}

// list returns an Array, which takes its elements.
func (f *fake) list(parts ...packed.Any) packed.Any {
	return anyOf(add(f, indexArray, sequence{data: unsafe.SliceData(parts), size: int64(len(parts))}, &box{parts: parts}))
}

// show describes a value, and releases it.
func (f *fake) show(a packed.Any) (text string) {
	switch a.Index {
	case indexStr, indexBytes:
		text = fmt.Sprintf("%q", textOf(*body[packed.ByteArray](objectOf(&a))))
	case indexTensor:
		t := body[dlpack.Tensor](objectOf(&a))
		n := t.ShapeSlice()[0]
		text = fmt.Sprint(unsafe.Slice((*float32)(t.Data), n))
	case indexArray:
		s := body[sequence](objectOf(&a))
		for _, part := range unsafe.Slice(s.data, s.size) {
			f.own(&part, &part)
			text += f.show(part) + ";"
		}
	default:
		text = fmt.Sprint(a.Index, " ", uint64(a.Value))
	}
	if a.Index >= firstObject {
		f.release(objectOf(&a))
	}
	return text
}

// free releases arguments.
func (f *fake) free(args ...packed.Any) {
	for _, a := range args {
		if a.Index >= firstObject {
			f.release(objectOf(&a))
		}
	}
}

// Each kind of argument is returned as each kind of result.
func TestValues(t *testing.T) {
	raw := append([]byte("raw"), 0)
	float := packed.FloatValue(0.5)
	for _, c := range []struct {
		name string
		arg  func(*fake) packed.Any
		kind kernel.Param
		do   func(*kernel.Call)
		want string
	}{
		{"int", func(*fake) packed.Any { return packed.Any{Index: packed.AnyInt, Value: 7} }, of("x", kernel.KindInt),
			func(c *kernel.Call) { c.ReturnInt(kernel.Int[int64](c, 0)) }, "1 7"},
		{"bool", func(*fake) packed.Any { return packed.Any{Index: packed.AnyBool, Value: 1} }, of("x", kernel.KindBool),
			func(c *kernel.Call) { c.ReturnBool(c.Bool(0)) }, "2 1"},
		{"float", func(*fake) packed.Any { return packed.Any{Index: packed.AnyFloat, Value: float} }, of("x", kernel.KindFloat),
			func(c *kernel.Call) { c.ReturnFloat(kernel.Float[float64](c, 0)) }, fmt.Sprint("3 ", uint64(float))},
		{"small text", func(f *fake) packed.Any { return f.text("a\x00b") }, of("x", kernel.KindString),
			func(c *kernel.Call) { c.ReturnString(c.String(0)) }, `"a\x00b"`},
		{"text", func(f *fake) packed.Any { return f.text("more than seven") }, of("x", kernel.KindString),
			func(c *kernel.Call) { c.ReturnString(c.String(0)) }, `"more than seven"`},
		{"raw text", func(*fake) packed.Any {
			return packed.Any{Index: packed.AnyRawStr, Value: packed.PointerValue(unsafe.Pointer(&raw[0]))}
		}, of("x", kernel.KindString), func(c *kernel.Call) { c.ReturnBytes([]byte(c.String(0))) }, `"raw"`},
		{"dtype", func(*fake) packed.Any {
			return packed.Any{Index: packed.AnyDType, Value: packed.DTypeValue(dlpack.Int8)}
		},
			of("x", kernel.KindDType), func(c *kernel.Call) { c.ReturnDType(c.DType(0)) }, fmt.Sprint("5 ", uint64(packed.DTypeValue(dlpack.Int8)))},
		{"none", func(*fake) packed.Any { return packed.Any{} }, kernel.Param{Name: "x", Kind: kernel.KindInt, Optional: true},
			func(c *kernel.Call) { c.ReturnNone() }, "0 0"},
		{"tensor", func(f *fake) packed.Any { return f.tensor(1, 2) }, vector,
			func(c *kernel.Call) { kernel.Return(c, kernel.Of[float32](c, 0)) }, "[1 2]"},
		{"list", func(f *fake) packed.Any { return f.list(f.text("a"), f.text("more than seven")) }, list(of("", kernel.KindString)),
			func(c *kernel.Call) { c.ReturnStrings(c.Strings(0)) }, `"a";"more than seven";`},
		{"shape", func(f *fake) packed.Any {
			extents := []int64{3, 4}
			return anyOf(add(f, indexShape, shape{&extents[0], 2}, &box{}))
		}, list(of("", kernel.KindInt)), func(c *kernel.Call) { kernel.ReturnInts(c, kernel.Ints[int64](c, 0)) }, "1 3;1 4;"},
		{"tensors", func(f *fake) packed.Any { return f.list(f.tensor(1), f.tensor(2)) }, list(vector),
			func(c *kernel.Call) {
				y := kernel.Empty[float32](c.Ctx(), 1)
				y.Set(3, 0)
				kernel.ReturnList(c, append(kernel.OfList[float32](c, 0), y.Of))
			}, "[1];[2];[3];"},
	} {
		for _, offering := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				f := newFake(t)
				f.offering = offering
				arg := c.arg(f)
				result := of("", kernel.KindInt) // the result is not checked
				got, err := f.invoke(func(call *kernel.Call) error { c.do(call); return nil }, []kernel.Param{c.kind}, []kernel.Param{result}, arg)
				if err != nil {
					t.Fatal(err)
				}
				if text := f.show(got); text != c.want {
					t.Errorf("got %s, want %s", text, c.want)
				}
				f.free(arg)
			})
		}
	}
}

// An rvalue reference is read, and remains the caller's to move.
func TestReference(t *testing.T) {
	f := newFake(t)
	x := f.tensor(1, 2)
	place := objectOf(&x)
	ref := packed.Any{Index: packed.AnyRValueRef, Value: packed.PointerValue(unsafe.Pointer(&place))}
	got, err := f.invoke(func(c *kernel.Call) error {
		kernel.Return(c, kernel.Of[float32](c, 0))
		return nil
	}, []kernel.Param{vector}, []kernel.Param{vector}, ref)
	if err != nil || objectOf(&got) != place {
		t.Errorf("got %v, %v", got, err)
	}
	f.free(got, x)
}

// For every failure in tvm-ffi, the caller gets its error, and nothing leaks.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		failing  string
		offering bool
	}{{"own", false}, {"newText", false}, {"allocate", true}, {"newTensor", false}, {"callFunction", false}} {
		t.Run(c.failing, func(t *testing.T) {
			f := newFake(t)
			x := f.tensor(1, 2, 3)
			f.failing, f.offering = c.failing, c.offering
			_, err := f.invoke(func(c *kernel.Call) error {
				kernel.ReturnMut(c, kernel.Zeros[float32](c.Ctx(), 3))
				kernel.Return(c, kernel.Of[float32](c, 0))
				c.ReturnString("text")
				kernel.ReturnMut(c, kernel.Zeros[float32](c.Ctx(), 3))
				return nil
			}, []kernel.Param{vector}, []kernel.Param{vector, vector, of("", kernel.KindString), vector}, x)
			if err == nil || err.Error() != "OSError: "+c.failing+" failed" {
				t.Errorf("got %v", err)
			}
			f.failing = ""
			f.free(x)
		})
	}
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	stranger, inner := anyOf(add(f, 72, 0, &box{})), f.list()
	deep := f.list(inner)
	body[sequence](objectOf(&inner)).data, body[sequence](objectOf(&inner)).size = &deep, 1 // each contains the other
	nothing := func(*kernel.Call) error { return nil }
	for _, c := range []struct {
		arg  packed.Any
		kind kernel.Param
		want string
	}{
		{stranger, vector, "TypeError: f(): argument 'x': want a value that Go functions can take, got a fake.Type"},
		{deep, list(vector), "ValueError: f(): argument 'x': want lists nested at most 32 deep"},
		{packed.Any{Index: 13}, vector, "TypeError: f(): argument 'x': want a value that TVM's packed-function convention supports, got type index 13"},
		{packed.Any{Index: packed.AnyInt}, vector, "TypeError: f(): argument 'x': want float32[n] on cpu, got int: pass an array (numpy.asarray(x))"},
	} {
		if _, err := f.invoke(nothing, []kernel.Param{c.kind}, nil, c.arg); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := f.invoke(nothing, nil, nil, stranger, stranger); err == nil || err.Error() != "TypeError: f() takes 0 arguments, got 2" {
		t.Errorf("got %v", err)
	}
	_, err := f.invoke(func(*kernel.Call) error { panic("on purpose") }, nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "RuntimeError: f(): Go panicked: on purpose\n\ngoroutine") {
		t.Errorf("got %v", err)
	}
	body[sequence](objectOf(&inner)).size = 0
	f.free(stranger, deep)
}

func TestCallback(t *testing.T) {
	f := newFake(t)
	x := f.tensor(1, 2)
	var seen string
	function := anyOf(f.function(func(args []packed.Any, result *packed.Any) bool {
		for i := range args {
			f.own(&args[i], &args[i])
			seen += f.show(args[i]) + " "
		}
		f.newText("the answer", result)
		return true
	}))
	got, err := f.invoke(func(c *kernel.Call) error {
		x := kernel.Of[float32](c, 1)
		y, err := tensor.FromSlice([]float32{5}, 1)
		if err != nil {
			return err
		}
		answer, err := c.Callable(0).Call(x, y, "t", []byte("b"), []any{1, nil})
		if err == nil {
			c.ReturnString(answer.(string))
		}
		return err
	}, []kernel.Param{of("f", kernel.KindCallable), vector}, []kernel.Param{of("", kernel.KindString)}, function, x)
	if err != nil {
		t.Fatal(err)
	}
	if text := f.show(got); text != `"the answer"` || seen != `[1 2] [5] "t" "b" 1 1;0 0; ` {
		t.Errorf("got %s, called with %s", text, seen)
	}
	f.free(function, x)
}

// A callback's exception is raised again, as the same object; a callback in another goroutine is not called.
func TestCallbackFails(t *testing.T) {
	f := newFake(t)
	function := anyOf(f.function(func([]packed.Any, *packed.Any) bool {
		f.failing = "function"
		return !f.fails("function")
	}))
	params := []kernel.Param{of("f", kernel.KindCallable)}
	call := func(c *kernel.Call) error {
		_, err := c.Callable(0).Call("text")
		return err
	}
	for range 2 { // the second replaces the first error
		if _, err := f.invoke(call, params, nil, function); err == nil || err.Error() != "OSError: function failed" {
			t.Errorf("got %v", err)
		}
	}
	elsewhere := func(c *kernel.Call) error {
		g, failed := c.Callable(0), make(chan error)
		go func() {
			_, err := g.Call("text")
			failed <- err
		}()
		return <-failed
	}
	b := &bridge{ffi: f, functions: []*kernel.Func{prepared(t, elsewhere, params)}}
	if b.call(1, thread()+1, []packed.Any{function}, &packed.Any{}) != -1 {
		t.Error("called in another thread")
	}
	if message := textOf(body[errorCell](f.raised).message); !strings.Contains(message, "a goroutine other than") {
		t.Errorf("got %s", message)
	}
	f.free(function)
}

func prepared(t *testing.T, do func(*kernel.Call) error, params []kernel.Param) *kernel.Func {
	t.Helper()
	fn, err := kernel.Prepare(kernel.Func{Name: "f", Params: params, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

func TestStop(t *testing.T) {
	f := newFake(t)
	f.stopping = true
	_, err := f.invoke(func(c *kernel.Call) error {
		for c.Ctx().Err() == nil { // every 10 ms the caller is polled
		}
		return c.Ctx().Err()
	}, nil, nil)
	if err == nil || err.Error() != "EnvErrorAlreadySet: " {
		t.Errorf("got %v", err)
	}
}

func TestRegister(t *testing.T) {
	f := newFake(t)
	b := &bridge{ffi: f}
	for range 2 {
		if err := b.register("go.f", 3); err != nil {
			t.Fatal(err)
		}
	}
	if got := *body[uintptr](f.functions["go.f"]); got != 3 {
		t.Errorf("handle: got %d, want 3", got)
	}
	f.failing = "setGlobal"
	if err := b.register("go.f", 3); err == nil || err.Error() != "RuntimeError: go.f: tvm-ffi: OSError: setGlobal failed" {
		t.Errorf("got %v", err)
	}
}

func TestAbsent(t *testing.T) {
	for range 2 {
		if n, err := Register("go."); n != 0 || err == nil || err.Error() != "RuntimeError: want libtvm_ffi in this process, got none: import tvm_ffi first" {
			t.Errorf("got %d, %v", n, err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	f, err := kernel.Prepare(kernel.Func{
		Name: "add", Params: []kernel.Param{of("a", kernel.KindInt)}, Results: []kernel.Param{of("", kernel.KindInt)},
		Do: func(c *kernel.Call) error {
			c.ReturnInt(kernel.Int[int64](c, 0) + 1)
			return nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	bridge := &bridge{ffi: &fake{}, functions: []*kernel.Func{f}}
	args, result := []packed.Any{{Index: packed.AnyInt, Value: 41}}, packed.Any{}
	b.ReportAllocs()
	for b.Loop() {
		if bridge.call(1, 0, args, &result) != 0 || result.Value != 42 {
			b.Fatal(result)
		}
	}
}

func TestStreamIsTheCallers(t *testing.T) {
	var got uintptr
	_, err := newFake(t).invoke(func(c *kernel.Call) (err error) {
		got, err = c.Ctx().Stream(dlpack.Device{Type: dlpack.CUDA, ID: 3})
		return err
	}, nil, nil)
	if err != nil || got != 0x5003 {
		t.Errorf("got %#x, %v", got, err)
	}
}
