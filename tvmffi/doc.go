// Package tvmffi offers a library's functions to tvm-ffi: once registered, they are global functions there, which Python
// calls by tvm_ffi.get_global_func("fastops.softmax"), and C++, Rust and compiled kernels by the same name.
//
// An author adds a function that registers, of whatever name:
//
//	// RegisterTVM makes the functions of this package global functions of tvm-ffi, each under prefix and its name. It
//	// returns how many there are.
//	//
//	//godlpack:export
//	func RegisterTVM(prefix string) (int, error) { return tvmffi.Register(prefix) }
//
// and whoever wants them there calls it, after import tvm_ffi:
//
//	>>> fastops.register_tvm("fastops.")
//	3
//	>>> softmax = tvm_ffi.get_global_func("fastops.softmax")
//	>>> softmax(torch.ones(2, 3))                 # torch in, torch out
//
// libtvm_ffi is looked up in the process when Register is called: nothing of it is needed to build, and without it there
// is an error that says so. Calls to it are made by purego; a call from it enters by two functions in C, which look first
// whether Go still lives, and cost a tenth of purego's callbacks.
//
// # What passes
//
// Arguments and results are those of package kernel: None, bool, int, float, str, bytes, dtypes, devices, tensors, lists,
// and functions, which a kernel.Callable calls. Tensors are not copied. Results are made by the allocator that tvm-ffi has
// for the call, so that torch gets torch; where it has none, as for numpy and jax, the memory is C's. Several results, and
// lists, are an Array. Arguments are given by position, and the last ones may be left out if they have defaults.
//
// An error has the kind of its Python exception. tvm_ffi knows all of them but BufferError, which it raises as a
// RuntimeError of that kind, unless somebody has called tvm_ffi.register_error("BufferError", BufferError). A panic is a
// RuntimeError with Go's stack. Ctrl-C stops functions that ask kernel.Ctx.Err.
//
// tvm-ffi does not say which tensors are read-only: jax's arrays are written if the function writes.
//
// tvm_ffi installs a handler for faults. If it is imported when the library's Go runs already, a nil pointer in Go ends the
// process; import it first.
//
// # After a fork
//
// The functions are those of the process that registered them. In a forked child they are a RuntimeError, since the
// runtime of Go that they lead to is dead there. The child registers again, by its own copy of the library, and looks the
// functions up again.
//
// # What it costs
//
// A call of a function with one int takes 0.3 us from Python, where one in C++ takes 0.12 and one by godlpack itself 0.2.
// A tensor adds what it takes to validate it, as tvm-ffi does not, about 0.06 us; an output two calls of the allocator.
package tvmffi
