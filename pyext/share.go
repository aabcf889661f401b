package pyext

import (
	"godlpack/capsule"
	"godlpack/exchange"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

// share makes a Tensor over the memory of a tensor of any DLPack library, a DLPack capsule, or an object with the buffer
// protocol or an array interface. shares is false for other objects; then there is no error.
func share(x cpython.Object, r exchange.Request) (o cpython.Object, shares bool, err error) {
	typ := x.Type().Retain() // attributes are looked up on the type: if x is a class, its own are descriptors for its objects
	defer typ.Release()
	switch {
	case exports(x):
		o, err = exchange.Import(x, r)
		return o, true, err
	case x.HasBuffer():
		o, err = fromBuffer(x)
	case describes(x, typ, "__array_interface__"):
		o, err = fromInterface(x)
	case describes(x, typ, "__cuda_array_interface__"):
		o, err = fromCUDAInterface(x)
	default:
		return cpython.Object{}, false, nil
	}
	if err != nil || r.Copy != capsule.CopyAlways {
		return o, true, err
	}
	defer o.Release()
	t, _ := cpython.TensorOf(o)
	o, err = memory.Clone(t)
	return o, true, err
}

// describes reports whether x has an array interface: usually by its type, or as an attribute of the object, which NumPy
// accepts, too.
func describes(x, typ cpython.Object, interfaceName string) bool {
	return typ.Has(interfaceName) || !x.IsType() && x.Has(interfaceName)
}

// exports reports whether an object exports its memory by DLPack.
func exports(x cpython.Object) bool {
	return x.Type().Has("__dlpack__") || x.IsCapsule() || exchange.Find(x.Type()).Exists()
}
