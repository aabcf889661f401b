// Package kernel makes Go functions callable from Python or any host in C: it holds a function's declaration, checks each call
// against it, gives the function its arguments as typed views and values, and passes its results on.
//
// A declaration is data, and states what a caller may pass as each argument:
//
//	func init() {
//		kernel.Register(kernel.Func{
//			Name: "saxpy",
//			Doc:  "saxpy adds a*x to y, in place.",
//			Params: []kernel.Param{
//				{Name: "a", Kind: kernel.KindFloat},
//				{Name: "x", Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32}, Shape: []kernel.Extent{"n"}},
//				{Name: "y", Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32}, Shape: []kernel.Extent{"n"}, Mutable: true},
//			},
//			Do: func(c *kernel.Call) error {
//				return Saxpy(kernel.Float[float32](c, 0), kernel.Of[float32](c, 1), kernel.Mut[float32](c, 2))
//			},
//		})
//	}
//
// The command godlpack writes such declarations from a function's Go types and comments. Arguments that do not fit never reach
// the function; the caller gets "saxpy(): argument 'y': want float32[n] on cpu, writable, got float32[4] on cpu, but n is 3
// in 'x'".
//
// # What a function may use
//
//   - Arguments: [Of], [Mut], [DeviceOf], [DeviceMut] for tensors, [Int], [Float], the methods of [Call] for other values, and
//     lists of them. Views borrow the caller's memory, and are valid until the function returns.
//   - Outputs: [Empty] and [Zeros] make tensors in the caller's framework; [Return] and the other Return functions return them.
//   - On GPUs: [EmptyOn] makes outputs there, and [Ctx.Stream] returns the stream for launching kernels (package cuda).
//   - [Parallel] runs loops on many processors, and [Ctx.Err] reports whether to continue.
//   - Errors: return [Errorf] with the kind of Python's exception, alone or wrapped (fmt.Errorf). A panic with such an error,
//     for instance in Slice of a view with gaps or At outside of it, ends the call with it. Any other panic, in any goroutine
//     of Parallel, becomes a RuntimeError with its stack, and so does a fault by an invalid pointer. A panic in other
//     goroutines that a function starts ends the process, as in every Go program.
//
// # The host's part
//
// A [Host] provides memory, in advance for small outputs ([Scratch]), may stop a function, and runs callbacks; [Func.Call] is
// all that it calls. Package library makes one from C's calling convention. Pointers are trusted to be what their codes state;
// the contents of a tensor's record are checked, unless the host has done so (packed.Checked).
//
// A call of checked tensors allocates no memory.
package kernel
