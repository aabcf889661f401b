package tvmffi

import (
	"unsafe"

	"godlpack/packed"
)

// The type indices of tvm-ffi's objects (TVMFFITypeIndex); all from firstObject on are objects. packed.AnyFunction is
// one of them.
const (
	firstObject packed.TypeIndex = 64
	indexStr    packed.TypeIndex = 65
	indexBytes  packed.TypeIndex = 66
	indexShape  packed.TypeIndex = 69
	indexTensor packed.TypeIndex = 70
	indexArray  packed.TypeIndex = 71
	indexList   packed.TypeIndex = 75
)

// object is TVMFFIObject: the header of each object. 24 bytes; the body after it depends on its type.
type object struct {
	counts  uint64
	index   packed.TypeIndex
	_       uint32
	deleter uintptr
}

// shape is TVMFFIShapeCell, the body of a Shape.
type shape struct {
	data *int64
	size uintptr
}

// sequence is TVMFFISeqCell, the body of an Array and a List.
type sequence struct {
	data *packed.Any
	size int64
	_    int64   // its capacity
	_    uintptr // the deleter of data
}

var (
	_ [24]byte = [unsafe.Sizeof(object{})]byte{}
	_ [16]byte = [unsafe.Sizeof(shape{})]byte{}
	_ [32]byte = [unsafe.Sizeof(sequence{})]byte{}
)

// objectOf returns the object in a, of an index from firstObject on.
func objectOf(a *packed.Any) *object { return *(**object)(unsafe.Pointer(&a.Value)) }

// referred returns the object that a, an rvalue reference, refers to, without moving it.
func referred(a *packed.Any) *object { return **(***object)(unsafe.Pointer(&a.Value)) }

// anyOf returns o as a value, which owns it if the caller does.
func anyOf(o *object) packed.Any {
	return packed.Any{Index: o.index, Value: packed.PointerValue(unsafe.Pointer(o))}
}

// body returns the memory after o's header.
func body[T any](o *object) *T { return (*T)(unsafe.Add(unsafe.Pointer(o), unsafe.Sizeof(object{}))) }
