package all

import (
	"godlpack/kernel"
	"godlpack/tensor"
)

// Number is a constraint of the author's own.
type Number interface {
	~float32 | ~float64 | int | int64
}

// Tensors takes each kind of view.
//
//godlpack:export
//godlpack:arg a shape=[n, 3, *] order=C convert
//godlpack:arg b shape=[...,n] overlap
//godlpack:arg c device=cuda
//godlpack:arg scalar shape=[]
func Tensors(a tensor.Of[float32], b tensor.Mut[tensor.BFloat16], c tensor.DeviceOf[int32], d tensor.DeviceMut[[4]float32],
	scalar *tensor.Of[float64], list []tensor.Of[tensor.Float8E4M3FN], muts []tensor.Mut[tensor.Bool8]) (
	tensor.Of[float32], tensor.Mut[tensor.BFloat16], tensor.DeviceOf[int32], *tensor.Of[float64], []tensor.Of[tensor.Float8E4M3FN], error) {
	return a, b, c, scalar, list, nil
}

// Scale is compiled for what its constraint lists.
//
//godlpack:export
func Scale[T tensor.Float](factor T, x tensor.Mut[T]) T { return factor }

// Sum is compiled for the types of Number that tensors have.
//
//godlpack:export
func Sum[T interface {
	Number
	tensor.Element
}](x tensor.Of[T]) float64 {
	return 0
}

// Gather has two type parameters.
//
//godlpack:export take
//godlpack:types T=float32,bfloat16,float32x4 I=int32,int64
//godlpack:arg index shape=[n]
//godlpack:result shape=[n, ...]
func Gather[T, I tensor.Element](ctx *kernel.Ctx, x tensor.Of[T], index tensor.Of[I]) (tensor.Of[T], error) {
	return x, nil
}

// Views returns what it was given.
//
//godlpack:export
//godlpack:arg maybe default=None
func Views(some []tensor.Of[float32], mut tensor.Mut[float32], at tensor.DeviceOf[float32], maybe *tensor.Of[float32]) (
	[]tensor.Of[float32], []tensor.Mut[float32], tensor.Mut[float32], tensor.DeviceOf[float32], *tensor.Of[float32]) {
	return some, []tensor.Mut[float32]{mut}, mut, at, maybe
}
