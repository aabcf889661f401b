package gcstress

// MoveStack grows the goroutine's stack to some hundred KiB, more than its first size: the runtime then moves it, unless it
// was that large before.
func MoveStack() { deepen(100) }

//go:noinline
func deepen(frames int) byte {
	var frame [4096]byte
	if frames > 0 {
		frame[frames] = deepen(frames - 1)
	}
	return frame[len(frame)-1-frames]
}
