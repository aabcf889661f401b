package cpython

// #include "core.h"
import "C"

import "godlpack/dlpack"

// The operations on CUDA's streams and devices.
const (
	OpSwapStream          Op = C.GD_OP_module_swap_stream
	OpCurrentStream       Op = C.GD_OP_module_current_stream
	OpSynchronize         Op = C.GD_OP_module_synchronize
	OpDeviceCount         Op = C.GD_OP_module_device_count
	OpTensorCUDAInterface Op = C.GD_OP_tensor_cuda_array_interface
)

// DriverMemory is memory that CUDA's driver allocated: its address, its context, and the addresses of the driver's
// functions that make a context current, free memory, and undo the first. C calls them, from any thread, at any time.
type DriverMemory struct{ Address, Context, Push, Free, Pop uintptr }

// NewOwned makes a C-contiguous tensor that owns memory of CUDA's driver.
//
// Owns: takes m, also on error; the last tensor or export that shares it frees it. The result is new.
// Threads: any with the GIL; a forked child, and a process that is ending, leak m.
func NewOwned(m DriverMemory, dev dlpack.Device, d dlpack.DType, shape []int64, flags dlpack.Flags) (Object, error) {
	strides := make([]int64, len(shape))
	dlpack.CompactStrides(strides, shape)
	if m.Address == 0 {
		return newTensorOn(dev, 0, d, shape, strides, flags, nil)
	}
	s := C.gd_storage_of_driver(C.gd_driver_memory{
		C.uintptr_t(m.Address), C.uintptr_t(m.Context), C.uintptr_t(m.Push), C.uintptr_t(m.Free), C.uintptr_t(m.Pop),
	})
	if s == nil {
		return Object{}, dlpack.Errorf(dlpack.KindMemory, "godlpack: no memory for a tensor")
	}
	return newTensorOn(dev, m.Address, d, shape, strides, flags, s)
}

// CurrentStream returns the handle of the calling thread's current stream on a CUDA device, 0 for the default stream.
//
// GIL: not needed.
// Owns: the stream belongs to the code that made it.
// Threads: any, each with its own; in Go, only while the call from Python lasts, which stays in its thread.
func CurrentStream(device int32) uintptr {
	if at := C.gd_current_stream(C.int32_t(device), false); at != nil {
		return uintptr(*at)
	}
	return 0
}

// SetCurrentStream sets the calling thread's current stream on a device; it returns false if memory runs out, or if the
// device's number is too large.
//
// GIL: not needed.
// Owns: as for CurrentStream: the stream must exist as long as it is current.
// Threads: as for CurrentStream.
func SetCurrentStream(device int32, handle uintptr) bool {
	at := C.gd_current_stream(C.int32_t(device), true)
	if at != nil {
		*at = C.uintptr_t(handle)
	}
	return at != nil
}

// UnlockedAlways runs work without the GIL: work waits, but not for Python, and must not use Python's API.
//
// GIL: held, and held again on return.
func UnlockedAlways(work func()) {
	_ = Unlocked(longWork, func(Poll) error {
		work()
		return nil
	})
}
