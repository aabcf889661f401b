// Package memory makes tensors and copies them, on whatever device: in memory of the host, or of CUDA's driver if there is
// one. Work on a CUDA device is queued on the calling thread's current stream there, which is also what package capsule
// and the exchange table tell others; the host waits only where its own memory is read or written.
//
//	o, err := memory.New(dlpack.Float32, []int64{2, 3}, false, dlpack.Device{Type: dlpack.CUDA})
//	o, err := memory.Copy(t, dlpack.Host)
//	err := memory.ConsumerWait(dev, handle) // lets a consumer's stream wait for ours
package memory
