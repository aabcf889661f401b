package kernel_test

import (
	"slices"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// A block holds record, shape and strides, and elements, disjoint and aligned.
func TestNewMemory(t *testing.T) {
	for _, shape := range [][]int64{{}, {0}, {1}, {63}, {64}, {65}, {3, 0, 2}, {3, 1, 2}, slices.Repeat([]int64{1}, 9)} {
		prototype := &dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, DType: dlpack.Int8, NDim: int32(len(shape)), Shape: unsafe.SliceData(shape)}
		var memory [][8]uint64
		var start uintptr
		head, size := 0, 0
		m, err := kernel.NewMemory(prototype, func(h, s int) unsafe.Pointer {
			head, size = h, s
			memory = make([][8]uint64, (h+s)/64+1)
			start = (uintptr(unsafe.Pointer(&memory[0])) + 63) &^ 63
			return unsafe.Add(unsafe.Pointer(&memory[0]), start-uintptr(unsafe.Pointer(&memory[0])))
		})
		if err != nil {
			t.Fatal(shape, err)
		}
		n := int64(1)
		for _, extent := range shape {
			n *= extent
		}
		if head%64 != 0 || size%64 != 0 || size < int(n) || size >= int(n)+64 || head < int(unsafe.Sizeof(*m))+16*len(shape) {
			t.Errorf("%v: a block of %d and %d bytes", shape, head, size)
		}
		if n == 0 && m.Tensor.Data != nil || n > 0 && uintptr(m.Tensor.Data) != start+uintptr(head) {
			t.Errorf("%v: elements at %p of a block at %#x", shape, m.Tensor.Data, start)
		}
		if err := m.Tensor.Validate(); err != nil || !slices.Equal(m.Tensor.ShapeSlice(), shape) || !dlpack.IsContiguous(shape, m.Tensor.StridesSlice(), 'C') ||
			len(shape) != len(m.Tensor.StridesSlice()) {
			t.Errorf("%v: got %v, shape %v, strides %v", shape, err, m.Tensor.ShapeSlice(), m.Tensor.StridesSlice())
		}
		if m.Version != dlpack.Current || m.Tensor.DType != dlpack.Int8 || m.Tensor.Device != prototype.Device {
			t.Errorf("%v: got %v, %v", shape, m.Version, m.Tensor)
		}
	}
}

func TestNewMemoryRefuses(t *testing.T) {
	none := func(int, int) unsafe.Pointer { return nil }
	of := func(device dlpack.DeviceType, shape ...int64) *dlpack.Tensor {
		return &dlpack.Tensor{Device: dlpack.Device{Type: device}, DType: dlpack.Float32, NDim: int32(len(shape)), Shape: unsafe.SliceData(shape)}
	}
	for _, c := range []struct {
		prototype *dlpack.Tensor
		want      string
	}{
		{of(dlpack.CUDA, 2), "BufferError: want memory on cuda:0, but this caller allocates on cpu only"},
		{of(dlpack.CPU, 2), "MemoryError: want 8 bytes, got none"},
		{of(dlpack.CPU, -2), "BufferError: shape[0]: want 0 or more, got -2"},
		{of(dlpack.CPU, 1<<62), "BufferError: size: want less than 2^63 bytes"},
	} {
		if m, err := kernel.NewMemory(c.prototype, none); m != nil || err == nil || err.Error()[:min(len(err.Error()), len(c.want))] != c.want {
			t.Errorf("got %v, %v, want %s", m, err, c.want)
		}
	}
}
