//go:build !gchostile

package cpython

// crossing does nothing, but in a build with the tag gchostile.
func crossing() {}
