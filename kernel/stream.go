package kernel

import "godlpack/dlpack"

// Stream returns the stream that the caller works on, on a device: for CUDA a CUstream, which cuda.Device.Stream takes; 0
// is the default stream, which is also that of callers who know of no streams. A caller in torch has torch's current
// stream.
//
// What a function queues there comes after the work that makes its arguments, and before whatever the caller does with its
// results. So it launches and returns, without waiting for anything: the caller may be capturing a graph.
//
// Ask in the goroutine that was called, since streams are current in threads: it is a RuntimeError in another one. All
// tensors of the device must be of libraries that work on that stream, or have been ordered by __dlpack__.
func (ctx *Ctx) Stream(device dlpack.Device) (uintptr, error) {
	if ctx == nil {
		return 0, nil
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	if !ctx.mayAsk() {
		return 0, errEnded
	}
	return ctx.host.Stream(device)
}
