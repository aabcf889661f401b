package dlpack

import "unsafe"

// The records have the memory layout of their C namesakes on 64-bit machines (layout.go fixes it), and the tag c gives each
// field's name in the header. C functions are unsafe.Pointers here: Go never calls them itself.

// Tensor is DLTensor: a view of memory with another owner. 48 bytes.
//
// A record from outside may hold anything. Call Validate on it in place, before it is copied or any other method is used: Go
// itself stops the process when it finds a small number in a pointer variable.
type Tensor struct {
	// Data is an address, or an opaque handle (see DeviceType.PointerData). NULL if the size is 0 (R15, R41).
	Data    unsafe.Pointer `c:"data"`
	Device  Device         `c:"device"`
	NDim    int32          `c:"ndim"`
	DType   DType          `c:"dtype"`
	Shape   *int64         `c:"shape"`   // NDim extents; may be NULL if NDim is 0 (R14)
	Strides *int64         `c:"strides"` // NDim steps in elements, of any sign; NULL means compact row-major (R40)
	// ByteOffset is the distance in bytes from Data to the first element (R39).
	ByteOffset uint64 `c:"byte_offset"`
}

// ManagedTensor is DLManagedTensor, the legacy record: a tensor with its deleter. 64 bytes. It has neither version nor flags
// (R4, R23).
type ManagedTensor struct {
	Tensor     Tensor         `c:"dl_tensor"`
	ManagerCtx unsafe.Pointer `c:"manager_ctx"` // the producer's own
	Deleter    unsafe.Pointer `c:"deleter"`     // void (*)(DLManagedTensor *); to be called once, from any thread (R11, R12); may be NULL
}

// ManagedTensorVersioned is DLManagedTensorVersioned, the record of DLPack 1.0 and later. 80 bytes.
// Version, ManagerCtx and Deleter keep their offsets in every future version (R34).
type ManagedTensorVersioned struct {
	Version    Version        `c:"version"`
	ManagerCtx unsafe.Pointer `c:"manager_ctx"` // the producer's own
	Deleter    unsafe.Pointer `c:"deleter"`     // void (*)(DLManagedTensorVersioned *); see ManagedTensor
	Flags      Flags          `c:"flags"`
	Tensor     Tensor         `c:"dl_tensor"`
}

// ExchangeHeader is DLPackExchangeAPIHeader, the part of an exchange table that stays the same in all versions. 16 bytes.
type ExchangeHeader struct {
	Version Version         `c:"version"`  // of this table; check its major before anything else (R53)
	Prev    *ExchangeHeader `c:"prev_api"` // the table of an older version, or NULL (R64)
}

// ExchangeAPI is DLPackExchangeAPI: the table of C functions by which a framework's type exchanges tensors without any Python
// call (R50 to R67). 56 bytes. The fields are in the order of the header.
type ExchangeAPI struct {
	Header        ExchangeHeader `c:"header"`
	Allocator     unsafe.Pointer `c:"managed_tensor_allocator"`              // new memory like a prototype's (R57)
	ManagedFromPy unsafe.Pointer `c:"managed_tensor_from_py_object_no_sync"` // an object to an owned record (R54)
	ManagedToPy   unsafe.Pointer `c:"managed_tensor_to_py_object_no_sync"`   // an owned record to an object (R56)
	TensorFromPy  unsafe.Pointer `c:"dltensor_from_py_object_no_sync"`       // an object to a borrowed view; may be NULL (R53, R55)
	CurrentStream unsafe.Pointer `c:"current_work_stream"`                   // the stream to launch on (R58)
}

// ShapeSlice returns the shape as a slice over the record's own memory, nil at NDim 0.
func (t *Tensor) ShapeSlice() []int64 {
	if t.NDim <= 0 || t.Shape == nil {
		return nil
	}
	return unsafe.Slice(t.Shape, t.NDim)
}

// StridesSlice returns the strides, in elements, as a slice over the record's own memory, nil at NDim 0 or if Strides is NULL.
func (t *Tensor) StridesSlice() []int64 {
	if t.NDim <= 0 || t.Strides == nil {
		return nil
	}
	return unsafe.Slice(t.Strides, t.NDim)
}

// Size returns the number of elements, 1 at NDim 0. The BufferError is that of Elements.
func (t *Tensor) Size() (int64, error) { return Elements(t.ShapeSlice()) }
