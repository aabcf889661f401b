// Package exceptions has errors of its own, and returns those of the standard library.
package exceptions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"strconv"
	"syscall"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// ErrNotFound reports a key that the table does not have.
//
//godlpack:export base=KeyError
var ErrNotFound = errors.New("no such key")

// InputError is the base of what can be wrong with an input.
//
//godlpack:export InputError base=ValueError
var ErrInput = errors.New("bad input")

// SyntaxFault reports a line that cannot be parsed.
//
//godlpack:export SyntaxFault base=InputError
type SyntaxFault struct {
	Line   int
	Text   string
	Ratio  float64
	Hints  []string
	Inner  error
	secret int
}

func (e *SyntaxFault) Error() string { return fmt.Sprintf("line %d: bad", e.Line) }
func (e *SyntaxFault) Unwrap() error { return e.Inner }

//godlpack:export
type Limit struct{ Limit int }

func (e Limit) Error() string { return "over the limit" }

//godlpack:export
type LoadError struct{ err error }

func (e *LoadError) Error() string { return "load: " + e.err.Error() }
func (e *LoadError) Unwrap() error { return e.err }

type likeNotFound struct{}

func (likeNotFound) Error() string     { return "alike" }
func (likeNotFound) Is(err error) bool { return err == ErrNotFound }

//godlpack:export
func Lookup(key string, depth int) error {
	err := ErrNotFound
	for range depth {
		err = fmt.Errorf("level %w", err)
	}
	return err
}

//godlpack:export
func Parse(text string) error {
	return &SyntaxFault{Line: 2, Text: "b", Ratio: 0.5, Hints: []string{"c", "d"}, Inner: io.EOF, secret: 1}
}

//godlpack:export
func ParseWrapped(text string) error { return fmt.Errorf("while parsing: %w", Parse(text)) }

//godlpack:export
func Limited(n int) error { return Limit{n} }

//godlpack:export
func Odd() error { return &SyntaxFault{Ratio: math.NaN()} }

//godlpack:export
func Alike() error { return likeNotFound{} }

//godlpack:export
func LoadTable(path string) error {
	_, err := os.Open(path)
	return &LoadError{err}
}

//godlpack:export
func Read(path, way string) error {
	_, err := os.ReadFile(path)
	switch way {
	case "wrapped":
		return fmt.Errorf("reading: %w", err)
	case "joined":
		return errors.Join(errors.New("first"), err)
	}
	return err
}

//godlpack:export
func Link(from, to string) error { return os.Link(from, to) }

//godlpack:export
func Standard(name string) error {
	_, dial := net.Dial("tcp", "127.0.0.1:1")
	_, outside := strconv.Atoi("99999999999999999999")
	_, syntax := strconv.ParseFloat("x", 64)
	return map[string]error{
		"deadline": context.DeadlineExceeded, "timeout": os.ErrDeadlineExceeded, "not exist": fs.ErrNotExist,
		"exist": fs.ErrExist, "permission": fs.ErrPermission, "closed": &fs.PathError{Op: "read", Path: "p", Err: fs.ErrClosed},
		"eof": io.EOF, "unexpected eof": io.ErrUnexpectedEOF, "range": outside, "syntax": syntax,
		"unsupported": errors.ErrUnsupported, "errno": syscall.ECONNREFUSED, "dial": dial, "unknown": errors.New("unknown"),
	}[name]
}

//godlpack:export
func Kind(i int) error {
	kinds := []dlpack.Kind{
		kernel.BufferError, kernel.TypeError, kernel.ValueError, kernel.RuntimeError, kernel.MemoryError, kernel.IndexError,
		kernel.OverflowError, kernel.AttributeError, kernel.KeyError, kernel.NotImplementedError, kernel.StopIteration,
		kernel.EOFError, kernel.TimeoutError,
	}
	if i >= len(kinds) {
		return errors.New("end")
	}
	return kernel.Errorf(kinds[i], "kind %d", i)
}

//godlpack:export
func Checked(path string) error {
	_, err := os.Open(path)
	return kernel.Errorf(kernel.ValueError, "config: %w", err)
}

//godlpack:export
func Calls(f kernel.Callable) error {
	_, err := f.Call()
	return err
}

//godlpack:export
func CallsWrapped(f kernel.Callable) error { return fmt.Errorf("calling: %w", Calls(f)) }

type panicking struct{ in string }

func (p panicking) Error() string {
	if p.in == "Error" {
		panic("in Error")
	}
	return "panicking"
}

func (p panicking) Is(error) bool {
	if p.in == "Is" {
		panic("in Is")
	}
	return false
}

func (p panicking) Unwrap() error {
	if p.in == "Unwrap" {
		panic("in Unwrap")
	}
	return nil
}

//godlpack:export
func PanicsInError() error { return panicking{"Error"} }

//godlpack:export
func PanicsInIs() error { return panicking{"Is"} }

//godlpack:export
func PanicsInUnwrap() error { return panicking{"Unwrap"} }

//godlpack:export
func Garbled() error { return fmt.Errorf("a\xff\x00b: %w", ErrNotFound) }

// Code is a type of errors that has an exported value, too.
//
//godlpack:export
type Code int

func (c Code) Error() string { return "code " + strconv.Itoa(int(c)) }

//godlpack:export base=CodeError
const Seven = Code(7)

//godlpack:export
func Coded(n int) error { return Code(n) }

//godlpack:export
func LimitedByPointer(n int) error { return &Limit{n} }

// Awkward has fields with the names of an exception's own members, and of types that marshal themselves.
//
//godlpack:export
type Awkward struct {
	Args   []string
	Errno  string
	Whole  float64
	Zero   float64
	None   []int
	Empty  map[string]int
	Odd    []float64
	Mode   fs.FileMode
	Tree   tree
	Secret proud
}

type tree []tree

type proud string

func (proud) MarshalText() ([]byte, error) { panic("marshalled") }

func (*Awkward) Error() string { return "awkward" }

//godlpack:export
func Awkwardly() error {
	return &Awkward{
		Args: []string{"a"}, Errno: "e", Whole: 2, Zero: math.Copysign(0, -1), Odd: []float64{math.NaN(), math.Inf(-1), 1}, Mode: 3,
		Secret: "s\xff\"\\\U0001F600",
	}
}

type stateful struct{ calls int }

func (s *stateful) Error() string {
	if s.calls++; s.calls > 2 {
		panic("asked too often")
	}
	return "stateful"
}

//godlpack:export
func Stateful(calls int) error { return &stateful{calls} }

//godlpack:export
func UnknownKind() error { return kernel.Errorf(99, "of no kind") }

//godlpack:export
func Deep(n int) error {
	err := error(io.EOF)
	for i := range n {
		err = &SyntaxFault{Line: i, Inner: err}
	}
	return err
}

//godlpack:export
func Causes(way string) error {
	switch way {
	case "kinds":
		return kernel.Errorf(kernel.ValueError, "outer: %w", kernel.Errorf(kernel.KeyError, "inner"))
	case "several":
		return kernel.Errorf(kernel.ValueError, "%w %w", errors.New("x"), ErrNotFound)
	case "panic":
		panic(kernel.Errorf(kernel.ValueError, "p: %w", ErrNotFound))
	case "parallel":
		kernel.Parallel(nil, 100, func(from, to int) { panic(kernel.Errorf(kernel.ValueError, "p: %w", ErrNotFound)) })
	}
	return nil
}

type late struct{}

func (late) Error() string     { return "late" }
func (late) Is(err error) bool { return err == context.DeadlineExceeded }

//godlpack:export
func Late() error { return late{} }

//godlpack:export
func ReadBytes(name []byte) error {
	_, err := os.ReadFile(string(name))
	return err
}
