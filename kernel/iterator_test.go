package kernel_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"godlpack/kernel"
	"godlpack/packed"
)

var (
	iteratorClass = kernel.RegisterIterators()

	// sequence is what the function sequence returns an iterator over.
	sequence func(it *kernel.Iterator)
	ahead    int
)

func init() {
	iterator := kernel.Param{Kind: kernel.KindObject, Classes: []string{kernel.IteratorClass}}
	kernel.Register(kernel.Func{Name: "sequence", Results: []kernel.Param{iterator}, Yields: []kernel.Param{{Kind: kernel.KindInt}}, Do: func(c *kernel.Call) error {
		it := kernel.NewIterator(c, ahead)
		sequence(it)
		iteratorClass.Return(c, it)
		return nil
	}})
	iterator.Name = "iterator"
	kernel.Register(kernel.Func{
		Name: "take", Role: kernel.Next, Do: kernel.Take,
		Params:  []kernel.Param{iterator, {Name: "batches", Kind: kernel.KindInt, Bits: 64}},
		Results: []kernel.Param{{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}}},
	})
}

func ints(c *kernel.Call, list []int) { kernel.ReturnInts(c, list) }

// begun returns the number of a new iterator.
func begun(t testing.TB, prefetch int, seq iter.Seq[int]) uint64 {
	t.Helper()
	ahead, sequence = prefetch, func(it *kernel.Iterator) { kernel.Values(it, seq, ints) }
	return received(t, "sequence")
}

// take takes elements as the host does that has so many batches.
func take(t testing.TB, number uint64, batches int) ([]any, error) {
	t.Helper()
	c, h := newCall(packed.Object(number), packed.Int(int64(batches))), newHost()
	if err := c.of(registered(t, "take"), h); err != nil {
		return nil, err
	}
	list, _ := c.result(t, h).([]any)
	return list, nil
}

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestIteratorElements(t *testing.T) {
	for _, prefetch := range []int{0, 1, 2, 7, 1024} {
		for _, n := range []int{0, 1, 5, 3000} {
			number := begun(t, prefetch, upTo(n))
			var got []any
			for batches := 0; ; batches++ {
				some, err := take(t, number, batches)
				if err != nil || len(some) > max(1, prefetch/2) {
					t.Fatalf("%d elements, %v", len(some), err)
				}
				if again, err := take(t, number, batches); err != nil || !slices.Equal(again, some) {
					t.Fatalf("%v again, got %v, %v", some, again, err)
				}
				if len(some) == 0 {
					break
				}
				got = append(got, some...)
			}
			for i := range n {
				if got[i] != int64(i) {
					t.Fatalf("element %d: %v", i, got[i])
				}
			}
			if len(got) != n {
				t.Errorf("%d elements of %d, prefetch %d", len(got), n, prefetch)
			}
			kernel.Release(number, 1)
		}
	}
}

// Dropped and closed iterators end their goroutines, whatever these do.
func TestIteratorsEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, prefetch := range []int{0, 1, 10} {
		for i := range 20 {
			number := begun(t, prefetch, upTo(1<<30))
			if i%2 == 0 {
				if some, err := take(t, number, 0); err != nil || len(some) == 0 {
					t.Fatal(some, err)
				}
			}
			if i%4 < 2 {
				if some, err := take(t, number, -1); err != nil || len(some) > 0 {
					t.Fatal(some, err)
				}
				if some, err := take(t, number, 1-i%2); err != nil || len(some) > 0 {
					t.Fatal("elements of a closed iterator", some, err)
				}
			}
			kernel.Release(number, 1)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}

// The context is cancelled when the iterator is dropped, not when its sequence has ended, and when the call fails.
func TestIteratorContext(t *testing.T) {
	for _, n := range []int{0, 1 << 30} {
		var ctx context.Context
		ahead, sequence = 2, func(it *kernel.Iterator) {
			ctx = it.Context()
			kernel.Values(it, upTo(n), ints)
		}
		number := received(t, "sequence")
		if _, err := take(t, number, 0); err != nil || ctx.Err() != nil {
			t.Error(err, ctx.Err())
		}
		kernel.Release(number, 1)
		<-ctx.Done()
	}
	var ctx context.Context
	sequence = func(it *kernel.Iterator) {
		ctx = it.Context()
		panic("over")
	}
	if err := newCall().of(registered(t, "sequence"), newHost()); err == nil || ctx.Err() == nil {
		t.Error("want an error, and a context that is cancelled")
	}
}

func TestIteratorErrors(t *testing.T) {
	failure := errors.New("failed")
	for _, c := range []struct {
		name string
		set  func(it *kernel.Iterator)
		want string
	}{
		{"an error", func(it *kernel.Iterator) {
			kernel.ValuesOrError(it, func(yield func(int, error) bool) {
				if yield(0, nil) && (yield(1, failure) || yield(2, nil) || yield(3, errors.New("later"))) {
					t.Error("the sequence goes on after an error")
				}
			}, ints)
		}, "failed"},
		{"a panic", func(it *kernel.Iterator) {
			kernel.Values(it, func(yield func(int) bool) { yield(0); panic("over") }, ints)
		}, "Go panicked: over"},
		{"a pair and a panic", func(it *kernel.Iterator) {
			kernel.Pairs(it, func(yield func(int, string) bool) { yield(0, ""); panic("over") },
				func(c *kernel.Call, list []int, _ []string) { ints(c, list) })
		}, "Go panicked: over"},
		{"Goexit", func(it *kernel.Iterator) {
			kernel.Values(it, func(yield func(int) bool) { yield(0); runtime.Goexit() }, ints)
		}, "runtime.Goexit"},
	} {
		ahead, sequence = 1, c.set
		number := received(t, "sequence")
		if some, err := take(t, number, 0); err != nil || !slices.Equal(some, []any{int64(0)}) {
			t.Errorf("%s: %v, %v", c.name, some, err)
		}
		if _, err := take(t, number, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
		if some, err := take(t, number, 1); err != nil || len(some) > 0 {
			t.Errorf("%s: after the end: %v, %v", c.name, some, err)
		}
		kernel.Release(number, 1)
	}
}

func TestIteratorOfAChannel(t *testing.T) {
	values := make(chan int, 3)
	ahead, sequence = 1, func(it *kernel.Iterator) { kernel.Received(it, values, ints) }
	number := received(t, "sequence")
	values <- 7
	if some, err := take(t, number, 0); err != nil || !slices.Equal(some, []any{int64(7)}) {
		t.Error(some, err)
	}
	close(values)
	if some, err := take(t, number, 1); err != nil || len(some) > 0 {
		t.Error(some, err)
	}
	kernel.Release(number, 1)
}

// A Take that waits ends when another thread closes the iterator.
func TestIteratorClosedWhileItIsAwaited(t *testing.T) {
	number := begun(t, 0, func(func(int) bool) { time.Sleep(300 * time.Millisecond) })
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if some, err := take(t, number, 0); err != nil || len(some) > 0 {
			t.Error(some, err)
		}
	})
	time.Sleep(20 * time.Millisecond)
	if some, err := take(t, number, -1); err != nil || len(some) > 0 {
		t.Error(some, err)
	}
	waiting.Wait()
	kernel.Release(number, 1)
}
