package dlpack_test

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// rawTensor is a record as received from C: its words may hold anything and are numbers here, since the collector must not take
// them for pointers.
type rawTensor struct {
	data           uint64
	deviceType, id int32
	ndim           int32
	code, bits     uint8
	lanes          uint16
	shape, strides uint64
	byteOffset     uint64
	extents, steps [64]int64 // the usual targets of shape and strides
}

func (r *rawTensor) tensor() *dlpack.Tensor { return (*dlpack.Tensor)(unsafe.Pointer(r)) }

// place points shape and strides at extents and steps.
func (r *rawTensor) place() {
	r.shape = uint64(uintptr(unsafe.Pointer(&r.extents)))
	r.strides = uint64(uintptr(unsafe.Pointer(&r.steps)))
}

// onHeap keeps the records of a test off the stack, which moves.
var onHeap *rawTensor

// newRaw returns a valid record of shape [2 3], float32, on the CPU, altered by change.
func newRaw(change func(*rawTensor)) *rawTensor {
	onHeap = new(rawTensor)
	r := onHeap
	*r = rawTensor{data: 1 << 20, deviceType: 1, ndim: 2, code: 2, bits: 32, lanes: 1}
	r.place()
	r.extents[0], r.extents[1], r.steps[0], r.steps[1] = 2, 3, 3, 1
	change(r)
	return r
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*rawTensor)
		message string
	}{
		{"good", func(r *rawTensor) {}, ""},
		{"strides NULL", func(r *rawTensor) { r.strides = 0 }, ""},
		{"ndim 0, both NULL", func(r *rawTensor) { r.ndim, r.shape, r.strides = 0, 0, 0 }, ""},
		{"ndim 0, both given", func(r *rawTensor) { r.ndim = 0 }, ""},
		{"ndim 64", func(r *rawTensor) {
			r.ndim = 64
			for i := range r.extents {
				r.extents[i] = 1
			}
		}, ""},
		{"size 0, data NULL", func(r *rawTensor) { r.extents[1], r.data = 0, 0 }, ""},
		{"size 0, data given, any strides", func(r *rawTensor) { r.extents[1], r.steps[0] = 0, math.MaxInt64 }, ""},
		{"negative stride", func(r *rawTensor) { r.steps[0] = -3 }, ""},
		{"broadcast", func(r *rawTensor) { r.steps[0] = 0 }, ""},
		{"misaligned", func(r *rawTensor) { r.byteOffset = 2 }, ""},
		{"odd stride of extent 1", func(r *rawTensor) { r.extents[0], r.steps[0] = 1, math.MinInt64 }, ""},
		{"handle with offset", func(r *rawTensor) { r.deviceType, r.byteOffset = 4, 64 }, ""},
		{"packed vector", func(r *rawTensor) { r.code, r.bits, r.lanes = 17, 4, 2 }, ""},

		{"ndim -1", func(r *rawTensor) { r.ndim = -1 }, "ndim: want 0 to 64, got -1"},
		{"ndim 65", func(r *rawTensor) { r.ndim = 65 }, "ndim: want 0 to 64, got 65"},
		{"shape NULL", func(r *rawTensor) { r.shape = 0 }, "shape: want a pointer to 2 extents, got NULL"},
		{"shape wild", func(r *rawTensor) { r.shape = 8 }, "shape: want a pointer or NULL, got 0x8"},
		{"strides wild", func(r *rawTensor) { r.strides = 4095 }, "strides: want a pointer or NULL, got 0xfff"},
		{"data wild", func(r *rawTensor) { r.data = 1 }, "data: want a pointer or NULL, got 0x1"},
		{"data NULL", func(r *rawTensor) { r.data = 0 }, "data: want a pointer for 6 elements of float32, got NULL"},
		{"fp8 of 6 bits", func(r *rawTensor) { r.code, r.bits = 10, 6 }, "dtype float8_e4m3fn: want 8 bits, got 6"},
		{"lanes 0", func(r *rawTensor) { r.lanes = 0 }, "dtype float32x0: want 1 lane or more, got 0"},
		{"code 99", func(r *rawTensor) { r.code = 99 }, "dtype code99_32: want a type code from 0 to 18, got 99"},
		{"device 0", func(r *rawTensor) { r.deviceType = 0 }, "device: want a device type of DLPack 1.3, got 0"},
		{"device 99", func(r *rawTensor) { r.deviceType = 99 }, "device: want a device type of DLPack 1.3, got 99"},
		{"negative extent", func(r *rawTensor) { r.extents[0] = -2 }, "shape[0]: want 0 or more, got -2"},
		{"too many elements", func(r *rawTensor) { r.extents[0] = 1 << 62 },
			"shape [4611686018427387904 3]: want fewer than 2^63 elements, got more"},
		{"too many bytes", func(r *rawTensor) { r.extents[0], r.extents[1] = 1<<60, 4 },
			"size: want less than 2^63 bytes, got 4611686018427387904 elements of float32"},
		{"too many bytes, broadcast", func(r *rawTensor) { r.extents[0], r.extents[1], r.steps[0] = 1<<61, 1, 0 },
			"size: want less than 2^63 bytes, got 2305843009213693952 elements of float32"},
		{"span", func(r *rawTensor) { r.steps[0] = math.MaxInt64 },
			"shape [2 3] with strides [9223372036854775807 1]: want a span of fewer than 2^63 elements, got more"},
		{"span in bits", func(r *rawTensor) { r.steps[0] = 1 << 59 },
			"span: want fewer than 2^63 bits, got 576460752303423491 elements of float32"},
		{"below address 0", func(r *rawTensor) { r.data, r.steps[0] = 4096, -2000 },
			"byte_offset: want elements within the address space, got bytes -8000 to 12 from 0x1000 + 0"},
		{"before a handle", func(r *rawTensor) { r.deviceType, r.steps[0] = 4, -3 },
			"byte_offset: want elements within the address space, got bytes -12 to 12 from 0x100000 + 0"},
		{"offset over the end", func(r *rawTensor) { r.byteOffset = math.MaxUint64 },
			"byte_offset: want elements within the address space, got bytes 0 to 24 from 0x100000 + 18446744073709551615"},
		{"last byte over the end", func(r *rawTensor) { r.data, r.byteOffset = 1<<63, 1<<63-8 },
			"byte_offset: want elements within the address space, got bytes 0 to 24 from 0x8000000000000000 + 9223372036854775800"},
	} {
		r := newRaw(c.change)
		checkError(t, c.name, r.tensor().Validate(), dlpack.KindBuffer, c.message)
		runtime.KeepAlive(r)
	}
}

func TestTensorReads(t *testing.T) {
	r := newRaw(func(r *rawTensor) { r.steps[0], r.byteOffset = -3, 12 })
	x := r.tensor()
	n, err := x.Size()
	lo, hi, extentErr := x.ByteExtent(false)
	if n != 6 || err != nil || lo != -12 || hi != 12 || extentErr != nil || !x.Aligned() || x.Address() != 1<<20 {
		t.Errorf("want 6 elements in bytes -12 to 12, aligned; got %d, %v, %d, %d, %v, %v", n, err, lo, hi, extentErr, x.Aligned())
	}
	if uintptr(x.Start()) != 1<<20+12 || len(x.ShapeSlice()) != 2 || x.StridesSlice()[0] != -3 {
		t.Errorf("want start 0x10000c, 2 dims, stride -3; got %p, %v, %v", x.Start(), x.ShapeSlice(), x.StridesSlice())
	}
	r.data, r.ndim, r.shape, r.strides = 0, 0, 0, 0
	if n, _ := x.Size(); n != 1 || x.Start() != nil || x.ShapeSlice() != nil || x.StridesSlice() != nil {
		t.Errorf("want one element at nil, got %d at %p", n, x.Start())
	}
	runtime.KeepAlive(r)
}

func TestByteExtentOfSubByteTypes(t *testing.T) {
	for _, c := range []struct {
		extent, step int64
		padded       bool
		lo, hi       int64
	}{
		{5, 1, false, 0, 3},
		{5, 1, true, 0, 5},
		{5, -1, false, -2, 1},
		{4, -1, false, -2, 1},
		{4, -1, true, -3, 1},
		{0, 1, false, 0, 0},
	} {
		r := newRaw(func(r *rawTensor) {
			r.code, r.bits, r.ndim = 17, 4, 1
			r.extents[0], r.steps[0] = c.extent, c.step
		})
		if lo, hi, err := r.tensor().ByteExtent(c.padded); lo != c.lo || hi != c.hi || err != nil {
			t.Errorf("%+v: got %d to %d, %v", c, lo, hi, err)
		}
		runtime.KeepAlive(r)
	}
}

func TestAligned(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*rawTensor)
		want   bool
	}{
		{"float32 at 4", func(r *rawTensor) { r.byteOffset = 4 }, true},
		{"float32 at 2", func(r *rawTensor) { r.byteOffset = 2 }, false},
		{"data at 1", func(r *rawTensor) { r.data++ }, false},
		{"data and offset make up", func(r *rawTensor) { r.data++; r.byteOffset = 3 }, true},
		{"size 0", func(r *rawTensor) { r.byteOffset, r.extents[0] = 2, 0 }, true},
		{"complex64 at 4", func(r *rawTensor) { r.code, r.bits, r.byteOffset = 5, 64, 4 }, true},
		{"fp4 anywhere", func(r *rawTensor) { r.code, r.bits, r.byteOffset = 17, 4, 1 }, true},
		{"a handle has no address", func(r *rawTensor) { r.deviceType = 4; r.data++ }, true},
		{"start beyond the end", func(r *rawTensor) { r.byteOffset = math.MaxUint64 - 3 }, false},
	} {
		r := newRaw(c.change)
		if got := r.tensor().Aligned(); got != c.want {
			t.Errorf("%s: want %v, got %v", c.name, c.want, got)
		}
		runtime.KeepAlive(r)
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*rawTensor) // the difference from the other record, whose bytes are 0x100000 to 0x100018
		want   bool
	}{
		{"itself", func(r *rawTensor) {}, true},
		{"next to it", func(r *rawTensor) { r.byteOffset = 24 }, false},
		{"last byte", func(r *rawTensor) { r.byteOffset = 23 }, true},
		{"before it", func(r *rawTensor) { r.data -= 24 }, false},
		{"reaches back", func(r *rawTensor) { r.byteOffset, r.steps[0] = 24, -3 }, true},
		{"empty", func(r *rawTensor) { r.extents[0] = 0 }, false},
		{"same address, managed", func(r *rawTensor) { r.deviceType = 13 }, true},
		{"an opaque handle", func(r *rawTensor) { r.deviceType = 4 }, false},
		{"no such address", func(r *rawTensor) { r.byteOffset = math.MaxUint64 }, true},
	} {
		a, b := newRaw(func(*rawTensor) {}), newRaw(c.change)
		if got, back := dlpack.Overlap(a.tensor(), b.tensor()), dlpack.Overlap(b.tensor(), a.tensor()); got != c.want || back != c.want {
			t.Errorf("%s: want %v, got %v and %v", c.name, c.want, got, back)
		}
		runtime.KeepAlive(a)
		runtime.KeepAlive(b)
	}
	a := newRaw(func(r *rawTensor) { r.deviceType = 4 })
	b := newRaw(func(r *rawTensor) { r.deviceType, r.byteOffset = 4, 1<<30 })
	if !dlpack.Overlap(a.tensor(), b.tensor()) {
		t.Error("want two views of one opaque handle to overlap")
	}
	runtime.KeepAlive(a)
}

// Validate returns for a record of any words, and the other methods work on each record that it accepts.
func FuzzValidate(f *testing.F) {
	f.Add(uint64(1<<20), int32(1), int32(2), uint8(2), uint8(32), uint16(1), uint64(0), uint8(0), []byte{2, 3})
	f.Add(uint64(0), int32(2), int32(0), uint8(17), uint8(4), uint16(2), uint64(1), uint8(3), []byte{})
	f.Add(uint64(7), int32(99), int32(-1), uint8(255), uint8(255), uint16(65535), uint64(math.MaxUint64), uint8(1), []byte{0xff})
	f.Add(uint64(1<<63), int32(4), int32(64), uint8(1), uint8(128), uint16(65535), uint64(1<<63), uint8(0), []byte(strings.Repeat("\x01\xff\x80", 342)))
	f.Fuzz(func(t *testing.T, data uint64, device, ndim int32, code, width uint8, lanes uint16, offset uint64, nulls uint8, numbers []byte) {
		r := newRaw(func(r *rawTensor) {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&r.extents)), 1024), numbers)
			r.data, r.deviceType, r.ndim, r.byteOffset = data, device, ndim, offset
			r.code, r.bits, r.lanes = code, width, lanes
			if nulls&1 != 0 {
				r.shape = 0
			}
			if nulls&2 != 0 {
				r.strides = 0
			}
		})
		x := r.tensor()
		if err := x.Validate(); err != nil {
			if dlpack.KindOf(err) != dlpack.KindBuffer || dlpack.MessageOf(err) == "" {
				t.Errorf("want a BufferError with a text, got %v", err)
			}
			return
		}
		checkValid(t, x)
		runtime.KeepAlive(r)
	})
}

func checkValid(t *testing.T, x *dlpack.Tensor) {
	n, err := x.Size()
	if err != nil || n < 0 || n > 0 && x.Address() == 0 || len(x.ShapeSlice()) != int(x.NDim) {
		t.Errorf("a valid record has a size and data, got %d, %v", n, err)
	}
	for _, padded := range []bool{false, true} {
		lo, hi, err := x.ByteExtent(padded)
		if err != nil || lo > 0 || hi < lo || (hi == lo) != (n == 0) {
			t.Errorf("%d elements of %v: got bytes %d to %d, %v", n, x.DType, lo, hi, err)
		}
	}
	x.Aligned()
	if n > 0 && !dlpack.Overlap(x, x) {
		t.Error("want every tensor to overlap itself")
	}
	dlpack.SelfOverlap(x.ShapeSlice(), x.StridesSlice())
	dlpack.IsContiguous(x.ShapeSlice(), x.StridesSlice(), 'F')
}
