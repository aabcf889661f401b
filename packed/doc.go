// Package packed implements TVM's packed-function convention for calls between a host and a library.
//
// A value is 8 bytes ([Value]), with a [Code] for their type. A call has [Args], two C arrays of values and codes, and a place
// for one result ([Ret]). A [Cell] is one value with its code, and converts by TVM's rules: a float may be read from a float,
// an int or a bool, an int from an int or a bool, and everything else is a TypeError that names both types.
//
//	func half(args packed.Args, ret *packed.Ret) error {
//		x, err := args.At(0).Float()
//		if err != nil {
//			return err // "TypeError: want float, got str"
//		}
//		ret.Set(packed.Float(x / 2))
//		return nil
//	}
//
// Strings, bytes and lists that leave a function are blocks ([NewText], [NewBytes], [NewList]): one allocation each, by the
// caller's allocator ([Memory]). [Any] is the 16-byte value of tvm-ffi, TVM's newer convention.
//
// Codes are trusted: a value whose code states a pointer must be one, to the type that the code states. Only small numbers,
// which are never addresses, are rejected. Reading allocates only for errors: strings and bytes are the caller's memory.
//
// The codes, values and lists have the layout of library/godlpack.h.
package packed
