package pyext

import (
	"slices"
	"testing"

	"godlpack/dlpack"
)

func TestCompleteShape(t *testing.T) {
	cases := []struct {
		shape []int64
		size  int64
		want  []int64 // nil: a ValueError
	}{
		{[]int64{2, 3}, 6, []int64{2, 3}},
		{[]int64{-1}, 6, []int64{6}},
		{[]int64{2, -1}, 6, []int64{2, 3}},
		{[]int64{0, 5}, 0, []int64{0, 5}},
		{[]int64{-1, 3}, 0, []int64{0, 3}},
		{[]int64{}, 1, []int64{}},
		{[]int64{4, -1}, 6, nil},
		{[]int64{-1, -1}, 6, nil},
		{[]int64{-2, 3}, 6, nil},
		{[]int64{-1, 0}, 0, nil},
		{[]int64{7}, 6, nil},
		{[]int64{1 << 40, 1 << 40}, 6, nil},
		{make([]int64, 65), 0, nil},
	}
	for _, c := range cases {
		got := slices.Clone(c.shape)
		err := completeShape(got, c.size)
		if (err == nil) != (c.want != nil) || err == nil && !slices.Equal(got, c.want) {
			t.Errorf("%v of %d elements: got %v, %v; want %v", c.shape, c.size, got, err, c.want)
		}
		if err != nil && dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("%v: got %v, want a ValueError", c.shape, err)
		}
	}
}

func TestBufferDType(t *testing.T) {
	cases := []struct {
		format string
		size   int64
		want   string // "" is a BufferError
	}{
		{"", 1, "uint8"}, {"B", 1, "uint8"}, {"c", 1, "uint8"}, {"b", 1, "int8"}, {"?", 1, "bool"}, {">b", 1, "int8"},
		{"h", 2, "int16"}, {"<i", 4, "int32"}, {"=q", 8, "int64"}, {"l", 8, "int64"}, {"@L", 8, "uint64"}, {"n", 8, "int64"},
		{"e", 2, "float16"}, {"<f", 4, "float32"}, {"d", 8, "float64"}, {"Zf", 8, "complex64"}, {"<Zd", 16, "complex128"},
		{">i", 4, ""}, {"!d", 8, ""}, {"g", 16, ""}, {"w", 4, ""}, {"2i", 8, ""}, {"T{i:a:}", 4, ""}, {"O", 8, ""},
	}
	for _, c := range cases {
		d, err := bufferDType(c.format, c.size)
		if c.want == "" {
			if err == nil || dlpack.KindOf(err) != dlpack.KindBuffer {
				t.Errorf("format %q: got %v, %v; want a BufferError", c.format, d, err)
			}
		} else if err != nil || d.String() != c.want {
			t.Errorf("format %q: got %v, %v; want %s", c.format, d, err, c.want)
		}
	}
}

func FuzzBufferDType(f *testing.F) {
	f.Add("<i", int64(4))
	f.Fuzz(func(t *testing.T, format string, size int64) {
		if size < 1 {
			return // Python guarantees at least 1
		}
		if d, err := bufferDType(format, size); err == nil && (d.Valid() != nil || int64(d.ItemSize(false)) != size) {
			t.Errorf("format %q of %d bytes became %v", format, size, d)
		}
	})
}

func TestShapeText(t *testing.T) {
	for want, shape := range map[string][]int64{"()": nil, "(3,)": {3}, "(2, 3)": {2, 3}} {
		if got := shapeText(shape); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
