package tensor

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// convertTypes are all types that Convert supports, and integers of odd widths.
var convertTypes = []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
	"float32", "float64", "complex32", "complex64", "complex128", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
	"float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
	"int4", "uint4", "int1", "uint2", "int5", "uint7", "int12", "uint13", "int24", "uint33", "int48", "int63"}

// A draw is a source of numbers for arrays of any shape.
type draw struct{ data []byte }

// n returns a number below limit, 0 when the source is used up.
func (r *draw) n(limit int) int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b) % limit
}

func (r *draw) dtype(t testing.TB, lanes int) dlpack.DType {
	d := parse(t, convertTypes[r.n(len(convertTypes))])
	d.Lanes = uint16(lanes)
	return d
}

func (r *draw) shape() []int64 {
	shape := make([]int64, r.n(4))
	for i := range shape {
		shape[i] = int64(r.n(5))
		if r.n(16) == 15 {
			shape[i] = 600 // more than a chunkLen
		}
	}
	if n, _ := dlpack.Elements(shape); n > 2000 {
		return shape[:1]
	}
	return shape
}

// apart returns strides, in any order and direction, under which no two elements coincide.
func (r *draw) apart(shape []int64) []int64 {
	strides, order := make([]int64, len(shape)), rand.New(rand.NewPCG(uint64(r.n(256)), 1)).Perm(len(shape))
	step := int64(1 + r.n(2))
	for _, i := range order {
		strides[i] = step
		step *= max(shape[i], 1) + int64(r.n(2))
		if r.n(4) == 3 {
			strides[i] = -strides[i]
		}
	}
	return strides
}

func (r *draw) any(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	for i := range strides {
		strides[i] = int64(r.n(7) - 3)
	}
	return strides
}

// tensor returns an array over its own memory, filled with repetitions of the rest of the source.
func (r *draw) tensor(t testing.TB, d dlpack.DType, padded bool, shape, strides []int64) *sample {
	t.Helper()
	lo, hi, err := dlpack.Extent(shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	first := (-lo + 7) &^ 7 // whole bytes for each type
	size, err := dlpack.DataSize(first+hi+1, d, padded)
	if err != nil {
		t.Fatal(err)
	}
	memory := bytes.Repeat(append(r.data, 0x9b, 0x40, 0x7f), int(size)/(len(r.data)+3)+1)[:size]
	if len(shape) == 0 {
		strides = nil
	}
	return newSample(d, memory, shape, strides, int(first)*d.BitSize(padded)/8)
}

// slowly returns the conversion of from, a value of type s, to the lane type d, by the rules of docs/dtypes.md in their
// simplest form: by way of Scalar, one value at a time.
func slowly(d, s dlpack.DType, from Scalar) word {
	switch {
	case d.Code == dlpack.CodeBool:
		return BoolScalar(from.Bool()).bits
	case d.Code == dlpack.CodeComplex && d != halfPart:
		half := int(d.Bits / 2)
		re := slowly(partType(d), partOf(s), FloatScalar(real(from.Complex128())))
		if from.whole() {
			re = slowly(partType(d), s, from)
		}
		im := slowly(partType(d), partOf(s), FloatScalar(imag(from.Complex128())))
		if half == 64 {
			return word{re[0], im[0]}
		}
		return word{re[0] | im[0]<<half}
	case integral(d) && from.whole():
		return from.integer().word().lowest(int(d.Bits))
	case integral(d):
		return slowInteger(d, partOf(s), from.Float64()).lowest(int(d.Bits))
	}
	return slowFloat(d, partOf(s), from)
}

func partOf(s dlpack.DType) dlpack.DType {
	if s.Code == dlpack.CodeComplex {
		return partType(s)
	}
	return s
}

func slowInteger(d, s dlpack.DType, v float64) word {
	width := 8 * int(cellSize(int(d.Bits)))
	unsigned := d.Code == dlpack.CodeUInt && width >= 32
	n, ok := truncated(v)
	switch {
	case s.Bits <= 8 && math.IsNaN(v):
		return word{}
	case s.Bits <= 8 && math.IsInf(v, 0):
		if v > 0 {
			return word{math.MaxUint64 >> (64 - width + int(1-d.Code))} // CodeInt is 0, CodeUInt 1
		}
		return word{uint64(1-d.Code) << (width - 1)}
	case ok && unsigned && n.fits(width, false), ok && n.fits(max(width, 32), true):
		return n.word()
	case unsigned && v > 0, width < 32, width == 32 && s.Bits == 16 && s.Code != dlpack.CodeBfloat && unsigned:
		return word{}
	}
	return word{1 << (width - 1)}
}

func slowFloat(d, s dlpack.DType, from Scalar) word {
	v := from.rounding(d)
	switch {
	case d.Bits >= 32 || s == dlpack.Float64 && d == dlpack.Float16:
		return word{encodeFloat(d.Code, int(d.Bits), v)}
	case from.whole():
		v = from.rounding(dlpack.Float32)
	}
	v = float64(float32(v))
	if d.Code == dlpack.CodeFloat8E8M0FNU && v > 0x1p-127 && v < 0x1p-126 {
		return word{1}
	}
	return word{encodeFloat(d.Code, int(d.Bits), v)}
}

// checkConvert converts src to dst, compares all elements with slowly, and checks that no other bit has changed.
func checkConvert(t testing.TB, dst, src *sample, dstPadded, srcPadded bool) {
	t.Helper()
	before, was := bytes.Clone(dst.memory), bytes.Clone(src.memory)
	if err := Convert(&dst.Tensor, &src.Tensor, dstPadded, srcPadded); err != nil {
		t.Fatalf("%v to %v: %v", src.DType, dst.DType, err)
	}
	if !bytes.Equal(src.memory, was) {
		t.Fatalf("%v to %v: the source has changed", src.DType, dst.DType)
	}
	expected := newSample(dst.DType, before, dst.shape, dst.strides, int(dst.ByteOffset))
	to, from := lanesOf(&dst.Tensor), lanesOf(&src.Tensor)
	step, stepFrom := int64(to.dtype.BitSize(dstPadded)), int64(from.dtype.BitSize(srcPadded))
	wanted := lanesOf(&expected.Tensor)
	offsets := slices.Collect(Offsets(from.shape, from.strides))
	i := 0
	for at := range Offsets(to.shape, to.strides) {
		value := decode(from.dtype, readBits(from.start, offsets[i]*stepFrom, int(from.dtype.Bits)))
		want := slowly(to.dtype, from.dtype, value)
		if dst.DType == src.DType && step == stepFrom { // a copy, of all bits
			want = readBits(from.start, offsets[i]*step, int(step))
		}
		got := readBits(to.start, at*step, int(step))
		if got != want && !sameNaNs(to.dtype, got, want, value) {
			t.Fatalf("%v to %v, element %d, %v: got %x, want %x", src.DType, dst.DType, i, value, got[:2], want[:2])
		}
		writeBits(wanted.start, at*step, int(step), got)
		i++
	}
	if !bytes.Equal(dst.memory, before) {
		t.Fatalf("%v to %v: bits outside have changed", src.DType, dst.DType)
	}
}

// sameNaNs reports whether got and want are the same except for signs and mantissas of NaNs.
func sameNaNs(d dlpack.DType, got, want word, from Scalar) bool {
	if noNaN(d.Code) {
		return math.IsNaN(from.Float64()) && decode(d, got).Float64() == 0
	}
	a, b := decode(d, got).Complex128(), decode(d, want).Complex128()
	same := func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	return !integral(d) && same(real(a), real(b)) && same(imag(a), imag(b))
}

// checkDrawn converts one pair of arrays that the draw makes.
func checkDrawn(t testing.TB, data []byte) {
	r := &draw{data}
	lanes := max(1, r.n(6)-2)
	d, s := r.dtype(t, lanes), r.dtype(t, lanes)
	dstPadded, srcPadded := r.n(2) == 1, r.n(2) == 1
	shape := r.shape()
	to, from := r.apart(shape), r.any(shape)
	if r.n(2) == 1 {
		from = r.apart(shape)
	}
	dst, src := r.tensor(t, d, dstPadded, shape, to), r.tensor(t, s, srcPadded, shape, from)
	checkConvert(t, dst, src, dstPadded, srcPadded)
}

func TestConvertLayouts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		data := make([]byte, 100)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		checkDrawn(t, data)
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x0b\x09\x00\x00\x02\x03\x04\x01\x01"))
	f.Add([]byte("\x05\x1a\x1b\x00\x01\x01\x04\x0f\x00\x03\x7f\x80\xc0\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<12 {
			checkDrawn(t, data)
		}
	})
}

// TestConvertLayoutsOfPairs converts contiguous arrays of each pair of types, long enough for tables, and with a tail.
func TestConvertLayoutsOfPairs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	for _, from := range convertTypes {
		for _, to := range convertTypes {
			r := &draw{data}
			for _, padded := range []bool{false, true} {
				dst := r.tensor(t, parse(t, to), padded, []int64{1037}, []int64{1})
				src := r.tensor(t, parse(t, from), !padded, []int64{1037}, []int64{1})
				checkConvert(t, dst, src, padded, !padded)
			}
		}
	}
}

func TestConvertOverlap(t *testing.T) {
	memory := []int32{1, -2, 3, 4}
	src := of(memory, []int64{4}, []int64{-1}, 3)
	dst := newSample(dlpack.Float32, src.memory, []int64{4}, nil, 0)
	if err := Convert(&dst.Tensor, &src.Tensor, false, false); err != nil {
		t.Fatal(err)
	}
	if got := texts(dst, false); !slices.Equal(got, []string{"4.0", "3.0", "-2.0", "1.0"}) {
		t.Errorf("reversed in place: got %v", got)
	}
	wide := newSample(dlpack.Complex128, make([]byte, 64), []int64{4}, nil, 0)
	narrow := newSample(dlpack.Float32, wide.memory, []int64{4}, nil, 0)
	copy(wide.memory, dst.memory)
	if err := Convert(&wide.Tensor, &narrow.Tensor, false, false); err != nil {
		t.Fatal(err)
	}
	if got := texts(wide, false); !slices.Equal(got, []string{"(4+0j)", "(3+0j)", "(-2+0j)", "(1+0j)"}) {
		t.Errorf("widened in place: got %v", got)
	}
}

func TestConvertRefuses(t *testing.T) {
	tensor := func(name string, shape ...int64) *dlpack.Tensor {
		return &compact(t, parse(t, name), false, shape...).Tensor
	}
	cuda := tensor("float32", 3)
	cuda.Device.Type = dlpack.CUDA
	for _, try := range []struct {
		dst, src *dlpack.Tensor
		kind     dlpack.Kind
	}{
		{tensor("int8", 3), tensor("float32", 4), dlpack.KindValue},
		{tensor("int8x2", 3), tensor("float32x3", 3), dlpack.KindValue},
		{tensor("int8", 6), tensor("float32x2", 3), dlpack.KindValue},
		{tensor("int128", 3), tensor("float32", 3), dlpack.KindType},
		{tensor("float64", 3), tensor("float128", 3), dlpack.KindType},
		{tensor("handle", 3), tensor("uint64", 3), dlpack.KindType},
		{cuda, tensor("float64", 3), dlpack.KindBuffer},
	} {
		wantKind(t, Convert(try.dst, try.src, false, false), try.kind)
	}
	if err := Convert(tensor("float128", 3), tensor("float128", 3), false, false); err != nil {
		t.Error(err)
	}
}

// TestConvertRounding compares the arithmetic on bits with format.encode.
func TestConvertRounding(t *testing.T) {
	values := probes32()
	for _, c := range coders(t) {
		src := newSample(dlpack.Float32, littleEndian(values), []int64{int64(len(values))}, nil, 0)
		dst := compact(t, c.dtype, true, int64(len(values)))
		if err := Convert(&dst.Tensor, &src.Tensor, true, true); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			value := FloatScalar(float64(math.Float32frombits(v)))
			got := readBits(dst.Start(), int64(i*8*dst.DType.ItemSize(true)), int(c.dtype.Bits))
			if want := slowFloat(c.dtype, dlpack.Float32, value); got != want && !sameNaNs(c.dtype, got, want, value) {
				t.Fatalf("%s: %x: got %x, want %x", c.name, v, got[0], want[0])
			}
		}
	}
}

var benchmarkPairs = []string{
	"float32 float64", "float64 float32", "float32 float16", "float32 bfloat16", "float16 float32", "bfloat16 float32", "bfloat16 float16",
	"float64 float16", "float32 float8_e4m3fn", "float8_e4m3fn float32", "float8_e4m3fn bfloat16", "float32 float6_e2m3fn",
	"float32 float4_e2m1fn", "float4_e2m1fn float32", "int4 bfloat16", "int64 float32", "uint8 float32", "float32 uint8", "float32 int64",
	"float32 uint64", "int64 int32", "int24 float32", "float32 bool", "float32 complex64", "complex64 float32", "complex128 complex64",
}

func BenchmarkConvert(b *testing.B) {
	for _, names := range benchmarkPairs {
		pair := strings.Fields(names)
		for kind, strides := range map[string][]int64{"contiguous": {1024, 1}, "transposed": {1, 1024}} {
			from, to := parse(b, pair[0]), parse(b, pair[1])
			src := newSample(from, make([]byte, 1<<20*from.ItemSize(false)), []int64{1024, 1024}, strides, 0)
			for i := range int64(1 << 20) {
				if err := Store(&src.Tensor, false, i, IntScalar(i*i%5-i%2)); err != nil && from.Code != dlpack.CodeUInt {
					b.Fatal(err)
				}
			}
			dst := compact(b, to, false, 1024, 1024)
			b.Run(fmt.Sprintf("%s/%s/%s", kind, from, to), func(b *testing.B) {
				b.SetBytes(1 << 20 * int64(from.BitSize(false)+to.BitSize(false)) / 8)
				for b.Loop() {
					if err := Convert(&dst.Tensor, &src.Tensor, false, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkConvertOne(b *testing.B) {
	for _, pair := range [][2]string{{"float32", "float64"}, {"float8_e4m3fn", "bfloat16"}, {"complex64", "complex128"}} {
		src, dst := compact(b, parse(b, pair[0]), false, 1), compact(b, parse(b, pair[1]), false, 1)
		b.Run(pair[0]+"/"+pair[1], func(b *testing.B) {
			for b.Loop() {
				if err := Convert(&dst.Tensor, &src.Tensor, false, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
