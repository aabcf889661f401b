package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// Lanes are an array of single numbers: a tensor with its lanes as the last axis. Strides count numbers.
//
// The parts of a complex number are lanes, too. Those of complex32 keep its code, with 16 bits, which is not a DLPack type:
// ml_dtypes rounds and copies them differently from NumPy's float16.
type lanes struct {
	start          unsafe.Pointer
	dtype          dlpack.DType
	shape, strides []int64
}

// lanesOf returns the lanes of t.
func lanesOf(t *dlpack.Tensor) lanes {
	v := lanes{t.Start(), t.DType.Lane(), t.ShapeSlice(), strides(t)}
	if n := int64(t.DType.Lanes); n > 1 {
		return v.widened(n, n)
	}
	return v
}

// widened returns v with all strides multiplied, and one more axis of that extent if it is not 1.
func (v lanes) widened(factor, extent int64) lanes {
	steps := make([]int64, len(v.strides), len(v.strides)+1)
	for i, step := range v.strides {
		steps[i] = step * factor
	}
	v.strides = steps
	if extent != 1 {
		v.strides = append(steps, 1)
		v.shape = append(v.shape[:len(v.shape):len(v.shape)], extent)
	}
	return v
}

// parts returns the real and imaginary parts as one array with an additional axis.
func (v lanes) parts() lanes {
	v.dtype = partType(v.dtype)
	return v.widened(2, 2)
}

// real returns the real parts.
func (v lanes) real() lanes {
	v.dtype = partType(v.dtype)
	return v.widened(2, 1)
}

// imag returns the imaginary parts that belong to real ones.
func (v lanes) imag() lanes {
	v.start = unsafe.Add(v.start, v.dtype.Bits/8)
	return v
}

// zero sets all numbers, of whole bytes, to 0.
func (v lanes) zero() {
	l := newLoop(v.shape, v.strides, v.strides)
	size := int64(v.dtype.Bits / 8)
	fill := rowFiller(size, l.inner)
	element := make([]byte, size)
	inner := l.inner
	inner.dst *= size
	l.rows(func(at, _ int64) { fill(unsafe.Add(v.start, at*size), inner, element) })
}

func partType(d dlpack.DType) dlpack.DType {
	switch d {
	case dlpack.Complex32:
		return halfPart
	case dlpack.BComplex32:
		return dlpack.BFloat16
	}
	return dlpack.DType{Code: dlpack.CodeFloat, Bits: d.Bits / 2, Lanes: 1}
}

// halfPart is the type of a part of complex32.
var halfPart = dlpack.DType{Code: dlpack.CodeComplex, Bits: 16, Lanes: 1}
