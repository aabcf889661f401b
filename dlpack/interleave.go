package dlpack

import (
	"cmp"
	"slices"
)

// A part is a tensor's place in memory, one axis for each stride: its extents, and the offset of its lowest element.
type part struct {
	low  int64 // in bytes from 0
	size int64 // of an element, in bytes
	axes []axis
}

// interleaved reports whether a and b, neither of them empty, are parts of one array in each other's gaps, such as two of its
// columns: both have the same strides, and along one axis they are disjoint. It never returns true for tensors that share an
// element, but may return false for others.
func interleaved(a, b *Tensor) bool {
	if a.DType.SubByte() || b.DType.SubByte() || a.DType.ItemSize(true) != b.DType.ItemSize(true) {
		return false
	}
	p, q := partOf(a), partOf(b)
	if p.low > q.low {
		p, q = q, p
	}
	distance := q.low - p.low
	if distance%p.size != 0 {
		return false
	}
	return apart(digits(p, q, distance/p.size))
}

// A digit is one common axis of the array of two parts: how far each reaches along it, the second from at on.
type digit struct{ stride, first, at, second int64 }

// digits returns the axes of two parts, smallest stride first, with the start of the second part. A stride that one part has
// twice gives two digits of the same stride, which are not nested.
func digits(p, q part, distance int64) []digit {
	all := make([]digit, 0, 16)
	for _, a := range p.axes {
		all = append(all, digit{a.stride, a.extent, 0, 1})
	}
	for _, b := range q.axes {
		i := slices.IndexFunc(all, func(d digit) bool { return d.stride == b.stride && d.second == 1 })
		if i < 0 {
			all = append(all, digit{b.stride, 1, 0, b.extent})
		} else {
			all[i].second = b.extent
		}
	}
	if !slices.ContainsFunc(all, func(d digit) bool { return d.stride == 1 }) {
		all = append(all, digit{1, 1, 0, 1})
	}
	slices.SortFunc(all, func(a, b digit) int { return cmp.Compare(a.stride, b.stride) })
	for i := range slices.Backward(all) {
		if d := &all[i]; d.stride > 0 {
			d.at, distance = distance/d.stride, distance%d.stride
		}
	}
	return all
}

// apart reports whether the digits distinguish all elements of both parts, and the parts share none.
func apart(all []digit) bool {
	reach, meets := int64(0), true
	for _, d := range all {
		if d.stride <= reach {
			return false
		}
		extent, ok := mul(max(d.first, d.at+d.second)-1, d.stride)
		if !ok || reach+extent < reach {
			return false
		}
		reach += extent
		meets = meets && d.at < d.first
	}
	return !meets
}

// partOf returns the place of a tensor that has a byte range.
func partOf(t *Tensor) part {
	p := part{size: int64(t.DType.ItemSize(true)), axes: make([]axis, 0, 8)}
	start, _ := t.startAddress()
	p.low = int64(start)
	dims, steps := t.ShapeSlice(), t.StridesSlice()
	for i, extent := range dims {
		if extent == 1 {
			continue
		}
		step := stride(dims, steps, i)
		if step < 0 {
			p.low += (extent - 1) * step * p.size
			step = -step
		}
		p.axes = append(p.axes, axis{extent, step})
	}
	return p
}
