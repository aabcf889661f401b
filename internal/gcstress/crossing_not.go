//go:build !gcstress

package gcstress

// On reports whether the build has the tag gcstress.
const On = false

// Crossing does nothing in a build without the tag gcstress.
func Crossing() {}
