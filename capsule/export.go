package capsule

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

// Copying is whether memory may, must or must not be copied (R25).
type Copying int

// The values of the argument copy: None, True, False.
const (
	CopyIfNeeded Copying = iota
	CopyAlways
	CopyNever
)

// Request is the arguments of __dlpack__.
type Request struct {
	Versioned bool           // max_version of at least 1.0 (R4, R5)
	Copy      Copying        // copy
	Device    *dlpack.Device // dl_device; nil is the tensor's own (R26)
	Stream    uintptr        // stream: the CUDA consumer's, which must wait for our work; 0: none
}

var dlpackSignature = cpython.Sign("__dlpack__(*, stream=?, max_version=?, dl_device=?, copy=?)")

// ParseRequest parses the arguments of t.__dlpack__ (R1, R2, R7). An argument of the wrong type is a TypeError, which
// consumers read as the mark of an older producer; so no other error may be one (R3).
func ParseRequest(c *cpython.Call) (r Request, err error) {
	args, err := dlpackSignature.Bind(c)
	if err != nil {
		return r, err
	}
	if r.Versioned, err = wantsVersioned(args[1]); err != nil {
		return r, err
	}
	if r.Device, err = parseDevice(args[2]); err != nil {
		return r, err
	}
	where := c.Tensor().Record().Device
	if r.Device != nil {
		where = *r.Device // R29
	}
	if r.Stream, err = parseStream(args[0], where); err != nil {
		return r, err
	}
	r.Copy, err = ParseCopy(args[3])
	return r, err
}

// parseStream accepts the streams that are valid for the device: on the CPU None, and -1, which some consumers always pass
// (R27); on CUDA and ROCm the values that the array API lists (R28). The result is the stream that must wait for ours.
func parseStream(stream cpython.Object, dev dlpack.Device) (uintptr, error) {
	var value int64
	if stream.Given() {
		if !stream.IsIndex() {
			return 0, dlpack.Errorf(dlpack.KindType, "__dlpack__() argument 'stream': want None or an int, got %s", stream.Type().Name())
		}
		var err error
		if value, _, err = stream.Int64(); err != nil { // no handle is beyond 64 bits: the nearest int64 is used
			return 0, err
		}
	}
	rocm := dev.Type == dlpack.ROCm && (value == 0 || value > 2)
	switch {
	case dev.Type == dlpack.CUDA:
		handle, _, err := cuda.StreamArgument(value, stream.Given())
		return handle, dlpack.Wrap(err, "__dlpack__() argument 'stream'")
	case !stream.Given(), value == cuda.NoSync, rocm:
		return 0, nil
	}
	return 0, dlpack.Errorf(dlpack.KindValue, "__dlpack__() argument 'stream': %s is not a stream of device %s", stream.Str(), dev)
}

func wantsVersioned(version cpython.Object) (bool, error) {
	if !version.Given() {
		return false, nil
	}
	major, _, ok, err := version.IntPair()
	if err == nil && !ok {
		err = dlpack.Errorf(dlpack.KindType, "__dlpack__() argument 'max_version': want None or a tuple of two ints, got %s", version.Repr())
	}
	return major >= 1, err
}

func parseDevice(pair cpython.Object) (*dlpack.Device, error) {
	if !pair.Given() {
		return nil, nil
	}
	typ, id, ok, err := pair.IntPair()
	d := dlpack.Device{Type: dlpack.DeviceType(typ), ID: int32(id)}
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, dlpack.Errorf(dlpack.KindType, "__dlpack__() argument 'dl_device': want None or a tuple (type, id), got %s", pair.Repr())
	case int64(d.Type) != typ || int64(d.ID) != id:
		return nil, dlpack.Errorf(dlpack.KindBuffer, "__dlpack__() argument 'dl_device': want a device of DLPack, got %s", pair.Repr())
	}
	return &d, nil
}

// ParseCopy parses an argument copy: None or missing, True, False, or any object by its truth value. A str is a ValueError,
// as in NumPy, since the truth value of "False" is true.
func ParseCopy(o cpython.Object) (Copying, error) {
	if !o.Given() {
		return CopyIfNeeded, nil
	}
	if o.IsStr() {
		return CopyIfNeeded, dlpack.Errorf(dlpack.KindValue, "argument 'copy': want None, True or False, got %s", o.Repr())
	}
	truth, err := o.Truth()
	if err != nil {
		return CopyIfNeeded, err
	}
	if truth {
		return CopyAlways, nil
	}
	return CopyNever, nil
}

// Export returns the capsule for t.__dlpack__ (R4, R5, R23 to R26); on CUDA the consumer's stream waits for ours (R28).
//
// GIL: held; released while much memory is copied.
// Owns: the result is new; on error there is none.
func Export(t cpython.Tensor, r Request) (cpython.Object, error) {
	dev := t.Record().Device
	moves := r.Device != nil && *r.Device != dev
	if r.Copy == CopyAlways || moves {
		if moves && r.Copy == CopyNever {
			return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "moving from %s to %s needs a copy, and copy=False", dev, *r.Device)
		}
		return exportCopy(t, r)
	}
	if !r.Versioned {
		if err := fitsLegacy(t); err != nil {
			return cpython.Object{}, err
		}
	}
	if err := handOver(dev, r.Stream); err != nil {
		return cpython.Object{}, err
	}
	return t.Capsule(r.Versioned, 0)
}

// handOver makes a consumer's stream wait for the queued work on a device's memory.
func handOver(dev dlpack.Device, consumer uintptr) error {
	if dev.Type != dlpack.CUDA || consumer == 0 {
		return nil
	}
	return memory.ConsumerWait(dev, consumer)
}

// fitsLegacy refuses a tensor that a legacy capsule cannot describe (R23).
func fitsLegacy(t cpython.Tensor) error {
	switch {
	case t.Padded():
		return dlpack.Errorf(dlpack.KindBuffer, "the lanes of %s are padded to bytes, which a legacy DLPack capsule cannot express; pass max_version=(1, 0)", t.Record().DType)
	case t.ReadOnly():
		return dlpack.Errorf(dlpack.KindBuffer, "the tensor is read-only, which a legacy DLPack capsule cannot express; pass max_version=(1, 0) or copy=True")
	}
	return nil
}

func exportCopy(t cpython.Tensor, r Request) (cpython.Object, error) {
	if !r.Versioned && t.Padded() {
		return cpython.Object{}, fitsLegacy(t)
	}
	to := memory.CloneDevice(t)
	if r.Device != nil {
		to = *r.Device
	}
	o, err := memory.Copy(t, to)
	if err != nil {
		return cpython.Object{}, err
	}
	defer o.Release()
	copied, _ := cpython.TensorOf(o)
	if err := handOver(to, r.Stream); err != nil {
		return cpython.Object{}, err
	}
	return copied.Capsule(r.Versioned, dlpack.IsCopied)
}
