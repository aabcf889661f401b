package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"godlpack/dlpack"
)

// Result is a CUresult: what a function of the driver returns.
type Result int32

// The results that this package, or a caller, decides by. All others have a name too: the driver's own (Error.Name).
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

// Error is a call that the driver, or NVRTC, refused. It is found by errors.As.
type Error struct {
	Call   string // "cuMemAlloc_v2"
	Result Result
	Name   string // CUDA's own: "CUDA_ERROR_OUT_OF_MEMORY"
	Text   string // "out of memory"; NVRTC has none
}

// Error returns all of it: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%d)", e.Call, e.Name, int(e.Result))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// Is reports whether two errors have the same result, so that errors.Is(err, &Error{Result: NotReady}) asks for one.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Result == e.Result
}

// ErrNoDriver is what every function returns, with the loader's words, on a machine without CUDA's driver. Python sees a
// BufferError: data cannot be exchanged with a device that nothing can reach.
var ErrNoDriver = errors.New("no CUDA driver")

// explain adds what a compiler said to the error of the call that compiled.
func explain(err error, kind dlpack.Kind, said []byte) error {
	var e *Error
	if said = bytes.TrimSpace(said); len(said) == 0 || !errors.As(err, &e) {
		return err
	}
	return dlpack.Errorf(kind, "%w\n%s", e, said)
}

// kindOf says which Python exception a result becomes.
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

// failure words the result of a call in the driver's terms.
func (d *Driver) failure(f function, r Result) error {
	e := &Error{Call: names[f], Result: r, Name: d.textOf(fnGetErrorName, r), Text: d.textOf(fnGetErrorString, r)}
	return dlpack.Errorf(kindOf(r), "%w", e)
}

// textOf asks the driver for its own words; an older driver than the result has none.
func (d *Driver) textOf(f function, r Result) string {
	var text *byte
	if d.result(f, uintptr(r), uintptr(unsafe.Pointer(&text))) != Success || text == nil {
		return "unknown"
	}
	return cText(text)
}
