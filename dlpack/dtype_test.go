package dlpack_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// dtypes are all usual types, with the bytes of one element in C. Those of the vector types are the sizes of CUDA's own types.
var dtypes = []struct {
	name    string
	dtype   dlpack.DType
	storage int
}{
	{"bool", dlpack.Bool, 1},
	{"int4", dlpack.Int4, 1},
	{"int8", dlpack.Int8, 1},
	{"int16", dlpack.Int16, 2},
	{"int32", dlpack.Int32, 4},
	{"int64", dlpack.Int64, 8},
	{"int128", dlpack.Int128, 16},
	{"uint4", dlpack.UInt4, 1},
	{"uint8", dlpack.UInt8, 1},
	{"uint16", dlpack.UInt16, 2},
	{"uint32", dlpack.UInt32, 4},
	{"uint64", dlpack.UInt64, 8},
	{"uint128", dlpack.UInt128, 16},
	{"float16", dlpack.Float16, 2},
	{"float32", dlpack.Float32, 4},
	{"float64", dlpack.Float64, 8},
	{"float128", dlpack.Float128, 16},
	{"bfloat16", dlpack.BFloat16, 2},
	{"complex32", dlpack.Complex32, 4},
	{"complex64", dlpack.Complex64, 8},
	{"bcomplex32", dlpack.BComplex32, 4},
	{"complex128", dlpack.Complex128, 16},
	{"float8_e3m4", dlpack.Float8E3M4, 1},
	{"float8_e4m3", dlpack.Float8E4M3, 1},
	{"float8_e4m3b11fnuz", dlpack.Float8E4M3B11FNUZ, 1},
	{"float8_e4m3fn", dlpack.Float8E4M3FN, 1},
	{"float8_e4m3fnuz", dlpack.Float8E4M3FNUZ, 1},
	{"float8_e5m2", dlpack.Float8E5M2, 1},
	{"float8_e5m2fnuz", dlpack.Float8E5M2FNUZ, 1},
	{"float8_e8m0fnu", dlpack.Float8E8M0FNU, 1},
	{"float6_e2m3fn", dlpack.Float6E2M3FN, 1},
	{"float6_e3m2fn", dlpack.Float6E3M2FN, 1},
	{"float4_e2m1fn", dlpack.Float4E2M1FN, 1},
	{"handle", dlpack.Handle, 8},
	{"handle_32", dlpack.DType{Code: 3, Bits: 32, Lanes: 1}, 4},
	{"boolx4", dlpack.DType{Code: 6, Bits: 8, Lanes: 4}, 4},
	{"int4x2", dlpack.DType{Code: 0, Bits: 4, Lanes: 2}, 1},
	{"int8x2", dlpack.DType{Code: 0, Bits: 8, Lanes: 2}, 2},
	{"int8x4", dlpack.DType{Code: 0, Bits: 8, Lanes: 4}, 4},
	{"uint16x4", dlpack.DType{Code: 1, Bits: 16, Lanes: 4}, 8},
	{"uint64x4", dlpack.DType{Code: 1, Bits: 64, Lanes: 4}, 32},
	{"float16x2", dlpack.DType{Code: 2, Bits: 16, Lanes: 2}, 4},
	{"float32x4", dlpack.DType{Code: 2, Bits: 32, Lanes: 4}, 16},
	{"bfloat16x2", dlpack.DType{Code: 4, Bits: 16, Lanes: 2}, 4},
	{"float8_e4m3fnx2", dlpack.DType{Code: 10, Bits: 8, Lanes: 2}, 2},
	{"float8_e5m2x4", dlpack.DType{Code: 12, Bits: 8, Lanes: 4}, 4},
	{"float6_e2m3fnx2", dlpack.DType{Code: 15, Bits: 6, Lanes: 2}, 2},
	{"float6_e2m3fnx4", dlpack.DType{Code: 15, Bits: 6, Lanes: 4}, 4},
	{"float6_e3m2fnx4", dlpack.DType{Code: 16, Bits: 6, Lanes: 4}, 4},
	{"float4_e2m1fnx2", dlpack.DType{Code: 17, Bits: 4, Lanes: 2}, 1},
	{"float4_e2m1fnx4", dlpack.DType{Code: 17, Bits: 4, Lanes: 4}, 2},
}

func TestDTypeNames(t *testing.T) {
	for _, c := range dtypes {
		if got := c.dtype.String(); got != c.name {
			t.Errorf("%#v: want name %q, got %q", c.dtype, c.name, got)
		}
		if got, err := dlpack.ParseDType(c.name); err != nil || got != c.dtype {
			t.Errorf("ParseDType(%q): want %#v, got %#v, %v", c.name, c.dtype, got, err)
		}
	}
}

// CUDA's fp6 vectors are padded and all other vectors are packed; one lane alone takes the same bytes either way.
func TestItemSizeIsWhatCTypesTake(t *testing.T) {
	for _, c := range dtypes {
		padded := strings.HasPrefix(c.name, "float6")
		if got := c.dtype.ItemSize(padded); got != c.storage {
			t.Errorf("%s: want %d bytes, got %d", c.name, c.storage, got)
		}
	}
}

func TestBitSizes(t *testing.T) {
	for _, c := range []struct {
		dtype                  dlpack.DType
		packed, padded         int // BitSize
		packedItem, paddedItem int // ItemSize
		subByte                bool
		align                  int
	}{
		{dlpack.Float4E2M1FN, 4, 8, 1, 1, true, 1},
		{dlpack.Float6E2M3FN, 6, 8, 1, 1, true, 1},
		{dlpack.DType{Code: 15, Bits: 6, Lanes: 4}, 24, 32, 3, 4, true, 1},
		{dlpack.DType{Code: 15, Bits: 6, Lanes: 2}, 12, 16, 2, 2, true, 1},
		{dlpack.DType{Code: 17, Bits: 4, Lanes: 2}, 8, 16, 1, 2, true, 1},
		{dlpack.DType{Code: 0, Bits: 1, Lanes: 1}, 1, 8, 1, 1, true, 1},
		{dlpack.DType{Code: 0, Bits: 12, Lanes: 2}, 24, 32, 3, 4, true, 1},
		{dlpack.DType{Code: 0, Bits: 24, Lanes: 1}, 24, 24, 3, 3, false, 1},
		{dlpack.DType{Code: 0, Bits: 48, Lanes: 1}, 48, 48, 6, 6, false, 2},
		{dlpack.Int8, 8, 8, 1, 1, false, 1},
		{dlpack.DType{Code: 2, Bits: 32, Lanes: 4}, 128, 128, 16, 16, false, 4},
		{dlpack.Complex64, 64, 64, 8, 8, false, 4},
		{dlpack.Complex128, 128, 128, 16, 16, false, 8},
		{dlpack.Float128, 128, 128, 16, 16, false, 16},
		{dlpack.DType{Code: 1, Bits: 255, Lanes: 65535}, 255 * 65535, 256 * 65535, 2088929, 2097120, true, 1},
	} {
		d := c.dtype
		if got := [...]int{d.BitSize(false), d.BitSize(true), d.ItemSize(false), d.ItemSize(true), d.Align()}; got != [...]int{c.packed, c.padded, c.packedItem, c.paddedItem, c.align} {
			t.Errorf("%v: want bits %d, padded %d, bytes %d, padded %d, alignment %d; got %v", d, c.packed, c.padded, c.packedItem, c.paddedItem, c.align, got)
		}
		if d.SubByte() != c.subByte {
			t.Errorf("%v: want SubByte %v, got %v", d, c.subByte, d.SubByte())
		}
	}
}

func TestParseDTypeRefuses(t *testing.T) {
	for _, name := range []string{
		"", "x", "x4", "float", "float33", "int0", "int129", "int300", "int-8", "int+8", "int08", "int 8", "int8x", "int8x0",
		"int8x1", "int8x02", "int8x65536", "int8x2x2", "Int8", "bool1", "bool_1", "bool8", "bool_8", "handle64", "handle_7",
		"float8_e4m3_6", "float4_e2m1fn_x2", "float4_e2m1fnx", "code99_8", "bfloat", "bfloat32", "complex256", "custom", "void",
	} {
		d, err := dlpack.ParseDType(name)
		if err == nil || dlpack.KindOf(err) != dlpack.KindValue || d != (dlpack.DType{}) {
			t.Errorf("ParseDType(%q): want a ValueError, got %v, %v", name, d, err)
		}
	}
}

func TestDTypeValid(t *testing.T) {
	for _, c := range []struct {
		dtype dlpack.DType
		want  string
	}{
		{dlpack.Float8E4M3FN, ""},
		{dlpack.DType{Code: 10, Bits: 6, Lanes: 1}, "dtype float8_e4m3fn: want 8 bits, got 6"},
		{dlpack.DType{Code: 15, Bits: 8, Lanes: 1}, "dtype float6_e2m3fn: want 6 bits, got 8"},
		{dlpack.DType{Code: 17, Bits: 8, Lanes: 1}, "dtype float4_e2m1fn: want 4 bits, got 8"},
		{dlpack.DType{Code: 6, Bits: 1, Lanes: 1}, "dtype bool: want 8 bits, got 1"},
		{dlpack.DType{Code: 2, Bits: 80, Lanes: 1}, "dtype float: want 16, 32, 64 or 128 bits, got 80"},
		{dlpack.DType{Code: 4, Bits: 32, Lanes: 1}, "dtype bfloat: want 16 bits, got 32"},
		{dlpack.DType{Code: 0, Bits: 0, Lanes: 1}, "dtype int: want 1 to 128 bits, got 0"},
		{dlpack.DType{Code: 3, Bits: 0, Lanes: 0}, "dtype handle: want a multiple of 8 bits, got 0"},
		{dlpack.DType{Code: 2, Bits: 32, Lanes: 0}, "dtype float32x0: want 1 lane or more, got 0"},
		{dlpack.DType{Code: 18, Bits: 64, Lanes: 1}, "dtype bcomplex: want 32 bits, got 64"},
		{dlpack.DType{Code: 19, Bits: 8, Lanes: 2}, "dtype code19_8x2: want a type code from 0 to 18, got 19"},
		{dlpack.DType{Code: 255}, "dtype code255_0x0: want a type code from 0 to 18, got 255"},
	} {
		checkError(t, c.dtype.String(), c.dtype.Valid(), dlpack.KindBuffer, c.want)
	}
}

// Names are unique, and names of legal types are read back. Lanes are tried at both ends and in between.
func TestDTypeNamesAreUnique(t *testing.T) {
	seen := map[string]dlpack.DType{}
	for code := range 256 {
		for width := range 256 {
			for _, lanes := range []uint16{0, 1, 2, 8, 65535} {
				d := dlpack.DType{Code: dlpack.Code(code), Bits: uint8(width), Lanes: lanes}
				name := d.String()
				if other, taken := seen[name]; taken {
					t.Fatalf("%#v and %#v are both called %q", d, other, name)
				}
				seen[name] = d
				checkNameInverse(t, d)
			}
		}
	}
}

func checkNameInverse(t *testing.T, d dlpack.DType) {
	got, err := dlpack.ParseDType(d.String())
	if legal := d.Valid() == nil; legal != (err == nil) || legal && got != d {
		t.Fatalf("%#v: Valid says %v, but ParseDType(%q) = %#v, %v", d, d.Valid(), d.String(), got, err)
	}
}

func FuzzParseDType(f *testing.F) {
	for _, c := range dtypes {
		f.Add(c.name, uint8(c.dtype.Code), c.dtype.Bits, c.dtype.Lanes)
	}
	f.Add("int08x", uint8(99), uint8(8), uint16(2))
	f.Fuzz(func(t *testing.T, name string, code, width uint8, lanes uint16) {
		checkNameInverse(t, dlpack.DType{Code: dlpack.Code(code), Bits: width, Lanes: lanes})
		if d, err := dlpack.ParseDType(name); err == nil && (d.String() != name || d.Valid() != nil) {
			t.Errorf("ParseDType(%q) = %v, %v", name, d, d.Valid())
		}
	})
}

func FuzzDataSize(f *testing.F) {
	f.Add(int64(5), uint8(4), uint16(1), false)
	f.Add(int64(1)<<62, uint8(8), uint16(1), true)
	f.Add(int64(1)<<62, uint8(16), uint16(1), true)
	f.Add(int64(math.MaxInt64), uint8(8), uint16(1), false)
	f.Add(int64(math.MaxInt64), uint8(255), uint16(65535), true)
	f.Add(int64(-1), uint8(8), uint16(1), false)
	f.Add(int64(0), uint8(0), uint16(0), false)
	f.Fuzz(func(t *testing.T, n int64, width uint8, lanes uint16, padded bool) {
		lane := int64(width)
		if padded {
			lane = (lane + 7) &^ 7
		}
		want := big.NewInt(lane * int64(lanes))
		want.Mul(want, big.NewInt(n)).Add(want, big.NewInt(7)).Rsh(want, 3)
		legal := n >= 0 && want.IsInt64()
		got, err := dlpack.DataSize(n, dlpack.DType{Code: dlpack.CodeInt, Bits: width, Lanes: lanes}, padded)
		if legal != (err == nil) || legal && got != want.Int64() {
			t.Errorf("want %v, legal %v; got %d, %v", want, legal, got, err)
		}
		if err != nil && dlpack.KindOf(err) != dlpack.KindBuffer {
			t.Errorf("want a BufferError, got %v", err)
		}
	})
}
