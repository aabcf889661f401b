package logs

import (
	"encoding"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strconv"
	"time"
)

// milliseconds is the format of times in slog's text.
const milliseconds = "2006-01-02T15:04:05.000Z07:00"

// appendFlat appends an attribute, with its value as it is now, or those of a group: their names follow the group's and a dot.
func appendFlat(list []slog.Attr, group string, a slog.Attr) []slog.Attr {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup:
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, member := range v.Group() {
			list = appendFlat(list, group, member)
		}
		return list
	case a.Key == "" && v.Kind() == slog.KindAny && v.Any() == nil: // slog ignores the zero Attr
		return list
	case v.Kind() == slog.KindAny || v.Kind() == slog.KindTime || v.Kind() == slog.KindDuration:
		v = slog.StringValue(textOf(v))
	}
	return append(list, slog.Attr{Key: group + a.Key, Value: v})
}

// textOf returns the text of a value, as slog's TextHandler writes it. Its methods may panic.
func textOf(v slog.Value) (text string) {
	defer func() {
		if p := recover(); p == nil {
			return
		} else if r := reflect.ValueOf(v.Any()); r.Kind() == reflect.Pointer && r.IsNil() {
			text = "<nil>"
		} else {
			text = fmt.Sprintf("!PANIC: %v", p)
		}
	}()
	if v.Kind() == slog.KindTime {
		return v.Time().Round(0).Format(milliseconds)
	}
	switch x := v.Any().(type) {
	case time.Duration:
		return x.String()
	case *slog.Source:
		return x.File + ":" + strconv.Itoa(x.Line)
	case encoding.TextMarshaler:
		data, err := x.MarshalText()
		if err != nil {
			return "!ERROR:" + err.Error()
		}
		return string(data)
	case []byte:
		return string(x)
	default:
		return fmt.Sprintf("%+v", x)
	}
}

// plain returns a flat value as encoding/json writes it: a float stays one, and one that JSON lacks is its text.
func plain(v slog.Value) any {
	if v.Kind() != slog.KindFloat64 {
		return v.Any()
	}
	f := v.Float64()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return v.String()
	}
	return number(f)
}

// A number is a float, which Python must not read as an int.
type number float64

// MarshalJSON writes an exponent.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(n), 'e', -1, 64), nil
}
