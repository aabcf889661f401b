package dlpack

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Code is DLDataTypeCode: the meaning of a lane's bits.
type Code uint8

// The type codes of DLPack 1.3, and later ones: a minor version only adds codes (R35).
const (
	CodeInt Code = iota
	CodeUInt
	CodeFloat
	CodeOpaqueHandle
	CodeBfloat
	CodeComplex
	CodeBool
	CodeFloat8E3M4
	CodeFloat8E4M3
	CodeFloat8E4M3B11FNUZ
	CodeFloat8E4M3FN
	CodeFloat8E4M3FNUZ
	CodeFloat8E5M2
	CodeFloat8E5M2FNUZ
	CodeFloat8E8M0FNU
	CodeFloat6E2M3FN
	CodeFloat6E3M2FN
	CodeFloat4E2M1FN
	CodeBcomplex // after 1.3
)

// DType is DLDataType: the type of one element, Lanes numbers of Bits bits each. 4 bytes.
type DType struct {
	Code  Code   `c:"code"`
	Bits  uint8  `c:"bits"`
	Lanes uint16 `c:"lanes"` // 1, or more for a vector type such as CUDA's float4
}

// The usual types, of one lane.
var (
	Bool              = DType{CodeBool, 8, 1} // a byte; never 1 bit (R20)
	Int4              = DType{CodeInt, 4, 1}
	Int8              = DType{CodeInt, 8, 1}
	Int16             = DType{CodeInt, 16, 1}
	Int32             = DType{CodeInt, 32, 1}
	Int64             = DType{CodeInt, 64, 1}
	Int128            = DType{CodeInt, 128, 1}
	UInt4             = DType{CodeUInt, 4, 1}
	UInt8             = DType{CodeUInt, 8, 1}
	UInt16            = DType{CodeUInt, 16, 1}
	UInt32            = DType{CodeUInt, 32, 1}
	UInt64            = DType{CodeUInt, 64, 1}
	UInt128           = DType{CodeUInt, 128, 1}
	Float16           = DType{CodeFloat, 16, 1}
	Float32           = DType{CodeFloat, 32, 1}
	Float64           = DType{CodeFloat, 64, 1}
	Float128          = DType{CodeFloat, 128, 1}
	BFloat16          = DType{CodeBfloat, 16, 1}
	Complex32         = DType{CodeComplex, 32, 1}
	Complex64         = DType{CodeComplex, 64, 1}
	Complex128        = DType{CodeComplex, 128, 1}
	BComplex32        = DType{CodeBcomplex, 32, 1} // two of bfloat16
	Float8E3M4        = DType{CodeFloat8E3M4, 8, 1}
	Float8E4M3        = DType{CodeFloat8E4M3, 8, 1}
	Float8E4M3B11FNUZ = DType{CodeFloat8E4M3B11FNUZ, 8, 1}
	Float8E4M3FN      = DType{CodeFloat8E4M3FN, 8, 1}
	Float8E4M3FNUZ    = DType{CodeFloat8E4M3FNUZ, 8, 1}
	Float8E5M2        = DType{CodeFloat8E5M2, 8, 1}
	Float8E5M2FNUZ    = DType{CodeFloat8E5M2FNUZ, 8, 1}
	Float8E8M0FNU     = DType{CodeFloat8E8M0FNU, 8, 1}
	Float6E2M3FN      = DType{CodeFloat6E2M3FN, 6, 1}
	Float6E3M2FN      = DType{CodeFloat6E3M2FN, 6, 1}
	Float4E2M1FN      = DType{CodeFloat4E2M1FN, 4, 1}
	Handle            = DType{CodeOpaqueHandle, 64, 1} // a pointer that only its producer can interpret
)

// A codeRow describes one type code.
type codeRow struct {
	name  string
	cName string
	// unsaid is the width that a name omits: "bool" has 8 bits. 0 if names always contain it: "int8".
	unsaid uint8
	// widths reports the legal ones; want is their text.
	widths func(width uint8) bool
	want   string
}

// codeRows has a row for each code, at the code's own index.
var codeRows = [...]codeRow{
	CodeInt:               {"int", "kDLInt", 0, upTo128, "1 to 128 bits"},
	CodeUInt:              {"uint", "kDLUInt", 0, upTo128, "1 to 128 bits"},
	CodeFloat:             {"float", "kDLFloat", 0, oneOf(16, 32, 64, 128), "16, 32, 64 or 128 bits"},
	CodeOpaqueHandle:      {"handle", "kDLOpaqueHandle", 64, wholeBytes, "a multiple of 8 bits"},
	CodeBfloat:            {"bfloat", "kDLBfloat", 0, oneOf(16), "16 bits"},
	CodeComplex:           {"complex", "kDLComplex", 0, oneOf(32, 64, 128), "32, 64 or 128 bits"},
	CodeBool:              {"bool", "kDLBool", 8, oneOf(8), "8 bits"},
	CodeFloat8E3M4:        {"float8_e3m4", "kDLFloat8_e3m4", 8, oneOf(8), "8 bits"},
	CodeFloat8E4M3:        {"float8_e4m3", "kDLFloat8_e4m3", 8, oneOf(8), "8 bits"},
	CodeFloat8E4M3B11FNUZ: {"float8_e4m3b11fnuz", "kDLFloat8_e4m3b11fnuz", 8, oneOf(8), "8 bits"},
	CodeFloat8E4M3FN:      {"float8_e4m3fn", "kDLFloat8_e4m3fn", 8, oneOf(8), "8 bits"},
	CodeFloat8E4M3FNUZ:    {"float8_e4m3fnuz", "kDLFloat8_e4m3fnuz", 8, oneOf(8), "8 bits"},
	CodeFloat8E5M2:        {"float8_e5m2", "kDLFloat8_e5m2", 8, oneOf(8), "8 bits"},
	CodeFloat8E5M2FNUZ:    {"float8_e5m2fnuz", "kDLFloat8_e5m2fnuz", 8, oneOf(8), "8 bits"},
	CodeFloat8E8M0FNU:     {"float8_e8m0fnu", "kDLFloat8_e8m0fnu", 8, oneOf(8), "8 bits"},
	CodeFloat6E2M3FN:      {"float6_e2m3fn", "kDLFloat6_e2m3fn", 6, oneOf(6), "6 bits"},
	CodeFloat6E3M2FN:      {"float6_e3m2fn", "kDLFloat6_e3m2fn", 6, oneOf(6), "6 bits"},
	CodeFloat4E2M1FN:      {"float4_e2m1fn", "kDLFloat4_e2m1fn", 4, oneOf(4), "4 bits"},
	CodeBcomplex:          {"bcomplex", "kDLBcomplex", 0, oneOf(32), "32 bits"},
}

func upTo128(width uint8) bool    { return 1 <= width && width <= 128 }
func wholeBytes(width uint8) bool { return width > 0 && width%8 == 0 }

func oneOf(widths ...uint8) func(uint8) bool {
	return func(width uint8) bool { return slices.Contains(widths, width) }
}

// Known reports whether DLPack defines c. A consumer must reject any other (R35).
func (c Code) Known() bool { return int(c) < len(codeRows) }

// Complex reports whether a lane is a real and an imaginary part.
func (c Code) Complex() bool { return c == CodeComplex || c == CodeBcomplex }

// String returns "float" for CodeFloat, and "code99" for a code that DLPack does not define.
func (c Code) String() string {
	if c.Known() {
		return codeRows[c].name
	}
	return "code" + strconv.Itoa(int(c))
}

// String returns the type's name: "float32", "bool", "float4_e2m1fn", followed by x and the lanes if they are not 1:
// "float32x4". The width is part of the name ("int8"), or omitted if the code implies it ("bool", "handle", "float8_e4m3fn"); a
// width that differs from the implied one follows an underscore ("handle_32", "bool_1"). It never fails: a code that DLPack
// does not define gives "code99_8x2".
func (d DType) String() string {
	name := d.Code.String() + d.widthText()
	if d.Lanes == 1 {
		return name
	}
	return name + "x" + strconv.Itoa(int(d.Lanes))
}

func (d DType) widthText() string {
	width := strconv.Itoa(int(d.Bits))
	switch {
	case d.Code.Known() && codeRows[d.Code].unsaid == 0:
		return width
	case d.Code.Known() && codeRows[d.Code].unsaid == d.Bits:
		return ""
	}
	return "_" + width
}

// ParseDType returns the type of that name. It is the exact inverse of String for all types that are Valid, and accepts no
// other name for any of them. A ValueError describes the expected form.
func ParseDType(name string) (DType, error) {
	d, ok := scanDType(name)
	if !ok || d.String() != name { // the comparison rejects "float032", "int8x1" and the like
		return DType{}, Errorf(KindValue, "dtype %q: want a name such as float32, int4, bool, bfloat16x2 or float8_e4m3fn", name)
	}
	if err := d.Valid(); err != nil {
		return DType{}, Errorf(KindValue, "%s", MessageOf(err))
	}
	return d, nil
}

// scanDType reads a name as its longest possible code, a width and lanes. It accepts more than String returns.
func scanDType(name string) (d DType, ok bool) {
	rest, longest := "", -1
	for code, row := range codeRows {
		if after, found := strings.CutPrefix(name, row.name); found && len(row.name) > longest {
			d, rest, longest = DType{Code(code), row.unsaid, 1}, after, len(row.name)
		}
	}
	width, lanes, hasLanes := strings.Cut(rest, "x")
	if width != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(width, "_"), 10, 8)
		if err != nil {
			return d, false
		}
		d.Bits = uint8(n)
	}
	if hasLanes {
		n, err := strconv.ParseUint(lanes, 10, 16)
		if err != nil {
			return d, false
		}
		d.Lanes = uint16(n)
	}
	return d, longest >= 0
}

// Valid returns nil if DLPack defines the type, and otherwise a BufferError with the reason: an unknown code (R35), a width
// that the code does not allow (R20, R21) or no lanes (R42, R46).
func (d DType) Valid() error {
	if !d.Code.Known() {
		return Errorf(KindBuffer, "dtype %v: want a type code from 0 to %d, got %d", d, len(codeRows)-1, d.Code)
	}
	if row := &codeRows[d.Code]; !row.widths(d.Bits) {
		return Errorf(KindBuffer, "dtype %s: want %s, got %d", row.name, row.want, d.Bits)
	}
	if d.Lanes == 0 {
		return Errorf(KindBuffer, "dtype %v: want 1 lane or more, got 0", d)
	}
	return nil
}

// Key returns the type as one number, its 4 bytes from the lowest to the highest: code, bits, lanes.
func (d DType) Key() uint32 { return uint32(d.Code) | uint32(d.Bits)<<8 | uint32(d.Lanes)<<16 }

// Lane returns the type of one lane: float32 for float32x4.
func (d DType) Lane() DType { return DType{d.Code, d.Bits, 1} }

// SubByte reports whether a lane is not a whole number of bytes (fp4, fp6, int4, also int12). Tensors of only these types are
// either packed or padded (R21); the methods below ignore padded for all others.
func (d DType) SubByte() bool { return d.Bits%8 != 0 }

// BitSize returns the distance in bits between neighbouring elements: Bits * Lanes, each lane rounded up to whole bytes first
// if padded. The elements of a packed sub-byte type may thus start in the middle of a byte (R21, R22).
func (d DType) BitSize(padded bool) int {
	lane := int(d.Bits)
	if padded {
		lane = (lane + 7) / 8 * 8
	}
	return lane * int(d.Lanes)
}

// ItemSize returns the number of bytes of one element stored alone: BitSize, rounded up.
//
// Padded is the flag SubbytePadded; DLPack's default is packed. C types of the same code, bits and lanes can differ from that
// default: in CUDA's fp6 vectors each lane has its own byte, so __nv_fp6x4_e2m3 takes ItemSize(true), 4 bytes, while
// __nv_fp4x2_e2m1 is packed, ItemSize(false), 1 byte. An int4x2 has no C type and follows DLPack's default, 1 byte.
func (d DType) ItemSize(padded bool) int { return (d.BitSize(padded) + 7) / 8 }

// DataSize returns the number of bytes of n adjacent elements of type d: n * d.BitSize(padded) bits, rounded up once. So five
// packed fp4 take 3 bytes, while the formula in the header, which rounds up for each element, gives 5 (R22). A negative n and a
// size beyond int64 are BufferErrors.
func DataSize(n int64, d DType, padded bool) (int64, error) {
	if n < 0 {
		return 0, Errorf(KindBuffer, "size: want 0 elements or more, got %d", n)
	}
	hi, lo := bits.Mul64(uint64(n), uint64(d.BitSize(padded)))
	lo, carry := bits.Add64(lo, 7, 0)
	hi += carry
	if size := hi<<61 | lo>>3; hi>>3 == 0 && size <= math.MaxInt64 {
		return int64(size), nil
	}
	return 0, Errorf(KindBuffer, "size: want less than 2^63 bytes, got %d elements of %v", n, d)
}

// Align returns the natural alignment of one lane in bytes: the largest power of two that divides its size; for complex numbers
// that of a component; 1 for sub-byte types.
func (d DType) Align() int {
	size := uint(d.Bits) / 8
	if d.Code.Complex() {
		size /= 2
	}
	if d.SubByte() || size == 0 {
		return 1
	}
	return 1 << bits.TrailingZeros(size)
}
