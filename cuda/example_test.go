package cuda_test

import (
	"errors"
	"fmt"
	"os"

	"godlpack/cuda"
)

const source = `
extern "C" __global__ void scale(float *x, float a, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] *= a;
}`

func scale(n int32) (err error) {
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	mod, err := dev.Compile(source, "scale.cu")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mod.Close()) }()
	f, err := mod.Function("scale")
	if err != nil {
		return err
	}
	x, err := dev.Alloc(4 * int(n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	s := dev.Default()
	grid := cuda.Grid{Blocks: [3]int{(int(n) + 255) / 256, 1, 1}, Threads: [3]int{256, 1, 1}}
	return errors.Join(s.Fill(x.Pointer(), []byte{0}, x.Size()), f.Launch(s, grid, x, float32(2), n), s.Synchronize())
}

// A kernel is compiled, loaded and launched on memory of a device. Here the compiler is the tests' own.
func Example() {
	os.Setenv(cuda.CompilerVariable, os.Getenv(cuda.Variable))
	fmt.Println(scale(1000))
	// Output: <nil>
}
