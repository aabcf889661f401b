// Command functions is the library that bench/functions.py times: functions that do next to nothing.
package main

import (
	"godlpack/dlpack"
	"godlpack/kernel"
	_ "godlpack/library"
)

func main() {}

func tensors(names ...string) []kernel.Param {
	params := make([]kernel.Param, len(names))
	for i, name := range names {
		params[i] = kernel.Param{Name: name, Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32}}
	}
	return params
}

// anywhere are tensors on any device.
func anywhere(names ...string) []kernel.Param {
	params := tensors(names...)
	for i := range params {
		params[i].Device = "any"
	}
	return params
}

func init() {
	nothing := func(*kernel.Call) error { return nil }
	three := func(c *kernel.Call) error {
		_, _, _ = kernel.Of[float32](c, 0), kernel.Of[float32](c, 1), kernel.Of[float32](c, 2)
		return nil
	}
	kernel.Register(kernel.Func{Name: "nop0", Do: nothing})
	kernel.Register(kernel.Func{Name: "nop3", Params: tensors("x", "y", "z"), Do: three})
	kernel.Register(kernel.Func{Name: "held0", HoldGIL: true, Do: nothing})
	kernel.Register(kernel.Func{Name: "held3", HoldGIL: true, Params: tensors("x", "y", "z"), Do: three})
	kernel.Register(kernel.Func{Name: "device3", Params: anywhere("x", "y", "z"), Do: func(c *kernel.Call) error {
		_, _, _ = kernel.DeviceOf[float32](c, 0), kernel.DeviceOf[float32](c, 1), kernel.DeviceOf[float32](c, 2)
		return nil
	}})
	kernel.Register(kernel.Func{Name: "device_new", Params: anywhere("x"), Results: anywhere(""), Do: func(c *kernel.Call) error {
		x := kernel.DeviceOf[float32](c, 0)
		kernel.ReturnDeviceMut(c, kernel.EmptyOn[float32](c.Ctx(), x.Device(), x.Shape()...))
		return nil
	}})
	kernel.Register(kernel.Func{Name: "new_like", Params: tensors("x"), Results: tensors(""), Do: func(c *kernel.Call) error {
		kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), kernel.Of[float32](c, 0).Shape()...))
		return nil
	}})
}
