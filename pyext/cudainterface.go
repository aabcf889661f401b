package pyext

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

func init() { cpython.Handle(cpython.OpTensorCUDAInterface, cudaInterface) }

// cudaInterface describes the tensor by the CUDA array interface, version 3, with the stream that its work is queued on.
func cudaInterface(c *cpython.Call) (cpython.Object, error) {
	t := c.Tensor()
	rec := t.Record()
	code := typestr(rec.DType)
	if code == "" {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "the CUDA array interface cannot describe %s", rec.DType)
	}
	data, err := interfacePair(t)
	if err != nil {
		return data, err
	}
	defer data.Release()
	entries := []cpython.Entry{
		{Name: "version", Value: int64(3)}, {Name: "typestr", Value: code}, {Name: "data", Value: data}, {Name: "shape", Value: rec.ShapeSlice()},
		{Name: "stream", Value: int64(max(cpython.CurrentStream(rec.Device.ID), cuda.Legacy))}, // 0 is not allowed there
	}
	if dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C') {
		none := cpython.None()
		defer none.Release()
		return cpython.DictOf(append(entries, cpython.Entry{Name: "strides", Value: none}))
	}
	return cpython.DictOf(append(entries, cpython.Entry{Name: "strides", Value: byteStrides(rec)}))
}

// fromCUDAInterface makes a tensor over the memory that obj's CUDA array interface, version 2 or 3, describes. The current
// stream waits for the stream in the interface.
func fromCUDAInterface(obj cpython.Object) (cpython.Object, error) {
	dict, err := obj.Attr("__cuda_array_interface__")
	if err != nil {
		return dict, err
	}
	defer dict.Release()
	o, err := readCUDAInterface(obj, dict)
	return o, cpython.Wrap(err, obj, ".__cuda_array_interface__")
}

func readCUDAInterface(obj, dict cpython.Object) (cpython.Object, error) {
	if err := checkVersion(dict); err != nil {
		return cpython.Object{}, err
	}
	d, err := readDescription(dict)
	if err != nil {
		return cpython.Object{}, err
	}
	dev, err := locate(d.address)
	if err != nil {
		return cpython.Object{}, err
	}
	if err := acquire(dict, dev); err != nil {
		return cpython.Object{}, err
	}
	return cpython.NewBorrowed(obj, dev, d.address, d.dtype, d.shape, d.strides, d.flags)
}

func checkVersion(dict cpython.Object) error {
	version := dict.Entry("version")
	defer version.Release()
	if version.Exists() && version.IsIndex() {
		v, _, err := version.Int64()
		if v == 2 || v == 3 || err != nil {
			return err
		}
	}
	return dlpack.Errorf(dlpack.KindBuffer, "want version 2 or 3, got %s", version.Repr())
}

// locate returns the device of an address, by the driver; a NULL address, of no elements, is on the first CUDA device.
func locate(address uintptr) (dlpack.Device, error) {
	if address == 0 {
		return dlpack.Device{Type: dlpack.CUDA}, nil
	}
	driver, err := cuda.Default()
	if err != nil {
		return dlpack.Device{}, err
	}
	dev, err := driver.Locate(address)
	if err == nil && dev.Type == dlpack.CPU {
		err = dlpack.Errorf(dlpack.KindBuffer, "%#x is not an address of CUDA memory", address)
	}
	return dev, err
}

// acquire makes the current stream wait for the producer's. Version 2 has no stream: there the user synchronizes.
func acquire(dict cpython.Object, dev dlpack.Device) error {
	stream := dict.Entry("stream")
	defer stream.Release()
	var value int64
	if stream.Given() {
		if !stream.IsIndex() || stream.IsBool() {
			return dlpack.Errorf(dlpack.KindType, "want None or an int as stream, got %s", stream.Type().Name())
		}
		var err error
		if value, _, err = stream.Int64(); err != nil {
			return err
		}
	}
	handle, sync, err := cuda.InterfaceStream(value, stream.Given())
	if err != nil || !sync || dev.Type != dlpack.CUDA {
		return err
	}
	return memory.WaitProducer(dev, handle)
}
