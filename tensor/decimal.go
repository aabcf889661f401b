package tensor

import (
	"math"
	"strconv"
	"strings"

	"godlpack/dlpack"
)

// A decimal is a finite number in decimal notation: 0.d1d2d3... * 10**point, without trailing zeros.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// parseDecimal reads the exponent form of strconv and big.Float: "-1.25e+02".
func parseDecimal(text string) decimal {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(text, "e")
	point, _ := strconv.Atoi(exponent)
	digits := strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	if digits == "" {
		return decimal{negative, "0", 1}
	}
	return decimal{negative, digits, point + 1}
}

// shortest returns the shortest decimal that reads back as v in the float type d, and of these the nearest to v. For a complex
// type it is that of its parts. Floats of 8 bits and less are formatted as float32: the shortest decimal for the largest value
// of float8_e4m3fn would be 450, but it is known as 448.
func shortest(v float64, d dlpack.DType) decimal {
	width := int(d.Bits)
	if d.Code.Complex() {
		width /= 2
	}
	if width == 16 {
		return shortestHalf(v, d.Code)
	}
	return parseDecimal(strconv.FormatFloat(v, 'e', -1, min(max(width, 32), 64)))
}

// shortestHalf is shortest for a type of 16 bits, by trial.
func shortestHalf(v float64, code dlpack.Code) decimal {
	want := encodeFloat(code, 16, v)
	// Above a power of two the neighbour is twice as far as below. A decimal in that interval may be shorter than all those
	// nearest to v; if there is one, the decimal nearest to the interval's middle is one.
	room := (decodeFloat(code, 16, want+1) - v) / 4
	for digits := 0; ; digits++ {
		for _, near := range [...]float64{v, v + room} {
			text := strconv.FormatFloat(near, 'e', digits, 64)
			if back, _ := strconv.ParseFloat(text, 64); encodeFloat(code, 16, back) == want {
				return parseDecimal(text)
			}
		}
	}
}

// positional returns the digits on both sides of the decimal point: "-12" and "5", "0" and "".
func (d decimal) positional() (whole, fraction string) {
	switch {
	case d.point <= 0:
		whole, fraction = "0", strings.Repeat("0", -d.point)+d.digits
	case d.point >= len(d.digits):
		whole = d.digits + strings.Repeat("0", d.point-len(d.digits))
	default:
		whole, fraction = d.digits[:d.point], d.digits[d.point:]
	}
	if d.digits == "0" {
		whole, fraction = "0", ""
	}
	return signed(d.negative, whole), fraction
}

// scientific returns the digit before the point, those after it, and the exponent.
func (d decimal) scientific() (whole, fraction string, exponent int) {
	return signed(d.negative, d.digits[:1]), d.digits[1:], d.point - 1
}

// exponentText returns "e+05", with at least that many digits.
func exponentText(exponent, digits int) string {
	sign, text := "e+", strconv.Itoa(exponent)
	if exponent < 0 {
		sign, text = "e-", text[1:]
	}
	return sign + strings.Repeat("0", max(0, digits-len(text))) + text
}

// python returns the text of a single float: "1.5", "2.0", "1e-05". From 10**limit on, and below 0.0001, it has an exponent.
func (d decimal) python(limit float64) string {
	whole, fraction := d.positional()
	if size := d.size(); size != 0 && (size < 1e-4 || size >= limit) {
		var exponent int
		whole, fraction, exponent = d.scientific()
		if fraction != "" {
			fraction = "." + fraction
		}
		return whole + fraction + exponentText(exponent, 2)
	}
	if fraction == "" {
		fraction = "0"
	}
	return whole + "." + fraction
}

// size returns the magnitude, rounded.
func (d decimal) size() float64 {
	v, _ := strconv.ParseFloat("0."+d.digits+"e"+strconv.Itoa(d.point), 64)
	return v
}

// Format returns the text of s as an element of type d, as Python and NumPy print a single number: "3", "1.0", "1e-05", "nan",
// "-inf", "True", "(1+2j)", and "(1.0, 2.0)" for a vector. A float is the shortest decimal that reads back as the same bits of
// d (those of 8 bits and less: of float32). float128 is read as an IEEE 754 binary128; handles are hexadecimal.
func (s Scalar) Format(d dlpack.DType) string {
	switch s.kind {
	case KindFloat:
		return floatText(s.Float64(), d)
	case KindComplex:
		return complexText(s.Complex128(), d)
	case KindBool:
		if s.Bool() {
			return "True"
		}
		return "False"
	case KindLanes:
		return s.tuple(d)
	case KindRaw:
		return s.rawText(d)
	}
	if v, ok := s.Int64(); ok {
		return strconv.FormatInt(v, 10)
	}
	return s.BigInt().String()
}

func floatText(v float64, d dlpack.DType) string {
	if text, special := specialText(v); special {
		return text
	}
	return shortest(v, d).python(scalarLimit(d))
}

// specialText returns "nan", "inf" or "-inf".
func specialText(v float64) (text string, special bool) {
	switch {
	case v != v:
		return "nan", true
	case math.IsInf(v, 0):
		return signed(v < 0, "inf"), true
	}
	return "", false
}

// complexText returns "(1+2j)".
func complexText(v complex128, d dlpack.DType) string {
	re := strings.TrimSuffix(floatText(real(v), d), ".0")
	im := strings.TrimSuffix(floatText(imag(v), d), ".0")
	if !strings.HasPrefix(im, "-") {
		im = "+" + im
	}
	return "(" + re + im + "j)"
}

// rawText returns hexadecimal digits, the highest first.
func (s Scalar) rawText(d dlpack.DType) string {
	if d.Code == dlpack.CodeFloat {
		return quadText(s.bits)
	}
	var text strings.Builder
	text.WriteString("0x")
	raw := s.Raw()
	for i := range raw {
		const digits = "0123456789abcdef"
		b := raw[len(raw)-1-i]
		text.WriteByte(digits[b>>4])
		text.WriteByte(digits[b&15])
	}
	return text.String()
}

// scalarLimit is the value from which on NumPy prints a single float with an exponent: where its digits end.
func scalarLimit(d dlpack.DType) float64 { return min(exactLimit(d), 1e16) }

// columnLimit is the same for an array's floats, if one of them reaches it.
func columnLimit(d dlpack.DType) float64 { return min(exactLimit(d), 1e8) }

// exactLimit is 10 to the power of finfo.precision for NumPy's types.
func exactLimit(d dlpack.DType) float64 {
	switch d.Lane() {
	case dlpack.Float16, dlpack.Complex32:
		return 1e3
	case dlpack.Float32, dlpack.Complex64:
		return 1e6
	}
	return math.Inf(1)
}
