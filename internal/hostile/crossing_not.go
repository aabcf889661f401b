//go:build !gchostile

package hostile

// On says that this is a build with the tag.
const On = false

// Crossing does nothing, but in a build with the tag gchostile.
func Crossing() {}
