package tvmffi

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// maxDepth limits the nesting of lists: a List of tvm-ffi can contain itself.
const maxDepth = 32

// take converts a to a cell of kernel, which borrows it. Depth is the number of lists around a. Types that kernel lacks are a
// TypeError.
func (c *call) take(a *packed.Any, depth int) (packed.Cell, error) {
	if data, inline := a.Inline(); inline {
		if a.Index == packed.AnySmallBytes {
			return packed.NewBytes(c, data)
		}
		return packed.NewText(c, unsafe.String(unsafe.SliceData(data), len(data)))
	}
	switch {
	case a.Index == packed.AnyRValueRef:
		return c.takeObject(referred(a), depth)
	case a.Index >= firstObject:
		return c.takeObject(objectOf(a), depth)
	}
	return a.Cell()
}

// takeObject is take for objects.
func (c *call) takeObject(o *object, depth int) (packed.Cell, error) {
	switch o.index {
	case indexTensor:
		return packed.Tensor(body[dlpack.Tensor](o)), nil
	case indexStr:
		return packed.Cell{Value: packed.PointerValue(unsafe.Pointer(body[packed.ByteArray](o))), Code: packed.CodeText}, nil
	case indexBytes:
		return packed.Cell{Value: packed.PointerValue(unsafe.Pointer(body[packed.ByteArray](o))), Code: packed.CodeBytes}, nil
	case packed.AnyFunction:
		return packed.Cell{Value: packed.PointerValue(unsafe.Pointer(o)), Code: packed.CodeCallable}, nil
	case indexArray, indexList:
		s := body[sequence](o)
		elements := unsafe.Slice(s.data, s.size)
		return c.takeList(len(elements), depth, func(i int) (packed.Cell, error) { return c.take(&elements[i], depth+1) })
	case indexShape:
		s := body[shape](o)
		extents := unsafe.Slice(s.data, s.size)
		return c.takeList(len(extents), depth, func(i int) (packed.Cell, error) { return packed.Int(extents[i]), nil })
	}
	return packed.Cell{}, kernel.Errorf(kernel.TypeError, "want a value that Go functions can take, got a %s", c.typeKey(o.index))
}

// takeList makes a list of n cells.
func (c *call) takeList(n, depth int, at func(int) (packed.Cell, error)) (packed.Cell, error) {
	if depth == maxDepth {
		return packed.Cell{}, kernel.Errorf(kernel.ValueError, "want lists nested at most %d deep", maxDepth)
	}
	cells := make([]packed.Cell, n)
	for i := range cells {
		var err error
		if cells[i], err = at(i); err != nil {
			return packed.Cell{}, err
		}
	}
	return packed.NewList(c, packed.CodeList, cells)
}

// textOf copies what b refers to.
func textOf(b packed.ByteArray) string { return string(unsafe.Slice(b.Data, b.Size)) }
