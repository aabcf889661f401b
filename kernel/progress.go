package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Progress tells how much of a call's work is done, in units of any kind, for the bar of users of Python who have asked for it
// (godlpack.show_progress). A total of 0 is unknown. The context is the call's *Ctx, or the context.Context of a function, of an
// iterator's or of an async function, or one that is derived from it; with any other one, Progress does nothing.
//
// It may be called for each element: while nobody has asked, it takes a nanosecond, and otherwise a fraction of a microsecond.
func Progress(ctx interface{ Err() error }, done, total int64) {
	if showing.Load() {
		report(ctx, done, total)
	}
}

// showing states that the host shows bars.
var showing atomic.Bool

// shownAfter is how long a call must run to have a bar.
const shownAfter = 200 * time.Millisecond

// A running is code that runs on when its call has ended, as of an iterator: its context has one.
type running struct {
	label string
	over  <-chan struct{}
}

// runningKey is the key of a running in a context.
type runningKey struct{}

// withRunning returns a context that can be cancelled, of code that runs on when its call has ended.
func withRunning(label string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	return context.WithValue(ctx, runningKey{}, &running{label, ctx.Done()}), cancel
}

// A bar is the progress of a call that has reported some.
type bar struct {
	number      int64
	label       string
	call        any // a *Ctx or a *running
	begin       time.Time
	done, total int64
}

// bars are the bars of all calls.
var bars struct {
	sync.Mutex
	of   map[any]*bar
	last int64 // number
}

func report(ctx interface{ Err() error }, done, total int64) {
	call, label := callOf(ctx)
	if call == nil {
		return
	}
	bars.Lock()
	defer bars.Unlock()
	b := bars.of[call]
	if b == nil {
		if bars.of == nil {
			bars.of = map[any]*bar{}
		}
		bars.last++
		b = &bar{number: bars.last, label: label, call: call, begin: time.Now()}
		bars.of[call] = b
	}
	b.done, b.total = done, total
}

// callOf returns the call that a context comes from, a *Ctx or a *running, and its label; nil if it comes from none.
func callOf(ctx interface{ Err() error }) (call any, label string) {
	own, _ := ctx.(*Ctx)
	if c, ok := ctx.(context.Context); ok {
		if r, ok := c.Value(runningKey{}).(*running); ok {
			return r, r.label
		}
		own = FromContext(c)
	}
	if own == nil || own.fn == nil {
		return nil, ""
	}
	return own, own.fn.label()
}

// over reports whether the call has ended.
func (b *bar) over() bool {
	if own, ok := b.call.(*Ctx); ok {
		return own.over()
	}
	select {
	case <-b.call.(*running).over:
		return true
	default:
		return false
	}
}

// shown is a bar as the host gets it.
type shown struct {
	Number int64  `json:"number"`
	Label  string `json:"label"`
	Done   int64  `json:"done"`
	Total  int64  `json:"total"`
	Over   bool   `json:"over"`
}

// ProgressFunc is the function by which a host asks for the bars of calls that have run for a while, as JSON in the order of
// their beginnings; those of calls that have ended come for the last time. With show, calls report from then on, and without,
// no longer. It is for package library.
var ProgressFunc = func() *Func {
	ready, err := Prepare(Func{
		Name: "progress", Params: []Param{{Name: "show", Kind: KindBool}}, Results: []Param{{Kind: KindString}},
		Do: func(c *Call) error {
			c.ReturnString(shownBars(c.Bool(0)))
			return nil
		},
	})
	if err != nil {
		panic(err) // a declaration of this file
	}
	return ready
}()

func shownBars(show bool) string {
	showing.Store(show)
	list := []shown{}
	bars.Lock()
	defer bars.Unlock()
	for call, b := range bars.of {
		over := !show || b.over()
		if time.Since(b.begin) >= shownAfter {
			list = append(list, shown{b.number, b.label, b.done, b.total, over})
		}
		if over {
			delete(bars.of, call)
		}
	}
	slices.SortFunc(list, func(a, b shown) int { return cmp.Compare(a.Number, b.Number) })
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // it consists of numbers and texts
	}
	return string(text)
}
