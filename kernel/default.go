package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
)

// Default is the value of a parameter that is not given. In JSON it is its Python text.
type Default struct {
	Text string // a Python literal: "-1", "0.5", "None", "\"same\"", "(1, 2)"; for a dtype or a device, its name as a str; "timedelta(seconds=2)"

	cell   packed.Cell
	own    bool     // the function supplies it
	memory goMemory // the memory that the cell points to
}

// DefaultOf returns a default: None for nil, or the value of a bool, an int, an int64, a uint64, a float64, a string, a []byte,
// a time.Duration, a dlpack.DType, a dlpack.Device, a []bool, []int64, []uint64, []float64 or []string. It panics on any other value, on a NaN
// and on a string that is not UTF-8, which have no literal.
func DefaultOf(value any) *Default {
	d := &Default{}
	d.Text, d.cell = d.literal(value)
	return d
}

// DefaultByFunction returns a default that the function itself supplies: Call.Passed reports whether the argument was passed.
func DefaultByFunction() *Default { return &Default{Text: "...", cell: packed.Null, own: true} }

// ByFunction reports whether the function supplies the default.
func (d *Default) ByFunction() bool { return d != nil && d.own }

// MarshalText returns the Python text.
func (d *Default) MarshalText() ([]byte, error) { return []byte(d.Text), nil }

// UnmarshalText keeps the Python text alone, which describes a function's default without a value.
func (d *Default) UnmarshalText(text []byte) error {
	*d = Default{Text: string(text), cell: packed.Null, own: string(text) == "..."}
	return nil
}

func (d *Default) literal(value any) (string, packed.Cell) {
	switch v := value.(type) {
	case nil:
		return "None", packed.Null
	case bool:
		if v {
			return "True", packed.Bool(true)
		}
		return "False", packed.Bool(false)
	case int:
		return strconv.Itoa(v), packed.Int(int64(v))
	case int64:
		return strconv.FormatInt(v, 10), packed.Int(v)
	case uint64:
		return strconv.FormatUint(v, 10), packed.Uint(v)
	case float64:
		return floatLiteral(v), packed.Float(v)
	case time.Duration:
		return "timedelta(seconds=" + strings.TrimSuffix(floatLiteral(v.Seconds()), ".0") + ")", packed.Int(int64(v))
	case dlpack.DType:
		return strconv.Quote(v.String()), packed.DType(v)
	case dlpack.Device:
		return strconv.Quote(v.String()), packed.Device(v)
	}
	return d.block(value)
}

// block is literal for values that need memory.
func (d *Default) block(value any) (string, packed.Cell) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			panic(fmt.Sprintf("kernel: default %q: want UTF-8", v))
		}
		cell, _ := packed.NewText(&d.memory, v)
		return strconv.QuoteToASCII(v), cell
	case []byte:
		cell, _ := packed.NewBytes(&d.memory, v)
		return bytesLiteral(v), cell
	case []bool:
		return list(d, v)
	case []int64:
		return list(d, v)
	case []uint64:
		return list(d, v)
	case []float64:
		return list(d, v)
	case []string:
		return list(d, v)
	}
	panic(fmt.Sprintf("kernel: default %v: want a value of a type that Python has, got a %T", value, value))
}

func list[T any](d *Default, values []T) (string, packed.Cell) {
	texts, cells := make([]string, len(values)), make([]packed.Cell, len(values))
	for i, v := range values {
		texts[i], cells[i] = d.literal(v)
	}
	cell, _ := packed.NewList(&d.memory, packed.CodeTuple, cells)
	if len(texts) == 1 {
		return "(" + texts[0] + ",)", cell
	}
	return "(" + strings.Join(texts, ", ") + ")", cell
}

func floatLiteral(v float64) string {
	switch {
	case v != v:
		panic("kernel: default NaN: want a number, since NaN has no literal")
	case v > math.MaxFloat64:
		return "1e999" // Python reads it as inf
	case v < -math.MaxFloat64:
		return "-1e999"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

func bytesLiteral(v []byte) string {
	text := []byte(`b"`)
	for _, b := range v {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			text = fmt.Appendf(text, `\x%02x`, b)
		} else {
			text = append(text, b)
		}
	}
	return string(append(text, '"'))
}

// goMemory is packed.Memory in Go, which keeps all blocks.
type goMemory struct{ blocks [][][2]uint64 }

func (m *goMemory) Alloc(size int) unsafe.Pointer {
	block := make([][2]uint64, size/16+1)
	m.blocks = append(m.blocks, block)
	return unsafe.Pointer(&block[0])
}

func (*goMemory) Free(unsafe.Pointer) {}
