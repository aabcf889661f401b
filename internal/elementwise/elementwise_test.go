package elementwise_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/elementwise"
	"godlpack/tensor"
)

func going() (bool, error) { return true, nil }

var errStop = errors.New("stop")

func stopping() (bool, error) { return true, errStop }

// of returns Go memory as a record.
func of[T tensor.Element](data []T, shape, strides []int64) *dlpack.Tensor {
	return &dlpack.Tensor{
		Data: unsafe.Pointer(unsafe.SliceData(data)), Device: dlpack.Host, NDim: int32(len(shape)),
		DType: tensor.DTypeOf[T](), Shape: unsafe.SliceData(shape), Strides: unsafe.SliceData(strides),
	}
}

func count(n int) []int32 {
	data := make([]int32, n)
	for i := range data {
		data[i] = int32(i)
	}
	return data
}

// All sizes, divided or not, and all layouts give the same result as one pass.
func TestConvertIsAsInOnePass(t *testing.T) {
	for _, n := range []int64{0, 1, 7, 300, 401} {
		shape := []int64{n, 3, 401}
		size := n * 3 * 401
		src := count(int(size))
		for name, strides := range map[string][]int64{"rows": nil, "columns": {1, n, 3 * n}, "backwards": {-3 * 401, 401, 1}} {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				from := of(src, shape, strides)
				if name == "backwards" && n > 0 {
					from.ByteOffset = uint64((n - 1) * 3 * 401 * 4)
				}
				got, want := make([]float64, size), make([]float64, size)
				if err := elementwise.Convert(going, elementwise.At(of(got, shape, nil), 0), elementwise.At(from, dlpack.ReadOnly)); err != nil {
					t.Fatal(err)
				}
				if err := tensor.Convert(of(want, shape, nil), from, false, false); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Error("the pieces differ from the whole")
				}
			})
		}
	}
}

// A copy between overlapping tensors reads each element before it is overwritten.
func TestCopyThatOverlaps(t *testing.T) {
	data := count(100_001)
	shape := []int64{100_000}
	if err := elementwise.Copy(going, elementwise.At(of(data[1:], shape, nil), 0), elementwise.At(of(data, shape, nil), 0)); err != nil {
		t.Fatal(err)
	}
	for i, v := range data[1:] {
		if v != int32(i) {
			t.Fatalf("element %d: got %d", i+1, v)
		}
	}
}

// Elements of 4 bits share bytes, which pieces would write at the same time: the copy is exact.
func TestCopyOfPackedElements(t *testing.T) {
	const n = 1_000_001
	src, dst := make([]uint8, n/2+1), make([]uint8, n/2+1)
	for i := range src {
		src[i] = uint8(i * 7)
	}
	src[n/2] &= 0x0f
	shape := []int64{n}
	from, to := of(src, shape, nil), of(dst, shape, nil)
	from.DType, to.DType = dlpack.Int4, dlpack.Int4
	if err := elementwise.Copy(going, elementwise.At(to, 0), elementwise.At(from, 0)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(src, dst) {
		t.Error("the copy differs")
	}
}

func TestFill(t *testing.T) {
	data := make([]float32, 3*100_000)
	value := []float32{2.5}
	if err := elementwise.Fill(going, elementwise.At(of(data, []int64{100_000}, []int64{3}), 0), elementwise.At(of(value, nil, nil), 0)); err != nil {
		t.Fatal(err)
	}
	for i, v := range data {
		if want := map[bool]float32{true: 2.5}[i%3 == 0]; v != want {
			t.Fatalf("element %d: got %v, want %v", i, v, want)
		}
	}
}

func TestCallerStopsIt(t *testing.T) {
	// The work for each element is large, so that it takes longer than the interval between two polls.
	shape := []int64{1 << 12, 1 << 12}
	src, dst := make([]int8, 1<<24), make([]tensor.Float16, 1<<24)
	err := elementwise.Convert(stopping, elementwise.At(of(dst, shape, nil), 0), elementwise.At(of(src, shape, []int64{1, 1 << 12}), 0))
	if !errors.Is(err, errStop) {
		t.Errorf("got %v, want %v", err, errStop)
	}
}

func TestRefusals(t *testing.T) {
	ints, floats := of(make([]int32, 4), []int64{4}, nil), of(make([]float32, 4), []int64{4}, nil)
	for name, c := range map[string]struct {
		dst  elementwise.Place
		kind dlpack.Kind
		says string
	}{
		"read-only":     {elementwise.At(ints, dlpack.ReadOnly), dlpack.KindBuffer, "read-only"},
		"another type":  {elementwise.At(floats, 0), dlpack.KindValue, "want elements of type float32, got int32"},
		"another shape": {elementwise.At(of(make([]int32, 2), []int64{2}, nil), 0), dlpack.KindValue, "want shape [2], got [4]"},
	} {
		err := elementwise.Copy(going, c.dst, elementwise.At(ints, 0))
		if err == nil || dlpack.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want a %v that says %q", name, err, c.kind, c.says)
		}
	}
}
