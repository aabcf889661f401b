package cuda

import (
	"bytes"
	"errors"
	"runtime"
	"unsafe"

	"godlpack/dlpack"
)

// Device is a GPU with its primary context, which it shares with all libraries of the process that use the runtime API.
type Device struct {
	driver  *Driver
	id      int
	handle  int32
	context uintptr
	pools   bool // memory can be allocated and freed in the order of a stream
}

// Open returns device id of the Default driver.
func Open(id int) (*Device, error) {
	d, err := Default()
	if err != nil {
		return nil, err
	}
	return d.Device(id)
}

func (d *Driver) openDevice(id int) (*Device, error) {
	dev := &Device{driver: d, id: id}
	if err := d.call(fnDeviceGet, uintptr(unsafe.Pointer(&dev.handle)), uintptr(int32(id))); err != nil {
		return nil, dlpack.Wrap(err, dlpack.Device{Type: dlpack.CUDA, ID: int32(id)}.String())
	}
	pools, err := dev.Attribute(MemoryPoolsSupported)
	if err != nil && !errors.Is(err, &Error{Result: InvalidValue}) { // the result of drivers without pools
		return nil, err
	}
	dev.pools = pools != 0 && d.has(fnMemAllocAsync) && d.has(fnMemFreeAsync)
	return dev, d.call(fnPrimaryCtxRetain, uintptr(unsafe.Pointer(&dev.context)), uintptr(dev.handle))
}

// ID returns the device's number.
func (dev *Device) ID() int { return dev.id }

// DLPack returns the device as DLPack's: "cuda:0".
func (dev *Device) DLPack() dlpack.Device {
	return dlpack.Device{Type: dlpack.CUDA, ID: int32(dev.id)}
}

// HasPools reports whether AllocOn and CloseOn work in the order of a stream.
func (dev *Device) HasPools() bool { return dev.pools }

// Context returns the primary context, a CUcontext.
func (dev *Device) Context() uintptr { return dev.context }

// Attribute is a CUdevice_attribute: a property of a device.
type Attribute int32

// Some attributes; Device.Attribute takes all of CUDA's.
const (
	MaxPitch               Attribute = 11
	MultiprocessorCount    Attribute = 16
	ComputeCapabilityMajor Attribute = 75
	ComputeCapabilityMinor Attribute = 76
	MemoryPoolsSupported   Attribute = 115
)

// Attribute returns the device's value.
func (dev *Device) Attribute(a Attribute) (int, error) {
	var v int32
	err := dev.driver.call(fnDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(dev.handle))
	return int(v), err
}

// ComputeCapability returns the architecture to compile for: 9, 0 for sm_90.
func (dev *Device) ComputeCapability() (major, minor int, err error) {
	if major, err = dev.Attribute(ComputeCapabilityMajor); err != nil {
		return 0, 0, err
	}
	minor, err = dev.Attribute(ComputeCapabilityMinor)
	return major, minor, err
}

// Name returns the model's name.
func (dev *Device) Name() (string, error) {
	name := make([]byte, 256)
	err := dev.driver.call(fnDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(dev.handle))
	name, _, _ = bytes.Cut(name, []byte{0})
	return string(name), err
}

// Memory returns the device's free and total memory, in bytes.
func (dev *Device) Memory() (free, total int64, err error) {
	var size [2]uintptr
	err = dev.do(func() error {
		return dev.driver.call(fnMemGetInfo, uintptr(unsafe.Pointer(&size[0])), uintptr(unsafe.Pointer(&size[1])))
	})
	return int64(size[0]), int64(size[1]), err
}

// do runs work with the primary context current in this thread, and then restores the thread's own current context, which
// selects the device for other code.
func (dev *Device) do(work func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := dev.driver.call(fnCtxPush, dev.context); err != nil {
		return err
	}
	err := work()
	var popped uintptr
	if refused := dev.driver.call(fnCtxPop, uintptr(unsafe.Pointer(&popped))); err == nil {
		err = refused
	}
	return err
}

// Do runs work with the primary context current, for calls of other libraries that need one.
func (dev *Device) Do(work func() error) error { return dev.do(work) }
