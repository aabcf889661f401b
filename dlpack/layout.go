package dlpack

import (
	"reflect"
	"unsafe"
)

// These declarations fix the layout of the records: a moved field, or a machine that is not 64-bit, does not compile.
var (
	_ [8]byte = [unsafe.Sizeof(Version{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Version{}.Major)]byte{}
	_ [4]byte = [unsafe.Offsetof(Version{}.Minor)]byte{}

	_ [8]byte = [unsafe.Sizeof(Device{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Device{}.Type)]byte{}
	_ [4]byte = [unsafe.Offsetof(Device{}.ID)]byte{}

	_ [4]byte = [unsafe.Sizeof(DType{})]byte{}
	_ [0]byte = [unsafe.Offsetof(DType{}.Code)]byte{}
	_ [1]byte = [unsafe.Offsetof(DType{}.Bits)]byte{}
	_ [2]byte = [unsafe.Offsetof(DType{}.Lanes)]byte{}

	_ [48]byte = [unsafe.Sizeof(Tensor{})]byte{}
	_ [0]byte  = [unsafe.Offsetof(Tensor{}.Data)]byte{}
	_ [8]byte  = [unsafe.Offsetof(Tensor{}.Device)]byte{}
	_ [16]byte = [unsafe.Offsetof(Tensor{}.NDim)]byte{}
	_ [20]byte = [unsafe.Offsetof(Tensor{}.DType)]byte{}
	_ [24]byte = [unsafe.Offsetof(Tensor{}.Shape)]byte{}
	_ [32]byte = [unsafe.Offsetof(Tensor{}.Strides)]byte{}
	_ [40]byte = [unsafe.Offsetof(Tensor{}.ByteOffset)]byte{}

	_ [64]byte = [unsafe.Sizeof(ManagedTensor{})]byte{}
	_ [0]byte  = [unsafe.Offsetof(ManagedTensor{}.Tensor)]byte{}
	_ [48]byte = [unsafe.Offsetof(ManagedTensor{}.ManagerCtx)]byte{}
	_ [56]byte = [unsafe.Offsetof(ManagedTensor{}.Deleter)]byte{}

	_ [80]byte = [unsafe.Sizeof(ManagedTensorVersioned{})]byte{}
	_ [0]byte  = [unsafe.Offsetof(ManagedTensorVersioned{}.Version)]byte{}
	_ [8]byte  = [unsafe.Offsetof(ManagedTensorVersioned{}.ManagerCtx)]byte{}
	_ [16]byte = [unsafe.Offsetof(ManagedTensorVersioned{}.Deleter)]byte{}
	_ [24]byte = [unsafe.Offsetof(ManagedTensorVersioned{}.Flags)]byte{}
	_ [32]byte = [unsafe.Offsetof(ManagedTensorVersioned{}.Tensor)]byte{}

	_ [16]byte = [unsafe.Sizeof(ExchangeHeader{})]byte{}
	_ [0]byte  = [unsafe.Offsetof(ExchangeHeader{}.Version)]byte{}
	_ [8]byte  = [unsafe.Offsetof(ExchangeHeader{}.Prev)]byte{}

	_ [56]byte = [unsafe.Sizeof(ExchangeAPI{})]byte{}
	_ [0]byte  = [unsafe.Offsetof(ExchangeAPI{}.Header)]byte{}
	_ [16]byte = [unsafe.Offsetof(ExchangeAPI{}.Allocator)]byte{}
	_ [24]byte = [unsafe.Offsetof(ExchangeAPI{}.ManagedFromPy)]byte{}
	_ [32]byte = [unsafe.Offsetof(ExchangeAPI{}.ManagedToPy)]byte{}
	_ [40]byte = [unsafe.Offsetof(ExchangeAPI{}.TensorFromPy)]byte{}
	_ [48]byte = [unsafe.Offsetof(ExchangeAPI{}.CurrentStream)]byte{}
)

// recordRows gives each record its name in the header.
var recordRows = []struct {
	cName  string
	record reflect.Type
}{
	{"DLPackVersion", reflect.TypeFor[Version]()},
	{"DLDevice", reflect.TypeFor[Device]()},
	{"DLDataType", reflect.TypeFor[DType]()},
	{"DLTensor", reflect.TypeFor[Tensor]()},
	{"DLManagedTensor", reflect.TypeFor[ManagedTensor]()},
	{"DLManagedTensorVersioned", reflect.TypeFor[ManagedTensorVersioned]()},
	{"DLPackExchangeAPIHeader", reflect.TypeFor[ExchangeHeader]()},
	{"DLPackExchangeAPI", reflect.TypeFor[ExchangeAPI]()},
}

// Layout returns this package's values for the official header, under the header's own names, for a comparison with any copy of
// it: "sizeof DLTensor" (48), "sizeof DLTensor.ndim" (4), "offsetof DLTensor.ndim" (16), "kDLCUDA" (2),
// "DLPACK_FLAG_BITMASK_READ_ONLY" (1), "DLPACK_MAJOR_VERSION" (1), for every record, field, enumeration value and flag. Sizes
// and offsets are in bytes. The minor version is omitted: a header of a higher one is compatible.
func Layout() map[string]uintptr {
	layout := map[string]uintptr{"DLPACK_MAJOR_VERSION": uintptr(Current.Major)}
	for _, row := range recordRows {
		layout["sizeof "+row.cName] = row.record.Size()
		for i := range row.record.NumField() {
			field := row.record.Field(i)
			name := row.cName + "." + field.Tag.Get("c")
			layout["sizeof "+name] = field.Type.Size()
			layout["offsetof "+name] = field.Offset
		}
	}
	for code, row := range codeRows {
		layout[row.cName] = uintptr(code)
	}
	for _, row := range deviceRows {
		layout[row.cName] = uintptr(row.kind)
	}
	for _, row := range flagRows {
		layout[row.cName] = uintptr(row.flag)
	}
	return layout
}
