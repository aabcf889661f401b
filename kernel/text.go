package kernel

import (
	"slices"
	"strconv"
	"strings"

	"godlpack/dlpack"
)

// wanted describes the values that a parameter takes: "int8", "list of float", "float32|float64[n, m] on cpu, C-contiguous,
// writable".
func wanted(p *Param) string {
	text := p.Kind.String()
	switch p.Kind {
	case KindInt:
		text = intName(p)
	case KindList:
		text = "list of " + wanted(p.Elem)
	case KindCallable:
		if p.Each != nil {
			text = "iterable of " + wanted(p.Each)
		}
	case KindObject:
		text = strings.Join(p.Classes, " or ")
	case KindValue:
		text = p.Type.wanted()
	case KindTensor:
		text = typeText(p) + shapeText(p.Shape) + deviceText(p.Device) + layoutText(p)
	}
	if p.Optional && !strings.HasSuffix(text, " or None") {
		text += " or None"
	}
	return text
}

func intName(p *Param) string {
	switch {
	case p.Bits == 0 && !p.Unsigned, p.Bits == 64 && !p.Unsigned:
		return "int"
	case p.Unsigned && p.Bits == 0:
		return "uint64"
	case p.Unsigned:
		return "uint" + strconv.Itoa(p.Bits)
	}
	return "int" + strconv.Itoa(p.Bits)
}

// typeText returns "float32|float64", or "any".
func typeText(p *Param) string {
	if len(p.DTypes) == 0 {
		return "any"
	}
	names := make([]string, len(p.DTypes))
	for i, d := range p.DTypes {
		names[i] = d.String()
	}
	return strings.Join(names, "|")
}

// shapeText returns "[n, 3]"; "[...]" for any shape.
func shapeText(shape []Extent) string {
	if shape == nil {
		return "[...]"
	}
	text := "["
	for i, e := range shape {
		if i > 0 {
			text += ", "
		}
		text += string(e)
	}
	return text + "]"
}

func deviceText(device string) string {
	switch device {
	case "":
		return " on cpu"
	case "any":
		return " on any device"
	}
	return " on " + device
}

func layoutText(p *Param) string {
	text := ""
	if p.Order != AnyOrder {
		text += ", " + string(p.Order) + "-contiguous"
	}
	if p.Mutable {
		text += ", writable"
	}
	return text
}

// appendTensor appends a tensor's description, "float32[3, 4] on cpu". It allocates nothing, so that a refusal is cheap.
func appendTensor(text []byte, t *dlpack.Tensor) []byte {
	text = append(text, t.DType.String()...)
	text = appendNumbers(text, t.ShapeSlice())
	text = append(text, " on "...)
	return append(text, t.Device.String()...)
}

func appendNumbers(text []byte, numbers []int64) []byte {
	text = append(text, '[')
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return append(text, ']')
}

// keywords are Python's, which are not valid identifiers.
var keywords = strings.Fields(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// identifier reports whether Python accepts s as a name. Only ASCII letters and digits are allowed here.
func identifier(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && !slices.Contains(keywords, s)
}

// number reads an extent of digits without a sign.
func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}
