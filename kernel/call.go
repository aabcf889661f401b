package kernel

import (
	"runtime/debug"
	"strconv"
	"sync"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/gcstress"
	"godlpack/packed"
)

// Host is the caller of functions: package library makes one from the context of a C call. Its methods may be called from any
// goroutine, except Invoke.
type Host interface {
	// Allocate returns memory in the caller's framework like the prototype, of which shape, dtype and device count.
	Allocate(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error)
	// Delete frees a tensor from Allocate or from the scratch memory.
	Delete(*dlpack.ManagedTensorVersioned)
	// Scratch returns the memory for small outputs, the same at each call.
	Scratch() Scratch
	// Poll returns an error, usually ErrRaised, if the function must stop. Asked is false on any goroutine except the calling
	// one, which alone may poll.
	Poll() (asked bool, err error)
	// Invoke calls a function of the host; memory that ret refers to is valid until the call ends. The host takes all that the
	// arguments own. Only the calling goroutine may invoke; another gets a RuntimeError.
	Invoke(callable unsafe.Pointer, args packed.Args, ret *packed.Ret) error
	// Stream returns the caller's current stream on a device, 0 for the default stream. Only the calling goroutine may request
	// it; another gets a RuntimeError.
	Stream(device dlpack.Device) (uintptr, error)
	// Alloc and Free manage the memory of results, and of Invoke's arguments.
	packed.Memory
}

// Call is one call of a function: its arguments, checked against the declaration, and the place for its results. It is valid
// until Func.Do returns.
type Call struct {
	fn   *Func
	args packed.Args
	host Host
	ctx  *Ctx // made at its first use

	vars      [maxVars]dlpack.DType // dtypes that the type variables are bound to
	extents   [maxNames]int64       // values that the names of extents are bound to, or -1
	binders   [maxNames]int         // the arguments that bound them
	converted []conversion

	asked prototype
	fresh []Ctx // for later calls

	begun    *Iterator        // that Do has made
	used     []*entry         // exclusive objects among the arguments and what callbacks returned
	received []*dlpack.Tensor // that callbacks returned

	results []packed.Cell // so far; they own the memory they refer to
	room    [2]packed.Cell
	err     error // the first error of a Return function, or of the caller in a conversion
}

var calls = sync.Pool{New: func() any { return new(Call) }}

// Call checks the arguments, runs the function, and sets ret to its result: None for no result, a tuple for several. After an
// error ret is None, and nothing leaks: outputs that are not returned are deleted. The error is an *Error with the kind of its
// Python exception, ErrRaised, or it wraps the one that Do returned. A panic with an *Error counts as that error, as if Do had returned
// it; any other panic, also a fault by an invalid pointer, is a RuntimeError with its stack.
//
// The arguments are borrowed, and must be what their codes state. Records of tensors may hold anything: they are validated,
// unless their flags have packed.Checked.
func (f *Func) Call(args packed.Args, ret *packed.Ret, host Host) error {
	ret.Set(packed.Null)
	if f.plan == nil {
		return errUnprepared
	}
	c := calls.Get().(*Call)
	c.fn, c.args, c.host = f, args, host
	c.results = c.room[:0]
	err := c.run(ret)
	if err != nil {
		err = c.explain(err)
	}
	c.end(err)
	calls.Put(c)
	return err
}

// run is Call without the setup and cleanup.
func (c *Call) run(ret *packed.Ret) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			err = panicked(c.fn.label(), p)
		}
		debug.SetPanicOnFault(old)
	}()
	gcstress.Crossing()
	if err := c.check(); err != nil {
		return err
	}
	if c.fn.plan.exclusive {
		if err := c.takeObjects(); err != nil {
			return err
		}
	}
	if err := c.fn.Do(c); err != nil {
		return err
	}
	gcstress.Crossing()
	if c.err != nil {
		return c.err
	}
	if c.ctx != nil {
		if reason := c.ctx.reason.Load(); reason != nil { // an iterable raised, which the function was not told
			return *reason
		}
	}
	return c.deliver(ret)
}

// deliver combines the results into one.
func (c *Call) deliver(ret *packed.Ret) error {
	if len(c.results) != len(c.fn.Results) {
		return &Error{Kind: RuntimeError, Msg: c.fn.label() + "() declares " + strconv.Itoa(len(c.fn.Results)) +
			" results, and returned " + strconv.Itoa(len(c.results))}
	}
	switch len(c.results) {
	case 0:
	case 1:
		ret.Set(c.results[0])
	default:
		tuple, err := packed.NewList(c.host, packed.CodeTuple, c.results)
		if err != nil {
			return err
		}
		ret.Set(tuple)
	}
	return nil
}

// end releases results and outputs that were not delivered, and resets the Call.
func (c *Call) end(err error) {
	if err != nil {
		for _, cell := range c.results {
			Drop(c.host, cell)
		}
		if c.begun != nil {
			c.begun.close()
		}
	}
	if c.ctx != nil {
		c.ctx.end()
		c.ctx = nil
	}
	if len(c.used) > 0 {
		c.giveObjects()
	}
	c.fn, c.args, c.host, c.err = nil, packed.Args{}, nil, nil
	c.results, c.converted, c.received, c.begun = nil, nil, nil, nil
}
