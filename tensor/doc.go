// Package tensor reads and writes the elements of DLPack tensors in memory that the host can access.
//
// It has three layers:
//
//   - Number formats: [Float16], [BFloat16] and the 8, 6 and 4 bit floats, with exact decoding and correctly rounded
//     encoding.
//   - Elements of any DLPack type as a [Scalar]: [Load], [Store], [Fill], [Copy], [Values], [Text]. They support vectors
//     (lanes), packed types and any strides.
//   - Typed views, for loops in Go: [View] returns an [Of], [MutView] a [Mut]. [FromSlice] and [FromStrided] view Go memory,
//     [FromPointer] any other, and a [Record] describes a view as a DLPack tensor. None of these allocate heap memory.
//
// The views make all checks once and have no cost after that:
//
//	x, err := tensor.View[float32](t) // a TypeError if t is not float32
//	if err != nil {
//		return err
//	}
//	for _, v := range x.All() { // whatever its strides are
//		sum += v
//	}
//
// This package owns no memory. A view of Go memory keeps it alive; foreign memory must outlive its views, or they hold its
// owner (Hold). Memory that the host cannot access has its own kinds of view, [DeviceOf] and [DeviceMut], without access to
// elements.
//
// Functions may be called from many goroutines, as long as none writes memory that another accesses; elements of packed types
// share bytes with their neighbours.
package tensor
