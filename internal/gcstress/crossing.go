//go:build gcstress

package gcstress

import "runtime"

// On says that this is a build with the tag.
const On = true

// Crossing makes Go's memory move: it grows the stack, so that whoever kept the address of a variable has an old one,
// and collects garbage, so that whoever hid a pointer loses what it points to.
func Crossing() {
	MoveStack()
	runtime.GC()
}
