package cpython

// #include "core.h"
import "C"

// Slice applies a slice object to an axis of n elements: it returns the start, the step and the number of elements selected.
func (o Object) Slice(n int64) (start, step, length int64, err error) {
	var from, to, by C.Py_ssize_t
	if C.PySlice_Unpack(o.p, &from, &to, &by) != 0 {
		return 0, 0, 0, ErrRaised
	}
	count := C.PySlice_AdjustIndices(C.Py_ssize_t(n), &from, &to, by)
	return int64(from), int64(by), int64(count), nil
}
