package pyext

import (
	"godlpack/dlpack"
	"godlpack/exchange"
	"godlpack/internal/cpython"
)

var (
	signDType  = cpython.Sign("DType(x, /)")
	signDevice = cpython.Sign("Device(x, /, id=?)")
)

func init() {
	cpython.Handle(cpython.OpMakeDType, func(c *cpython.Call) (cpython.Object, error) {
		key, _ := c.Arg(0).Uint64()
		return cpython.NewDType(dtypeOfKey(key))
	})
	cpython.Handle(cpython.OpNumPyDType, func(c *cpython.Call) (cpython.Object, error) {
		key, _ := c.Arg(0).Uint64()
		return exchange.NumPyDType(dtypeOfKey(key), key>>32 != 0)
	})
	cpython.Handle(cpython.OpMakeDevice, func(c *cpython.Call) (cpython.Object, error) {
		key, _ := c.Arg(0).Uint64()
		return makeDevice(dlpack.Device{Type: dlpack.DeviceType(key), ID: int32(key >> 32)})
	})
	cpython.Handle(cpython.OpDTypeNew, newDTypeObject)
	cpython.Handle(cpython.OpDeviceNew, newDeviceObject)
	cpython.Handle(cpython.OpDTypeCompare, func(c *cpython.Call) (cpython.Object, error) {
		d, ok, err := exchange.DTypeOf(c.Arg(0))
		return equality(ok, err == nil && d == c.Self.DType())
	})
	cpython.Handle(cpython.OpDeviceCompare, compareDevice)
	cpython.Handle(cpython.OpDTypeReduce, func(c *cpython.Call) (cpython.Object, error) {
		return byName(c.Self, c.Self.DType().String())
	})
	cpython.Handle(cpython.OpDeviceReduce, func(c *cpython.Call) (cpython.Object, error) {
		return byName(c.Self, c.Self.Device().String())
	})
}

// dtypeOfKey returns the dtype of a key of C's caches.
func dtypeOfKey(key uint64) dlpack.DType {
	return dlpack.DType{Code: dlpack.Code(key), Bits: uint8(key >> 8), Lanes: uint16(key >> 16)}
}

// compareDevice compares a Device with another library's, or with a str that is exactly its name: equal objects must have the
// same hash, so "cuda" and DLPack's pairs are not equal to Device("cuda:0").
func compareDevice(c *cpython.Call) (cpython.Object, error) {
	other := c.Arg(0)
	switch {
	case other.IsStr():
		return cpython.Bool(other.StrValue() == c.Self.Device().String()), nil
	case other.IsTuple():
		return cpython.NotImplemented(), nil
	}
	d, ok, err := exchange.DeviceOf(other)
	return equality(ok, err == nil && d == c.Self.Device())
}

// equality returns the result of a comparison: NotImplemented, for the other operand to decide, if the objects are not
// comparable.
func equality(comparable, equal bool) (cpython.Object, error) {
	if !comparable {
		return cpython.NotImplemented(), nil
	}
	return cpython.Bool(equal), nil
}

// byName pickles a descriptor as a call of its type with its name.
func byName(descriptor cpython.Object, name string) (cpython.Object, error) {
	text, err := cpython.Str(name)
	if err != nil {
		return text, err
	}
	defer text.Release()
	args, err := cpython.TupleOf([]cpython.Object{text})
	if err != nil {
		return args, err
	}
	defer args.Release()
	return cpython.TupleOf([]cpython.Object{descriptor.Type(), args})
}

func newDTypeObject(c *cpython.Call) (cpython.Object, error) {
	args, err := signDType.Bind(c.Unpack())
	if err != nil {
		return cpython.Object{}, err
	}
	d, ok, err := exchange.DTypeOf(args[0])
	if err != nil {
		return cpython.Object{}, dlpack.Wrap(err, "DType()")
	}
	if !ok {
		return cpython.Object{}, argument(dlpack.KindType, "DType", "x", "want a name or another library's dtype, got %s", args[0].Repr())
	}
	return cpython.TensorDType(d)
}

func newDeviceObject(c *cpython.Call) (cpython.Object, error) {
	args, err := signDevice.Bind(c.Unpack())
	if err != nil {
		return cpython.Object{}, err
	}
	d, err := deviceArgument(args[0], args[1])
	if err != nil {
		return cpython.Object{}, dlpack.Wrap(err, "Device()")
	}
	return cpython.TensorDevice(d)
}

// deviceArgument parses the arguments of Device: an object that names a device, or a type and an id.
func deviceArgument(x, id cpython.Object) (dlpack.Device, error) {
	if x.IsIndex() {
		typ, err := parseInt(x, "Device", "x")
		if err != nil || !id.Given() {
			return dlpack.Device{Type: dlpack.DeviceType(typ)}, errOr(err, typ)
		}
		n, err := parseInt(id, "Device", "id")
		if err != nil {
			return dlpack.Device{}, err
		}
		return dlpack.NewDevice(typ, n)
	}
	d, ok, err := exchange.DeviceOf(x)
	switch {
	case err != nil:
		return d, err
	case !ok:
		return d, dlpack.Errorf(dlpack.KindType, "want a name such as 'cuda:0' or a DeviceType, got %s", x.Repr())
	case id.Given():
		return d, dlpack.Errorf(dlpack.KindType, "an id needs a DeviceType before it, got %s", x.Repr())
	}
	return d, nil
}

func errOr(err error, typ int64) error {
	if err != nil {
		return err
	}
	_, err = dlpack.NewDevice(typ, 0)
	return err
}

// makeDevice makes a Device with its DeviceType, an IntEnum of godlpack's Python code; a type that is not in DLPack stays
// a number.
func makeDevice(d dlpack.Device) (cpython.Object, error) {
	module, err := cpython.Import("godlpack._device")
	if err != nil {
		return module, err
	}
	defer module.Release()
	number := cpython.Int(int64(d.Type))
	defer number.Release()
	kind, err := module.CallMethod("DeviceType", []cpython.Object{number})
	if err != nil {
		cpython.ClearError()
		kind = number.Retain()
	}
	defer kind.Release()
	return cpython.NewDevice(d, kind)
}
