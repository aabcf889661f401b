package pyext

import (
	"strings"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// formatDTypes has the dtype of each struct format code of a fixed size; those of other sizes are told apart by theirs.
var formatDTypes = map[string]dlpack.DType{
	"?": dlpack.Bool, "e": dlpack.Float16, "f": dlpack.Float32, "d": dlpack.Float64, "Zf": dlpack.Complex64, "Zd": dlpack.Complex128,
	"": dlpack.UInt8, "c": dlpack.UInt8,
}

// bufferDType reads a struct format of one element in the machine's byte order, which is little-endian.
func bufferDType(format string, itemSize int64) (dlpack.DType, error) {
	code := strings.TrimLeft(format, "@=<")
	if itemSize == 1 {
		code = strings.TrimLeft(code, ">!") // one byte has no order
	}
	if d, ok := formatDTypes[code]; ok && d.ItemSize(false) == int(itemSize) {
		return d, nil
	}
	bits := uint8(8 * itemSize)
	if len(code) == 1 && itemSize <= 8 && strings.Contains("bhilqn", code) {
		return dlpack.DType{Code: dlpack.CodeInt, Bits: bits, Lanes: 1}, nil
	}
	if len(code) == 1 && itemSize <= 8 && strings.Contains("BHILQN", code) {
		return dlpack.DType{Code: dlpack.CodeUInt, Bits: bits, Lanes: 1}, nil
	}
	return dlpack.DType{}, dlpack.Errorf(dlpack.KindBuffer, "want a buffer of numbers in native byte order, got format %q with %d bytes an element", format, itemSize)
}

// fromBuffer makes a tensor over an object's buffer, read-only if the buffer is.
func fromBuffer(obj cpython.Object) (cpython.Object, error) {
	b, err := cpython.HoldBuffer(obj)
	if err != nil {
		return cpython.Object{}, err
	}
	d, strides, err := describe(b)
	if err != nil {
		b.Release()
		return cpython.Object{}, dlpack.Wrap(err, obj.Type().Name())
	}
	return b.Tensor(d, strides)
}

// describe says what a buffer holds, in DLPack's terms.
func describe(b cpython.Buffer) (d dlpack.DType, strides []int64, err error) {
	if d, err = bufferDType(b.Format, b.ItemSize); err != nil {
		return d, nil, err
	}
	strides, err = elementStrides(b.Shape, b.Strides, b.ItemSize)
	return d, strides, err
}

// elementStrides turns strides in bytes into strides in elements (R17).
func elementStrides(shape, strides []int64, itemSize int64) ([]int64, error) {
	steps := make([]int64, len(strides))
	for i, bytes := range strides {
		if bytes%itemSize != 0 && shape[i] > 1 {
			return nil, dlpack.Errorf(dlpack.KindBuffer, "want strides in whole elements, got %d bytes for elements of %d", bytes, itemSize)
		}
		steps[i] = bytes / itemSize
	}
	return steps, nil
}
