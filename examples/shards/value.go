package shards

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"godlpack/tensor"
)

// A value is one field of a sample, in one of three forms: bytes, as of a file; JSON; or the values of a Parquet column.
type value struct {
	bytes  []byte
	json   *fastjson.Value
	ints   []int64 // of a list, or one
	floats []float64
	form   form
	list   bool // a Parquet column of lists
}

type form uint8

const (
	formBytes form = iota
	formJSON
	formInts
	formFloats
)

// describe says what a value is, for error texts.
func (v value) describe() string {
	switch {
	case v.form == formJSON:
		return "JSON's " + excerpt(v.json.MarshalTo(nil))
	case v.form == formBytes:
		return excerpt(v.bytes)
	case v.list:
		return "a list of numbers"
	case v.form == formInts:
		return strconv.FormatInt(v.ints[0], 10)
	}
	return strconv.FormatFloat(v.floats[0], 'g', -1, 64)
}

// excerpt is the beginning of a text, or the number of bytes that are none.
func excerpt(data []byte) string {
	const most = 40
	switch {
	case !utf8.Valid(data[:min(len(data), most)]) && !utf8.Valid(data):
		return fmt.Sprintf("%d bytes", len(data))
	case len(data) > most:
		return strconv.Quote(string(bytes.ToValidUTF8(data[:most], nil))) + "..."
	}
	return strconv.Quote(string(data))
}

func (v value) mismatch(want string) error { return fmt.Errorf("want %s, got %s", want, v.describe()) }

// text returns a text.
func (v value) text() (string, error) {
	switch {
	case v.form == formBytes && utf8.Valid(v.bytes):
		return string(v.bytes), nil
	case v.form == formJSON && v.json.Type() == fastjson.TypeString && utf8.Valid(v.json.GetStringBytes()):
		return string(v.json.GetStringBytes()), nil
	}
	return "", v.mismatch("a text")
}

// blob returns bytes, which are valid as long as the value.
func (v value) blob() ([]byte, error) {
	switch {
	case v.form == formBytes:
		return v.bytes, nil
	case v.form == formJSON && v.json.Type() == fastjson.TypeString:
		return v.json.GetStringBytes(), nil
	}
	return nil, v.mismatch("bytes")
}

// A number is the type of a column's elements.
type number interface{ int64 | float32 | float64 }

// appendNumber appends one number.
func appendNumber[T number](to []T, v value) ([]T, error) {
	var n T
	var err error
	switch {
	case v.list:
		return to, v.mismatch(nameOf[T]())
	case v.form == formBytes:
		n, err = parseNumber[T](bytes.TrimSpace(v.bytes))
	case v.form == formJSON:
		n, err = numberOfJSON[T](v.json)
	case v.form == formInts:
		n, err = T(v.ints[0]), nil
	case isFloat[T]():
		n, err = T(v.floats[0]), nil
	default:
		err = errNumber
	}
	if err != nil {
		return to, v.mismatch(nameOf[T]())
	}
	return append(to, n), nil
}

// appendNumbers appends the numbers of a list.
func appendNumbers[T number](to []T, v value, parser *fastjson.Parser) ([]T, error) {
	switch {
	case v.form == formInts && v.list:
		for _, n := range v.ints {
			to = append(to, T(n))
		}
		return to, nil
	case v.form == formFloats && v.list && isFloat[T]():
		for _, n := range v.floats {
			to = append(to, T(n))
		}
		return to, nil
	case v.form == formBytes:
		parsed, err := parser.ParseBytes(v.bytes)
		if err != nil {
			return to, v.mismatch("a list of numbers as JSON")
		}
		v.json, v.form = parsed, formJSON
	}
	if v.form != formJSON || v.json.Type() != fastjson.TypeArray {
		return to, v.mismatch("a list of " + nameOf[T]())
	}
	for _, element := range v.json.GetArray() {
		n, err := numberOfJSON[T](element)
		if err != nil {
			return to, v.mismatch("a list of " + nameOf[T]())
		}
		to = append(to, n)
	}
	return to, nil
}

var errNumber = fmt.Errorf("no such number")

// numberOfJSON returns a number, or 0 or 1 for JSON's booleans. No fraction is lost: 1.5 is no int64.
func numberOfJSON[T number](v *fastjson.Value) (T, error) {
	switch v.Type() {
	case fastjson.TypeTrue:
		return 1, nil
	case fastjson.TypeFalse:
		return 0, nil
	case fastjson.TypeNumber:
		if isFloat[T]() {
			return parseNumber[T](v.MarshalTo(nil)) // v.Float64 may be off in the last bit
		}
		n, err := v.Int64()
		return T(n), err
	}
	return 0, errNumber
}

func parseNumber[T number](text []byte) (T, error) {
	if isFloat[T]() {
		bits := 64
		if _, ok := any(T(0)).(float32); ok {
			bits = 32
		}
		n, err := strconv.ParseFloat(string(text), bits)
		return T(n), err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return T(n), err
}

func nameOf[T number]() string { return tensor.DTypeOf[T]().String() }

func isFloat[T number]() bool { return T(1)/2 != 0 }
