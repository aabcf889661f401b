package packed

import "strconv"

// Code is the type of a Value. Up to 15 the codes are TVM's; those from 65 on are godlpack's, in the range that TVM leaves to
// others.
type Code int32

// The codes.
const (
	CodeInt      Code = 0
	CodeFloat    Code = 2
	CodeHandle   Code = 3 // a pointer that only its producer can interpret
	CodeNull     Code = 4 // Python's None
	CodeDType    Code = 5
	CodeDevice   Code = 6
	CodeTensor   Code = 7  // *dlpack.Tensor, borrowed
	CodeCallable Code = 10 // a function of the host
	CodeStr      Code = 11 // UTF-8 up to the first NUL
	CodeBytes    Code = 12 // *ByteArray
	CodeBool     Code = 15 // an integer, 0 or 1
	CodeText     Code = 65 // *ByteArray of UTF-8, which may hold NUL
	CodeList     Code = 66 // *List
	CodeManaged  Code = 67 // *dlpack.ManagedTensorVersioned, which the receiver owns
	CodeDefault  Code = 68 // an argument that was not given, and has a default
	CodeArgument Code = 69 // an integer: the argument of this number, unchanged
	CodeTuple    Code = 70 // *List
	CodeUint     Code = 71 // an integer of 2^63 to 2^64-1, as a uint64
	CodeHuge     Code = 72 // an integer beyond 64 bits, as the nearest float64
	CodeObject   Code = 73 // an integer: the number of an object of the library
	CodePart     Code = 74 // *ByteArray of UTF-8 in the block of the list around it, which alone is freed
)

// String returns the name in error texts, after Python's types: "int", "str", "Tensor"; "code 99" for an unknown one.
func (c Code) String() string {
	switch c {
	case CodeInt, CodeUint, CodeHuge:
		return "int"
	case CodeFloat:
		return "float"
	case CodeHandle:
		return "handle"
	case CodeNull:
		return "None"
	case CodeDType:
		return "DType"
	case CodeDevice:
		return "Device"
	case CodeTensor, CodeManaged:
		return "Tensor"
	case CodeCallable:
		return "callable"
	case CodeStr, CodeText, CodePart:
		return "str"
	case CodeBytes:
		return "bytes"
	case CodeObject:
		return "object"
	case CodeBool:
		return "bool"
	}
	return c.plural()
}

// plural is String for codes of several values, or of a reference to another value.
func (c Code) plural() string {
	switch c {
	case CodeList:
		return "list"
	case CodeTuple:
		return "tuple"
	case CodeDefault:
		return "default"
	case CodeArgument:
		return "argument"
	}
	return "code " + strconv.Itoa(int(c))
}
