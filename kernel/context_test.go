package kernel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"godlpack/kernel"
)

// withContext calls a function that takes a context.
func withContext(t testing.TB, host kernel.Host, body func(c *kernel.Call, ctx context.Context) error) error {
	t.Helper()
	f, err := kernel.Prepare(kernel.Func{Name: "f", Do: func(c *kernel.Call) error {
		return kernel.WithContext(c, func(ctx context.Context) error { return body(c, ctx) })
	}})
	if err != nil {
		t.Fatal(err)
	}
	return newCall().of(f, host)
}

// The context is live during the call, has its Ctx, and is cancelled at the end.
func TestContext(t *testing.T) {
	var kept context.Context
	err := withContext(t, newHost(), func(c *kernel.Call, ctx context.Context) error {
		kept = ctx
		if ctx.Err() != nil || kernel.FromContext(ctx) != c.Ctx() {
			t.Error("want the live context of the call")
		}
		return nil
	})
	if err != nil || kept.Err() == nil || kernel.FromContext(context.Background()) != nil {
		t.Error(err, kept.Err())
	}
}

func TestContextErrors(t *testing.T) {
	for want, body := range map[string]func(*kernel.Call, context.Context) error{
		"failed":                       func(*kernel.Call, context.Context) error { return errors.New("failed") },
		"f(): Go panicked: over":       func(*kernel.Call, context.Context) error { panic("over") },
		"f() called runtime.Goexit":    func(*kernel.Call, context.Context) error { runtime.Goexit(); return nil },
		"ValueError: no such shape":    func(*kernel.Call, context.Context) error { panic(kernel.Errorf(kernel.ValueError, "no such shape")) },
		"nil pointer dereference":      func(*kernel.Call, context.Context) error { var p *int; *p = 1; return nil },
		"want a function to call, got": func(*kernel.Call, context.Context) error { _, err := kernel.Callable{}.Call(); return err },
	} {
		if err := withContext(t, newHost(), body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A host that wants the call to stop has it cancelled, and its own error wins.
func TestContextIsCancelled(t *testing.T) {
	for _, result := range []error{nil, errors.New("other")} {
		h := newHost()
		h.poll = func() (bool, error) { return true, kernel.ErrRaised }
		err := withContext(t, h, func(_ *kernel.Call, ctx context.Context) error {
			<-ctx.Done()
			return result
		})
		if !errors.Is(err, kernel.ErrRaised) {
			t.Errorf("want the host's error, got %v", err)
		}
	}
}
