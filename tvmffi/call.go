package tvmffi

import (
	"errors"
	"slices"
	"sync"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// call calls the function of that handle in that thread (gd_tvm_call): 0, or -1 with the thread's error set.
func (b *bridge) call(handle, thread uintptr, args []packed.Any, result *packed.Any) int32 {
	c := calls.Get().(*call)
	c.bridge, c.fn, c.thread, c.args = b, b.functions[handle-1], thread, args
	err := c.run(result)
	if err != nil {
		c.raise(err)
	}
	c.end()
	calls.Put(c)
	if err != nil {
		return -1
	}
	return 0
}

// call is one call of a function, and the host of it (kernel.Host).
type call struct {
	*bridge
	fn     *kernel.Func
	args   []packed.Any
	thread uintptr // of the call

	values []packed.Value // the arguments in kernel's convention
	codes  []packed.Code

	mu      sync.Mutex
	blocks  [][][2]uint64                    // memory of values and codes, which Go's collector does not find there
	outputs []*dlpack.ManagedTensorVersioned // likewise
	owned   []packed.Any                     // results of callbacks
	raised  *object                          // the error that kernel.ErrRaised stands for
}

var calls = sync.Pool{New: func() any { return new(call) }}

// run is call without the error handling and cleanup.
func (c *call) run(result *packed.Any) error {
	if err := c.takeArguments(); err != nil {
		return err
	}
	value, code := packed.Value(0), packed.CodeNull
	ret := packed.Ret{Value: &value, Code: &code}
	if err := c.fn.Call(packed.Slices(c.values, c.codes, nil), &ret, c); err != nil {
		return err
	}
	if code == packed.CodeNull {
		return nil
	}
	return c.give(ret.Get(), result)
}

// takeArguments fills values and codes. If there are too many arguments, only their number counts: kernel rejects them.
func (c *call) takeArguments() error {
	n := len(c.args)
	c.values, c.codes = slices.Grow(c.values[:0], n)[:n], slices.Grow(c.codes[:0], n)[:n]
	for i := range min(n, len(c.fn.Params)) {
		cell, err := c.take(&c.args[i], 0)
		if err != nil {
			return dlpack.Wrap(err, c.fn.Name+"(): argument '"+c.fn.Params[i].Name+"'")
		}
		c.values[i], c.codes[i] = cell.Value, cell.Code
	}
	return nil
}

// raise sets the thread's error.
func (c *call) raise(err error) {
	e := c.raised
	if e == nil || !errors.Is(err, kernel.ErrRaised) {
		e = c.newError(dlpack.KindOf(err).String(), dlpack.MessageOf(err))
		if e == nil {
			return // no memory for the error
		}
		defer c.release(e)
	}
	c.setError(e)
}

// end releases the remaining objects, and resets the call.
func (c *call) end() {
	for i := range c.owned {
		c.drop(&c.owned[i])
	}
	if c.raised != nil {
		c.release(c.raised)
	}
	clear(c.blocks)
	clear(c.outputs)
	c.bridge, c.fn, c.args, c.thread, c.raised = nil, nil, nil, 0, nil
	c.blocks, c.outputs, c.owned = c.blocks[:0], c.outputs[:0], c.owned[:0]
}

// drop releases what a value owns.
func (c *call) drop(a *packed.Any) {
	if a.Index >= firstObject {
		c.release(objectOf(a))
	}
	*a = packed.Any{}
}
