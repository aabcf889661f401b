// Package all has a function for each thing that can be exported.
package all

import (
	"context"
	"errors"
	"iter"
	"time"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

// Level is a number with a name of its own.
type Level int8

// Label is text with a name of its own.
type Label string

// Plain takes each kind of plain value.
//
// A second paragraph has "quotes" and
// two lines.
//
//godlpack:export
func Plain(b bool, i int, small uint8, level Level, f float32, s string, label Label, data []byte, d dlpack.DType, on dlpack.Device) error {
	return nil
}

//godlpack:export identity
func Returns(b bool, i int, small uint8, level Level, f float32, s string, label Label, data []byte, d dlpack.DType, on dlpack.Device) (
	bool, int, uint8, Level, float32, string, Label, []byte, dlpack.DType, dlpack.Device) {
	return b, i, small, level, f, s, label, data, d, on
}

// Lists takes and returns lists.
//
//godlpack:export
//godlpack:gil hold
func Lists(flags []bool, counts []int, levels []Level, weights []float32, names []string) ([]bool, []int, []float32, []string, error) {
	return flags, counts, weights, names, nil
}

// Optional arguments may be None.
//
//godlpack:export
//godlpack:arg seed default=None
//godlpack:arg names default=None
func Optional(scale *float64, seed *int64, names *[]string) (*float64, error) {
	if scale == nil {
		return nil, errors.New("no scale")
	}
	return scale, nil
}

// Defaults has one of each kind.
//
//godlpack:export
//godlpack:arg flag default=true
//godlpack:arg axis default=-1
//godlpack:arg eps default=1e-5
//godlpack:arg mode default="same size"
//godlpack:arg kind default=float32
//godlpack:arg on default=cuda:1
//godlpack:arg pads default=[1, 2]
//godlpack:arg most default=18446744073709551615
//godlpack:arg masks default=[0, 18446744073709551615]
//godlpack:arg wait default=1.5s
func Defaults(flag bool, axis int, eps float64, mode string, kind dlpack.DType, on dlpack.Device, pads []int64, wait time.Duration, most uint64, masks []uint64) {
}

// Call calls back into Python. The parameters of nRows and lambda are called otherwise there.
//
//godlpack:export
func Call(ctx *kernel.Ctx, callback kernel.Callable, nRows int, lambda float64) (float64, error) {
	return lambda, nil
}

//godlpack:export
func nothing() {}

// Helper is not exported.
func Helper() { nothing() }

// Chunks yields the rows of x that are in keep.
//
//godlpack:export
//godlpack:prefetch 8
func Chunks[T tensor.Float](ctx context.Context, x tensor.Of[T], keep []byte, more ...string) (iter.Seq2[tensor.Of[T], error], error) {
	return nil, nil
}

// Pairs yields pairs.
//
//godlpack:export
func Pairs(n int) iter.Seq2[string, int] { return nil }

// Sent is what a channel sends.
//
//godlpack:export
func Sent() <-chan float64 { return nil }
