//go:build linux && !godlpack_eager

package main

// The linker puts three functions of internal/cpython in the place of ones of Go's own runtime/cgo, so that Go's runtime
// starts when it is first needed, and not when the module is loaded: runtime.c and signals.c there say how. The names are
// private to Go, and tests/test_runtime.py fails if a new Go has others. The flags are here, not there, since Go programs
// that host Python, as the tests do, have a running runtime. The tag godlpack_eager leaves them out.

// #cgo LDFLAGS: -Wl,--wrap=x_cgo_sys_thread_create -Wl,--wrap=x_cgo_sigaction -Wl,--wrap=_cgo_wait_runtime_init_done
import "C"
