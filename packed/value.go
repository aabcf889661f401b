package packed

import (
	"math"
	"unsafe"

	"godlpack/dlpack"
)

// Value is TVMValue: 8 bytes that are an integer, a float, a pointer, a dtype or a device. Only the Code beside it knows
// which. A pointer in it is not seen by Go's collector: who makes a Value of Go memory keeps that memory alive.
type Value uint64

var _ [8]byte = [unsafe.Sizeof(Value(0))]byte{}

// IntValue returns v as a value.
func IntValue(v int64) Value { return Value(v) }

// FloatValue returns v as a value.
func FloatValue(v float64) Value { return Value(math.Float64bits(v)) }

// PointerValue returns p as a value. What p points to is on the heap from then on, if it is Go's: a variable on a stack would
// move, and the value not follow.
func PointerValue(p unsafe.Pointer) Value {
	if escape.ever {
		escape.to = p
	}
	return Value(uintptr(p))
}

// escape is where the compiler must think that pointers go.
var escape struct {
	ever bool
	to   unsafe.Pointer
}

// DTypeValue returns d as a value. The 4 bytes that it does not need are 0.
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

// Tensor returns the record that v, of CodeTensor, is the address of; nil for an address that nothing has.
func (v Value) Tensor() *dlpack.Tensor { return (*dlpack.Tensor)(v.pointer()) }

// pointer returns v as a pointer, nil for numbers that Go cannot bear in one.
func (v Value) pointer() unsafe.Pointer {
	if v < dlpack.MinAddress {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}
