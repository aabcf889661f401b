package imagebatch

import "math"

// A filter gives, for each new sample of one axis, the old samples it is made of, with their weights. It is Pillow's triangle
// filter, with the same weights and rounding, scaled to the larger of a new and an old sample.
type filter struct {
	taps    []taps
	most    int      // the length of each sample's weights, of which the last may be 0
	weights []uint32 // of all taps, in order; the sum of a sample's weights is 1<<precision
}

// taps are the old samples of one new sample: the first one, and their number.
type taps struct{ first, count int }

// last reports whether x is the last sample.
func (t taps) last(x int) bool { return x == t.first+t.count-1 }

// precision leaves room in a uint32 for a byte, and in Pillow for a sign and one more bit.
const precision = 32 - 8 - 2

// set makes f the filter from n old samples, of which the box from 0 to end counts, to the number of new ones in to.
func (f *filter) set(n int, end float64, to int) {
	scale := end / float64(to)
	support := max(scale, 1)
	f.taps, f.most = f.taps[:0], 0
	for i := range to + to%2 { // samples come in pairs: the last one may be beyond the end
		i = min(i, to-1)
		center := (float64(i) + 0.5) * scale
		first := max(0, int(center-support+0.5))
		last := min(n, int(center+support+0.5))
		f.taps = append(f.taps, taps{first, last - first})
		f.most = max(f.most, last-first)
	}
	if padded := max(4, f.most+f.most%2); padded <= 6 && padded <= n { // for loops without a loop inside
		f.most = padded
	}
	f.weights = grown(f.weights, len(f.taps)*f.most)
	for i := range f.taps {
		f.weigh(f.weights[i*f.most:(i+1)*f.most], f.taps[i], (float64(min(i, to-1))+0.5)*scale, 1/support)
		f.moveLeft(i, n)
	}
}

// weigh sets the weights of one new sample.
func (f *filter) weigh(weights []uint32, t taps, center, narrow float64) {
	sum := 0.0
	for x := range t.count {
		sum += triangle((float64(t.first+x) - center + 0.5) * narrow)
	}
	clear(weights)
	for x := range t.count {
		weight := triangle((float64(t.first+x)-center+0.5)*narrow) / sum
		weights[x] = uint32(math.Round(weight * (1 << precision)))
	}
}

// moveLeft lets the weights of a new sample end within the n old ones: those of 0 are in front then.
func (f *filter) moveLeft(i, n int) {
	t := &f.taps[i]
	beyond := min(t.first+f.most-n, t.first)
	if beyond <= 0 {
		return
	}
	weights := f.weights[i*f.most : (i+1)*f.most]
	copy(weights[beyond:], weights)
	clear(weights[:beyond])
	t.first, t.count = t.first-beyond, t.count+beyond
}

// weight returns the weight of old sample x in new sample i.
func (f *filter) weight(i, x int) uint32 { return f.weights[i*f.most+x-f.taps[i].first] }

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

// A workspace is the memory that one goroutine needs besides the tensor. Its numbers are pairs: two of 32 bits, so that one
// multiplication serves two pixels of a row. They never carry into each other, since no weight is negative.
type workspace struct {
	across, down filter
	line         []uint64 // an old row, scaled to the new width
	sums         []uint64 // of the new plane
}

// resample scales a plane to height rows of width bytes. Each old row is filtered horizontally, and then added to the new rows
// that it contributes to, so that there is no intermediate plane.
func (w *workspace) resample(p plane, to []byte, height, width int) {
	w.across.set(p.width, p.across, width)
	w.down.set(p.height, p.down, height)
	pairs := (width + 1) / 2
	w.line = grown(w.line, pairs)
	w.sums = grown(w.sums, height*pairs)
	for i := range w.sums {
		w.sums[i] = half<<32 | half
	}
	unfinished := 0
	for y := range p.height {
		w.filter(p.pix[y*p.stride:], p.step)
		for i := unfinished; i < height && w.down.taps[i].first <= y; i++ {
			sums := w.sums[i*pairs : (i+1)*pairs]
			add(sums, w.line, uint64(w.down.weight(i, y)))
			if w.down.taps[i].last(y) {
				unpack(to[i*width:(i+1)*width], sums)
				unfinished = i + 1
			}
		}
	}
}

// filter filters an old row, whose samples are step bytes apart, into line.
func (w *workspace) filter(row []byte, step int) {
	f := &w.across
	switch {
	case step == 1 && f.most == 4:
		for x := range w.line {
			w.line[x] = f.apply4(2*x, row) | f.apply4(2*x+1, row)<<32
		}
	case step == 1 && f.most == 6:
		for x := range w.line {
			w.line[x] = f.apply6(2*x, row) | f.apply6(2*x+1, row)<<32
		}
	default:
		for x := range w.line {
			w.line[x] = f.apply(2*x, row, step) | f.apply(2*x+1, row, step)<<32
		}
	}
}

// apply returns one new sample.
func (f *filter) apply(i int, row []byte, step int) uint64 {
	sum, at := uint32(half), f.taps[i].first*step
	for _, weight := range f.weights[i*f.most:][:f.taps[i].count] {
		sum += weight * uint32(row[at])
		at += step
	}
	return uint64(sum >> precision)
}

// apply4 is apply for 4 samples that are next to each other.
func (f *filter) apply4(i int, row []byte) uint64 {
	w, old := (*[4]uint32)(f.weights[4*i:]), (*[4]byte)(row[f.taps[i].first:])
	sum := uint32(half) + w[0]*uint32(old[0]) + w[1]*uint32(old[1]) + w[2]*uint32(old[2]) + w[3]*uint32(old[3])
	return uint64(sum >> precision)
}

// apply6 is apply for 6 samples that are next to each other.
func (f *filter) apply6(i int, row []byte) uint64 {
	w, old := (*[6]uint32)(f.weights[6*i:]), (*[6]byte)(row[f.taps[i].first:])
	sum := uint32(half) + w[0]*uint32(old[0]) + w[1]*uint32(old[1]) + w[2]*uint32(old[2]) + w[3]*uint32(old[3])
	sum += w[4]*uint32(old[4]) + w[5]*uint32(old[5])
	return uint64(sum >> precision)
}

func add(sums, line []uint64, weight uint64) {
	line = line[:len(sums)]
	for x := range sums {
		sums[x] += weight * line[x]
	}
}

// unpack divides the sums of a row.
func unpack(to []byte, sums []uint64) {
	for len(to) >= 2 && len(sums) >= 1 {
		to[0], to[1] = byte(sums[0]>>precision), byte(sums[0]>>(32+precision))
		to, sums = to[2:], sums[1:]
	}
	if len(to) == 1 {
		to[0] = byte(sums[0] >> precision)
	}
}

// half is added for rounding.
const half uint64 = 1 << (precision - 1)

// grown returns a slice of length n, with the same memory if it is large enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
