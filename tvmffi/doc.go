// Package tvmffi offers a library's functions to tvm-ffi: once registered, they are its global functions, which Python calls by
// tvm_ffi.get_global_func("fastops.softmax"), and C++, Rust and compiled kernels by the same name.
//
// An author adds a function that registers them, with any name:
//
//	// RegisterTVM makes the functions of this package global functions of tvm-ffi, each under prefix and its name. It
//	// returns how many there are.
//	//
//	//godlpack:export
//	func RegisterTVM(prefix string) (int, error) { return tvmffi.Register(prefix) }
//
// and its users call it, after import tvm_ffi:
//
//	>>> fastops.register_tvm("fastops.")
//	3
//	>>> softmax = tvm_ffi.get_global_func("fastops.softmax")
//	>>> softmax(torch.ones(2, 3))                 # torch in, torch out
//
// Register looks up libtvm_ffi in the process: a build needs no part of it, and without it Register returns an error that
// states so. Calls to it are made by purego; calls from it enter through two C functions, which first check that Go's runtime
// is alive, and cost a tenth of purego's callbacks.
//
// # What passes
//
// Arguments and results are those of package kernel: None, bool, int, float, str, bytes, dtypes, devices, tensors, lists, and
// functions, which a kernel.Callable calls. Tensors are not copied. tvm-ffi's allocator for the call makes the results, so that
// torch gets torch tensors; if it has none, as for NumPy and JAX, the memory is C's. Several results, and lists, are an Array.
// Arguments are given by position, and the last ones may be omitted if they have defaults.
//
// An error has the kind of its Python exception. tvm_ffi supports all of them except BufferError, which it raises as a
// RuntimeError of that kind, unless the program has called tvm_ffi.register_error("BufferError", BufferError). A panic is a
// RuntimeError with Go's stack. Ctrl-C stops functions that call kernel.Ctx.Err.
//
// tvm-ffi does not mark read-only tensors: JAX's arrays are written if the function writes.
//
// tvm_ffi installs a handler for faults. If it is imported after the library's Go runtime has started, a nil pointer in Go ends
// the process; import it first.
//
// # After a fork
//
// The functions belong to the process that registered them. In a forked child they are a RuntimeError, since their Go runtime
// is dead there. The child registers again, by its own copy of the library, and looks the functions up again.
//
// # What it costs
//
// A call of a function with one int takes 0.3 us from Python; one in C++ takes 0.12, and one by godlpack itself 0.2. A tensor
// adds its validation, which tvm-ffi does not do, about 0.06 us; an output adds two calls of the allocator.
package tvmffi
