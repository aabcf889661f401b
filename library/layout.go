package library

// #include "library.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
)

// The header and package packed declare the same layout, once for each language: a difference does not compile.
var (
	_ [unsafe.Sizeof(C.TVMValue{})]byte                 = [unsafe.Sizeof(packed.Value(0))]byte{}
	_ [unsafe.Sizeof(C.int(0))]byte                     = [unsafe.Sizeof(packed.Code(0))]byte{}
	_ [unsafe.Sizeof(C.TVMByteArray{})]byte             = [unsafe.Sizeof(packed.ByteArray{})]byte{}
	_ [unsafe.Offsetof(C.TVMByteArray{}.size)]byte      = [unsafe.Offsetof(packed.ByteArray{}.Size)]byte{}
	_ [unsafe.Sizeof(C.GDList{})]byte                   = [unsafe.Sizeof(packed.List{})]byte{}
	_ [unsafe.Offsetof(C.GDList{}.values)]byte          = [unsafe.Offsetof(packed.List{}.Values)]byte{}
	_ [unsafe.Offsetof(C.GDList{}.codes)]byte           = [unsafe.Offsetof(packed.List{}.Codes)]byte{}
	_ [unsafe.Offsetof(C.GDList{}.flags)]byte           = [unsafe.Offsetof(packed.List{}.Flags)]byte{}
	_ [unsafe.Sizeof(C.DLTensor{})]byte                 = [unsafe.Sizeof(dlpack.Tensor{})]byte{}
	_ [unsafe.Sizeof(C.DLManagedTensorVersioned{})]byte = [unsafe.Sizeof(dlpack.ManagedTensorVersioned{})]byte{}
)

// Each index is the difference of two numbers that are the same.
var _ = [...]struct{}{
	one[C.GD_INT-packed.CodeInt], one[C.GD_FLOAT-packed.CodeFloat], one[C.GD_HANDLE-packed.CodeHandle],
	one[C.GD_NULL-packed.CodeNull], one[C.GD_DTYPE-packed.CodeDType], one[C.GD_DEVICE-packed.CodeDevice],
	one[C.GD_TENSOR-packed.CodeTensor], one[C.GD_CALLABLE-packed.CodeCallable], one[C.GD_STR-packed.CodeStr],
	one[C.GD_BYTES-packed.CodeBytes], one[C.GD_BOOL-packed.CodeBool], one[C.GD_TEXT-packed.CodeText],
	one[C.GD_LIST-packed.CodeList], one[C.GD_MANAGED-packed.CodeManaged], one[C.GD_DEFAULT-packed.CodeDefault],
	one[C.GD_ARGUMENT-packed.CodeArgument], one[C.GD_TUPLE-packed.CodeTuple], one[C.GD_UINT-packed.CodeUint], one[C.GD_HUGE-packed.CodeHuge], one[C.GD_PART-packed.CodePart],
	one[C.GD_OBJECT-packed.CodeObject],
	one[C.GD_CHECKED-packed.Checked],
}

var one [1]struct{}
