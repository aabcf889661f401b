package textfeat

import (
	"encoding/binary"
	"math/bits"
)

// murmur3 is MurmurHash3_x86_32 with seed 0, by Austin Appleby, who placed it in the public domain.
func murmur3(data []byte) uint32 {
	h, size := uint32(0), uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		h ^= scramble(binary.LittleEndian.Uint32(data))
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var tail uint32
	for i, b := range data {
		tail |= uint32(b) << (8 * i)
	}
	h ^= scramble(tail) ^ size
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func scramble(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
