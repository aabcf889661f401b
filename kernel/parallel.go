package kernel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"godlpack/dlpack"
)

// init has Go open its poller's files while the runtime starts, when there are some to open. It would do so with the first timer, and
// end the process where there are none.
func init() { time.AfterFunc(time.Hour, func() {}).Stop() }

// Parallel calls body with pieces of 0 to n-1 that cover it, each from lo up to but not including hi, in several
// goroutines at a time. What the pieces are depends on the clock; body must not. Work that takes a few microseconds
// stays in the goroutine that called.
//
// A panic in body is one of the function, with the stack of the goroutine where it was; the other pieces that have begun
// are waited for, the rest is left. The caller is asked between pieces whether to go on (Ctx.Err); where not, Parallel
// panics, and the call ends with that error. Only the function's own goroutine may ask: a Parallel in the body of another
// learns it from there.
func Parallel(ctx *Ctx, n int, body func(lo, hi int)) {
	l := parallelRun{ctx: ctx, n: n, body: body}
	if l.alone(); int(l.next.Load()) < n {
		l.share()
	}
	if p := l.failed.Load(); p != nil {
		panic(*p)
	}
	if err := ctx.Err(); err != nil { // the last piece may have seen it, and left
		raise(err)
	}
}

// A parallelRun is the work of one Parallel.
type parallelRun struct {
	ctx    *Ctx
	n      int
	body   func(lo, hi int)
	next   atomic.Int64 // where the next piece begins
	size   int          // of the last piece that was done alone
	procs  int
	failed atomic.Pointer[any]
}

const (
	// moment is how long the calling goroutine works before it calls for help: a few times what that costs.
	moment = 20 * time.Microsecond
	// piecesEach is into how many pieces each processor's part is cut at least, so that none waits long for the others.
	piecesEach = 8
	// piece is how long a shared one shall take: between two the caller may stop the work, which is no news to a person
	// for so long, and taking the next costs nothing beside it.
	piece = 5 * time.Millisecond
)

// alone does the first pieces, each larger than the one before, for a moment; without other processors all.
func (l *parallelRun) alone() {
	start, single := time.Now(), runtime.GOMAXPROCS(0) == 1
	lo, size := 0, 1
	for lo < l.n {
		if err := l.ctx.Err(); err != nil {
			raise(err)
		}
		hi := min(lo+size, l.n)
		l.body(lo, hi)
		lo = hi
		if time.Since(start) < moment {
			size = min(4*size, l.n)
		} else if !single {
			break
		}
	}
	l.size = size
	l.next.Store(int64(lo))
}

// share does the rest with others, and waits for them.
func (l *parallelRun) share() {
	rest := l.n - int(l.next.Load())
	l.procs = runtime.GOMAXPROCS(0)
	others := min(l.procs, rest) - 1
	var at sync.WaitGroup
	at.Add(others)
	for range others {
		go func() {
			defer at.Done()
			l.work(func() error { return nil })
		}()
	}
	l.work(l.ctx.Err)
	l.wait(&at)
}

// work does pieces until there are none, or one has failed. How large they are the first ones show.
func (l *parallelRun) work(ask func() error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	returned := false
	defer func() {
		if p := recover(); p != nil {
			l.fail(p)
		} else if !returned {
			l.fail("runtime.Goexit was called in a piece of kernel.Parallel, which is not done")
		}
	}()
	l.pieces(ask)
	returned = true
}

// pieces is work without what is done for panics.
func (l *parallelRun) pieces(ask func() error) {
	for size := l.size; l.failed.Load() == nil; {
		if err := ask(); err != nil {
			raise(err)
		}
		hi := int(l.next.Add(int64(size)))
		lo := hi - size
		if lo >= l.n {
			return
		}
		start := time.Now()
		l.body(lo, min(hi, l.n))
		size = l.after(size, time.Since(start))
	}
}

// after returns how large a piece should be after one of a size that took so long: at most eight times as large, as a
// short time says little, and no larger than a fair share of the rest.
func (l *parallelRun) after(size int, took time.Duration) int {
	fair := (l.n - int(l.next.Load())) / (l.procs * piecesEach)
	return max(1, min(int(int64(size)*int64(piece)/int64(max(took, piece/8))), fair))
}

// fail keeps the first panic, with its stack.
func (l *parallelRun) fail(p any) {
	p = caught(p)
	l.failed.CompareAndSwap(nil, &p)
}

// wait waits for the others, and asks meanwhile whether to go on.
func (l *parallelRun) wait(others *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		others.Wait()
		close(done)
	}()
	ask := time.NewTicker(time.Duration(pollEvery))
	defer ask.Stop()
	for {
		select {
		case <-done:
			return
		case <-ask.C:
			if err := l.ctx.Err(); err != nil {
				l.fail(dlpack.Errorf(dlpack.KindOf(err), "%w", err))
			}
		}
	}
}
