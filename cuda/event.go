package cuda

import (
	"time"
	"unsafe"
)

// Event is a point in a stream's work.
type Event struct {
	device *Device
	handle uintptr
}

// NewEvent makes an event that is not recorded yet, which counts as done. Timed ones can be compared by Since; the others are
// cheaper to wait for. Close it.
func (dev *Device) NewEvent(timed bool) (Event, error) {
	flags := uintptr(2) // CU_EVENT_DISABLE_TIMING
	if timed {
		flags = 0
	}
	e := Event{device: dev}
	err := dev.do(func() error {
		return dev.driver.call(fnEventCreate, uintptr(unsafe.Pointer(&e.handle)), flags)
	})
	return e, err
}

// Record sets e to the point after all work now queued on s.
func (e Event) Record(s Stream) error { return e.call(fnEventRecord, s.handle) }

// Synchronize waits for the point.
func (e Event) Synchronize() error { return e.call(fnEventSynchronize) }

// Done reports whether the point is reached, without waiting.
func (e Event) Done() (bool, error) { return ready(e.call(fnEventQuery)) }

// Close destroys the event; pending waits for it still complete.
func (e Event) Close() error { return e.call(fnEventDestroy) }

// Since returns the time between two timed events, to about half a microsecond.
func (e Event) Since(start Event) (time.Duration, error) {
	var ms float32
	err := e.device.do(func() error {
		return e.device.driver.call(fnEventElapsedTime, uintptr(unsafe.Pointer(&ms)), start.handle, e.handle)
	})
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

func (e Event) call(f function, more ...uintptr) error {
	return e.device.do(func() error {
		return e.device.driver.call(f, append([]uintptr{e.handle}, more...)...)
	})
}

// Wait makes all work queued on s from now on wait for the point, which may be on another device.
func (s Stream) Wait(e Event) error {
	return s.call(fnStreamWaitEvent, s.handle, e.handle, 0)
}
