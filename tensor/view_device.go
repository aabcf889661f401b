package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// DeviceOf is a read-only view of memory that perhaps only a device can reach: it knows all about its elements but has
// no way to read them, so that the host cannot fault. Host turns it into an Of where that is safe. See Of for lifetimes.
type DeviceOf[T Element] struct {
	_ struct{} // so that no conversion makes an Of of it
	span[T]
}

// DeviceMut is a view of such memory that may also be written.
type DeviceMut[T Element] struct{ DeviceOf[T] }

// DeviceView returns t as a view of elements T on any device whose memory has addresses. Ask for one by On:
// DeviceView[float32](t, On(dlpack.CUDA)). The errors are those of View.
func DeviceView[T Element](t *dlpack.Tensor, options ...Option) (DeviceOf[T], error) {
	v, err := viewOf[T](t, newRequest(options))
	return DeviceOf[T]{span: v}, err
}

// DeviceMutView returns t as a view that can be written; see DeviceView and MutView.
func DeviceMutView[T Element](t *dlpack.Tensor, options ...Option) (DeviceMut[T], error) {
	if err := newRequest(options).writable(); err != nil {
		return DeviceMut[T]{}, err
	}
	v, err := DeviceView[T](t, options...)
	return DeviceMut[T]{v}, err
}

// FromPointer returns memory at p as a view: device memory, pinned or managed memory, or that of C. Nobody knows its
// bounds: the caller vouches for them. Strides are in elements, of any sign, and nil for row-major ones; p may be nil
// if the size is 0. The view keeps shape and strides, and borrows the memory unless it holds its owner (Hold).
//
// It is a ValueError if shape and strides are no legal ones, if p is not aligned for T, and if memory of that device
// has no addresses.
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

// Host returns v as a view for the host. It is a BufferError where the host cannot reach the memory: it can in that of
// cpu, cuda_host, rocm_host and cuda_managed. The work of a device on managed memory must be done by then.
func (v DeviceOf[T]) Host() (Of[T], error) {
	if device := v.Device(); !device.Type.HostReadable() {
		return Of[T]{}, unreachable(device)
	}
	return Of[T]{v.span}, nil
}

// Host returns v as a view for the host that can be written; see DeviceOf.Host.
func (v DeviceMut[T]) Host() (Mut[T], error) {
	host, err := v.DeviceOf.Host()
	return Mut[T]{host}, err
}

// OnDevice returns v as a view that no longer reads: what a function takes that hands memory on to a device.
func (v Of[T]) OnDevice() DeviceOf[T] { return DeviceOf[T]{span: v.span} }

// OnDevice returns v as a view that no longer reads nor writes; see Of.OnDevice.
func (v Mut[T]) OnDevice() DeviceMut[T] { return DeviceMut[T]{v.Of.OnDevice()} }
