package exchange

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// streamFor returns the argument stream of __dlpack__ for CUDA memory: the current stream, which the producer makes wait for
// its own (R28, R33). For memory that goes to another device the producer itself waits (R29).
func streamFor(x cpython.Object, r Request) []cpython.Keyword {
	dev, ok := deviceOf(x)
	if !ok || dev.Type != dlpack.CUDA || r.Device != nil && *r.Device != dev {
		return nil
	}
	handle := max(cpython.CurrentStream(dev.ID), cuda.Legacy)
	return []cpython.Keyword{{Name: "stream", Value: cpython.UInt(uint64(handle))}}
}

// deviceOf returns the result of x's __dlpack_device__; ok is false if there is none, or if it is not a pair of ints.
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
