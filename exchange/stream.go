package exchange

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// streamFor names our current stream to a producer of CUDA memory, which then waits for the producer's (R28, R33). Memory
// that goes to another device is waited for by the producer (R29).
func streamFor(x cpython.Object, r Request) []cpython.Keyword {
	dev, ok := deviceOf(x)
	if !ok || dev.Type != dlpack.CUDA || r.Device != nil && *r.Device != dev {
		return nil
	}
	handle := max(cpython.CurrentStream(dev.ID), cuda.Legacy)
	return []cpython.Keyword{{Name: "stream", Value: cpython.UInt(uint64(handle))}}
}

// deviceOf asks x where its memory is; ok is false if it does not say.
func deviceOf(x cpython.Object) (dev dlpack.Device, ok bool) {
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
	if !pair.IsTuple() {
		return dev, false
	}
	items, err := pair.Items()
	if err != nil {
		cpython.ClearError()
		return dev, false
	}
	defer cpython.ReleaseAll(items)
	if len(items) != 2 || !items[0].IsIndex() || !items[1].IsIndex() {
		return dev, false
	}
	typ, _, err := items[0].Int64()
	id, _, failed := items[1].Int64()
	if err != nil || failed != nil {
		cpython.ClearError()
	}
	return dlpack.Device{Type: dlpack.DeviceType(typ), ID: int32(id)}, err == nil && failed == nil
}
