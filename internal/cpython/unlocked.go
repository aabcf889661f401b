package cpython

// #include "core.h"
import "C"

// longWork is the number of bytes from which work takes longer than a release of the GIL.
const longWork = 1 << 18

// Poll checks Python's pending signals: ErrRaised means that somebody pressed Ctrl-C, or that another signal's handler
// raised an exception. Asked is false, and nothing is checked, on a thread other than the one that entered Go.
type Poll func() (asked bool, err error)

// Unlocked runs work over nbytes of memory, without the GIL if nbytes is large enough. Work must not use Python's API, except
// through its Poll.
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
