// Package biasgelu adds a bias and applies GELU in one pass over a tensor on a CUDA device, on its caller's current stream,
// without waiting for anything.
//
// gelu.cu is the kernel, and gelu.ptx the same compiled, for machines without NVRTC. kernels.go has it loaded once a device,
// and gelu.go launches it.
//
// A forked process has to load kernels anew, so that what is remembered of the loaded ones is not missed there.
//
//godlpack:state fork=fresh
package biasgelu
