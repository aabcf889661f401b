//go:build linux && !godlpack_eager

package main

// The linker replaces three functions of Go's own runtime/cgo by functions of internal/cpython, so that Go's runtime starts
// when it is first needed, and not when the module is loaded; runtime.c and signals.c there give the details. The names are
// private to Go: tests/test_runtime.py fails if a new Go has others. The flags are in this package, since Go programs that
// host Python, such as the tests, have a running runtime. The tag godlpack_eager omits them.

// #cgo LDFLAGS: -Wl,--wrap=x_cgo_sys_thread_create -Wl,--wrap=x_cgo_sigaction -Wl,--wrap=_cgo_wait_runtime_init_done
import "C"
