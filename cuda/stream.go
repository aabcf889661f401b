package cuda

import (
	"errors"
	"unsafe"
)

// Stream is a queue of work on a device: a small value, equal to another of the same queue of the same device, except for the
// default stream, whose handles 0 and 1 mean the same.
type Stream struct {
	device *Device
	handle uintptr
}

// The handles that are not addresses: the array API's numbers for them are CUDA's own (R28).
const (
	Legacy    uintptr = 1 // the default stream: it waits for all blocking streams, and they wait for it
	PerThread uintptr = 2 // the default stream of the calling thread
)

// NewStream makes a stream that runs concurrently with all others, including the default stream. Close it.
func (dev *Device) NewStream() (Stream, error) {
	const nonBlocking = 1
	s := Stream{device: dev}
	err := dev.do(func() error {
		return dev.driver.call(fnStreamCreate, uintptr(unsafe.Pointer(&s.handle)), nonBlocking)
	})
	return s, err
}

// Stream returns a foreign stream by its handle, a CUstream or cudaStream_t: 0 is the default stream. The driver checks the
// handle at its use.
func (dev *Device) Stream(handle uintptr) Stream { return Stream{device: dev, handle: handle} }

// Default returns the default stream, which all libraries share.
func (dev *Device) Default() Stream { return dev.Stream(Legacy) }

// Device returns the stream's device.
func (s Stream) Device() *Device { return s.device }

// Handle returns the CUstream.
func (s Stream) Handle() uintptr { return s.handle }

// Is reports whether two values are the same queue.
func (s Stream) Is(other Stream) bool {
	return s.device == other.device && max(s.handle, Legacy) == max(other.handle, Legacy)
}

// Synchronize waits until all work now queued is done, and returns its error.
func (s Stream) Synchronize() error { return s.call(fnStreamSynchronize, s.handle) }

// Done reports whether all work is done, without waiting.
func (s Stream) Done() (bool, error) { return ready(s.call(fnStreamQuery, s.handle)) }

// Capturing reports whether queued work becomes part of a graph instead of being run. Nothing may wait for such a stream, and
// it must not wait for work outside of the graph.
func (s Stream) Capturing() (bool, error) {
	var status int32
	err := s.call(fnStreamIsCapturing, s.handle, uintptr(unsafe.Pointer(&status)))
	return status != 0, err
}

// Close destroys a stream of NewStream; queued work is still done.
func (s Stream) Close() error { return s.call(fnStreamDestroy, s.handle) }

// call calls a function that needs the device's context. It is not for pointers to the caller's variables unless they are on
// the heap.
//
//go:uintptrescapes
func (s Stream) call(f function, args ...uintptr) error {
	return s.device.do(func() error { return s.device.driver.call(f, args...) })
}

// ready converts the result of a query: "not ready" is not an error.
func ready(err error) (bool, error) {
	if errors.Is(err, &Error{Result: NotReady}) {
		return false, nil
	}
	return err == nil, err
}
