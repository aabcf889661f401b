package tensor

import (
	"math"
	"math/big"
)

// The parts of an IEEE 754 binary128, in its upper word.
const (
	quadBias     = 16383
	quadMantissa = 112
	quadInf      = 0x7fff // the exponent field of infinity and NaN
)

// encodeQuad returns v as an IEEE 754 binary128, which holds every float64.
func encodeQuad(v float64) word {
	sign := math.Float64bits(v) &^ (1<<63 - 1)
	switch {
	case v == 0:
		return word{0, sign}
	case math.IsInf(v, 0):
		return word{0, sign | quadInf<<48}
	case v != v:
		return word{0, sign | quadInf<<48 | 1<<47}
	}
	fraction, exponent := math.Frexp(math.Abs(v)) // at least 0.5: also a subnormal becomes normal
	mantissa := math.Float64bits(fraction) & (1<<doubleMantissa - 1)
	return word{mantissa << 60, sign | uint64(exponent-1+quadBias)<<48 | mantissa>>4}
}

// quadText returns the shortest decimal that reads back as this binary128, in Python's notation. Float128 is read as binary128;
// the 80-bit long double of x87 has the same dtype and gives meaningless text.
func quadText(w word) string {
	field := int(w[1] >> 48 & quadInf)
	mantissa := new(big.Int).SetUint64(w[1] & (1<<48 - 1))
	mantissa.Lsh(mantissa, 64).Or(mantissa, new(big.Int).SetUint64(w[0]))
	switch {
	case field == quadInf && mantissa.Sign() != 0:
		return "nan"
	case field == quadInf:
		return signed(w[1]>>63 != 0, "inf")
	case field == 0:
		field = 1
	default:
		mantissa.SetBit(mantissa, quadMantissa, 1)
	}
	v := new(big.Float).SetPrec(quadMantissa + 1).SetInt(mantissa)
	v.SetMantExp(v, field-quadBias-quadMantissa)
	return parseDecimal(signed(w[1]>>63 != 0, v.Text('e', -1))).python(1e16)
}

func signed(negative bool, text string) string {
	if negative {
		return "-" + text
	}
	return text
}
