package cpython

// #include "core.h"
// #include <stdlib.h>
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
)

// formats maps each dtype that the struct module has a code for to that code, a C string that is never freed.
var formats = func() map[dlpack.DType]*C.char {
	m := map[dlpack.DType]*C.char{}
	for d, code := range map[dlpack.DType]string{
		dlpack.Bool: "?", dlpack.Int8: "b", dlpack.Int16: "h", dlpack.Int32: "i", dlpack.Int64: "q",
		dlpack.UInt8: "B", dlpack.UInt16: "H", dlpack.UInt32: "I", dlpack.UInt64: "Q",
		dlpack.Float16: "e", dlpack.Float32: "f", dlpack.Float64: "d", dlpack.Complex64: "Zf", dlpack.Complex128: "Zd",
	} {
		m[d] = C.CString(code)
	}
	return m
}()

// noElements is the start of an empty tensor's buffer: consumers do not expect NULL.
var noElements = C.malloc(1)

// fillBuffer fills view with t's memory, by Python's buffer protocol.
func fillBuffer(t Tensor, view *C.Py_buffer, flags C.int) error {
	rec, has := t.Record(), func(f C.int) bool { return flags&f == f }
	format := formats[rec.DType]
	switch {
	case !rec.Device.Type.HostReadable():
		return bufferError("a tensor on %s has no memory that the CPU can read; use .to('cpu')", rec.Device)
	case t.ReadOnly() && has(C.PyBUF_WRITABLE):
		return bufferError("the tensor is read-only; use .copy()")
	case format == nil && (has(C.PyBUF_FORMAT) || rec.DType.BitSize(t.Padded())%8 != 0):
		return bufferError("the buffer protocol has no format for %s; exchange it by DLPack", rec.DType)
	}
	if err := checkOrder(rec, has); err != nil {
		return err
	}
	size, itemsize := int64(t.count()), int64(rec.DType.ItemSize(t.Padded()))
	dims := C.calloc(C.size_t(2*rec.NDim)+1, C.sizeof_Py_ssize_t)
	if dims == nil {
		return dlpack.Errorf(dlpack.KindMemory, "no memory for a buffer")
	}
	all := unsafe.Slice((*C.Py_ssize_t)(dims), 2*rec.NDim+1)
	for i, n := range rec.ShapeSlice() {
		all[i], all[int(rec.NDim)+i] = C.Py_ssize_t(n), C.Py_ssize_t(rec.StridesSlice()[i]*itemsize)
	}
	view.obj = t.Object().Retain().p
	view.buf, view.len, view.itemsize = rec.Start(), C.Py_ssize_t(size*itemsize), C.Py_ssize_t(itemsize)
	if size == 0 {
		view.buf = noElements
	}
	view.readonly, view.ndim = 0, C.int(rec.NDim)
	if t.ReadOnly() {
		view.readonly = 1
	}
	view.format, view.shape, view.strides, view.suboffsets, view.internal = nil, nil, nil, nil, dims
	if has(C.PyBUF_FORMAT) {
		view.format = format
	}
	if has(C.PyBUF_ND) && rec.NDim > 0 {
		view.shape = &all[0]
	}
	if has(C.PyBUF_STRIDES) && rec.NDim > 0 {
		view.strides = &all[rec.NDim]
	}
	return nil
}

func (t Tensor) count() C.int64_t { return C.gd_element_count(&t.p.t) }

// checkOrder refuses a request that does not allow rec's strides.
func checkOrder(rec *dlpack.Tensor, has func(C.int) bool) error {
	c := dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'C')
	f := dlpack.IsContiguous(rec.ShapeSlice(), rec.StridesSlice(), 'F')
	var want string
	switch {
	case (has(C.PyBUF_C_CONTIGUOUS) || !has(C.PyBUF_STRIDES)) && !c:
		want = "C-contiguous"
	case has(C.PyBUF_F_CONTIGUOUS) && !f:
		want = "Fortran-contiguous"
	case has(C.PyBUF_ANY_CONTIGUOUS) && !c && !f:
		want = "contiguous"
	default:
		return nil
	}
	return bufferError("want a %s buffer, got strides %v for shape %v; use .contiguous()", want, rec.StridesSlice(), rec.ShapeSlice())
}

func bufferError(format string, a ...any) error {
	return dlpack.Errorf(dlpack.KindBuffer, format, a...)
}

// HasBuffer reports whether o has the buffer protocol.
func (o Object) HasBuffer() bool { return C.PyObject_CheckBuffer(o.p) != 0 }

// Buffer is the memory of an object, as the object exports it by the buffer protocol.
type Buffer struct {
	storage  *C.gd_storage
	Data     uintptr
	Format   string // of the struct module; "" means bytes
	ItemSize int64
	ReadOnly bool
	Shape    []int64
	Strides  []int64 // in bytes
}

// HoldBuffer requests o's buffer with its strides and its format, read-only or not.
//
// Owns: the result holds o's memory in place: Tensor or Release it; on ErrRaised there is none.
func HoldBuffer(o Object) (Buffer, error) {
	var view *C.Py_buffer
	const full = C.PyBUF_STRIDES | C.PyBUF_FORMAT
	s := C.gd_storage_of_buffer(o.p, full, &view)
	if s == nil {
		return Buffer{}, ErrRaised
	}
	b := Buffer{storage: s, Data: uintptr(view.buf), ItemSize: int64(view.itemsize), ReadOnly: view.readonly != 0}
	if view.format != nil {
		b.Format = C.GoString(view.format)
	}
	b.Shape, b.Strides = layoutOf(view)
	return b, nil
}

// layoutOf returns shape and strides in bytes. Some exporters leave out what follows from the rest, although it was
// requested: ctypes, and NumPy for its times, the strides of compact elements.
func layoutOf(view *C.Py_buffer) (shape, strides []int64) {
	n := max(int(view.ndim), 0)
	shape, strides = make([]int64, n), make([]int64, n)
	if view.shape != nil {
		copy(shape, unsafe.Slice((*int64)(unsafe.Pointer(view.shape)), n))
	} else if n > 0 && view.itemsize > 0 {
		shape[n-1] = int64(view.len / view.itemsize) // without a shape there is one dimension at most
	}
	if view.strides != nil {
		copy(strides, unsafe.Slice((*int64)(unsafe.Pointer(view.strides)), n))
		return shape, strides
	}
	dlpack.CompactStrides(strides, shape)
	for i := range strides {
		strides[i] *= int64(view.itemsize)
	}
	return shape, strides
}

// Release releases the memory.
//
// Owns: takes b.
func (b Buffer) Release() { C.gd_storage_release(b.storage) }

// Tensor makes a tensor over the buffer; strides are in elements.
//
// Owns: takes b, also on error; the result is new.
func (b Buffer) Tensor(d dlpack.DType, strides []int64) (Object, error) {
	var flags dlpack.Flags
	if b.ReadOnly {
		flags = dlpack.ReadOnly
	}
	return newTensor(b.Data, d, b.Shape, strides, flags, b.storage)
}
