package tensor

import (
	"slices"
	"unsafe"

	"godlpack/dlpack"
)

// Convert sets the elements of dst to those of src as values of dst's type. Both have the same shape and the same number of
// lanes and are valid (Tensor.Validate); they may have any strides, and share memory, as in Copy. DstPadded and srcPadded are
// Load's padded for each. Between identical types it is Copy.
//
// The values are those of numpy's astype, with ml_dtypes for the types that numpy lacks: see docs/dtypes.md. In short: integers
// wrap; floats lose their fraction in a conversion to integers; floats round to nearest, ties to even, and those of 16 bits and
// less by way of float32, except float64 to float16; complex numbers lose their imaginary part in a conversion to real ones;
// everything except zero is true. No value is an error.
//
// It is a ValueError when shapes or lanes differ, a TypeError for types without a number that fits in 64 bits (handles,
// float128, integers of more than 64 bits), unless both are the same, and a BufferError when the host cannot access the memory.
// Bits of dst outside of its elements are unchanged; those that pad a sub-byte lane become 0.
func Convert(dst, src *dlpack.Tensor, dstPadded, srcPadded bool) error {
	if err := reachable(dst, src); err != nil {
		return err
	}
	if dst.DType == src.DType && (dstPadded == srcPadded || !dst.DType.SubByte()) {
		return Copy(dst, src, dstPadded)
	}
	if err := convertible(dst, src); err != nil {
		return err
	}
	if n, err := dst.Size(); n == 0 || err != nil {
		return err
	}
	if dlpack.Overlap(dst, src) {
		apart, err := compactCopy(src, srcPadded)
		if err != nil {
			return err
		}
		src = apart
	}
	return convertLanes(lanesOf(dst), lanesOf(src), dstPadded, srcPadded)
}

// convertible returns the error for two tensors that differ in more than the types of their lanes, or have types that are not
// numbers.
func convertible(dst, src *dlpack.Tensor) error {
	switch {
	case !numeric(src.DType) || !numeric(dst.DType):
		return dlpack.Errorf(dlpack.KindType, "convert: want numbers of at most 64 bits a part, got %v to %v", src.DType, dst.DType)
	case dst.DType.Lanes != src.DType.Lanes:
		return dlpack.Errorf(dlpack.KindValue, "convert: want %d lanes as in %v, got %v", src.DType.Lanes, src.DType, dst.DType)
	case !slices.Equal(dst.ShapeSlice(), src.ShapeSlice()):
		return dlpack.Errorf(dlpack.KindValue, "convert: want shape %v, got %v", src.ShapeSlice(), dst.ShapeSlice())
	}
	return nil
}

// numeric reports whether Convert supports the values of the valid type d.
func numeric(d dlpack.DType) bool {
	switch d.Code {
	case dlpack.CodeOpaqueHandle:
		return false
	case dlpack.CodeComplex, dlpack.CodeBcomplex:
		return true
	}
	return d.Bits <= 64
}

// compactCopy returns a copy of t in its own memory.
func compactCopy(t *dlpack.Tensor, padded bool) (*dlpack.Tensor, error) {
	n, err := t.Size()
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, t.DType, padded)
	if err != nil {
		return nil, err
	}
	memory := make([]byte, size)
	apart := *t
	apart.Data, apart.ByteOffset, apart.Strides = unsafe.Pointer(&memory[0]), 0, nil
	apart.Device = dlpack.Device{Type: dlpack.CPU}
	return &apart, Copy(&apart, t, padded)
}

// convertLanes is Convert for tensors of one lane, without shared memory. It splits complex numbers: two arrays of them are
// arrays of real numbers with an additional axis, and a real part alone is an array with wider strides.
func convertLanes(dst, src lanes, dstPadded, srcPadded bool) error {
	to, from := dst.dtype.Code.Complex(), src.dtype.Code.Complex()
	switch {
	case to && from:
		dst, src = dst.parts(), src.parts()
	case to:
		dst = dst.real()
		dst.imag().zero()
	case from && dst.dtype.Code != dlpack.CodeBool:
		src = src.real()
	}
	l := newLoop(dst.shape, dst.strides, src.strides)
	n := l.inner.extent
	w := newPipeline(newRowBuffer(dst, l.inner.dst, dstPadded, n), newRowBuffer(src, l.inner.src, srcPadded, n), route(dst.dtype, src.dtype, n), n)
	l.rows(func(d, s int64) { w.row(d, s, n) })
	return nil
}
