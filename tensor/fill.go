package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// Fill sets all elements of t to s; see Store for padded and the errors. t must be valid (Tensor.Validate). Bits outside of the
// elements, such as the rest of a last byte, are unchanged.
func Fill(t *dlpack.Tensor, padded bool, s Scalar) error {
	if err := reachable(t); err != nil {
		return err
	}
	if err := Check(t.DType, s); err != nil {
		return err
	}
	if n, err := t.Size(); n == 0 || err != nil {
		return err
	}
	pattern := eight(t.DType, padded, s)
	steps := strides(t)
	l := newLoop(t.ShapeSlice(), steps, steps)
	start, inner := t.Start(), l.inner
	bits := int64(t.DType.BitSize(padded))
	if bits%8 != 0 {
		l.rows(func(at, _ int64) { fillBitRow(start, at, inner, bits, pattern) })
		return nil
	}
	size := bits / 8
	fillRow := rowFiller(size, inner)
	inner.dst *= size
	l.rows(func(at, _ int64) { fillRow(unsafe.Add(start, at*size), inner, pattern[:size]) })
	return nil
}

// eight returns eight consecutive elements of value s: whole bytes for each type.
func eight(d dlpack.DType, padded bool, s Scalar) []byte {
	memory := make([]byte, d.BitSize(padded))
	row := dlpack.Tensor{Data: unsafe.Pointer(&memory[0]), DType: d}
	for i := range int64(8) {
		store(&row, padded, i, s)
	}
	return memory
}

// rowFiller returns the function that fills one row with elements of size bytes. Its stride is in bytes.
func rowFiller(size int64, inner axis) func(dst unsafe.Pointer, row axis, element []byte) {
	if inner.dst == 1 {
		return fillRun
	}
	switch size {
	case 1:
		return fillRow[uint8]
	case 2:
		return fillRow[uint16]
	case 4:
		return fillRow[uint32]
	case 8:
		return fillRow[uint64]
	case 16:
		return fillRow[[2]uint64]
	}
	return fillWideRow
}

func fillRun(dst unsafe.Pointer, row axis, element []byte) {
	repeat(bytesAt(dst, row.extent*int64(len(element))), element)
}

// fillRow stores elements of the size of T, which need not be aligned.
func fillRow[T any](dst unsafe.Pointer, row axis, element []byte) {
	v := *(*T)(unsafe.Pointer(&element[0]))
	for i := range row.extent {
		*(*T)(unsafe.Add(dst, i*row.dst)) = v
	}
}

func fillWideRow(dst unsafe.Pointer, row axis, element []byte) {
	for i := range row.extent {
		copy(bytesAt(unsafe.Add(dst, i*row.dst), int64(len(element))), element)
	}
}

// fillBitRow fills one row of elements that are not whole bytes. Offset and stride are in elements, the pattern has eight.
func fillBitRow(start unsafe.Pointer, at int64, row axis, bits int64, pattern []byte) {
	first := int64(0)
	if row.dst == 1 && at*bits%8 == 0 {
		first = row.extent &^ 7
		repeat(bytesAt(unsafe.Add(start, at*bits/8), first*bits/8), pattern)
	}
	for i := first; i < row.extent; i++ {
		copyBits(start, (at+i*row.dst)*bits, unsafe.Pointer(&pattern[0]), 0, bits)
	}
}

// cached is a size that fits in the first-level cache of any processor beside the written memory.
const cached = 8 << 10

// repeat fills dst with copies of pattern. Its length is a multiple of the pattern's.
func repeat(dst, pattern []byte) {
	if zero(pattern) {
		clear(dst)
		return
	}
	done := copy(dst, pattern)
	for done < len(dst) { // doubles the filled part, up to a size that is read from the cache
		source := min(done, max(cached/len(pattern)*len(pattern), len(pattern)))
		done += copy(dst[done:], dst[:source])
	}
}

func zero(pattern []byte) bool {
	for _, b := range pattern {
		if b != 0 {
			return false
		}
	}
	return true
}
