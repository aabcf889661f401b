package tensor

import (
	"runtime"
	"unsafe"

	"godlpack/dlpack"
)

// inlineAxes is the number of axes that fit in a Record.
const inlineAxes = 8

// Record is a view as a DLPack tensor: all fields of a dlpack.Tensor, with its own shape and strides. It needs no heap memory
// up to 8 axes. Records can be copied; each copy has its own shape and strides.
//
// The zero Record has no type and no device: Tensor.Validate rejects it.
type Record struct {
	data    unsafe.Pointer
	device  dlpack.Device
	ndim    int32
	dtype   dlpack.DType
	flags   dlpack.Flags
	shape   [inlineAxes]int64
	strides [inlineAxes]int64
	more    []int64 // shape, then strides, if they do not fit in the arrays
	owner   *int64  // keeps the owner alive
}

// Record returns the record of v, with the flag ReadOnly.
func (v Of[T]) Record() Record { return v.record(dlpack.ReadOnly) }

// Record returns the record of v.
func (v Mut[T]) Record() Record { return v.record(0) }

// Record returns the record of v, with the flag ReadOnly.
func (v DeviceOf[T]) Record() Record { return v.record(dlpack.ReadOnly) }

// Record returns the record of v.
func (v DeviceMut[T]) Record() Record { return v.record(0) }

func (v span[T]) record(flags dlpack.Flags) Record {
	r := Record{
		data: v.start, device: v.Device(), ndim: int32(v.axes), dtype: DTypeOf[T](),
		flags: flags | storage[T](), owner: v.dims,
	}
	shape, strides := r.shape[:], r.strides[:]
	if n := v.NDim(); n > inlineAxes {
		r.more = make([]int64, 2*n)
		shape, strides = r.more[:n], r.more[n:]
	}
	copy(shape, v.Shape())
	if v.steps == nil {
		dlpack.CompactStrides(strides, v.Shape())
	} else {
		copy(strides, v.strides())
	}
	return r
}

// Tensor returns a DLTensor that borrows shape and strides from r: it is valid as long as r, which a Go pointer to either keeps
// alive. If only C has the DLTensor, keep r alive yourself (runtime.KeepAlive), or use Pin.
//
// Data points to the first element, NULL if there is none (R15); ByteOffset is 0; strides are always given, except NULL without
// axes (R14). A DLTensor has no flag for read-only memory: see Flags.
func (r *Record) Tensor() dlpack.Tensor {
	t := dlpack.Tensor{Data: r.data, Device: r.device, NDim: r.ndim, DType: r.dtype}
	switch {
	case r.more != nil:
		t.Shape, t.Strides = &r.more[0], &r.more[r.ndim]
	case r.ndim > 0:
		t.Shape, t.Strides = &r.shape[0], &r.strides[0]
	}
	return t
}

// Flags returns the flags for the tensor: ReadOnly for read-only views, SubbytePadded if each lane below a byte has its own
// byte.
func (r *Record) Flags() dlpack.Flags { return r.flags }

// Versioned returns the tensor with its flags, in the current version. It has no owner yet: the exporter sets ManagerCtx and
// Deleter.
func (r *Record) Versioned() dlpack.ManagedTensorVersioned {
	return dlpack.ManagedTensorVersioned{Version: dlpack.Current, Flags: r.flags, Tensor: r.Tensor()}
}

// Pin returns a DLTensor that may be passed to C: it, the shape, the strides and the elements stay in place and alive until
// p.Unpin. That is cgo's rule: C may get a pointer to Go memory that contains Go pointers only if these are pinned, and may
// keep it no longer than that. Memory that is not Go's is left alone. The tensor is on the heap.
//
//	var p runtime.Pinner
//	defer p.Unpin()
//	C.consume((*C.DLTensor)(unsafe.Pointer(r.Pin(&p))))
func (r *Record) Pin(p *runtime.Pinner) *dlpack.Tensor {
	t := new(dlpack.Tensor)
	*t = r.Tensor()
	p.Pin(t)
	for _, pointer := range [...]unsafe.Pointer{t.Data, unsafe.Pointer(t.Shape), unsafe.Pointer(t.Strides)} {
		if pointer != nil {
			p.Pin(pointer)
		}
	}
	return t
}
