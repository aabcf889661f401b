package tensor

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"godlpack/dlpack"
)

func mustView[T Element](t testing.TB, s *sample) Of[T] {
	t.Helper()
	v, err := View[T](&s.Tensor)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestViewLayouts reads every element of all layouts by index, and by rows.
func TestViewLayouts(t *testing.T) {
	memory := make([]float32, 48)
	for i := range memory {
		memory[i] = float32(i)
	}
	for _, l := range layouts {
		s := of(memory, l.shape, l.strides, l.first)
		v := mustView[float32](t, s)
		var want, got, rows []float32
		for offset := range Offsets(l.shape, l.strides) {
			want = append(want, memory[l.first+int(offset)])
		}
		index := make([]int, len(l.shape))
		for range v.Len() {
			got = append(got, v.At(index...))
			next(index, l.shape)
		}
		for i := range v.Rows() {
			row := v.Row(i)
			for k := range row.Len() {
				rows = append(rows, row.At(k))
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(rows, want) {
			t.Errorf("%v %v: got %v, by rows %v, want %v", l.shape, l.strides, got, rows, want)
		}
		checkSlice(t, v, want)
		checkWalks(t, v, want)
		if v.NDim() != len(l.shape) || !slices.Equal(v.Shape(), l.shape) {
			t.Errorf("got shape %v, want %v", v.Shape(), l.shape)
		}
		for i, step := range l.strides {
			if v.Stride(i) != step {
				t.Errorf("stride %d: got %d, want %d", i, v.Stride(i), step)
			}
		}
	}
}

// checkSlice compares Slice's result or error with the elements.
func checkSlice(t *testing.T, v Of[float32], want []float32) {
	t.Helper()
	defer func() {
		if err, _ := recover().(error); err != nil {
			wantKind(t, err, dlpack.KindBuffer)
			if v.Contiguous() || !strings.Contains(err.Error(), "np.ascontiguousarray(x) or x.contiguous()") {
				t.Errorf("%v %v: %v", v.Shape(), v.strides(), err)
			}
		} else if !v.Contiguous() {
			t.Errorf("%v %v: Slice gives no error", v.Shape(), v.strides())
		}
	}()
	if got := v.Slice(); !slices.Equal(got, want) {
		t.Errorf("%v %v: Slice gives %v, want %v", v.Shape(), v.strides(), got, want)
	}
}

// checkWalks loops over a view, and stops such loops early.
func checkWalks(t *testing.T, v Of[float32], want []float32) {
	t.Helper()
	var all, pointed []float32
	for i, x := range v.All() {
		if i != len(all) {
			t.Errorf("%v %v: All yields number %d after %d elements", v.Shape(), v.strides(), i, len(all))
		}
		all = append(all, x)
	}
	for p := range (Mut[float32]{v}).Pointers() {
		pointed = append(pointed, *p)
	}
	if !slices.Equal(all, want) || !slices.Equal(pointed, want) {
		t.Errorf("%v %v: All yields %v, Pointers %v, want %v", v.Shape(), v.strides(), all, pointed, want)
	}
	for stop := range want {
		last := 0
		for i := range v.All() {
			if last = i; i == stop {
				break
			}
		}
		for range (Mut[float32]{v}).Pointers() {
			break
		}
		if last != stop {
			t.Errorf("%v %v: All goes on after %d", v.Shape(), v.strides(), stop)
		}
	}
}

// next advances a multi-index, the last axis first.
func next(index []int, shape []int64) {
	for i := len(index) - 1; i >= 0; i-- {
		if index[i]++; index[i] < int(shape[i]) {
			return
		}
		index[i] = 0
	}
}

func TestViewNullStrides(t *testing.T) {
	v := mustView[int8](t, of(make([]int8, 24), []int64{2, 3, 4}, nil, 0))
	if v.Stride(0) != 12 || v.Stride(1) != 4 || v.Stride(2) != 1 {
		t.Errorf("got strides %d, %d, %d, want 12, 4, 1", v.Stride(0), v.Stride(1), v.Stride(2))
	}
}

func TestMutSet(t *testing.T) {
	memory := make([]int16, 6)
	m, err := MutView[int16](&of(memory, []int64{2, 3}, []int64{1, 2}, 0).Tensor)
	if err != nil {
		t.Fatal(err)
	}
	m.Set(7, 1, 2)
	m.Row(0).Set(5, 1)
	if want := []int16{0, 0, 5, 0, 0, 7}; !slices.Equal(memory, want) {
		t.Errorf("got %v, want %v", memory, want)
	}
}

// TestViewTypes views each element type once, and as one wrong type.
func TestViewTypes(t *testing.T) {
	viewType[int8](t, "int8")
	viewType[int16](t, "int16")
	viewType[int32](t, "int32")
	viewType[int64](t, "int64")
	viewType[uint8](t, "uint8")
	viewType[uint16](t, "uint16")
	viewType[uint32](t, "uint32")
	viewType[uint64](t, "uint64")
	viewType[float32](t, "float32")
	viewType[float64](t, "float64")
	viewType[complex64](t, "complex64")
	viewType[complex128](t, "complex128")
	viewType[Bool8](t, "bool")
	viewType[Float16](t, "float16")
	viewType[BFloat16](t, "bfloat16")
	viewType[Float8E3M4](t, "float8_e3m4")
	viewType[Float8E4M3](t, "float8_e4m3")
	viewType[Float8E4M3B11FNUZ](t, "float8_e4m3b11fnuz")
	viewType[Float8E4M3FN](t, "float8_e4m3fn")
	viewType[Float8E4M3FNUZ](t, "float8_e4m3fnuz")
	viewType[Float8E5M2](t, "float8_e5m2")
	viewType[Float8E5M2FNUZ](t, "float8_e5m2fnuz")
	viewType[Float8E8M0FNU](t, "float8_e8m0fnu")
}

func viewType[T Element](t *testing.T, name string) {
	t.Helper()
	s := compact(t, parse(t, name), false, 3)
	v := mustView[T](t, s)
	if err := Store(&s.Tensor, false, 2, BoolScalar(true)); err != nil {
		t.Fatal(err)
	}
	if v.At(2) == v.At(1) || v.At(0) != v.At(1) {
		t.Errorf("%s: got %v, want 0, 0, 1", name, v.Slice())
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = View[T](&s.Tensor) }); n != 0 {
		t.Errorf("%s: View allocates %v times", name, n)
	}
	for _, wrong := range []dlpack.DType{dlpack.Float128, {Code: s.DType.Code, Bits: s.DType.Bits, Lanes: 2}} {
		s.DType = wrong
		_, err := View[T](&s.Tensor)
		wantKind(t, err, dlpack.KindType)
	}
}

func TestViewRefuses(t *testing.T) {
	newFloats := func() *sample { return of(make([]float32, 8), []int64{2, 3}, []int64{3, 1}, 0) }
	for _, try := range []struct {
		name  string
		spoil func(*sample)
		want  dlpack.Kind
	}{
		{"other type", func(s *sample) { s.DType = dlpack.Int32 }, dlpack.KindType},
		{"unknown type", func(s *sample) { s.DType.Code = 99 }, dlpack.KindBuffer},
		{"device", func(s *sample) { s.Device.Type = dlpack.CUDA }, dlpack.KindBuffer},
		{"misaligned", func(s *sample) { s.ByteOffset = 2 }, dlpack.KindBuffer},
		{"no data", func(s *sample) { s.Data = nil }, dlpack.KindBuffer},
		{"negative extent", func(s *sample) { s.shape[0] = -1 }, dlpack.KindBuffer},
		{"huge stride", func(s *sample) { s.strides[0] = 1 << 62 }, dlpack.KindBuffer},
		{"ndim", func(s *sample) { s.NDim = -1 }, dlpack.KindBuffer},
	} {
		s := newFloats()
		try.spoil(s)
		_, err := View[float32](&s.Tensor)
		t.Log(try.name, err)
		wantKind(t, err, try.want)
		_, err = MutView[float32](&s.Tensor)
		wantKind(t, err, try.want)
	}
	for _, device := range []dlpack.DeviceType{dlpack.CUDAHost, dlpack.CUDAManaged, dlpack.ROCmHost} {
		s := newFloats()
		s.Device.Type = device
		mustView[float32](t, s)
	}
}

func TestViewEmpty(t *testing.T) {
	s := newSample(dlpack.Float32, nil, []int64{2, 0}, []int64{0, 1}, 0)
	v := mustView[float32](t, s)
	if v.Len() != 0 || len(v.Slice()) != 0 || v.Rows() != 2 || v.Row(1).Len() != 0 {
		t.Errorf("len %d, rows %d", v.Len(), v.Rows())
	}
}

// TestViewPanics uses invalid indices and rows; the panics carry an IndexError.
func TestViewPanics(t *testing.T) {
	v := mustView[int8](t, of(make([]int8, 6), []int64{2, 3}, nil, 0))
	for name, f := range map[string]func(){
		"negative":  func() { v.At(0, -1) },
		"too large": func() { v.At(2, 0) },
		"too few":   func() { v.At(1) },
		"too many":  func() { v.At(0, 0, 0) },
		"row":       func() { v.Row(2) },
		"no row":    func() { v.Row(-1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				wantKind(t, err, dlpack.KindIndex)
			}()
			f()
		})
	}
}

func TestAtAllocates(t *testing.T) {
	m, err := MutView[float32](&of(make([]float32, 6), []int64{2, 3}, []int64{1, 2}, 0).Tensor)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.Set(m.At(1, 2)+1, 0, 1) }); n != 0 {
		t.Errorf("At and Set allocate %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { m.Row(1).Set(1, 2) }); n != 0 {
		t.Errorf("Row allocates %v times", n)
	}
}

// A view without axes is one row of one element, which keeps its owner.
func TestRowOfNoAxes(t *testing.T) {
	m, err := MutView[float32](&of([]float32{1}, nil, nil, 0).Tensor)
	if err != nil {
		t.Fatal(err)
	}
	m.Row(0).Set(2, 0)
	row := m.Row(0)
	if m.Rows() != 1 || row.NDim() != 1 || row.Len() != 1 || !slices.Equal(row.Slice(), []float32{2}) || row.Row(0).At(0) != 2 {
		t.Errorf("got %d rows, the first of shape %v", m.Rows(), row.Shape())
	}
	freed := make(chan bool)
	func() {
		owner := new([16]byte)
		runtime.AddCleanup(owner, func(freed chan bool) { close(freed) }, freed)
		row = m.Hold(owner).Row(0)
	}()
	runtime.GC()
	select {
	case <-freed:
		t.Error("the row has lost its owner")
	case <-time.After(20 * time.Millisecond):
	}
	if row.Len() != 1 || row.At(0) != 2 {
		t.Errorf("got a row of shape %v", row.Shape())
	}
}

// A view has more axes than fit in a walk.
func TestWalkOfManyAxes(t *testing.T) {
	const n = 12
	data, want := make([]int16, 1<<n), []int16{}
	shape, strides := make([]int64, n), make([]int64, n)
	for i := range n {
		shape[i], strides[i] = 2, 1<<i // column-major
	}
	for i := range data {
		data[i] = int16(i)
	}
	for offset := range Offsets(shape, strides) {
		want = append(want, data[offset])
	}
	v, err := FromStrided(data, 0, shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	var got []int16
	for _, x := range v.All() {
		got = append(got, x)
	}
	if !slices.Equal(got, want) {
		t.Error("the order is another than that of Offsets")
	}
}

func TestWalksAllocateNothing(t *testing.T) {
	m, err := MutView[float32](&of(make([]float32, 24), []int64{2, 3, 2}, []int64{1, 8, 2}, 0).Tensor)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		for p := range m.Pointers() {
			*p++
		}
		for _, x := range m.All() {
			sunk += x
		}
	}); n != 0 {
		t.Errorf("loops allocate %v times", n)
	}
}

var sunk float32

func TestBool8(t *testing.T) {
	v := mustView[Bool8](t, newSample(dlpack.Bool, []byte{0, 1, 2}, []int64{3}, nil, 0))
	if v.At(0).Bool() || !v.At(1).Bool() || !v.At(2).Bool() {
		t.Error("want false, true, true")
	}
}

func BenchmarkView(b *testing.B) {
	s := of(make([]float32, 6), []int64{2, 3}, []int64{3, 1}, 0)
	for b.Loop() {
		if _, err := View[float32](&s.Tensor); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkElements compares ways to read and to write all elements of a compact view.
func BenchmarkElements(b *testing.B) {
	m, err := MutView[float32](&of(make([]float32, 1<<12), []int64{1 << 12}, []int64{1}, 0).Tensor)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(){
		"slice": func() {
			sum := float32(0)
			for _, x := range m.Slice() {
				sum += x
			}
			sunk = sum
		},
		"all": func() {
			sum := float32(0)
			for _, x := range m.All() {
				sum += x
			}
			sunk = sum
		},
		"write slice": func() {
			s := m.Slice()
			for i := range s {
				s[i] *= 2
			}
		},
		"write pointers": func() {
			for p := range m.Pointers() {
				*p *= 2
			}
		},
		"only slice": func() { _ = m.Slice() },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkAt(b *testing.B) {
	v := mustView[float32](b, of(make([]float32, 1<<16), []int64{256, 256}, []int64{256, 1}, 0))
	sum := float32(0)
	for b.Loop() {
		for i := range 256 {
			for k := range 256 {
				sum += v.At(i, k)
			}
		}
	}
	_ = sum
}
