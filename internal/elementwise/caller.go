package elementwise

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// Caller polls during the work whether to continue; an error stops it. Asked is false on any goroutine other than the
// calling one, the only one that may poll.
type Caller func() (asked bool, err error)

// A host is a kernel.Host with a Caller's Poll. These kernels need nothing else: the memory they write exists already.
type host struct{ poll Caller }

func (h host) Poll() (bool, error) { return h.poll() }

func (host) Allocate(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	return nil, dlpack.Errorf(dlpack.KindRuntime, "built-in kernels cannot allocate memory")
}

func (host) Delete(*dlpack.ManagedTensorVersioned) {}

func (host) Scratch() kernel.Scratch { return kernel.Scratch{} }

func (host) Invoke(unsafe.Pointer, packed.Args, *packed.Ret) error {
	return dlpack.Errorf(dlpack.KindRuntime, "built-in kernels cannot call functions of the caller")
}

func (host) Stream(dlpack.Device) (uintptr, error) { return 0, nil }

func (host) Alloc(int) unsafe.Pointer { return nil }
func (host) Free(unsafe.Pointer)      {}

var _ kernel.Host = host{}
