package dlpack

import (
	"cmp"
	"slices"
)

// An axis is one dimension with more than one index: extent is at least 2.
type axis struct{ extent, stride int64 }

// SelfOverlap reports whether two different indices reach the same element. Writes to such an array in parallel, or element by
// element as a function of its own values, are undefined.
//
// The result is exact for all arrays with at most two axes of extent 2 or more, for broadcasts (a stride of 0), and for all
// slices, transpositions and paddings of a compact array. For others it may be true without an overlap: the exact answer is a
// knapsack problem. The shape and the strides must be such that Extent accepts them; otherwise it is true.
func SelfOverlap(shape, strides []int64) bool {
	if _, _, err := Extent(shape, strides); err != nil {
		return true
	}
	if strides == nil || slices.Contains(shape, 0) {
		return false
	}
	axes := movable(shape, strides)
	return !nested(axes) && (len(axes) != 2 || meet(axes[0], axes[1]))
}

// movable returns the axes of extent 2 or more with the absolute values of their strides, smallest stride first.
func movable(shape, strides []int64) []axis {
	axes := make([]axis, 0, 8)
	for i, extent := range shape {
		if extent > 1 {
			axes = append(axes, axis{extent, max(strides[i], -strides[i])})
		}
	}
	slices.SortFunc(axes, func(a, b axis) int { return cmp.Compare(a.stride, b.stride) })
	return axes
}

// nested reports whether each stride exceeds the total reach of all smaller ones. Then an offset determines its index, digit by
// digit.
func nested(axes []axis) bool {
	reach := int64(0)
	for _, a := range axes {
		if a.stride <= reach {
			return false
		}
		reach += (a.extent - 1) * a.stride
	}
	return true
}

// meet reports whether i steps along a and j steps along b end at the same offset, for some i and j within their extents. The
// smallest such pair is i = b.stride/g, j = a.stride/g with g their greatest common divisor.
func meet(a, b axis) bool {
	if a.stride == 0 || b.stride == 0 {
		return true
	}
	g := gcd(a.stride, b.stride)
	return b.stride/g < a.extent && a.stride/g < b.extent
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Overlap reports whether the memory of a and of b may have a byte in common. It compares the ranges from the first to the last
// byte, and recognizes disjoint parts of one array in each other's gaps, such as its columns; for other interleaved arrays it
// may be true without an overlap. It treats sub-byte types as padded. It is never false for two tensors that share an element.
// Addresses are compared across devices, because managed and pinned memory has one address on all of them; opaque handles share
// memory if device and handle are equal. Addresses that do not exist, which Validate rejects, overlap all others.
func Overlap(a, b *Tensor) bool {
	if !a.Device.Type.PointerData() || !b.Device.Type.PointerData() {
		return a.Device == b.Device && a.Address() == b.Address()
	}
	aFirst, aEnd, aKnown := a.byteRange()
	bFirst, bEnd, bKnown := b.byteRange()
	if !aKnown || !bKnown {
		return true
	}
	return max(aFirst, bFirst) < min(aEnd, bEnd) && !interleaved(a, b)
}

// byteRange returns the addresses of t's first byte and of the byte after its last; known is false if there are none.
func (t *Tensor) byteRange() (first, end uint64, known bool) {
	lo, hi, err := t.ByteExtent(true)
	start, ok := t.startAddress()
	if err != nil || !ok || !within(start, lo, hi) {
		return 0, 0, false
	}
	return start + uint64(lo), start + uint64(hi), true
}
