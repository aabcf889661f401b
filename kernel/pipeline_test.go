package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"godlpack/kernel"
)

// piped is Pipeline, or PipelineAnyOrder.
type piped func(ctx context.Context, workers int, in iter.Seq2[int, error], do func(ctx context.Context, v int) (int, error)) iter.Seq2[int, error]

var pipelines = map[string]piped{"in order": kernel.Pipeline[int, int], "in any order": kernel.PipelineAnyOrder[int, int]}

func elements(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func square(_ context.Context, v int) (int, error) {
	time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
	return v * v, nil
}

// gathered returns the results, and the error at the end.
func gathered(seq iter.Seq2[int, error]) (all []int, err error) {
	for v, e := range seq {
		if e != nil {
			return all, e
		}
		all = append(all, v)
	}
	return all, nil
}

// alone fails the test if goroutines are left.
func alone(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	})
}

func TestPipeline(t *testing.T) {
	alone(t)
	for name, pipe := range pipelines {
		for _, workers := range []int{0, 1, 3, 64} {
			for _, n := range []int{0, 1, 2, 200} {
				got, err := gathered(pipe(t.Context(), workers, elements(n, nil), square))
				if strings.Contains(name, "any") {
					slices.Sort(got)
				}
				want, _ := gathered(pipe(t.Context(), 1, elements(n, nil), square))
				if err != nil || len(got) != n || !slices.Equal(got, want) {
					t.Errorf("%s, %d workers, %d elements: got %v, %v", name, workers, n, got, err)
				}
			}
		}
	}
}

// The order is that in which results are there.
func TestPipelineAnyOrder(t *testing.T) {
	got, err := gathered(kernel.PipelineAnyOrder(t.Context(), 4, elements(4, nil), func(_ context.Context, v int) (int, error) {
		time.Sleep(time.Duration(4-v) * 50 * time.Millisecond)
		return v, nil
	}))
	if err != nil || !slices.Equal(got, []int{3, 2, 1, 0}) {
		t.Error(got, err)
	}
}

// No more elements than workers are worked on or wait, however slow the loop is.
func TestPipelineIsBounded(t *testing.T) {
	alone(t)
	for name, pipe := range pipelines {
		var begun, taken atomic.Int64
		for range pipe(t.Context(), 3, elements(50, nil), func(_ context.Context, v int) (int, error) {
			if n := begun.Add(1) - taken.Load(); n > 4 { // with the one that the loop has
				t.Errorf("%s: %d at a time", name, n)
			}
			return v, nil
		}) {
			time.Sleep(time.Millisecond)
			taken.Add(1)
		}
	}
}

func TestPipelineErrors(t *testing.T) {
	alone(t)
	failure := errors.New("on purpose")
	for name, pipe := range pipelines {
		got, err := gathered(pipe(t.Context(), 3, elements(10, failure), square))
		if len(got) != 10 || !errors.Is(err, failure) {
			t.Errorf("%s: an error of the elements: %v, %v", name, got, err)
		}
		got, err = gathered(pipe(t.Context(), 3, elements(10, nil), func(ctx context.Context, v int) (int, error) {
			if v == 5 {
				return 0, failure
			}
			return square(ctx, v)
		}))
		if len(got) > 8 || name == "in order" && len(got) != 5 || !errors.Is(err, failure) {
			t.Errorf("%s: an error of the work: %v, %v", name, got, err)
		}
	}
}

// The context of the work is cancelled when the loop is left, and the sequence waits for it.
func TestPipelineEndsEarly(t *testing.T) {
	alone(t)
	for name, pipe := range pipelines {
		var running atomic.Int64
		for range pipe(t.Context(), 4, elements(1000, nil), func(ctx context.Context, v int) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			if v > 0 {
				<-ctx.Done()
			}
			return v, nil
		}) {
			break
		}
		if n := running.Load(); n != 0 {
			t.Errorf("%s: %d still run", name, n)
		}
	}
}

func TestPipelineCancelled(t *testing.T) {
	alone(t)
	for name, pipe := range pipelines {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := gathered(pipe(ctx, 2, elements(1000, nil), func(_ context.Context, v int) (int, error) {
			if v == 5 {
				cancel()
			}
			return v, nil
		}))
		if len(got) < 3 || len(got) == 1000 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d results, %v", name, len(got), err)
		}
	}
}

// A panic, of the elements and of the work, is one of the loop, with its place; so is runtime.Goexit.
func TestPipelinePanics(t *testing.T) {
	alone(t)
	panics := func(text string, seq func() iter.Seq2[int, error]) {
		t.Helper()
		defer func() {
			if p := fmt.Sprintf("%+v", recover()); !strings.Contains(p, text) {
				t.Errorf("want %q, got %s", text, p)
			}
		}()
		_, _ = gathered(seq())
	}
	for _, pipe := range pipelines {
		panics("work 7", func() iter.Seq2[int, error] {
			return pipe(t.Context(), 2, elements(10, nil), func(_ context.Context, v int) (int, error) {
				if v == 7 {
					panic("work 7")
				}
				return v, nil
			})
		})
		panics("in elements", func() iter.Seq2[int, error] {
			return pipe(t.Context(), 2, func(func(int, error) bool) { panic("in elements") }, square)
		})
		panics("Goexit", func() iter.Seq2[int, error] {
			return pipe(t.Context(), 2, elements(3, nil), func(context.Context, int) (int, error) {
				runtime.Goexit()
				return 0, nil
			})
		})
		panics("Goexit", func() iter.Seq2[int, error] {
			return pipe(t.Context(), 2, func(func(int, error) bool) { runtime.Goexit() }, square)
		})
	}
}

func TestBatches(t *testing.T) {
	failure := errors.New("on purpose")
	for _, c := range []struct {
		n, size int
		err     error
		want    [][]int
	}{
		{0, 2, nil, nil}, {4, 2, nil, [][]int{{0, 1}, {2, 3}}}, {5, 2, nil, [][]int{{0, 1}, {2, 3}, {4}}},
		{3, 2, failure, [][]int{{0, 1}, {2}}}, {2, 1, failure, [][]int{{0}, {1}}}, {2, 0, nil, [][]int{{0}, {1}}},
	} {
		var got [][]int
		var end error
		for batch, err := range kernel.Batches(c.size, elements(c.n, c.err)) {
			if end = err; err == nil {
				got = append(got, batch)
			}
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) || !errors.Is(end, c.err) {
			t.Errorf("%d by %d: got %v, %v", c.n, c.size, got, end)
		}
	}
	for batch := range kernel.Batches(2, elements(5, nil)) {
		if len(batch) != 2 {
			t.Error(batch)
		}
		break
	}
}
