package cuda

import "godlpack/dlpack"

// NoSync is what a consumer passes to __dlpack__ to say that it sees to the order of streams itself.
const NoSync = -1

// StreamArgument reads what a consumer says about its stream on a CUDA device: None (given is false) and 1 are the
// default stream, 2 is the one of the calling thread, a larger number is a handle; sync is false for -1, with which the
// consumer asks that nothing wait. 0 is refused since it might be either default stream, and so are other negative
// numbers: a ValueError (R28).
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

// InterfaceStream reads the entry "stream" of __cuda_array_interface__, by which a producer says where its work on the
// memory is queued: none (given is false) asks for no order, and otherwise the numbers are those of StreamArgument, but
// for -1, which means nothing here.
func InterfaceStream(value int64, given bool) (handle uintptr, sync bool, err error) {
	if !given {
		return 0, false, nil
	}
	if value == NoSync {
		return 0, false, dlpack.Errorf(dlpack.KindValue, "want None, 1 or 2 for a default stream, or a handle, got stream -1")
	}
	return StreamArgument(value, true)
}

// WaitFor lets all work that is queued on s from now on wait for all that is queued on other by now. The host does not
// wait. Nothing happens if they are the same stream.
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
