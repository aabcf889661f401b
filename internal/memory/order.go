package memory

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// open returns the CUDA device that memory is on; for pinned and managed memory, which is on none, it returns device 0.
func open(dev dlpack.Device) (*cuda.Device, error) { return cuda.Open(int(dev.ID)) }

// current returns the calling thread's current stream on a CUDA device.
func current(dev dlpack.Device) (cuda.Stream, error) {
	device, err := open(dev)
	if err != nil {
		return cuda.Stream{}, err
	}
	return device.Stream(cpython.CurrentStream(dev.ID)), nil
}

// ConsumerWait makes a consumer's stream wait for the work on the current stream of a CUDA device. Without a driver it is a
// BufferError, unless both are the default stream: then there is nothing to do.
func ConsumerWait(dev dlpack.Device, consumer uintptr) error {
	return order(dev, consumer, cpython.CurrentStream(dev.ID))
}

// WaitProducer makes the current stream of a CUDA device wait for the work on a producer's stream; see ConsumerWait.
func WaitProducer(dev dlpack.Device, producer uintptr) error {
	return order(dev, cpython.CurrentStream(dev.ID), producer)
}

// order makes the stream later wait for the stream earlier.
func order(dev dlpack.Device, later, earlier uintptr) error {
	if max(later, cuda.Legacy) == max(earlier, cuda.Legacy) {
		return nil
	}
	device, err := open(dev)
	if err != nil {
		return err
	}
	err = device.Stream(later).WaitFor(device.Stream(earlier))
	return dlpack.Wrap(err, "cannot order two streams of "+dev.String())
}

// Synchronize waits for the current stream of a CUDA device.
//
// GIL: held; released while it waits.
func Synchronize(dev dlpack.Device) error {
	s, err := current(dev)
	if err == nil {
		cpython.UnlockedAlways(func() { err = s.Synchronize() })
	}
	return err
}
