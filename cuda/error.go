package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"godlpack/dlpack"
)

// Result is a CUresult, the result of a driver function.
type Result int32

// The results that this package or its callers distinguish. All others have the driver's own names too (Error.Name).
const (
	Success           Result = 0
	InvalidValue      Result = 1
	OutOfMemory       Result = 2
	NotInitialized    Result = 3 // also in a forked child, where CUDA does not work
	Deinitialized     Result = 4 // the process is about to end
	NoDevice          Result = 100
	InvalidDevice     Result = 101
	InvalidContext    Result = 201
	InvalidPTX        Result = 218
	InvalidHandle     Result = 400
	NotFound          Result = 500
	NotReady          Result = 600
	IllegalAddress    Result = 700
	NotSupported      Result = 801
	CaptureIsolation  Result = 905 // a stream that is being captured into a graph would wait for work outside of it
	CaptureNotAllowed Result = 900 // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
)

// Error is a failed call of the driver or of NVRTC. errors.As finds it.
type Error struct {
	Call   string // "cuMemAlloc_v2"
	Result Result
	Name   string // CUDA's own: "CUDA_ERROR_OUT_OF_MEMORY"
	Text   string // "out of memory"; NVRTC has none
}

// Error returns all fields: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%d)", e.Call, e.Name, int(e.Result))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// Is reports whether two errors have the same result, for tests such as errors.Is(err, &Error{Result: NotReady}).
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Result == e.Result
}

// ErrNoDriver is the error of every function, with the loader's message, on a machine without CUDA's driver. In Python it is a
// BufferError: no data can be exchanged with an inaccessible device.
var ErrNoDriver = errors.New("no CUDA driver")

// explain adds a compiler's log to the error of the call that compiled.
func explain(err error, kind dlpack.Kind, said []byte) error {
	var e *Error
	if said = bytes.TrimSpace(said); len(said) == 0 || !errors.As(err, &e) {
		return err
	}
	return dlpack.Errorf(kind, "%w\n%s", e, said)
}

// kindOf returns the Python exception of a result.
func kindOf(r Result) dlpack.Kind {
	switch r {
	case OutOfMemory:
		return dlpack.KindMemory
	case InvalidDevice:
		return dlpack.KindValue
	case NoDevice:
		return dlpack.KindBuffer
	}
	return dlpack.KindRuntime
}

// failure describes the result of a call with the driver's name and text.
func (d *Driver) failure(f function, r Result) error {
	e := &Error{Call: names[f], Result: r, Name: d.textOf(fnGetErrorName, r), Text: d.textOf(fnGetErrorString, r)}
	return dlpack.Errorf(kindOf(r), "%w", e)
}

// textOf returns the driver's text; a driver older than the result has none.
func (d *Driver) textOf(f function, r Result) string {
	var text *byte
	if d.result(f, uintptr(r), uintptr(unsafe.Pointer(&text))) != Success || text == nil {
		return "unknown"
	}
	return cText(text)
}
