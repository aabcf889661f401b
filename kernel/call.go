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

// Host is who calls: package library makes one of the context of a C call. Its methods may be called from any goroutine,
// but for Invoke.
type Host interface {
	// Allocate returns memory in the caller's framework like the prototype, of which shape, dtype and device count.
	Allocate(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error)
	// Delete gives back what Allocate gave, or what lies in the scratch memory.
	Delete(*dlpack.ManagedTensorVersioned)
	// Scratch returns the memory for small outputs, the same each time.
	Scratch() Scratch
	// Poll returns an error, ErrRaised as a rule, if the function shall stop. Asked is false if this goroutine is not the
	// one that may ask: the one that called.
	Poll() (asked bool, err error)
	// Invoke calls a function of the host; what ret refers to is good until the call ends. All that the arguments own
	// passes to the host. Only the goroutine that called may invoke; another gets a RuntimeError.
	Invoke(callable unsafe.Pointer, args packed.Args, ret *packed.Ret) error
	// Stream returns the stream that the caller works on, on a device, 0 for the default stream. Only the goroutine that
	// called may ask; another gets a RuntimeError.
	Stream(device dlpack.Device) (uintptr, error)
	// Alloc and Free are the memory of results, and of Invoke's arguments.
	packed.Memory
}

// Call is one call of a function: its arguments, which are as declared, and the place for its results. It is good until
// Func.Do returns.
type Call struct {
	fn   *Func
	args packed.Args
	host Host
	ctx  *Ctx // made when it is first asked for

	vars      [maxVars]dlpack.DType // what the type variables are bound to
	extents   [maxNames]int64       // what the names of extents are bound to, or -1
	binders   [maxNames]int         // by which argument
	converted []conversion

	asked prototype
	fresh []Ctx // for calls to come

	results []packed.Cell // so far; they own what they refer to
	room    [2]packed.Cell
	err     error // the first that a Return function, or the caller in a conversion, came to
}

var calls = sync.Pool{New: func() any { return new(Call) }}

// Call checks the arguments, runs the function, and sets ret to its result: None for no result, a tuple for several.
// After an error ret is None, and nothing is lost: outputs that are not returned are given back. An error is an *Error
// with the kind that it shall have in Python, ErrRaised, or what Do returned. A panic with an *Error is that error, as if Do had
// returned it; any other is a RuntimeError with its stack, also one by a pointer that leads nowhere.
//
// The arguments are borrowed, and must be what their codes say. Records of tensors may hold anything, unless their flags
// say packed.Checked: they are validated.
func (f *Func) Call(args packed.Args, ret *packed.Ret, host Host) error {
	ret.Set(packed.Null)
	if f.plan == nil {
		return errUnprepared
	}
	c := calls.Get().(*Call)
	c.fn, c.args, c.host = f, args, host
	c.results = c.room[:0]
	err := c.run(ret)
	c.end(err)
	calls.Put(c)
	return err
}

// run is Call up to the tidying.
func (c *Call) run(ret *packed.Ret) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			err = panicked(c.fn.Name, p)
		}
		debug.SetPanicOnFault(old)
	}()
	gcstress.Crossing()
	if err := c.check(); err != nil {
		return err
	}
	if err := c.fn.Do(c); err != nil {
		return legible(err)
	}
	gcstress.Crossing()
	if c.err != nil {
		return c.err
	}
	return c.deliver(ret)
}

// deliver makes one result of all.
func (c *Call) deliver(ret *packed.Ret) error {
	if len(c.results) != len(c.fn.Results) {
		return &Error{Kind: RuntimeError, Msg: c.fn.Name + "() declares " + strconv.Itoa(len(c.fn.Results)) +
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

// end gives back what nobody got, and forgets the rest.
func (c *Call) end(err error) {
	if err != nil {
		for _, cell := range c.results {
			packed.Drop(c.host, cell, c.host.Delete)
		}
	}
	if c.ctx != nil {
		c.ctx.end()
		c.ctx = nil
	}
	c.fn, c.args, c.host, c.err = nil, packed.Args{}, nil, nil
	c.results, c.converted = nil, nil
}
