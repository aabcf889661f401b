package pyext

import (
	"unsafe"

	"godlpack/internal/cpython"
)

// Init is what the extension module's PyInit function returns.
//
// GIL: held.
// Owns: the result is a static module definition.
// Threads: the importing one.
func Init() unsafe.Pointer { return cpython.ModuleInit() }
