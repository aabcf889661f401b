package tensor

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// A sample is a tensor over Go memory, which it keeps alive.
type sample struct {
	dlpack.Tensor
	memory         []byte
	shape, strides []int64
}

// newSample returns a tensor of type d over memory. Strides of nil become NULL; the first element is at byte offset.
func newSample(d dlpack.DType, memory []byte, shape, strides []int64, offset int) *sample {
	s := &sample{memory: memory, shape: slices.Clone(shape), strides: slices.Clone(strides)}
	s.Tensor = dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: int32(len(shape)), DType: d, ByteOffset: uint64(offset)}
	if len(memory) > 0 {
		s.Data = unsafe.Pointer(&memory[0])
	}
	if len(shape) > 0 {
		s.Shape = &s.shape[0]
		if strides != nil {
			s.Strides = &s.strides[0]
		}
	}
	return s
}

// compact returns a zeroed row-major tensor.
func compact(t testing.TB, d dlpack.DType, padded bool, shape ...int64) *sample {
	t.Helper()
	n, err := dlpack.Elements(shape)
	if err != nil {
		t.Fatal(err)
	}
	size, err := dlpack.DataSize(n, d, padded)
	if err != nil {
		t.Fatal(err)
	}
	return newSample(d, make([]byte, size), shape, nil, 0)
}

// of returns a tensor over the memory of values.
func of[T Element](values []T, shape, strides []int64, first int) *sample {
	size := int(unsafe.Sizeof(values[0]))
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*size)
	return newSample(DTypeOf[T](), memory, shape, strides, first*size)
}

func parse(t testing.TB, name string) dlpack.DType {
	t.Helper()
	d, err := dlpack.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// texts returns all elements as text.
func texts(t *sample, padded bool) []string {
	var all []string
	for v := range Values(&t.Tensor, padded) {
		all = append(all, v.Format(t.DType))
	}
	return all
}

// wantKind fails unless err is of that kind.
func wantKind(t *testing.T, err error, want dlpack.Kind) {
	t.Helper()
	if err == nil || dlpack.KindOf(err) != want {
		t.Errorf("got error %v, want a %v", err, want)
	}
}

// layouts are shapes with strides and the index of the first element, within 48 elements of memory.
var layouts = []struct {
	shape, strides []int64
	first          int
}{
	{nil, nil, 0},
	{[]int64{0, 3}, nil, 0},
	{[]int64{48}, nil, 0},
	{[]int64{4, 12}, nil, 0},
	{[]int64{5}, []int64{1}, 3},
	{[]int64{9}, []int64{-5}, 47},
	{[]int64{4, 6}, []int64{1, 4}, 0},
	{[]int64{3, 1, 5}, []int64{10, 99, 2}, 1},
	{[]int64{2, 3, 4}, []int64{-12, 4, -1}, 23},
	{[]int64{2, 3, 4}, []int64{1, 2, 6}, 8},
	{[]int64{2, 2, 2, 2}, []int64{3, 24, 1, 7}, 0},
	{[]int64{19, 2}, []int64{1, 20}, 0},
	{[]int64{2, 16}, []int64{-1, -3}, 47},
}

// layoutTypes have all the sizes that the loops distinguish.
var layoutTypes = []string{"int8", "float16", "float32", "float64", "complex128", "int24", "float32x3", "int4", "uint4x3",
	"float6_e2m3fn", "float6_e3m2fnx2", "float4_e2m1fn", "float4_e2m1fnx2", "int12", "uint1", "int65", "uint128", "handle_72"}

// forLayouts runs f for all types, packed and padded, and layouts, over 48 elements of memory that count upwards.
func forLayouts(t *testing.T, f func(t *testing.T, s *sample, padded bool)) {
	for _, name := range layoutTypes {
		for _, padded := range []bool{false, true} {
			d := parse(t, name)
			if padded && !d.SubByte() {
				continue
			}
			for _, l := range layouts {
				memory := make([]byte, 48*d.ItemSize(padded))
				for i := range memory {
					memory[i] = byte(i*7 + 1)
				}
				s := newSample(d, memory, l.shape, l.strides, 0)
				if bits := l.first * d.BitSize(padded); bits%8 == 0 {
					s.ByteOffset = uint64(bits / 8)
				} else {
					continue // an element that begins inside a byte cannot be the first
				}
				t.Run(fmt.Sprintf("%s/%v/%v%v", name, padded, l.shape, l.strides), func(t *testing.T) { f(t, s, padded) })
			}
		}
	}
}
