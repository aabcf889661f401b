package tensor

import "math"

// format describes a binary floating-point format of at most 16 bits: sign, exponent, mantissa, from the highest bit on. All
// formats share one encoder and one decoder.
//
// The layouts are those of the DLPack header and of the OCP specifications (OFP8, MX); NaN, infinity and overflow follow
// ml_dtypes, the library that Python users convert with.
type format struct {
	mantissa int     // bits of the mantissa
	bias     int     // of the exponent
	sign     uint16  // the sign bit; 0 for a format without one
	max      uint16  // largest finite magnitude
	inf      uint16  // the code of infinity and overflow: infinity, NaN, or max if the format has neither
	nan      uint16  // the code of a positive NaN
	fnuz     bool    // "finite, NaN, unsigned zero": the code of minus zero is the only NaN
	tiny     float64 // smallest subnormal, 2**(1-bias-mantissa)
}

var (
	f16         = format{mantissa: 10, bias: 15, sign: 0x8000, max: 0x7bff, inf: 0x7c00, nan: 0x7e00, tiny: 0x1p-24}
	bf16        = format{mantissa: 7, bias: 127, sign: 0x8000, max: 0x7f7f, inf: 0x7f80, nan: 0x7fc0, tiny: 0x1p-133}
	e3m4        = format{mantissa: 4, bias: 3, sign: 0x80, max: 0x6f, inf: 0x70, nan: 0x78, tiny: 0x1p-6}
	e4m3        = format{mantissa: 3, bias: 7, sign: 0x80, max: 0x77, inf: 0x78, nan: 0x7c, tiny: 0x1p-9}
	e4m3b11fnuz = format{mantissa: 3, bias: 11, sign: 0x80, max: 0x7f, inf: 0x80, nan: 0x80, fnuz: true, tiny: 0x1p-13}
	e4m3fn      = format{mantissa: 3, bias: 7, sign: 0x80, max: 0x7e, inf: 0x7f, nan: 0x7f, tiny: 0x1p-9}
	e4m3fnuz    = format{mantissa: 3, bias: 8, sign: 0x80, max: 0x7f, inf: 0x80, nan: 0x80, fnuz: true, tiny: 0x1p-10}
	e5m2        = format{mantissa: 2, bias: 15, sign: 0x80, max: 0x7b, inf: 0x7c, nan: 0x7e, tiny: 0x1p-16}
	e5m2fnuz    = format{mantissa: 2, bias: 16, sign: 0x80, max: 0x7f, inf: 0x80, nan: 0x80, fnuz: true, tiny: 0x1p-17}
	// These three have neither infinity nor NaN: they saturate, and a NaN becomes zero of the other sign.
	e2m3fn = format{mantissa: 3, bias: 1, sign: 0x20, max: 0x1f, inf: 0x1f, nan: 0x20, tiny: 0x1p-3}
	e3m2fn = format{mantissa: 2, bias: 3, sign: 0x20, max: 0x1f, inf: 0x1f, nan: 0x20, tiny: 0x1p-4}
	e2m1fn = format{mantissa: 1, bias: 1, sign: 0x8, max: 0x7, inf: 0x7, nan: 0x8, tiny: 0x1p-1}
)

// The parts of a float64.
const (
	doubleMantissa = 52
	doubleBias     = 1023
)

// decode returns the exact value of a code. Bits above the format's own are ignored.
func (f *format) decode(code uint16) float64 {
	magnitude := code & (f.sign - 1)
	var sign uint64
	if code&f.sign != 0 {
		sign = 1 << 63
	}
	switch {
	case f.fnuz && code&(f.sign<<1-1) == f.nan:
		return math.NaN()
	case magnitude > f.max && magnitude == f.inf && f.inf != f.nan:
		return math.Float64frombits(sign | math.Float64bits(math.Inf(1)))
	case magnitude > f.max:
		return math.Float64frombits(sign | math.Float64bits(math.NaN()))
	case magnitude>>f.mantissa == 0:
		return math.Float64frombits(sign | math.Float64bits(float64(magnitude)*f.tiny))
	}
	// Shifted to their places, exponent and mantissa only need the difference of the biases.
	bits := uint64(magnitude)<<(doubleMantissa-f.mantissa) + uint64(doubleBias-f.bias)<<doubleMantissa
	return math.Float64frombits(sign | bits)
}

// encode rounds v to the nearest code, ties to the even code, in one step from all 53 bits of v.
func (f *format) encode(v float64) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign = f.sign
	}
	if v != v {
		if f.fnuz {
			return f.nan
		}
		return f.nan ^ sign
	}
	code := f.magnitude(math.Abs(v))
	if f.fnuz && (code == 0 || code == f.nan) {
		return code
	}
	return code | sign
}

// magnitude encodes v >= 0.
func (f *format) magnitude(v float64) uint16 {
	bits := math.Float64bits(v)
	exponent := int(bits>>doubleMantissa) - doubleBias
	significand := bits&(1<<doubleMantissa-1) | 1<<doubleMantissa
	lowest := 1 - f.bias // exponent of the smallest normal value; the step is the same below it
	if exponent > doubleBias {
		return f.inf
	}
	shift := doubleMantissa - f.mantissa + max(0, lowest-exponent)
	if shift > doubleMantissa+2 { // less than half the smallest subnormal (includes the subnormals of float64)
		return 0
	}
	// The leading bit of a normal significand adds one to the exponent field: hence no "+1" here, and a significand that rounds
	// up to the next power of two carries into the field.
	code := uint64(max(0, exponent-lowest))<<f.mantissa + roundShift(significand, shift)
	if code > uint64(f.max) {
		return f.inf
	}
	return uint16(code)
}

// roundShift returns x / 2**n rounded to nearest, ties to even. n >= 1.
func roundShift(x uint64, n int) uint64 {
	odd := x >> n & 1
	return (x + 1<<(n-1) - 1 + odd) >> n
}

// decodeE8M0 returns the power of two 2**(code-127). There is no sign and no zero; 0xff is NaN.
func decodeE8M0(code uint8) float64 {
	if code == 0xff {
		return math.NaN()
	}
	return math.Float64frombits(uint64(int(code)-127+doubleBias) << doubleMantissa)
}

// encodeE8M0 rounds v to a power of two. The one bit of the significand is always set, that is odd, so "ties to even" always
// goes up: 3 becomes 4. Zero, negative and too large values have no code and become NaN; positive values below 2**-127 become
// 2**-127. All of this follows ml_dtypes, except for values between 2**-127 and 1.5 * 2**-127, which ml_dtypes rounds up though
// the lower one is nearer.
func encodeE8M0(v float64) uint8 {
	if !(v > 0) {
		return 0xff
	}
	fraction, exponent := math.Frexp(v) // v = fraction * 2**exponent, 0.5 <= fraction < 1
	if fraction < 0.75 {
		exponent--
	}
	if exponent > 127 || math.IsInf(v, 0) {
		return 0xff
	}
	return uint8(max(0, exponent+127))
}
