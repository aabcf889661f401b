package dlpack_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"godlpack/dlpack"
)

// checkError fails unless err is of that kind and has exactly that message; an empty message means no error.
func checkError(t *testing.T, what string, err error, kind dlpack.Kind, message string) {
	t.Helper()
	switch {
	case message == "" && err != nil:
		t.Errorf("%s: want no error, got %v", what, err)
	case message != "" && (dlpack.MessageOf(err) != message || dlpack.KindOf(err) != kind):
		t.Errorf("%s: want\n%v: %s, got\n%v", what, kind, message, err)
	}
}

func TestErrorKinds(t *testing.T) {
	names := map[dlpack.Kind]string{
		dlpack.KindBuffer: "BufferError", dlpack.KindType: "TypeError", dlpack.KindValue: "ValueError",
		dlpack.KindRuntime: "RuntimeError", dlpack.KindMemory: "MemoryError", dlpack.KindIndex: "IndexError",
		dlpack.KindOverflow: "OverflowError", dlpack.KindAttribute: "AttributeError",
		dlpack.KindKey: "KeyError", dlpack.KindNotImplemented: "NotImplementedError", dlpack.KindStopIteration: "StopIteration",
		dlpack.KindEOF: "EOFError", dlpack.KindTimeout: "TimeoutError",
		dlpack.Kind(-1): "Kind(-1)", dlpack.Kind(13): "Kind(13)",
	}
	for kind, name := range names {
		err := fmt.Errorf("outer: %w", dlpack.Errorf(kind, "got %d", 7))
		var e *dlpack.Error
		if !errors.As(err, &e) || e.Kind != kind || e.Msg != "got 7" || e.Error() != name+": got 7" || dlpack.KindOf(err) != kind {
			t.Errorf("%v: want %s: got 7, got %v", kind, name, e)
		}
	}
}

func TestForeignErrors(t *testing.T) {
	if got := dlpack.KindOf(fs.ErrNotExist); got != dlpack.KindRuntime {
		t.Errorf("want RuntimeError, got %v", got)
	}
	err := dlpack.Wrap(dlpack.Errorf(dlpack.KindValue, "reading: %w", fs.ErrNotExist), "library")
	checkError(t, "wrapped", err, dlpack.KindValue, "library: reading: file does not exist")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want fs.ErrNotExist in the chain of %v", err)
	}
	if dlpack.Wrap(nil, "x") != nil || dlpack.MessageOf(nil) != "" {
		t.Error("want nil to stay nil")
	}
}

// A wrapped error states its kind once, and not in the message.
func TestMessagesWithoutKinds(t *testing.T) {
	inner := dlpack.Errorf(dlpack.KindValue, "got %d", 7)
	for _, c := range []struct {
		err  error
		kind dlpack.Kind
		want string
	}{
		{fmt.Errorf("a: %w", inner), dlpack.KindValue, "a: got 7"},
		{fmt.Errorf("b: %w", fmt.Errorf("a: %w", inner)), dlpack.KindValue, "b: a: got 7"},
		{dlpack.Wrap(fmt.Errorf("a: %w", inner), "f()"), dlpack.KindValue, "f(): a: got 7"},
		{dlpack.Errorf(dlpack.KindType, "a: %w", inner), dlpack.KindType, "a: got 7"},
		{dlpack.Errorf(dlpack.KindType, "a: %w", fmt.Errorf("b: %w", inner)), dlpack.KindType, "a: b: got 7"},
		{errors.Join(inner, fs.ErrNotExist), dlpack.KindValue, "got 7\nfile does not exist"},
		{fmt.Errorf("%w and %w", inner, dlpack.Errorf(dlpack.KindType, "no")), dlpack.KindValue, "got 7 and no"},
		{fmt.Errorf("ValueError: %w", inner), dlpack.KindValue, "ValueError: got 7"},
	} {
		checkError(t, "wrapped", c.err, c.kind, c.want)
	}
}
