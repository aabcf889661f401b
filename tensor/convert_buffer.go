package tensor

import "unsafe"

// A rowBuffer gives a row of a tensor's numbers as consecutive cells, memory of 1, 2, 4, 8 or 16 bytes for each number. If the
// tensor has them so, the cells are its memory; otherwise they are a buffer.
type rowBuffer struct {
	start  unsafe.Pointer
	step   int64 // in bits, between neighbouring numbers without strides
	stride int64 // of the row, in numbers
	width  int   // of a number, in bits
	cell   int64 // in bytes
	signed bool
	buffer unsafe.Pointer
}

// chunkLen is the number of cells in a buffer, so many that all buffers stay in the first-level cache.
const chunkLen = 512

// newRowBuffer returns one for rows of at most n numbers of v.
func newRowBuffer(v lanes, stride int64, padded bool, n int64) *rowBuffer {
	s := &rowBuffer{start: v.start, step: int64(v.dtype.BitSize(padded)), stride: stride, width: int(v.dtype.Bits)}
	s.cell, s.signed = cellSize(s.width), signedInt(v.dtype)
	if !s.direct() {
		s.buffer = newBuffer(n)
	}
	return s
}

// newBuffer returns memory for n cells of the largest size, limited to chunkLen cells.
func newBuffer(n int64) unsafe.Pointer {
	return unsafe.Pointer(&make([][2]uint64, min(n, chunkLen))[0])
}

// cellSize returns the bytes of the smallest cell for width bits.
func cellSize(width int) int64 {
	size := int64(1)
	for 8*size < int64(width) {
		size *= 2
	}
	return size
}

// plain reports whether the numbers have the same layout in memory as in cells, apart from strides. The upper bits of a cell of
// less than 8 bits do not matter; those of wider ones must repeat the sign.
func (s *rowBuffer) plain() bool {
	return s.step == 8*s.cell && (s.width <= 8 || s.step == int64(s.width))
}

func (s *rowBuffer) direct() bool { return s.plain() && s.stride == 1 }

// take returns the n cells from offset at on, in numbers.
func (s *rowBuffer) take(at, n int64) unsafe.Pointer {
	switch {
	case s.direct():
		return unsafe.Add(s.start, at*s.cell)
	case s.plain():
		row := axis{n, s.cell, s.stride * s.cell}
		rowCopier(s.cell, axis{})(s.buffer, unsafe.Add(s.start, at*s.cell), row, s.cell)
	case s.dense(at):
		unpackDense(bytesAt(s.buffer, n), unsafe.Add(s.start, at*s.step/8), uint(s.width))
	default:
		s.unpack(at, n)
	}
	return s.buffer
}

// place returns the memory to write n cells to, which put then stores at offset at.
func (s *rowBuffer) place(at int64) unsafe.Pointer {
	if s.direct() {
		return unsafe.Add(s.start, at*s.cell)
	}
	return s.buffer
}

// put stores the n cells that were written to place.
func (s *rowBuffer) put(at, n int64) {
	switch {
	case s.direct():
	case s.plain():
		row := axis{n, s.stride * s.cell, s.cell}
		rowCopier(s.cell, axis{})(unsafe.Add(s.start, at*s.cell), s.buffer, row, s.cell)
	case s.dense(at):
		whole := n &^ 7
		packDense(unsafe.Add(s.start, at*s.step/8), bytesAt(s.buffer, whole), uint(s.width))
		s.pack(whole, at, n)
	default:
		s.pack(0, at, n)
	}
}

// dense reports whether the row from offset at on has consecutive numbers of less than 8 bits, and begins at a byte.
func (s *rowBuffer) dense(at int64) bool { return s.step < 8 && s.stride == 1 && at*s.step%8 == 0 }

// unpackDense reads numbers of width bits, and no byte after the last one's.
func unpackDense(cells []byte, packed unsafe.Pointer, width uint) {
	from, mask := bytesAt(packed, (int64(len(cells))*int64(width)+7)/8), uint(1)<<width-1
	bits, have := uint(0), uint(0)
	for i := range cells {
		if have < width {
			bits |= uint(from[0]) << (have & 15)
			from, have = from[1:], have+8
		}
		cells[i] = byte(bits & mask)
		bits, have = bits>>(width&7), have-width
	}
}

// packDense stores numbers of width bits, a multiple of 8 numbers.
func packDense(packed unsafe.Pointer, cells []byte, width uint) {
	to, mask := bytesAt(packed, int64(len(cells))*int64(width)/8), uint(1)<<width-1
	bits, have := uint(0), uint(0)
	for _, v := range cells {
		bits |= uint(v) & mask << (have & 15)
		if have += width; have >= 8 {
			to[0] = byte(bits)
			to, bits, have = to[1:], bits>>8, have-8
		}
	}
}

// unpack reads numbers of any width, and extends the sign of signed ones.
func (s *rowBuffer) unpack(at, n int64) {
	for i := range n {
		w := readBits(s.start, (at+i*s.stride)*s.step, s.width)
		if s.signed {
			w = signExtend(w, s.width)
		}
		writeBits(s.buffer, i*8*s.cell, int(8*s.cell), w)
	}
}

// pack stores the cells from first to n. Bits that pad a number become 0.
func (s *rowBuffer) pack(first, at, n int64) {
	for i := first; i < n; i++ {
		w := readBits(s.buffer, i*8*s.cell, s.width)
		writeBits(s.start, (at+i*s.stride)*s.step, int(s.step), w)
	}
}
