package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Cell is one value with its code.
type Cell struct {
	Value Value
	Code  Code
}

// Null is Python's None.
var Null = Cell{Code: CodeNull}

// Int returns v as a cell.
func Int(v int64) Cell { return Cell{IntValue(v), CodeInt} }

// Uint returns v as a cell.
func Uint(v uint64) Cell {
	if v>>63 != 0 {
		return Cell{Value(v), CodeUint}
	}
	return Int(int64(v))
}

// Float returns v as a cell.
func Float(v float64) Cell { return Cell{FloatValue(v), CodeFloat} }

// Bool returns v as a cell.
func Bool(v bool) Cell {
	if v {
		return Cell{1, CodeBool}
	}
	return Cell{0, CodeBool}
}

// Object returns the object of a number as a cell.
func Object(number uint64) Cell { return Cell{Value(number), CodeObject} }

// DType returns d as a cell.
func DType(d dlpack.DType) Cell { return Cell{DTypeValue(d), CodeDType} }

// Device returns d as a cell.
func Device(d dlpack.Device) Cell { return Cell{DeviceValue(d), CodeDevice} }

// Tensor returns t as a cell that borrows it: t must outlive it.
func Tensor(t *dlpack.Tensor) Cell { return Cell{PointerValue(unsafe.Pointer(t)), CodeTensor} }

// Managed returns t as a cell that owns it.
func Managed(t *dlpack.ManagedTensorVersioned) Cell {
	return Cell{PointerValue(unsafe.Pointer(t)), CodeManaged}
}

// Argument returns argument i of the same call as a cell.
func Argument(i int) Cell { return Cell{IntValue(int64(i)), CodeArgument} }

// Int returns the integer in c, 0 or 1 for a bool. An integer beyond an int64 is an OverflowError.
func (c Cell) Int() (int64, error) {
	switch c.Code {
	case CodeInt, CodeBool:
		return c.Value.int(), nil
	case CodeUint:
		return 0, dlpack.Errorf(dlpack.KindOverflow, "want an int of at most 9223372036854775807, got %d", uint64(c.Value))
	case CodeHuge:
		return 0, dlpack.Errorf(dlpack.KindOverflow, "want an int that fits into 64 bits, got one of about %g", c.Value.float())
	}
	return 0, c.mismatch("int")
}

// Uint returns the integer in c, 0 or 1 for a bool. An integer below 0 is a ValueError, and one beyond a uint64 an
// OverflowError.
func (c Cell) Uint() (uint64, error) {
	if c.Code == CodeUint {
		return uint64(c.Value), nil
	}
	v, err := c.Int()
	if err == nil && v < 0 {
		err = dlpack.Errorf(dlpack.KindValue, "want an int of at least 0, got %d", v)
	}
	return uint64(v), err
}

// Float returns the float in c, or the nearest float to its integer or bool.
func (c Cell) Float() (float64, error) {
	switch c.Code {
	case CodeFloat, CodeHuge:
		return c.Value.float(), nil
	case CodeUint:
		return float64(uint64(c.Value)), nil
	case CodeInt, CodeBool:
		return float64(c.Value.int()), nil
	}
	return 0, c.mismatch("float")
}

// Bool returns the bool in c, or whether its integer is not 0.
func (c Cell) Bool() (bool, error) {
	if c.Code == CodeBool || c.Code == CodeInt {
		return c.Value != 0, nil
	}
	return false, c.mismatch("bool")
}

// Argument returns the number of the argument that c stands for.
func (c Cell) Argument() (int, error) {
	if c.Code != CodeArgument {
		return 0, c.mismatch("argument")
	}
	return int(c.Value), nil
}

// DType returns the dtype in c. It is not checked (dlpack.DType.Valid).
func (c Cell) DType() (dlpack.DType, error) {
	if c.Code != CodeDType {
		return dlpack.DType{}, c.mismatch("DType")
	}
	return c.Value.dtype(), nil
}

// Device returns the device in c. It is not checked (dlpack.DeviceType.Known).
func (c Cell) Device() (dlpack.Device, error) {
	if c.Code != CodeDevice {
		return dlpack.Device{}, c.mismatch("Device")
	}
	return c.Value.device(), nil
}

// Tensor returns the record that c refers to, nil for None. It is not checked (dlpack.Tensor.Validate).
func (c Cell) Tensor() (*dlpack.Tensor, error) {
	switch c.Code {
	case CodeNull:
		return nil, nil
	case CodeTensor:
		if p := c.Value.pointer(); p != nil {
			return (*dlpack.Tensor)(p), nil
		}
		return nil, c.dangling("a tensor")
	case CodeManaged:
		if p := c.Value.pointer(); p != nil {
			return &(*dlpack.ManagedTensorVersioned)(p).Tensor, nil
		}
		return nil, c.dangling("a tensor")
	}
	return nil, c.mismatch("Tensor")
}

// Pointer returns the pointer in c: of a handle, a callable or a tensor's record, nil for None.
func (c Cell) Pointer() (unsafe.Pointer, error) {
	switch c.Code {
	case CodeNull:
		return nil, nil
	case CodeHandle, CodeCallable, CodeTensor:
		if p := c.Value.pointer(); p != nil {
			return p, nil
		}
		return nil, c.dangling("something")
	}
	return nil, c.mismatch("handle")
}

// mismatch is the TypeError for a cell of another type.
func (c Cell) mismatch(want string) error {
	return dlpack.Errorf(dlpack.KindType, "want %s, got %v", want, c.Code)
}

// dangling is the ValueError for a small number, or NULL, instead of a pointer.
func (c Cell) dangling(what string) error {
	return dlpack.Errorf(dlpack.KindValue, "want the address of %s, got %#x for a %v", what, uint64(c.Value), c.Code)
}
