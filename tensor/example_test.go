package tensor_test

import (
	"fmt"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// record returns a row-major tensor over memory of Go.
func record(data unsafe.Pointer, d dlpack.DType, shape []int64) *dlpack.Tensor {
	return &dlpack.Tensor{
		Data: data, Device: dlpack.Device{Type: dlpack.CPU}, NDim: int32(len(shape)), DType: d, Shape: &shape[0],
	}
}

func Example() {
	data := []float32{1, 2, 3, 4}
	t := record(unsafe.Pointer(&data[0]), dlpack.Float32, []int64{2, 2})

	x, err := tensor.MutView[float32](t)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range x.Rows() {
		for k, v := range x.Row(i).Slice() {
			x.Set(v/2, i, k)
		}
	}
	fmt.Println(tensor.Text(t, false, tensor.TextOptions{}))
	// Output:
	// [[0.5, 1. ],
	//  [1.5, 2. ]]
}

func ExampleStore() {
	packed := []byte{0, 0}
	t := record(unsafe.Pointer(&packed[0]), dlpack.Int4, []int64{4})
	for i := range int64(4) {
		if err := tensor.Store(t, false, i, tensor.Int(-i)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%x %v\n", packed, tensor.Text(t, false, tensor.TextOptions{}))
	fmt.Println(tensor.Store(t, false, 0, tensor.Int(8)))
	// Output:
	// f0de [ 0, -1, -2, -3]
	// ValueError: int4: 8 does not fit
}

func ExampleFloat16() {
	x := tensor.Float16From(0.1)
	fmt.Printf("%#04x is %v, exactly %v\n", uint16(x), x, x.Float64())
	// Output: 0x2e66 is 0.1, exactly 0.0999755859375
}

func ExampleView() {
	data := []int32{1, 2}
	_, err := tensor.View[float32](record(unsafe.Pointer(&data[0]), dlpack.Int32, []int64{2}))
	fmt.Println(err)
	// Output: TypeError: want a tensor of float32, got int32
}
