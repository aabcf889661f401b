package kernel

import (
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends the description in Python's JSON: floats stay floats, and NaN and infinities have names.
func (r *raised) appendJSON(b []byte) []byte {
	b = append(b, `{"class":`...)
	b = appendText(b, r.class)
	b = appendText(append(b, `,"message":`...), r.message)
	if r.errno != 0 {
		b = strconv.AppendInt(append(b, `,"errno":`...), int64(r.errno), 10)
	}
	if len(r.filenames) > 0 {
		b = appendValue(append(b, `,"filenames":`...), reflect.ValueOf(r.filenames))
	}
	if len(r.attributes) > 0 {
		b = append(b, `,"attributes":{`...)
		for i, a := range r.attributes {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendText(b, a.name), ':'), a.value)
		}
		b = append(b, '}')
	}
	if r.note != "" {
		b = appendText(append(b, `,"note":`...), r.note)
	}
	if r.cause != nil {
		b = r.cause.appendJSON(append(b, `,"cause":`...))
	}
	return append(b, '}')
}

// appendValue appends a value of a type that an attribute may have.
func appendValue(b []byte, v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case v.Kind() == reflect.String:
		return appendText(b, v.String())
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10)
	case v.CanFloat():
		return appendFloat(b, v.Float())
	case v.Kind() == reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	case v.Kind() == reflect.Map:
		b = append(b, '{')
		for i, all := 0, v.MapRange(); all.Next(); i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendText(b, all.Key().String()), ':'), all.Value())
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func appendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 1):
		return append(b, "Infinity"...)
	case math.IsInf(v, -1):
		return append(b, "-Infinity"...)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// appendText appends a text in ASCII. Bytes that are not UTF-8 become what Python decodes them to, by surrogateescape.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendUnit(b, 0xdc00+rune(text[0]))
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			b = appendUnit(appendUnit(b, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		default:
			b = appendUnit(b, r)
		}
		text = text[n:]
	}
	return append(b, '"')
}

// appendUnit appends a unit of UTF-16.
func appendUnit(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
