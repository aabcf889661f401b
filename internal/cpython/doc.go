// Package cpython is the border to Python: all C that works with Python, and every rule of the GIL, is here.
//
// The C files repeat decisions; this package's Go files let the other packages make them, in Go terms: Object is a
// reference to a Python object, Tensor a godlpack.Tensor, Managed a managed tensor, Table an exchange table. A Python
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
// Unless its comment states otherwise, a function here is called with the GIL held, by any thread, and leaves it held;
// arguments stay the caller's; a Python object that a C function returns is a new reference, or NULL with an exception
// set; and a function is in C because it repeats a decision of Go's in nanoseconds. Lines at the end of a function's
// comment state what differs:
//
//   - C because: of a C function, (a) CPython offers it only as a macro or a struct, (b) it must be a C function pointer,
//     (c) it repeats a decision (the default), (d) it loops so that Go is entered once.
//   - GIL: not needed, any (held or not), released meanwhile, or held by a function that may run Python's code.
//   - Owns: who owns what is passed and returned, also on error. An Object that a Go function returns is "new" (the caller
//     must Release it) or "borrowed" (it must not).
//   - Threads: which threads may call it.
package cpython

// The build needs neither Python's headers nor its library: pyabi.h declares the stable ABI, and the process that loads
// the module resolves the symbols. A linker flag permits undefined symbols. Calls of Python's functions do not pass through
// the PLT: its second jump costs a short call up to a third of its time, where the processor predicts it wrongly.

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter
// #cgo CFLAGS: -fvisibility=hidden -fno-plt
// #cgo linux LDFLAGS: -Wl,--unresolved-symbols=ignore-all -ldl -lpthread
// #include "core.h"
import "C"

// Version is the version of godlpack.
const Version = C.GODLPACK_VERSION
