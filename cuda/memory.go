package cuda

import (
	"sync/atomic"
	"unsafe"

	"godlpack/dlpack"
)

// Memory is memory that this package allocated: on a device, pinned on the host, or managed. Only Close frees it: the collector
// cannot determine whether work on a device still uses it.
type Memory struct {
	device *Device
	kind   dlpack.DeviceType // CUDA, CUDAHost, CUDAManaged
	start  unsafe.Pointer
	size   int
	closed atomic.Bool
}

// AllocOf allocates memory of a type: CUDA, CUDAHost or CUDAManaged; others are a BufferError.
func (dev *Device) AllocOf(kind dlpack.DeviceType, bytes int) (*Memory, error) {
	switch kind {
	case dlpack.CUDA:
		return dev.Alloc(bytes)
	case dlpack.CUDAHost:
		return dev.AllocHost(bytes)
	case dlpack.CUDAManaged:
		return dev.AllocManaged(bytes)
	}
	return nil, dlpack.Errorf(dlpack.KindBuffer, "CUDA cannot allocate memory on %s", kind)
}

// Alloc allocates bytes on the device, aligned to 256; their content is undefined. It may wait for all work on the device. For
// 0 bytes it allocates nothing: the pointer is nil. Lack of memory is a MemoryError.
func (dev *Device) Alloc(bytes int) (*Memory, error) {
	return dev.alloc(dlpack.CUDA, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemAlloc, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes))
	})
}

// AllocOn allocates bytes in the order of a stream, without any wait: work that is queued there later may use them. Work on
// other streams must wait for this one. If the driver has no pools, it is Alloc.
func (dev *Device) AllocOn(s Stream, bytes int) (*Memory, error) {
	if !dev.pools {
		return dev.Alloc(bytes)
	}
	return dev.alloc(dlpack.CUDA, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemAllocAsync, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes), s.handle)
	})
}

// AllocHost allocates bytes on the host that are pinned: copies from and to devices are direct, and may continue while the host
// works.
func (dev *Device) AllocHost(bytes int) (*Memory, error) {
	const portable = 1 // pinned for all contexts
	return dev.alloc(dlpack.CUDAHost, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemHostAlloc, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes), portable)
	})
}

// AllocManaged allocates bytes that move between the host and devices on use.
func (dev *Device) AllocManaged(bytes int) (*Memory, error) {
	const attachGlobal = 1 // any stream on any device may use it
	return dev.alloc(dlpack.CUDAManaged, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemAllocManaged, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes), attachGlobal)
	})
}

func (dev *Device) alloc(kind dlpack.DeviceType, bytes int, allocate func(*Memory) error) (*Memory, error) {
	m := &Memory{device: dev, kind: kind, size: bytes}
	if bytes < 0 {
		return nil, dlpack.Errorf(dlpack.KindValue, "want 0 bytes or more, got %d", bytes)
	}
	if bytes == 0 {
		return m, nil
	}
	if err := dev.do(func() error { return allocate(m) }); err != nil {
		return nil, dlpack.Wrap(err, "no memory on "+m.DLPack().String())
	}
	return m, nil
}

// Pointer returns the address; nil for no bytes. The host must not read memory on a device.
func (m *Memory) Pointer() unsafe.Pointer { return m.start }

// Size returns the number of bytes.
func (m *Memory) Size() int { return m.size }

// DLPack returns the memory's device as DLPack's; host and managed memory has number 0 (R30).
func (m *Memory) DLPack() dlpack.Device {
	if m.kind == dlpack.CUDA {
		return m.device.DLPack()
	}
	return dlpack.Device{Type: m.kind}
}

// Bytes returns pinned or managed memory for the host, and nil for memory on a device. It must not be used after Close, nor
// while a device works on it.
func (m *Memory) Bytes() []byte {
	if !m.kind.HostReadable() {
		return nil
	}
	return unsafe.Slice((*byte)(m.start), m.size)
}

// Close frees the memory. It waits for all work on the device first, so that no queued work uses freed memory. Further calls
// have no effect.
func (m *Memory) Close() error {
	return m.release(func() error { return m.device.driver.call(m.free(), uintptr(m.start)) })
}

// CloseOn frees memory on a device in the order of a stream: after all work now queued there. The stream must wait for work on
// other streams that uses the memory. If the driver has no pools, it is Close.
func (m *Memory) CloseOn(s Stream) error {
	if !m.device.pools || m.kind != dlpack.CUDA {
		return m.Close()
	}
	return m.release(func() error { return m.device.driver.call(fnMemFreeAsync, uintptr(m.start), s.handle) })
}

// Deleter describes how to free memory without this package: the addresses of the driver's functions, all of which return a
// CUresult. Call Push(Context), Free(Address), Pop(&context), in this order, on any thread.
type Deleter struct{ Address, Context, Push, Free, Pop uintptr }

// Detach transfers the memory to the caller of the Deleter: Close does nothing from now on. The zero Deleter means that there
// was nothing to free.
func (m *Memory) Detach() Deleter {
	if m.closed.Swap(true) || m.start == nil {
		return Deleter{}
	}
	addresses := &m.device.driver.addresses
	return Deleter{uintptr(m.start), m.device.context, addresses[fnCtxPush], addresses[m.free()], addresses[fnCtxPop]}
}

func (m *Memory) free() function {
	if m.kind == dlpack.CUDAHost {
		return fnMemFreeHost
	}
	return fnMemFree
}

func (m *Memory) release(free func() error) error {
	if m.closed.Swap(true) || m.start == nil {
		return nil
	}
	return m.device.do(free)
}
