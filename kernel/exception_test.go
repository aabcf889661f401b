package kernel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"godlpack/dlpack"
)

func explain(err error) error { return (&Call{fn: &Func{Name: "f"}}).explain(err) }

func description(err error) string {
	_, _, text := Explanation(explain(err))
	return text
}

func TestDescription(t *testing.T) {
	lost := errors.New("lost")
	before := registeredExceptions
	defer func() { registeredExceptions = before }()
	RegisterError(Exception{Name: "LostError", Base: "KeyError"}, func() error { return lost })
	RegisterError(Exception{Name: "NilError", Base: "KeyError"}, func() error { return nil })
	missing := &fs.PathError{Op: "open", Path: "p", Err: syscall.ENOENT}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("unknown"), ""},
		{Errorf(ValueError, "plain"), ""},
		{fmt.Errorf("words: %w", Errorf(ValueError, "plain")), ""},
		{dlpack.Wrap(Errorf(ValueError, "plain"), "f()"), ""},
		{dlpack.Wrap(Errorf(ValueError, "of: %w", io.EOF), "f()"), `{"class":"ValueError","message":"f(): of: EOF","cause":{"class":"EOFError","message":"EOF"}}`},
		{lost, `{"class":"LostError","message":"lost"}`},
		{fmt.Errorf("a: %w", lost), `{"class":"LostError","message":"a: lost"}`},
		{errors.Join(errors.New("b"), lost), `{"class":"LostError","message":"b\u000alost"}`},
		{missing, `{"class":"OSError","message":"no such file or directory","errno":2,"filenames":["p"]}`},
		{&fs.PathError{Op: "read", Path: "p", Err: errors.New("odd")}, `{"class":"OSError","message":"read p: odd"}`},
		{&fs.PathError{Op: "read", Path: "p", Err: io.EOF}, `{"class":"EOFError","message":"read p: EOF"}`},
		{Errorf(TypeError, "x: %w", missing), `{"class":"TypeError","message":"x: open p: no such file or directory",` +
			`"cause":{"class":"OSError","message":"no such file or directory","errno":2,"filenames":["p"]}}`},
	} {
		if got := description(c.err); got != c.want {
			t.Errorf("%v: want\n%s, got\n%s", c.err, c.want, got)
		}
		if err := explain(c.err); !errors.Is(err, c.err) || dlpack.MessageOf(err) != dlpack.MessageOf(c.err) {
			t.Errorf("%v: explain returned another error, %v", c.err, err)
		}
	}
}

func TestRegisterErrorRefuses(t *testing.T) {
	before := registeredExceptions
	defer func() { registeredExceptions = before }()
	register := func(name string) (refused any) {
		defer func() { refused = recover() }()
		RegisterError(Exception{Name: name}, func() error { return nil })
		return nil
	}
	if register("not a name") == nil || register("OnceError") != nil || register("OnceError") == nil {
		t.Errorf("want names that are no identifiers, or are registered, to be refused")
	}
}
