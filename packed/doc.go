// Package packed is TVM's packed-function convention: how a host and a library call each other's functions.
//
// A value is 8 bytes ([Value]), and a [Code] beside it says what they are. A call has [Args], two C arrays of values and
// codes, and a place for one result ([Ret]). A [Cell] is one value with its code, and reads itself by TVM's rules: a float
// may be read from a float, an int or a bool, an int from an int or a bool, and everything else is a TypeError that names
// both.
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
// Strings, bytes and lists that leave a function are blocks ([NewText], [NewBytes], [NewList]): one allocation each, whose
// allocator the caller names ([Memory]). [Any] is the 16-byte value of tvm-ffi, TVM's younger convention.
//
// A code is trusted: a value that says it is a pointer must be one, and what it points to must be what the code says.
// Only small numbers, which no memory has, are refused. Reading takes no memory but for errors: strings and bytes are those of
// the caller.
//
// The codes, values and lists have the layout of library/godlpack.h.
package packed
