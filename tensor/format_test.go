package tensor

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// formatsText has the results of ml_dtypes and numpy for every format: written by testdata/formats.py.
//
//go:embed testdata/formats.txt
var formatsText []byte

// A coder is one format with its name, tested through the functions that Load and Store use.
type coder struct {
	name  string
	dtype dlpack.DType
}

func coders(t testing.TB) []coder {
	t.Helper()
	var all []coder
	for _, name := range []string{"float16", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
		"float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"} {
		d, err := dlpack.ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, coder{name, d})
	}
	return all
}

func (c coder) decode(code uint64) float64 { return decodeFloat(c.dtype.Code, int(c.dtype.Bits), code) }
func (c coder) encode(v float64) uint64    { return encodeFloat(c.dtype.Code, int(c.dtype.Bits), v) }
func (c coder) codes() int                 { return 1 << c.dtype.Bits }

// finite returns the finite codes by ascending value, without minus zero.
func (c coder) finite() []uint64 {
	var codes []uint64
	for code := range uint64(c.codes()) {
		v := c.decode(code)
		if !math.IsNaN(v) && !math.IsInf(v, 0) && !(v == 0 && math.Signbit(v)) {
			codes = append(codes, code)
		}
	}
	slices.SortFunc(codes, func(a, b uint64) int {
		if c.decode(a) < c.decode(b) {
			return -1
		}
		return 1
	})
	return codes
}

// TestFormatsGolden compares with ml_dtypes: all codes decoded, midpoints, their neighbours and edges encoded.
func TestFormatsGolden(t *testing.T) {
	known := map[string]coder{}
	for _, c := range coders(t) {
		known[c.name] = c
	}
	var c coder
	lines := bufio.NewScanner(bytes.NewReader(formatsText))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, rest, _ := strings.Cut(lines.Text(), " ")
		switch key {
		case "format":
			c = known[rest]
			delete(known, rest)
		case "sha256":
			if got := c.checksum(); got != rest {
				t.Errorf("%s: the decoded codes differ: sha256 %s", c.name, got)
			}
		case "decode":
			c.checkPairs(t, rest, func(code uint32) uint32 { return canonical(c.decode(uint64(code))) })
		case "encode":
			c.checkPairs(t, rest, func(v uint32) uint32 { return uint32(c.encode(float64(math.Float32frombits(v)))) })
		}
	}
	if len(known) > 0 {
		t.Errorf("not in testdata/formats.txt: %v", known)
	}
}

func (c coder) checkPairs(t *testing.T, pairs string, f func(uint32) uint32) {
	t.Helper()
	for pair := range strings.FieldsSeq(pairs) {
		in, want, _ := strings.Cut(pair, "=")
		v, err := strconv.ParseUint(in, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", f(uint32(v))); got != want {
			t.Errorf("%s: %s gives %s, want %s", c.name, in, got, want)
		}
	}
}

func (c coder) checksum() string {
	var all []byte
	for code := range c.codes() {
		all = binary.LittleEndian.AppendUint32(all, canonical(c.decode(uint64(code))))
	}
	return fmt.Sprintf("%x", sha256.Sum256(all))
}

// canonical returns the bits of v as a float32, with a single NaN.
func canonical(v float64) uint32 {
	if math.IsNaN(v) {
		return 0x7fc00000
	}
	return math.Float32bits(float32(v))
}

// TestFormatsRoundTrip encodes the value of every code, exactly.
func TestFormatsRoundTrip(t *testing.T) {
	for _, c := range coders(t) {
		for code := range uint64(c.codes()) {
			v := c.decode(code)
			if got := c.encode(v); got != code && !math.IsNaN(v) {
				t.Fatalf("%s: %#x is %v, which encodes to %#x", c.name, code, v, got)
			}
			if float64(float32(v)) != v && !math.IsNaN(v) {
				t.Fatalf("%s: %#x is %v, which a float32 does not hold", c.name, code, v)
			}
		}
	}
}

// TestFormatsRoundOnce tries the middle between any two neighbours and the float64s next to it. A conversion by way of float32
// fails it.
func TestFormatsRoundOnce(t *testing.T) {
	for _, c := range coders(t) {
		codes := c.finite()
		for i := range codes[1:] {
			lo, hi := codes[i], codes[i+1]
			middle := (c.decode(lo) + c.decode(hi)) / 2
			tie := lo
			if lo&1 != 0 || c.name == "float8_e8m0fnu" { // the even one; for e8m0 the upper one
				tie = hi
			}
			for _, try := range []struct {
				v    float64
				want uint64
			}{{math.Nextafter(middle, math.Inf(-1)), lo}, {middle, tie}, {math.Nextafter(middle, math.Inf(1)), hi}} {
				if got := c.encode(try.v); c.decode(got) != c.decode(try.want) {
					t.Fatalf("%s: %x: got %#x, want %#x", c.name, try.v, got, try.want)
				}
			}
		}
	}
}

// TestFormatsEdges has the cases without an answer of ml_dtypes, which converts by way of float32, and other edges by name.
func TestFormatsEdges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, try := range []struct {
		name string
		v    float64
		want float64
	}{
		{"float16", 65519.999, 65504}, {"float16", 65520, inf}, {"float16", -65520, -inf}, {"float16", 1e300, inf},
		{"float16", 0x1p-25, 0}, {"float16", math.Nextafter(0x1p-25, 1), 0x1p-24}, {"float16", 5e-324, 0},
		{"bfloat16", 0x1.feffffffffffep127, 0x1.fep127}, {"bfloat16", 0x1.ffp127, inf},
		{"float8_e4m3fn", 464, 448}, {"float8_e4m3fn", math.Nextafter(464, 500), nan}, {"float8_e4m3fn", inf, nan},
		{"float8_e4m3fnuz", 247.9, 240}, {"float8_e4m3fnuz", 248, nan}, {"float8_e4m3b11fnuz", 31, nan},
		{"float8_e5m2", 61439, 57344}, {"float8_e5m2", 61440, inf}, {"float8_e3m4", 15.74, 15.5}, {"float8_e4m3", inf, inf},
		{"float8_e8m0fnu", 3, 4}, {"float8_e8m0fnu", 0, nan}, {"float8_e8m0fnu", -1, nan}, {"float8_e8m0fnu", inf, nan},
		{"float8_e8m0fnu", 5e-324, 0x1p-127}, {"float8_e8m0fnu", 0x1.7ffffffffffffp127, 0x1p127}, {"float8_e8m0fnu", 0x1.8p127, nan},
		{"float6_e2m3fn", inf, 7.5}, {"float6_e2m3fn", -1e9, -7.5}, {"float6_e3m2fn", 29, 28}, {"float6_e3m2fn", nan, 0},
		{"float4_e2m1fn", 0.25, 0}, {"float4_e2m1fn", 0.75, 1}, {"float4_e2m1fn", 5, 4}, {"float4_e2m1fn", 100, 6},
	} {
		d, _ := dlpack.ParseDType(try.name)
		c := coder{try.name, d}
		if got := c.decode(c.encode(try.v)); got != try.want && !(math.IsNaN(got) && math.IsNaN(try.want)) {
			t.Errorf("%s(%v): got %v, want %v", try.name, try.v, got, try.want)
		}
	}
}

func TestSmallFloatMethods(t *testing.T) {
	for _, try := range []struct {
		text string
		back float64
		f32  float32
		want string
	}{
		{Float16From(0.1).String(), Float16From(0.1).Float64(), Float16From(0.1).Float32(), "0.1"},
		{BFloat16From(3.140625).String(), BFloat16From(3.140625).Float64(), BFloat16From(3.140625).Float32(), "3.14"},
		{Float8E3M4From(15.5).String(), Float8E3M4From(15.5).Float64(), Float8E3M4From(15.5).Float32(), "15.5"},
		{Float8E4M3From(1.125).String(), Float8E4M3From(1.125).Float64(), Float8E4M3From(1.125).Float32(), "1.125"},
		{Float8E4M3B11FNUZFrom(30).String(), Float8E4M3B11FNUZFrom(30).Float64(), Float8E4M3B11FNUZFrom(30).Float32(), "30.0"},
		{Float8E4M3FNFrom(-2).String(), Float8E4M3FNFrom(-2).Float64(), Float8E4M3FNFrom(-2).Float32(), "-2.0"},
		{Float8E4M3FNUZFrom(0.5).String(), Float8E4M3FNUZFrom(0.5).Float64(), Float8E4M3FNUZFrom(0.5).Float32(), "0.5"},
		{Float8E5M2From(4).String(), Float8E5M2From(4).Float64(), Float8E5M2From(4).Float32(), "4.0"},
		{Float8E5M2FNUZFrom(-8).String(), Float8E5M2FNUZFrom(-8).Float64(), Float8E5M2FNUZFrom(-8).Float32(), "-8.0"},
		{Float8E8M0FNUFrom(2).String(), Float8E8M0FNUFrom(2).Float64(), Float8E8M0FNUFrom(2).Float32(), "2.0"},
		{Float6E2M3FNFrom(7.5).String(), Float6E2M3FNFrom(7.5).Float64(), Float6E2M3FNFrom(7.5).Float32(), "7.5"},
		{Float6E3M2FNFrom(0.25).String(), Float6E3M2FNFrom(0.25).Float64(), Float6E3M2FNFrom(0.25).Float32(), "0.25"},
		{Float4E2M1FNFrom(-6).String(), Float4E2M1FNFrom(-6).Float64(), Float4E2M1FNFrom(-6).Float32(), "-6.0"},
	} {
		if try.text != try.want || float64(try.f32) != try.back {
			t.Errorf("got %s (%v, %v), want %s", try.text, try.back, try.f32, try.want)
		}
	}
}

func BenchmarkFloat16From(b *testing.B) {
	var x Float16
	for i := range b.N {
		x += Float16From(float64(i))
	}
	_ = x
}

func BenchmarkFloat16Float32(b *testing.B) {
	var sum float32
	for i := range b.N {
		sum += Float16(i).Float32()
	}
	_ = sum
}
