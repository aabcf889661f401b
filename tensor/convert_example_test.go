package tensor_test

import (
	"fmt"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/tensor"
)

func ExampleConvert() {
	values, shape := []float32{0.1, -2.6, 1000}, []int64{3}
	src := record(unsafe.Pointer(&values[0]), dlpack.Float32, shape)
	for _, d := range []dlpack.DType{dlpack.Int8, dlpack.BFloat16, dlpack.Float8E4M3FN, dlpack.Float4E2M1FN} {
		memory := make([]byte, 3*d.ItemSize(false))
		dst := record(unsafe.Pointer(&memory[0]), d, shape)
		if err := tensor.Convert(dst, src, false, false); err != nil {
			fmt.Println(err)
		}
		for s := range tensor.Values(dst, false) {
			fmt.Print(s.Format(d), " ")
		}
		fmt.Println(d)
	}
	// Output:
	// 0 -2 -24 int8
	// 0.1 -2.6 1000.0 bfloat16
	// 0.1015625 -2.5 nan float8_e4m3fn
	// 0.0 -3.0 6.0 float4_e2m1fn
}
