package embedtest

import (
	"testing"

	"godlpack/internal/cpython"
)

// handled sets another function for an operation until the test ends.
func handled(t *testing.T, op cpython.Op, handler cpython.Handler) {
	before := cpython.Handle(op, handler)
	t.Cleanup(func() { cpython.Handle(op, before) })
}

// TestPanic checks that Python gets a RuntimeError with Go's stack for each call that panics, and continues.
func TestPanic(t *testing.T) {
	balanced(t)
	handled(t, cpython.OpTensorItem, func(c *cpython.Call) (cpython.Object, error) { panic("at the disco") })
	run(t, `
import godlpack as gd
for _ in range(100):
    try:
        gd.zeros(()).item()
    except RuntimeError as error:
        message = str(error)
    assert message.startswith("godlpack: Go panicked: at the disco\n\n"), message
    assert "dispatch_test.go" in message, message
assert gd.zeros(()).tolist() == 0
`)
}

// TestPanicWithoutTheGIL checks that the GIL is held again when Python gets the error of a panic that happened without it.
func TestPanicWithoutTheGIL(t *testing.T) {
	balanced(t)
	handled(t, cpython.OpTensorItem, func(c *cpython.Call) (cpython.Object, error) {
		_ = cpython.Unlocked(1<<30, func(cpython.Poll) error { panic("in the dark") })
		return cpython.None(), nil
	})
	run(t, `
import godlpack as gd
try:
    gd.zeros(()).item()
except RuntimeError as error:
    message = str(error)
assert "Go panicked: in the dark" in message, message
`)
}

// TestNilPointer checks that Go's signal handler turns a fault into a panic, inside a Python process, too.
func TestNilPointer(t *testing.T) {
	balanced(t)
	handled(t, cpython.OpTensorItem, func(c *cpython.Call) (cpython.Object, error) {
		var nothing *[2]int
		return cpython.Int(int64(nothing[1])), nil
	})
	run(t, `
import godlpack as gd
try:
    gd.zeros(()).item()
except RuntimeError as error:
    message = str(error)
assert "nil pointer dereference" in message, message
`)
}

// TestNoFunction checks the error of an operation without a function.
func TestNoFunction(t *testing.T) {
	balanced(t)
	handled(t, cpython.OpTensorItem, nil)
	run(t, `
import godlpack as gd
try:
    gd.zeros(()).item()
except RuntimeError as error:
    message = str(error)
assert "has no function" in message, message
`)
}
