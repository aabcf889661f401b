package cuda

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// TestCopyStrided copies random views, also with negative and zero strides, to row-major order, and compares with the same
// loops on the host.
func TestCopyStrided(t *testing.T) { strided(t, device(t)) }

func strided(t *testing.T, dev *Device) {
	t.Helper()
	const size = 4096
	from, to := closing(t, must(dev.Alloc(size))(t)), closing(t, must(dev.Alloc(size))(t))
	content := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	check(t, dev.Upload(from.start, content))
	for range 300 {
		item := 1 << random.IntN(4)
		shape, strides := make([]int64, random.IntN(4)), make([]int64, 4)
		for i := range shape {
			shape[i], strides[i] = random.Int64N(6), int64(item)*(random.Int64N(17)-8)
		}
		strides = strides[:len(shape)]
		compact := make([]int64, len(shape))
		dlpack.CompactStrides(compact, shape)
		for i := range compact {
			compact[i] *= int64(item)
		}
		count := must(dlpack.Elements(shape))(t)
		check(t, dev.Default().CopyStrided(to.start, unsafe.Add(from.start, size/2), shape, compact, strides, item))
		got := make([]byte, count*int64(item))
		check(t, dev.Default().Fetch(got, to.start))
		want := gather(nil, content, size/2, shape, strides, item)
		if !bytes.Equal(got, want) {
			t.Fatalf("shape %v, strides %v, %d bytes: got %v, want %v", shape, strides, item, got, want)
		}
	}
}

func gather(into, content []byte, at int64, shape, strides []int64, item int) []byte {
	if len(shape) == 0 {
		return append(into, content[at:at+int64(item)]...)
	}
	for i := range shape[0] {
		into = gather(into, content, at+i*strides[0], shape[1:], strides[1:], item)
	}
	return into
}

// The number of calls determines the cost of a copy.
func TestCopyStridedCalls(t *testing.T) {
	dev := device(t)
	m := closing(t, must(dev.Alloc(1<<16))(t))
	to := unsafe.Add(m.start, 1<<15)
	cases := []struct {
		about                  string
		shape, strides, toward []int64
		once, rows             int
	}{
		{"compact", []int64{8, 4, 4}, []int64{64, 16, 4}, []int64{64, 16, 4}, 1, 0},
		{"a column", []int64{8, 1}, []int64{64, 4}, []int64{4, 4}, 0, 1},
		{"every other row", []int64{4, 4}, []int64{32, 4}, []int64{16, 4}, 0, 1},
		{"transposed", []int64{3, 5}, []int64{4, 12}, []int64{20, 4}, 0, 3},
		{"backwards", []int64{3}, []int64{-4}, []int64{4}, 3, 0},
		{"nothing", []int64{3, 0}, []int64{4, 4}, []int64{4, 4}, 0, 0},
	}
	for _, c := range cases {
		fake.reset()
		check(t, dev.Default().CopyStrided(to, unsafe.Add(m.start, 1<<14), c.shape, c.toward, c.strides, 4))
		if once, rows := len(calls("cuMemcpyDtoDAsync_v2")), len(calls("cuMemcpy2DAsync_v2")); once != c.once || rows != c.rows {
			t.Errorf("%s: got %d copies and %d of rows, want %d and %d", c.about, once, rows, c.once, c.rows)
		}
	}
	if err := dev.Default().CopyStrided(to, to, []int64{-1}, []int64{1}, []int64{1}, 1); dlpack.KindOf(err) != dlpack.KindBuffer {
		t.Errorf("got %v, want a BufferError", err)
	}
}
