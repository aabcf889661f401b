package dlpack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// offsets lists the element offsets of a small array in row-major order.
func offsets(shape, strides []int64) []int64 {
	all := []int64{0}
	for i, n := range shape {
		var next []int64
		for _, at := range all {
			for k := range n {
				next = append(next, at+k*strides[i])
			}
		}
		all = next
	}
	return all
}

func TestReshapeOfSlices(t *testing.T) {
	cases := []struct {
		shape, strides, to, want []int64
	}{
		{[]int64{2, 3}, []int64{3, 1}, []int64{6}, []int64{1}},
		{[]int64{2, 3}, []int64{3, 1}, []int64{3, 1, 2}, []int64{2, 2, 1}},
		{[]int64{2, 3}, []int64{1, 2}, []int64{6}, nil},
		{[]int64{4, 3}, []int64{6, 2}, []int64{2, 2, 3}, []int64{12, 6, 2}},
		{[]int64{6}, []int64{-2}, []int64{2, 3}, []int64{-6, -2}},
		{[]int64{2, 3}, []int64{0, 0}, []int64{6}, []int64{0}},
		{[]int64{1, 1}, []int64{99, 7}, []int64{}, []int64{}},
		{[]int64{0, 3}, []int64{3, 1}, []int64{3, 0}, []int64{1, 1}},
	}
	for _, c := range cases {
		got, ok := Reshape(c.shape, c.strides, c.to)
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("Reshape(%v, %v, %v) = %v, %v; want %v", c.shape, c.strides, c.to, got, ok, c.want)
		}
	}
}

// A permitted reshape visits the same elements in the same order; one to the original shape is always permitted.
func TestReshapeKeepsTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := [][]int64{{12}, {3, 4}, {4, 3}, {2, 6}, {2, 3, 2}, {2, 2, 3}, {3, 2, 2}, {1, 12}, {12, 1}, {2, 1, 6}}
	for range 20000 {
		shape, to := shapes[r.IntN(len(shapes))], shapes[r.IntN(len(shapes))]
		strides := make([]int64, len(shape))
		for i := range strides {
			strides[i] = []int64{-6, -1, 0, 1, 2, 3, 4, 6, 12}[r.IntN(9)]
		}
		got, ok := Reshape(shape, strides, to)
		if ok && !slices.Equal(offsets(shape, strides), offsets(to, got)) {
			t.Fatalf("Reshape(%v, %v, %v) = %v walks other elements", shape, strides, to, got)
		}
		if !ok && slices.Equal(shape, to) {
			t.Fatalf("Reshape(%v, %v, %v) needs no copy", shape, strides, to)
		}
	}
}
