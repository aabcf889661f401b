package jsonnet

import (
	"sync"

	"github.com/google/go-jsonnet"

	"godlpack/kernel"
)

// VM evaluates programs, with variables and with folders of libraries. Several threads may use one at a time.
//
//godlpack:export
type VM struct {
	importPaths             []string
	maxStack                int
	mu                      sync.Mutex
	texts, codes, arguments map[string]string // codes go before texts
}

// mostStack is a depth of calls that Go's own stack has room for. Beyond it the process would end.
const mostStack = 10_000

// NewVM makes an evaluator. Imports are searched beside the importing file, and then in import_paths, the last one first. Calls
// may be max_stack deep.
//
//godlpack:new
//godlpack:arg importPaths default=[]
//godlpack:arg maxStack default=500
func NewVM(importPaths []string, maxStack int) (*VM, error) {
	if maxStack < 1 || maxStack > mostStack {
		return nil, kernel.Errorf(kernel.ValueError, "VM(): max_stack: want 1 to %d, got %d", mostStack, maxStack)
	}
	return &VM{importPaths: importPaths, maxStack: maxStack, texts: map[string]string{}, codes: map[string]string{}, arguments: map[string]string{}}, nil
}

// SetText sets the text that std.extVar(name) returns.
//
//godlpack:export
func (v *VM) SetText(name, text string) error { return v.set(v.texts, name, text, nil) }

// SetCode sets the program, JSON for example, whose value std.extVar(name) returns.
//
//godlpack:export
func (v *VM) SetCode(name, code string) error { return v.set(v.codes, name, code, check(name, code)) }

// SetArgument sets an argument for programs that are functions: the value of a program, JSON for example.
//
//godlpack:export
func (v *VM) SetArgument(name, code string) error {
	return v.set(v.arguments, name, code, check(name, code))
}

func (v *VM) set(values map[string]string, name, value string, err error) error {
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	values[name] = value
	return nil
}

// machine returns a new machine of go-jsonnet, which one goroutine may use.
func (v *VM) machine() *jsonnet.VM {
	v.mu.Lock()
	defer v.mu.Unlock()
	vm := jsonnet.MakeVM()
	vm.MaxStack = v.maxStack
	vm.Importer(checkingImporter{&jsonnet.FileImporter{JPaths: v.importPaths}})
	for name, text := range v.texts {
		vm.ExtVar(name, text)
	}
	for name, code := range v.codes {
		vm.ExtCode(name, code)
	}
	for name, code := range v.arguments {
		vm.TLACode(name, code)
	}
	return vm
}
