package tensor

import (
	"math"
	"unsafe"

	"godlpack/dlpack"
)

type (
	whole interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	fraction interface{ float32 | float64 }
)

// between returns the stage from one native type to another.
func between(dst, src dlpack.DType) stage {
	switch src {
	case dlpack.Int8:
		return fromWhole[int8](dst)
	case dlpack.Int16:
		return fromWhole[int16](dst)
	case dlpack.Int32:
		return fromWhole[int32](dst)
	case dlpack.Int64:
		return fromWhole[int64](dst)
	case dlpack.UInt8:
		return fromWhole[uint8](dst)
	case dlpack.UInt16:
		return fromWhole[uint16](dst)
	case dlpack.UInt32:
		return fromWhole[uint32](dst)
	case dlpack.UInt64:
		return fromWhole[uint64](dst)
	case dlpack.Float32:
		return fromFraction[float32](dst)
	}
	return fromFraction[float64](dst)
}

// fromWhole returns the stage from an integer type. Integers of one size have the same bits, signed or not.
func fromWhole[S whole](dst dlpack.DType) stage {
	switch {
	case dst == dlpack.Float32:
		return number[float32, S]
	case dst == dlpack.Float64:
		return number[float64, S]
	case dst.Bits == 8:
		return number[uint8, S]
	case dst.Bits == 16:
		return number[uint16, S]
	case dst.Bits == 32:
		return number[uint32, S]
	}
	return number[uint64, S]
}

func fromFraction[S fraction](dst dlpack.DType) stage {
	switch {
	case dst == dlpack.Float32:
		return number[float32, S]
	case dst == dlpack.Float64:
		return number[float64, S]
	case dst.Bits == 8:
		return truncation32[uint8, S]
	case dst.Bits == 16:
		return truncation32[uint16, S]
	case dst == dlpack.Int32:
		return truncation32[int32, S]
	case dst == dlpack.UInt32:
		return truncationU32[S]
	case dst == dlpack.Int64:
		return truncation64[S]
	}
	return truncationU64[S]
}

// number converts as Go does, where Go defines the result: integers wrap, and become floats in one rounding.
func number[D, S whole | fraction](dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[D](dst, n), cellsAt[S](src, n)
	for i, v := range from {
		to[i] = D(v)
	}
}

// Floats outside of an integer type's range have no defined result in C and in Go. The functions below give the result of
// x86-64's instructions: a conversion to 32 or 64 signed bits, with the lowest number for NaN and all values out of range. An
// unsigned type of the same size subtracts the upper half first.

func truncate32(v float64) int32 {
	if v > math.MinInt32-1 && v < math.MaxInt32+1 {
		return int32(v)
	}
	return math.MinInt32
}

func truncate64(v float64) int64 {
	if v >= math.MinInt64 && v < math.MaxInt64 {
		return int64(v)
	}
	return math.MinInt64
}

func truncation32[D uint8 | uint16 | int32, S fraction](dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[D](dst, n), cellsAt[S](src, n)
	for i, v := range from {
		to[i] = D(truncate32(float64(v)))
	}
}

func truncation64[S fraction](dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[int64](dst, n), cellsAt[S](src, n)
	for i, v := range from {
		to[i] = truncate64(float64(v))
	}
}

func truncationU32[S fraction](dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint32](dst, n), cellsAt[S](src, n)
	for i, v := range from {
		if v >= 1<<31 {
			to[i] = uint32(truncate32(float64(v)-1<<31)) ^ 1<<31
		} else {
			to[i] = uint32(truncate32(float64(v)))
		}
	}
}

func truncationU64[S fraction](dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint64](dst, n), cellsAt[S](src, n)
	for i, v := range from {
		if v >= 1<<63 {
			to[i] = uint64(truncate64(float64(v)-1<<63)) ^ 1<<63
		} else {
			to[i] = uint64(truncate64(float64(v)))
		}
	}
}

// saturated returns a stage from float32 to an integer type by ml_dtypes' rule for floats of 8 bits and less: NaN becomes 0,
// and an infinity the highest or lowest integer of the native type.
func saturated(truncate stage, d dlpack.DType) stage {
	size := int(cellSize(int(d.Bits)))
	highest := word{math.MaxUint64}.lowest(8 * size)
	if signedInt(d) {
		highest[0] >>= 1
	}
	lowest := word{highest[0] + 1}.lowest(8 * size)
	return func(dst, src unsafe.Pointer, n int64) {
		truncate(dst, src, n)
		for i, v := range cellsAt[float32](src, n) {
			switch at := int64(8 * size * i); {
			case v != v:
				writeBits(dst, at, 8*size, word{})
			case v > math.MaxFloat32:
				writeBits(dst, at, 8*size, highest)
			case v < -math.MaxFloat32:
				writeBits(dst, at, 8*size, lowest)
			}
		}
	}
}

// truth returns the stage from a native type to bool.
func truth(src dlpack.DType) stage {
	switch {
	case src == dlpack.Float32:
		return floatTruth[uint32]
	case src == dlpack.Float64:
		return floatTruth[uint64]
	case src.Bits == 8:
		return bitTruth[uint8]
	case src.Bits == 16:
		return bitTruth[uint16]
	case src.Bits == 32:
		return bitTruth[uint32]
	}
	return bitTruth[uint64]
}

// complexTruth returns the stage from a complex type to bool.
func complexTruth(width uint8) stage {
	switch width {
	case 32:
		return pairTruth[uint16]
	case 64:
		return pairTruth[uint32]
	}
	return pairTruth[uint64]
}

type bitPattern interface {
	uint8 | uint16 | uint32 | uint64
}

func bitTruth[U bitPattern](dst, src unsafe.Pointer, n int64) {
	to, from := bytesAt(dst, n), cellsAt[U](src, n)
	for i, v := range from {
		to[i] = bit(v != 0)
	}
}

// floatTruth shifts the sign out: minus zero is false, NaN is true.
func floatTruth[U bitPattern](dst, src unsafe.Pointer, n int64) {
	to, from := bytesAt(dst, n), cellsAt[U](src, n)
	for i, v := range from {
		to[i] = bit(v<<1 != 0)
	}
}

func pairTruth[U bitPattern](dst, src unsafe.Pointer, n int64) {
	to, from := bytesAt(dst, n), cellsAt[[2]U](src, n)
	for i, v := range from {
		to[i] = bit((v[0]|v[1])<<1 != 0)
	}
}

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// extendSign returns the stage from a signed integer of less than 8 bits to int8.
func extendSign(width uint8) stage {
	return func(dst, src unsafe.Pointer, n int64) {
		to, from := cellsAt[int8](dst, n), cellsAt[int8](src, n)
		for i, v := range from {
			to[i] = v << (8 - width) >> (8 - width)
		}
	}
}

// maskBits returns the stage that clears the upper bits of bytes.
func maskBits(width uint8) stage {
	return func(dst, src unsafe.Pointer, n int64) {
		to, from := bytesAt(dst, n), bytesAt(src, n)
		for i, v := range from {
			to[i] = v & (1<<width - 1)
		}
	}
}
