package kernel

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// Integer lists the Go types that hold an int.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Real lists the Go types that hold a float.
type Real interface{ ~float32 | ~float64 }

// The functions and methods of this file read argument i, counted from 0. They panic if it was declared as something else,
// which is a mistake of Do's author. For None, which an optional argument may be, they return the zero value.

// Of returns a tensor for reading.
func Of[T tensor.Element](c *Call, i int) (v tensor.Of[T]) {
	v.Assume(read[T](c, i))
	return v
}

// Mut returns a tensor for writing, which was declared Mutable.
func Mut[T tensor.Element](c *Call, i int) (v tensor.Mut[T]) {
	v.Assume(c.writable(i, read[T](c, i)))
	return v
}

// DeviceOf returns a tensor for reading, whose memory the host may be unable to access.
func DeviceOf[T tensor.Element](c *Call, i int) (v tensor.DeviceOf[T]) {
	v.Assume(c.typed(i, tensor.DTypeOf[T]()))
	return v
}

// DeviceMut returns a tensor for writing, whose memory the host may be unable to access; it was declared Mutable.
func DeviceMut[T tensor.Element](c *Call, i int) (v tensor.DeviceMut[T]) {
	v.Assume(c.writable(i, c.typed(i, tensor.DTypeOf[T]())))
	return v
}

// Tensor returns the record of a tensor of any type, and its flags; nil for None. The record is borrowed. Only tensors declared
// Mutable may be written; those declared Untyped may be unaligned, or packed below a byte.
func (c *Call) Tensor(i int) (*dlpack.Tensor, dlpack.Flags) {
	t := c.tensor(i)
	if t == nil || c.conversion(position{i, -1}) != nil || i >= c.args.Len() {
		return t, 0
	}
	return t, c.args.FlagsAt(i) &^ packed.Checked
}

// read returns the record of a tensor of elements T in the host's memory.
func read[T tensor.Element](c *Call, i int) *dlpack.Tensor {
	if t := c.readBefore(i, typeOf[T]()); t != nil {
		return t
	}
	return c.readable(i, tensor.DTypeOf[T](), typeOf[T]())
}

// typeOf returns the word that represents *T in an interface.
func typeOf[T any]() unsafe.Pointer {
	p := any((*T)(nil))
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// readBefore returns the record of argument i, if it was read as the same Go type before and is declared with one dtype only:
// no further check is needed then.
func (c *Call) readBefore(i int, as unsafe.Pointer) *dlpack.Tensor {
	if atomic.LoadPointer(&c.fn.plan.params[i].read) != as || c.converted != nil {
		return nil
	}
	return c.args.Plain(i, packed.Checked)
}

// typed returns the record of tensor argument i, after a check of its dtype.
func (c *Call) typed(i int, as dlpack.DType) *dlpack.Tensor {
	if t := c.args.Plain(i, packed.Checked); t != nil && t.DType == as && c.converted == nil {
		return t // the usual case
	}
	t := c.tensor(i)
	if t != nil && t.DType != as {
		panic(c.misread(i, "a tensor of "+as.String()))
	}
	return t
}

// readable is typed for memory that the host will read as elements of a Go type.
func (c *Call) readable(i int, as dlpack.DType, goType unsafe.Pointer) *dlpack.Tensor {
	s := &c.fn.plan.params[i]
	if !s.host {
		panic(c.misread(i, "memory of the host"))
	}
	t := c.typed(i, as)
	if len(s.DTypes) == 1 && s.DTypes[0] == as {
		atomic.StorePointer(&s.read, goType)
	}
	return t
}

// writable returns t, if argument i was declared Mutable.
func (c *Call) writable(i int, t *dlpack.Tensor) *dlpack.Tensor {
	if !c.fn.plan.params[i].Mutable {
		panic(c.misread(i, "what may be written"))
	}
	return t
}

// OfList returns a list of tensors for reading.
func OfList[T tensor.Element](c *Call, i int) []tensor.Of[T] {
	views := make([]tensor.Of[T], c.elements(i).Len())
	for k := range views {
		views[k].Assume(c.typedElement(i, k, tensor.DTypeOf[T](), false))
	}
	return views
}

// MutList returns a list of tensors for writing.
func MutList[T tensor.Element](c *Call, i int) []tensor.Mut[T] {
	views := make([]tensor.Mut[T], c.elements(i).Len())
	for k := range views {
		views[k].Assume(c.typedElement(i, k, tensor.DTypeOf[T](), true))
	}
	return views
}

// typedElement is readable or writable for an element of a list.
func (c *Call) typedElement(i, k int, as dlpack.DType, mutable bool) *dlpack.Tensor {
	s, t := c.fn.plan.params[i].elem, c.element(i, k)
	if !s.host || mutable && !s.Mutable || t.DType != as {
		panic(c.misread(i, "a list of tensors of "+as.String()))
	}
	return t
}

// misread returns the panic's text for a Do that reads an argument as another type than declared.
func (c *Call) misread(i int, as string) string {
	s := &c.fn.plan.params[i]
	return "kernel: " + s.Name + " was declared as " + s.want + ", and read as " + as
}

// Int returns an int. Only the declaration (Param.Bits) ensures that it fits in T.
func Int[T Integer](c *Call, i int) T {
	v, err := integer(c.cell(i))
	return T(orZero(c, i, v, err))
}

// integer reads an int that was checked: only one declared as a uint64 exceeds an int64.
func integer(cell packed.Cell) (int64, error) {
	if cell.Code == packed.CodeUint {
		v, err := cell.Uint()
		return int64(v), err
	}
	return cell.Int()
}

// Float returns a float.
func Float[T Real](c *Call, i int) T {
	v, err := c.cell(i).Float()
	return T(orZero(c, i, v, err))
}

// Ints returns a list of ints, a copy.
func Ints[T Integer](c *Call, i int) []T {
	if t := c.array(i); t != nil {
		return intsOf[T](c, i, t)
	}
	return listOf(c, i, func(cell packed.Cell) (T, error) {
		v, err := integer(cell)
		return T(v), err
	})
}

// Floats returns a list of floats, a copy.
func Floats[T Real](c *Call, i int) []T {
	if t := c.array(i); t != nil {
		return floatsOf[T](t)
	}
	return listOf(c, i, func(cell packed.Cell) (T, error) {
		v, err := cell.Float()
		return T(v), err
	})
}

// Strings returns a list of strings, a copy.
func (c *Call) Strings(i int) []string {
	var copies copier
	return listOf(c, i, func(cell packed.Cell) (string, error) {
		v, err := cell.Text()
		return copies.clone(v), err
	})
}

// A copier copies strings, short ones together: an allocation for each would take longer than all else. A string that is kept
// keeps at most 4096 bytes.
type copier struct{ room []byte }

func (c *copier) clone(s string) string {
	if len(s) > 256 {
		return strings.Clone(s)
	}
	if len(s) > len(c.room) {
		c.room = make([]byte, 4096)
	}
	n := copy(c.room, s)
	copied := c.room[:n]
	c.room = c.room[n:]
	return unsafe.String(unsafe.SliceData(copied), n)
}

// Bools returns a list of bools, a copy.
func (c *Call) Bools(i int) []bool {
	if t := c.array(i); t != nil {
		return boolsOf(t)
	}
	return listOf(c, i, packed.Cell.Bool)
}

func listOf[T any](c *Call, i int, read func(packed.Cell) (T, error)) []T {
	list := c.elements(i)
	values := make([]T, list.Len())
	for k := range values {
		v, err := read(list.At(k))
		values[k] = orZero(c, i, v, err)
	}
	return values
}

// Bool returns a bool.
func (c *Call) Bool(i int) bool {
	v, err := c.cell(i).Bool()
	return orZero(c, i, v, err)
}

// String returns a str, a copy that may be kept.
func (c *Call) String(i int) string {
	v, err := c.cell(i).Text()
	return strings.Clone(orZero(c, i, v, err))
}

// Bytes returns bytes in the caller's memory: they are valid until Do returns, and must not be written.
func (c *Call) Bytes(i int) []byte {
	v, err := c.cell(i).Bytes()
	return orZero(c, i, v, err)
}

// DType returns a dtype.
func (c *Call) DType(i int) dlpack.DType {
	v, err := dtypeOf(c.cell(i))
	return orZero(c, i, v, err)
}

// Device returns a device.
func (c *Call) Device(i int) dlpack.Device {
	v, err := deviceOf(c.cell(i))
	return orZero(c, i, v, err)
}

// Callable returns a function of the caller. It is valid until Do returns.
func (c *Call) Callable(i int) Callable {
	v, err := c.cell(i).Pointer()
	if orZero(c, i, v, err) == nil {
		return Callable{}
	}
	return Callable{v, c.Ctx(), c}
}

// orZero returns v, or the zero value for None.
func orZero[T any](c *Call, i int, v T, err error) T {
	if err != nil && c.Given(i) {
		panic(c.misread(i, fmt.Sprintf("%T", v)))
	}
	return v
}

// Given reports whether argument i is not None.
func (c *Call) Given(i int) bool { return c.cell(i).Code != packed.CodeNull }

// Passed reports whether the caller passed argument i, which otherwise has its default.
func (c *Call) Passed(i int) bool {
	return i < c.args.Len() && c.args.Code(i) != packed.CodeDefault
}

// TypeOf returns the dtype of tensor argument i, for functions of several dtypes: the one that its type variable is bound to,
// or its own. A variable that no argument has bound, since all were None or empty lists, is the first dtype that the argument
// accepts. The result is the zero DType for None without a variable.
func (c *Call) TypeOf(i int) dlpack.DType {
	s := &c.fn.plan.params[i]
	t := (*dlpack.Tensor)(nil)
	if s.Kind == KindList {
		s = s.elem
		if c.elements(i).Len() > 0 {
			t = c.element(i, 0)
		}
	} else {
		t = c.tensor(i)
	}
	switch {
	case t != nil:
		return t.DType
	case s.variable >= 0 && c.vars[s.variable].Lanes != 0:
		return c.vars[s.variable]
	case s.variable >= 0 && len(s.DTypes) > 0:
		return s.DTypes[0]
	}
	return dlpack.DType{}
}

// cell returns argument i, or its default.
func (c *Call) cell(i int) packed.Cell {
	if c.Passed(i) {
		return c.args.At(i)
	}
	return c.fn.plan.params[i].Default.cell
}

// tensor returns the record that the function gets as argument i, nil for None.
func (c *Call) tensor(i int) *dlpack.Tensor {
	if t := c.conversion(position{i, -1}); t != nil {
		return t
	}
	t, err := c.cell(i).Tensor()
	if err != nil {
		panic(c.misread(i, "a tensor"))
	}
	return t
}

// elements returns the list in argument i, empty for None.
func (c *Call) elements(i int) packed.Args {
	list, err := c.cell(i).List()
	return orZero(c, i, list, err)
}

// element returns the record that the function gets as element k of argument i.
func (c *Call) element(i, k int) *dlpack.Tensor {
	if t := c.conversion(position{i, k}); t != nil {
		return t
	}
	t, err := c.elements(i).At(k).Tensor()
	if err != nil {
		panic(c.misread(i, "a tensor"))
	}
	return t
}

// conversion returns the latest conversion of a tensor, nil if the function gets it unchanged.
func (c *Call) conversion(at position) *dlpack.Tensor {
	for _, v := range slices.Backward(c.converted) {
		if v.position == at {
			return v.tensor
		}
	}
	return nil
}
