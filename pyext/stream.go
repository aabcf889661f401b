package pyext

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

var (
	signSwapStream    = cpython.Sign("_swap_stream(stream, device, /)")
	signCurrentStream = cpython.Sign("_current_stream(device, /)")
	signSynchronize   = cpython.Sign("_synchronize(device, /)")
	signDeviceCount   = cpython.Sign("_device_count()")
)

func init() {
	cpython.Handle(cpython.OpSwapStream, swapStream)
	cpython.Handle(cpython.OpCurrentStream, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signCurrentStream.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		dev, err := parseGPU(args[0], "current_stream")
		if err != nil {
			return cpython.Object{}, err
		}
		return cpython.UInt(uint64(cpython.CurrentStream(dev.ID))), nil
	})
	cpython.Handle(cpython.OpSynchronize, func(c *cpython.Call) (cpython.Object, error) {
		args, err := signSynchronize.Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		dev, err := parseGPU(args[0], "synchronize")
		if err == nil {
			err = memory.Synchronize(dev)
		}
		if err != nil {
			return cpython.Object{}, err
		}
		return cpython.None(), nil
	})
	cpython.Handle(cpython.OpDeviceCount, deviceCount)
}

// swapStream sets the thread's current stream, and returns the pair (device number, previous handle).
func swapStream(c *cpython.Call) (cpython.Object, error) {
	args, err := signSwapStream.Bind(c)
	if err != nil {
		return cpython.Object{}, err
	}
	handle, err := parseStream(args[0])
	if err != nil {
		return cpython.Object{}, err
	}
	dev, err := streamDevice(args[0], args[1])
	if err != nil {
		return cpython.Object{}, err
	}
	before := cpython.CurrentStream(dev.ID)
	if !cpython.SetCurrentStream(dev.ID, handle) {
		return cpython.Object{}, argument(dlpack.KindValue, "stream", "device", "cannot store a stream of %s: want a device number below 64", dev)
	}
	pair := []cpython.Object{cpython.Int(int64(dev.ID)), cpython.UInt(uint64(before))}
	defer cpython.ReleaseAll(pair)
	return cpython.TupleOf(pair)
}

// parseStream returns the handle of a stream: an int, a stream of torch (.cuda_stream) or cupy (.ptr), or an object with
// __cuda_stream__, which returns (version, handle). 0, 1 and 2 are the default streams.
func parseStream(s cpython.Object) (uintptr, error) {
	for _, attribute := range []string{"cuda_stream", "ptr"} {
		if handle := s.Find(attribute); handle.Exists() {
			defer handle.Release()
			return parseHandle(handle)
		}
	}
	if protocol := s.Find("__cuda_stream__"); protocol.Exists() {
		defer protocol.Release()
		return parseProtocol(protocol)
	}
	return parseHandle(s)
}

// parseProtocol parses the result of __cuda_stream__; in older objects that attribute is the pair itself.
func parseProtocol(protocol cpython.Object) (uintptr, error) {
	pair := protocol.Retain()
	if protocol.IsCallable() {
		pair.Release()
		var err error
		if pair, err = protocol.Call(nil); err != nil {
			return 0, err
		}
	}
	defer pair.Release()
	v, err := parseInts(pair, "stream", "__cuda_stream__")
	if err != nil {
		return 0, err
	}
	if len(v) != 2 || v[0] != 0 {
		return 0, argument(dlpack.KindValue, "stream", "stream", "want (0, handle) from __cuda_stream__, got %v", v)
	}
	return checkHandle(v[1])
}

func parseHandle(o cpython.Object) (uintptr, error) {
	if !o.IsIndex() || o.IsBool() {
		return 0, argument(dlpack.KindType, "stream", "stream", "want a handle, or a stream of torch, cupy or with __cuda_stream__, got %s", o.Type().Name())
	}
	v, err := parseInt(o, "stream", "stream")
	if err != nil {
		return 0, err
	}
	return checkHandle(v)
}

func checkHandle(v int64) (uintptr, error) {
	if v < 0 || v > int64(cuda.PerThread) && v < dlpack.MinAddress {
		return 0, argument(dlpack.KindValue, "stream", "stream", "want 0 or 1 for the default stream, 2 for the thread's own, or the address of a stream, got %d", v)
	}
	return uintptr(v), nil
}

// streamDevice returns the device that a stream is on: the argument, else the stream's own device (torch's .device_index,
// cupy's .device_id, which is -1 if cupy does not have it), else the first one.
func streamDevice(s, device cpython.Object) (dlpack.Device, error) {
	if device.Given() {
		return parseGPU(device, "stream")
	}
	for _, attribute := range []string{"device_index", "device_id"} {
		id := s.Find(attribute)
		if !id.Exists() {
			continue
		}
		defer id.Release()
		n, err := parseInt(id, "stream", attribute)
		if err != nil {
			return dlpack.Device{}, err
		}
		if n >= 0 {
			return dlpack.NewDevice(int64(dlpack.CUDA), n)
		}
	}
	return dlpack.Device{Type: dlpack.CUDA}, nil
}

// parseGPU parses a device argument that may also be a number; None is the first device.
func parseGPU(o cpython.Object, function string) (dlpack.Device, error) {
	if !o.Given() {
		return dlpack.Device{Type: dlpack.CUDA}, nil
	}
	if o.IsIndex() {
		id, err := parseInt(o, function, "device")
		if err != nil {
			return dlpack.Device{}, err
		}
		dev, err := dlpack.NewDevice(int64(dlpack.CUDA), id)
		return dev, dlpack.Wrap(err, function+"() argument 'device'")
	}
	dev, err := parseDevice(o, function)
	if err == nil && dev.Type != dlpack.CUDA {
		err = argument(dlpack.KindValue, function, "device", "want a CUDA device, got %s", *dev)
	}
	if err != nil {
		return dlpack.Device{}, err
	}
	return *dev, nil
}

func deviceCount(c *cpython.Call) (cpython.Object, error) {
	if _, err := signDeviceCount.Bind(c); err != nil {
		return cpython.Object{}, err
	}
	d, err := cuda.Default()
	if err != nil {
		return cpython.Object{}, err
	}
	n, err := d.Count()
	if err != nil {
		return cpython.Object{}, err
	}
	return cpython.Int(int64(n)), nil
}
