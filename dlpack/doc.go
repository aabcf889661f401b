// Package dlpack defines DLPack in Go: its records, codes, names and flags as Go values, and its rules as functions.
//
// The records (Tensor, ManagedTensor, ManagedTensorVersioned, ExchangeAPI) have the memory layout of DLPack 1.3, so a pointer
// from C can be read as one of them:
//
//	t := (*dlpack.Tensor)(pointer)
//	if err := t.Validate(); err != nil {
//		return err // a BufferError: "shape[1]: want 0 or more, got -3"
//	}
//	lo, hi, err := t.ByteExtent(false) // the bytes that may be touched, relative to t.Start()
//
// A type of element is a DType with a name that both ParseDType and String use. Whether sub-byte types (fp4, fp6, int4) are
// packed is a property of the tensor, not of the type, hence the argument padded of some functions: it is
// flags.Has(SubbytePadded).
//
// Functions of shape and strides alone (contiguity, bounds, overlap) take slices: Elements, CompactStrides, IsContiguous,
// Extent, SelfOverlap.
//
// Every error is an *Error with the kind of its Python exception.
//
// The package calls no C, frees nothing and owns nothing. Its functions are safe for concurrent use as long as nobody writes
// the records they read. The numbers R1 to R67 in the comments are the rules of docs/conformance.md.
package dlpack
