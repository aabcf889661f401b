// Package iterators has functions that yield values of each kind, and count what runs.
package iterators

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// running is how many sequences have begun and not ended.
var running atomic.Int64

// Running returns how many sequences have begun and not ended.
//
//godlpack:export
func Running() int64 { return running.Load() }

// Goroutines returns how many goroutines there are.
//
//godlpack:export
func Goroutines() int { return runtime.NumGoroutine() }

func counted[T any](seq iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		running.Add(1)
		defer running.Add(-1)
		seq(yield)
	}
}

// Count yields the numbers from 0 to n-1.
//
//godlpack:export
//godlpack:prefetch 1024
func Count(n int) iter.Seq[int] {
	return counted(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	})
}

var produced atomic.Int64

// Produced returns how many elements Lazy, Eager and Ahead have begun to make.
//
//godlpack:export
func Produced() int64 { return produced.Swap(0) }

func numbers(yield func(int) bool) {
	for i := 0; ; i++ {
		produced.Add(1)
		if !yield(i) {
			return
		}
	}
}

//godlpack:export
//godlpack:prefetch 0
func Lazy() iter.Seq[int] { return counted(numbers) }

//godlpack:export
func Eager() iter.Seq[int] { return counted(numbers) }

//godlpack:export
//godlpack:prefetch 5
func Ahead() iter.Seq[int] { return counted(numbers) }

// Record is what Records yields.
type Record struct {
	Name  string
	Parts []float64
	When  time.Time
}

//godlpack:export
func Records(n int) iter.Seq[Record] {
	return counted(func(yield func(Record) bool) {
		for i := range n {
			if !yield(Record{string(rune('a' + i)), make([]float64, i), time.Unix(int64(i), 0)}) {
				return
			}
		}
	})
}

// Each of the arguments, one after the other, of many kinds.
//
//godlpack:export
//godlpack:prefetch 0
func Texts(words []string) iter.Seq[string] { return each(words) }

//godlpack:export
func Floats(x []float64) iter.Seq[float64] { return each(x) }

//godlpack:export
func Flags(x []bool) iter.Seq[bool] { return each(x) }

//godlpack:export
func RawBytes(x []byte) iter.Seq[byte] { return each(x) }

//godlpack:export
func Chunks(x []byte, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for ; len(x) > 0; x = x[min(n, len(x)):] {
			if !yield(x[:min(n, len(x))]) {
				return
			}
		}
	}
}

//godlpack:export
func Dicts(x []map[string]int) iter.Seq[map[string]int] { return each(x) }

//godlpack:export
func Lists(x [][]float64) iter.Seq[[]float64] { return each(x) }

//godlpack:export
func Anything(x []any) iter.Seq[any] { return each(x) }

func each[T any](values []T) iter.Seq[T] {
	return counted(func(yield func(T) bool) {
		for _, v := range values {
			if !yield(v) {
				return
			}
		}
	})
}

// Rows yields the rows of x, which it keeps.
//
//godlpack:export
//godlpack:types T=float32,float64,int8
//godlpack:arg x shape=[n,d]
//godlpack:prefetch 2
func Rows[T tensor.Element](x tensor.Of[T]) iter.Seq[tensor.Of[T]] {
	return counted(func(yield func(tensor.Of[T]) bool) {
		for i := range x.Rows() {
			if !yield(x.Row(i)) {
				return
			}
		}
	})
}

// Both yields the elements of the tensors of a list.
//
//godlpack:export
func Both(x []tensor.Of[float32]) iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		for i, one := range x {
			for _, v := range one.All() {
				if !yield(i, v) {
					return
				}
			}
		}
	}
}

// Made yields new tensors.
//
//godlpack:export
//godlpack:result like=numpy
func Made(n int) iter.Seq2[string, tensor.Mut[int64]] {
	return func(yield func(string, tensor.Mut[int64]) bool) {
		for i := range n {
			v := kernel.Zeros[int64](nil, 2, int64(i))
			for p := range v.Pointers() {
				*p = int64(i)
			}
			if !yield(string(rune('a'+i)), v) {
				return
			}
		}
	}
}

// ErrOdd is what Fails ends with.
//
//godlpack:export base=ValueError
var ErrOdd = errors.New("an odd number of elements")

// Fails yields n elements, and then an error, or a panic.
//
//godlpack:export
//godlpack:prefetch 8
func Fails(n int, how string) (iter.Seq2[int, error], error) {
	if how == "at once" {
		return nil, kernel.Errorf(kernel.ValueError, "at once")
	}
	if how == "nil" {
		return nil, nil
	}
	return func(yield func(int, error) bool) {
		running.Add(1)
		defer running.Add(-1)
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		switch how {
		case "exit":
			runtime.Goexit()
		case "panic":
			panic("the end")
		case "fault":
			var p *int
			*p = 1
		case "twice":
			if yield(0, ErrOdd) {
				panic("it goes on after an error")
			}
		}
		yield(0, ErrOdd)
	}, nil
}

// Ticks sends numbers until it is told to stop.
//
//godlpack:export
func Ticks(ctx context.Context, n int) <-chan int {
	ticks := make(chan int)
	running.Add(1)
	go func() {
		defer running.Add(-1)
		defer close(ticks)
		for i := range n {
			select {
			case ticks <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ticks
}

// Slow waits for its context, and yields what it ends with.
//
//godlpack:export
//godlpack:prefetch 0
func Slow(ctx context.Context, seconds float64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		running.Add(1)
		defer running.Add(-1)
		select {
		case <-ctx.Done():
			yield("", ctx.Err())
		case <-time.After(time.Duration(seconds * float64(time.Second))):
			yield("done", nil)
		}
	}
}

// Deaf does not end when it should.
//
//godlpack:export
func Deaf(seconds float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		yield(1)
	}
}

// Shelf holds books.
//
//godlpack:export
type Shelf struct{ books []*Book }

// Book is on a shelf.
//
//godlpack:export
type Book struct {
	Title string //godlpack:export
}

//godlpack:new
func NewShelf(titles []string) *Shelf {
	s := &Shelf{}
	for _, title := range titles {
		s.books = append(s.books, &Book{title})
	}
	return s
}

// All yields the books.
//
//godlpack:export __iter__
func (s *Shelf) All() iter.Seq[*Book] { return each(s.books) }

// Pairs yields the books with their numbers.
//
//godlpack:export
func (s *Shelf) Pairs() iter.Seq2[int, *Book] {
	return func(yield func(int, *Book) bool) {
		for i, b := range s.books {
			if !yield(i, b) {
				return
			}
		}
	}
}

// Empty yields the titles of no shelf.
//
//godlpack:export Shelf.empty
func Empty() iter.Seq[string] { return each[string](nil) }

// Slowly yields the numbers from 0 to n-1, 50 at a time.
//
//godlpack:export
//godlpack:prefetch 256
func Slowly(n int) iter.Seq[int] {
	return counted(func(yield func(int) bool) {
		for i := range n {
			if i%50 == 0 {
				time.Sleep(300 * time.Microsecond)
			}
			if !yield(i) {
				return
			}
		}
	})
}

// Bursts yields numbers, size at a time.
//
//godlpack:export
//godlpack:prefetch 1024
func Bursts(n, size int) iter.Seq[int] {
	return counted(func(yield func(int) bool) {
		for i := range n {
			time.Sleep(100 * time.Millisecond)
			for j := range size {
				if !yield(i*size + j) {
					return
				}
			}
		}
	})
}

// WaitsAndFails has a goroutine that waits for its context.
//
//godlpack:export
func WaitsAndFails(ctx context.Context, how string) (iter.Seq[int], error) {
	go func() { <-ctx.Done() }()
	switch how {
	case "panic":
		panic("the end")
	case "nil":
		return nil, nil
	}
	return nil, errors.New("failed")
}
