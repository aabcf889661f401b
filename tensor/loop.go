package tensor

import (
	"cmp"
	"slices"

	"godlpack/dlpack"
)

// An axis is one loop over two arrays of the same shape. Strides are in elements.
type axis struct{ extent, dst, src int64 }

// A loop visits all elements of two arrays in the best order for dst's memory.
type loop struct {
	dst, src int64  // offsets of the first element
	outer    []axis // outermost first
	inner    axis
}

// newLoop plans a loop over dst and src, which have that shape and at least one element. It reverses axes so that dst ascends,
// sorts them by dst's strides, and joins those that continue each other in both arrays: two compact arrays have one axis left.
func newLoop(shape, dst, src []int64) loop {
	var l loop
	axes := make([]axis, 0, len(shape))
	for i, extent := range shape {
		a := axis{extent, dst[i], src[i]}
		if extent == 1 {
			continue
		}
		if a.dst < 0 {
			l.dst += (extent - 1) * a.dst
			l.src += (extent - 1) * a.src
			a.dst, a.src = -a.dst, -a.src
		}
		axes = append(axes, a)
	}
	slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(b.dst, a.dst) })
	l.outer, l.inner = split(join(axes))
	return l
}

// join merges neighbouring axes that one axis could replace in both arrays.
func join(axes []axis) []axis {
	joined := axes[:0]
	for _, a := range axes {
		if n := len(joined); n > 0 && joined[n-1].dst == a.extent*a.dst && joined[n-1].src == a.extent*a.src {
			a.extent *= joined[n-1].extent
			joined = joined[:n-1]
		}
		joined = append(joined, a)
	}
	return joined
}

// split returns the innermost axis separately; an array of one element has one of extent 1.
func split(axes []axis) (outer []axis, inner axis) {
	if len(axes) == 0 {
		return nil, axis{1, 1, 1}
	}
	return axes[:len(axes)-1], axes[len(axes)-1]
}

// rows calls f with the offsets of the first element of each row of the inner axis.
func (l *loop) rows(f func(dst, src int64)) {
	index := make([]int64, len(l.outer))
	dst, src := l.dst, l.src
	for {
		f(dst, src)
		i := len(l.outer) - 1
		for ; i >= 0; i-- {
			a := l.outer[i]
			dst, src = dst+a.dst, src+a.src
			if index[i]++; index[i] < a.extent {
				break
			}
			dst, src = dst-a.extent*a.dst, src-a.extent*a.src
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// loopOver is newLoop for tensors.
func loopOver(dst, src *dlpack.Tensor) loop {
	return newLoop(dst.ShapeSlice(), strides(dst), strides(src))
}
