// Package tensor reads and writes the elements of DLPack tensors in memory that the host can reach.
//
// It has three layers:
//
//   - Number formats: [Float16], [BFloat16] and the 8, 6 and 4 bit floats, with exact decoding and correctly rounded
//     encoding.
//   - Elements of any DLPack type as a [Scalar]: [Load], [Store], [Fill], [Copy], [Values], [Text]. They know
//     vectors (lanes), packed types and any strides.
//   - Typed views, for loops in Go: [View] gives an [Of], [MutView] a [Mut]. [FromSlice] and [FromStrided] view Go memory,
//     [FromPointer] any other, and a [Record] turns a view into a DLPack tensor. None of this takes heap memory.
//
// The views check everything once and cost nothing after that:
//
//	x, err := tensor.View[float32](t) // a TypeError if t is not float32
//	if err != nil {
//		return err
//	}
//	for _, v := range x.All() { // whatever its strides are
//		sum += v
//	}
//
// Nothing here owns memory. A view of Go memory keeps it alive; memory from elsewhere must outlive its views, or they
// hold its owner (Hold). Memory that the host cannot reach has views of its own kind, [DeviceOf] and [DeviceMut], without
// elements to read.
//
// Functions may be called from many goroutines, as long as
// none writes what another reads; elements of packed types share bytes with their neighbours.
package tensor
