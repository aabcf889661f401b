package embedtest

// #include <stdlib.h>
// int PyImport_AppendInittab(const char *name, void *(*init)(void));
// void *PyInit__core(void); // of godlpack/internal/cpython
import "C"

import (
	"errors"
	"os/signal"
	"runtime"
	"syscall"

	python3 "github.com/go-python/cpy3"

	_ "godlpack/pyext" // registers all operations of the module
)

// Start starts Python with the given executable as its program name, which determines the installed packages. From then on,
// the calling goroutine stays on its thread, Python's main thread; it does not hold the GIL.
func Start(executable string) error {
	name := C.CString("godlpack._core")
	if C.PyImport_AppendInittab(name, (*[0]byte)(C.PyInit__core)) != 0 { // keeps the pointer to the name
		return errors.New("no memory for the table of built-in modules")
	}
	runtime.LockOSThread()
	if err := python3.Py_SetProgramName(executable); err != nil {
		return err
	}
	python3.Py_InitializeEx(false) // without Python's signal handlers: Go's stay
	signal.Ignore(syscall.SIGPIPE) // as Python does: else a thread of Python ends the program when it writes to a closed connection
	python3.PyEval_SaveThread()
	return nil
}

// Locked runs work with the GIL, on one thread, which has a Python thread state for that time.
func Locked(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	state := python3.PyGILState_Ensure()
	defer python3.PyGILState_Release(state)
	work()
}

// Run runs Python code in the module __main__; Python prints the traceback of an exception.
func Run(code string) error {
	failed := 0
	Locked(func() { failed = python3.PyRun_SimpleString(code) })
	if failed != 0 {
		return errors.New("the Python code raised an exception")
	}
	return nil
}
