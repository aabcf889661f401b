package vecindex

import "math"

// lanes is what the lengths of stored vectors are multiples of, so that the loops over them have no rest. Zeros fill them up,
// which change no distance.
const lanes = 8

// A metric is a distance, and what is done to vectors before they are compared.
type metric struct {
	distance  func(a, b []float32) float32
	normalize bool
}

var metrics = map[string]metric{
	"l2":     {distance: squared},
	"ip":     {distance: fromDot},
	"cosine": {distance: fromDot, normalize: true},
}

// squared returns the square of the Euclidean distance. Both have the same multiple of lanes elements. Four sums at a time keep
// the adders busy, and pointers to arrays need no check of bounds.
func squared(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= lanes && len(b) >= lanes {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		d4, d5, d6, d7 := x[4]-y[4], x[5]-y[5], x[6]-y[6], x[7]-y[7]
		s0 += d4 * d4
		s1 += d5 * d5
		s2 += d6 * d6
		s3 += d7 * d7
		a, b = a[lanes:], b[lanes:]
	}
	return s0 + s1 + (s2 + s3)
}

// fromDot returns 1 less the inner product.
func fromDot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= lanes && len(b) >= lanes {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s0 += x[4] * y[4]
		s1 += x[5] * y[5]
		s2 += x[6] * y[6]
		s3 += x[7] * y[7]
		a, b = a[lanes:], b[lanes:]
	}
	return 1 - (s0 + s1 + (s2 + s3))
}

// toUnit scales a vector to length 1. One of zeros stays, and has the distance 1 to all.
func toUnit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
}

// mostElement is the largest element. The distance of two vectors of mostDim such elements is still a float32.
const mostElement = 1e16

// check refuses a vector, one of several, with an element out of range.
func check(v []float32, row int) error {
	for column, x := range v {
		if !(-mostElement <= x && x <= mostElement) { // neither is NaN
			return &ElementError{Row: row, Column: column, Value: float64(x)}
		}
	}
	return nil
}
