package kernel

import (
	"context"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// Pipeline applies do to the elements of in, to so many at a time, each in a goroutine of its own, and yields the results in the
// order of the elements. It is for functions that return an iterator, whose elements take long to read or to decode:
//
//	return kernel.Pipeline(ctx, 8, names, func(ctx context.Context, name string) (tensor.Of[uint8], error) { ... })
//
// Memory is bounded: no more than workers elements are being worked on or have results that wait. With workers below 1 it is
// the number of processors that Go uses.
//
// An error of in, or of do, comes in its place, and is the end. At the end, when the loop is left, and when ctx is cancelled,
// the context of do is cancelled; the sequence returns when its goroutines have. A panic in one of them is a panic of the
// sequence. It ranges over in beside the loop, and stops between two elements: an in that waits should heed ctx.
func Pipeline[A, B any](ctx context.Context, workers int, in iter.Seq2[A, error], do func(ctx context.Context, v A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) { newPipeline(ctx, workers, in, do, false).run(yield) }
}

// PipelineAnyOrder is Pipeline that yields each result as soon as it is there.
func PipelineAnyOrder[A, B any](ctx context.Context, workers int, in iter.Seq2[A, error], do func(ctx context.Context, v A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) { newPipeline(ctx, workers, in, do, true).run(yield) }
}

// Batches yields slices of n consecutive elements of in, the last one perhaps shorter: before a step of a Pipeline that makes a
// tensor of each. An error comes after the elements before it.
func Batches[T any](n int, in iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var batch []T
		for v, err := range in {
			if err != nil {
				if len(batch) == 0 || yield(batch, nil) {
					yield(nil, err)
				}
				return
			}
			if batch = append(batch, v); len(batch) >= n {
				if !yield(batch, nil) {
					return
				}
				batch = make([]T, 0, n)
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// A pipeline is one loop over the results of a Pipeline.
type pipeline[A, B any] struct {
	context context.Context
	cancel  context.CancelFunc
	in      iter.Seq2[A, error]
	do      func(ctx context.Context, v A) (B, error)
	early   bool // results come in any order

	places chan struct{}        // a token for each element that is being worked on, or whose result waits
	slots  chan chan outcome[B] // of the results, in the order in which they are yielded; has room for all
}

// An outcome is a result of do, or the end of the sequence by an error or a panic.
type outcome[B any] struct {
	value B
	err   error
	panic any
}

func newPipeline[A, B any](ctx context.Context, workers int, in iter.Seq2[A, error], do func(ctx context.Context, v A) (B, error), early bool) *pipeline[A, B] {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &pipeline[A, B]{in: in, do: do, early: early, places: make(chan struct{}, workers), slots: make(chan chan outcome[B], workers+1)}
	p.context, p.cancel = context.WithCancel(ctx)
	return p
}

// run yields the results.
func (p *pipeline[A, B]) run(yield func(B, error) bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.feed()
	}()
	defer func() { <-done }()
	defer p.cancel()
	for slot := range p.slots {
		o := <-slot
		if o.panic != nil {
			panic(o.panic)
		}
		if !yield(o.value, o.err) || o.err != nil {
			return
		}
		<-p.places
	}
}

// feed starts the work on each element, and waits for all of it. An error or a panic of the elements comes last.
func (p *pipeline[A, B]) feed() {
	var working sync.WaitGroup
	var end outcome[B]
	defer func() {
		working.Wait()
		if end.err != nil || end.panic != nil {
			p.slot() <- end
		}
		close(p.slots)
	}()
	guarded(&end.panic, func() { end.err = p.start(&working) })
}

// start starts the work on each element.
func (p *pipeline[A, B]) start(working *sync.WaitGroup) error {
	for v, err := range p.in {
		if err != nil {
			return err
		}
		select {
		case p.places <- struct{}{}:
		case <-p.context.Done():
			return p.context.Err()
		}
		var slot chan outcome[B]
		if !p.early {
			slot = p.slot()
		}
		working.Go(func() { p.work(v, slot) })
	}
	return nil
}

// work makes the result of one element, for a slot; nil: for the next one.
func (p *pipeline[A, B]) work(v A, slot chan outcome[B]) {
	var o outcome[B]
	defer func() {
		if slot == nil {
			slot = p.slot()
		}
		slot <- o
	}()
	guarded(&o.panic, func() { o.value, o.err = p.do(p.context, v) })
}

// slot adds a slot.
func (p *pipeline[A, B]) slot() chan outcome[B] {
	slot := make(chan outcome[B], 1)
	p.slots <- slot
	return slot
}

// guarded runs f in a goroutine, and keeps its panic for another one.
func guarded(panicked *any, f func()) {
	debug.SetPanicOnFault(true)
	returned := false
	defer func() {
		if p := recover(); p != nil {
			*panicked = asPanicError(p)
		} else if !returned {
			*panicked = "runtime.Goexit was called in a function that kernel.Pipeline runs, which is not allowed"
		}
	}()
	f()
	returned = true
}
