package dlpack_test

import (
	"math"
	"slices"
	"testing"

	"godlpack/dlpack"
)

func TestElements(t *testing.T) {
	for _, c := range []struct {
		shape   []int64
		want    int64
		message string
	}{
		{nil, 1, ""},
		{[]int64{2, 3, 4}, 24, ""},
		{[]int64{2, 0}, 0, ""},
		{[]int64{1 << 31, 1 << 31}, 1 << 62, ""},
		{[]int64{math.MaxInt64}, math.MaxInt64, ""},
		{[]int64{2, -1}, 0, "shape[1]: want 0 or more, got -1"},
		{[]int64{0, -1}, 0, "shape[1]: want 0 or more, got -1"},
		{[]int64{1 << 32, 1 << 31}, 0, "shape [4294967296 2147483648]: want fewer than 2^63 elements, got more"},
		{[]int64{math.MaxInt64, 3}, 0, "shape [9223372036854775807 3]: want fewer than 2^63 elements, got more"},
		{[]int64{0, 1 << 62, 4}, 0, "shape [0 4611686018427387904 4]: want fewer than 2^63 elements, got more"},
	} {
		got, err := dlpack.Elements(c.shape)
		checkError(t, "Elements", err, dlpack.KindBuffer, c.message)
		if got != c.want {
			t.Errorf("Elements(%v): want %d, got %d", c.shape, c.want, got)
		}
	}
}

func TestCompactStrides(t *testing.T) {
	for _, c := range []struct{ shape, want []int64 }{
		{[]int64{}, []int64{}},
		{[]int64{5}, []int64{1}},
		{[]int64{2, 3, 4}, []int64{12, 4, 1}},
		{[]int64{0, 3}, []int64{3, 1}},
		{[]int64{3, 0}, []int64{1, 1}},
	} {
		got := make([]int64, len(c.shape))
		dlpack.CompactStrides(got, c.shape)
		if !slices.Equal(got, c.want) {
			t.Errorf("CompactStrides(%v): want %v, got %v", c.shape, c.want, got)
		}
	}
}

func TestIsContiguous(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int64
		c, f           bool
	}{
		{nil, nil, true, true},
		{[]int64{5}, []int64{1}, true, true},
		{[]int64{5}, []int64{-1}, false, false},
		{[]int64{2, 3}, nil, true, false},
		{[]int64{1, 3, 1}, nil, true, true},
		{[]int64{2, 3}, []int64{3, 1}, true, false},
		{[]int64{2, 3}, []int64{1, 2}, false, true},
		{[]int64{2, 3}, []int64{4, 1}, false, false},
		{[]int64{1, 3}, []int64{7, 1}, true, true},
		{[]int64{3, 1}, []int64{1, 99}, true, true},
		{[]int64{2, 0}, []int64{0, 77}, true, true},
		{[]int64{3, 4}, []int64{0, 1}, false, false},
	} {
		if got := dlpack.IsContiguous(c.shape, c.strides, 'C'); got != c.c {
			t.Errorf("%v %v: want C %v, got %v", c.shape, c.strides, c.c, got)
		}
		if got := dlpack.IsContiguous(c.shape, c.strides, 'F'); got != c.f {
			t.Errorf("%v %v: want F %v, got %v", c.shape, c.strides, c.f, got)
		}
	}
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int64
		lo, hi         int64
		fails          bool
	}{
		{nil, nil, 0, 0, false},
		{[]int64{2, 3}, nil, 0, 5, false},
		{[]int64{5}, []int64{-1}, -4, 0, false},
		{[]int64{2, 3}, []int64{-3, 1}, -3, 2, false},
		{[]int64{3, 4}, []int64{0, 1}, 0, 3, false},
		{[]int64{0, 4}, []int64{math.MaxInt64, math.MaxInt64}, 0, -1, false},
		{[]int64{1}, []int64{math.MinInt64}, 0, 0, false},
		{[]int64{2}, []int64{math.MaxInt64}, 0, -1, true}, // a span of 2^63
		{[]int64{2}, []int64{math.MinInt64}, 0, -1, true},
		{[]int64{2}, []int64{math.MaxInt64 - 1}, 0, math.MaxInt64 - 1, false},
		{[]int64{2}, []int64{-math.MaxInt64 + 1}, -math.MaxInt64 + 1, 0, false},
		{[]int64{3}, []int64{math.MaxInt64}, 0, -1, true},
		{[]int64{2, 2}, []int64{1 << 62, 1 << 62}, 0, -1, true},
		{[]int64{2, 2}, []int64{math.MinInt64, math.MinInt64}, 0, -1, true},
		{[]int64{2, 2}, []int64{1 << 62, -1 << 62}, 0, -1, true},
		{[]int64{-1}, []int64{1}, 0, -1, true},
	} {
		lo, hi, err := dlpack.Extent(c.shape, c.strides)
		if lo != c.lo || hi != c.hi || c.fails != (err != nil) {
			t.Errorf("Extent(%v, %v): want %d to %d, fails %v; got %d to %d, %v", c.shape, c.strides, c.lo, c.hi, c.fails, lo, hi, err)
		}
	}
}

// offsets lists the element offset of every index, the last axis fastest, or the first one if order is 'F'. It is the reference
// for the functions under test.
func offsets(shape, strides []int64, order byte) []int64 {
	all := []int64{0}
	for k := range shape {
		axis := k
		if order == 'F' {
			axis = len(shape) - 1 - k
		}
		var next []int64
		for _, o := range all {
			for i := range shape[axis] {
				next = append(next, o+i*strides[axis])
			}
		}
		all = next
	}
	return all
}

// dense reports whether all is 0, 1, 2, ...
func dense(all []int64) bool {
	for i, o := range all {
		if o != int64(i) {
			return false
		}
	}
	return true
}

// smallArray converts up to 5 bytes to a shape with extents from 0 to 4 and strides from -12 to 12.
func smallArray(data []byte) (shape, strides []int64) {
	for _, b := range data[:min(len(data), 5)] {
		shape = append(shape, int64(b%5))
		strides = append(strides, int64(b/5)%25-12)
	}
	return shape, strides
}

func FuzzShape(f *testing.F) {
	for _, seed := range []string{"", "\x00", "A\x9c", "\x9bB\x41", "\x41\x46\x4b", "\xff\x80\x12\x33", "\x3e\x3e\x3e\x3e\x3e"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		shape, strides := smallArray(data)
		checkShape(t, shape, strides)
		dlpack.CompactStrides(strides, shape)
		checkShape(t, shape, strides)
		if !dlpack.IsContiguous(shape, strides, 'C') || !dlpack.IsContiguous(shape, nil, 'C') {
			t.Errorf("shape %v: compact strides %v are not contiguous", shape, strides)
		}
		for _, order := range []byte("CF") {
			if dlpack.IsContiguous(shape, strides, order) != dlpack.IsContiguous(shape, nil, order) {
				t.Errorf("shape %v: strides %v and nil differ in order %c", shape, strides, order)
			}
		}
		if dlpack.SelfOverlap(shape, strides) || dlpack.SelfOverlap(shape, nil) {
			t.Errorf("shape %v: compact strides %v overlap", shape, strides)
		}
	})
}

func checkShape(t *testing.T, shape, strides []int64) {
	t.Helper()
	all := offsets(shape, strides, 'C')
	if n, err := dlpack.Elements(shape); n != int64(len(all)) || err != nil {
		t.Errorf("Elements(%v): want %d, got %d, %v", shape, len(all), n, err)
	}
	for _, order := range []byte("CF") {
		if got, want := dlpack.IsContiguous(shape, strides, order), dense(offsets(shape, strides, order)); got != want {
			t.Errorf("shape %v strides %v: want contiguous in order %c %v, got %v", shape, strides, order, want, got)
		}
	}
	wantLo, wantHi := int64(0), int64(-1)
	if len(all) > 0 {
		wantLo, wantHi = slices.Min(all), slices.Max(all)
	}
	if lo, hi, err := dlpack.Extent(shape, strides); lo != wantLo || hi != wantHi || err != nil {
		t.Errorf("Extent(%v, %v): want %d to %d, got %d to %d, %v", shape, strides, wantLo, wantHi, lo, hi, err)
	}
	checkSelfOverlap(t, shape, strides, all)
}

// checkSelfOverlap requires the exact answer for up to two movable axes, and never a wrong false.
func checkSelfOverlap(t *testing.T, shape, strides, all []int64) {
	t.Helper()
	slices.Sort(all)
	shared := len(slices.Compact(slices.Clone(all))) < len(all)
	movable := 0
	for _, extent := range shape {
		if extent > 1 {
			movable++
		}
	}
	got := dlpack.SelfOverlap(shape, strides)
	if shared && !got || movable <= 2 && shared != got {
		t.Errorf("SelfOverlap(%v, %v): want %v, got %v", shape, strides, shared, got)
	}
}

func TestSelfOverlap(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int64
		want           bool
	}{
		{nil, nil, false},
		{[]int64{3, 4}, nil, false},
		{[]int64{3, 4}, []int64{0, 1}, true},
		{[]int64{1, 4}, []int64{0, 1}, false},
		{[]int64{0, 4}, []int64{0, 0}, false},
		{[]int64{4, 3, 2}, []int64{-12, 1, 6}, false}, // transposed, reversed
		{[]int64{2, 3}, []int64{3, 2}, false},         // interleaved: 0 2 4 3 5 7
		{[]int64{3, 4}, []int64{3, 2}, true},          // 6 = 2*3 = 3*2
		{[]int64{8, 3}, []int64{1, 1}, true},          // sliding window
		{[]int64{2, 2, 2}, []int64{2, 3, 4}, true},    // no overlap, but beyond the exact cases
		{[]int64{2}, []int64{math.MinInt64}, true},    // Extent rejects it
	} {
		if got := dlpack.SelfOverlap(c.shape, c.strides); got != c.want {
			t.Errorf("SelfOverlap(%v, %v): want %v, got %v", c.shape, c.strides, c.want, got)
		}
	}
}
