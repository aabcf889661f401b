package biasgelu

import (
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

// BiasGELU returns gelu(x + bias), where gelu(v) = v * (1 + erf(v / sqrt(2))) / 2: what torch.nn.functional.gelu(x + bias)
// does in two passes. Sums are not rounded to the dtype before GELU is applied.
//
// It is queued on the caller's current stream of x's device, torch's for torch's tensors, and returns before it is done:
// nothing waits. The first call on a device loads the kernel, which a CUDA graph cannot capture; those after it may be.
//
// ValueError: bias is on another device. RuntimeError: CUDA's own errors.
//
//godlpack:export bias_gelu
//godlpack:types T=float32,float16
//godlpack:arg x shape=[n,m] order=C device=cuda
//godlpack:arg bias shape=[m] order=C device=cuda
func BiasGELU[T float32 | tensor.Float16](ctx *kernel.Ctx, x, bias tensor.DeviceOf[T]) (y tensor.DeviceMut[T], err error) {
	device := x.Device()
	if bias.Device() != device {
		return y, kernel.Errorf(kernel.ValueError, "bias_gelu(): argument 'bias': want memory on %v, the device of 'x', got memory on %v", device, bias.Device())
	}
	y = kernel.EmptyOn[T](ctx, device, x.Shape()...)
	if y.Len() == 0 {
		return y, nil
	}
	stream, err := ctx.Stream(device)
	if err != nil {
		return y, err
	}
	k, err := kernelsOn(device)
	if err != nil {
		return y, dlpack.Wrap(err, "bias_gelu()")
	}
	n, m := x.Shape()[0], x.Shape()[1]
	err = k.of[tensor.DTypeOf[T]()].Launch(k.device.Stream(stream), gridOf(n, m), y.Pointer(), x.Pointer(), bias.Pointer(), n, m)
	return y, dlpack.Wrap(err, "bias_gelu()")
}

// gridOf returns a grid with a thread for each element, up to mostRows rows.
func gridOf(n, m int64) cuda.Grid {
	const threads = 256
	blocks := (m + threads - 1) / threads
	return cuda.Grid{Blocks: [3]int{int(blocks), int(min(n, mostRows)), 1}, Threads: [3]int{threads, 1, 1}}
}

// mostRows is the largest number of blocks along y. If there are more rows, a thread computes several.
const mostRows = 65535
