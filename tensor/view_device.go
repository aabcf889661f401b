package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// DeviceOf is a read-only view of memory that the host may be unable to access: it describes its elements but has no method to
// read them, so that the host cannot fault. Host converts it to an Of if that is safe. See Of for lifetimes.
type DeviceOf[T Element] struct {
	_ struct{} // so that no conversion makes an Of of it
	span[T]
}

// DeviceMut is a view of such memory that may also be written.
type DeviceMut[T Element] struct{ DeviceOf[T] }

// DeviceView returns t as a view of elements T on any device whose memory has addresses. Request a device by On:
// DeviceView[float32](t, On(dlpack.CUDA)). The errors are those of View.
func DeviceView[T Element](t *dlpack.Tensor, options ...Option) (DeviceOf[T], error) {
	v, err := viewOf[T](t, newRequest(options))
	return DeviceOf[T]{span: v}, err
}

// DeviceMutView returns t as a writable view; see DeviceView and MutView.
func DeviceMutView[T Element](t *dlpack.Tensor, options ...Option) (DeviceMut[T], error) {
	if err := newRequest(options).writable(); err != nil {
		return DeviceMut[T]{}, err
	}
	v, err := DeviceView[T](t, options...)
	return DeviceMut[T]{v}, err
}

// FromPointer returns memory at p as a view: device memory, pinned or managed memory, or that of C. Its bounds cannot be
// checked: the caller must ensure them. Strides are in elements, of any sign, and nil for row-major ones; p may be nil if the
// size is 0. The view keeps shape and strides, and borrows the memory unless it holds its owner (Hold).
//
// It is a ValueError if shape and strides are invalid, if p is not aligned for T, and if memory of that device has no
// addresses.
func FromPointer[T Element](p unsafe.Pointer, device dlpack.Device, shape, strides []int64) (DeviceMut[T], error) {
	if _, err := checkShape(shape); err != nil {
		return DeviceMut[T]{}, err
	}
	if err := checkStrides(shape, strides); err != nil {
		return DeviceMut[T]{}, err
	}
	t := dlpack.Tensor{
		Data: p, Device: device, NDim: int32(len(shape)), DType: DTypeOf[T](),
		Shape: unsafe.SliceData(shape), Strides: unsafe.SliceData(strides),
	}
	v, err := DeviceMutView[T](&t, Flagged(storage[T]()))
	return v, asValue(err)
}

// Hold returns v as a view that keeps owner reachable; see Of.Hold.
func (v DeviceOf[T]) Hold(owner any) DeviceOf[T] {
	v.span = v.hold(owner)
	return v
}

// Hold returns v as a view that keeps owner reachable; see Of.Hold.
func (v DeviceMut[T]) Hold(owner any) DeviceMut[T] {
	v.span = v.hold(owner)
	return v
}

// Host returns v as a view for the host. It is a BufferError if the host cannot access the memory: it can access that of cpu,
// cuda_host, rocm_host and cuda_managed. A device's work on managed memory must be complete by then.
func (v DeviceOf[T]) Host() (Of[T], error) {
	if device := v.Device(); !device.Type.HostReadable() {
		return Of[T]{}, unreachable(device)
	}
	return Of[T]{v.span}, nil
}

// Host returns v as a writable view for the host; see DeviceOf.Host.
func (v DeviceMut[T]) Host() (Mut[T], error) {
	host, err := v.DeviceOf.Host()
	return Mut[T]{host}, err
}

// OnDevice returns v as a view without access to elements, for functions that pass memory on to a device.
func (v Of[T]) OnDevice() DeviceOf[T] { return DeviceOf[T]{span: v.span} }

// OnDevice returns v as a view without access to elements; see Of.OnDevice.
func (v Mut[T]) OnDevice() DeviceMut[T] { return DeviceMut[T]{v.Of.OnDevice()} }
