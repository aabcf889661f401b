package pyext

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// init lets _layout(name) fail as a kernel might. This file is laid over package pyext (go build -overlay) in the builds of
// tests/helpers/build.py only, under a name that comes last, so that its function takes the place of the real one.
func init() {
	cpython.Handle(cpython.OpLayout, func(c *cpython.Call) (cpython.Object, error) {
		name := c.Arg(0).StrValue()
		fault, known := faults[name]
		if !known {
			return cpython.Object{}, dlpack.Errorf(dlpack.KindValue, "no fault %s", name)
		}
		fault()
		return cpython.Bool(true), nil
	})
}

var faults = map[string]func(){
	"nil":       func() { read(0) },
	"wild":      func() { read(0xdead000) },
	"panic":     func() { panic("as a kernel might") },
	"goroutine": func() { done := make(chan int); go func() { panic("where nobody recovers") }(); <-done },
	"collect":   runtime.GC,
	"spread":    spread,
	"preempt":   preempt,
}

//go:noinline
func read(address uintptr) int { return *(*int)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

// spread has many goroutines allocate and wait for each other.
func spread() {
	sums := make(chan int)
	for i := range 100 {
		go func() { sums <- len(make([]byte, 1<<16)) + i }()
	}
	for range 100 {
		<-sums
	}
}

// preempt collects garbage beside a loop that ends only when that is done: it hangs if goroutines cannot be interrupted.
func preempt() {
	var running, stop atomic.Bool
	go func() {
		running.Store(true)
		for !stop.Load() {
		}
	}()
	for !running.Load() {
		runtime.Gosched()
	}
	runtime.GC()
	stop.Store(true)
}
