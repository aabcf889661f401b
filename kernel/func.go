package kernel

import (
	"errors"
	"slices"

	"godlpack/dlpack"
)

// Func is a function that others can call: what it is called, what it takes and gives, and the Go code that does it. All
// but Do is data, and the JSON of it is what a host reads (library/godlpack.h, GDFunction.declaration).
type Func struct {
	Name    string  `json:"name"`          // a Python identifier, in snake_case
	Doc     string  `json:"doc,omitempty"` // what it does, as in Go's doc comment
	Params  []Param `json:"params"`
	Results []Param `json:"results"` // only what describes a value: names may be empty
	// HoldGIL says that the host need not let its other threads run meanwhile. It is for functions of a microsecond or
	// so, which wait for nothing: no Parallel, no callbacks.
	HoldGIL bool `json:"hold_gil,omitempty"`
	// Like is the framework of tensors among the results where no argument is a tensor, one of Frameworks: the host's own if empty.
	Like string `json:"like,omitempty"`
	// Do is called once all arguments are as declared. It reads them through the Call, and gives each result back by one
	// of the Return functions, in order. An *Error (Errorf) becomes the exception of its kind, any other a RuntimeError.
	Do func(*Call) error `json:"-"`

	plan *plan // worked out by Prepare
}

// registered are the functions of this library, in the order of their registration.
var registered []*Func

// Register adds a function to those that the library offers. It is for init functions, and panics if the declaration makes
// no sense or the name is taken: a mistake of whoever wrote it.
func Register(f Func) {
	ready, err := Prepare(f)
	if err != nil {
		panic("kernel: " + dlpack.MessageOf(err))
	}
	if slices.ContainsFunc(registered, func(other *Func) bool { return other.Name == f.Name }) {
		panic("kernel: " + f.Name + ": registered twice")
	}
	registered = append(registered, ready)
}

// Funcs returns the registered functions, in the order of their registration.
func Funcs() []*Func { return registered }

// Prepare checks a declaration and returns the function ready to be called. Changes of f come too late then. The
// ValueError names the function, the parameter, and what is wrong.
func Prepare(f Func) (*Func, error) {
	f.Params, f.Results = append([]Param{}, f.Params...), append([]Param{}, f.Results...) // none is [] in JSON, not null
	p, err := newPlan(&f)
	if err != nil {
		return nil, dlpack.Wrap(err, f.Name)
	}
	f.plan = p
	return &f, nil
}

// errUnprepared is what a call of a Func that was written down, but neither registered nor prepared, comes to.
var errUnprepared = errors.New("kernel: a Func must be registered or prepared before it is called")
