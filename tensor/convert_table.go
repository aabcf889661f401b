package tensor

import "unsafe"

// tabulate combines stages, which begin with cells of one byte, into one stage with a table. It takes the time of 256 numbers,
// so tables are not kept between calls.
func tabulate(stages []stage, cell int64) stage {
	var codes [256]uint8
	for i := range codes {
		codes[i] = uint8(i)
	}
	w := newPipeline(nil, nil, stages, int64(len(codes)))
	table := newBuffer(int64(len(codes)))
	run(stages, table, unsafe.Pointer(&codes), int64(len(codes)), w.between)
	switch cell {
	case 1:
		return lookup((*[256]uint8)(table))
	case 2:
		return lookup((*[256]uint16)(table))
	case 4:
		return lookup((*[256]uint32)(table))
	}
	return lookup((*[256]uint64)(table))
}

func lookup[D uint8 | uint16 | uint32 | uint64](table *[256]D) stage {
	return func(dst, src unsafe.Pointer, n int64) {
		to, from := cellsAt[D](dst, n), bytesAt(src, n)
		for i, code := range from {
			to[i] = table[code]
		}
	}
}

// cellsAt returns n cells as a slice.
func cellsAt[T any](p unsafe.Pointer, n int64) []T { return unsafe.Slice((*T)(p), n) }
