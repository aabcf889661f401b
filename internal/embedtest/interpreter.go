package embedtest

// #include <stdlib.h>
// int PyImport_AppendInittab(const char *name, void *(*init)(void));
// void *PyInit__core(void); // of godlpack/internal/cpython
import "C"

import (
	"errors"
	"runtime"

	python3 "github.com/go-python/cpy3"

	_ "godlpack/pyext" // the module: all that it does
)

// Start starts Python as if its executable were the given one, which decides what is installed. The calling goroutine
// stays on its thread, Python's main thread, from then on; it does not hold the GIL.
func Start(executable string) error {
	name := C.CString("godlpack._core")
	if C.PyImport_AppendInittab(name, (*[0]byte)(C.PyInit__core)) != 0 { // keeps the name
		return errors.New("no memory for the table of built-in modules")
	}
	runtime.LockOSThread()
	if err := python3.Py_SetProgramName(executable); err != nil {
		return err
	}
	python3.Py_InitializeEx(false) // the signals stay Go's
	python3.PyEval_SaveThread()
	return nil
}

// Locked runs work with the GIL, on a thread that is Python's for that time.
func Locked(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	state := python3.PyGILState_Ensure()
	defer python3.PyGILState_Release(state)
	work()
}

// Run runs Python code in the module __main__; Python prints the traceback of what it raises.
func Run(code string) error {
	failed := 0
	Locked(func() { failed = python3.PyRun_SimpleString(code) })
	if failed != 0 {
		return errors.New("the Python code raised an exception")
	}
	return nil
}
