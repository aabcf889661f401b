// Command empty is a library whose functions do nothing: what C pays to enter Go, and Go to call C from there.
package main

// typedef void (*bench_function)(void *);
// static inline void bench_call(bench_function f, void *x) { f(x); }
import "C"

import "unsafe"

func main() {}

//export bench_empty
func bench_empty() {}

//export bench_within
func bench_within(f C.bench_function, x unsafe.Pointer) { C.bench_call(f, x) }
