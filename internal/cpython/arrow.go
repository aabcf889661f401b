package cpython

// #include "arrow.h"
// #include "core.h"
import "C"

import "godlpack/dlpack"

// arrowFormats maps each dtype that is a primitive type in Arrow to its format in Arrow's C data interface, a C string that
// is never freed. Bool is missing: Arrow's booleans are bits.
var arrowFormats = func() map[dlpack.DType]*C.char {
	m := map[dlpack.DType]*C.char{}
	for d, code := range map[dlpack.DType]string{
		dlpack.Int8: "c", dlpack.Int16: "s", dlpack.Int32: "i", dlpack.Int64: "l",
		dlpack.UInt8: "C", dlpack.UInt16: "S", dlpack.UInt32: "I", dlpack.UInt64: "L",
		dlpack.Float16: "e", dlpack.Float32: "f", dlpack.Float64: "g",
	} {
		m[d] = C.CString(code)
	}
	return m
}()

// HasArrow reports whether Arrow has a primitive type for d.
func HasArrow(d dlpack.DType) bool { return arrowFormats[d] != nil }

var nameArrowSchema = CapsuleName{C.CString("arrow_schema")}

// ArrowFormat returns the format of a schema in a capsule; ok is false if o is no such capsule.
//
// Owns: the result is Go's copy.
func ArrowFormat(o Object) (format string, ok bool) {
	if !o.IsCapsule() || !o.HasName(nameArrowSchema) {
		return "", false
	}
	schema := (*C.struct_ArrowSchema)(C.PyCapsule_GetPointer(o.p, nameArrowSchema.c))
	if schema.release == nil { // consumed before
		return "", false
	}
	return C.GoString(schema.format), true
}

// ArrowDType returns the dtype of a format; ok is false for all but the primitive types.
//
// GIL: not needed.
// Threads: any.
func ArrowDType(format string) (d dlpack.DType, ok bool) {
	for d, code := range arrowFormats {
		if C.GoString(code) == format {
			return d, true
		}
	}
	return d, false
}

// Arrow exports t as Arrow's pair of capsules (schema, array). t is compact, has one dimension, and HasArrow of its dtype.
//
// Owns: the result is new, and keeps t's memory; on ErrRaised there is none.
func (t Tensor) Arrow() (Object, error) {
	pair := []Object{{C.gd_arrow_schema(arrowFormats[t.Record().DType])}, {C.gd_arrow_array(t.p)}}
	defer ReleaseAll(pair)
	return TupleOf(pair)
}
