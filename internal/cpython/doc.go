// Package cpython is the border to Python: all C that works with Python, and every rule of the GIL, is here.
//
// The C files repeat decisions; this package's Go files let the other packages make them, in Go terms: Object is a
// reference to a Python object, Tensor a godlpack.Tensor, Capsule and Table what DLPack passes around. A Python
// exception is the error ErrRaised; any other error becomes an exception at the entry, by its dlpack.Kind.
//
// Python enters Go in one place: each operation of ops.h has a number, and a function registered for it.
//
//	func init() {
//		cpython.Handle(cpython.OpTensorItem, func(c *cpython.Call) (cpython.Object, error) {
//			if err := c.Bind(); err != nil { // no arguments
//				return cpython.Object{}, err
//			}
//			...
//		})
//	}
//
// Each function that touches the border ends its comment with three lines. GIL says whether the caller must hold
// it. Owns says who owns what is passed and returned, also on error: an Object that comes back is "new" (the caller
// must Release it) or "borrowed" (it must not). Threads says which threads may call.
package cpython

// The build needs neither Python's headers nor its library: pyabi.h declares the stable ABI, and the symbols are
// left for the process that loads the module. A linker that stops at undefined symbols is told not to.

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter -fvisibility=hidden
// #cgo linux LDFLAGS: -Wl,--unresolved-symbols=ignore-all -ldl -lpthread
// #include "core.h"
import "C"

// Version is godlpack's own.
const Version = C.GODLPACK_VERSION
