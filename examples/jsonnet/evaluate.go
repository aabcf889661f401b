package jsonnet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"

	"godlpack/kernel"
)

// ProgramError reports a program that is wrong, or that fails. The trace has the places of the calls, the innermost first.
//
//godlpack:export base=ValueError
type ProgramError struct {
	Message string
	Trace   []string
}

func (e *ProgramError) Error() string {
	return strings.Join(append([]string{e.Message}, e.Trace...), "\n\t")
}

// Evaluate returns the value of a program as JSON text. Imports are relative to the folder of filename, which errors name.
//
//godlpack:export
//godlpack:arg filename default=program
func (v *VM) Evaluate(ctx *kernel.Ctx, program, filename string) (string, error) {
	return run(ctx, v, program, filename, (*jsonnet.VM).Evaluate)
}

// EvaluateStream returns the elements of the array that a program makes, each as JSON text.
//
//godlpack:export
//godlpack:arg filename default=program
func (v *VM) EvaluateStream(ctx *kernel.Ctx, program, filename string) ([]string, error) {
	return run(ctx, v, program, filename, (*jsonnet.VM).EvaluateStream)
}

// run evaluates in another goroutine. If the caller gives up, it goes on in the background until it is done: go-jsonnet has no way
// to stop it.
func run[T any](ctx *kernel.Ctx, v *VM, program, filename string, evaluate func(*jsonnet.VM, ast.Node) (T, error)) (T, error) {
	if err := check(filename, program); err != nil {
		return *new(T), err
	}
	vm, done, value := v.machine(), make(chan error, 1), *new(T)
	go func() {
		defer func() {
			if p := recover(); p != nil { // a panic of a goroutine would end the process
				done <- fmt.Errorf("go-jsonnet panicked: %v", p)
			}
		}()
		node, err := jsonnet.SnippetToAST(filename, program)
		if err == nil {
			value, err = evaluate(vm, node)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			return value, asProgramError(err)
		case <-time.After(10 * time.Millisecond):
			if err := ctx.Err(); err != nil {
				return *new(T), err
			}
		}
	}
}

func asProgramError(err error) error {
	if err == nil {
		return nil
	}
	e := &ProgramError{Message: strings.TrimSpace(err.Error())} // the parser's has the place in front
	if failed, ok := err.(jsonnet.RuntimeError); ok {
		e.Message = failed.Msg
		for _, frame := range slices.Backward(failed.StackTrace) {
			e.Trace = append(e.Trace, strings.TrimSpace(frame.Loc.String()+" "+frame.Name))
		}
	}
	return e
}

// The parser, and what comes after it, call themselves for what is nested. These programs leave them enough of Go's stack, which
// the process would not survive to use up.
const (
	mostBytes  = 1 << 20
	mostMarks  = 100_000 // operators and brackets: a+a+a is nested, too
	mostNested = 5000
)

// check refuses what the parser may not survive. It does not know texts and comments from the rest.
func check(name, program string) error {
	marks, nested, most := 0, 0, 0
	for _, b := range []byte(program) {
		if strings.IndexByte("([{", b) >= 0 {
			nested++
		} else if strings.IndexByte(")]}", b) >= 0 {
			nested--
		}
		if strings.IndexByte("([{+-*/%&|^<>=!~", b) >= 0 {
			marks++
		}
		most = max(most, nested)
	}
	if len(program) > mostBytes || marks > mostMarks || most > mostNested {
		return &ProgramError{Message: fmt.Sprintf("%s: want at most %d bytes, %d operators and %d nested brackets, got %d, %d and %d: "+
			"set_text and std.parseJson are for data", name, mostBytes, mostMarks, mostNested, len(program), marks, most)}
	}
	return nil
}

// A checkingImporter checks what is imported.
type checkingImporter struct{ jsonnet.Importer }

func (c checkingImporter) Import(from, path string) (jsonnet.Contents, string, error) {
	contents, at, err := c.Importer.Import(from, path)
	if err == nil {
		err = check(at, contents.String())
	}
	return contents, at, err
}
