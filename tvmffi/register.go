package tvmffi

import (
	"slices"
	"sync"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// bridge is the state of all calls in this process, made by Register.
type bridge struct {
	ffi
	functions []*kernel.Func // handle 1 is the first: for handle 0, tvm-ffi passes the function's own address
}

// current is set before the first function is registered.
var (
	current    *bridge
	connecting sync.Mutex
)

// connect makes current, unless an earlier call has.
func connect() error {
	connecting.Lock()
	defer connecting.Unlock()
	if current != nil {
		return nil
	}
	l, err := open()
	if err == nil {
		err = l.watch()
	}
	if err != nil {
		return err
	}
	current = &bridge{ffi: l, functions: slices.DeleteFunc(slices.Clone(kernel.Funcs()), usesObjects)}
	return nil
}

// usesObjects reports whether a function belongs to a class, or takes or returns objects, for which tvm-ffi has no type.
func usesObjects(f *kernel.Func) bool {
	isObject := func(p kernel.Param) bool {
		return p.Kind == kernel.KindObject || p.Elem != nil && p.Elem.Kind == kernel.KindObject
	}
	return f.Class != "" || slices.ContainsFunc(f.Params, isObject) || slices.ContainsFunc(f.Results, isObject)
}

// Register makes the functions of this library (kernel.Funcs) global functions of tvm-ffi, each under prefix and its name, and
// returns their number. Functions that belong to classes, or have objects as arguments or results, are left out. Functions with the same names are replaced: it may be called again, also with another prefix.
//
// A RuntimeError reports that libtvm_ffi is not in the process, or of a version that this package does not support; nothing is
// registered then, and a later call tries again.
func Register(prefix string) (int, error) {
	if err := connect(); err != nil {
		return 0, err
	}
	for i, f := range current.functions {
		if err := current.register(prefix+f.Name, uintptr(i+1)); err != nil {
			return i, err
		}
	}
	return len(current.functions), nil
}

// register makes the function of that handle a global one.
func (b *bridge) register(name string, handle uintptr) error {
	f := b.newFunction(handle)
	if f != nil {
		defer b.release(f) // tvm-ffi keeps it
	}
	if f == nil || !b.setGlobal(name, f) {
		return dlpack.Wrap(b.reason(), name)
	}
	return nil
}

// errorCell is the beginning of TVMFFIErrorCell, the body of an Error.
type errorCell struct{ kind, message packed.ByteArray }

// reason returns this thread's error as a Go error.
func (b *bridge) reason() error {
	e := b.takeError()
	if e == nil {
		return kernel.Errorf(kernel.RuntimeError, "tvm-ffi failed without an error message")
	}
	defer b.release(e)
	cell := body[errorCell](e)
	return kernel.Errorf(kernel.RuntimeError, "tvm-ffi: %s: %s", textOf(cell.kind), textOf(cell.message))
}
