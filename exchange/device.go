package exchange

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// DeviceOf returns the device that a Python object stands for: a Device, a name, a torch.device, a DLPack pair. ok is false
// for other objects; a name or a pair that is not a device is a ValueError.
//
// GIL: held; may run x's Python code.
func DeviceOf(o cpython.Object) (d dlpack.Device, ok bool, err error) {
	switch {
	case o.IsDevice():
		return o.Device(), true, nil
	case o.IsStr():
		d, err = dlpack.ParseDevice(o.StrValue())
		return d, true, err
	case o.Type().Name() == "torch.device":
		d, err = dlpack.ParseDevice(o.Str())
		return d, true, err
	}
	typ, id, ok, err := o.IntPair()
	if !ok {
		return d, false, err
	}
	d, err = dlpack.NewDevice(typ, id)
	return d, true, err
}

// exportedDevice returns the result of x's __dlpack_device__; ok is false if there is none, or if it is not a pair of ints.
// The device type may be one that DLPack does not define.
func exportedDevice(x cpython.Object) (dev dlpack.Device, ok bool) {
	method := x.FindIn("__dlpack_device__")
	defer method.Release()
	if !method.Exists() {
		return dev, false
	}
	pair, err := method.Call(nil)
	if err != nil {
		cpython.ClearError()
		return dev, false
	}
	defer pair.Release()
	typ, id, ok, err := pair.IntPair()
	if err != nil {
		cpython.ClearError()
	}
	return dlpack.Device{Type: dlpack.DeviceType(typ), ID: int32(id)}, ok
}
