package cpython

// #include "core.h"
import "C"

// Runtime tells how this library's Go runtime came to life: whether it waited for the first call that needed it, and how
// many forks lie between the one that the process began with and this one.
func Runtime() (lazy bool, generation int64) {
	return bool(C.gd_runtime_is_lazy()), int64(C.gd_runtime_generation())
}
