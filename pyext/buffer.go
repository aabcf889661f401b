package pyext

import (
	"slices"
	"strings"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// integerSizes maps each struct format code of an integer to its valid sizes in bytes. Exporters may give other sizes: ctypes
// gives a union the code of a byte with the union's size.
var integerSizes = map[string][]int64{"b": {1}, "h": {2}, "i": {4}, "l": {4, 8}, "q": {8}, "n": {8}}

// formatDTypes maps each other struct format code to its dtype.
var formatDTypes = map[string]dlpack.DType{
	"?": dlpack.Bool, "e": dlpack.Float16, "f": dlpack.Float32, "d": dlpack.Float64, "Zf": dlpack.Complex64, "Zd": dlpack.Complex128,
	"": dlpack.UInt8, "c": dlpack.UInt8,
}

// bufferDType returns the dtype of a struct format of one element in the machine's byte order, which is little-endian.
func bufferDType(format string, itemSize int64) (dlpack.DType, error) {
	code := strings.TrimLeft(format, "@=<")
	if itemSize == 1 {
		code = strings.TrimLeft(code, ">!") // one byte has no order
	}
	if d, ok := formatDTypes[code]; ok && d.ItemSize(false) == int(itemSize) {
		return d, nil
	}
	if slices.Contains(integerSizes[strings.ToLower(code)], itemSize) {
		kind := dlpack.CodeInt
		if code == strings.ToUpper(code) {
			kind = dlpack.CodeUInt
		}
		return dlpack.DType{Code: kind, Bits: uint8(8 * itemSize), Lanes: 1}, nil
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
		return cpython.Object{}, cpython.Wrap(err, obj, "")
	}
	return b.Tensor(d, strides)
}

// describe returns a buffer's dtype, and its strides in elements.
func describe(b cpython.Buffer) (d dlpack.DType, strides []int64, err error) {
	if len(b.Shape) > dlpack.MaxNDim {
		return d, nil, dlpack.Errorf(dlpack.KindBuffer, "want at most %d dimensions, got %d", dlpack.MaxNDim, len(b.Shape))
	}
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
