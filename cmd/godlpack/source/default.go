package source

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// defaultValue parses default=VALUE: a literal of the parameter's type, in the syntax of Go or Python.
func (r *reader) defaultValue(p *kernel.Param, v *Value, w word) {
	if v.Form == Object || v.Form == Interface || v.Form == Tree && (v.Schema.Kind == kernel.TypeOptional || v.Schema.Kind == kernel.TypeAny) {
		p.Optional = true
	}
	if p.Optional && (w.text == "None" || w.text == "nil") {
		p.Default = kernel.DefaultOf(nil)
		return
	}
	if want := wantOf(*v); w.text == "None" || w.text == "nil" {
		r.add(w.at, "default %s: take a *%s, which is nil for None", w.text, r.typeText(v.Type))
	} else if want == "" {
		r.add(w.at, "a %s cannot have a default%s", r.typeText(v.Type), otherThanNone(*v))
	} else if value, ok := literal(*v, w.text); !ok {
		r.add(w.at, "default %s: want %s%s", w.text, want, orNone(*v))
	} else {
		v.Default, p.Default = value, kernel.DefaultOf(value)
	}
}

func orNone(v Value) string {
	if v.Pointer {
		return ", or None"
	}
	return ""
}

func otherThanNone(v Value) string {
	if v.Pointer || v.Form == Object || v.Form == Interface {
		return " other than None"
	}
	return ""
}

// wantOf describes the form of a default of v's type; "" if the type cannot have one.
func wantOf(v Value) string {
	switch v.Form {
	case Bool:
		return "True or False"
	case Int:
		return fmt.Sprintf("an integer that a %s can hold", v.Type)
	case Float:
		return "a finite number"
	case String, Bytes:
		return `text, in "" if it contains blanks`
	case DType:
		return "the name of a dtype, such as float32"
	case Device:
		return "a device such as cpu or cuda:0"
	case Tree:
		return wantOfTree(v)
	case List:
		if item := wantOf(*v.Items); item != "" {
			return "a list such as [1, 2], each " + item
		}
	}
	return ""
}

// wantOfTree is wantOf for the values that pass as trees and can have a default.
func wantOfTree(v Value) string {
	switch v.Schema.Kind {
	case kernel.TypeDuration:
		return "a duration such as 1.5s or 300ms"
	case kernel.TypeEnum:
		var values []string
		for _, m := range v.Schema.Members {
			values = append(values, fmt.Sprintf("%#v", m.Value))
		}
		return "one of " + strings.Join(values, ", ")
	}
	return ""
}

// treeLiteral is literal for them.
func treeLiteral(v Value, text string) (any, bool) {
	if v.Schema.Kind == kernel.TypeDuration {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	for _, m := range v.Schema.Members {
		if m.Name == text {
			return m.Value, true
		}
		if name, ok := unquote(text); ok && name == m.Value {
			return m.Value, true
		}
		if n, err := strconv.ParseInt(text, 0, 64); err == nil && n == m.Value {
			return m.Value, true
		}
		if n, err := strconv.ParseUint(text, 0, 64); err == nil && n == m.Value {
			return m.Value, true
		}
	}
	return nil, false
}

// literal parses a default into one of the Go values that kernel.DefaultOf takes.
func literal(v Value, text string) (value any, ok bool) {
	switch v.Form {
	case Bool:
		return strings.EqualFold(text, "true"), strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
	case Int:
		return integer(v, text)
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case String:
		return unquote(text)
	case Bytes:
		s, ok := unquote(text)
		return []byte(s), ok
	case DType:
		d, err := dlpack.ParseDType(text)
		return d, err == nil
	case Device:
		d, err := dlpack.ParseDevice(text)
		return d, err == nil
	case Tree:
		return treeLiteral(v, text)
	}
	return list(*v.Items, text)
}

// integer parses a number in the range of the parameter's type: an int64, or a uint64 if int64 is too small.
func integer(v Value, text string) (any, bool) {
	bits, unsigned := intRange(v.Type)
	if !unsigned {
		n, err := strconv.ParseInt(text, 0, bits)
		return n, err == nil
	}
	n, err := strconv.ParseUint(text, 0, bits)
	if n > math.MaxInt64 {
		return n, err == nil
	}
	return int64(n), err == nil
}

// unquote returns the text as it is, or without its quotes if it begins with one.
func unquote(text string) (string, bool) {
	if !strings.HasPrefix(text, `"`) {
		return text, text != ""
	}
	s, err := strconv.Unquote(text)
	return s, err == nil
}

// list parses "[1, 2]".
func list(item Value, text string) (any, bool) {
	inner, open := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	var words []string
	if strings.TrimSpace(inner) != "" {
		words = strings.Split(inner, ",")
	}
	var value any
	ok := false
	switch item.Form {
	case Bool:
		value, ok = literals[bool](item, words)
	case Int:
		if value, ok = literals[int64](item, words); !ok {
			value, ok = literals[uint64](item, words)
		}
	case Float:
		value, ok = literals[float64](item, words)
	case String:
		value, ok = literals[string](item, words)
	}
	return value, ok && open && closed
}

func literals[T any](item Value, words []string) ([]T, bool) {
	all := make([]T, len(words))
	for i, text := range words {
		value, ok := literal(item, strings.TrimSpace(text))
		all[i], ok = as[T](value, ok)
		if !ok {
			return nil, false
		}
	}
	return all, true
}

// as returns an element's value as a T, the type of all elements; an int64 that is not negative may be a uint64.
func as[T any](value any, ok bool) (T, bool) {
	if n, isInt := value.(int64); isInt {
		if unsigned, wanted := any(uint64(n)).(T); wanted {
			return unsigned, ok && n >= 0
		}
	}
	v, fits := value.(T)
	return v, ok && fits
}
