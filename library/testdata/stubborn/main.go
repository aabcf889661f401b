// Command stubborn is a library whose loops never let go: what tests interrupt.
package main

import (
	"runtime"
	"sync/atomic"

	"godlpack/kernel"
	_ "godlpack/library"
)

func main() {}

func init() {
	kernel.Register(kernel.Func{
		Name: "preempt",
		Doc:  "preempt collects garbage beside a loop that ends only when that is done: it hangs if goroutines cannot be interrupted.",
		Do: func(*kernel.Call) error {
			preempt()
			return nil
		},
	})
}

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
