package exchange

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// streamFor returns the argument stream of __dlpack__ for CUDA memory: the current stream, which the producer makes wait for
// its own (R28, R33). For memory that goes to another device the producer itself waits (R29).
func streamFor(x cpython.Object, r Request) []cpython.Keyword {
	dev, ok := exportedDevice(x)
	if !ok || dev.Type != dlpack.CUDA || r.Device != nil && *r.Device != dev {
		return nil
	}
	handle := max(cpython.CurrentStream(dev.ID), cuda.Legacy)
	return []cpython.Keyword{{Name: "stream", Value: cpython.UInt(uint64(handle))}}
}
