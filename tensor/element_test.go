package tensor

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// TestLoadPacked has bits given by hand: element i lies at bit i*bits, little bit-endian (R21).
func TestLoadPacked(t *testing.T) {
	for _, try := range []struct {
		dtype  string
		padded bool
		memory []byte
		want   string
	}{
		{"int4", false, []byte{0x21, 0xf8}, "[ 1,  2, -8, -1]"},
		{"int4", true, []byte{0x01, 0x0f, 0xf8, 0x37}, "[ 1, -1, -8,  7]"},
		{"uint4", false, []byte{0xfe}, "[14, 15]"},
		{"uint1", false, []byte{0b1010_0110}, "[0, 1, 1, 0, 0, 1, 0, 1]"},
		{"float4_e2m1fn", false, []byte{0x72, 0xf9}, "[ 1. ,  6. , -0.5, -6. ]"},
		{"float4_e2m1fnx2", false, []byte{0x72, 0xf9}, "[  (1.0, 6.0), (-0.5, -6.0)]"},
		// 0b111111 (-7.5), 0b000001 (0.125), 0b010000 (2), 0b100000 (-0): the second and third straddle bytes.
		{"float6_e2m3fn", false, []byte{0b01_111111, 0b0000_0000, 0b100000_01}, "[-7.5  ,  0.125,  2.   , -0.   ]"},
		{"float6_e3m2fn", true, []byte{0b001100, 0b111111, 0xc1}, "[  1.    , -28.    ,   0.0625]"},
		{"float6_e3m2fnx2", true, []byte{0b001100, 0b111111}, "[(1.0, -28.0)]"},
		{"uint12", false, []byte{0xbc, 0xfa, 0xde}, "[2748, 3567]"},
		{"int24", false, []byte{0xff, 0xff, 0xff, 1, 0, 0}, "[-1,  1]"},
	} {
		d := parse(t, try.dtype)
		n := int64(8 * len(try.memory) / d.BitSize(try.padded))
		s := newSample(d, try.memory, []int64{n}, nil, 0)
		if got := Text(&s.Tensor, try.padded, TextOptions{}); got != try.want {
			t.Errorf("%s: got %s, want %s", try.dtype, got, try.want)
		}
	}
}

// TestLoadStoreRoundTrip stores every element at its own place, and into zeros: bits must not move or leak.
func TestLoadStoreRoundTrip(t *testing.T) {
	forLayouts(t, func(t *testing.T, s *sample, padded bool) {
		before := bytes.Clone(s.memory)
		want := texts(s, padded)
		values := slices.Collect(Values(&s.Tensor, padded))
		for i, offset := range slices.Collect(Offsets(s.ShapeSlice(), s.StridesSlice())) {
			if err := Store(&s.Tensor, padded, offset, values[i]); err != nil {
				t.Fatal(err)
			}
		}
		// The bits of a NaN, and those beside a padded lane, may change.
		if !bytes.Equal(before, s.memory) && !padded && !slices.Contains(want, "nan") {
			t.Errorf("storing what was loaded changed the memory")
		}
		clear(s.memory)
		i := 0
		for offset := range Offsets(s.ShapeSlice(), s.StridesSlice()) {
			if err := Store(&s.Tensor, padded, offset, values[i]); err != nil {
				t.Fatal(err)
			}
			i++
		}
		for i, got := range texts(s, padded) {
			if got != want[i] {
				t.Errorf("element %d: got %s, want %s", i, got, want[i])
			}
		}
	})
}

// TestStoreKeepsNeighbours sets each element of packed memory full of ones to zero, and back.
func TestStoreKeepsNeighbours(t *testing.T) {
	for _, name := range []string{"uint1", "uint4", "uint7", "uint12", "uint63", "uint65"} {
		s := compact(t, parse(t, name), false, 16)
		ones := bytes.Repeat([]byte{0xff}, len(s.memory))
		copy(s.memory, ones)
		full := Load(&s.Tensor, false, 0)
		for i := range int64(16) {
			if err := Store(&s.Tensor, false, i, UIntScalar(0)); err != nil {
				t.Fatal(err)
			}
			for k := range int64(16) {
				if got, want := Load(&s.Tensor, false, k).Bool(), k != i; got != want {
					t.Fatalf("%s: after clearing element %d, element %d is %v", name, i, k, got)
				}
			}
			if err := Store(&s.Tensor, false, i, full); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(s.memory, ones) {
			t.Errorf("%s: memory is %x", name, s.memory)
		}
	}
}

func TestLoadNegativeIndex(t *testing.T) {
	s := newSample(dlpack.Int4, []byte{0x21, 0x43}, []int64{2}, nil, 1)
	if got := Load(&s.Tensor, false, -1).String() + Load(&s.Tensor, false, -2).String(); got != "21" {
		t.Errorf("got %s, want 21", got)
	}
}

// TestStoreValues is the table of a value's conversions to other types; "" if Check rejects them.
func TestStoreValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, try := range []struct {
		dtype string
		value Scalar
		want  string
	}{
		{"int8", IntScalar(-128), "-128"}, {"int8", IntScalar(128), ""}, {"int8", UIntScalar(127), "127"}, {"int8", UIntScalar(math.MaxUint64), ""},
		{"int8", FloatScalar(-128.9), "-128"}, {"int8", FloatScalar(129), ""}, {"int8", FloatScalar(nan), ""}, {"int8", FloatScalar(-inf), ""},
		{"int8", BoolScalar(true), "1"}, {"int8", ComplexScalar(1), ""}, {"int8", Lanes(IntScalar(1)), "1"}, {"int8", Lanes(), ""},
		{"uint8", IntScalar(-1), ""}, {"uint8", IntScalar(255), "255"}, {"uint8", IntScalar(256), ""}, {"uint8", FloatScalar(-0.5), "0"},
		{"uint64", UIntScalar(math.MaxUint64), "18446744073709551615"}, {"uint64", IntScalar(-1), ""}, {"uint64", FloatScalar(0x1p64), ""},
		{"int64", IntScalar(math.MinInt64), "-9223372036854775808"}, {"int64", UIntScalar(1 << 63), ""},
		{"int128", IntScalar(-1), "-1"}, {"int128", FloatScalar(-0x1p127), "-170141183460469231731687303715884105728"},
		{"int128", FloatScalar(0x1p127), ""}, {"uint128", FloatScalar(0x1p100), "1267650600228229401496703205376"}, {"uint128", FloatScalar(0x1p128), ""},
		{"int4", IntScalar(7), "7"}, {"int4", IntScalar(8), ""}, {"int4", IntScalar(-8), "-8"}, {"uint1", IntScalar(2), ""}, {"int1", IntScalar(-1), "-1"},
		{"float32", IntScalar(16777217), "1.6777216e+07"}, {"float32", FloatScalar(1e300), "inf"}, {"float32", FloatScalar(nan), "nan"},
		{"float32", ComplexScalar(1i), ""}, {"float32", BoolScalar(true), "1.0"}, {"float64", UIntScalar(math.MaxUint64), "1.8446744073709552e+19"},
		{"float32", IntScalar(1<<60 + 1<<36 + 1), "1.1529216e+18"}, // a rounded float64 would be a tie, and go down
		{"float16", IntScalar(2049), "2.048e+03"}, {"float16", IntScalar(-70000), "-inf"}, {"bfloat16", FloatScalar(0.3), "0.3"},
		{"float8_e4m3fn", FloatScalar(1000), "nan"}, {"float4_e2m1fn", FloatScalar(nan), ""}, {"float4_e2m1fn", FloatScalar(inf), "6.0"},
		{"float6_e3m2fn", IntScalar(100), "28.0"}, {"float8_e8m0fnu", FloatScalar(nan), "nan"},
		{"complex64", FloatScalar(1.5), "(1.5+0j)"}, {"complex32", ComplexScalar(0.1 - 2i), "(0.1-2j)"}, {"complex128", IntScalar(3), "(3+0j)"},
		{"complex64", IntScalar(-16777217), "(-1.6777216e+07+0j)"},
		{"bool", IntScalar(2), "True"}, {"bool", FloatScalar(nan), "True"}, {"bool", FloatScalar(0), "False"}, {"bool", ComplexScalar(1i), "True"},
		{"float128", FloatScalar(-inf), "-inf"}, {"float128", FloatScalar(nan), "nan"}, {"float128", FloatScalar(5e-324), "4.940656458412465441765687928682214e-324"},
		{"float128", IntScalar(-3), "-3.0"}, {"float128", FloatScalar(0), "0.0"},
		{"handle", UIntScalar(7), "0x0000000000000007"}, {"handle", IntScalar(-1), ""}, {"handle", FloatScalar(1), ""},
		{"handle_8", UIntScalar(256), ""}, {"handle_248", UIntScalar(1), "0x" + strings.Repeat("0", 61) + "1"},
		{"int8x2", Lanes(IntScalar(1), IntScalar(-2)), "(1, -2)"}, {"int8x2", IntScalar(5), "(5, 5)"}, {"int8x2", Lanes(IntScalar(1)), ""},
		{"int8x2", Lanes(IntScalar(1), IntScalar(300)), ""}, {"int8x2", Lanes(IntScalar(1), Lanes(IntScalar(2))), ""},
		{"int4x3", Lanes(IntScalar(1), IntScalar(-2), IntScalar(7)), "(1, -2, 7)"},
	} {
		s := compact(t, parse(t, try.dtype), false)
		err := Store(&s.Tensor, false, 0, try.value)
		if try.want == "" {
			wantKind(t, err, dlpack.KindValue)
			continue
		}
		if got := Load(&s.Tensor, false, 0).Format(s.DType); err != nil || got != try.want {
			t.Errorf("%s from %v: got %s, %v, want %s", try.dtype, try.value, got, err, try.want)
		}
	}
}

func TestStoreRefuses(t *testing.T) {
	s := compact(t, dlpack.Float32, false)
	s.Device.Type = dlpack.CUDA
	wantKind(t, Store(&s.Tensor, false, 0, IntScalar(1)), dlpack.KindBuffer)
	wantKind(t, Fill(&s.Tensor, false, IntScalar(1)), dlpack.KindBuffer)
	wantKind(t, Check(dlpack.DType{Code: 99, Bits: 8, Lanes: 1}, IntScalar(1)), dlpack.KindBuffer)
	s.Device.Type = dlpack.CPU
	wantKind(t, Store(&s.Tensor, false, 0, ComplexScalar(1)), dlpack.KindValue)
}

func TestRawTravels(t *testing.T) {
	for _, name := range []string{"float128", "handle", "handle_248"} {
		s := compact(t, parse(t, name), false, 2)
		for i := range len(s.memory) / 2 {
			s.memory[i] = byte(i + 1)
		}
		v := Load(&s.Tensor, false, 0)
		if err := Store(&s.Tensor, false, 1, v); err != nil || !bytes.Equal(v.Raw(), s.memory[len(s.memory)/2:]) {
			t.Errorf("%s: %x became %x, %v", name, v.Raw(), s.memory, err)
		}
		wantKind(t, Check(dlpack.Float64, v), dlpack.KindValue)
	}
}

func TestScalar(t *testing.T) {
	if v, ok := IntScalar(-1).Int64(); v != -1 || !ok {
		t.Error(v, ok)
	}
	if _, ok := IntScalar(-1).UInt64(); ok {
		t.Error("-1 as uint64")
	}
	if v, ok := UIntScalar(math.MaxUint64).Int64(); ok {
		t.Error(v)
	}
	if v, ok := UIntScalar(math.MaxUint64).UInt64(); v != math.MaxUint64 || !ok {
		t.Error(v, ok)
	}
	if _, ok := FloatScalar(1).Int64(); ok {
		t.Error("a float as int64")
	}
	if IntScalar(-3).Float64() != -3 || ComplexScalar(1+2i).Complex128() != 1+2i || !math.IsNaN(Lanes().Float64()) {
		t.Error("numbers")
	}
	if !FloatScalar(math.NaN()).Bool() || FloatScalar(math.Copysign(0, -1)).Bool() || !ComplexScalar(1i).Bool() || IntScalar(0).Bool() {
		t.Error("truth")
	}
	if IntScalar(1).Kind() != KindInt || Lanes(IntScalar(1)).Kind() != KindLanes || len(Lanes(IntScalar(1), IntScalar(2)).Lanes()) != 2 {
		t.Error("kinds")
	}
	for _, try := range []struct {
		s    Scalar
		want string
	}{{IntScalar(-5), "-5"}, {UIntScalar(5), "5"}, {FloatScalar(0.5), "0.5"}, {ComplexScalar(1i), "(0+1j)"}, {BoolScalar(true), "True"}, {Lanes(IntScalar(1), FloatScalar(2)), "(1, 2.0)"}} {
		if got := try.s.String(); got != try.want {
			t.Errorf("got %s, want %s", got, try.want)
		}
	}
}

func TestBigInt(t *testing.T) {
	s := compact(t, dlpack.Int128, false)
	for _, text := range []string{"0", "-1", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727", "-18446744073709551616"} {
		want, _ := new(big.Int).SetString(text, 10)
		v, err := BigInt(want)
		if err != nil || v.BigInt().Cmp(want) != 0 {
			t.Errorf("%s: got %v, %v", text, v, err)
		}
		if err := Store(&s.Tensor, false, 0, v); err != nil || Load(&s.Tensor, false, 0).String() != text {
			t.Errorf("%s: got %v, %v", text, Load(&s.Tensor, false, 0), err)
		}
	}
	for _, text := range []string{"340282366920938463463374607431768211456", "-170141183460469231731687303715884105729"} {
		v, _ := new(big.Int).SetString(text, 10)
		_, err := BigInt(v)
		wantKind(t, err, dlpack.KindValue)
	}
	// Beyond 64 bits: rounded to float64, to a float32 by a bit far below a tie, and too large for float16.
	for _, try := range []struct {
		shift uint
		plus  int64
		dtype dlpack.DType
		want  string
	}{
		{100, 1, dlpack.Float64, "1.2676506002282294e+30"},
		{64, 1 << 40, dlpack.Float32, "1.8446744e+19"}, {64, 1<<40 + 1, dlpack.Float32, "1.8446746e+19"},
		{100, 0, dlpack.Float16, "inf"},
	} {
		v, err := BigInt(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), try.shift), big.NewInt(try.plus)))
		f := compact(t, try.dtype, false)
		if err != nil || Store(&f.Tensor, false, 0, v) != nil || Load(&f.Tensor, false, 0).Format(try.dtype) != try.want {
			t.Errorf("%v as %v: got %v, want %s", v, try.dtype, Load(&f.Tensor, false, 0).Format(try.dtype), try.want)
		}
	}
	if FloatScalar(1).BigInt() != nil || FloatScalar(1).Raw() != nil || IntScalar(1).Lanes() != nil {
		t.Error("want nil of what a value is not")
	}
}

func TestLoadAllocates(t *testing.T) {
	for _, name := range []string{"int8", "float32", "float16", "complex64", "float4_e2m1fn", "bool", "float128"} {
		s := compact(t, parse(t, name), false, 4)
		v := Load(&s.Tensor, false, 1)
		if n := testing.AllocsPerRun(100, func() { sink = Load(&s.Tensor, false, 3) }); n != 0 {
			t.Errorf("%s: Load allocates %v times", name, n)
		}
		if n := testing.AllocsPerRun(100, func() { _ = Store(&s.Tensor, false, 3, v) }); n != 0 {
			t.Errorf("%s: Store allocates %v times", name, n)
		}
	}
}

var sink Scalar

// FuzzBits compares readBits, writeBits and copyBits with one bit at a time.
func FuzzBits(f *testing.F) {
	f.Add([]byte{0x21, 0x43, 0x65, 0x87}, uint16(3), uint16(9), uint16(6))
	f.Add(bytes.Repeat([]byte{0xa5, 0x3c}, 40), uint16(1), uint16(70), uint16(256))
	f.Add(bytes.Repeat([]byte{0x5a}, 40), uint16(8), uint16(160), uint16(64))
	f.Fuzz(func(t *testing.T, memory []byte, from, to, n uint16) {
		total := uint16(min(8*len(memory), 1<<12))
		if total == 0 || from >= total || to >= total {
			return
		}
		n = min(n, total-from, total-to)
		want := bytes.Clone(memory)
		for i := range n {
			bit := memory[(from+i)/8] >> ((from + i) % 8) & 1
			k := to + i
			want[k/8] = want[k/8]&^(1<<(k%8)) | bit<<(k%8)
		}
		got := bytes.Clone(memory)
		whole := newSample(dlpack.UInt8, got, []int64{1}, nil, 0)
		source := newSample(dlpack.UInt8, memory, []int64{1}, nil, 0)
		copyBits(whole.Data, int64(to), source.Data, int64(from), int64(n))
		if !bytes.Equal(got, want) {
			t.Fatalf("copyBits(%d, %d, %d): got %x, want %x", to, from, n, got, want)
		}
		if n > 256 {
			return
		}
		copy(got, memory)
		writeBits(whole.Data, int64(to), int(n), readBits(source.Data, int64(from), int(n)))
		if !bytes.Equal(got, want) {
			t.Fatalf("writeBits(%d, %d, %d): got %x, want %x", to, from, n, got, want)
		}
	})
}
