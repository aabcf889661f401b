package cpython

// #include "core.h"
import "C"

// Runtime reports whether this library's Go runtime started only at the first call that needed it, and its generation: how
// often the runtime was restarted after forks.
func Runtime() (lazy bool, generation int64) {
	return bool(C.gd_runtime_is_lazy()), int64(C.gd_runtime_generation())
}
