package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"godlpack/dlpack"
)

// TestCopyLayouts copies between all layouts of the same shape, and compares element by element.
func TestCopyLayouts(t *testing.T) {
	forLayouts(t, func(t *testing.T, src *sample, padded bool) {
		want := texts(src, padded)
		dst := compact(t, src.DType, padded, src.ShapeSlice()...)
		if err := Copy(&dst.Tensor, &src.Tensor, padded); err != nil {
			t.Fatal(err)
		}
		if got := texts(dst, padded); !slices.Equal(got, want) {
			t.Fatalf("to compact: got %v, want %v", got, want)
		}
		back := newSample(src.DType, make([]byte, len(src.memory)), src.ShapeSlice(), src.StridesSlice(), int(src.ByteOffset))
		if err := Copy(&back.Tensor, &dst.Tensor, padded); err != nil {
			t.Fatal(err)
		}
		if got := texts(back, padded); !slices.Equal(got, want) {
			t.Fatalf("from compact: got %v, want %v", got, want)
		}
		again := newSample(src.DType, make([]byte, len(src.memory)), src.ShapeSlice(), src.StridesSlice(), int(src.ByteOffset))
		if err := Copy(&again.Tensor, &src.Tensor, padded); err != nil {
			t.Fatal(err)
		}
		if got := texts(again, padded); !slices.Equal(got, want) {
			t.Fatalf("same layout: got %v, want %v", got, want)
		}
	})
}

// TestFillLayouts checks that Fill sets all elements and no other bit: Store does the same one by one.
func TestFillLayouts(t *testing.T) {
	forLayouts(t, func(t *testing.T, s *sample, padded bool) {
		value := Load(newSample(s.DType, bytes.Repeat([]byte{0x1b}, 256), nil, nil, 0).asTensor(), padded, 0)
		want := newSample(s.DType, bytes.Clone(s.memory), s.ShapeSlice(), s.StridesSlice(), int(s.ByteOffset))
		for offset := range Offsets(want.ShapeSlice(), want.StridesSlice()) {
			if err := Store(&want.Tensor, padded, offset, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := Fill(&s.Tensor, padded, value); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.memory, want.memory) {
			t.Errorf("got\n%x, want\n%x", s.memory, want.memory)
		}
	})
}

func (s *sample) asTensor() *dlpack.Tensor { return &s.Tensor }

func TestFillZeroStride(t *testing.T) {
	s := of([]int32{1, 2, 3}, []int64{5, 2}, []int64{0, 2}, 0)
	if err := Fill(&s.Tensor, false, IntScalar(9)); err != nil {
		t.Fatal(err)
	}
	if got, want := *(*[3]int32)(s.Data), [3]int32{9, 2, 9}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFillLong(t *testing.T) {
	for _, n := range []int64{1, 7, 4096, 40001} {
		s := compact(t, parse(t, "float32x3"), false, n)
		if err := Fill(&s.Tensor, false, Lanes(FloatScalar(1), FloatScalar(2), FloatScalar(3))); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := Load(&s.Tensor, false, i).String(); got != "(1.0, 2.0, 3.0)" {
				t.Fatalf("element %d of %d: %s", i, n, got)
			}
		}
		if err := Fill(&s.Tensor, false, IntScalar(0)); err != nil || !bytes.Equal(s.memory, make([]byte, len(s.memory))) {
			t.Errorf("%d elements: not all zero, %v", n, err)
		}
	}
}

// TestCopyOverlap reverses, shifts and transposes memory in place.
func TestCopyOverlap(t *testing.T) {
	for _, try := range []struct {
		name             string
		shape, dst, from []int64
		dstFirst, first  int
		want             []int16
	}{
		{"reverse", []int64{6}, []int64{1}, []int64{-1}, 0, 5, []int16{5, 4, 3, 2, 1, 0}},
		{"shift up", []int64{5}, []int64{1}, []int64{1}, 1, 0, []int16{0, 0, 1, 2, 3, 4}},
		{"shift down", []int64{5}, []int64{1}, []int64{1}, 0, 1, []int16{1, 2, 3, 4, 5, 5}},
		{"transpose", []int64{2, 3}, []int64{3, 1}, []int64{1, 2}, 0, 0, []int16{0, 2, 4, 1, 3, 5}},
		{"broadcast", []int64{6}, []int64{1}, []int64{0}, 0, 4, []int16{4, 4, 4, 4, 4, 4}},
		{"itself", []int64{6}, []int64{-1}, []int64{-1}, 5, 5, []int16{0, 1, 2, 3, 4, 5}},
	} {
		memory := []int16{0, 1, 2, 3, 4, 5}
		dst, src := of(memory, try.shape, try.dst, try.dstFirst), of(memory, try.shape, try.from, try.first)
		if err := Copy(&dst.Tensor, &src.Tensor, false); err != nil || !slices.Equal(memory, try.want) {
			t.Errorf("%s: got %v, %v, want %v", try.name, memory, err, try.want)
		}
	}
}

func TestCopyRefuses(t *testing.T) {
	a, b := compact(t, dlpack.Int32, false, 2, 3), compact(t, dlpack.Int32, false, 3, 2)
	wantKind(t, Copy(&a.Tensor, &b.Tensor, false), dlpack.KindValue)
	f := compact(t, dlpack.Float32, false, 2, 3)
	wantKind(t, Copy(&a.Tensor, &f.Tensor, false), dlpack.KindValue)
	a.Device.Type = dlpack.CUDA
	wantKind(t, Copy(&a.Tensor, &a.Tensor, false), dlpack.KindBuffer)
}

func TestOffsets(t *testing.T) {
	for _, try := range []struct{ shape, strides, want []int64 }{
		{nil, nil, []int64{0}},
		{[]int64{3}, nil, []int64{0, 1, 2}},
		{[]int64{2, 0}, nil, nil},
		{[]int64{2, 3}, nil, []int64{0, 1, 2, 3, 4, 5}},
		{[]int64{2, 3}, []int64{1, 2}, []int64{0, 2, 4, 1, 3, 5}},
		{[]int64{2, 2}, []int64{0, -1}, []int64{0, -1, 0, -1}},
	} {
		if got := slices.Collect(Offsets(try.shape, try.strides)); !slices.Equal(got, try.want) {
			t.Errorf("%v %v: got %v, want %v", try.shape, try.strides, got, try.want)
		}
	}
	for range Offsets([]int64{5}, nil) {
		break // an iterator must handle that
	}
}

func BenchmarkFill(b *testing.B) {
	for _, name := range []string{"int8", "float32", "complex128", "float4_e2m1fn", "float6_e2m3fn"} {
		b.Run("contiguous/"+name, func(b *testing.B) { benchmarkFill(b, compact(b, parse(b, name), false, 1024, 1024)) })
	}
	for _, name := range []string{"int8", "float32", "complex128"} {
		s := compact(b, parse(b, name), false, 1024, 2048)
		s.strides = []int64{2048, 2}
		s.shape[1], s.Strides = 1024, &s.strides[0]
		b.Run("strided/"+name, func(b *testing.B) { benchmarkFill(b, s) })
	}
}

func benchmarkFill(b *testing.B, s *sample) {
	b.SetBytes(1 << 20 * int64(s.DType.BitSize(false)) / 8)
	for b.Loop() {
		if err := Fill(&s.Tensor, false, IntScalar(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, name := range []string{"int8", "float32", "complex128", "float32x3", "float4_e2m1fn"} {
		d := parse(b, name)
		dst := compact(b, d, false, 1024, 1024)
		for kind, strides := range map[string][]int64{"contiguous": {1024, 1}, "transposed": {1, 1024}, "rows": {2048, 1}, "every second": {2048, 2}} {
			src := newSample(d, make([]byte, 1024*2048*d.ItemSize(false)), []int64{1024, 1024}, strides, 0)
			b.Run(fmt.Sprintf("%s/%s", kind, name), func(b *testing.B) {
				b.SetBytes(int64(len(dst.memory)))
				for b.Loop() {
					if err := Copy(&dst.Tensor, &src.Tensor, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
