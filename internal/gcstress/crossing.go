//go:build gcstress

package gcstress

import "runtime"

// On reports whether the build has the tag gcstress.
const On = true

// Crossing grows the stack, which invalidates kept addresses of variables on it, and collects garbage, which frees memory
// whose pointers are hidden from the collector.
func Crossing() {
	MoveStack()
	runtime.GC()
}
