//go:build !gcstress

package gcstress

// On says that this is a build with the tag.
const On = false

// Crossing does nothing, but in a build with the tag gcstress.
func Crossing() {}
