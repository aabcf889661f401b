package tensor

import (
	"slices"

	"godlpack/dlpack"
)

// Option is a requirement on a tensor beside its type, or information about it.
type Option struct {
	kind  optionKind
	value uint64
}

type optionKind uint8

const (
	optionLayout optionKind = iota
	optionNDim
	optionDevice
	optionFlags
)

// A layout is a requirement on the strides.
type layout uint64

const (
	anyLayout layout = iota
	rowMajor
	columnMajor
	ascending
)

// The layouts that a view can require. Without one, any strides are accepted. Strides of axes with extent 1, and all strides of
// an empty tensor, are free.
var (
	RowMajor    = Option{optionLayout, uint64(rowMajor)}    // compact, the last axis is the fastest; Slice works
	ColumnMajor = Option{optionLayout, uint64(columnMajor)} // compact, the first axis is the fastest
	Ascending   = Option{optionLayout, uint64(ascending)}   // all strides above 0: nothing reversed, nothing broadcast
)

// NDim requires n axes.
func NDim(n int) Option { return Option{optionNDim, uint64(n)} }

// On requires memory of that type of device.
func On(d dlpack.DeviceType) Option { return Option{optionDevice, uint64(d)} }

// Flagged passes the flags that belong to the tensor: those of its ManagedTensorVersioned. Without them the tensor is assumed
// to be writable, and its lanes below a byte to be packed.
func Flagged(f dlpack.Flags) Option { return Option{optionFlags, uint64(f)} }

// A request combines all options.
type request struct {
	ndim   int // any if below 0
	layout layout
	device dlpack.DeviceType // any if 0
	flags  dlpack.Flags
}

func newRequest(options []Option) request {
	r := request{ndim: -1}
	for _, o := range options {
		switch o.kind {
		case optionLayout:
			r.layout = layout(o.value)
		case optionNDim:
			r.ndim = int(o.value)
		case optionDevice:
			r.device = dlpack.DeviceType(o.value)
		case optionFlags:
			r.flags = dlpack.Flags(o.value)
		}
	}
	return r
}

// writable rejects memory that the flags mark read-only.
func (r request) writable() error {
	if r.flags.Has(dlpack.ReadOnly) {
		return dlpack.Errorf(dlpack.KindBuffer, "want a tensor that may be written, got a read-only one")
	}
	return nil
}

// check checks a valid tensor against the request.
func (r request) check(t *dlpack.Tensor) error {
	switch {
	case r.device != 0 && r.device != t.Device.Type:
		return dlpack.Errorf(dlpack.KindBuffer, "want a tensor on %v, got one on %v; %s", r.device, t.Device, dlpack.DeviceRemedy("x", r.device, false))
	case r.ndim >= 0 && r.ndim != int(t.NDim):
		return dlpack.Errorf(dlpack.KindValue, "want %d axes, got shape %v", r.ndim, slices.Clone(t.ShapeSlice()))
	case !r.layout.matches(t.ShapeSlice(), t.StridesSlice()):
		return dlpack.Errorf(dlpack.KindBuffer, "want %v strides, got %v for shape %v; %s",
			r.layout, slices.Clone(t.StridesSlice()), slices.Clone(t.ShapeSlice()), r.layout.remedy(int(t.NDim)))
	}
	return nil
}

func (l layout) matches(shape, strides []int64) bool {
	switch l {
	case rowMajor:
		return dlpack.IsContiguous(shape, strides, 'C')
	case columnMajor:
		return dlpack.IsContiguous(shape, strides, 'F')
	case ascending:
		return ascends(shape, strides)
	}
	return true
}

// remedy describes how to get a matching tensor: a row-major one is ascending, too.
func (l layout) remedy(ndim int) string {
	if l == columnMajor {
		return dlpack.OrderRemedy("x", 'F', ndim, false)
	}
	return dlpack.OrderRemedy("x", 'C', ndim, false)
}

func ascends(shape, strides []int64) bool {
	for i, step := range strides {
		if step <= 0 && shape[i] > 1 {
			return slices.Contains(shape, 0)
		}
	}
	return true
}

// String names the layout for error texts.
func (l layout) String() string {
	return [...]string{"any", "row-major", "column-major", "positive"}[l]
}
