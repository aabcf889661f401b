package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// ByteArray is TVMByteArray: a reference to bytes. 16 bytes.
type ByteArray struct {
	Data *byte
	Size uintptr
}

// List is GDList: cells in C arrays. 32 bytes.
type List struct {
	N      int64
	Values *Value
	Codes  *Code
	Flags  *dlpack.Flags // one for each element, with meaning for tensors; NULL: unknown
}

var (
	_ [16]byte = [unsafe.Sizeof(ByteArray{})]byte{}
	_ [32]byte = [unsafe.Sizeof(List{})]byte{}
)

// Memory allocates and frees blocks: C's memory, if the caller will free them. Alloc returns nil without memory. Its memory is
// aligned to 16 bytes, and zeroed: Go's collector must not find stale numbers where Go stores pointers.
type Memory interface {
	Alloc(size int) unsafe.Pointer
	Free(unsafe.Pointer)
}

// errNoMemory is the error for a result without memory.
func errNoMemory(size int) error {
	return dlpack.Errorf(dlpack.KindMemory, "want %d bytes for a result, got none", size)
}

// NewText returns s as a block of m: a ByteArray, the bytes, a NUL. Lack of memory is a MemoryError.
func NewText(m Memory, s string) (Cell, error) { return newByteArray(m, s, CodeText) }

// NewBytes returns a copy of b as a block of m; see NewText.
func NewBytes(m Memory, b []byte) (Cell, error) {
	return newByteArray(m, unsafe.String(unsafe.SliceData(b), len(b)), CodeBytes)
}

func newByteArray(m Memory, s string, code Code) (Cell, error) {
	size := int(unsafe.Sizeof(ByteArray{})) + len(s) + 1
	block := m.Alloc(size)
	if block == nil {
		return Cell{}, errNoMemory(size)
	}
	start := (*byte)(unsafe.Add(block, unsafe.Sizeof(ByteArray{})))
	*(*ByteArray)(block) = ByteArray{start, uintptr(len(s))}
	data := unsafe.Slice(start, len(s)+1)
	copy(data, s)
	data[len(s)] = 0
	return Cell{PointerValue(block), code}, nil
}

// NewTexts returns a list of texts as one block of m: a List, its arrays, the ByteArrays, and the bytes with a NUL after each.
// Lack of memory is a MemoryError.
func NewTexts(m Memory, texts []string) (Cell, error) {
	n, head := len(texts), int(unsafe.Sizeof(List{}))
	each := int(unsafe.Sizeof(ByteArray{}) + unsafe.Sizeof(Value(0)) + unsafe.Sizeof(Code(0)))
	size := head + n*each + n
	for _, s := range texts {
		size += len(s)
	}
	block := m.Alloc(size)
	if block == nil {
		return Cell{}, errNoMemory(size)
	}
	arrays := unsafe.Slice((*ByteArray)(unsafe.Add(block, head)), n)
	values := unsafe.Slice((*Value)(unsafe.Add(block, head+n*int(unsafe.Sizeof(ByteArray{})))), n)
	codes := unsafe.Slice((*Code)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(values)), n*int(unsafe.Sizeof(Value(0))))), n)
	*(*List)(block) = List{N: int64(n), Values: unsafe.SliceData(values), Codes: unsafe.SliceData(codes)}
	bytes := unsafe.Slice((*byte)(unsafe.Add(block, head+n*each)), size-head-n*each)
	for i, s := range texts {
		arrays[i] = ByteArray{unsafe.SliceData(bytes), uintptr(len(s))}
		values[i], codes[i] = PointerValue(unsafe.Pointer(&arrays[i])), CodePart
		bytes = bytes[copy(bytes, s)+1:] // the memory is zeroed
	}
	return Cell{PointerValue(block), CodeList}, nil
}

// NewList returns the cells as one block of m, a List followed by its arrays; code is CodeList or CodeTuple. The list takes
// what the cells own, except on an error, which is a MemoryError.
func NewList(m Memory, code Code, cells []Cell) (Cell, error) {
	n := len(cells)
	head := int(unsafe.Sizeof(List{}))
	size := head + n*int(unsafe.Sizeof(Value(0))+unsafe.Sizeof(Code(0)))
	block := m.Alloc(size)
	if block == nil {
		return Cell{}, errNoMemory(size)
	}
	values := (*Value)(unsafe.Add(block, head))
	codes := (*Code)(unsafe.Add(block, head+n*int(unsafe.Sizeof(Value(0)))))
	*(*List)(block) = List{N: int64(n), Values: values, Codes: codes}
	for i, c := range cells {
		unsafe.Slice(values, n)[i], unsafe.Slice(codes, n)[i] = c.Value, c.Code
	}
	return Cell{PointerValue(block), code}, nil
}

// Drop frees what a cell owns, of a result that is not delivered: its block, its elements, its tensors, its references to
// objects. Remove is called for each managed tensor, release with the number of each object.
func Drop(m Memory, c Cell, remove func(*dlpack.ManagedTensorVersioned), release func(number uint64)) {
	switch c.Code {
	case CodeManaged:
		if p := c.Value.pointer(); p != nil {
			remove((*dlpack.ManagedTensorVersioned)(p))
		}
	case CodeObject:
		release(uint64(c.Value))
	case CodeList, CodeTuple:
		if list, err := c.List(); err == nil {
			for i := range list.Len() {
				Drop(m, list.At(i), remove, release)
			}
		}
		m.Free(c.Value.pointer())
	case CodeText, CodeBytes:
		m.Free(c.Value.pointer())
	}
}
