//go:build gchostile

package cpython

import "runtime"

// crossing makes Go's memory move: it grows the stack, so that whoever kept the address of a variable has an old one,
// and collects garbage, so that whoever hid a pointer loses what it points to.
func crossing() {
	deepen(100)
	runtime.GC()
}

// deepen recurses until the stack has some hundred KiB, past what the runtime gives a goroutine to begin with.
//
//go:noinline
func deepen(frames int) byte {
	var frame [4096]byte
	if frames > 0 {
		frame[frames] = deepen(frames - 1)
	}
	return frame[len(frame)-1-frames]
}
