package packed

import (
	"math"
	"unsafe"

	"godlpack/dlpack"
)

// Value is TVMValue: 8 bytes that are an integer, a float, a pointer, a dtype or a device, as its Code states. Go's collector
// does not find a pointer in it: the maker of a Value of Go memory keeps that memory alive.
type Value uint64

var _ [8]byte = [unsafe.Sizeof(Value(0))]byte{}

// IntValue returns v as a value.
func IntValue(v int64) Value { return Value(v) }

// FloatValue returns v as a value.
func FloatValue(v float64) Value { return Value(math.Float64bits(v)) }

// PointerValue returns p as a value. Memory of Go at p is on the heap from then on: a variable on a stack would move, and the
// value would not follow.
func PointerValue(p unsafe.Pointer) Value {
	if escape.ever {
		escape.to = p
	}
	return Value(uintptr(p))
}

// escape makes the compiler assume that pointers escape.
var escape struct {
	ever bool
	to   unsafe.Pointer
}

// DTypeValue returns d as a value. The other 4 bytes are 0.
func DTypeValue(d dlpack.DType) Value {
	return Value(d.Code) | Value(d.Bits)<<8 | Value(d.Lanes)<<16
}

// DeviceValue returns d as a value.
func DeviceValue(d dlpack.Device) Value {
	return Value(uint32(d.Type)) | Value(uint32(d.ID))<<32
}

func (v Value) int() int64     { return int64(v) }
func (v Value) float() float64 { return math.Float64frombits(uint64(v)) }

func (v Value) dtype() dlpack.DType {
	return dlpack.DType{Code: dlpack.Code(v), Bits: uint8(v >> 8), Lanes: uint16(v >> 16)}
}

func (v Value) device() dlpack.Device {
	return dlpack.Device{Type: dlpack.DeviceType(int32(v)), ID: int32(v >> 32)}
}

// Tensor returns the record whose address is v, of CodeTensor; nil for an address that cannot exist.
func (v Value) Tensor() *dlpack.Tensor { return (*dlpack.Tensor)(v.pointer()) }

// pointer returns v as a pointer, nil for numbers that Go does not permit in one.
func (v Value) pointer() unsafe.Pointer {
	if v < dlpack.MinAddress {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}
