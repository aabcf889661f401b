package dlpack_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// view is a part of base with elements of 4 bytes.
func view(base *[400]int32, offset int64, shape, strides []int64) *dlpack.Tensor {
	return &dlpack.Tensor{
		Data: unsafe.Pointer(base), ByteOffset: uint64(4 * offset), Device: dlpack.Host, DType: dlpack.Int32,
		NDim: int32(len(shape)), Shape: unsafe.SliceData(shape), Strides: unsafe.SliceData(strides),
	}
}

// touched returns the elements of a view.
func touched(offset int64, shape, strides []int64) map[int64]bool {
	all := map[int64]bool{offset: true}
	for i, extent := range shape {
		next := map[int64]bool{}
		for at := range all {
			for k := range extent {
				next[at+k*strides[i]] = true
			}
		}
		all = next
	}
	return all
}

func share(a, b map[int64]bool) bool {
	for at := range a {
		if b[at] {
			return true
		}
	}
	return false
}

// Parts of one array made by slices: the result is exact if both have the same strides.
func TestOverlapOfParts(t *testing.T) {
	base := new([400]int32)
	for _, c := range []struct {
		name         string
		first        int64
		shape, steps []int64
		second       int64
		others       []int64
		otherSteps   []int64
		want         bool
	}{
		{"even and odd", 0, []int64{10}, []int64{2}, 1, []int64{10}, []int64{2}, false},
		{"even and odd backwards", 0, []int64{10}, []int64{2}, 19, []int64{10}, []int64{-2}, false},
		{"even twice", 0, []int64{10}, []int64{2}, 2, []int64{9}, []int64{2}, true},
		{"columns", 0, []int64{6}, []int64{5}, 3, []int64{6}, []int64{5}, false},
		{"a column and itself", 3, []int64{6}, []int64{5}, 3, []int64{6}, []int64{5}, true},
		{"blocks side by side", 0, []int64{6, 3}, []int64{5, 1}, 3, []int64{6, 2}, []int64{5, 1}, false},
		{"blocks that share a column", 0, []int64{6, 3}, []int64{5, 1}, 2, []int64{6, 3}, []int64{5, 1}, true},
		{"a block and a column", 0, []int64{6, 3}, []int64{5, 1}, 4, []int64{6}, []int64{5}, false},
		{"quarters", 0, []int64{3, 3}, []int64{20, 2}, 11, []int64{3, 3}, []int64{20, 2}, false},
		{"transposed", 0, []int64{3, 6}, []int64{1, 5}, 3, []int64{6, 2}, []int64{5, 1}, false},
	} {
		a, b := view(base, c.first, c.shape, c.steps), view(base, c.second, c.others, c.otherSteps)
		if got := dlpack.Overlap(a, b); got != c.want || dlpack.Overlap(b, a) != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if c.want != share(touched(c.first, c.shape, c.steps), touched(c.second, c.others, c.otherSteps)) {
			t.Errorf("%s: the test is wrong", c.name)
		}
	}
}

// Views that share an element overlap, for random views.
func TestOverlapMissesNothing(t *testing.T) {
	base := new([400]int32)
	random := rand.New(rand.NewPCG(1, 2))
	steps := []int64{0, 1, 1, 2, 3, 4, 5, 6, 12, -1, -2, -5, -12}
	draw := func() (offset int64, shape, strides []int64) {
		for range random.IntN(4) {
			shape, strides = append(shape, 1+random.Int64N(4)), append(strides, steps[random.IntN(len(steps))])
		}
		return 200 + random.Int64N(20), shape, strides
	}
	apart := 0
	for range 50_000 {
		at, shape, strides := draw()
		to, others, otherSteps := draw()
		shared := share(touched(at, shape, strides), touched(to, others, otherSteps))
		got := dlpack.Overlap(view(base, at, shape, strides), view(base, to, others, otherSteps))
		if shared && !got {
			t.Fatalf("%v %v at %d and %v %v at %d share elements", shape, strides, at, others, otherSteps, to)
		}
		if !got {
			apart++
		}
	}
	if apart < 5_000 {
		t.Errorf("only %d pairs are said to be apart", apart)
	}
}
