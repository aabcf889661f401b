package cuda

import (
	"bytes"
	"math"
	"runtime"
	"unsafe"

	"godlpack/dlpack"
)

// Module is code on a device.
type Module struct {
	device *Device
	handle uintptr
}

// LoadModule loads PTX, which the driver compiles, or a cubin. The error includes the driver's log about bad PTX.
func (dev *Device) LoadModule(image []byte) (*Module, error) {
	m := &Module{device: dev}
	text := append(bytes.Clone(image), 0) // PTX ends with a zero byte; a cubin contains its size
	log := make([]byte, 8<<10)
	const errorLogBuffer, errorLogSize = 5, 6
	options := []int32{errorLogBuffer, errorLogSize}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&log[0]) // values holds its address, where the collector does not look
	err := dev.do(func() error {
		return dev.driver.call(fnModuleLoadDataEx, uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&text[0])),
			uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
	})
	if err != nil {
		said, _, _ := bytes.Cut(log, []byte{0})
		return nil, explain(err, dlpack.KindOf(err), said)
	}
	return m, nil
}

// Close unloads the code; none of it may be running or queued.
func (m *Module) Close() error {
	return m.device.do(func() error { return m.device.driver.call(fnModuleUnload, m.handle) })
}

// Function returns a kernel of the module by its name in PTX, which equals the source's for extern "C" functions.
func (m *Module) Function(name string) (Function, error) {
	f := Function{device: m.device}
	text := zeroTerminated(name)
	err := m.device.do(func() error {
		return m.device.driver.call(fnModuleGetFunction, uintptr(unsafe.Pointer(&f.handle)), m.handle, uintptr(unsafe.Pointer(text)))
	})
	return f, dlpack.Wrap(err, "kernel "+name)
}

// Function is a kernel.
type Function struct {
	device *Device
	handle uintptr
}

// Grid is the number of threads that run a kernel: Blocks of Threads each, along x, y and z; and the bytes of shared memory of
// each block beyond those that the kernel itself declares.
type Grid struct {
	Blocks, Threads [3]int
	Shared          int
}

// Launch queues the kernel on a stream. The arguments are the kernel's parameters in order: *Memory and unsafe.Pointer for
// pointers, and bool, int8 to int64, uint8 to uint64, uintptr, float32 and float64 for numbers of that size. Others, including
// int, are a TypeError; number and sizes of the kernel's parameters cannot be checked.
func (f Function) Launch(s Stream, g Grid, args ...any) error {
	if s.device != f.device {
		return dlpack.Errorf(dlpack.KindValue, "Launch: the kernel is on %s, the stream on %s", f.device.DLPack(), s.device.DLPack())
	}
	cells, err := cellsOf(args)
	if err != nil {
		return err
	}
	params := make([]unsafe.Pointer, len(cells)+1) // never empty, so that there is an address
	var pins runtime.Pinner
	defer pins.Unpin()
	for i := range cells {
		params[i] = unsafe.Pointer(&cells[i])
	}
	if len(cells) > 0 {
		pins.Pin(&cells[0])
	}
	return f.device.do(func() error {
		b, t := g.Blocks, g.Threads
		return f.device.driver.call(fnLaunchKernel, f.handle, uintptr(b[0]), uintptr(b[1]), uintptr(b[2]), uintptr(t[0]), uintptr(t[1]), uintptr(t[2]),
			uintptr(g.Shared), s.handle, uintptr(unsafe.Pointer(&params[0])), 0)
	})
}

// cellsOf puts each argument into 8 bytes, from the first one on, in little-endian order.
func cellsOf(args []any) ([]uint64, error) {
	cells := make([]uint64, len(args))
	for i, a := range args {
		var ok bool
		if cells[i], ok = cellOf(a); !ok {
			return nil, dlpack.Errorf(dlpack.KindType, "Launch argument %d: want memory, a pointer or a number of a fixed size, got %T", i, a)
		}
	}
	return cells, nil
}

func cellOf(a any) (cell uint64, ok bool) {
	switch v := a.(type) {
	case *Memory:
		return uint64(uintptr(v.start)), true
	case unsafe.Pointer:
		return uint64(uintptr(v)), true
	case float32:
		return uint64(math.Float32bits(v)), true
	case float64:
		return math.Float64bits(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return wholeCell(a)
}

func wholeCell(a any) (cell uint64, ok bool) {
	switch v := a.(type) {
	case int8:
		return uint64(v), true
	case int16:
		return uint64(v), true
	case int32:
		return uint64(v), true
	case int64:
		return uint64(v), true
	case uint8:
		return uint64(v), true
	case uint16:
		return uint64(v), true
	case uint32:
		return uint64(v), true
	case uint64:
		return v, true
	case uintptr:
		return uint64(v), true
	}
	return 0, false
}
