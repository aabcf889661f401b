package imagebatch

import "math"

// A filter gives, for each new sample of one axis, the old samples it is made of, with their weights. It is Pillow's triangle
// filter, with the same weights and rounding, scaled to the larger of a new and an old sample.
type filter struct {
	taps    []taps
	weights []int32 // of all taps, in order; the sum of a sample's weights is 1<<precision
}

// taps are the old samples of one new sample: the first one, their number, and the index of their first weight.
type taps struct{ first, count, weights int }

// last reports whether x is the last sample.
func (t taps) last(x int) bool { return x == t.first+t.count-1 }

// precision leaves room in an int32 for a byte, a sign and one more bit.
const precision = 32 - 8 - 2

// set makes f the filter from n old samples, of which the box from 0 to end counts, to the number of new ones in to.
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

// weight returns the weight of old sample x in new sample i.
func (f *filter) weight(i, x int) int32 { return f.weights[f.taps[i].weights+x-f.taps[i].first] }

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

// A workspace is the memory that one goroutine needs besides the tensor.
type workspace struct {
	across, down filter
	line         []byte  // an old row, scaled to the new width
	sums         []int32 // of the new plane
}

// resample scales a plane to height rows of width bytes. Each old row is filtered horizontally, and then added to the new rows
// that it contributes to, so that there is no intermediate plane.
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

// filter filters an old row into line.
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

// half is added for rounding.
const half int32 = 1 << (precision - 1)

func clipped(sum int32) byte { return byte(max(0, min(255, sum>>precision))) }

// grown returns a slice of length n, with the same memory if it is large enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
