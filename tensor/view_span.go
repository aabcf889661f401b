package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// A span is the common part of all views: the place of the elements, without access to them. It is four words, as many as Go
// keeps in registers: a larger one would be in memory, and be copied there at each call of a method.
type span[T Element] struct {
	start unsafe.Pointer // the first element; nil if there is none
	dims  *int64         // extents, one for each axis; with Hold, their memory also keeps the owner
	steps *int64         // strides, in elements; nil means compact row-major
	place
}

var _ [32]byte = [unsafe.Sizeof(span[byte]{})]byte{}

// A place is a device and a number of axes, in compact form.
type place struct {
	axes uint8
	held bool  // Hold has made dims
	kind int16 // a dlpack.DeviceType whose memory has addresses
	id   int32
}

func placeOf(axes int, device dlpack.Device) place {
	return place{axes: uint8(axes), kind: int16(device.Type), id: device.ID}
}

// spanOf returns a span with that shape; strides are nil or as many.
func spanOf[T Element](start unsafe.Pointer, shape, strides []int64, device dlpack.Device) span[T] {
	return span[T]{start, unsafe.SliceData(shape), unsafe.SliceData(strides), placeOf(len(shape), device)}
}

func (v span[T]) strides() []int64 {
	if v.steps == nil {
		return nil
	}
	return unsafe.Slice(v.steps, v.axes)
}

// Shape returns the extents. The slice is the tensor's own: do not change it.
func (v span[T]) Shape() []int64 { return unsafe.Slice(v.dims, v.axes) }

// NDim returns the number of axes.
func (v span[T]) NDim() int { return int(v.axes) }

// Len returns the number of elements.
func (v span[T]) Len() int {
	if v.start == nil {
		return 0
	}
	n := 1
	for _, extent := range v.Shape() {
		n *= int(extent)
	}
	return n
}

// Stride returns the distance between neighbours along axis i, in elements.
func (v span[T]) Stride(i int) int64 {
	if v.steps != nil {
		return v.strides()[i]
	}
	step := int64(1)
	for _, extent := range v.Shape()[i+1:] {
		step *= max(extent, 1)
	}
	return step
}

// Contiguous reports whether the elements are consecutive in row-major order, so that Slice works. It is true for an empty
// view.
func (v span[T]) Contiguous() bool { return dlpack.IsContiguous(v.Shape(), v.strides(), 'C') }

// Device returns the device of the memory.
func (v span[T]) Device() dlpack.Device {
	return dlpack.Device{Type: dlpack.DeviceType(v.kind), ID: v.id}
}

// Pointer returns the address of the first element, nil if there is none.
func (v span[T]) Pointer() unsafe.Pointer { return v.start }

func (v span[T]) at(offset int64) *T {
	return (*T)(unsafe.Add(v.start, offset*int64(unsafe.Sizeof(*(*T)(nil)))))
}

// viewOf checks t and returns the span of its elements.
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
	v := spanOf[T](t.Start(), t.ShapeSlice(), t.StridesSlice(), t.Device)
	if n, _ := t.Size(); n == 0 {
		v.start = nil
	}
	if align := unsafe.Alignof(*(*T)(nil)); uintptr(v.start)%align != 0 {
		return span[T]{}, dlpack.Errorf(dlpack.KindBuffer, "want %v aligned to %d bytes, got address %#x; %s",
			t.DType, align, uintptr(v.start), dlpack.AlignmentRemedy("x", false))
	}
	return v, nil
}

// fits rejects elements that are not stored as Go stores a T.
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
