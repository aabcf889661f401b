package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// A span is what views of all kinds have in common: where the elements lie, but no way to reach them.
type span[T Element] struct {
	start   unsafe.Pointer // the first element; nil if there is none
	shape   []int64
	strides []int64 // in elements; nil means compact row-major
	device  dlpack.Device
	owner   any // only kept
}

// Shape returns the extents. The slice is the tensor's own: do not change it.
func (v span[T]) Shape() []int64 { return v.shape }

// NDim returns the number of axes.
func (v span[T]) NDim() int { return len(v.shape) }

// Len returns the number of elements.
func (v span[T]) Len() int {
	if v.start == nil {
		return 0
	}
	n := 1
	for _, extent := range v.shape {
		n *= int(extent)
	}
	return n
}

// Stride returns the distance between neighbours along axis i, in elements.
func (v span[T]) Stride(i int) int64 {
	if v.strides != nil {
		return v.strides[i]
	}
	step := int64(1)
	for _, extent := range v.shape[i+1:] {
		step *= max(extent, 1)
	}
	return step
}

// Contiguous reports whether the elements lie one behind the other in row-major order, so that Slice works.
func (v span[T]) Contiguous() bool { return dlpack.IsContiguous(v.shape, v.strides, 'C') }

// Device returns the device whose memory this is.
func (v span[T]) Device() dlpack.Device { return v.device }

// Pointer returns the address of the first element, nil if there is none.
func (v span[T]) Pointer() unsafe.Pointer { return v.start }

func (v span[T]) at(offset int64) *T {
	return (*T)(unsafe.Add(v.start, offset*int64(unsafe.Sizeof(*(*T)(nil)))))
}

// viewOf checks t and returns where its elements lie.
func viewOf[T Element](t *dlpack.Tensor, r request) (span[T], error) {
	if err := t.Validate(); err != nil {
		return span[T]{}, err
	}
	if err := fits[T](t, r.flags); err != nil {
		return span[T]{}, err
	}
	if err := r.check(t); err != nil {
		return span[T]{}, err
	}
	v := span[T]{start: t.Start(), shape: t.Dims(), strides: t.Steps(), device: t.Device}
	if n, _ := t.Size(); n == 0 {
		v.start = nil
	}
	if align := unsafe.Alignof(*(*T)(nil)); uintptr(v.start)%align != 0 {
		return span[T]{}, dlpack.Errorf(dlpack.KindBuffer, "want %v aligned to %d bytes, got address %#x", t.DType, align, uintptr(v.start))
	}
	return v, nil
}

// fits refuses elements that are not stored as Go stores a T.
func fits[T Element](t *dlpack.Tensor, flags dlpack.Flags) error {
	want := DTypeOf[T]()
	if t.DType != want {
		return dlpack.Errorf(dlpack.KindType, "want a tensor of %v, got %v", want, t.DType)
	}
	if !t.Device.Type.PointerData() {
		return dlpack.Errorf(dlpack.KindBuffer, "want memory with an address, got a handle on %v", t.Device)
	}
	if !want.SubByte() {
		return nil
	}
	if want, got := storage[T](), flags&dlpack.SubbytePadded; want != got {
		return dlpack.Errorf(dlpack.KindBuffer, "want lanes of %v %s, got them %s", t.DType, storageText(want), storageText(got))
	}
	return nil
}

func storageText(f dlpack.Flags) string {
	if f.Has(dlpack.SubbytePadded) {
		return "padded to a byte each"
	}
	return "packed"
}
