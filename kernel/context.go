package kernel

import (
	"context"
	"runtime/debug"
	"time"
)

// WithContext is the code of functions whose first parameter is a context.Context: it runs body in a goroutine of its own, and
// waits for it on the calling one, where it polls the host. The context is cancelled when the host wants the call to stop, as
// after Ctrl-C; the call then ends with the host's exception as soon as body returns. It is cancelled, too, when body has
// returned. A panic and runtime.Goexit in body end the call as in other functions.
//
// Callables that are called from any goroutine run on the calling one meanwhile.
func WithContext(c *Call, body func(ctx context.Context) error) error {
	own, label := c.Ctx(), c.fn.label()
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), contextKey{}, own))
	defer cancel()
	own.requests = &requests{make(chan func()), make(chan struct{})}
	defer close(own.requests.over)
	done := make(chan error, 1)
	go func() {
		err := error(Errorf(RuntimeError, "%s() called runtime.Goexit", label))
		debug.SetPanicOnFault(true)
		defer func() {
			if p := recover(); p != nil {
				err = panicked(label, p)
			}
			done <- err
		}()
		err = body(ctx)
	}()
	ask := time.NewTicker(time.Duration(pollEvery))
	defer ask.Stop()
	for {
		select {
		case err := <-done:
			if reason := own.reason.Load(); reason != nil {
				return *reason
			}
			return err
		case request := <-own.requests.queue:
			request()
		case <-ask.C:
			if own.Err() != nil {
				cancel()
			}
		}
	}
}

// contextKey is the key of the Ctx in a context.
type contextKey struct{}

// FromContext returns the Ctx of the call that a context comes from, for Empty and Parallel; nil if it comes from none.
func FromContext(ctx context.Context) *Ctx {
	own, _ := ctx.Value(contextKey{}).(*Ctx)
	return own
}

// requests are what the other goroutines of a call ask the calling one to do.
type requests struct {
	queue chan func()
	over  chan struct{} // closed when nobody does it any more
}

// do runs f on the calling goroutine, and waits for it. The error reports that the call has ended. A panic in f is the asking
// goroutine's: the calling one must not leave the others behind.
func (r *requests) do(f func()) error {
	done := make(chan any)
	request := func() {
		defer func() { done <- recover() }()
		f()
	}
	select {
	case r.queue <- request:
		if p := <-done; p != nil {
			panic(p)
		}
		return nil
	case <-r.over:
		return errEnded
	}
}
