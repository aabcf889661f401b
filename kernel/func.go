package kernel

import (
	"errors"
	"slices"

	"godlpack/dlpack"
)

// Func is a function that others can call: its name, parameters and results, and its Go code. All fields except Do are data,
// whose JSON the host reads (library/godlpack.h, GDFunction.declaration).
type Func struct {
	Name    string  `json:"name"`            // a Python identifier, in snake_case
	Class   string  `json:"class,omitempty"` // the class that it belongs to
	Role    Role    `json:"role,omitempty"`  // what it is to the class
	Doc     string  `json:"doc,omitempty"`   // a description, as in Go's doc comment
	Params  []Param `json:"params"`
	Results []Param `json:"results"` // only descriptions of values: names may be empty
	// Yields describes the elements of the Iterator that is the result: one Param, or two for pairs. Another function, of the
	// role Next, takes them.
	Yields []Param `json:"yields,omitempty"`
	// Async states that the function is a coroutine for the host: its result is a Task, or an Iterator to await each element of.
	Async bool `json:"async,omitempty"`
	// Awaits describes the results of the Task that is the result. Another function, of the role Result, takes them.
	Awaits []Param `json:"awaits,omitempty"`
	// HoldGIL states that the host need not let its other threads run meanwhile. It is for functions that take about a
	// microsecond and wait for nothing: no Parallel, no callbacks.
	HoldGIL bool `json:"hold_gil,omitempty"`
	// Place is where a getter's value lies in the object, if it is a field that the host may read by itself.
	Place *Place `json:"place,omitempty"`
	// Like is the framework of result tensors if no argument is a tensor, one of Frameworks: the host's own if empty.
	Like string `json:"like,omitempty"`
	// Do runs once all arguments fit the declaration. It reads them through the Call, and returns each result by one of the
	// Return functions, in order. An *Error (Errorf) becomes the exception of its kind, any other error a RuntimeError.
	Do func(*Call) error `json:"-"`

	plan *plan // made by Prepare
}

// Place is the place of a number in an object's memory.
type Place struct {
	Offset uintptr `json:"offset"` // in bytes
	Format string  `json:"format"` // its type, as a letter of Python's module struct
}

// registered lists the functions of this library, in the order of their registration.
var registered []*Func

// Register adds a function to those that the library offers. It is for init functions, and panics if the declaration is invalid
// or the name is taken, which is a mistake of the author.
func Register(f Func) {
	ready, err := Prepare(f)
	if err != nil {
		panic("kernel: " + dlpack.MessageOf(err))
	}
	if slices.ContainsFunc(registered, ready.clashes) {
		panic("kernel: " + f.label() + ": registered twice")
	}
	if err := ready.plan.resolve(); err != nil {
		panic("kernel: " + f.label() + ": " + dlpack.MessageOf(err))
	}
	registered = append(registered, ready)
}

// Funcs returns the registered functions, in the order of their registration.
func Funcs() []*Func { return registered }

// Prepare checks a declaration and returns the function ready for calls. Later changes of f have no effect. The ValueError
// names the function, the parameter, and the fault.
func Prepare(f Func) (*Func, error) {
	f.Params, f.Results = append([]Param{}, f.Params...), append([]Param{}, f.Results...) // an empty list is [] in JSON, not null
	p, err := newPlan(&f)
	if err != nil {
		return nil, dlpack.Wrap(err, f.label())
	}
	f.plan = p
	return &f, nil
}

// label returns the name in error texts: "search", "Index.search", "Index" for a constructor.
func (f *Func) label() string {
	switch {
	case f.Role == Constructor:
		return f.Class
	case f.Class != "":
		return f.Class + "." + f.Name
	}
	return f.Name
}

// clashes reports whether another function has the same name in the same place.
func (f *Func) clashes(other *Func) bool {
	accessors := f.Role != other.Role && (f.Role == Getter || f.Role == Setter) && (other.Role == Getter || other.Role == Setter)
	if f.Role == Feed && other.Role == Feed && f.Params[1].Name != other.Params[1].Name {
		return false // of another parameter
	}
	return f.Class == other.Class && f.Name == other.Name && !accessors && f.Role.hidden() == other.Role.hidden()
}

// hidden reports whether functions of the role belong to another one of the same name.
func (r Role) hidden() bool { return r == Next || r == Result || r == Feed }

// errUnprepared is the error for a call of a Func that was neither registered nor prepared.
var errUnprepared = errors.New("kernel: a Func must be registered or prepared before it is called")
