package tensor

import (
	"math"
	"strconv"
	"strings"

	"godlpack/dlpack"
)

// A column formats the elements of one array, all in the same width.
type column func(Scalar) string

// newColumn returns the column for elements of type d; values are all that will be formatted.
func newColumn(d dlpack.DType, values []Scalar, alone bool) column {
	switch {
	case d.Lanes == 1 && d.Code.Complex():
		return complexColumn(d, values)
	case d.Lanes == 1 && len(values) > 0 && values[0].kind == KindFloat:
		return floatColumn(d, values)
	case d.Code == dlpack.CodeBool && d.Lanes == 1 && !alone:
		return func(s Scalar) string { return right(s.Format(d), len("False")) }
	}
	width := 0
	for _, s := range values {
		width = max(width, len(s.Format(d)))
	}
	return func(s Scalar) string { return right(s.Format(d), width) }
}

func floatColumn(d dlpack.DType, values []Scalar) column {
	layout := newFloatLayout(d, "", len(values), func(i int) float64 { return values[i].Float64() })
	return func(s Scalar) string { return layout.text(s.Float64()) }
}

// complexColumn aligns real and imaginary parts separately, and puts the j before the padding.
func complexColumn(d dlpack.DType, values []Scalar) column {
	re := newFloatLayout(d, "", len(values), func(i int) float64 { return real(values[i].Complex128()) })
	im := newFloatLayout(d, "+", len(values), func(i int) float64 { return imag(values[i].Complex128()) })
	return func(s Scalar) string {
		text := im.text(imag(s.Complex128()))
		digits := strings.TrimRight(text, " ")
		return re.text(real(s.Complex128())) + digits + "j" + text[len(digits):]
	}
}

// A floatLayout aligns floats at their decimal points, by NumPy's rules for arrays (floatmode "unique").
type floatLayout struct {
	dtype      dlpack.DType
	plus       string // "+" to write the sign of positive numbers
	scientific bool
	whole      int // width before the point, with sign
	fraction   int // width after the point
	exponent   int // digits of the exponent
}

// newFloatLayout measures n values.
func newFloatLayout(d dlpack.DType, plus string, n int, value func(int) float64) floatLayout {
	f := floatLayout{dtype: d, plus: plus, exponent: 2}
	smallest, largest := math.Inf(1), 0.0
	for i := range n {
		if v := math.Abs(value(i)); v > 0 && v <= math.MaxFloat64 {
			smallest, largest = min(smallest, v), max(largest, v)
		}
	}
	f.scientific = largest > 0 && (largest >= columnLimit(d) || smallest < 1e-4 || largest/smallest > 1000)
	for i := range n {
		if _, special := specialText(value(i)); !special {
			f.measure(value(i))
		}
	}
	for i := range n { // after all others, since a nan may use the width of the fraction too
		if text, special := specialText(value(i)); special {
			f.whole = max(f.whole, len(f.sign(text))-f.behind())
		}
	}
	return f
}

// measure widens the layout for one finite value.
func (f *floatLayout) measure(v float64) {
	whole, fraction, exponent := f.parts(v)
	f.whole = max(f.whole, len(f.sign(whole)))
	f.fraction = max(f.fraction, len(fraction))
	f.exponent = max(f.exponent, len(exponentText(exponent, 2))-len("e+"))
}

func (f *floatLayout) parts(v float64) (whole, fraction string, exponent int) {
	d := shortest(v, f.dtype)
	if f.scientific {
		whole, fraction, exponent = d.scientific()
	} else {
		whole, fraction = d.positional()
	}
	return whole, fraction, exponent
}

func (f *floatLayout) sign(text string) string {
	if strings.HasPrefix(text, "-") {
		return text
	}
	return f.plus + text
}

// behind returns the width from the decimal point on.
func (f *floatLayout) behind() int {
	if f.scientific {
		return len(".") + f.fraction + len("e+") + f.exponent
	}
	return len(".") + f.fraction
}

func (f *floatLayout) text(v float64) string {
	if text, special := specialText(v); special {
		return right(f.sign(text), f.whole+f.behind())
	}
	whole, fraction, exponent := f.parts(v)
	if !f.scientific {
		return right(f.sign(whole), f.whole) + "." + fraction + strings.Repeat(" ", f.fraction-len(fraction))
	}
	if len(fraction) < f.fraction { // numpy appends true digits: 5e-324 becomes 4.9e-324, not 5.0e-324
		whole, fraction, exponent = parseDecimal(strconv.FormatFloat(v, 'e', f.fraction, 64)).scientific()
	}
	zeros := strings.Repeat("0", f.fraction-len(fraction))
	return right(f.sign(whole), f.whole) + "." + fraction + zeros + exponentText(exponent, f.exponent)
}

// right pads text on its left.
func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len(text))) + text
}
