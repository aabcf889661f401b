package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Text returns the string in c, in its own memory: it is valid as long as c's memory (strings.Clone).
func (c Cell) Text() (string, error) {
	switch c.Code {
	case CodeStr:
		p := c.Value.pointer()
		if p == nil {
			return "", c.dangling("a string")
		}
		return cString((*byte)(p)), nil
	case CodeText, CodePart:
		b, err := c.span()
		return unsafe.String(unsafe.SliceData(b), len(b)), err
	}
	return "", c.mismatch("str")
}

// Bytes returns the bytes in c, in their own memory: they are valid as long as c's memory, and must not be written.
func (c Cell) Bytes() ([]byte, error) {
	if c.Code != CodeBytes {
		return nil, c.mismatch("bytes")
	}
	return c.span()
}

// span returns the memory of a ByteArray.
func (c Cell) span() ([]byte, error) {
	array := (*ByteArray)(c.Value.pointer())
	if array == nil {
		return nil, c.dangling("bytes")
	}
	if array.Size == 0 {
		return nil, nil
	}
	data := *(*Value)(unsafe.Pointer(&array.Data))
	if data < dlpack.MinAddress || array.Size > 1<<62 {
		return nil, dlpack.Errorf(dlpack.KindValue, "want %d bytes, got the address %#x", array.Size, uint64(data))
	}
	return unsafe.Slice(array.Data, array.Size), nil
}

// List returns the elements of the list or the tuple in c, in their own memory.
func (c Cell) List() (Args, error) {
	if c.Code != CodeList && c.Code != CodeTuple {
		return Args{}, c.mismatch("list")
	}
	list := (*List)(c.Value.pointer())
	switch {
	case list == nil:
		return Args{}, c.dangling("a list")
	case list.N == 0:
		return Args{}, nil
	case list.N < 0 || list.N > 1<<48:
		return Args{}, dlpack.Errorf(dlpack.KindValue, "want a list of 0 elements or more, got %d", list.N)
	}
	for _, place := range [...]unsafe.Pointer{unsafe.Pointer(&list.Values), unsafe.Pointer(&list.Codes)} {
		if v := *(*Value)(place); v < dlpack.MinAddress {
			return Args{}, dlpack.Errorf(dlpack.KindValue, "want a list of %d elements, got the address %#x", list.N, uint64(v))
		}
	}
	flags := (*(*Value)(unsafe.Pointer(&list.Flags))).pointer()
	return View(unsafe.Pointer(list.Values), unsafe.Pointer(list.Codes), flags, int(list.N)), nil
}

// cString returns the bytes up to the first NUL as a string in their own memory.
func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String(p, n)
}
