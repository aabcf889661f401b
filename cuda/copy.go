package cuda

import (
	"runtime"
	"unsafe"

	"godlpack/dlpack"
)

// Upload queues a copy from the host to the device. The bytes must not change until the stream has read them, and those of Go's
// memory must not move either (runtime.Pinner, or a reference until Synchronize). On most systems the driver reads ordinary
// memory at once, pinned memory (Memory.Bytes) never.
func (s Stream) Upload(to unsafe.Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return s.device.do(func() error {
		return s.device.driver.call(fnMemcpyHtoDAsync, uintptr(to), uintptr(unsafe.Pointer(&from[0])), uintptr(len(from)), s.handle)
	})
}

// Download queues a copy from the device to pinned memory of the host, which has the bytes once the stream is synchronized.
// Other memory of Go must not be passed: use Device.Download.
func (s Stream) Download(to *Memory, from unsafe.Pointer, bytes int) error {
	if bytes < 0 || bytes > to.size || to.kind != dlpack.CUDAHost {
		return dlpack.Errorf(dlpack.KindValue, "Download: want pinned memory of %d bytes or more, got %d on %s", bytes, to.size, to.DLPack())
	}
	if bytes == 0 {
		return nil
	}
	return s.call(fnMemcpyDtoHAsync, uintptr(to.start), uintptr(from), uintptr(bytes), s.handle)
}

// Fetch copies from the device to the host, after all work now queued on the stream, and waits for it.
func (s Stream) Fetch(to []byte, from unsafe.Pointer) error {
	if len(to) == 0 {
		return nil
	}
	return s.device.do(func() error {
		err := s.device.driver.call(fnMemcpyDtoHAsync, uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)), s.handle)
		if err == nil {
			err = s.device.driver.call(fnStreamSynchronize, s.handle)
		}
		runtime.KeepAlive(to)
		return err
	})
}

// Copy queues a copy within the stream's device.
func (s Stream) Copy(to, from unsafe.Pointer, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return s.call(fnMemcpyDtoDAsync, uintptr(to), uintptr(from), uintptr(bytes), s.handle)
}

// CopyFrom queues a copy from another device to the stream's.
func (s Stream) CopyFrom(source *Device, to, from unsafe.Pointer, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return s.call(fnMemcpyPeerAsync, uintptr(to), s.device.context, uintptr(from), source.context, uintptr(bytes), s.handle)
}

// Fill queues count repetitions of a pattern of 1, 2 or 4 bytes; others are a ValueError. The address is a multiple of the
// pattern's size.
func (s Stream) Fill(to unsafe.Pointer, pattern []byte, count int) error {
	var value uintptr
	for i, b := range pattern {
		value |= uintptr(b) << (8 * i)
	}
	fill, ok := map[int]function{1: fnMemsetD8Async, 2: fnMemsetD16Async, 4: fnMemsetD32Async}[len(pattern)]
	if !ok {
		return dlpack.Errorf(dlpack.KindValue, "Fill: want a pattern of 1, 2 or 4 bytes, got %d", len(pattern))
	}
	if count == 0 {
		return nil
	}
	return s.call(fill, uintptr(to), value, uintptr(count), s.handle)
}

// Upload copies from the host to the device, after all work on the default stream and on streams that wait for it.
func (dev *Device) Upload(to unsafe.Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return dev.do(func() error {
		return dev.driver.call(fnMemcpyHtoD, uintptr(to), uintptr(unsafe.Pointer(&from[0])), uintptr(len(from)))
	})
}

// Download copies from the device to the host, after all work on the default stream and on streams that wait for it. The copy
// is complete when it returns.
func (dev *Device) Download(to []byte, from unsafe.Pointer) error {
	if len(to) == 0 {
		return nil
	}
	return dev.do(func() error {
		return dev.driver.call(fnMemcpyDtoH, uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)))
	})
}

// Copy copies within the device, after all work on the default stream and on streams that wait for it. It may return before the
// copy is done; the default stream keeps the order.
func (dev *Device) Copy(to, from unsafe.Pointer, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return dev.do(func() error {
		return dev.driver.call(fnMemcpyDtoD, uintptr(to), uintptr(from), uintptr(bytes))
	})
}
