package tensor

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// textJSON has NumPy's text of arrays and numbers: written by testdata/text.py.
//
//go:embed testdata/text.json
var textJSON []byte

type textCase struct {
	DType  string
	Shape  []int64
	Data   string
	Arange bool
	Indent int
	Text   string
}

func (c *textCase) tensor(t *testing.T) *sample {
	t.Helper()
	s := compact(t, parse(t, c.DType), false, c.Shape...)
	if !c.Arange {
		if _, err := hex.Decode(s.memory, []byte(c.Data)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	i := int64(0)
	for offset := range Offsets(c.Shape, nil) {
		if err := Store(&s.Tensor, false, offset, IntScalar(i)); err != nil {
			t.Fatal(err)
		}
		i++
	}
	return s
}

func TestTextGolden(t *testing.T) {
	var golden struct{ Arrays, Scalars []textCase }
	if err := json.Unmarshal(textJSON, &golden); err != nil {
		t.Fatal(err)
	}
	for _, c := range golden.Arrays {
		if got := Text(&c.tensor(t).Tensor, false, TextOptions{Indent: c.Indent}); got != c.Text {
			t.Errorf("%s %v: got\n%s\nwant\n%s", c.DType, c.Shape, got, c.Text)
		}
	}
	for _, c := range golden.Scalars {
		s := c.tensor(t)
		if got := Load(&s.Tensor, false, 0).Format(s.DType); got != c.Text {
			t.Errorf("%s: got %s, want %s", c.DType, got, c.Text)
		}
	}
}

// TestText has the cases that NumPy does not support.
func TestText(t *testing.T) {
	for _, try := range []struct {
		dtype string
		value Scalar
		want  string
	}{
		{"bfloat16", FloatScalar(0.1), "[0.1, 0. ]"},
		{"bfloat16", FloatScalar(1e10), "[1.e+10, 0.e+00]"},
		{"float8_e4m3fn", FloatScalar(448), "[448.,   0.]"},
		{"float4_e2m1fn", FloatScalar(-1.5), "[-1.5,  0. ]"},
		{"float6_e2m3fn", FloatScalar(7.5), "[7.5, 0. ]"},
		{"int4", IntScalar(-8), "[-8,  0]"},
		{"uint128", UIntScalar(math.MaxUint64), "[18446744073709551615,                    0]"},
		{"int128", IntScalar(-1), "[-1,  0]"},
		{"complex32", ComplexScalar(0.1 + 1i), "[0.1+1.j, 0. +0.j]"},
		{"float128", FloatScalar(0.1), "[0.1000000000000000055511151231257827,\n" + strings.Repeat(" ", 34) + "0.0]"},
		{"handle", UIntScalar(0xdead), "[0x000000000000dead, 0x0000000000000000]"},
		{"float32x2", Lanes(FloatScalar(1), FloatScalar(0.5)), "[(1.0, 0.5), (0.0, 0.0)]"},
		{"boolx2", BoolScalar(true), "[  (True, True), (False, False)]"},
	} {
		s := compact(t, parse(t, try.dtype), false, 2)
		if err := Store(&s.Tensor, false, 0, try.value); err != nil {
			t.Fatal(err)
		}
		if got := Text(&s.Tensor, false, TextOptions{}); got != try.want {
			t.Errorf("%s: got %s, want %s", try.dtype, got, try.want)
		}
	}
}

func TestTextOptions(t *testing.T) {
	s := compact(t, dlpack.UInt8, false, 2, 9)
	if got, want := Text(&s.Tensor, false, TextOptions{Threshold: -1, EdgeItems: 1}), "[[0, ..., 0],\n [0, ..., 0]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := compact(t, dlpack.UInt8, false, 100)
	if got := Text(&long.Tensor, false, TextOptions{Width: -1}); strings.Contains(got, "\n") {
		t.Errorf("wrapped in spite of the width: %s", got)
	}
	s.Device = dlpack.Device{Type: dlpack.CUDA, ID: 1}
	if got, want := Text(&s.Tensor, false, TextOptions{}), "<18 elements on cuda:1>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTextBoolBytes(t *testing.T) {
	s := newSample(dlpack.Bool, []byte{0, 1, 2, 255}, []int64{4}, nil, 0)
	if got, want := Text(&s.Tensor, false, TextOptions{}), "[False,  True,  True,  True]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
