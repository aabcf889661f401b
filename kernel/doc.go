// Package kernel makes Go functions callable by others, from Python or any host in C: it holds a function's declaration,
// checks each call against it, gives the function its arguments as typed views and values, and hands its results over.
//
// A declaration is data, and says for each argument what a caller may give:
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
// The command godlpack writes such declarations from a function's Go types and comments. One that is called with
// anything else never runs; the caller is told "saxpy(): argument 'y': want float32[n] on cpu, writable, got float32[4] on
// cpu, where n is 3 by 'x'".
//
// # What a function may use
//
//   - Arguments: [Of], [Mut], [DeviceOf], [DeviceMut] for tensors, [Int], [Float], the methods of [Call] for the rest, and
//     lists of them. Views borrow the caller's memory, and are good until the function returns.
//   - Outputs: [Empty] and [Zeros] make tensors in the caller's own framework; [Return] and its siblings give them back.
//   - On GPUs: [EmptyOn] makes outputs there, and [Ctx.Stream] is where to launch kernels (package cuda).
//   - [Parallel] for loops over many processors, and [Ctx.Err] for whether to go on.
//   - Errors: return [Errorf] with the kind of Python's exception, alone or wrapped (fmt.Errorf). A panic with such an
//     error, as by Slice of a view with gaps or by At outside of it, ends the call with it. Any other panic, in whatever goroutine of Parallel,
//     becomes a RuntimeError with its stack, and so does a pointer that leads nowhere. Other goroutines that a function starts
//     are its own affair: a panic there ends the process, as in every Go program.
//
// # What a host does
//
// A [Host] gives memory, for small outputs before it is asked ([Scratch]), may stop a function, and is called back;
// [Func.Call] is all that it calls. Package library makes one of C's calling convention. Pointers are trusted to be what
// their codes say; whatever a record of a tensor says is checked, unless the host vouches for it (packed.Checked).
//
// A call of checked tensors takes no memory.
package kernel
