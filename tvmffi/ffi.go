package tvmffi

import (
	"godlpack/dlpack"
	"godlpack/packed"
)

// ffi is libtvm_ffi by the functions of its C API, or a test's substitute. Those that return false, or nil, have set their
// thread's error (takeError), except newError, which had no memory then. The caller owns the returned objects and the written
// values.
type ffi interface {
	newFunction(handle uintptr) *object // its function runs call with the handle
	setGlobal(name string, f *object) bool
	global(name string) *object // nil, also without an error, if there is none
	callFunction(f *object, args []packed.Any, result *packed.Any) bool

	own(view, result *packed.Any) bool
	release(*object)
	newText(text string, result *packed.Any) bool
	newBytes(data []byte, result *packed.Any) bool
	typeKey(packed.TypeIndex) string // "ffi.Map"

	stream(dlpack.Device) uintptr // this thread's current one

	allocates() bool // whether the caller of this thread has an allocator
	allocate(prototype *dlpack.Tensor) *object
	memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) // C's
	newTensor(*dlpack.ManagedTensorVersioned) *object                        // takes it if it succeeds
	delete(*dlpack.ManagedTensorVersioned)

	newError(kind, message string) *object
	setError(*object)
	takeError() *object // nil if none is set
	checkSignals() bool // false sets no error
}
