// Package memory makes and copies tensors on the host and on CUDA devices, with memory of the host or of CUDA's driver.
// Work on a CUDA device is queued on the calling thread's current stream there, the one that package capsule and the
// exchange table name to other libraries; the host waits only if its own memory is read or written.
//
//	o, err := memory.New(dlpack.Float32, []int64{2, 3}, false, dlpack.Device{Type: dlpack.CUDA})
//	o, err := memory.Copy(t, dlpack.Host)
//	err := memory.ConsumerWait(dev, handle) // makes a consumer's stream wait for ours
package memory
