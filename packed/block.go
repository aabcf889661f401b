package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// ByteArray is TVMByteArray: bytes that lie elsewhere. 16 bytes.
type ByteArray struct {
	Data *byte
	Size uintptr
}

// List is GDList: cells in arrays of C. 32 bytes.
type List struct {
	N      int64
	Values *Value
	Codes  *Code
	Flags  *dlpack.Flags // one for each element, for those that are tensors; NULL: nothing is known
}

var (
	_ [16]byte = [unsafe.Sizeof(ByteArray{})]byte{}
	_ [32]byte = [unsafe.Sizeof(List{})]byte{}
)

// Memory is where blocks come from and go to: that of C, if the caller is to free it. Alloc returns nil if there is none.
// The memory is aligned to 16 bytes, and zeroed: Go's collector must not meet stale numbers where Go stores pointers.
type Memory interface {
	Alloc(size int) unsafe.Pointer
	Free(unsafe.Pointer)
}

// errNoMemory says that a result found no room.
func errNoMemory(size int) error {
	return dlpack.Errorf(dlpack.KindMemory, "want %d bytes for a result, got none", size)
}

// NewText returns s as a block of m: a ByteArray, the bytes, a NUL. A MemoryError if there is no memory.
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

// NewList returns the cells as one block of m, a List followed by its arrays; code is CodeList or CodeTuple. What the
// cells own passes to the list; after an error, a MemoryError, it has not.
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

// Drop gives back what a cell owns, of a result that nobody will get: its block, its elements, its tensors. Remove is
// called for each managed tensor.
func Drop(m Memory, c Cell, remove func(*dlpack.ManagedTensorVersioned)) {
	switch c.Code {
	case CodeManaged:
		if p := c.Value.pointer(); p != nil {
			remove((*dlpack.ManagedTensorVersioned)(p))
		}
	case CodeList, CodeTuple:
		if list, err := c.List(); err == nil {
			for i := range list.Len() {
				Drop(m, list.At(i), remove)
			}
		}
		m.Free(c.Value.pointer())
	case CodeText, CodeBytes:
		m.Free(c.Value.pointer())
	}
}
