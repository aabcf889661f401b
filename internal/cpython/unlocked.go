package cpython

// #include "core.h"
import "C"

// longWork is how many bytes take longer to work on than the GIL takes to hand over.
const longWork = 1 << 18

// Poll asks Python whether to go on: ErrRaised says that somebody pressed Ctrl-C, or that another signal's handler raised
// an exception. Asked is false on a thread other than the one that entered Go, which Python does not listen to.
type Poll func() (asked bool, err error)

// Unlocked does work over nbytes of memory, without the GIL if that is worth it. Work must not touch Python, but through
// poll.
//
// GIL: held, and held again on return.
func Unlocked(nbytes int64, work func(Poll) error) error {
	if nbytes < longWork {
		return work(func() (bool, error) { return true, nil })
	}
	caller := C.PyThread_get_thread_ident()
	state := C.PyEval_SaveThread()
	defer func() { C.PyEval_RestoreThread(state) }()
	return work(func() (bool, error) {
		if C.PyThread_get_thread_ident() != caller {
			return false, nil
		}
		C.PyEval_RestoreThread(state)
		rc := C.PyErr_CheckSignals()
		state = C.PyEval_SaveThread()
		if rc != 0 {
			return true, ErrRaised
		}
		return true, nil
	})
}
