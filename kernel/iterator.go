package kernel

import (
	"context"
	"iter"
	"runtime/debug"
	"sync"
	"time"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// An Iterator is a sequence of values that the host takes one after the other, in batches, on any of its threads: the library's
// class of the results of functions that return an iter.Seq, an iter.Seq2 or a channel. The sequence runs in a goroutine of its
// own, ahead of the host by a number of elements. It ends early when the host drops or closes the Iterator: its context is
// cancelled, and its yield returns false.
//
// (iter.Pull binds a sequence to the thread that began it, if the goroutine there is locked to its thread, as in calls from C;
// a call of next on another thread would end the process.)
type Iterator struct {
	label   string // of the function that made it
	limit   int    // of the elements that wait for the host
	batch   int    // how many the host takes at a time
	context context.Context
	cancel  context.CancelFunc
	begin   func()                              // starts the sequence; nil once it runs
	take    func(c *Call, most int, again bool) // returns so many elements of the queue, or fewer; or those of last time, again

	mu      sync.Mutex
	room    sync.Cond     // the sequence may go on
	ready   chan struct{} // there is an element, or the end: a token for one waiting Take
	told    func()        // likewise, for an event loop that waits; nil: none does
	waiting int           // calls of Take, and the event loop, that wait
	length  int           // of the queue
	ended   bool          // the sequence has returned, with err
	closed  bool
	err     error
	batches int // that the host was given
}

// IteratorClass is the name of the class Iterator among those of a library.
const IteratorClass = "_Iterator"

// RegisterIterators adds the class of iterators to those that the library offers, before functions that return them. It is for
// init functions.
func RegisterIterators() ClassOf[Iterator] {
	return RegisterClass[Iterator](Class{Name: IteratorClass})
}

// NewIterator returns an Iterator whose sequence is still to be set, by Values, ValuesOrError, Pairs or Received, once. The
// sequence runs ahead of the host by up to prefetch elements: with 0, it goes on only when the host waits for the next element.
func NewIterator(c *Call, prefetch int) *Iterator {
	batch := prefetch / 2 // these are with the host, the others wait
	it := &Iterator{label: c.fn.label(), limit: prefetch - batch, batch: max(batch, 1), ready: make(chan struct{}, 1)}
	it.room.L = &it.mu
	it.context, it.cancel = withRunning(it.label)
	c.begun = it
	return it
}

// Context returns the context of the sequence, which is cancelled when the host drops or closes the Iterator, and when the call
// that makes it fails.
func (it *Iterator) Context() context.Context { return it.context }

// Values sets the sequence to seq. The function give returns elements as a list.
func Values[T any](it *Iterator, seq iter.Seq[T], give func(*Call, []T)) {
	start(it, seq != nil, give, func(yield func(T) bool) error {
		seq(yield)
		return nil
	})
}

// ValuesOrError sets the sequence to that of values up to the first error, which the host gets in its place.
func ValuesOrError[T any](it *Iterator, seq iter.Seq2[T, error], give func(*Call, []T)) {
	start(it, seq != nil, give, func(yield func(T) bool) (failure error) {
		seq(func(v T, err error) bool {
			if failure == nil {
				failure = err
			}
			return failure == nil && yield(v)
		})
		return failure
	})
}

// Pairs sets the sequence to one of pairs. The function give returns them as two lists.
func Pairs[K, V any](it *Iterator, seq iter.Seq2[K, V], give func(*Call, []K, []V)) {
	type pair struct {
		key   K
		value V
	}
	split := func(c *Call, pairs []pair) {
		keys, values := make([]K, len(pairs)), make([]V, len(pairs))
		for i, p := range pairs {
			keys[i], values[i] = p.key, p.value
		}
		give(c, keys, values)
	}
	start(it, seq != nil, split, func(yield func(pair) bool) error {
		seq(func(k K, v V) bool { return yield(pair{k, v}) })
		return nil
	})
}

// Received sets the sequence to what is received from a channel until it is closed. What sends to it must end when the
// Iterator's context is cancelled: nobody receives then.
func Received[T any](it *Iterator, values <-chan T, give func(*Call, []T)) {
	start(it, values != nil, give, func(yield func(T) bool) error {
		for {
			select {
			case v, ok := <-values:
				if !ok || !yield(v) {
					return nil
				}
			case <-it.context.Done():
				return nil
			}
		}
	})
}

// queue holds the elements that the host has not taken yet, and those that it was given last. The iterator's mutex guards it.
type queue[T any] struct{ elements, given []T }

// start sets the sequence, and begins it if it runs ahead.
func start[T any](it *Iterator, exists bool, give func(*Call, []T), sequence func(yield func(T) bool) error) {
	if !exists {
		it.close()
		raise(Errorf(RuntimeError, "%s() returned nil instead of a sequence", it.label))
	}
	q := &queue[T]{}
	it.take = func(c *Call, most int, again bool) { give(c, taken(it, q, most, again)) }
	it.begin = func() { go it.run(func() error { return sequence(func(v T) bool { return put(it, q, v) }) }) }
	if it.limit > 0 {
		it.begin()
		it.begin = nil
	}
}

// run runs the sequence in its goroutine. A panic ends it like an error, as does runtime.Goexit.
func (it *Iterator) run(sequence func() error) {
	err := error(Errorf(RuntimeError, "%s(): its sequence called runtime.Goexit", it.label))
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			err = panicked(it.label, p)
		}
		it.mu.Lock()
		defer it.mu.Unlock()
		it.ended, it.err = true, err
		it.wake()
	}()
	err = sequence()
}

// put adds an element, and waits until the sequence may go on; false if it must end.
func put[T any](it *Iterator, q *queue[T], v T) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.closed {
		return false
	}
	if q.elements == nil {
		q.elements = make([]T, 0, min(max(it.limit, 1), mostAtOnce))
	}
	q.elements = append(q.elements, v)
	it.length = len(q.elements)
	it.wake()
	for !it.closed && it.length >= it.limit && (it.length > 0 || it.waiting == 0) {
		it.room.Wait()
	}
	return !it.closed
}

// mostAtOnce limits the room that is made for elements before there are any.
const mostAtOnce = 1024

// taken removes elements from the queue, and keeps them in case that the host does not get them; again, it returns those of last
// time. There are none if the iterator is closed.
func taken[T any](it *Iterator, q *queue[T], most int, again bool) []T {
	it.mu.Lock()
	defer it.mu.Unlock()
	switch {
	case it.closed:
		*q = queue[T]{}
	case !again:
		q.given, q.elements = q.elements, nil
		if len(q.given) > most {
			q.given, q.elements = q.given[:most:most], q.given[most:]
		}
		it.length = len(q.elements)
		it.batches++
		it.room.Signal()
	}
	return q.given
}

// notify tells n the ticket as soon as there is an element, or the end; at once if the host, which has so many batches, has not
// got the last one. An event loop waits once at a time.
func (it *Iterator) notify(n *Notifier, ticket int64, batches int) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.start()
	if it.told != nil {
		it.told = nil
		it.waiting--
	}
	if it.length > 0 || it.ended || it.closed || it.batches > batches {
		n.tell(ticket)
		return
	}
	it.told = func() { n.tell(ticket) }
	it.waiting++
	it.room.Signal()
}

// start begins the sequence, if it does not run yet. The mutex is held.
func (it *Iterator) start() {
	if it.begin != nil && !it.closed {
		it.begin()
		it.begin = nil
	}
}

// wake lets a waiting Take look again, and tells a waiting event loop. The mutex is held.
func (it *Iterator) wake() {
	if it.told != nil {
		it.told()
		it.told = nil
		it.waiting--
	}
	if it.waiting > 0 {
		select {
		case it.ready <- struct{}{}:
		default:
		}
	}
}

// close ends the sequence: a waiting Take returns, and what is queued is dropped.
func (it *Iterator) close() {
	it.cancel()
	it.mu.Lock()
	defer it.mu.Unlock()
	it.closed, it.length = true, 0
	it.wake()
	it.room.Broadcast()
}

// drop ends the sequence of an Iterator that the host does not have any more.
func (it *Iterator) drop() { it.close() }

// Take is the code of functions of the role Next. It returns the next elements of the Iterator in argument 0, or none at the end.
// It waits for the first one; an error of the sequence comes once, when all elements before it have been taken.
//
// Argument 1 is the number of batches that the host has. If that is not all that it was given, it gets the last one again: an
// exception of a signal's handler may have come between the call and the place where the host keeps a batch. A number below 0
// closes the Iterator.
func Take(c *Call) error {
	it, batches := Interface[*Iterator](c, 0), Int[int](c, 1)
	if batches < 0 {
		it.close()
	}
	again := it.gave(batches)
	if !again {
		if err := it.wait(c.Ctx(), batches); err != nil {
			return err
		}
		again = it.gave(batches) // to Python code that ran while this call waited
	}
	it.take(c, it.batch, again)
	return nil
}

// gave reports whether the host was given more batches than that.
func (it *Iterator) gave(batches int) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.batches > batches
}

// askEvery is how often a Take that waits asks whether the caller wants it to stop.
const askEvery = 10 * time.Millisecond

// wait waits for an element or the end, or until the host has been given another batch than that. The error is that of the
// sequence, or the caller's, which wants the call to stop.
func (it *Iterator) wait(ctx *Ctx, batches int) (err error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.start()
	var timer *time.Timer
	for it.length == 0 && !it.ended && !it.closed && it.batches == batches {
		it.waiting++
		it.room.Signal()
		it.mu.Unlock()
		if timer == nil {
			timer = time.NewTimer(askEvery)
			defer timer.Stop()
		} else {
			timer.Reset(askEvery)
		}
		select {
		case <-it.ready:
		case <-timer.C:
		}
		err := ctx.Err()
		it.mu.Lock()
		it.waiting--
		if err != nil {
			return err
		}
	}
	if it.length == 0 && !it.closed && it.batches == batches {
		err, it.err = it.err, nil
	}
	return err
}

// Copied returns a copy of an argument in Go memory, for code that runs on when the call has ended. It panics as Empty does.
func Copied[T tensor.Element](v tensor.Of[T]) tensor.Of[T] {
	made := Empty[T](nil, v.Shape()...)
	from, to := v.Record(), made.Record()
	source, target := from.Tensor(), to.Tensor()
	if err := tensor.Convert(&target, &source, to.Flags().Has(dlpack.SubbytePadded), from.Flags().Has(dlpack.SubbytePadded)); err != nil {
		raise(err)
	}
	return made.Of
}

// CopiedList returns copies of tensors, as Copied does.
func CopiedList[T tensor.Element](list []tensor.Of[T]) []tensor.Of[T] {
	made := make([]tensor.Of[T], len(list))
	for i, v := range list {
		made[i] = Copied(v)
	}
	return made
}
