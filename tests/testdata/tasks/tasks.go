// Package tasks has async functions of each kind, and counts what runs.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// running is how many functions have begun and not ended.
var running, cancelled atomic.Int64

// Running returns how many functions have begun and not ended.
//
//godlpack:export
func Running() int64 { return running.Load() }

// Cancelled returns how many have been cancelled since the last call.
//
//godlpack:export
func Cancelled() int64 { return cancelled.Swap(0) }

// Goroutines returns how many goroutines there are.
//
//godlpack:export
func Goroutines() int { return runtime.NumGoroutine() }

// Sleep returns the number of milliseconds that it has waited.
//
//godlpack:async
//godlpack:arg ms default=0
func Sleep(ctx context.Context, ms float64) (float64, error) {
	running.Add(1)
	defer running.Add(-1)
	select {
	case <-time.After(time.Duration(ms * 1e6)):
		return ms, nil
	case <-ctx.Done():
		cancelled.Add(1)
		return 0, ctx.Err()
	}
}

// Stubborn waits, and does not look at a context.
//
//godlpack:async
func Stubborn(ms int) int {
	running.Add(1)
	defer running.Add(-1)
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return ms
}

// Nothing returns nothing.
//
//godlpack:async nothing_at_all
func Nothing() {}

// Checked returns nothing but an error.
//
//godlpack:async
func Checked(fails bool) error {
	if fails {
		return kernel.Errorf(kernel.ValueError, "checked(): want false, got true")
	}
	return nil
}

// NotThere is an error of this package.
//
//godlpack:export base=LookupError
var NotThere = errors.New("it is not there")

// Fail fails in some way.
//
//godlpack:export
//godlpack:async
func Fail(how string) (int, error) {
	switch how {
	case "panic":
		panic("on purpose")
	case "fault":
		var p *int
		return *p, nil
	case "goexit":
		runtime.Goexit()
	case "own":
		return 0, fmt.Errorf("in fail: %w", NotThere)
	case "file":
		return 0, &fs.PathError{Op: "open", Path: "no.txt", Err: fs.ErrNotExist}
	case "deadline":
		return 0, context.DeadlineExceeded
	}
	return 0, errors.New(how)
}

// All returns a value of each kind.
//
//godlpack:async
func All(b bool, i int8, u uint64, f float32, s string, data []byte, list []int, texts []string, tree map[string][]float64) (bool, int8, uint64, float32, string, []byte, []int, []string, map[string][]float64) {
	return b, i, u, f, s, data, list, texts, tree
}

// Later returns its bytes after some time.
//
//godlpack:async
func Later(data []byte, ms int) []byte {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return data
}

// Doubled returns twice x, after some time.
//
//godlpack:async
//godlpack:arg x shape=[n,...]
//godlpack:result shape=[n,...]
func Doubled[T float32 | float64 | int32](x tensor.Of[T], ms int) tensor.Of[T] {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	y := kernel.Empty[T](nil, x.Shape()...)
	for i, v := range x.All() {
		y.Slice()[i] = 2 * v
	}
	return y.Of
}

// Sums returns the sum of each tensor.
//
//godlpack:async
//godlpack:arg weights default=None
func Sums(all []tensor.Of[float64], weights *float64) (tensor.Of[float64], int) {
	y := kernel.Zeros[float64](nil, int64(len(all)))
	for i, x := range all {
		for _, v := range x.All() {
			y.Slice()[i] += v
		}
		if weights != nil {
			y.Slice()[i] *= *weights
		}
	}
	return y.Of, len(all)
}

// Converted returns the sum of any numbers, after some time.
//
//godlpack:async
//godlpack:arg x convert
func Converted(x tensor.Of[float64], ms int) (sum float64) {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	for _, v := range x.All() {
		sum += v
	}
	return sum
}

// Variadic returns how many there are.
//
//godlpack:async
func Variadic(first string, more ...string) []string { return append([]string{first}, more...) }

// Options are those of Configured.
//
//godlpack:options
type Options struct {
	Level int
	Names []string
}

// Configured returns its options.
//
//godlpack:async
func Configured(o *Options) (int, []string) { return o.Level, o.Names }

// Log logs.
//
//godlpack:async
func Log(text string) { slog.Warn(text) }

// Counter counts.
//
//godlpack:export
type Counter struct{ n atomic.Int64 }

// NewCounter makes one.
//
//godlpack:new
func NewCounter() *Counter { return &Counter{} }

// Add adds after a while.
//
//godlpack:async
func (c *Counter) Add(ctx context.Context, n int64) int64 {
	time.Sleep(time.Millisecond)
	return c.n.Add(n)
}

// Self returns the counter.
//
//godlpack:async
func (c *Counter) Self() *Counter { return c }

// Ticks yields numbers, with a pause before each.
//
//godlpack:async
func (c *Counter) Ticks(ctx context.Context, n int, ms float64) iter.Seq2[int64, error] {
	return ticks(ctx, n, ms)
}

// Ticks yields numbers, with a pause before each.
//
//godlpack:async
//godlpack:prefetch 16
func Ticks(ctx context.Context, n int, ms float64) iter.Seq2[int64, error] { return ticks(ctx, n, ms) }

// InStep yields numbers, with a pause before each, when it is asked.
//
//godlpack:async
//godlpack:prefetch 0
func InStep(ctx context.Context, n int, ms float64) iter.Seq2[int64, error] { return ticks(ctx, n, ms) }

func ticks(ctx context.Context, n int, ms float64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		running.Add(1)
		defer running.Add(-1)
		for i := range int64(n) {
			select {
			case <-ctx.Done():
				cancelled.Add(1)
				return
			case <-time.After(time.Duration(ms * 1e6)):
			}
			if !yield(i, nil) {
				return
			}
		}
		if n%2 == 1 {
			yield(0, fs.ErrNotExist)
		}
	}
}

// Batches yields pairs of tensors and texts.
//
//godlpack:async
func Batches(n int) iter.Seq2[tensor.Of[float32], string] {
	return func(yield func(tensor.Of[float32], string) bool) {
		for i := range n {
			x := kernel.Empty[float32](nil, 3)
			x.Set(float32(i), 0)
			x.Set(0, 1)
			x.Set(0, 2)
			if !yield(x.Of, fmt.Sprint(i)) {
				return
			}
		}
	}
}

// Download returns what a server has.
//
//godlpack:async
func Download(ctx context.Context, url string) ([]byte, error) {
	running.Add(1)
	defer running.Add(-1)
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			cancelled.Add(1)
		}
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}
