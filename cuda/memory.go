package cuda

import (
	"sync/atomic"
	"unsafe"

	"godlpack/dlpack"
)

// Memory is memory that this package allocated: on a device, pinned on the host, or managed. It is given back by Close,
// and by nothing else: the collector does not know what work on a device still uses it.
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
	return nil, dlpack.Errorf(dlpack.KindBuffer, "CUDA has no memory on %s", kind)
}

// Alloc allocates bytes on the device, aligned to 256; their content is undefined. It may wait for all work on the device.
// No bytes are no memory: the pointer is nil. It is a MemoryError if there is not enough.
func (dev *Device) Alloc(bytes int) (*Memory, error) {
	return dev.alloc(dlpack.CUDA, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemAlloc, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes))
	})
}

// AllocOn allocates bytes in the order of a stream, which neither waits nor is waited for: work that is queued there
// later may use them. Work on other streams must wait for this one. Where the driver has no pools, it is Alloc.
func (dev *Device) AllocOn(s Stream, bytes int) (*Memory, error) {
	if !dev.pools {
		return dev.Alloc(bytes)
	}
	return dev.alloc(dlpack.CUDA, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemAllocAsync, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes), s.handle)
	})
}

// AllocHost allocates bytes on the host that are pinned: copies from and to devices need no detour, and may go on while
// the host works.
func (dev *Device) AllocHost(bytes int) (*Memory, error) {
	const portable = 1 // pinned for all contexts
	return dev.alloc(dlpack.CUDAHost, bytes, func(m *Memory) error {
		return dev.driver.call(fnMemHostAlloc, uintptr(unsafe.Pointer(&m.start)), uintptr(bytes), portable)
	})
}

// AllocManaged allocates bytes that move between the host and devices as they are used.
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

// Pointer returns the address; nil for no bytes. The host must not read what is on a device.
func (m *Memory) Pointer() unsafe.Pointer { return m.start }

// Size returns the number of bytes.
func (m *Memory) Size() int { return m.size }

// DLPack returns where the memory is, in DLPack's terms; host and managed memory has number 0 (R30).
func (m *Memory) DLPack() dlpack.Device {
	if m.kind == dlpack.CUDA {
		return m.device.DLPack()
	}
	return dlpack.Device{Type: m.kind}
}

// Bytes returns pinned or managed memory as the host sees it, and nil for memory on a device. It must not be used after
// Close, nor while a device works on it.
func (m *Memory) Bytes() []byte {
	if !m.kind.HostReadable() {
		return nil
	}
	return unsafe.Slice((*byte)(m.start), m.size)
}

// Close gives the memory back. It waits for all work on the device first, so nothing that was queued can miss it. Once is
// enough; more often does no harm.
func (m *Memory) Close() error {
	return m.release(func() error { return m.device.driver.call(m.free(), uintptr(m.start)) })
}

// CloseOn gives memory on a device back in the order of a stream: when what is queued there by now is done. Work on
// other streams that uses the memory must be waited for by this one. Where the driver has no pools, it is Close.
func (m *Memory) CloseOn(s Stream) error {
	if !m.device.pools || m.kind != dlpack.CUDA {
		return m.Close()
	}
	return m.release(func() error { return m.device.driver.call(fnMemFreeAsync, uintptr(m.start), s.handle) })
}

// Deleter is what it takes to free memory without this package: the addresses of the driver's functions, all of which
// return a CUresult. Push(Context), Free(Address), Pop(&context), in this order, on any thread.
type Deleter struct{ Address, Context, Push, Free, Pop uintptr }

// Detach gives the memory away to whoever calls the Deleter: Close does nothing from now on. The zero Deleter means that
// there was nothing to free.
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
