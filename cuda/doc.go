// Package cuda is device memory, streams, events and kernels of NVIDIA's GPUs, by the driver API. The driver, libcuda, is
// found when it is first needed: nothing of CUDA is needed to build, and a machine without it gets an error that says so
// (ErrNoDriver), and only from this package.
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
// A context is current in a thread, and goroutines change threads. Every call here makes its device's primary context
// current for its own duration, and leaves the thread as it was: other libraries of the process, which share the
// primary context, notice nothing. All methods may be called from any goroutine.
//
// # Streams
//
// Whatever takes a Stream is queued there and returns before it is done; its errors may turn up at a later call. Work on
// two streams is in no order unless one waits for the other (Stream.WaitFor). This is what DLPack's rules about streams
// come down to: the exchange table never waits, the consumer works on the producer's current stream; __dlpack__ makes the
// consumer's stream wait (StreamArgument).
package cuda
