package kernel

import (
	"unsafe"

	"godlpack/dlpack"
)

// Scratch is memory of the host for the small outputs of one call, on the CPU: Size bytes from Start on, aligned to 64, or
// none. The host copies the returned outputs, which costs less than an allocation request while the call is in Go.
type Scratch struct {
	Start unsafe.Pointer
	Size  int
}

// place returns a new output in the scratch memory, which has no owner and ends with the call. It is nil if it does not fit, or
// is on another device.
func (ctx *Ctx) place(d dlpack.DType, device dlpack.Device, shape []int64) *dlpack.ManagedTensorVersioned {
	if d.SubByte() || device != (dlpack.Device{Type: dlpack.CPU}) {
		return nil
	}
	head := headSize(len(shape))
	size, most := int64(d.ItemSize(false)), int64(ctx.scratch.Size-head)
	for _, n := range shape {
		if n <= 0 || n > most { // prevents overflows
			return nil
		}
		if size *= n; size > most {
			return nil
		}
	}
	start := ctx.takeScratch(int64(head + roundUp(int(size))))
	if start == nil {
		return nil
	}
	clear(unsafe.Slice((*byte)(start), head)) // removes data that Go's collector would take for pointers on an overwrite
	return layOut(start, d, device, shape)
}

// takeScratch returns size bytes of the scratch memory, a multiple of 64, for one goroutine alone; nil if fewer are left.
func (ctx *Ctx) takeScratch(size int64) unsafe.Pointer {
	for {
		state := ctx.state.Load()
		used := state &^ asking
		if state == ended || size > int64(ctx.scratch.Size)-used {
			return nil
		}
		if ctx.state.CompareAndSwap(state, state+size) {
			return unsafe.Add(ctx.scratch.Start, used)
		}
	}
}

// placed returns the output in the scratch memory whose shape lies at that address, nil if there is none. All views of a whole
// output have its shape's address; those of a part of it have another.
func (ctx *Ctx) placed(shape []int64) *dlpack.ManagedTensorVersioned {
	dims := unsafe.SliceData(shape)
	at := uintptr(unsafe.Pointer(dims)) - uintptr(ctx.scratch.Start)
	if at >= uintptr(ctx.scratch.Size) || at < uintptr(recordSize) || (at-uintptr(recordSize))%64 != 0 {
		return nil
	}
	m := (*dlpack.ManagedTensorVersioned)(unsafe.Add(ctx.scratch.Start, at-uintptr(recordSize)))
	if m.Tensor.Shape != dims {
		return nil
	}
	return m
}
