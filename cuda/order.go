package cuda

import "godlpack/dlpack"

// NoSync is a consumer's argument to __dlpack__ if it orders the streams itself.
const NoSync = -1

// StreamArgument reads a consumer's stream argument for a CUDA device: None (given is false) and 1 are the default stream, 2 is
// the calling thread's, a larger number is a handle; sync is false for -1, with which the consumer requests no wait. 0 is
// rejected since it is ambiguous between the default streams, and so are other negative numbers: a ValueError (R28).
func StreamArgument(value int64, given bool) (handle uintptr, sync bool, err error) {
	switch {
	case !given:
		return Legacy, true, nil
	case value == NoSync:
		return 0, false, nil
	case value == 0:
		return 0, false, dlpack.Errorf(dlpack.KindValue, "stream 0 is ambiguous: want 1 for the legacy default stream, 2 for the per-thread one, -1 for no synchronization, or a handle")
	case value < 0:
		return 0, false, dlpack.Errorf(dlpack.KindValue, "want -1 for no synchronization, 1 or 2 for a default stream, or a handle, got stream %d", value)
	}
	return uintptr(value), true, nil
}

// InterfaceStream reads the entry "stream" of __cuda_array_interface__, the stream of a producer's work on the memory: none
// (given is false) requests no order, and otherwise the numbers are those of StreamArgument, except -1, which has no meaning
// here.
func InterfaceStream(value int64, given bool) (handle uintptr, sync bool, err error) {
	if !given {
		return 0, false, nil
	}
	if value == NoSync {
		return 0, false, dlpack.Errorf(dlpack.KindValue, "want None, 1 or 2 for a default stream, or a handle, got stream -1")
	}
	return StreamArgument(value, true)
}

// WaitFor makes all work queued on s from now on wait for all work now queued on other. The host does not wait. There is no
// effect if they are the same stream.
func (s Stream) WaitFor(other Stream) (err error) {
	if s.Is(other) {
		return nil
	}
	e, err := other.device.NewEvent(false)
	if err != nil {
		return err
	}
	defer func() { // CUDA keeps it until the wait is over
		if refused := e.Close(); err == nil {
			err = refused
		}
	}()
	if err := e.Record(other); err != nil {
		return err
	}
	return s.Wait(e)
}
