package pyext

import (
	"godlpack/capsule"
	"godlpack/dlpack"
	"godlpack/exchange"
	"godlpack/internal/cpython"
)

var (
	signFromDLPack = cpython.Sign("from_dlpack(x, /, *, device=?, copy=?)")
	signAsArray    = cpython.Sign("asarray(obj, /, *, dtype=?, copy=?)")
	signTo         = cpython.Sign("to(like, /)")
)

func init() {
	cpython.Handle(cpython.OpFromDLPack, fromDLPack)
	cpython.Handle(cpython.OpImportAnswer, func(c *cpython.Call) (cpython.Object, error) {
		return exchange.TakeAnswer(c.Self, c.Arg(0))
	})
	cpython.Handle(cpython.OpAsArray, asArray)
	cpython.Handle(cpython.OpWrapManaged, wrapManaged)
	cpython.Handle(cpython.OpTensorTo, to)
	cpython.Handle(cpython.OpTensorDLPack, func(c *cpython.Call) (cpython.Object, error) {
		request, err := capsule.ParseRequest(c)
		if err != nil {
			return cpython.Object{}, err
		}
		return capsule.Export(c.Tensor(), request)
	})
}

func fromDLPack(c *cpython.Call) (cpython.Object, error) {
	args, err := signFromDLPack.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	var r exchange.Request
	if r.Device, err = parseDevice(args[1], "from_dlpack"); err != nil {
		return cpython.Object{}, err
	}
	if r.Copy, err = capsule.ParseCopy(args[2]); err != nil {
		return cpython.Object{}, err
	}
	return exchange.Import(args[0], r)
}

// wrapManaged imports a managed tensor for the exchange table, if the tensor is not plain enough for the fast path. On error
// the managed tensor stays the caller's (R56).
func wrapManaged(c *cpython.Call) (cpython.Object, error) {
	m := cpython.ManagedAt(c.Arg(0))
	if err := capsule.Check(m); err != nil {
		return cpython.Object{}, err
	}
	taken, err := capsule.Wrap(m)
	return taken.Tensor, err
}

func to(c *cpython.Call) (cpython.Object, error) {
	args, err := signTo.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	like := args[0]
	if like.IsStr() || like.IsDevice() {
		device, err := parseDevice(like, "to")
		if err != nil {
			return cpython.Object{}, err
		}
		return exchange.Move(c.Tensor(), *device)
	}
	return exchange.Convert(c.Tensor(), like)
}

func asArray(c *cpython.Call) (cpython.Object, error) {
	args, err := signAsArray.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	copying, err := capsule.ParseCopy(args[2])
	if err != nil {
		return cpython.Object{}, err
	}
	o, shares, err := share(args[0], exchange.Request{Copy: copying})
	switch {
	case err != nil:
		return o, err
	case !shares:
		return o, argument(dlpack.KindType, "asarray", "obj", "want a tensor, a DLPack capsule, or an object with the buffer protocol, __array_interface__ or __cuda_array_interface__, got %s", args[0].Type().Name())
	case !args[1].Given():
		return o, nil
	}
	d, err := parseDType(args[1], "asarray")
	t, _ := cpython.TensorOf(o)
	if err == nil && t.Record().DType == d {
		return o, nil
	}
	defer o.Release()
	if err == nil && copying == capsule.CopyNever {
		err = argument(dlpack.KindBuffer, "asarray", "dtype", "converting %s to %s needs a copy, and copy=False", t.Record().DType, d)
	}
	if err != nil {
		return cpython.Object{}, err
	}
	return asType(t, d)
}
