package cuda

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

const ptx = ".version 8.0\n.entry saxpy(\n.entry scale(\n.entry nothing("

// withKernel loads and launches a kernel.
func withKernel(dev *Device) (err error) {
	note := func(e error) { err = errors.Join(err, e) }
	m, e := dev.LoadModule([]byte(ptx))
	if e != nil {
		return e
	}
	defer func() { note(insist(m)) }()
	f, e := m.Function("nothing")
	if e != nil {
		return e
	}
	note(f.Launch(dev.Default(), Grid{Blocks: [3]int{1, 1, 1}, Threads: [3]int{1, 1, 1}}))
	return err
}

func TestLaunch(t *testing.T) {
	dev := device(t)
	mod := closing(t, must(dev.LoadModule([]byte(ptx)))(t))
	s := closing(t, must(dev.NewStream())(t))
	x, y := closing(t, must(dev.Alloc(12))(t)), closing(t, must(dev.Alloc(12))(t))
	check(t, s.Upload(x.start, floats(1, 2, 3)))
	check(t, s.Upload(y.start, floats(10, 20, 30)))
	grid := Grid{Blocks: [3]int{1, 2, 1}, Threads: [3]int{32, 1, 1}, Shared: 16}
	saxpy, scale := must(mod.Function("saxpy"))(t), must(mod.Function("scale"))(t)
	check(t, saxpy.Launch(s, grid, y, x, float32(2), int32(3)))
	check(t, scale.Launch(s, grid, unsafe.Pointer(uintptr(y.start)), float32(10), int32(3)))
	check(t, s.Synchronize())
	if got, want := peek(t, y), floats(120, 240, 360); !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := calls("cuLaunchKernel"); len(got) != 2 || !strings.Contains(got[0], "saxpy 1x2x1 of 32x1x1, 16 shared") {
		t.Errorf("got %q", got)
	}
	if err := saxpy.Launch(s, grid, y, x, float32(2), 3); dlpack.KindOf(err) != dlpack.KindType || !strings.Contains(err.Error(), "argument 3") {
		t.Errorf("an int: got %v, want a TypeError", err)
	}
	if err := scale.Launch(s, Grid{}, y, float32(1), int32(1)); !errors.Is(err, &Error{Result: InvalidValue}) {
		t.Errorf("an empty grid: got %v", err)
	}
	other := must(dev.driver.Device(1))(t)
	if err := scale.Launch(other.Default(), grid); dlpack.KindOf(err) != dlpack.KindValue {
		t.Errorf("a stream of another device: got %v", err)
	}
}

// The fake reports the arguments of an unknown kernel.
func TestArguments(t *testing.T) {
	dev := device(t)
	mod := closing(t, must(dev.LoadModule([]byte(".entry strange(.param .u64 a, .param .u32 b)")))(t))
	f := must(mod.Function("strange"))(t)
	check(t, f.Launch(dev.Default(), Grid{Blocks: [3]int{1, 1, 1}, Threads: [3]int{1, 1, 1}}, uint64(1)<<40, int32(7)))
	if got := calls("cuLaunchKernel"); len(got) != 1 || !strings.HasSuffix(got[0], "0 shared, on 1, of 1099511627776 7") {
		t.Errorf("got %q", got)
	}
}

func TestCells(t *testing.T) {
	cases := map[any]uint64{
		int8(-1): ^uint64(0), int16(-2): ^uint64(1), int32(-3): ^uint64(2), int64(-4): ^uint64(3),
		uint8(1): 1, uint16(2): 2, uint32(3): 3, uint64(1 << 63): 1 << 63, uintptr(5): 5,
		true: 1, false: 0, float32(1): 0x3f800000, 1.0: 0x3ff0000000000000, unsafe.Pointer(nil): 0,
	}
	for value, want := range cases {
		if got, ok := cellOf(value); got != want || !ok {
			t.Errorf("%T %v: got %#x, %t; want %#x", value, value, got, ok, want)
		}
	}
	for _, bad := range []any{1, uint(1), "x", nil, []byte{1}, complex64(1)} {
		if _, err := cellsOf([]any{bad}); dlpack.KindOf(err) != dlpack.KindType {
			t.Errorf("%T: got %v, want a TypeError", bad, err)
		}
	}
}

func TestBadModules(t *testing.T) {
	dev := device(t)
	_, err := dev.LoadModule([]byte("rubbish"))
	if !errors.Is(err, &Error{Result: InvalidPTX}) || !strings.Contains(err.Error(), "ptxas fatal: no .entry in 'rubbish'") {
		t.Errorf("got %v: want the compiler's own words", err)
	}
	mod := closing(t, must(dev.LoadModule([]byte(ptx)))(t))
	if _, err := mod.Function("absent"); !errors.Is(err, &Error{Result: NotFound}) || !strings.Contains(err.Error(), "kernel absent") {
		t.Errorf("got %v", err)
	}
}

// fakeCompiler is the NVRTC of the fake.
func fakeCompiler(t *testing.T) *compiler {
	t.Setenv(CompilerVariable, fake.file)
	return must(findCompiler())(t)
}

func TestCompile(t *testing.T) {
	c := fakeCompiler(t)
	got := string(must(c.translate("__global__ void scale(float *x) {}", "k.cu", []string{"-DA=1", "-DB=2"}))(t))
	if want := "// -DA=1 -DB=2\n.entry scale(.param )"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := c.translate("#error", "k.cu", nil)
	var refused *Error
	if !errors.As(err, &refused) || refused.Name != "NVRTC_ERROR_COMPILATION" || dlpack.KindOf(err) != dlpack.KindValue || !strings.Contains(err.Error(), "k.cu(1): error") {
		t.Errorf("got %v: want the compiler's own words, as a ValueError", err)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv(CompilerVariable, "libnowhere.so")
	if _, err := findCompiler(); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "libnowhere") {
		t.Errorf("got %v", err)
	}
	if _, err := newCompiler(lacking{fake.loaded, []string{"nvrtcGetPTX"}}); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("got %v", err)
	}
}

// NVIDIA's own compiler needs no GPU: if it is installed, it must accept the calls of this package.
func TestRealCompiler(t *testing.T) {
	c, err := findCompiler()
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	check(t, err)
	const source = `extern "C" __global__ void scale(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }`
	if ptx := must(c.translate(source, "scale.cu", []string{"--gpu-architecture=compute_90"}))(t); !bytes.Contains(ptx, []byte(".entry scale(")) {
		t.Errorf("got %s", ptx)
	}
	if _, err := c.translate("int f( {", "bad.cu", nil); err == nil || !strings.Contains(err.Error(), "bad.cu(1): error") {
		t.Errorf("got %v: want the compiler's own words", err)
	}
}
