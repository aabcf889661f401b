package kernel_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// slowly makes a piece take long enough for Parallel to share the rest.
func slowly() { time.Sleep(50 * time.Microsecond) }

// Each number is processed once, whether the work is shared or not, with any number of processors.
func TestParallelCoversAll(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for _, n := range []int{0, 1, 2, 7, 100, 1000} {
			for _, work := range []func(){func() {}, slowly} {
				done := make([]atomic.Int32, n)
				kernel.Parallel(nil, n, func(lo, hi int) {
					work()
					if lo >= hi {
						t.Errorf("an empty piece from %d to %d", lo, hi)
					}
					for i := lo; i < hi; i++ {
						done[i].Add(1)
					}
				})
				for i := range done {
					if done[i].Load() != 1 {
						t.Fatalf("%d processors: %d of %d was done %d times", procs, i, n, done[i].Load())
					}
				}
			}
		}
	}
}

// Several goroutines share long work: two pieces wait for each other.
func TestParallelIsParallel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var met sync.WaitGroup
	met.Add(2)
	var pieces atomic.Int32
	kernel.Parallel(nil, 1000, func(lo, _ int) {
		if lo == 0 {
			slowly()
			return
		}
		if pieces.Add(1) <= 2 {
			met.Done()
			met.Wait()
		}
	})
	if pieces.Load() < 2 {
		t.Errorf("%d pieces after the first, want more", pieces.Load())
	}
}

// parallel makes a function from a body for Parallel.
func parallel(t *testing.T, body func(ctx *kernel.Ctx, lo, hi int)) *kernel.Func {
	return prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
		ctx := c.Ctx()
		kernel.Parallel(ctx, 1000, func(lo, hi int) { body(ctx, lo, hi) })
		return nil
	}})
}

// A panic in any goroutine counts as the function's, with its stack, and Parallel waits for the others.
func TestParallelPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		name  string
		panic func()
		want  string
	}{
		{"panics", panics, "RuntimeError: f(): Go panicked: on purpose"},
		{"writesNil", writesNil, "RuntimeError: f(): Go panicked: runtime error: invalid memory address"},
		{"writesWild", writesWild, "RuntimeError: f(): Go panicked: runtime error: invalid memory address"},
	} {
		for _, early := range []bool{true, false} {
			var running atomic.Int32
			f := parallel(t, func(_ *kernel.Ctx, lo, _ int) {
				running.Add(1)
				defer running.Add(-1)
				slowly()
				if early || lo > 500 {
					c.panic()
				}
			})
			h := newHost()
			err := newCall().of(f, h)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "kernel_test."+c.name+"(") {
				t.Errorf("%s: got %v", c.name, err)
			}
			if running.Load() != 0 {
				t.Errorf("%s: %d pieces still run", c.name, running.Load())
			}
			h.balanced(t)
		}
	}
}

//go:noinline
func writesNil() {
	var p *int
	*p = 1
}

//go:noinline
func writesWild() {
	wild := uintptr(0x7eadbeef0000)
	**(**byte)(unsafe.Pointer(&wild)) = 1
}

// A goroutine that exits during its piece leaves it unfinished: that is an error, not a result.
func TestParallelGoexit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	f := parallel(t, func(_ *kernel.Ctx, lo, _ int) {
		slowly()
		if lo > 100 && !strings.Contains(string(debug.Stack()), "kernel.Parallel(") {
			runtime.Goexit() // in the calling goroutine it would end the test
		}
	})
	if err := newCall().of(f, newHost()); err == nil || !strings.Contains(err.Error(), "runtime.Goexit was called") {
		t.Errorf("got %v", err)
	}
}

type illegible struct{}

func (illegible) Error() string { panic("no text") }

// An error whose Error method panics counts as a panic of the function that returned it.
func TestErrorThatPanics(t *testing.T) {
	f := prepare(t, kernel.Func{Do: func(*kernel.Call) error { return illegible{} }})
	if err := newCall().of(f, newHost()); err == nil || !strings.Contains(err.Error(), "f(): Go panicked: no text") {
		t.Errorf("got %v", err)
	}
}

// All goroutines may request outputs; an error there is the function's, and has no stack.
func TestParallelEmpty(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	f := parallel(t, func(ctx *kernel.Ctx, lo, hi int) {
		slowly()
		kernel.Zeros[float32](ctx, int64(hi-lo))
	})
	h := newHost()
	if err := newCall().of(f, h); err != nil {
		t.Error(err)
	}
	h.balanced(t)

	var given atomic.Int32
	h.allocate = func(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
		if given.Add(1) > 5 {
			return nil, kernel.Errorf(kernel.MemoryError, "full")
		}
		return h.memory(prototype)
	}
	if err := newCall().of(f, h); err == nil || err.Error() != "MemoryError: full" {
		t.Errorf("got %v", err)
	}
	h.balanced(t)
}

// stopping is a host whose caller wants to stop from the start.
func stopping() *fakeHost {
	h := newHost()
	h.poll = func() (bool, error) { return true, kernel.ErrRaised }
	return h
}

// A body that returns early because the caller wants to stop is an error, also in the last piece.
func TestParallelStopsInTheLastPiece(t *testing.T) {
	f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
		kernel.Parallel(c.Ctx(), 1, func(_, _ int) {
			for c.Ctx().Err() == nil {
				runtime.Gosched()
			}
		})
		t.Error("Parallel returned")
		return nil
	}})
	if err := newCall().of(f, stopping()); !errors.Is(err, kernel.ErrRaised) {
		t.Errorf("got %v", err)
	}
}

// When the caller wants to stop, Parallel stops, whichever goroutine works.
func TestParallelStops(t *testing.T) {
	for _, procs := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		f := parallel(t, func(ctx *kernel.Ctx, _, _ int) {
			for ctx.Err() == nil { // until the caller stops it
				time.Sleep(time.Millisecond)
			}
		})
		h := stopping()
		if err := newCall().of(f, h); !errors.Is(err, kernel.ErrRaised) {
			t.Errorf("%d processors: got %v", procs, err)
		}
		h.balanced(t)
	}
}

// The caller is polled during a long piece, whichever goroutine processes it. Pieces are cut by time, for any number and cost
// of elements, so that the caller can stop them.
func TestParallelStopsAmongManySlowElements(t *testing.T) {
	for _, procs := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		h := stopping()
		var done atomic.Int32
		f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
			kernel.Parallel(c.Ctx(), 1_000_000, func(lo, hi int) {
				for range hi - lo {
					time.Sleep(time.Millisecond)
					done.Add(1)
				}
			})
			return nil
		}})
		if err := newCall().of(f, h); !errors.Is(err, kernel.ErrRaised) {
			t.Errorf("%d processors: got %v, want ErrRaised", procs, err)
		}
		if n := done.Load(); n > 10_000 {
			t.Errorf("%d processors: %d elements were done before it stopped", procs, n)
		}
	}
}

// Parallel waits for the others if the caller does not stop it, for any number of polls.
func TestParallelWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var slow, done atomic.Int32
	f := parallel(t, func(_ *kernel.Ctx, lo, hi int) {
		slowly()
		if !strings.Contains(string(debug.Stack()), "kernel.Parallel(") && slow.CompareAndSwap(0, 1) {
			for int(done.Load())+hi-lo < 1000 { // the caller still processes pieces
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
		}
		done.Add(int32(hi - lo))
	})
	if err := newCall().of(f, newHost()); err != nil || done.Load() != 1000 {
		t.Errorf("got %v, %d elements were done", err, done.Load())
	}
}

// The host is polled at most every 10 ms: a poll may cost more than the work between two.
func TestErrAsksSeldom(t *testing.T) {
	h, asked := newHost(), []time.Time{}
	h.poll = func() (bool, error) {
		asked = append(asked, time.Now())
		return true, nil
	}
	f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
		for len(asked) < 3 {
			if err := c.Ctx().Err(); err != nil {
				return err
			}
		}
		return nil
	}})
	if err := newCall().of(f, h); err != nil {
		t.Error(err)
	}
	if took := asked[2].Sub(asked[0]); took < 19*time.Millisecond {
		t.Errorf("asked three times within %v", took)
	}
}

func TestParallelAsksWhileAPieceIsLong(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	h := newHost()
	var caught atomic.Int32
	h.poll = func() (bool, error) {
		if caught.Load() == 0 {
			return true, nil
		}
		return true, kernel.ErrRaised
	}
	f := parallel(t, func(ctx *kernel.Ctx, lo, _ int) {
		slowly()
		if lo > 0 && caught.CompareAndSwap(0, 1) {
			for ctx.Err() == nil {
				runtime.Gosched()
			}
		}
	})
	if err := newCall().of(f, h); !errors.Is(err, kernel.ErrRaised) {
		t.Errorf("got %v", err)
	}
	h.balanced(t)
}

func TestErr(t *testing.T) {
	h := newHost()
	var kept *kernel.Ctx
	asked := 0
	h.poll = func() (bool, error) {
		asked++
		switch {
		case asked < 3:
			return false, nil // not the goroutine that may poll
		case asked == 3:
			return true, nil
		}
		return true, kernel.ErrRaised
	}
	f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
		kept = c.Ctx()
		if kept != c.Ctx() {
			t.Error("two contexts")
		}
		if err := kept.Err(); err != nil || asked != 0 {
			t.Errorf("at once: got %v, asked %d times", err, asked)
		}
		for kept.Err() == nil {
			runtime.Gosched()
		}
		if err := kept.Err(); !errors.Is(err, kernel.ErrRaised) {
			t.Errorf("later: got %v", err)
		}
		return kept.Err()
	}})
	if err := newCall().of(f, h); !errors.Is(err, kernel.ErrRaised) || asked != 4 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if err := kept.Err(); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("after the call: got %v", err)
	}
}

// A context that is kept after the call returns errors, and nothing leaks.
func TestContextAfterTheCall(t *testing.T) {
	h := newHost()
	var kept *kernel.Ctx
	f := prepare(t, kernel.Func{Do: func(c *kernel.Call) error {
		kept = c.Ctx()
		return nil
	}})
	if err := newCall().of(f, h); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("no panic")
		}
		h.balanced(t)
	}()
	kernel.Empty[float32](kept, 3)
}

// A function can be tested without a caller.
func TestNoContext(t *testing.T) {
	y := kernel.Zeros[float32](nil, 2, 3)
	y.Set(1, 1, 2)
	if y.Len() != 6 || y.At(1, 2) != 1 || (*kernel.Ctx)(nil).Err() != nil {
		t.Errorf("got %v", y)
	}
	one := kernel.Empty[int8](nil, 1)
	one.Set(3, 0)
	if empty := kernel.Empty[int8](nil, 0); one.At(0) != 3 || empty.Len() != 0 {
		t.Errorf("got %v, %v", one, empty)
	}
	defer func() {
		if recover() == nil {
			t.Error("memory on cuda: no panic")
		}
	}()
	kernel.EmptyOn[float32](nil, dlpack.Device{Type: dlpack.CUDA}, 3)
}
