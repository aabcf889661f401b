package kernel

import "godlpack/dlpack"

// Stream returns the caller's current stream on a device: for CUDA a CUstream, which cuda.Device.Stream takes; 0 is the default
// stream, also for callers without streams. A caller in torch has torch's current stream.
//
// Work that a function queues there runs after the work that makes its arguments, and before any work of the caller on its
// results. So the function launches and returns, without any wait: the caller may be capturing a graph.
//
// Call it in the calling goroutine, since a current stream belongs to a thread: in another one it is a RuntimeError. All
// tensors of the device must be of libraries that work on that stream, or have been ordered by __dlpack__.
func (ctx *Ctx) Stream(device dlpack.Device) (uintptr, error) {
	if ctx == nil {
		return 0, nil
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	if !ctx.mayCallHost() {
		return 0, errEnded
	}
	return ctx.host.Stream(device)
}
