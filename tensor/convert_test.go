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
	"strings"
	"testing"

	"godlpack/dlpack"
)

// convertText has a hash of the results of numpy and ml_dtypes for all codes or probes, for each pair of types: written by
// testdata/convert.py, which describes the hash.
//
//go:embed testdata/convert.txt
var convertText []byte

func TestConvertGolden(t *testing.T) {
	sources := map[string]*sample{}
	pairs := 0
	for lines := bufio.NewScanner(bytes.NewReader(convertText)); lines.Scan(); {
		field := strings.Fields(lines.Text())
		if field[0] == "#" {
			continue
		}
		src, known := sources[field[0]]
		if !known {
			src = probes(t, field[0])
			sources[field[0]] = src
		}
		pairs++
		got := golden(t, src, parse(t, field[1]))
		if sum := fmt.Sprintf("%x", sha256.Sum256(got)); field[2] != "-" && sum != field[2] {
			t.Errorf("%s to %s: sha256 %s, want %s", field[0], field[1], sum, field[2])
		}
	}
	if pairs < 1000 {
		t.Errorf("%d pairs of types in testdata/convert.txt", pairs)
	}
}

// golden converts all elements and returns the bytes; see convert.py for the omissions.
func golden(t *testing.T, src *sample, d dlpack.DType) []byte {
	t.Helper()
	dst := compact(t, d, true, src.shape[0])
	if err := Convert(&dst.Tensor, &src.Tensor, true, true); err != nil {
		t.Fatal(err)
	}
	var inside []byte
	size := int64(d.ItemSize(true))
	for i := range src.shape[0] {
		if ruled(&src.Tensor, d, i) {
			inside = append(inside, dst.memory[size*i:size*(i+1)]...)
		}
	}
	return inside
}

// ruled reports whether numpy and ml_dtypes have the same rule for element i.
func ruled(src *dlpack.Tensor, d dlpack.DType, i int64) bool {
	wide := integral(d) && (src.DType.Code == dlpack.CodeFloat || src.DType.Code == dlpack.CodeComplex) && src.DType.Bits >= 32
	if !wide || src.DType == dlpack.Complex32 || d != dlpack.UInt32 && d.Bits >= 8 {
		return true
	}
	v := Load(src, true, i).Float64()
	if d == dlpack.UInt32 {
		return v > math.MinInt32-1 && v < math.MaxUint32+1
	}
	return !(v > math.MaxInt32 && v < math.MaxInt32+1)
}

// probes returns the source of that type; the functions below match those of convert.py.
func probes(t *testing.T, name string) *sample {
	t.Helper()
	d := parse(t, name)
	var memory []byte
	switch {
	case d == dlpack.Complex32:
		for code := range uint32(1 << 16) {
			memory = binary.LittleEndian.AppendUint32(memory, code|code*40503<<16)
		}
	case d == dlpack.Float32 || d == dlpack.Complex64:
		memory = littleEndian(inPairs(probes32(), d))
	case d == dlpack.Float64 || d == dlpack.Complex128:
		memory = littleEndian(inPairs(probes64(), d))
	case d.Bits == 64:
		memory = littleEndian(integers())
	case d.Bits == 32:
		for _, v := range integers() {
			memory = binary.LittleEndian.AppendUint32(memory, uint32(v))
		}
	case d.Bits == 16:
		for code := range uint32(1 << 16) {
			memory = binary.LittleEndian.AppendUint16(memory, uint16(code))
		}
	default:
		for code := range codesOf(d) {
			memory = append(memory, byte(code))
		}
	}
	return newSample(d, memory, []int64{int64(len(memory) / d.ItemSize(true))}, nil, 0)
}

func codesOf(d dlpack.DType) int {
	if d.Code == dlpack.CodeBool {
		return 2
	}
	return 1 << d.Bits
}

func littleEndian(values any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// inPairs combines values with those in reversed order, if d is complex.
func inPairs[T any](values []T, d dlpack.DType) []T {
	if d.Code != dlpack.CodeComplex {
		return values
	}
	var pairs []T
	for i, v := range values {
		pairs = append(pairs, v, values[len(values)-1-i])
	}
	return pairs
}

const weyl = 0x9E3779B97F4A7C15

func probes32() []uint32 {
	mantissas := []uint32{0, 1, 0x7fffff}
	for k := range 23 {
		one := uint32(1) << k
		mantissas = append(mantissas, one-1, one, one+1, 3<<k&0x7fffff, 5<<k&0x7fffff)
	}
	var all []uint32
	for top := range uint32(512) {
		for _, m := range mantissas {
			all = append(all, top<<23|m)
		}
	}
	for i := range uint64(1 << 17) {
		all = append(all, uint32(i*weyl>>32))
	}
	return all
}

func probes64() []uint64 {
	var finite []uint64
	for _, v := range probes32() {
		if v>>23&255 != 255 {
			finite = append(finite, math.Float64bits(float64(math.Float32frombits(v))))
		}
	}
	all := slices.Clone(finite)
	for _, tail := range []uint64{1, math.MaxUint64} {
		for _, v := range finite {
			all = append(all, v+tail)
		}
	}
	for i := range uint64(1 << 17) {
		all = append(all, i*weyl)
	}
	return append(all, 0, 1, 1<<63, 0x7ff<<52, 0xfff<<52, 0x7ff8<<48, 0xfff8<<48, 0x7ff<<52+1, 0x7ff<<52+1<<41)
}

func integers() []uint64 {
	var all []uint64
	for i := range uint64(1 << 17) {
		all = append(all, i*weyl>>(i%64))
	}
	return all
}

// TestConvertRoundsTwice has float64s next to ties, which are ties in float32: ml_dtypes rounds those again, numpy's float16
// and XFrom round once.
func TestConvertRoundsTwice(t *testing.T) {
	for _, try := range []struct {
		to     string
		v      float64
		astype string
		once   string
	}{
		{"float8_e4m3fn", 1 + 0x1p-4 + 0x1p-40, "1.0", "1.125"},
		{"bfloat16", 1 + 0x1p-8 + 0x1p-40, "1.0", "1.01"},
		{"float16", 1 + 0x1p-11 + 0x1p-40, "1.001", "1.001"},
		{"complex32", 1 + 0x1p-11 + 0x1p-40, "(1+0j)", "(1.001+0j)"},
		{"float8_e8m0fnu", 0x1p-200, "nan", "5.877472e-39"},
	} {
		src, dst := of([]float64{try.v}, nil, nil, 0), compact(t, parse(t, try.to), false)
		if err := Convert(&dst.Tensor, &src.Tensor, false, false); err != nil {
			t.Fatal(err)
		}
		if got := texts(dst, false)[0]; got != try.astype {
			t.Errorf("%x to %s: got %s, want %s", try.v, try.to, got, try.astype)
		}
		if err := Store(&dst.Tensor, false, 0, FloatScalar(try.v)); err != nil {
			t.Fatal(err)
		}
		if got := texts(dst, false)[0]; got != try.once {
			t.Errorf("%x stored as %s: got %s, want %s", try.v, try.to, got, try.once)
		}
	}
}
