package tensor

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	"godlpack/dlpack"
)

// Kind is the kind of a Scalar's value.
type Kind uint8

// The kinds of values.
const (
	KindInt     Kind = iota // of int1 to int128
	KindUInt                // of uint1 to uint128
	KindFloat               // of every float type but float128; float64 holds them all
	KindComplex             // float64 holds both parts
	KindBool
	KindRaw   // bits without a number: float128 and handles
	KindLanes // a vector: one Scalar a lane
)

// Scalar is the value of one element, returned by Load and taken by Store. The zero Scalar is the integer 0. Comparing with ==
// compares kinds and bits, so that NaN equals itself, 0 is not -0 and no two vectors are equal.
type Scalar struct {
	kind  Kind
	width uint8 // in bits, of KindRaw
	bits  word  // integers in 128 bits, signed ones sign-extended; float64 bits; two of them for complex
	lanes *[]Scalar
}

// IntScalar returns a signed integer.
func IntScalar(v int64) Scalar {
	return Scalar{kind: KindInt, bits: word{uint64(v), uint64(v >> 63)}}
}

// UIntScalar returns an unsigned integer.
func UIntScalar(v uint64) Scalar { return Scalar{kind: KindUInt, bits: word{v}} }

// FloatScalar returns a real number.
func FloatScalar(v float64) Scalar { return Scalar{kind: KindFloat, bits: word{math.Float64bits(v)}} }

// ComplexScalar returns a complex number.
func ComplexScalar(v complex128) Scalar {
	return Scalar{kind: KindComplex, bits: word{math.Float64bits(real(v)), math.Float64bits(imag(v))}}
}

// BoolScalar returns a truth value.
func BoolScalar(v bool) Scalar {
	if v {
		return Scalar{kind: KindBool, bits: word{1}}
	}
	return Scalar{kind: KindBool}
}

// BigInt returns an integer of up to 128 bits: unsigned unless v is negative. A wider one is a ValueError.
func BigInt(v *big.Int) (Scalar, error) {
	if v.Sign() < 0 && v.Cmp(new(big.Int).Lsh(big.NewInt(-1), 127)) < 0 || v.BitLen() > 128 {
		return Scalar{}, dlpack.Errorf(dlpack.KindValue, "want an integer of at most 128 bits, got one of %d", v.BitLen())
	}
	low, high := new(big.Int).And(v, maxUint64), new(big.Int).Rsh(v, 64) // both in two's complement
	kind := KindUInt
	if v.Sign() < 0 {
		kind = KindInt
	}
	return Scalar{kind: kind, bits: word{low.Uint64(), high.And(high, maxUint64).Uint64()}}, nil
}

var maxUint64 = new(big.Int).SetUint64(math.MaxUint64)

// Lanes returns a vector of these values, which it keeps.
func Lanes(values ...Scalar) Scalar { return Scalar{kind: KindLanes, lanes: &values} }

// Kind returns the kind of the value.
func (s Scalar) Kind() Kind { return s.kind }

// Lanes returns the values of a vector, nil for anything else.
func (s Scalar) Lanes() []Scalar {
	if s.lanes == nil {
		return nil
	}
	return *s.lanes
}

// Bool reports whether s is not zero. NaN is not zero, as in Python; raw bits are zero if none is set.
func (s Scalar) Bool() bool {
	switch s.kind {
	case KindFloat, KindComplex:
		return s.Complex128() != 0
	}
	return s.bits != word{}
}

// Float64 returns the real part of a number, rounded to nearest for an integer beyond 2**53. It is NaN for raw bits and
// vectors.
func (s Scalar) Float64() float64 { return real(s.Complex128()) }

// Complex128 returns a number as a complex one; see Float64.
func (s Scalar) Complex128() complex128 {
	switch s.kind {
	case KindFloat, KindComplex:
		re := math.Float64frombits(s.bits[0])
		if s.kind == KindFloat {
			return complex(re, 0)
		}
		return complex(re, math.Float64frombits(s.bits[1]))
	case KindInt, KindUInt, KindBool:
		return complex(s.integer().float64(), 0)
	}
	return complex(math.NaN(), 0)
}

// Int64 returns an integer or truth value, and reports whether s is one that fits.
func (s Scalar) Int64() (int64, bool) {
	v := int64(s.bits[0])
	fits := s.bits[1] == uint64(v>>63) && (s.kind == KindInt || v >= 0)
	return v, fits && s.whole()
}

// UInt64 returns an integer or truth value, and reports whether s is one that fits.
func (s Scalar) UInt64() (uint64, bool) { return s.bits[0], s.bits[1] == 0 && s.whole() }

// BigInt returns an integer or truth value, and nil for any other kind.
func (s Scalar) BigInt() *big.Int {
	if !s.whole() {
		return nil
	}
	n := s.integer()
	v := new(big.Int).SetUint64(n.hi)
	v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(n.lo))
	if n.negative {
		v.Neg(v)
	}
	return v
}

// Raw returns the bytes of KindRaw, little-endian, and nil for any other kind.
func (s Scalar) Raw() []byte {
	if s.kind != KindRaw {
		return nil
	}
	raw := make([]byte, s.width/8)
	for i := range raw {
		raw[i] = byte(s.bits[i/8] >> (i % 8 * 8))
	}
	return raw
}

func (s Scalar) whole() bool { return s.kind == KindInt || s.kind == KindUInt || s.kind == KindBool }

// String returns the value in Python's notation.
func (s Scalar) String() string {
	switch s.kind {
	case KindFloat:
		return s.Format(dlpack.Float64)
	case KindComplex:
		return s.Format(dlpack.Complex128)
	}
	return s.Format(dlpack.DType{Lanes: 1})
}

// tuple formats the lanes of a vector: "(1.0, 2.0)".
func (s Scalar) tuple(d dlpack.DType) string {
	texts := make([]string, len(s.Lanes()))
	for i, lane := range s.Lanes() {
		texts[i] = lane.Format(d.Lane())
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// An integer is a sign and a magnitude of 128 bits.
type integer struct {
	negative bool
	hi, lo   uint64
}

// integer returns the integer or truth value of s.
func (s Scalar) integer() integer {
	lo, hi := s.bits[0], s.bits[1]
	if s.kind != KindInt || int64(hi) >= 0 {
		return integer{false, hi, lo}
	}
	hi, lo = negate(hi, lo)
	return integer{true, hi, lo}
}

// truncated returns v without its fraction; ok is false for NaN and beyond 128 bits.
func truncated(v float64) (n integer, ok bool) {
	whole := math.Trunc(math.Abs(v))
	if !(whole < 0x1p128) {
		return integer{}, false
	}
	hi := uint64(whole * 0x1p-64)
	lo := uint64(whole - float64(hi)*0x1p64) // exact: whole has 53 bits, and hi has the upper ones
	return integer{v < 0 && whole != 0, hi, lo}, true
}

// fits reports whether n is a value of an integer type of that width.
func (n integer) fits(width int, signed bool) bool {
	hi, lo := n.hi, n.lo
	switch {
	case !signed && n.negative:
		return false
	case signed && n.negative: // the lowest is -2**(width-1): one further from zero than the highest
		hi, lo = sub1(hi, lo)
	}
	size := 64 + bits.Len64(hi)
	if hi == 0 {
		size = bits.Len64(lo)
	}
	if signed {
		return size < width
	}
	return size <= width
}

// word returns n in two's complement.
func (n integer) word() word {
	if n.negative {
		hi, lo := negate(n.hi, n.lo)
		return word{lo, hi}
	}
	return word{n.lo, n.hi}
}

// float64 returns n rounded to nearest, ties to even.
func (n integer) float64() float64 {
	top, exponent := n.top()
	return n.signed(math.Ldexp(float64(top), exponent))
}

// sticky returns n cut to 53 bits, the last of them set if any dropped bit was. Rounding that to fewer than 52 bits has the
// same result as rounding n itself.
func (n integer) sticky() float64 {
	top, exponent := n.top()
	if extra := bits.Len64(top) - 53; extra > 0 {
		top = cut(top, extra)
		exponent += extra
	}
	return n.signed(math.Ldexp(float64(top), exponent))
}

// top returns the upper 64 bits of the magnitude with a sticky last bit, and their exponent.
func (n integer) top() (top uint64, exponent int) {
	exponent = bits.Len64(n.hi)
	if exponent == 0 {
		return n.lo, 0
	}
	top = n.hi<<(64-exponent) | n.lo>>exponent
	if n.lo<<(64-exponent) != 0 {
		top |= 1
	}
	return top, exponent
}

func (n integer) signed(magnitude float64) float64 {
	if n.negative {
		return -magnitude
	}
	return magnitude
}

// cut returns x without its last n bits; its new last bit is set if any of them was.
func cut(x uint64, n int) uint64 {
	if x<<(64-n) != 0 {
		return x>>n | 1
	}
	return x >> n
}

func negate(hi, lo uint64) (uint64, uint64) {
	lo, carry := bits.Add64(^lo, 1, 0)
	return ^hi + carry, lo
}

func sub1(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(lo, 1, 0)
	return hi - borrow, lo
}
