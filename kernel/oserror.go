package kernel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// standardErrors are values of the standard library that have an exception in Python.
var standardErrors = []struct {
	value error
	class string
	errno syscall.Errno
}{
	{context.DeadlineExceeded, "TimeoutError", 0},
	{os.ErrDeadlineExceeded, "TimeoutError", 0},
	{fs.ErrNotExist, "FileNotFoundError", syscall.ENOENT},
	{fs.ErrExist, "FileExistsError", syscall.EEXIST},
	{fs.ErrPermission, "PermissionError", syscall.EACCES},
	{fs.ErrClosed, "ValueError", 0}, // as of a closed file in Python
	{io.EOF, "EOFError", 0},
	{io.ErrUnexpectedEOF, "EOFError", 0},
	{strconv.ErrRange, "OverflowError", 0},
	{strconv.ErrSyntax, "ValueError", 0},
	{errors.ErrUnsupported, "NotImplementedError", 0},
}

// standard returns the exception of an error of the standard library; nil for other errors, and for those that only wrap one.
func standard(err error) *raised {
	switch err := err.(type) {
	case *fs.PathError:
		return ofFile(err.Err, err.Path)
	case *os.LinkError:
		return ofFile(err.Err, err.Old, err.New)
	case syscall.Errno:
		return &raised{class: "OSError", message: err.Error(), errno: int(err)}
	}
	for _, row := range standardErrors {
		if isError(err, row.value) {
			return &raised{class: row.class, message: err.Error(), errno: int(row.errno)}
		}
	}
	return nil
}

// ofFile returns the exception of an operation on files: the cause's, with their names if it has a number.
func ofFile(cause error, names ...string) *raised {
	_, r, _ := find(cause)
	if r == nil {
		return &raised{class: "OSError"}
	}
	if r.errno != 0 {
		r.filenames = names
	}
	return r
}
