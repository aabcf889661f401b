package kernel

import (
	"runtime"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// A result declared as Shared is no copy: the host gets the memory itself, in Go's heap or of an owner (tensor.Of.Hold), which
// stays until the host has dropped the tensor. It is an entry in the table of objects, of a class that no host knows.

// shared is the entry's value.
type shared struct{ record tensor.Record }

var sharedClass = &class{Class: Class{Name: "memory"}, number: 1<<31 - 1}

// lender makes the host's tensor of an entry; see ManageMemory.
var lender func(number uint64, t *dlpack.Tensor, flags dlpack.Flags) *dlpack.ManagedTensorVersioned

// ManageMemory sets the function that makes a tensor for a host over Go's memory, with shape and strides of its own; nil without
// memory. Its deleter is one Release(number, 1), which must not wait for Go. It is for package library.
func ManageMemory(lend func(number uint64, t *dlpack.Tensor, flags dlpack.Flags) *dlpack.ManagedTensorVersioned) {
	lender = lend
}

// shareCell returns a tensor without a copy, unless the memory is the caller's, which is valid during the call only.
func (c *Call) shareCell(r *tensor.Record, s *slot) (packed.Cell, error) {
	t, flags := r.Tensor(), r.Flags()
	if lender == nil || !t.Device.Type.HostReadable() || c.isCallers(&t) {
		return c.tensorCell(r)
	}
	if s.Mutable {
		flags &^= dlpack.ReadOnly
	}
	value := &shared{*r}
	cell, err := objects.give(value, sharedClass)
	if err != nil {
		return cell, err
	}
	number := uint64(cell.Value)
	objects.pinMemory(uint32(number), t)
	if m := lender(number, &t, flags); m != nil {
		return packed.Managed(m), nil
	}
	Release(number, 1)
	return packed.Cell{}, Errorf(MemoryError, "%s(): no memory for a result's shape", c.fn.label())
}

// pinMemory keeps the elements where they are until the host has dropped the tensor: cgo's rule for what C keeps.
func (t *table) pinMemory(place uint32, elements dlpack.Tensor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entryAt(place)
	e.pinner = new(runtime.Pinner)
	if elements.Data != nil {
		e.pinner.Pin(elements.Data)
	}
}

// isCallers reports whether a tensor shares memory with an argument, a callback's result or an output of the call.
func (c *Call) isCallers(t *dlpack.Tensor) bool {
	var room [8]member
	all := c.tensors(room[:0])
	for _, converted := range c.converted {
		all = add(all, converted.tensor, nil, -1)
	}
	for _, received := range c.received {
		all = add(all, received, nil, -1)
	}
	if c.ctx != nil {
		if uintptr(t.Start())-uintptr(c.ctx.scratch.Start) < uintptr(c.ctx.scratch.Size) {
			return true // a part of a small output
		}
		for _, m := range c.ctx.outputs {
			all = add(all, &m.Tensor, nil, -1)
		}
	}
	for i := range c.args.Len() {
		if c.args.Code(i) == packed.CodeBytes {
			if bytes, err := c.seeBytes(c.args.At(i), position{i, -1}); err == nil {
				all = add(all, bytes, nil, -1)
			}
		}
	}
	result := &add(nil, t, nil, -1)[0]
	for i := range all {
		if all[i].meets(result) {
			return true
		}
	}
	return false
}
