package kernel

import (
	"reflect"
	"strings"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// Callable is a function of the caller, usually a Python function. It is valid until the end of the call that passed it. The
// zero Callable is None.
type Callable struct {
	function unsafe.Pointer
	ctx      *Ctx
	call     *Call
}

// Exists reports whether there is a function: false for None.
func (f Callable) Exists() bool { return f.function != nil }

// Call calls the function, from the goroutine that Do runs in; in a function that takes a context.Context, from any. An argument may be nil, a bool, an int, an int64, a uint64, a
// float64, a string, a []byte, a dlpack.DType, a dlpack.Device, a view of a tensor (Of, Mut, DeviceOf, DeviceMut), a pointer to
// an exported type, or a []any of these. A tensor that is an argument of the call is passed on as that argument; of any other
// tensor the function gets a copy.
//
// The result is of the same types, except that an int is an int64, or a uint64 from 2^63 on, and a tensor is a *dlpack.Tensor,
// valid until the call ends, of which tensor.View makes a view. The error is ErrRaised if the function raised an exception:
// return it. The host may refuse a call that continues in spite of it.
func (f Callable) Call(args ...any) (any, error) {
	if f.function == nil {
		return nil, Errorf(TypeError, "want a function to call, got None")
	}
	if f.ctx.over() {
		return nil, errEnded
	}
	if f.ctx.requests == nil {
		return f.invoke(args)
	}
	var result any
	var err error
	if over := f.ctx.requests.do(func() { result, err = f.invoke(args) }); over != nil {
		return nil, over
	}
	return result, err
}

// invoke is Call on the goroutine that may call the host.
func (f Callable) invoke(args []any) (any, error) {
	values, codes := make([]packed.Value, 0, len(args)), make([]packed.Code, 0, len(args))
	for _, arg := range args {
		cell, err := f.call.cellOf(arg)
		if err != nil {
			f.drop(packed.Slices(values, codes, nil))
			return nil, err
		}
		values, codes = append(values, cell.Value), append(codes, cell.Code)
	}
	var value packed.Value
	code := packed.CodeNull
	ret := packed.Ret{Value: &value, Code: &code}
	if err := f.ctx.host.Invoke(f.function, packed.Slices(values, codes, nil), &ret); err != nil {
		return nil, err
	}
	return valueOf(f.call, ret.Get())
}

func (f Callable) drop(args packed.Args) {
	for i := range args.Len() {
		Drop(f.ctx.host, args.At(i))
	}
}

// cellOf converts a value to an argument, which owns the memory it refers to.
func (c *Call) cellOf(value any) (packed.Cell, error) {
	switch v := value.(type) {
	case nil:
		return packed.Null, nil
	case bool:
		return packed.Bool(v), nil
	case int:
		return packed.Int(int64(v)), nil
	case int64:
		return packed.Int(v), nil
	case uint64:
		return packed.Uint(v), nil
	case float64:
		return packed.Float(v), nil
	case dlpack.DType:
		return packed.DType(v), nil
	case dlpack.Device:
		return packed.Device(v), nil
	}
	return c.blockOf(value)
}

// blockOf is cellOf for values that need memory.
func (c *Call) blockOf(value any) (packed.Cell, error) {
	switch v := value.(type) {
	case string:
		return packed.NewText(c.host, v)
	case []byte:
		return packed.NewBytes(c.host, v)
	case []any:
		return newList(c.host, v, c.cellOf)
	case interface{ Record() tensor.Record }:
		r := v.Record()
		return c.lend(&r)
	}
	if class := classOf(value); class != nil {
		if reflect.ValueOf(value).IsNil() {
			return packed.Null, nil
		}
		return objects.give(value, class)
	}
	return packed.Cell{}, Errorf(TypeError, "callback: want an argument of a type that Python has, got a %T", value)
}

// valueOf converts a callback's result to a Go value.
func valueOf(c *Call, cell packed.Cell) (any, error) {
	switch cell.Code {
	case packed.CodeNull:
		return nil, nil
	case packed.CodeBool:
		return cell.Bool()
	case packed.CodeInt, packed.CodeHuge:
		return cell.Int()
	case packed.CodeUint:
		return cell.Uint()
	case packed.CodeFloat:
		return cell.Float()
	case packed.CodeDType:
		return dtypeOf(cell)
	case packed.CodeDevice:
		return deviceOf(cell)
	}
	return objectOf(c, cell)
}

// objectOf is valueOf for values in the host's memory.
func objectOf(c *Call, cell packed.Cell) (any, error) {
	switch cell.Code {
	case packed.CodeText, packed.CodeStr, packed.CodePart:
		text, err := cell.Text()
		return strings.Clone(text), err
	case packed.CodeBytes:
		bytes, err := cell.Bytes()
		return append([]byte{}, bytes...), err
	case packed.CodeList, packed.CodeTuple:
		return listValue(c, cell)
	case packed.CodeArgument:
		i, err := cell.Argument()
		if err == nil && uint(i) >= uint(len(c.fn.Params)) {
			err = Errorf(ValueError, "callback's result: want one of %d arguments, got number %d", len(c.fn.Params), i)
		}
		if err != nil {
			return nil, err
		}
		return valueOf(c, c.cell(i))
	case packed.CodeObject:
		if e := objects.at(cell); e.class != nil {
			return e.value, c.takeObject("the result of a callable", e)
		}
		return nil, Errorf(ValueError, "callback's result: want an object of this library, got another")
	case packed.CodeCallable:
		p, err := cell.Pointer()
		return Callable{p, c.Ctx(), c}, err
	}
	t, err := cell.Tensor()
	if err == nil {
		err = t.Validate()
	}
	if err != nil {
		return nil, dlpack.Wrap(err, "callback's result")
	}
	c.received = append(c.received, t)
	return t, nil
}

func listValue(c *Call, cell packed.Cell) (any, error) {
	list, err := cell.List()
	if err != nil {
		return nil, err
	}
	values := make([]any, list.Len())
	for i := range values {
		if values[i], err = valueOf(c, list.At(i)); err != nil {
			return nil, err
		}
	}
	return values, nil
}
