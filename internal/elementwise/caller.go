package elementwise

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// Caller is asked now and then whether to go on: an error says no. Asked is false if the goroutine that asks is not the
// one that called, which alone may ask.
type Caller func() (asked bool, err error)

// A host is the kernels' side of a Caller. They ask for nothing but Poll: what they write is there already.
type host struct{ poll Caller }

func (h host) Poll() (bool, error) { return h.poll() }

func (host) Allocate(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	return nil, dlpack.Errorf(dlpack.KindRuntime, "builtin kernels allocate nothing")
}

func (host) Delete(*dlpack.ManagedTensorVersioned) {}

func (host) Scratch() kernel.Scratch { return kernel.Scratch{} }

func (host) Invoke(unsafe.Pointer, packed.Args, *packed.Ret) error {
	return dlpack.Errorf(dlpack.KindRuntime, "builtin kernels call nobody back")
}

func (host) Stream(dlpack.Device) (uintptr, error) { return 0, nil }

func (host) Alloc(int) unsafe.Pointer { return nil }
func (host) Free(unsafe.Pointer)      {}

var _ kernel.Host = host{}
