package kernel_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// function stands for a callable of the host.
var function = packed.Cell{Value: packed.PointerValue(unsafe.Pointer(&marker)), Code: packed.CodeCallable}

var marker int64

// callsBack makes a function with parameters f, a callable, and x, a tensor.
func callsBack(t *testing.T, do func(*kernel.Call, kernel.Callable) error) *kernel.Func {
	return prepare(t, kernel.Func{
		Params: []kernel.Param{{Name: "f", Kind: kernel.KindCallable, Optional: true}, tensorOf("x", float32s)},
		Do:     func(c *kernel.Call) error { return do(c, c.Callable(0)) },
	})
}

// answering is a host whose functions take their arguments, keep them as values, and return cell.
func answering(t *testing.T, cell packed.Cell, err error) (h *fakeHost, given *[]any) {
	h, given = newHost(), new([]any)
	h.invoke = func(f unsafe.Pointer, args packed.Args, ret *packed.Ret) error {
		if f != unsafe.Pointer(&marker) {
			t.Errorf("called %p", f)
		}
		for i := range args.Len() {
			*given = append(*given, goValue(t, args.At(i)))
			kernel.Drop(h, args.At(i))
		}
		ret.Set(cell)
		return err
	}
	return h, given
}

// The arguments that a callback gets.
func TestCallbackArguments(t *testing.T) {
	h, given := answering(t, packed.Null, nil)
	cuda := dlpack.Device{Type: dlpack.CUDA}
	f := callsBack(t, func(c *kernel.Call, f kernel.Callable) error {
		own, _ := tensor.FromSlice([]int8{1, 2}, 2)
		output := kernel.Zeros[float32](c.Ctx(), 1)
		x := kernel.Of[float32](c, 1)
		result, err := f.Call(nil, true, 1, int64(2), 0.5, "a", []byte{1}, dlpack.Float32, cuda, x, own, output, own.OnDevice(), x.OnDevice(), []any{1, x})
		equal(t, "result", result, nil)
		return err
	})
	if err := newCall(function, record([]float32{7}, 1)).of(f, h); err != nil {
		t.Fatal(err)
	}
	equal(t, "arguments", *given, []any{nil, true, int64(1), int64(2), 0.5, "a", []byte{1}, dlpack.Float32, cuda, argument(1),
		[]float64{1, 2}, []float64{0}, []float64{1, 2}, argument(1), []any{int64(1), argument(1)}})
	h.balanced(t)
}

// The results that a callback may return.
func TestCallbackResults(t *testing.T) {
	answer := newCall(nil, true, 3, 0.5, "a", []byte{1}, dlpack.Int8, dlpack.Device{Type: dlpack.CPU}, []any{1, "b"})
	want := []any{nil, true, int64(3), 0.5, "a", []byte{1}, dlpack.Int8, dlpack.Device{Type: dlpack.CPU}, []any{int64(1), "b"}}
	for i := range want {
		h, _ := answering(t, answer.args.At(i), nil)
		f := callsBack(t, func(_ *kernel.Call, f kernel.Callable) error {
			got, err := f.Call()
			equal(t, "result", got, want[i])
			return err
		})
		if err := newCall(function, record([]float32{7}, 1)).of(f, h); err != nil {
			t.Error(err)
		}
	}
	runtime.KeepAlive(answer)
	x := record([]float32{7}, 1)
	for _, cell := range []packed.Cell{packed.Tensor(x), packed.Argument(1)} {
		h, _ := answering(t, cell, nil)
		f := callsBack(t, func(_ *kernel.Call, f kernel.Callable) error {
			got, err := f.Call()
			equal(t, "tensor", got, x)
			return err
		})
		if err := newCall(function, x).of(f, h); err != nil {
			t.Error(err)
		}
	}
	h, _ := answering(t, function, nil)
	f := callsBack(t, func(_ *kernel.Call, f kernel.Callable) error {
		got, err := f.Call()
		equal(t, "function", got.(kernel.Callable), f)
		return err
	})
	if err := newCall(function, x).of(f, h); err != nil {
		t.Error(err)
	}
}

// Errors in a callback, and their texts. Nothing leaks.
func TestCallbackErrors(t *testing.T) {
	invalid := *record([]float32{1}, 1)
	invalid.NDim = -1
	one := func(f kernel.Callable) error { _, err := f.Call("text"); return err }
	for _, c := range []struct {
		name   string
		answer packed.Cell
		err    error
		call   func(kernel.Callable) error
		want   string
	}{
		{"raises", packed.Null, kernel.ErrRaised, one, "the caller has an exception pending"},
		{"no argument of Python's", packed.Null, nil, func(f kernel.Callable) error { _, err := f.Call("a", struct{}{}); return err },
			"TypeError: callback: want an argument of a type that Python has, got a struct {}"},
		{"in a list", packed.Null, nil, func(f kernel.Callable) error { _, err := f.Call([]any{"a", uint8(1)}); return err },
			"TypeError: callback: want an argument of a type that Python has, got a uint8"},
		{"invalid tensor", packed.Tensor(&invalid), nil, one, "BufferError: callback's result: ndim: want 0 to 64, got -1"},
		{"argument that is none", packed.Argument(5), nil, one, "ValueError: callback's result: want one of 2 arguments, got number 5"},
		{"argument behind the last", packed.Argument(2), nil, one, "ValueError: callback's result: want one of 2 arguments, got number 2"},
		{"unknown", packed.Cell{Code: 99}, nil, one, "TypeError: callback's result: want Tensor, got code 99"},
		{"none", packed.Null, nil, func(kernel.Callable) error { return one(kernel.Callable{}) }, "TypeError: want a function to call, got None"},
	} {
		h, _ := answering(t, c.answer, c.err)
		f := callsBack(t, func(_ *kernel.Call, f kernel.Callable) error { return c.call(f) })
		err := newCall(function, record([]float32{7}, 1)).of(f, h)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		h.balanced(t)
	}
	runtime.KeepAlive(&invalid)
}

// A Callable that is kept after its call returns an error.
func TestCallbackAfterTheCall(t *testing.T) {
	h, _ := answering(t, packed.Null, nil)
	var kept kernel.Callable
	f := callsBack(t, func(_ *kernel.Call, f kernel.Callable) error {
		kept = f
		return errors.New("no")
	})
	_ = newCall(function, record([]float32{7}, 1)).of(f, h)
	if _, err := kept.Call(); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
}
