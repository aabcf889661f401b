// Package cuda provides device memory, streams, events and kernels of NVIDIA's GPUs, by the driver API. The driver, libcuda, is
// loaded at its first use: a build needs no part of CUDA, and on a machine without the driver only this package returns an
// error, which states so (ErrNoDriver).
//
//	dev, err := cuda.Open(0)                 // a device, with its primary context
//	s, err := dev.NewStream()
//	defer s.Close()
//	m, err := dev.Alloc(4 * n)               // freed by Close, not by the collector
//	defer m.Close()
//	mod, err := dev.Compile(source, "k.cu")  // needs libnvrtc; LoadModule takes PTX or a cubin
//	f, err := mod.Function("scale")
//	err = f.Launch(s, cuda.Grid{Blocks: [3]int{blocks, 1, 1}, Threads: [3]int{256, 1, 1}}, m, float32(2), int32(n))
//	err = s.Synchronize()
//
// # Contexts and threads
//
// A context is current in a thread, and goroutines change threads. Every call here makes its device's primary context current
// for its own duration, and then restores the thread's context: other libraries of the process, which share the primary
// context, are not affected. All methods may be called from any goroutine.
//
// # Streams
//
// A method that takes a Stream queues work there and returns before it is done; a later call may return its errors. Work on two
// streams has no order unless one waits for the other (Stream.WaitFor). DLPack's rules about streams amount to this: the
// exchange table never waits, the consumer works on the producer's current stream; __dlpack__ makes the consumer's stream wait
// (StreamArgument).
package cuda
