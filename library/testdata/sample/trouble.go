package main

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// kinds are the exceptions that raise knows.
var kinds = []dlpack.Kind{kernel.BufferError, kernel.TypeError, kernel.ValueError, kernel.RuntimeError, kernel.MemoryError, kernel.IndexError}

func init() {
	register("raise_error", "raise_error raises the exception of that name.",
		params{of("kind", kernel.KindString)}, nil,
		func(c *kernel.Call) error {
			kernel.Zeros[float32](c.Ctx(), 3) // which must not be lost
			for _, kind := range kinds {
				if kind.String() == c.String(0) {
					return kernel.Errorf(kind, "raised, é and \x00 in it")
				}
			}
			return errors.New("no such kind")
		})
	register("panics", "panics panics.", nil, nil, func(c *kernel.Call) error {
		kernel.Zeros[float32](c.Ctx(), 3)
		panic("on purpose")
	})
	register("panics_elsewhere", "panics_elsewhere panics in a goroutine of Parallel.", nil, nil, func(c *kernel.Call) error {
		kernel.Parallel(c.Ctx(), 1000, func(lo, hi int) {
			time.Sleep(50 * time.Microsecond)
			if hi > 900 {
				panic("on purpose, elsewhere")
			}
		})
		return nil
	})
	register("nil_pointer", "nil_pointer writes through a nil pointer.", nil, nil, func(*kernel.Call) error {
		var p *int
		*p = 1
		return nil
	})
	register("wild_pointer", "wild_pointer writes where no memory is.", nil, nil, func(*kernel.Call) error {
		wild := uintptr(0x7eadbeef0000)
		**(**byte)(unsafe.Pointer(&wild)) = 1
		return nil
	})
	register("slow", "slow works until it is stopped, and asks at each piece. It may be in any goroutine.",
		params{of("parallel", kernel.KindBool)}, nil,
		func(c *kernel.Call) error {
			ctx := c.Ctx()
			if c.Bool(0) {
				kernel.Parallel(ctx, 1000, func(_, _ int) { work(ctx) })
			}
			return work(ctx)
		})
	register("collect", "collect collects garbage, which looks at all threads, until it is stopped.", nil, nil, func(c *kernel.Call) error {
		for c.Ctx().Err() == nil {
			runtime.GC()
		}
		return c.Ctx().Err()
	})
	register("too_large", "too_large asks for more memory than there is.", nil, params{vector("", "n")}, func(c *kernel.Call) error {
		kernel.ReturnMut(c, kernel.Empty[float32](c.Ctx(), 1<<60))
		return nil
	})
}

// work goes on until it is stopped.
func work(ctx *kernel.Ctx) error {
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}
