package kernel

import (
	"encoding/json"
	"strconv"

	"godlpack/dlpack"
)

// Param declares one parameter or one result.
type Param struct {
	Name     string   `json:"name,omitempty"` // a Python identifier
	Kind     Kind     `json:"kind"`
	Elem     *Param   `json:"elem,omitempty"`     // of a KindList: its elements
	Optional bool     `json:"optional,omitempty"` // None is accepted too; see Call.Given
	Default  *Default `json:"default,omitempty"`  // nil: the argument must be given
	Passing  Passing  `json:"passing,omitempty"`  // how Python passes it

	// Of numbers: an int must fit in so many bits, 64 if 0. The width of a float is documentation only, not checked.
	Bits     int  `json:"bits,omitempty"`
	Unsigned bool `json:"unsigned,omitempty"`

	Type *Type  `json:"type,omitempty"` // of a KindValue
	Each *Param `json:"each,omitempty"` // of a KindCallable that stands for an iterable: its elements; see Sequence

	// Of objects: the names of the accepted classes, several if the Go type is an interface.
	Classes []string `json:"classes,omitempty"`

	// Of tensors.
	DTypes     DTypes   `json:"dtypes,omitempty"`      // the accepted ones; none: all
	Var        string   `json:"var,omitempty"`         // a type variable: all arguments with the same one have the same dtype
	Shape      []Extent `json:"shape"`                 // nil: any; empty: no axes
	Order      Order    `json:"order,omitempty"`       // the order of the elements in memory
	Device     string   `json:"device,omitempty"`      // a device's type, "any", or "" for "cpu": memory that the host can access
	Mutable    bool     `json:"mutable,omitempty"`     // the function writes it
	Convert    bool     `json:"convert,omitempty"`     // another dtype or order is accepted: the function gets a copy, in the caller's memory
	MayOverlap bool     `json:"may_overlap,omitempty"` // it may share memory with others though one of them is written
	Shared     bool     `json:"shared,omitempty"`      // a result's memory is not copied: the host keeps it alive, and writes to it if it is mutable
	Untyped    bool     `json:"untyped,omitempty"`     // only Call.Tensor reads it: elements may be unaligned, share memory, and be stored in any way
}

// Passing is how Python passes an argument.
type Passing string

// The ways to pass an argument. Parameters of the first way come before others.
const (
	ByPosition  Passing = ""         // also by name
	KeywordOnly Passing = "keyword"  // by name alone
	Variadic    Passing = "variadic" // all further arguments by position, a KindList or a list by its Type; at most one parameter
)

// Kind is the kind of value that a parameter takes.
type Kind uint8

// The kinds, by the values that a Python caller passes.
const (
	KindBool     Kind = iota + 1 // bool
	KindInt                      // int
	KindFloat                    // float
	KindString                   // str
	KindBytes                    // bytes
	KindDType                    // anything that names a dtype
	KindDevice                   // anything that names a device
	KindCallable                 // a function
	KindTensor                   // any framework's tensor; bytes are one too, uint8[n] and read-only
	KindList                     // a list or a tuple of one of KindBool, KindInt, KindFloat, KindString, KindTensor, KindObject
	KindObject                   // an object of an exported Go type
	KindValue                    // a value that a Type describes, such as a dict or a datetime
)

// kindNames are the names in JSON and in error texts.
var kindNames = [...]string{
	KindBool: "bool", KindInt: "int", KindFloat: "float", KindString: "str", KindBytes: "bytes", KindDType: "dtype",
	KindDevice: "device", KindCallable: "callable", KindTensor: "tensor", KindList: "list", KindObject: "object",
	KindValue: "value",
}

// String returns the kind's name: "bool", "int", "float", "str", "bytes", "dtype", "device", "callable", "tensor", "list", "object", "value".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// MarshalText returns the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name. Another one is a ValueError.
func (k *Kind) UnmarshalText(name []byte) error {
	for i, known := range kindNames {
		if known != "" && known == string(name) {
			*k = Kind(i)
			return nil
		}
	}
	return dlpack.Errorf(dlpack.KindValue, "kind %q: want a name such as int or tensor", name)
}

// Extent constrains a tensor's axis: a number ("3"), a name ("n") that stands for the same number in all arguments, "*" for any
// number, or "..." for any number of axes of any extent, once in a shape.
type Extent string

// Order is the order of a tensor's elements in memory.
type Order string

// The orders.
const (
	AnyOrder    Order = ""  // with any strides
	RowMajor    Order = "C" // compact, the last axis is the fastest
	ColumnMajor Order = "F" // compact, the first axis is the fastest
)

// DTypes are dtypes of elements. In JSON they are their names.
type DTypes []dlpack.DType

// MarshalJSON returns the names: ["float32","float64"].
func (d DTypes) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, t := range d {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendQuote(text, t.String())
	}
	return append(text, ']'), nil
}

// UnmarshalJSON reads names. The ValueError is that of dlpack.ParseDType.
func (d *DTypes) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	*d = make(DTypes, len(names))
	for i, name := range names {
		var err error
		if (*d)[i], err = dlpack.ParseDType(name); err != nil {
			return err
		}
	}
	return nil
}
