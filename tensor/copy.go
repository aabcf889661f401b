package tensor

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
)

// Copy sets the elements of dst to those of src. Both have the same type and shape and are valid (Tensor.Validate); they may
// have any strides, and share memory: dst then gets the previous values of src. No two elements of dst should share memory
// (dlpack.SelfOverlap), since the result there is unspecified. Padded holds for both; see Load.
//
// It is a ValueError when types or shapes differ, and a BufferError when the host cannot access the memory. Bits of dst outside
// of its elements, such as the rest of a last byte, are unchanged.
func Copy(dst, src *dlpack.Tensor, padded bool) error {
	if err := reachable(dst, src); err != nil {
		return err
	}
	switch {
	case dst.DType != src.DType:
		return dlpack.Errorf(dlpack.KindValue, "copy: want elements of type %v, got %v", dst.DType, src.DType)
	case !slices.Equal(dst.ShapeSlice(), src.ShapeSlice()):
		return dlpack.Errorf(dlpack.KindValue, "copy: want shape %v, got %v", dst.ShapeSlice(), src.ShapeSlice())
	}
	if n, err := dst.Size(); n == 0 || err != nil {
		return err
	}
	l := loopOver(dst, src)
	oneRun := len(l.outer) == 0 && l.inner.dst == 1 && l.inner.src == 1 && dst.DType.BitSize(padded)%8 == 0
	if !oneRun && dlpack.Overlap(dst, src) { // one run is a memmove, which handles overlaps itself
		return copyByWay(dst, src, padded)
	}
	copyLoop(&l, dst, src, padded)
	return nil
}

// copyByWay copies through a buffer.
func copyByWay(dst, src *dlpack.Tensor, padded bool) error {
	n, err := src.Size()
	if err != nil {
		return err
	}
	size, err := dlpack.DataSize(n, src.DType, padded)
	if err != nil {
		return err
	}
	memory := make([]byte, size)
	between := *src
	between.Data, between.ByteOffset, between.Strides = unsafe.Pointer(&memory[0]), 0, nil
	between.Device = dlpack.Device{Type: dlpack.CPU}
	there, back := loopOver(&between, src), loopOver(dst, &between)
	copyLoop(&there, &between, src, padded)
	copyLoop(&back, dst, &between, padded)
	return nil
}

func copyLoop(l *loop, dst, src *dlpack.Tensor, padded bool) {
	to, from, inner := dst.Start(), src.Start(), l.inner
	bits := int64(dst.DType.BitSize(padded))
	if bits%8 != 0 {
		l.rows(func(d, s int64) { copyBitRow(to, d, from, s, inner, bits) })
		return
	}
	size := bits / 8
	copyRow := rowCopier(size, inner)
	inner.dst, inner.src = inner.dst*size, inner.src*size
	l.rows(func(d, s int64) { copyRow(unsafe.Add(to, d*size), unsafe.Add(from, s*size), inner, size) })
}

// rowCopier returns the function that copies one row of elements of size bytes. Its strides are in bytes.
func rowCopier(size int64, inner axis) func(dst, src unsafe.Pointer, row axis, size int64) {
	if inner.dst == 1 && inner.src == 1 {
		return copyRun
	}
	switch size {
	case 1:
		return copyRow[uint8]
	case 2:
		return copyRow[uint16]
	case 4:
		return copyRow[uint32]
	case 8:
		return copyRow[uint64]
	case 16:
		return copyRow[[2]uint64]
	}
	return copyWideRow
}

func copyRun(dst, src unsafe.Pointer, row axis, size int64) {
	copy(bytesAt(dst, row.extent*size), bytesAt(src, row.extent*size))
}

// copyRow copies elements of the size of T, which need not be aligned.
func copyRow[T any](dst, src unsafe.Pointer, row axis, _ int64) {
	for i := range row.extent {
		*(*T)(unsafe.Add(dst, i*row.dst)) = *(*T)(unsafe.Add(src, i*row.src))
	}
}

func copyWideRow(dst, src unsafe.Pointer, row axis, size int64) {
	for i := range row.extent {
		copy(bytesAt(unsafe.Add(dst, i*row.dst), size), bytesAt(unsafe.Add(src, i*row.src), size))
	}
}

// copyBitRow copies one row of elements that are not whole bytes. Offsets and strides are in elements.
func copyBitRow(dst unsafe.Pointer, to int64, src unsafe.Pointer, from int64, row axis, bits int64) {
	if row.dst == 1 && row.src == 1 {
		copyBits(dst, to*bits, src, from*bits, row.extent*bits)
		return
	}
	for i := range row.extent {
		copyBits(dst, (to+i*row.dst)*bits, src, (from+i*row.src)*bits, bits)
	}
}
