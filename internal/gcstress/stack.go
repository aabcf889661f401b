package gcstress

// MoveStack makes the goroutine's stack some hundred KiB, more than the runtime gives one to begin with: it is another one
// then, unless it has been as large.
func MoveStack() { deepen(100) }

//go:noinline
func deepen(frames int) byte {
	var frame [4096]byte
	if frames > 0 {
		frame[frames] = deepen(frames - 1)
	}
	return frame[len(frame)-1-frames]
}
