package kernel

import (
	"slices"
	"strconv"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// The functions and methods of this file return results, one each, in the order of Func.Results.
//
// A tensor that is a whole output (Empty) is passed on, and one that is an argument is returned as that very argument. A result
// declared as Shared is the memory itself. Every other tensor, in Go memory or a part of another, is copied into memory of the caller's framework; if the host cannot access
// its memory, that is a BufferError. An output that is returned a second time is copied too.

// Return returns a tensor.
func Return[T tensor.Element](c *Call, v tensor.Of[T]) { ReturnDeviceOf(c, v.OnDevice()) }

// ReturnMut returns a tensor.
func ReturnMut[T tensor.Element](c *Call, v tensor.Mut[T]) { Return(c, v.Of) }

// ReturnDeviceOf returns a tensor.
func ReturnDeviceOf[T tensor.Element](c *Call, v tensor.DeviceOf[T]) {
	if m := output(c, v); m != nil {
		c.returnOutput(m)
	} else {
		c.returnTensor(v.Record())
	}
}

// output returns the whole output that v views, the usual case of results, and nil if no output has its shape and strides. It
// avoids the creation of a record.
func output[T tensor.Element](c *Call, v tensor.DeviceOf[T]) *dlpack.ManagedTensorVersioned {
	if c.ctx == nil {
		return nil
	}
	if m := c.ctx.placed(v.Shape()); m != nil && v.Assumed(&m.Tensor) {
		return m
	}
	return c.ctx.take(v.Assumed)
}

// ReturnDeviceMut returns a tensor.
func ReturnDeviceMut[T tensor.Element](c *Call, v tensor.DeviceMut[T]) { ReturnDeviceOf(c, v.DeviceOf) }

func (c *Call) returnOutput(m *dlpack.ManagedTensorVersioned) {
	if !c.declared(&m.Tensor) {
		c.give(packed.Cell{}, c.undeclared(m.Tensor))
		c.host.Delete(m)
		return
	}
	c.give(packed.Managed(m), nil)
}

func (c *Call) returnTensor(r tensor.Record) {
	if t := r.Tensor(); !c.declared(&t) {
		c.give(packed.Cell{}, c.undeclared(t))
		return
	}
	if i := len(c.results); i < len(c.fn.plan.results) && c.fn.plan.results[i].Shared {
		c.give(c.shareCell(&r, &c.fn.plan.results[i]))
		return
	}
	c.give(c.tensorCell(&r))
}

// declared reports whether the next result may be t: hosts rely on the dtype and the shape in the declaration.
func (c *Call) declared(t *dlpack.Tensor) bool {
	i := len(c.results)
	if i >= len(c.fn.plan.results) {
		return true // deliver reports the error
	}
	s := &c.fn.plan.results[i]
	if s.Kind != KindTensor {
		return true
	}
	if len(s.DTypes) > 0 && !slices.Contains(s.DTypes, t.DType) {
		return false
	}
	fits, _ := c.shapeFits(s, t.ShapeSlice(), 0) // the argument that binds a name only matters for errors of arguments
	return fits
}

func (c *Call) undeclared(t dlpack.Tensor) error {
	text := c.fn.label() + "(): result " + strconv.Itoa(len(c.results)) + ": declared as " + c.fn.plan.results[len(c.results)].want + ", returned "
	return &Error{Kind: RuntimeError, Msg: string(appendTensor([]byte(text), &t))}
}

// ReturnList returns a list of tensors.
func ReturnList[T tensor.Element](c *Call, v []tensor.Of[T]) {
	returnList(c, v, func(v tensor.Of[T]) (packed.Cell, error) { return elementCell(c, v) })
}

// ReturnMutList returns a list of tensors.
func ReturnMutList[T tensor.Element](c *Call, v []tensor.Mut[T]) {
	returnList(c, v, func(v tensor.Mut[T]) (packed.Cell, error) { return elementCell(c, v.Of) })
}

func elementCell[T tensor.Element](c *Call, v tensor.Of[T]) (packed.Cell, error) {
	if m := output(c, v.OnDevice()); m != nil {
		return packed.Managed(m), nil
	}
	r := v.Record()
	return c.tensorCell(&r)
}

// ReturnInts returns a list of ints.
func ReturnInts[T Integer](c *Call, v []T) {
	returnList(c, v, func(v T) (packed.Cell, error) {
		if v > 0 {
			return packed.Uint(uint64(v)), nil
		}
		return packed.Int(int64(v)), nil
	})
}

// ReturnFloats returns a list of floats.
func ReturnFloats[T Real](c *Call, v []T) {
	returnList(c, v, func(v T) (packed.Cell, error) { return packed.Float(float64(v)), nil })
}

// ReturnStrings returns a list of strings.
func (c *Call) ReturnStrings(v []string) {
	c.give(packed.NewTexts(c.host, v))
}

// ReturnBools returns a list of bools.
func (c *Call) ReturnBools(v []bool) {
	returnList(c, v, func(v bool) (packed.Cell, error) { return packed.Bool(v), nil })
}

func returnList[T any](c *Call, values []T, cell func(T) (packed.Cell, error)) {
	c.give(newList(c.host, values, cell))
}

// newList makes a list of cells. After an error all of its memory is freed.
func newList[T any](host Host, values []T, cell func(T) (packed.Cell, error)) (list packed.Cell, err error) {
	cells := make([]packed.Cell, 0, len(values))
	defer func() {
		if err != nil {
			dropAll(host, cells)
		}
	}()
	for _, v := range values {
		one, err := cell(v)
		if err != nil {
			return packed.Cell{}, err
		}
		cells = append(cells, one)
	}
	return packed.NewList(host, packed.CodeList, cells)
}

func dropAll(host Host, cells []packed.Cell) {
	for _, c := range cells {
		Drop(host, c)
	}
}

// ReturnNone returns None.
func (c *Call) ReturnNone() { c.give(packed.Null, nil) }

// ReturnBool returns a bool.
func (c *Call) ReturnBool(v bool) { c.give(packed.Bool(v), nil) }

// ReturnInt returns an int.
func (c *Call) ReturnInt(v int64) { c.give(packed.Int(v), nil) }

// ReturnUint returns an int.
func (c *Call) ReturnUint(v uint64) { c.give(packed.Uint(v), nil) }

// ReturnFloat returns a float.
func (c *Call) ReturnFloat(v float64) { c.give(packed.Float(v), nil) }

// ReturnString returns a str. The host rejects text that is not UTF-8.
func (c *Call) ReturnString(v string) { c.give(packed.NewText(c.host, v)) }

// ReturnBytes returns bytes, a copy.
func (c *Call) ReturnBytes(v []byte) { c.give(packed.NewBytes(c.host, v)) }

// ReturnDType returns a dtype.
func (c *Call) ReturnDType(v dlpack.DType) { c.give(packed.DType(v), nil) }

// ReturnDevice returns a device.
func (c *Call) ReturnDevice(v dlpack.Device) { c.give(packed.Device(v), nil) }

// give adds a result. The first error is kept until Do returns.
func (c *Call) give(cell packed.Cell, err error) {
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		return
	}
	c.results = append(c.results, cell)
}

// tensorCell makes a result or a callback's argument from a tensor.
func (c *Call) tensorCell(r *tensor.Record) (packed.Cell, error) {
	if c.ctx != nil {
		t := r.Tensor()
		if m := c.ctx.take(func(output *dlpack.Tensor) bool { return same(output, &t) }); m != nil {
			return packed.Managed(m), nil
		}
	}
	kept := *r // moves to the heap only here, not r
	return c.lend(&kept)
}

// lend makes a cell of the call's own argument, or of a copy, from a tensor. The call keeps its outputs.
func (c *Call) lend(r *tensor.Record) (packed.Cell, error) {
	t := r.Tensor()
	if i := c.argument(&t); i >= 0 {
		return packed.Argument(i), nil
	}
	return c.copyOut(t, r.Flags())
}

// argument returns the number of the argument that is t, or -1.
func (c *Call) argument(t *dlpack.Tensor) int {
	for i := range c.args.Len() {
		if code := c.args.Code(i); code != packed.CodeTensor && code != packed.CodeManaged {
			continue
		}
		if given, err := c.args.At(i).Tensor(); err == nil && same(given, t) {
			return i
		}
	}
	return -1
}

// copyOut copies a tensor into memory of the caller's framework.
func (c *Call) copyOut(t dlpack.Tensor, flags dlpack.Flags) (packed.Cell, error) {
	if !t.Device.Type.HostReadable() {
		return packed.Cell{}, dlpack.Errorf(BufferError, "result: want a whole output, an argument, or memory of the host, got a part of memory on %v", t.Device)
	}
	m, err := c.Ctx().memory(t.DType, dlpack.Device{Type: dlpack.CPU}, t.ShapeSlice())
	if err != nil {
		return packed.Cell{}, err
	}
	if err := tensor.Convert(&m.Tensor, &t, m.Flags.Has(dlpack.SubbytePadded), flags.Has(dlpack.SubbytePadded)); err != nil {
		c.host.Delete(m)
		return packed.Cell{}, err
	}
	return packed.Managed(m), nil
}

// same reports whether two tensors have the same elements at the same addresses.
func same(a, b *dlpack.Tensor) bool {
	if a.DType != b.DType || a.Device != b.Device || a.NDim != b.NDim {
		return false
	}
	dims, others := a.ShapeSlice(), b.ShapeSlice()
	as, bs := a.StridesSlice(), b.StridesSlice()
	empty, step, strides := false, int64(1), true
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != others[i] {
			return false
		}
		empty = empty || dims[i] == 0
		strides = strides && (dims[i] == 1 || strideOr(as, i, step) == strideOr(bs, i, step))
		step *= max(dims[i], 1)
	}
	return empty || strides && a.Start() == b.Start()
}

// strideOr returns stride i, or the compact one if there are no strides.
func strideOr(strides []int64, i int, compact int64) int64 {
	if strides == nil {
		return compact
	}
	return strides[i]
}
