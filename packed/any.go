package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Any is TVMFFIAny, the value of tvm-ffi: 16 bytes that include their own type.
type Any struct {
	Index TypeIndex
	Small uint32 // the number of bytes of a small string in Value; 0 for all others
	Value Value
}

var _ [16]byte = [unsafe.Sizeof(Any{})]byte{}

// TypeIndex is tvm-ffi's TVMFFITypeIndex: the type of an Any. From 64 on they are objects with a reference count.
type TypeIndex int32

// The type indices. Unlike codes, they distinguish short strings, which are in the value itself, from long ones.
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

// anyCodes pairs the types that both conventions have. It is TVM's own table, without its objects.
var anyCodes = [...]struct {
	code  Code
	index TypeIndex
}{
	{CodeInt, AnyInt}, {CodeFloat, AnyFloat}, {CodeHandle, AnyPointer}, {CodeNull, AnyNone}, {CodeDType, AnyDType},
	{CodeDevice, AnyDevice}, {CodeTensor, AnyTensor}, {CodeCallable, AnyFunction}, {CodeStr, AnyRawStr},
	{CodeBytes, AnyByteArray}, {CodeBool, AnyBool},
}

// Any returns c as a value of tvm-ffi, with the same Value. Types of godlpack only, which are text with its length, lists and
// managed tensors, are a TypeError.
func (c Cell) Any() (Any, error) {
	for _, row := range anyCodes {
		if row.code == c.Code {
			return Any{Index: row.index, Value: c.Value}, nil
		}
	}
	if c.Code == CodeUint {
		return Any{}, dlpack.Errorf(dlpack.KindValue, "want an integer of at most 9223372036854775807, the largest of tvm-ffi, got %d", uint64(c.Value))
	}
	return Any{}, c.mismatch("a value that tvm-ffi supports")
}

// Cell returns a as a cell with the same Value. Objects other than functions, references and small strings are a TypeError; for
// small strings see Inline.
func (a Any) Cell() (Cell, error) {
	for _, row := range anyCodes {
		if row.index == a.Index {
			return Cell{a.Value, row.code}, nil
		}
	}
	return Cell{}, dlpack.Errorf(dlpack.KindType, "want a value that TVM's packed-function convention supports, got type index %d", a.Index)
}

// Inline returns the bytes of a small string or small bytes, which are in a itself; ok is false for all others.
func (a *Any) Inline() (data []byte, ok bool) {
	if a.Index != AnySmallStr && a.Index != AnySmallBytes || a.Small > uint32(unsafe.Sizeof(a.Value)) {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&a.Value)), a.Small), true
}
