package tensor

import "unsafe"

// A word holds the bits of one lane, the lowest first. The widest lane is a handle of 248 bits.
type word [4]uint64

// or sets the bits of b from position at on; if that is negative, the lower bits of b are dropped.
func (w *word) or(b byte, at int) {
	if at < 0 {
		w[0] |= uint64(b) >> -at
		return
	}
	w[at/64] |= uint64(b) << (at % 64)
	if over := at%64 - 56; over > 0 && at/64+1 < len(w) {
		w[at/64+1] |= uint64(b) >> (8 - over)
	}
}

// byteAt returns the 8 bits from position at on, which may be negative; bits outside read as 0.
func (w *word) byteAt(at int) byte {
	if at < 0 {
		return byte(w[0] << -at)
	}
	b := w[at/64] >> (at % 64)
	if over := at%64 - 56; over > 0 && at/64+1 < len(w) {
		b |= w[at/64+1] << (8 - over)
	}
	return byte(b)
}

// lowest returns w with all but its lowest n bits cleared.
func (w word) lowest(n int) word {
	for i := range w {
		if rest := n - 64*i; rest < 64 {
			w[i] &= 1<<max(rest, 0) - 1
		}
	}
	return w
}

// readBits returns the n bits from bit number at of the memory on, in which bit i of byte k is number 8k+i: the little
// bit-endian order of packed types (R21). The host must be little-endian, as all platforms of DLPack are.
func readBits(memory unsafe.Pointer, at int64, n int) (w word) {
	p, skip := unsafe.Add(memory, at>>3), int(at&7)
	if skip == 0 {
		switch n {
		case 8:
			return word{uint64(*(*uint8)(p))}
		case 16:
			return word{uint64(*(*uint16)(p))}
		case 32:
			return word{uint64(*(*uint32)(p))}
		case 64:
			return word{*(*uint64)(p)}
		}
	}
	for k := 0; 8*k < skip+n; k++ {
		w.or(*(*byte)(unsafe.Add(p, k)), 8*k-skip)
	}
	return w.lowest(n)
}

// writeBits stores the lowest n bits of w where readBits reads them, and leaves all other bits unchanged. Two goroutines must
// not write to one byte at a time.
func writeBits(memory unsafe.Pointer, at int64, n int, w word) {
	p, skip := unsafe.Add(memory, at>>3), int(at&7)
	if skip == 0 {
		switch n {
		case 8:
			*(*uint8)(p) = uint8(w[0])
			return
		case 16:
			*(*uint16)(p) = uint16(w[0])
			return
		case 32:
			*(*uint32)(p) = uint32(w[0])
			return
		case 64:
			*(*uint64)(p) = w[0]
			return
		}
	}
	for k := 0; 8*k < skip+n; k++ {
		mask := byte(0xff)
		if k == 0 {
			mask <<= skip
		}
		if over := 8*(k+1) - skip - n; over > 0 {
			mask &= 0xff >> over
		}
		b := (*byte)(unsafe.Add(p, k))
		*b = *b&^mask | w.byteAt(8*k-skip)&mask
	}
}

// copyBits copies n bits from bit number from of src to bit number to of dst. Whole bytes are copied as bytes.
func copyBits(dst unsafe.Pointer, to int64, src unsafe.Pointer, from, n int64) {
	if to&7 == 0 && from&7 == 0 && n >= 8 {
		whole := n &^ 7
		copy(bytesAt(unsafe.Add(dst, to>>3), whole>>3), bytesAt(unsafe.Add(src, from>>3), whole>>3))
		to, from, n = to+whole, from+whole, n-whole
	}
	for n > 0 {
		chunk := min(n, 64)
		writeBits(dst, to, int(chunk), readBits(src, from, int(chunk)))
		to, from, n = to+chunk, from+chunk, n-chunk
	}
}

func bytesAt(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }
