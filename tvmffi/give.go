package tvmffi

import (
	"unsafe"

	"godlpack/kernel"
	"godlpack/packed"
)

// give converts a result, or an argument of a callback, from kernel to a value of tvm-ffi, and takes what it owns, also on
// error. The value owns what it refers to.
func (c *call) give(cell packed.Cell, result *packed.Any) error {
	switch cell.Code {
	case packed.CodeManaged:
		*result = anyOf(outputOf(cell))
		return nil
	case packed.CodeArgument:
		i, _ := cell.Argument()
		view := c.args[i]
		if view.Index == packed.AnyRValueRef {
			view = anyOf(referred(&view)) // which remains the caller's
		}
		return c.given(c.own(&view, result))
	case packed.CodeText, packed.CodePart:
		text, err := cell.Text()
		if err != nil {
			return err
		}
		return c.given(c.newText(text, result))
	case packed.CodeBytes:
		data, err := cell.Bytes()
		if err != nil {
			return err
		}
		return c.given(c.newBytes(data, result))
	case packed.CodeList, packed.CodeTuple:
		return c.giveList(cell, result)
	}
	value, err := cell.Any()
	if err != nil {
		kernel.Drop(c, cell)
		return err
	}
	*result = value
	return nil
}

// giveList is give for lists: a function of tvm-ffi makes an Array of its arguments.
func (c *call) giveList(cell packed.Cell, result *packed.Any) error {
	list, err := cell.List()
	if err != nil {
		return err
	}
	values, err := c.giveAll(list)
	if err != nil {
		return err
	}
	defer c.dropAll(values)
	array := c.global("ffi.Array")
	if array == nil {
		return c.reason()
	}
	defer c.release(array)
	return c.given(c.callFunction(array, values, result))
}

// giveAll is give for several cells: it takes all of them, also on error.
func (c *call) giveAll(cells packed.Args) ([]packed.Any, error) {
	values := make([]packed.Any, cells.Len())
	var err error
	for i := range values {
		if err == nil {
			err = c.give(cells.At(i), &values[i])
		} else {
			kernel.Drop(c, cells.At(i))
		}
	}
	if err != nil {
		c.dropAll(values)
		return nil, err
	}
	return values, nil
}

func (c *call) dropAll(values []packed.Any) {
	for i := range values {
		c.drop(&values[i])
	}
}

// given returns nil if ok, and otherwise kernel's error for an exception of the host.
func (c *call) given(ok bool) error {
	if ok {
		return nil
	}
	c.keepError()
	return kernel.ErrRaised
}

// outputOf returns the tensor of an output: see Allocate.
func outputOf(cell packed.Cell) *object {
	return (*object)((*managed)(unsafe.Pointer(cell.Value.Tensor())).ManagerCtx)
}
