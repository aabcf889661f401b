package kernel

import (
	"errors"
	"iter"
)

// A Sequence is where the elements of an iterable of the host arrive, for a function that takes an iter.Seq. The function gets
// the iterable as a Callable. Each call of it, with the Sequence, gives a batch of elements to the Sequence, by a call of a
// function of the role Feed, and returns whether there were any.
type Sequence struct {
	take func(c *Call) // keeps the batch that is argument 1
}

// SequenceClass is the name of the class Sequence among those of a library.
const SequenceClass = "_Sequence"

// RegisterSequences adds the class of sequences to those that the library offers, before functions that take them. It is for
// init functions.
func RegisterSequences() ClassOf[Sequence] {
	return RegisterClass[Sequence](Class{Name: SequenceClass})
}

// Sequenced returns argument i, an iterable, as a sequence that may be ranged over until the call ends, by one goroutine at a
// time, and goes on where the last loop ended. The function read returns a batch. If the iterable raises an exception, the
// sequence ends, and so does the call, with that exception.
func Sequenced[T any](c *Call, i int, read func(*Call) []T) iter.Seq[T] {
	elements := SequencedOrError(c, i, read)
	return func(yield func(T) bool) {
		for v, err := range elements {
			if err != nil || !yield(v) {
				return
			}
		}
	}
}

// SequencedOrError is Sequenced for functions that are told of the iterable's exception, by ErrRaised, to give up what they have.
func SequencedOrError[T any](c *Call, i int, read func(*Call) []T) iter.Seq2[T, error] {
	next := c.Callable(i)
	var batch []T
	into := &Sequence{func(c *Call) { batch = read(c) }}
	return func(yield func(T, error) bool) {
		for {
			for len(batch) > 0 {
				v := batch[0]
				batch = batch[1:]
				if !yield(v, nil) {
					return
				}
			}
			more, err := next.ask(into)
			if err != nil {
				var none T
				yield(none, err)
			}
			if more != true {
				return
			}
		}
	}
}

// ask is Call, unless the call is to stop: after an exception of the iterable, and after Ctrl-C.
func (f Callable) ask(into *Sequence) (any, error) {
	if reason := f.ctx.reason.Load(); reason != nil {
		return nil, *reason
	}
	more, err := f.Call(into)
	if errors.Is(err, ErrRaised) {
		f.ctx.reason.CompareAndSwap(nil, &err)
	}
	return more, err
}

// Give is the code of functions of the role Feed: the Sequence in argument 0 gets the batch in argument 1.
func Give(c *Call) error {
	Interface[*Sequence](c, 0).take(c)
	return nil
}
