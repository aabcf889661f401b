package cuda

import (
	"sync"
	"unsafe"

	"godlpack/dlpack"
)

// Driver is CUDA's driver, loaded and initialized. There is one for the process: Default.
type Driver struct {
	library   library
	addresses [functionCount]uintptr // 0 where this driver has no such function
	devices   struct {
		sync.Mutex
		open map[int]*Device
	}
}

// Variable is the environment variable that names another file than libcuda.so.1 to load as the driver; for tests.
const Variable = "GODLPACK_LIBCUDA"

// Default returns the driver of the process, which is loaded at the first call. Without one, every call returns an error
// that is ErrNoDriver and says what the loader said.
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

// call calls a function of the driver. Pointers to Go memory are converted in the call itself, which keeps what they
// point at where it is until the call is over.
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

// result is call for results that are no errors.
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

// Version returns the newest version of CUDA that the driver speaks: 13, 2 for CUDA 13.2.
func (d *Driver) Version() (major, minor int, err error) {
	var v int32
	err = d.call(fnDriverGetVersion, uintptr(unsafe.Pointer(&v)))
	return int(v) / 1000, int(v) % 1000 / 10, err
}

// Count returns how many devices there are.
func (d *Driver) Count() (int, error) {
	var n int32
	err := d.call(fnDeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Device returns a device by its number, the one that DLPack and torch count by, with its primary context. It is a
// ValueError if there is none.
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

// Close gives all primary contexts back. What was allocated in them is gone unless others of the process hold them too.
// A process that is about to end need not call it.
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
