package kernel_test

import (
	"errors"
	"testing"
	"unsafe"

	"godlpack/kernel"
	"godlpack/packed"
)

var _ = kernel.RegisterSequences()

func init() {
	into := kernel.Param{Name: "into", Kind: kernel.KindObject, Classes: []string{kernel.SequenceClass}}
	for _, name := range []string{"xs", "ys"} { // one for each parameter of a function
		list := kernel.Param{Name: name, Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt, Bits: 64}}
		kernel.Register(kernel.Func{Name: "total", Role: kernel.Feed, Params: []kernel.Param{into, list}, Do: kernel.Give})
	}
}

// ranges returns a function that ranges over its argument, three elements at a time, and the elements of each loop.
func ranges(t *testing.T, rounds *[][]int) *kernel.Func {
	return prepare(t, kernel.Func{
		Name: "ranges", Params: []kernel.Param{{Name: "xs", Kind: kernel.KindCallable, Each: &kernel.Param{Kind: kernel.KindInt, Bits: 64}}},
		Do: func(c *kernel.Call) error {
			seq := kernel.Sequenced(c, 0, func(c *kernel.Call) []int { return kernel.Ints[int](c, 1) })
			for range 3 {
				var round []int
				for v := range seq {
					if round = append(round, v); len(round) == 3 {
						break
					}
				}
				*rounds = append(*rounds, round)
			}
			return nil
		},
	})
}

// feeding returns a host whose callable gives these batches, and then ends with an error, or without.
func feeding(t *testing.T, err error, batches ...[]any) *fakeHost {
	h := newHost()
	h.invoke = func(_ unsafe.Pointer, args packed.Args, ret *packed.Ret) error {
		into := args.At(0)
		defer kernel.Drop(h, into)
		if len(batches) == 0 {
			ret.Set(packed.Bool(false))
			return err
		}
		fed := newCall(into, batches[0])
		batches = batches[1:]
		ret.Set(packed.Bool(true))
		return fed.of(registeredAs(t, "", "total", kernel.Feed), newHost())
	}
	return h
}

func TestSequence(t *testing.T) {
	var rounds [][]int
	h := feeding(t, nil, []any{1}, []any{2, 3}, []any{4, 5, 6, 7})
	if err := newCall(function).of(ranges(t, &rounds), h); err != nil {
		t.Fatal(err)
	}
	equal(t, "rounds", rounds, [][]int{{1, 2, 3}, {4, 5, 6}, {7}})
	h.balanced(t)
}

// The exception of an iterable is that of the call, which the function does not see.
func TestSequenceFails(t *testing.T) {
	var rounds [][]int
	err := newCall(function).of(ranges(t, &rounds), feeding(t, kernel.ErrRaised, []any{1, 2}))
	if !errors.Is(err, kernel.ErrRaised) {
		t.Errorf("want ErrRaised, got %v", err)
	}
	equal(t, "elements before it", rounds[0], []int{1, 2})
}
