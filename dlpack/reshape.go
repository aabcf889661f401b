package dlpack

// Reshape returns strides under which the elements of (shape, strides), taken in row-major order, have the shape to, without
// moving any; ok is false if there are none, so that only a copy would do. Both shapes have the same size, and strides are in
// elements.
func Reshape(shape, strides, to []int64) (result []int64, ok bool) {
	result = make([]int64, len(to))
	if size, _ := Elements(to); size <= 1 {
		CompactStrides(result, to)
		return result, true
	}
	shape, strides = merge(shape, strides)
	axis := len(shape) - 1
	left, step := shape[axis], strides[axis] // of the merged axis that is being split, from its end
	for i := len(to) - 1; i >= 0; i-- {
		result[i] = step
		if to[i] == 1 {
			continue
		}
		if left%to[i] != 0 {
			return nil, false
		}
		left, step = left/to[i], step*to[i]
		if left == 1 && axis > 0 {
			axis--
			left, step = shape[axis], strides[axis]
		}
	}
	return result, true
}

// merge joins neighbouring axes that one stride covers, and drops those of extent 1.
func merge(shape, strides []int64) (s, st []int64) {
	for i, n := range shape {
		last := len(s) - 1
		switch {
		case n == 1:
		case last >= 0 && st[last] == n*strides[i]:
			s[last], st[last] = s[last]*n, strides[i]
		default:
			s, st = append(s, n), append(st, strides[i])
		}
	}
	return s, st
}
