package tensor

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"godlpack/dlpack"
)

func TestFromSlice(t *testing.T) {
	array := [...]float32{1, 2, 3, 4, 5, 6}
	v, err := FromSlice(array[:], 2, 3)
	if err != nil || v.At(1, 0) != 4 || v.NDim() != 2 || !v.Contiguous() || v.Device().Type != dlpack.CPU {
		t.Errorf("got %v, %v", v.Slice(), err)
	}
	v.Set(9, 1, 2)
	if array[5] != 9 {
		t.Error("Set does not arrive in the array")
	}
	if one, err := FromSlice(array[:1]); err != nil || one.At() != 1 || one.NDim() != 0 {
		t.Errorf("no axes: got %v", err)
	}
	if none, err := FromSlice([]float32(nil), 2, 0); err != nil || none.Len() != 0 || none.Pointer() != nil || none.Rows() != 2 {
		t.Errorf("empty: got %v", err)
	}
	vectors, err := FromSlice([][4]float32{{1, 2, 3, 4}, {5, 6, 7, 8}}, 2)
	if err != nil || vectors.At(1) != [4]float32{5, 6, 7, 8} {
		t.Errorf("got %v, %v", vectors.Slice(), err)
	}
}

func TestFromSliceRefuses(t *testing.T) {
	for _, shape := range [][]int64{{5}, {7}, {}, {2, 4}, {-2, -3}, {0}, {math.MaxInt64, 2}, make([]int64, 65), {1 << 32, 1 << 32}} {
		_, err := FromSlice(make([]int8, 6), shape...)
		wantKind(t, err, dlpack.KindValue)
	}
}

func TestFromStrided(t *testing.T) {
	for _, try := range []struct {
		offset         int
		shape, strides []int64
		ok             bool
	}{
		{0, []int64{2, 3}, nil, true}, {0, []int64{2, 3}, []int64{3, 1}, true}, {0, []int64{2, 3}, []int64{1, 2}, true},
		{5, []int64{2, 3}, []int64{-3, -1}, true}, {0, []int64{99, 6}, []int64{0, 1}, true}, {5, nil, nil, true},
		{5, []int64{1}, []int64{math.MinInt64}, true}, {6, []int64{0}, []int64{math.MaxInt64}, true}, {5, []int64{}, []int64{}, true},
		{1, []int64{2, 3}, nil, false}, {0, []int64{2, 3}, []int64{4, 1}, false}, {4, []int64{2, 3}, []int64{-3, -1}, false},
		{6, nil, nil, false}, {-1, []int64{0}, nil, false}, {7, []int64{0}, nil, false}, {0, []int64{2}, []int64{1, 1}, false},
		{0, []int64{2}, []int64{}, false}, {0, []int64{-1}, nil, false}, {0, make([]int64, 65), nil, false},
		{0, []int64{2}, []int64{math.MaxInt64}, false}, {0, []int64{3}, []int64{math.MaxInt64}, false},
		{0, []int64{2}, []int64{math.MinInt64}, false}, {math.MaxInt, []int64{1}, nil, false}, {math.MinInt, []int64{1}, nil, false},
	} {
		v, err := FromStrided([]int16{0, 1, 2, 3, 4, 5}, try.offset, try.shape, try.strides)
		if !try.ok {
			wantKind(t, err, dlpack.KindValue)
			continue
		}
		if err != nil || !slices.Equal(v.Shape(), try.shape) {
			t.Errorf("%d %v %v: %v", try.offset, try.shape, try.strides, err)
		} else if first := make([]int, len(try.shape)); v.Len() > 0 && v.At(first...) != int16(try.offset) {
			t.Errorf("%d %v %v: begins at %d", try.offset, try.shape, try.strides, v.At(first...))
		}
	}
}

func TestFromBools(t *testing.T) {
	v, err := FromBools([]bool{false, true, true}, 3)
	if err != nil || v.At(0).Bool() || !v.At(1).Bool() || v.At(2) != 1 {
		t.Errorf("got %v, %v", v.Slice(), err)
	}
	_, err = FromBools(nil, 1)
	wantKind(t, err, dlpack.KindValue)
}

// FuzzFromStrided compares with a simple enumeration of all indices, in unlimited integers: FromStrided accepts a shape if and
// only if they all lie in the slice, and At then reads exactly those elements.
func FuzzFromStrided(f *testing.F) {
	f.Add(uint8(6), 0, []byte{2, 3, 0, 3, 1, 0})
	f.Add(uint8(6), 5, []byte{2, 0xfd, 0, 3, 0xff, 0})
	f.Add(uint8(6), 0, []byte{2, 4, 0, 3, 1, 0})
	f.Add(uint8(4), 3, []byte{4, 0xff, 0, 7, 0, 0})
	f.Add(uint8(9), 4, []byte{2, 1, 62, 2, 0xff, 63})
	f.Add(uint8(1), 0, []byte{1, 1, 63, 0, 1, 63})
	f.Add(uint8(3), math.MaxInt, []byte{2, 0x80, 56})
	f.Fuzz(func(t *testing.T, n uint8, offset int, axes []byte) {
		data := make([]int32, n)
		for i := range data {
			data[i] = int32(i)
		}
		var shape, strides []int64
		for ; len(axes) >= 3 && len(shape) < 4; axes = axes[3:] { // extent, stride, and the stride's shift
			shape = append(shape, int64(int8(axes[0]))%8)
			strides = append(strides, int64(int8(axes[1]))<<(axes[2]&63))
		}
		want, inside := reached(int64(offset), shape, strides, int64(n))
		v, err := FromStrided(data, offset, shape, strides)
		if (err == nil) != inside {
			t.Fatalf("%d elements, %d, %v, %v: got %v, want inside %v", n, offset, shape, strides, err, inside)
		}
		if err != nil {
			return
		}
		if got := readAll(v.Of); !slices.Equal(got, want) {
			t.Fatalf("%d elements, %d, %v, %v: got %v, want %v", n, offset, shape, strides, got, want)
		}
		for i := range v.Rows() {
			row := v.Row(i)
			for k := range row.Len() {
				if index := []int{k}; row.At(index[:row.NDim()]...) != want[i*row.Len()+k] {
					t.Fatalf("row %d of %v, %v: element %d", i, shape, strides, k)
				}
			}
		}
	})
}

// reached returns the place of every element in row-major order, and reports whether all lie in a slice of n.
func reached(offset int64, shape, strides []int64, n int64) (places []int32, inside bool) {
	total := int64(1)
	for _, extent := range shape {
		if extent < 0 {
			return nil, false
		}
		total *= extent
	}
	if total == 0 {
		return nil, offset >= 0 && offset <= n
	}
	for i := range total {
		place := big.NewInt(offset)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			step := new(big.Int).Mul(big.NewInt(i%shape[axis]), big.NewInt(strides[axis]))
			place.Add(place, step)
			i /= shape[axis]
		}
		if place.Sign() < 0 || place.Cmp(big.NewInt(n)) >= 0 {
			return nil, false
		}
		places = append(places, int32(place.Int64()))
	}
	return places, true
}
