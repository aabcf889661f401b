package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Any is TVMFFIAny, the value of tvm-ffi: 16 bytes that know their own type.
type Any struct {
	Index TypeIndex
	Small uint32 // how many bytes a small string has in Value; 0 for all others
	Value Value
}

var _ [16]byte = [unsafe.Sizeof(Any{})]byte{}

// TypeIndex is tvm-ffi's TVMFFITypeIndex: what an Any is. From 64 on they are objects with a reference count.
type TypeIndex int32

// The type indices. Other than codes, they tell short strings, which lie in the value itself, from long ones.
const (
	AnyNone       TypeIndex = 0
	AnyInt        TypeIndex = 1
	AnyBool       TypeIndex = 2
	AnyFloat      TypeIndex = 3
	AnyPointer    TypeIndex = 4
	AnyDType      TypeIndex = 5
	AnyDevice     TypeIndex = 6
	AnyTensor     TypeIndex = 7 // DLTensor *
	AnyRawStr     TypeIndex = 8 // char *
	AnyByteArray  TypeIndex = 9 // TVMFFIByteArray *
	AnyRValueRef  TypeIndex = 10
	AnySmallStr   TypeIndex = 11
	AnySmallBytes TypeIndex = 12
	AnyFunction   TypeIndex = 68 // an object
)

// anyCodes pairs the types that both conventions have. It is TVM's own table, but for its objects.
var anyCodes = [...]struct {
	code  Code
	index TypeIndex
}{
	{CodeInt, AnyInt}, {CodeFloat, AnyFloat}, {CodeHandle, AnyPointer}, {CodeNull, AnyNone}, {CodeDType, AnyDType},
	{CodeDevice, AnyDevice}, {CodeTensor, AnyTensor}, {CodeCallable, AnyFunction}, {CodeStr, AnyRawStr},
	{CodeBytes, AnyByteArray}, {CodeBool, AnyBool},
}

// Any returns c as tvm-ffi has it, with the same Value. What only godlpack has, text with its length, lists and managed
// tensors, is a TypeError.
func (c Cell) Any() (Any, error) {
	for _, row := range anyCodes {
		if row.code == c.Code {
			return Any{Index: row.index, Value: c.Value}, nil
		}
	}
	if c.Code == CodeUint {
		return Any{}, dlpack.Errorf(dlpack.KindValue, "want an integer of at most 9223372036854775807, as tvm-ffi has them, got %d", uint64(c.Value))
	}
	return Any{}, c.mismatch("what tvm-ffi has too")
}

// Cell returns a as a cell with the same Value. Objects but functions, references and small strings are a TypeError; for
// the last see Inline.
func (a Any) Cell() (Cell, error) {
	for _, row := range anyCodes {
		if row.index == a.Index {
			return Cell{a.Value, row.code}, nil
		}
	}
	return Cell{}, dlpack.Errorf(dlpack.KindType, "want a value that TVM's older convention has too, got type index %d", a.Index)
}

// Inline returns the bytes that lie in a itself, of a small string or small bytes, and whether it is one of these.
func (a *Any) Inline() (data []byte, ok bool) {
	if a.Index != AnySmallStr && a.Index != AnySmallBytes || a.Small > uint32(unsafe.Sizeof(a.Value)) {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&a.Value)), a.Small), true
}
