package tensor_test

import (
	"fmt"
	"runtime"
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
		if err := tensor.Store(t, false, i, tensor.IntScalar(-i)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%x %v\n", packed, tensor.Text(t, false, tensor.TextOptions{}))
	fmt.Println(tensor.Store(t, false, 0, tensor.IntScalar(8)))
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

func ExampleFromSlice() {
	data := [...]float32{1, 2, 3, 4, 5, 6}
	x, err := tensor.FromSlice(data[:], 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	record := x.Record() // shape and strides live here
	t := record.Tensor()
	fmt.Println(t.DType, t.Device, t.ShapeSlice(), t.StridesSlice())
	_, err = tensor.FromSlice(data[:], 4, 2)
	fmt.Println(err)
	// Output:
	// float32 cpu [2 3] [3 1]
	// ValueError: shape [4 2]: want 6 elements, as the slice has, got 8
}

func ExampleFromStrided() {
	data := []int32{1, 2, 3, 4, 5, 6}
	backwards, err := tensor.FromStrided(data, 5, []int64{2, 3}, []int64{-3, -1})
	fmt.Println(backwards.At(0, 0), backwards.At(1, 2), err)
	_, err = tensor.FromStrided(data, 4, []int64{2, 3}, []int64{-3, -1})
	fmt.Println(err)
	// Output:
	// 6 1 <nil>
	// ValueError: shape [2 3] with strides [-3 -1]: want elements of a slice of 6, got -1 to 4
}

func ExampleFromPointer() {
	memory := [...][4]float32{{1, 2, 3, 4}, {5, 6, 7, 8}} // stands for what cudaMallocManaged gave
	device := dlpack.Device{Type: dlpack.CUDAManaged}
	x, err := tensor.FromPointer[[4]float32](unsafe.Pointer(&memory), device, []int64{2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	host, err := x.Host()
	fmt.Println(host.At(1), err)
	record := x.Record()
	t := record.Tensor()
	fmt.Println(t.DType, t.Device)
	// Output:
	// [5 6 7 8] <nil>
	// float32x4 cuda_managed
}

func ExampleRecord_Pin() {
	x, err := tensor.FromSlice([]float64{1, 2}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	var p runtime.Pinner
	defer p.Unpin()
	record := x.Record()
	t := record.Pin(&p) // may go to C until Unpin
	fmt.Println(t.DType, t.ShapeSlice())
	// Output: float64 [2]
}

func ExampleDeviceView() {
	data := []int32{1, 2, 3, 4}
	_, err := tensor.DeviceView[int32](record(unsafe.Pointer(&data[0]), dlpack.Int32, []int64{2, 2}), tensor.On(dlpack.CUDA))
	fmt.Println(err)
	// Output: BufferError: want a tensor on cuda, got one on cpu; use x.to("cuda")
}
