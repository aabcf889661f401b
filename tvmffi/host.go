package tvmffi

import (
	"runtime"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

type managed = dlpack.ManagedTensorVersioned

// Alloc returns Go memory, which lives as long as the call: tvm-ffi gets copies of its contents.
func (c *call) Alloc(size int) unsafe.Pointer {
	block := make([][2]uint64, size/16+1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = append(c.blocks, block)
	return unsafe.Pointer(&block[0])
}

// Free does nothing: the end of the call frees the memory.
func (c *call) Free(unsafe.Pointer) {}

// Allocate returns a tensor of the caller's framework, or of C memory if the caller has no allocator for this thread. Only
// kernel uses the record: its manager is the tensor of tvm-ffi that it describes, and it has no deleter.
func (c *call) Allocate(prototype *dlpack.Tensor) (*managed, error) {
	runtime.LockOSThread() // errors belong to threads
	defer runtime.UnlockOSThread()
	t, err := c.newOutput(prototype)
	if err != nil {
		return nil, err
	}
	if t == nil {
		c.keepError()
		return nil, kernel.ErrRaised
	}
	m := &managed{Version: dlpack.Current, ManagerCtx: unsafe.Pointer(t), Tensor: *body[dlpack.Tensor](t)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs = append(c.outputs, m)
	return m, nil
}

// newOutput is Allocate without the record; nil without an error if tvm-ffi keeps the error.
func (c *call) newOutput(prototype *dlpack.Tensor) (*object, error) {
	if c.allocates() {
		return c.allocate(prototype), nil
	}
	m, err := c.memory(prototype)
	if err != nil {
		return nil, err
	}
	t := c.newTensor(m)
	if t == nil {
		c.delete(m)
	}
	return t, nil
}

// Delete releases an output.
func (c *call) Delete(m *managed) { c.release((*object)(m.ManagerCtx)) }

// Scratch returns none: tvm-ffi makes the object of an output together with its memory.
func (*call) Scratch() kernel.Scratch { return kernel.Scratch{} }

// Poll reports whether to stop, in Python whether the user has pressed Ctrl-C. The exception is then Python's own: tvm-ffi has
// a special error for that case.
func (c *call) Poll() (asked bool, err error) {
	if !c.here() {
		return false, nil
	}
	if c.checkSignals() {
		return true, nil
	}
	c.keep(c.newError("EnvErrorAlreadySet", ""))
	return true, kernel.ErrRaised
}

// Stream returns the caller's current stream in tvm-ffi, which uses torch's, among others.
func (c *call) Stream(device dlpack.Device) (uintptr, error) {
	if !c.here() {
		return 0, kernel.Errorf(kernel.RuntimeError, "the caller's stream was requested from a goroutine other than that of the call")
	}
	return c.stream(device), nil
}

// Invoke calls a function of the caller.
func (c *call) Invoke(callable unsafe.Pointer, args packed.Args, ret *packed.Ret) error {
	values, err := c.giveAll(args)
	if err != nil {
		return err
	}
	defer c.dropAll(values)
	if !c.here() {
		return kernel.Errorf(kernel.RuntimeError, "a function of the caller was called from a goroutine other than that of the call")
	}
	var result packed.Any
	if err := c.given(c.callFunction((*object)(callable), values, &result)); err != nil {
		return err
	}
	c.owned = append(c.owned, result)
	cell, err := c.take(&result, 0)
	if err != nil {
		return dlpack.Wrap(err, "callback's result")
	}
	ret.Set(cell)
	return nil
}

// here reports whether this is the thread of the call: the called goroutine stays in it.
func (c *call) here() bool { return c.thread == thread() }

// keepError makes this thread's error the one that kernel.ErrRaised stands for.
func (c *call) keepError() { c.keep(c.takeError()) }

// keep makes e the error that kernel.ErrRaised stands for, instead of an earlier one.
func (c *call) keep(e *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raised != nil {
		c.release(c.raised)
	}
	c.raised = e
}
