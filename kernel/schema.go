package kernel

import (
	"encoding/json"
	"strings"
)

// Type describes a value that Python and Go exchange as a tree of plain values: godlpack/_values.py converts Python's side, and
// Value and ReturnValue convert Go's.
type Type struct {
	Kind    TypeKind `json:"kind"`
	Key     *Type    `json:"key,omitempty"`     // of a dict
	Elem    *Type    `json:"elem,omitempty"`    // of a list, a dict, or an optional value
	Len     int      `json:"len,omitempty"`     // of a list or bytes that are an array in Go
	Name    string   `json:"name,omitempty"`    // of a record or an enum: the Python class
	Doc     string   `json:"doc,omitempty"`     // of a record or an enum
	Fields  []Field  `json:"fields,omitempty"`  // of a record
	Members []Member `json:"members,omitempty"` // of an enum
	Flags   bool     `json:"flags,omitempty"`   // of an enum whose members are bits: any union of them is a value
}

// Field is a field of a record.
type Field struct {
	Name string `json:"name"` // in Python
	Type *Type  `json:"type"`
}

// Member is a member of an enum.
type Member struct {
	Name  string `json:"name"`  // in Python, in capitals
	Value any    `json:"value"` // a string, an int64, a uint64 or a json.Number
}

// TypeKind is the kind of a Type.
type TypeKind string

// The kinds, by their values in Python, and what they are in a tree.
const (
	TypeBool     TypeKind = "bool"
	TypeInt      TypeKind = "int"
	TypeFloat    TypeKind = "float"
	TypeStr      TypeKind = "str"
	TypeBytes    TypeKind = "bytes"
	TypeComplex  TypeKind = "complex"  // a list of the real and the imaginary part
	TypeTime     TypeKind = "time"     // datetime.datetime: a list of seconds since 1970, nanoseconds, and seconds east of Greenwich
	TypeDuration TypeKind = "duration" // datetime.timedelta: nanoseconds
	TypeBigInt   TypeKind = "bigint"   // int: a hexadecimal text
	TypeAny      TypeKind = "any"      // what JSON can say, and bytes: lists begin with "list", dicts with "dict"
	TypeList     TypeKind = "list"
	TypeDict     TypeKind = "dict"     // a list of keys and values in turn
	TypeRecord   TypeKind = "record"   // a NamedTuple: a list of its fields
	TypeEnum     TypeKind = "enum"     // an IntEnum, an IntFlag or a StrEnum: its value
	TypeOptional TypeKind = "optional" // None, or the element
)

// ParseType reads a Type from JSON, for generated code. It panics if the text is none.
func ParseType(text string) *Type {
	t := new(Type)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // a float64 would not hold each member
	if err := decoder.Decode(t); err != nil {
		panic("kernel: type " + text + ": " + err.Error())
	}
	return t
}

// typeHints are the type hints of the kinds that have one of their own.
var typeHints = map[TypeKind]string{
	TypeBool: "bool", TypeInt: "int", TypeFloat: "float", TypeStr: "str", TypeBytes: "bytes", TypeComplex: "complex",
	TypeTime: "datetime", TypeDuration: "timedelta", TypeBigInt: "int", TypeAny: "Any",
}

// hint returns the Python type of an argument or a result.
func (t *Type) hint(argument bool) string {
	switch t.Kind {
	case TypeList:
		if argument && t.numeric() {
			return "Sequence[" + t.Elem.hint(argument) + "] | TensorLike"
		}
		if argument {
			return "Sequence[" + t.Elem.hint(argument) + "]"
		}
		return "list[" + t.Elem.hint(argument) + "]"
	case TypeDict:
		if argument {
			return "Mapping[" + t.Key.hint(argument) + ", " + t.Elem.hint(argument) + "]"
		}
		return "dict[" + t.Key.hint(argument) + ", " + t.Elem.hint(argument) + "]"
	case TypeRecord:
		if argument {
			return t.Name + " | Mapping[str, Any]"
		}
		return t.Name
	case TypeEnum:
		if argument && len(t.Members) > 0 {
			if _, text := t.Members[0].Value.(string); text {
				return t.Name + " | str"
			}
			return t.Name + " | int"
		}
		return t.Name
	case TypeOptional:
		return t.Elem.hint(argument) + " | None"
	}
	return typeHints[t.Kind]
}

// numeric reports whether the elements are numbers, which arrays have too.
func (t *Type) numeric() bool {
	for t.Kind == TypeList {
		t = t.Elem
	}
	return t.Kind == TypeBool || t.Kind == TypeInt || t.Kind == TypeFloat || t.Kind == TypeComplex
}

// wanted returns what an argument must be, in the words of error texts.
func (t *Type) wanted() string {
	switch t.Kind {
	case TypeRecord:
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = f.Name
		}
		return t.Name + "(" + strings.Join(names, ", ") + ")"
	case TypeList:
		return "list of " + t.Elem.wanted()
	case TypeDict:
		return "dict of " + t.Key.wanted() + " to " + t.Elem.wanted()
	case TypeOptional:
		return t.Elem.wanted() + " or None"
	}
	return t.hint(false)
}

// Walk calls visit with a Type and those it consists of, inner ones first.
func (t *Type) Walk(visit func(*Type)) {
	for _, part := range []*Type{t.Key, t.Elem} {
		if part != nil {
			part.Walk(visit)
		}
	}
	for _, f := range t.Fields {
		f.Type.Walk(visit)
	}
	visit(t)
}

// Stub returns the definition of a record or an enum for a .pyi file, with a line end.
func (t *Type) Stub() string {
	base, lines := "NamedTuple", ""
	for _, f := range t.Fields {
		lines += "    " + f.Name + ": " + f.Type.hint(false)
		if f.Name == "count" || f.Name == "index" { // tuple has methods of these names
			lines += "  # type: ignore[assignment]"
		}
		lines += "\n"
	}
	for _, m := range t.Members {
		text, err := json.Marshal(m.Value)
		if err != nil {
			panic(err) // it is a number or a text
		}
		base = "IntEnum"
		switch {
		case text[0] == '"':
			base = "StrEnum"
		case t.Flags:
			base = "IntFlag"
		}
		lines += "    " + m.Name + " = " + string(text) + "\n"
	}
	doc := ""
	if t.Doc != "" {
		doc = "    " + strings.ReplaceAll(strings.TrimSuffix(StubDoc(t.Doc), "\n"), "\n", "\n    ") + "\n"
	}
	return "class " + t.Name + "(" + base + "):\n" + doc + lines
}
