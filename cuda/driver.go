package cuda

import (
	"sync"
	"unsafe"

	"godlpack/dlpack"
)

// Driver is CUDA's driver, loaded and initialized. The process has one: Default.
type Driver struct {
	library   library
	addresses [functionCount]uintptr // 0 if this driver does not have the function
	devices   struct {
		sync.Mutex
		open map[int]*Device
	}
}

// Variable is the environment variable with the file to load as the driver instead of libcuda.so.1; for tests.
const Variable = "GODLPACK_LIBCUDA"

// Default returns the driver of the process, which is loaded at the first call. Without one, every call returns an error that
// is ErrNoDriver and contains the loader's message.
func Default() (*Driver, error) { return defaultDriver() }

var defaultDriver = sync.OnceValues(findDriver)

func findDriver() (*Driver, error) {
	found, err := load(Variable, "libcuda.so.1", "libcuda.so")
	if err != nil {
		return nil, dlpack.Errorf(dlpack.KindBuffer, "%w: %s", ErrNoDriver, err)
	}
	return newDriver(found)
}

// newDriver initializes a library as the driver.
func newDriver(l library) (*Driver, error) {
	d := &Driver{library: l}
	d.devices.open = map[int]*Device{}
	for f, name := range names {
		d.addresses[f] = l.symbol(name)
	}
	if err := d.call(fnInit, 0); err != nil {
		return nil, err
	}
	return d, nil
}

// call calls a function of the driver. Pointers to Go memory are converted in the call itself, which keeps the memory in place
// until the call returns.
//
//go:uintptrescapes
func (d *Driver) call(f function, args ...uintptr) error {
	if d.addresses[f] == 0 {
		return missing(names[f])
	}
	if r := Result(d.library.call(d.addresses[f], args)); r != Success {
		return d.failure(f, r)
	}
	return nil
}

// result is call for results that are not errors.
//
//go:uintptrescapes
func (d *Driver) result(f function, args ...uintptr) Result {
	if d.addresses[f] == 0 {
		return NotFound
	}
	return Result(d.library.call(d.addresses[f], args))
}

// has reports whether this driver has a function.
func (d *Driver) has(f function) bool { return d.addresses[f] != 0 }

// Version returns the newest version of CUDA that the driver supports: 13, 2 for CUDA 13.2.
func (d *Driver) Version() (major, minor int, err error) {
	var v int32
	err = d.call(fnDriverGetVersion, uintptr(unsafe.Pointer(&v)))
	return int(v) / 1000, int(v) % 1000 / 10, err
}

// Count returns the number of devices.
func (d *Driver) Count() (int, error) {
	var n int32
	err := d.call(fnDeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Device returns a device by its number, as DLPack and torch count, with its primary context. A number without a device is a
// ValueError.
func (d *Driver) Device(id int) (*Device, error) {
	d.devices.Lock()
	defer d.devices.Unlock()
	if dev, ok := d.devices.open[id]; ok {
		return dev, nil
	}
	dev, err := d.openDevice(id)
	if err != nil {
		return nil, err
	}
	d.devices.open[id] = dev
	return dev, nil
}

// Close releases all primary contexts. Their allocations are lost unless others of the process also hold the contexts. A
// process that is about to end need not call it.
func (d *Driver) Close() error {
	d.devices.Lock()
	defer d.devices.Unlock()
	for id, dev := range d.devices.open {
		if err := d.call(fnPrimaryCtxRelease, uintptr(dev.handle)); err != nil {
			return err
		}
		delete(d.devices.open, id)
	}
	return nil
}
