package pyext

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/exchange"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
	"godlpack/packed"
)

func init() {
	cpython.Handle(cpython.OpFunctionArgument, func(c *cpython.Call) (cpython.Object, error) {
		writes, err := c.Arg(2).Truth()
		if err != nil {
			return cpython.Object{}, err
		}
		o, err := texts(c)
		if !o.Exists() && err == nil {
			o, err = coerce(c.Arg(0), writes)
		}
		if errors.Is(err, errUnfit) {
			err = unfit(c)
		}
		return o, argumentOf(c, c.Arg(1), err)
	})
	cpython.Handle(cpython.OpFunctionLike, tryLike)
	cpython.Handle(cpython.OpFunctionOut, func(c *cpython.Call) (cpython.Object, error) {
		args, outs := listAt(c.Arg(0)), listAt(c.Arg(1))
		want, _, err := c.Arg(2).Int64()
		if err != nil {
			return cpython.Object{}, err
		}
		if cell := outs.At(0); cell.Code == packed.CodeList {
			if outs, err = cell.List(); err != nil {
				return cpython.Object{}, err
			}
		}
		may, err := mayOffer(args, outs, int(want))
		if err != nil {
			return cpython.Object{}, wrap(err, c, "argument 'out'")
		}
		return cpython.Bool(may), nil
	})
	cpython.Handle(cpython.OpFunctionAllocate, allocate)
	cpython.Handle(cpython.OpFunctionLearnTorch, func(*cpython.Call) (cpython.Object, error) {
		exchange.LearnTorch()
		return cpython.None(), nil
	})
	cpython.Handle(cpython.OpFunctionConvert, func(c *cpython.Call) (cpython.Object, error) {
		t, _ := cpython.TensorOf(c.Arg(0))
		if !exchange.CanConvertTo(c.Arg(1)) { // a producer that imports no tensors
			return c.Arg(0).Retain(), nil
		}
		return exchange.Convert(t, c.Arg(1))
	})
	cpython.Handle(cpython.OpFunctionFill, func(c *cpython.Call) (cpython.Object, error) {
		if err := fill(c.Arg(0), c.Arg(1), c.Arg(2)); err != nil {
			return cpython.Object{}, wrap(err, c, "argument 'out'")
		}
		return cpython.None(), nil
	})
}

// allocate makes memory for a result on a device; shape, dtype and device are the arguments.
func allocate(c *cpython.Call) (cpython.Object, error) {
	context := callee(c) + "(): a result"
	dims, err := parseShape(c.Arg(0), context)
	if err != nil {
		return cpython.Object{}, err
	}
	dtype, err := parseDType(c.Arg(1), context)
	if err != nil {
		return cpython.Object{}, err
	}
	device, err := parseDevice(c.Arg(2), context)
	if err != nil {
		return cpython.Object{}, err
	}
	o, err := memory.New(dtype, dims, false, *device)
	return o, dlpack.Wrap(err, context)
}

// callee returns the name of the library function that is being called.
func callee(c *cpython.Call) string {
	name := c.Self.Find("__qualname__")
	defer name.Release()
	return name.Str()
}

// argumentOf adds the name of the argument to an error; None as name means the result of a callable.
func argumentOf(c *cpython.Call, name cpython.Object, err error) error {
	switch {
	case err == nil || errors.Is(err, cpython.ErrRaised):
		return err
	case name.IsNone():
		return wrap(err, c, "the result of a callable")
	}
	return wrap(err, c, "argument '"+name.Str()+"'")
}

// wrap prefixes an error with the function's name and the part of the call. ErrRaised is returned unchanged, since nothing may
// be read from Python while an exception is pending.
func wrap(err error, c *cpython.Call, what string) error {
	if err == nil || errors.Is(err, cpython.ErrRaised) {
		return err
	}
	return dlpack.Wrap(err, callee(c)+"(): "+what)
}

// errUnfit is the error for an object that no kind of parameter takes.
var errUnfit = dlpack.Errorf(dlpack.KindType, "want a tensor")

// unfit returns the error for an argument that no kind of parameter takes, with what its parameter wants.
func unfit(c *cpython.Call) error {
	x, want := c.Arg(0), wanted(c)
	got := x.Type().Name()
	inList, err := c.Arg(3).Truth()
	if err != nil {
		return err
	}
	switch {
	case want == "":
		want = "a tensor, a number, a str, bytes, a list, a callable or None"
	case strings.Contains(want, "str") && x.Type().Has("__fspath__"):
		got += ": pass its text (os.fspath(x))"
	case inList:
		got += " in a list"
	case strings.HasPrefix(want, "list") && x.Type().Has("__iter__") && !x.Type().Has("keys"):
		got += ": pass a list (list(x))"
	}
	return dlpack.Errorf(dlpack.KindType, "want %s, got %s", want, got)
}

// wanted returns the text of what an argument's parameter wants; empty if that is not known.
func wanted(c *cpython.Call) string {
	module, err := cpython.Import("godlpack._library")
	if err != nil {
		cpython.ClearError()
		return ""
	}
	defer module.Release()
	want, err := module.CallMethod("wanted", []cpython.Object{c.Self, c.Arg(1)})
	if err != nil {
		cpython.ClearError()
		return ""
	}
	defer want.Release()
	if want.IsNone() {
		return ""
	}
	return want.Str()
}

// coerce converts an argument to an object that the fast path handles: a Tensor for the time of the call, a number, a tuple, a
// DType or a Device. A class that is not a dtype stays as it is: the fast path treats it as a callable.
func coerce(x cpython.Object, writes bool) (cpython.Object, error) {
	if d, ok, err := exchange.DTypeOf(x); err != nil {
		return cpython.Object{}, err
	} else if ok {
		return cpython.TensorDType(d)
	}
	if x.IsType() {
		return x.Retain(), nil
	}
	if x.Type().Name() == "torch.device" {
		d, _, err := exchange.DeviceOf(x)
		if err != nil {
			return cpython.Object{}, err
		}
		return cpython.TensorDevice(d)
	}
	if o, err := plainNumber(x); o.Exists() || err != nil {
		return o, err
	}
	if !exports(x) && !x.HasBuffer() {
		if o, err := listed(x); o.Exists() || err != nil {
			return o, err
		}
	}
	return lend(x, exchange.Request{Reads: !writes, Writes: writes})
}

// texts makes a tuple of an array whose elements are wanted as texts: of NumPy, of pandas, of Arrow. The zero Object if it is none
// of these, or if something else is wanted.
func texts(c *cpython.Call) (cpython.Object, error) {
	x := c.Arg(0)
	i := slices.IndexFunc(toLists, x.Type().Has)
	if i < 0 || x.IsType() || !strings.HasPrefix(wanted(c), "list of str") {
		return cpython.Object{}, nil
	}
	list, err := x.CallMethod(toLists[i], nil)
	if err != nil {
		return cpython.Object{}, err
	}
	defer list.Release()
	if !list.Type().Has("append") { // an array without axes is no list
		return cpython.Object{}, nil
	}
	return list.AsTuple()
}

// toLists are the methods that make a list of an array: pyarrow's, NumPy's, polars'.
var toLists = []string{"to_pylist", "tolist", "to_list"}

// listed makes a tuple of a sequence such as a range or a deque; the zero Object if x is not a sequence.
func listed(x cpython.Object) (cpython.Object, error) {
	class := cpython.Imported("collections.abc").FindIn("Sequence")
	defer class.Release()
	if !class.Exists() || !x.IsInstance(class) {
		return cpython.Object{}, nil
	}
	return x.AsTuple()
}

// plainNumber makes a Python number of a number of another type, such as a NumPy scalar or a fraction; the zero Object for
// other objects.
func plainNumber(x cpython.Object) (cpython.Object, error) {
	scalar := cpython.Imported("numpy").FindIn("generic")
	defer scalar.Release()
	if scalar.Exists() && x.IsInstance(scalar) {
		item, err := x.CallMethod("item", nil)
		if err != nil || item.IsInt() || item.IsFloat() {
			return item, err
		}
		item.Release()
		return cpython.Object{}, errUnfit
	}
	if exports(x) {
		return cpython.Object{}, nil
	}
	if x.IsIndex() {
		return x.Index()
	}
	if !x.Type().Has("__float__") {
		return cpython.Object{}, nil
	}
	v, err := x.Float64()
	if err != nil {
		return cpython.Object{}, err
	}
	return cpython.Float(v), nil
}

// lend makes a Tensor over the memory of an object, for the time of a call.
func lend(x cpython.Object, r exchange.Request) (cpython.Object, error) {
	o, shares, err := share(x, r)
	if err == nil && !shares {
		err = errUnfit
	}
	return o, err
}

// tryLike makes a small tensor of the type that like= names, so that an error comes before the work, and the type has a plan.
func tryLike(c *cpython.Call) (cpython.Object, error) {
	like := c.Arg(0)
	typ := like
	if !like.IsType() {
		typ = like.Type()
	}
	typ = typ.Retain()
	defer typ.Release()
	if !exchange.CanConvertTo(typ) {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindType, "%s(): argument 'like': want an array type or an array, got %s", callee(c), like.Repr())
	}
	o, err := cpython.NewTensor(dlpack.Float32, []int64{1}, false, true)
	if err != nil {
		return o, err
	}
	defer o.Release()
	t, _ := cpython.TensorOf(o)
	made, err := exchange.Convert(t, typ)
	if err != nil {
		return made, wrap(err, c, "argument 'like'")
	}
	return made, nil
}

// listAt returns the packed values at an address.
func listAt(address cpython.Object) packed.Args {
	l := (*packed.List)(address.Pointer())
	return packed.View(unsafe.Pointer(l.Values), unsafe.Pointer(l.Codes), unsafe.Pointer(l.Flags), int(l.N))
}

// mayOffer checks the tensors of out=, and reports whether the function may write its output there directly: there is only
// one, it is aligned and C-contiguous like a new one, and no argument shares its memory.
func mayOffer(args, outs packed.Args, want int) (bool, error) {
	if want < 0 {
		return false, dlpack.Errorf(dlpack.KindType, "the function returns a list of tensors, which cannot be written to given memory")
	}
	if outs.Len() != want {
		return false, dlpack.Errorf(dlpack.KindValue, "want %d tensors, got %d", want, outs.Len())
	}
	tensors := make([]*dlpack.Tensor, want)
	for i := range tensors {
		t, err := writable(outs, i)
		if err != nil {
			return false, err
		}
		for k, other := range tensors[:i] {
			if dlpack.Overlap(t, other) {
				return false, dlpack.Errorf(dlpack.KindValue, "want memory of its own for each result, got tensors %d and %d that share memory; pass a copy of one", k, i)
			}
		}
		tensors[i] = t
	}
	if want != 1 {
		return false, nil
	}
	t := tensors[0]
	return t.Aligned() && dlpack.IsContiguous(t.ShapeSlice(), t.StridesSlice(), 'C') && !meets(args, t), nil
}

// writable returns tensor i of out=, if it is writable and no two of its elements share memory.
func writable(outs packed.Args, i int) (*dlpack.Tensor, error) {
	if outs.Code(i) != packed.CodeTensor {
		return nil, dlpack.Errorf(dlpack.KindType, "want a tensor, got %s", outs.Code(i))
	}
	if outs.FlagsAt(i).Has(dlpack.ReadOnly) {
		return nil, dlpack.Errorf(dlpack.KindBuffer, "the tensor is read-only")
	}
	t, err := outs.At(i).Tensor()
	if err == nil && dlpack.SelfOverlap(t.ShapeSlice(), t.StridesSlice()) {
		err = dlpack.Errorf(dlpack.KindValue, "want memory of its own for each element, got shape %v with strides %v, where some share memory; pass a new tensor, or a copy",
			slices.Clone(t.ShapeSlice()), slices.Clone(t.StridesSlice()))
	}
	return t, err
}

// meets reports whether an argument, or an item of a list, shares memory with t.
func meets(args packed.Args, t *dlpack.Tensor) bool {
	for i := range args.Len() {
		switch cell := args.At(i); cell.Code {
		case packed.CodeTensor:
			if x, err := cell.Tensor(); err == nil && dlpack.Overlap(x, t) {
				return true
			}
		case packed.CodeList:
			if list, err := cell.List(); err == nil && meets(list, t) {
				return true
			}
		}
	}
	return false
}

// fill copies the elements of from into out, of the same dtype and shape; if outs is a tuple, out is one of its items.
func fill(out, from, outs cpython.Object) error {
	to, err := lend(out, exchange.Request{Writes: true})
	if err != nil {
		return err
	}
	defer to.Release()
	x, err := lend(from, exchange.Request{Reads: true})
	if err != nil {
		return err
	}
	defer x.Release()
	dst, _ := cpython.TensorOf(to)
	src, _ := cpython.TensorOf(x)
	d, s := dst.Record(), src.Record()
	switch {
	case d.DType != s.DType || dst.Padded() != src.Padded() || !slices.Equal(d.ShapeSlice(), s.ShapeSlice()):
		return dlpack.Errorf(dlpack.KindValue, "want %s, got %s", describeTensor(s), describeTensor(d))
	case d.Device != s.Device:
		return dlpack.Errorf(dlpack.KindBuffer, "want %s, got %s", describeTensor(s), describeTensor(d))
	}
	if err := unspoilt(src, out, outs); err != nil {
		return err
	}
	return memory.Overwrite(dst, src)
}

// unspoilt refuses a result that shares memory with one of outs that was filled before out, and so was overwritten. Such a
// result is an argument, too.
func unspoilt(src cpython.Tensor, out, outs cpython.Object) error {
	if !outs.IsTuple() {
		return nil
	}
	before, err := outs.Items()
	if err != nil {
		return err
	}
	defer cpython.ReleaseAll(before)
	for _, o := range before {
		if o == out {
			return nil
		}
		x, err := lend(o, exchange.Request{Reads: true})
		if err != nil {
			return err
		}
		filled, _ := cpython.TensorOf(x)
		spoilt := dlpack.Overlap(filled.Record(), src.Record())
		x.Release()
		if spoilt {
			return dlpack.Errorf(dlpack.KindValue, "want memory that no argument shares, since the function also returns an argument; pass a copy")
		}
	}
	return nil
}

func describeTensor(t *dlpack.Tensor) string {
	dims := strings.ReplaceAll(fmt.Sprint(t.ShapeSlice()), " ", ", ")
	return fmt.Sprintf("%s%s on %s", t.DType, dims, t.Device)
}
