package memory

import (
	"unsafe"

	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/tensor"
)

// New makes a C-contiguous tensor on a device, with the lanes of sub-byte dtypes padded if padded is true; its content is
// undefined. A device that is missing, or on which godlpack does not allocate, is a BufferError; a number that no device has
// is a ValueError.
//
// GIL: held; released while memory is allocated on a device.
// Owns: the result is new; on error there is none.
func New(d dlpack.DType, shape []int64, padded bool, dev dlpack.Device) (cpython.Object, error) {
	switch {
	case dev == dlpack.Host:
		return cpython.NewTensor(d, shape, padded, false)
	case dev.Type == dlpack.CUDA, dev == dlpack.Device{Type: dlpack.CUDAHost}, dev == dlpack.Device{Type: dlpack.CUDAManaged}: // R30
		return newByDriver(d, shape, padded, dev)
	}
	return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "cannot make a tensor on %s: want cpu, cuda, cuda_host or cuda_managed", dev)
}

func newByDriver(d dlpack.DType, shape []int64, padded bool, dev dlpack.Device) (cpython.Object, error) {
	count, err := dlpack.Elements(shape)
	if err != nil {
		return cpython.Object{}, err
	}
	bytes, err := dlpack.DataSize(count, d, padded)
	if err != nil {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindMemory, "godlpack: %s", dlpack.MessageOf(err))
	}
	device, err := open(dev)
	if err != nil {
		return cpython.Object{}, err
	}
	var m *cuda.Memory
	cpython.UnlockedAlways(func() { m, err = device.AllocOf(dev.Type, int(bytes)) })
	if err != nil {
		return cpython.Object{}, err
	}
	var flags dlpack.Flags
	if padded {
		flags = dlpack.SubbytePadded
	}
	return cpython.NewOwned(cpython.DriverMemory(m.Detach()), dev, d, shape, flags)
}

// Zero sets all bytes of a tensor made by New to zero.
//
// GIL: held; released while much memory is set.
func Zero(t cpython.Tensor) error {
	if !t.Record().Device.Type.HostReadable() {
		return fillOnDevice(t, []byte{0}, t.Bytes())
	}
	return cpython.Unlocked(t.Bytes(), func(cpython.Poll) error {
		clear(bytesOf(t))
		return nil
	})
}

// Fill sets all elements of a tensor made by New to a value that its dtype can hold (tensor.Check).
//
// GIL: held; released while much memory is set.
func Fill(t cpython.Tensor, value tensor.Scalar) (err error) {
	rec := t.Record()
	if rec.Device.Type.HostReadable() {
		return fillOnHost(t, value)
	}
	count, err := rec.Size()
	if err != nil {
		return err
	}
	if size := rec.DType.ItemSize(t.Padded()); rec.DType.BitSize(t.Padded())%8 == 0 && (size == 1 || size == 2 || size == 4) {
		return fillByPattern(t, size, count, value)
	}
	return fillByCopy(t, value)
}

func fillByPattern(t cpython.Tensor, size int, count int64, value tensor.Scalar) error {
	pattern := make([]byte, size)
	one := dlpack.Tensor{Data: unsafe.Pointer(&pattern[0]), Device: dlpack.Host, DType: t.Record().DType}
	if err := tensor.Fill(&one, t.Padded(), value); err != nil {
		return err
	}
	return fillOnDevice(t, pattern, count)
}

// fillByCopy fills memory of the host and copies it to the device. It is for elements of 8 bytes and more, and packed ones.
func fillByCopy(t cpython.Tensor, value tensor.Scalar) error {
	rec := t.Record()
	o, err := cpython.NewTensor(rec.DType, rec.ShapeSlice(), t.Padded(), false)
	if err != nil {
		return err
	}
	defer o.Release()
	filled, _ := cpython.TensorOf(o)
	if err := Fill(filled, value); err != nil {
		return err
	}
	return upload(t, filled)
}

// fillOnDevice sets contiguous memory to count repetitions of a pattern.
func fillOnDevice(t cpython.Tensor, pattern []byte, count int64) error {
	if count == 0 {
		return nil
	}
	s, err := current(t.Record().Device)
	if err != nil {
		return err
	}
	return s.Fill(t.Record().Start(), pattern, int(count))
}

// bytesOf returns the contiguous memory of a tensor on the host.
func bytesOf(t cpython.Tensor) []byte {
	return unsafe.Slice((*byte)(t.Record().Start()), t.Bytes())
}
