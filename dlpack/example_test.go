package dlpack_test

import (
	"fmt"
	"runtime"
	"unsafe"

	"godlpack/dlpack"
)

// A record over Go memory, every second column of a 2x6 array, and what can be known of it.
func Example() {
	data := make([]float32, 12)
	shape, strides := []int64{2, 3}, []int64{6, 2}
	t := dlpack.Tensor{
		Data:    unsafe.Pointer(&data[0]),
		Device:  dlpack.Device{Type: dlpack.CPU},
		NDim:    2,
		DType:   dlpack.Float32,
		Shape:   &shape[0],
		Strides: &strides[0],
	}
	n, _ := t.Size()
	lo, hi, _ := t.ByteExtent(false)
	fmt.Println(t.Validate(), n, t.DType, t.Device)
	fmt.Println("bytes", lo, "to", hi, "contiguous", dlpack.IsContiguous(t.ShapeSlice(), t.StridesSlice(), 'C'))
	runtime.KeepAlive(data)
	// Output:
	// <nil> 6 float32 cpu
	// bytes 0 to 44 contiguous false
}

func ExampleTensor_Validate() {
	shape := []int64{2, -3}
	t := dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CPU}, NDim: 2, DType: dlpack.Float32, Shape: &shape[0]}
	fmt.Println(t.Validate())
	t.DType.Bits = 33
	fmt.Println(t.Validate())
	// Output:
	// BufferError: shape[1]: want 0 or more, got -3
	// BufferError: dtype float: want 16, 32, 64 or 128 bits, got 33
}

func ExampleParseDType() {
	d, err := dlpack.ParseDType("float4_e2m1fnx2")
	fmt.Println(d.Code, d.Bits, d.Lanes, d.ItemSize(false), d.ItemSize(true), err)
	_, err = dlpack.ParseDType("float33")
	fmt.Println(err)
	// Output:
	// float4_e2m1fn 4 2 1 2 <nil>
	// ValueError: dtype float: want 16, 32, 64 or 128 bits, got 33
}

func ExampleParseDevice() {
	first, _ := dlpack.ParseDevice("cuda")
	host, _ := dlpack.ParseDevice("cpu")
	fmt.Println(first, host, host.Type.HostReadable())
	// Output: cuda:0 cpu true
}

func ExampleDataSize() {
	packed, _ := dlpack.DataSize(5, dlpack.Float4E2M1FN, false)
	padded, _ := dlpack.DataSize(5, dlpack.Float4E2M1FN, true)
	fmt.Println(packed, padded)
	// Output: 3 5
}

func ExampleExtent() {
	lo, hi, _ := dlpack.Extent([]int64{2, 3}, []int64{-3, 1}) // rows in reverse order
	fmt.Println(lo, hi)
	// Output: -3 2
}

func ExampleSelfOverlap() {
	fmt.Println(dlpack.SelfOverlap([]int64{3, 4}, []int64{0, 1}))  // a row, three times
	fmt.Println(dlpack.SelfOverlap([]int64{3, 2}, []int64{-4, 2})) // a slice of a 3x4 array
	// Output:
	// true
	// false
}

func ExampleWrap() {
	err := dlpack.Errorf(dlpack.KindBuffer, "ndim: want 0 to 64, got 99")
	err = dlpack.Wrap(err, "argument x")
	fmt.Println(err, "|", dlpack.KindOf(err), "|", dlpack.MessageOf(err))
	// Output: BufferError: argument x: ndim: want 0 to 64, got 99 | BufferError | argument x: ndim: want 0 to 64, got 99
}
