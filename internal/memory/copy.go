package memory

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// Copy makes a C-contiguous, writable copy of t on a device. It is a BufferError if there is no route to that device, or if
// the route needs a driver that is missing. Copies from and to the host are done when it returns; those between devices, and
// within one, are queued on the current streams.
//
// GIL: held; released while it copies much memory, or waits for a device.
// Owns: the result is new; on error there is none.
func Copy(t cpython.Tensor, to dlpack.Device) (cpython.Object, error) {
	route := routeBetween(t.Record().Device, to)
	if route == nil {
		return cpython.Object{}, noRoute(t.Record().Device, to)
	}
	if t.Record().Device.Type == dlpack.CUDA || to.Type == dlpack.CUDA {
		o, err := contiguous(t)
		if err != nil || t.Record().Device == to && o != t.Object() { // o is the copy
			return o, err
		}
		defer o.Release() // device memory is freed after the work that is queued on it
		t, _ = cpython.TensorOf(o)
	}
	return copyBy(route, t, to)
}

// Clone is Copy to the device that a copy lies on where none was requested (CloneDevice).
//
// GIL: held; released while much memory is copied.
// Owns: the result is new; on error there is none.
func Clone(t cpython.Tensor) (cpython.Object, error) { return Copy(t, CloneDevice(t)) }

// CloneDevice returns the tensor's own device if that is a CUDA device, else the CPU.
func CloneDevice(t cpython.Tensor) dlpack.Device {
	if dev := t.Record().Device; dev.Type == dlpack.CUDA {
		return dev
	}
	return dlpack.Host
}

// copyBy copies t into a new tensor on a device, by a route to that device.
func copyBy(route func(to, from cpython.Tensor) error, t cpython.Tensor, to dlpack.Device) (cpython.Object, error) {
	o, err := New(t.Record().DType, t.Record().ShapeSlice(), t.Padded(), to)
	if err != nil {
		return o, err
	}
	made, _ := cpython.TensorOf(o)
	if err := route(made, t); err != nil {
		o.Release()
		return cpython.Object{}, err
	}
	return o, nil
}

// Overwrite copies the elements of one tensor into another of the same dtype, shape and device; both may have any strides.
// On a CUDA device the copy is queued on the current stream.
//
// GIL: held; released while much memory is copied.
func Overwrite(to, from cpython.Tensor) error {
	rec := from.Record()
	if rec.Device.Type != dlpack.CUDA {
		return Assign(to, from)
	}
	if dlpack.Overlap(to.Record(), rec) {
		o, err := Copy(from, rec.Device)
		if err != nil {
			return err
		}
		defer o.Release()
		from, _ = cpython.TensorOf(o)
	}
	return gather(to, from)
}

// routeBetween returns the function that copies memory from one device to another, nil if there is none.
func routeBetween(from, to dlpack.Device) func(to, from cpython.Tensor) error {
	host := from.Type.HostReadable()
	switch {
	case host && to.Type == dlpack.CUDA:
		return upload
	case host && to.Type.HostReadable() && to.ID == 0: // R30
		return Assign
	case from.Type == dlpack.CUDA && to.Type == dlpack.CUDA:
		return copyOnDevices
	case from.Type == dlpack.CUDA && to.Type.HostReadable():
		return download
	}
	return nil
}

func noRoute(from, to dlpack.Device) error {
	why := ""
	if !from.Type.HostReadable() && from.Type != dlpack.CUDA {
		why = ": the CPU cannot read memory on " + from.String()
	}
	return dlpack.Errorf(dlpack.KindBuffer, "cannot copy from %s to %s%s", from, to, why)
}

// contiguous returns t itself if it is C-contiguous, else a C-contiguous copy on its own device.
func contiguous(t cpython.Tensor) (cpython.Object, error) {
	rec := t.Record()
	if dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		return t.Object().Retain(), nil
	}
	if rec.Device.Type == dlpack.CUDA {
		return copyBy(gather, t, rec.Device)
	}
	return copyBy(Assign, t, rec.Device)
}

// gather copies elements from any strides to any strides on the same device; the target is usually contiguous.
func gather(to, from cpython.Tensor) error {
	rec := from.Record()
	bits := rec.DType.BitSize(from.Padded())
	if bits%8 != 0 {
		return dlpack.Errorf(dlpack.KindBuffer, "packed %s on %s with strides %v: elements that share bytes cannot be gathered there", rec.DType, rec.Device, rec.StridesSlice())
	}
	s, err := current(rec.Device)
	if err != nil {
		return err
	}
	item := int64(bits / 8)
	return s.CopyStrided(to.Record().Start(), rec.Start(), rec.ShapeSlice(), inBytes(to.Record().StridesSlice(), item), inBytes(rec.StridesSlice(), item), int(item))
}

func inBytes(strides []int64, item int64) []int64 {
	bytes := make([]int64, len(strides))
	for i, step := range strides {
		bytes[i] = step * item
	}
	return bytes
}

// upload copies contiguous memory of the host to a device, and waits until the copy is done.
func upload(to, from cpython.Tensor) error {
	s, err := current(to.Record().Device)
	if err != nil || from.Bytes() == 0 {
		return err
	}
	cpython.UnlockedAlways(func() {
		if err = s.Upload(to.Record().Start(), bytesOf(from)); err == nil {
			err = s.Synchronize()
		}
	})
	return err
}

// download copies contiguous memory of a device to the host, after all work that is queued on the current stream.
func download(to, from cpython.Tensor) error {
	s, err := current(from.Record().Device)
	if err != nil || from.Bytes() == 0 {
		return err
	}
	cpython.UnlockedAlways(func() { err = s.Fetch(bytesOf(to), from.Record().Start()) })
	return err
}

// copyOnDevices copies contiguous memory within a device, or from one device to another. Between devices, the target's stream
// waits for the source's before the copy, and the source's, which may overwrite the memory next, waits for the copy.
func copyOnDevices(to, from cpython.Tensor) error {
	target, err := current(to.Record().Device)
	if err != nil {
		return err
	}
	source, err := current(from.Record().Device)
	if err != nil {
		return err
	}
	n := int(from.Bytes())
	if source.Device() == target.Device() {
		return target.Copy(to.Record().Start(), from.Record().Start(), n)
	}
	return between(target, source, func() error {
		return target.CopyFrom(source.Device(), to.Record().Start(), from.Record().Start(), n)
	})
}

// between makes target wait for source, queues work on target, and makes source wait for that work.
func between(target, source cuda.Stream, work func() error) error {
	if err := target.WaitFor(source); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return source.WaitFor(target)
}
