package library

// #include "library.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// memory returns C memory instead of a framework's.
func memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	return kernel.NewMemory(prototype, func(head, size int) unsafe.Pointer {
		return unsafe.Pointer(C.gd_memory(C.size_t(head), C.size_t(size)))
	})
}
