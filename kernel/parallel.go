package kernel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"godlpack/dlpack"
)

// init makes Go open its poller's files when the runtime starts, while files are available. Go would otherwise open them at the
// first timer, and end the process if it could not.
func init() { time.AfterFunc(time.Hour, func() {}).Stop() }

// Parallel calls body with pieces that cover 0 to n-1, each from lo up to but not including hi, in several goroutines at a
// time. The pieces depend on the clock; body's results must not. Work that takes a few microseconds stays in the calling
// goroutine.
//
// A panic in body counts as the function's, with the stack of its goroutine; Parallel waits for the other pieces that have
// begun, and skips the rest. Between pieces it calls Ctx.Err; on an error, Parallel panics, and the call ends with that error.
// Only the function's own goroutine may poll the host: a Parallel in another goroutine's body gets the recorded error.
func Parallel(ctx *Ctx, n int, body func(lo, hi int)) {
	l := parallelRun{ctx: ctx, n: n, body: body}
	if l.alone(); int(l.next.Load()) < n {
		l.share()
	}
	if p := l.failed.Load(); p != nil {
		panic(*p)
	}
	if err := ctx.Err(); err != nil { // the last piece may have returned early because of it
		raise(err)
	}
}

// A parallelRun is the work of one Parallel.
type parallelRun struct {
	ctx    *Ctx
	n      int
	body   func(lo, hi int)
	next   atomic.Int64 // the start of the next piece
	size   int          // of the last piece that was done alone
	procs  int
	failed atomic.Pointer[any]
}

const (
	// aloneFor is how long the calling goroutine works before it starts others: a few times the cost of starting them.
	aloneFor = 20 * time.Microsecond
	// piecesEach is the least number of pieces that each processor's part is cut into, so that none waits long for the others.
	piecesEach = 8
	// piece is the duration of a shared piece: between two the caller may stop the work, with a delay that a person does not
	// notice, and the cost of taking the next piece is negligible beside it.
	piece = 5 * time.Millisecond
)

// alone processes the first pieces, each larger than the previous one, for the time aloneFor; without other
// processors, all pieces.
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
		if time.Since(start) < aloneFor {
			size = min(4*size, l.n)
		} else if !single {
			break
		}
	}
	l.size = size
	l.next.Store(int64(lo))
}

// share processes the rest with other goroutines, and waits for them.
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

// work processes pieces until none is left, or one has failed. It begins with the size that alone found.
func (l *parallelRun) work(ask func() error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	returned := false
	defer func() {
		if p := recover(); p != nil {
			l.fail(p)
		} else if !returned {
			l.fail("runtime.Goexit was called in a function that kernel.Parallel runs, which is not allowed")
		}
	}()
	l.pieces(ask)
	returned = true
}

// pieces is work without the handling of panics.
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

// after returns the size of the piece after one of that size and duration: at most eight times as large, as a short duration is
// inexact, and no larger than a fair share of the rest.
func (l *parallelRun) after(size int, took time.Duration) int {
	fair := (l.n - int(l.next.Load())) / (l.procs * piecesEach)
	return max(1, min(int(int64(size)*int64(piece)/int64(max(took, piece/8))), fair))
}

// fail records the first panic, with its stack.
func (l *parallelRun) fail(p any) {
	p = asPanicError(p)
	l.failed.CompareAndSwap(nil, &p)
}

// wait waits for the others, and meanwhile polls whether to continue.
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
