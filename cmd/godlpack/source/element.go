package source

import (
	"go/types"
	"reflect"
	"slices"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// An Element is a Go type that a tensor's elements may have, and its DLPack dtype.
type Element struct {
	Go    types.Type
	DType dlpack.DType
}

// elements maps each Go type of one lane, by its name as go/types prints it, to its DLPack dtype.
var elements = map[string]dlpack.DType{
	"int": dlpack.Int64, "int8": dlpack.Int8, "int16": dlpack.Int16, "int32": dlpack.Int32, "int64": dlpack.Int64,
	"uint": dlpack.UInt64, "uint8": dlpack.UInt8, "uint16": dlpack.UInt16, "uint32": dlpack.UInt32, "uint64": dlpack.UInt64,
	"float32": dlpack.Float32, "float64": dlpack.Float64, "complex64": dlpack.Complex64, "complex128": dlpack.Complex128,
}

func init() {
	add[tensor.Bool8]()
	add[tensor.Complex32]()
	add[tensor.Int128]()
	add[tensor.UInt128]()
	add[tensor.Float128]()
	add[tensor.Float16]()
	add[tensor.BFloat16]()
	add[tensor.Float8E3M4]()
	add[tensor.Float8E4M3]()
	add[tensor.Float8E4M3B11FNUZ]()
	add[tensor.Float8E4M3FN]()
	add[tensor.Float8E4M3FNUZ]()
	add[tensor.Float8E5M2]()
	add[tensor.Float8E5M2FNUZ]()
	add[tensor.Float8E8M0FNU]()
	add[tensor.Float6E2M3FN]()
	add[tensor.Float6E3M2FN]()
	add[tensor.Float4E2M1FN]()
	add[tensor.Float4E2M1FNx2]()
}

// add adds a type of package tensor to elements, such as "godlpack/tensor.Float16".
func add[T tensor.Element]() {
	t := reflect.TypeFor[T]()
	elements[t.PkgPath()+"."+t.Name()] = tensor.DTypeOf[T]()
}

// elementOf returns the Element of a Go type; ok is false if it has none.
func elementOf(t types.Type) (e Element, ok bool) {
	lanes := uint16(1)
	lane := types.Unalias(t)
	if array, isArray := lane.(*types.Array); isArray {
		lane, lanes = types.Unalias(array.Elem()), uint16(array.Len())
	}
	d, ok := elements[types.TypeString(lane, nil)]
	d.Lanes *= lanes
	return Element{t, d}, ok
}

// unique drops elements with the dtype of an earlier one; int64 replaces int, and uint64 uint, in any order.
func unique(all []Element) []Element {
	var kept []Element
	for _, e := range all {
		i := slices.IndexFunc(kept, func(k Element) bool { return k.DType == e.DType })
		switch {
		case i < 0:
			kept = append(kept, e)
		case kept[i].Go.String() == "int" || kept[i].Go.String() == "uint":
			kept[i] = e
		}
	}
	return kept
}

// dtypes lists the dtypes of elements.
func dtypes(all []Element) []dlpack.DType {
	list := make([]dlpack.DType, len(all))
	for i, e := range all {
		list[i] = e.DType
	}
	return list
}

// names returns elements as the author writes them: "float32, float64 or bfloat16".
func names(all []Element) string {
	text := ""
	for i, e := range all {
		switch {
		case i > 0 && i == len(all)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += e.DType.String()
	}
	return text
}
