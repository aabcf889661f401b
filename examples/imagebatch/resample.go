package imagebatch

import "math"

// A filter says for each new sample of one axis which old ones it is made of, and how much of each. It is the triangle
// filter, as wide as a new sample where that covers more than one old, and Pillow's in all: its weights, its rounding.
type filter struct {
	taps    []taps
	weights []int32 // of all taps, one behind the other; each sample's are 1<<precision in sum
}

// taps are the old samples that one new is made of: the first, how many, and where their weights begin.
type taps struct{ first, count, weights int }

// last tells whether none follows sample x.
func (t taps) last(x int) bool { return x == t.first+t.count-1 }

// precision leaves room for a byte and a sign in an int32, and a bit to spare.
const precision = 32 - 8 - 2

// set makes f the filter from a box of n samples, from the first sample's edge to end, to so many new ones.
func (f *filter) set(n int, end float64, to int) {
	f.taps, f.weights = f.taps[:0], f.weights[:0]
	scale := end / float64(to)
	support := max(scale, 1)
	for i := range to {
		center := (float64(i) + 0.5) * scale
		first := max(0, int(center-support+0.5))
		last := min(n, int(center+support+0.5))
		f.taps = append(f.taps, taps{first, last - first, len(f.weights)})
		f.weigh(first, last, center, 1/support)
	}
}

// weigh appends the weights of one new sample.
func (f *filter) weigh(first, last int, center, narrow float64) {
	sum := 0.0
	for x := first; x < last; x++ {
		sum += triangle((float64(x) - center + 0.5) * narrow)
	}
	for x := first; x < last; x++ {
		weight := triangle((float64(x)-center+0.5)*narrow) / sum
		f.weights = append(f.weights, int32(math.Round(weight*(1<<precision))))
	}
}

// weight is that of old sample x in new sample i.
func (f *filter) weight(i, x int) int32 { return f.weights[f.taps[i].weights+x-f.taps[i].first] }

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

// A workspace is the memory that one goroutine needs besides the tensor.
type workspace struct {
	across, down filter
	line         []byte  // an old row of the new width
	sums         []int32 // of the new plane
}

// resample scales a plane to height rows of width bytes. Each old row is filtered across, and then added to those new rows
// that it is in, so that there is never a whole plane in between.
func (w *workspace) resample(p plane, to []byte, height, width int) {
	w.across.set(p.width, p.across, width)
	w.down.set(p.height, p.down, height)
	w.line = grown(w.line, width)
	w.sums = grown(w.sums, height*width)
	for i := range w.sums {
		w.sums[i] = half
	}
	unfinished := 0
	for y := range p.height {
		w.filter(p.pix[y*p.stride:], p.step)
		for i := unfinished; i < height && w.down.taps[i].first <= y; i++ {
			sums := w.sums[i*width : (i+1)*width]
			add(sums, w.line, w.down.weight(i, y))
			if w.down.taps[i].last(y) {
				clip(to[i*width:(i+1)*width], sums)
				unfinished = i + 1
			}
		}
	}
}

// filter makes the line of an old row.
func (w *workspace) filter(from []byte, step int) {
	for x, t := range w.across.taps {
		sum, at := half, t.first*step
		for _, weight := range w.across.weights[t.weights : t.weights+t.count] {
			sum += weight * int32(from[at])
			at += step
		}
		w.line[x] = clipped(sum)
	}
}

func add(sums []int32, line []byte, weight int32) {
	line = line[:len(sums)]
	for x := range sums {
		sums[x] += weight * int32(line[x])
	}
}

func clip(to []byte, sums []int32) {
	to = to[:len(sums)]
	for x, sum := range sums {
		to[x] = clipped(sum)
	}
}

// half is what rounding adds.
const half int32 = 1 << (precision - 1)

func clipped(sum int32) byte { return byte(max(0, min(255, sum>>precision))) }

// grown returns a slice of length n, the same memory if there is enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
