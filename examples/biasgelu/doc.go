// Package biasgelu adds a bias and applies GELU in one pass over a tensor on a CUDA device. The work is queued on the
// caller's current stream; nothing waits for it.
//
// gelu.cu is the kernel, gelu.ptx its compiled form, for machines without NVRTC. kernels.go loads it once for each device,
// and gelu.go launches it.
//
//	y, err := biasgelu.BiasGELU(ctx, x, bias) // from another exported function, whose Ctx it gets
//
// A forked process must load the kernels again in any case, so it does not need the package's record of loaded ones.
//
//godlpack:state fork=fresh
package biasgelu
