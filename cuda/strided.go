package cuda

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
)

// CopyStrided queues a copy of elements of itemBytes each within the stream's device, between two layouts of one shape: strides
// are in bytes. Adjacent elements are copied together, and rows at equal distances by one call; otherwise each row takes one
// call.
func (s Stream) CopyStrided(to, from unsafe.Pointer, shape, toStrides, fromStrides []int64, itemBytes int) error {
	if count, err := dlpack.Elements(shape); err != nil || count == 0 {
		return err
	}
	width, axes := mergeAxes(shape, toStrides, fromStrides, int64(itemBytes))
	pitch, err := s.device.Attribute(MaxPitch)
	if err != nil {
		return err
	}
	return s.copyAxes(to, from, width, axes, int64(pitch))
}

// axis is one loop of a copy: n steps, and the bytes of a step on either side.
type axis struct{ n, to, from int64 }

// rows reports whether the steps are the rows of a 2D copy: CUDA permits neither overlapping nor backward rows.
func (a axis) rows(width, pitch int64) bool {
	return width <= a.to && a.to <= pitch && width <= a.from && a.from <= pitch
}

// mergeAxes returns the number of bytes that are adjacent on both sides, and the loops around them, outermost first: axes that
// continue each other are merged.
func mergeAxes(shape, to, from []int64, itemBytes int64) (width int64, axes []axis) {
	width = itemBytes
	for i, n := range slices.Backward(shape) {
		switch last := len(axes) - 1; {
		case n == 1:
		case last < 0 && to[i] == width && from[i] == width:
			width *= n
		case last >= 0 && to[i] == axes[last].n*axes[last].to && from[i] == axes[last].n*axes[last].from:
			axes[last].n *= n
		default:
			axes = append(axes, axis{n, to[i], from[i]})
		}
	}
	slices.Reverse(axes)
	return width, axes
}

func (s Stream) copyAxes(to, from unsafe.Pointer, width int64, axes []axis, pitch int64) error {
	switch {
	case len(axes) == 0:
		return s.Copy(to, from, int(width))
	case len(axes) == 1 && axes[0].rows(width, pitch):
		return s.copyRows(to, from, width, axes[0])
	}
	a := axes[0]
	for i := range a.n {
		if err := s.copyAxes(unsafe.Add(to, i*a.to), unsafe.Add(from, i*a.from), width, axes[1:], pitch); err != nil {
			return err
		}
	}
	return nil
}

// side is one half of CUDA_MEMCPY2D: the place of the rows.
type side struct {
	x, y   uintptr
	kind   uintptr // CUmemorytype, which has 4 bytes, and 4 of padding
	host   uintptr
	device uintptr
	array  uintptr
	pitch  uintptr
}

// rowCopy is CUDA_MEMCPY2D. The layout is fixed: 128 bytes.
type rowCopy struct {
	from, to      side
	width, height uintptr
}

var _ [128]byte = [unsafe.Sizeof(rowCopy{})]byte{}

func (s Stream) copyRows(to, from unsafe.Pointer, width int64, a axis) error {
	const onDevice = 2
	c := rowCopy{
		from:  side{kind: onDevice, device: uintptr(from), pitch: uintptr(a.from)},
		to:    side{kind: onDevice, device: uintptr(to), pitch: uintptr(a.to)},
		width: uintptr(width), height: uintptr(a.n),
	}
	return s.call(fnMemcpy2DAsync, uintptr(unsafe.Pointer(&c)), s.handle)
}
