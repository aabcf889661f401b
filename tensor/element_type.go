package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// Element is any Go type with the memory layout of a DLPack type: a number, or a vector of 2 or 4 numbers as a Go array.
// [4]float32 is float32x4, CUDA's float4. An int is an int64.
//
// Of the types below a byte, fp6 and fp4 have Go types. Float6E2M3FN, Float6E3M2FN and Float4E2M1FN take a byte a lane, which
// DLPack calls padded (R21); Float4E2M1FNx2 has two lanes in its byte, DLPack's default. For the others (int4, packed fp6) use
// Load and Store.
type Element interface {
	Bool8 | Complex32 | complex64 | complex128 | Int128 | UInt128 | Float128 |
		int8 | [2]int8 | [4]int8 |
		int16 | [2]int16 | [4]int16 |
		int32 | [2]int32 | [4]int32 |
		int64 | [2]int64 | [4]int64 |
		int | [2]int | [4]int |
		uint8 | [2]uint8 | [4]uint8 |
		uint16 | [2]uint16 | [4]uint16 |
		uint32 | [2]uint32 | [4]uint32 |
		uint64 | [2]uint64 | [4]uint64 |
		uint | [2]uint | [4]uint |
		float32 | [2]float32 | [4]float32 |
		float64 | [2]float64 | [4]float64 |
		Float16 | [2]Float16 | [4]Float16 |
		BFloat16 | [2]BFloat16 | [4]BFloat16 |
		Float8E3M4 | [2]Float8E3M4 | [4]Float8E3M4 |
		Float8E4M3 | [2]Float8E4M3 | [4]Float8E4M3 |
		Float8E4M3B11FNUZ | [2]Float8E4M3B11FNUZ | [4]Float8E4M3B11FNUZ |
		Float8E4M3FN | [2]Float8E4M3FN | [4]Float8E4M3FN |
		Float8E4M3FNUZ | [2]Float8E4M3FNUZ | [4]Float8E4M3FNUZ |
		Float8E5M2 | [2]Float8E5M2 | [4]Float8E5M2 |
		Float8E5M2FNUZ | [2]Float8E5M2FNUZ | [4]Float8E5M2FNUZ |
		Float8E8M0FNU | [2]Float8E8M0FNU | [4]Float8E8M0FNU |
		Float6E2M3FN | [2]Float6E2M3FN | [4]Float6E2M3FN |
		Float6E3M2FN | [2]Float6E3M2FN | [4]Float6E3M2FN |
		Float4E2M1FN | Float4E2M1FNx2 | [2]Float4E2M1FNx2
}

// DTypeOf returns the DLPack type of T.
func DTypeOf[T Element]() dlpack.DType {
	d := laneOf((*T)(nil))
	switch size := unsafe.Sizeof(*(*T)(nil)); {
	case 8*size == uintptr(d.Bits): // no division in the usual case
	case !d.SubByte():
		d.Lanes = uint16(8 * size / uintptr(d.Bits))
	case packedPair((*T)(nil)):
		d.Lanes = uint16(2 * size)
	default:
		d.Lanes = uint16(size)
	}
	return d
}

// laneOf returns the type of one lane of the element type that p points to. It takes a pointer, since an interface holds that
// without an allocation.
func laneOf(p any) dlpack.DType {
	switch p.(type) {
	case *int8, *[2]int8, *[4]int8:
		return dlpack.Int8
	case *int16, *[2]int16, *[4]int16:
		return dlpack.Int16
	case *int32, *[2]int32, *[4]int32:
		return dlpack.Int32
	case *int64, *[2]int64, *[4]int64, *int, *[2]int, *[4]int:
		return dlpack.Int64
	case *uint8, *[2]uint8, *[4]uint8:
		return dlpack.UInt8
	case *uint16, *[2]uint16, *[4]uint16:
		return dlpack.UInt16
	case *uint32, *[2]uint32, *[4]uint32:
		return dlpack.UInt32
	case *uint64, *[2]uint64, *[4]uint64, *uint, *[2]uint, *[4]uint:
		return dlpack.UInt64
	case *float32, *[2]float32, *[4]float32:
		return dlpack.Float32
	case *float64, *[2]float64, *[4]float64:
		return dlpack.Float64
	case *complex64:
		return dlpack.Complex64
	case *complex128:
		return dlpack.Complex128
	}
	return namedLane(p)
}

// namedLane is laneOf for the types of this package.
func namedLane(p any) dlpack.DType {
	switch p.(type) {
	case *Bool8:
		return dlpack.Bool
	case *Complex32:
		return dlpack.Complex32
	case *Int128:
		return dlpack.Int128
	case *UInt128:
		return dlpack.UInt128
	case *Float128:
		return dlpack.Float128
	case *Float16, *[2]Float16, *[4]Float16:
		return dlpack.Float16
	case *BFloat16, *[2]BFloat16, *[4]BFloat16:
		return dlpack.BFloat16
	}
	return tinyLane(p)
}

// tinyLane is laneOf for the floats of 8, 6 and 4 bits.
func tinyLane(p any) dlpack.DType {
	switch p.(type) {
	case *Float8E3M4, *[2]Float8E3M4, *[4]Float8E3M4:
		return dlpack.Float8E3M4
	case *Float8E4M3, *[2]Float8E4M3, *[4]Float8E4M3:
		return dlpack.Float8E4M3
	case *Float8E4M3B11FNUZ, *[2]Float8E4M3B11FNUZ, *[4]Float8E4M3B11FNUZ:
		return dlpack.Float8E4M3B11FNUZ
	case *Float8E4M3FN, *[2]Float8E4M3FN, *[4]Float8E4M3FN:
		return dlpack.Float8E4M3FN
	case *Float8E4M3FNUZ, *[2]Float8E4M3FNUZ, *[4]Float8E4M3FNUZ:
		return dlpack.Float8E4M3FNUZ
	case *Float8E5M2, *[2]Float8E5M2, *[4]Float8E5M2:
		return dlpack.Float8E5M2
	case *Float8E5M2FNUZ, *[2]Float8E5M2FNUZ, *[4]Float8E5M2FNUZ:
		return dlpack.Float8E5M2FNUZ
	case *Float8E8M0FNU, *[2]Float8E8M0FNU, *[4]Float8E8M0FNU:
		return dlpack.Float8E8M0FNU
	case *Float6E2M3FN, *[2]Float6E2M3FN, *[4]Float6E2M3FN:
		return dlpack.Float6E2M3FN
	case *Float6E3M2FN, *[2]Float6E3M2FN, *[4]Float6E3M2FN:
		return dlpack.Float6E3M2FN
	case *Float4E2M1FN, *Float4E2M1FNx2, *[2]Float4E2M1FNx2:
		return dlpack.Float4E2M1FN
	}
	panic("tensor: no dtype for an Element") // Element and these lists differ: a mistake in this file
}

// packedPair reports whether the element type that p points to has two lanes a byte.
func packedPair(p any) bool {
	switch p.(type) {
	case *Float4E2M1FNx2, *[2]Float4E2M1FNx2:
		return true
	}
	return false
}

// storage returns the flag for lanes below a byte in slices of T: SubbytePadded or 0. It is 0 for all other types.
func storage[T Element]() dlpack.Flags {
	if laneOf((*T)(nil)).SubByte() && !packedPair((*T)(nil)) {
		return dlpack.SubbytePadded
	}
	return 0
}

// Bool8 is an element of type bool: a byte that is true unless it is 0. Values other than 0 and 1 occur in practice (R45), and
// Go's bool must never hold those. FromBools takes Go's.
type Bool8 uint8

// Bool reports whether b is not 0.
func (b Bool8) Bool() bool { return b != 0 }
