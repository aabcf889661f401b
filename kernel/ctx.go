package kernel

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// Ctx gives a running function access to its caller: memory for outputs (Empty), the stream to work on (Stream), and whether to
// continue (Err). Many goroutines may use it, until the function returns; after that Err returns an error.
//
// A nil *Ctx has no caller: memory is Go's, and Err is nil. It is for tests of functions in Go.
type Ctx struct {
	fn     *Func
	host   Host
	polled atomic.Int64          // when the host was polled last, since begin
	reason atomic.Pointer[error] // the reason to stop

	requests *requests // of other goroutines to the calling one, which waits for them (WithContext); nil: it does not

	// The used bytes of the scratch memory, a multiple of 64, with the mark asking; or ended. One word holds both, so that a
	// call without requests to the host needs no lock.
	state   atomic.Int64
	scratch Scratch

	mu      sync.Mutex                       // held during requests to the host: end waits for it
	outputs []*dlpack.ManagedTensorVersioned // the outputs in the host's memory that are not returned yet
	one     [1]*dlpack.ManagedTensorVersioned
	asked   *prototype // the prototype of requests to the host: the call's own, valid as long as the call
}

const (
	asking = 1  // the mutex is or was held
	ended  = -1 // has all bits: further marks do not change it
)

// A prototype is a record for an allocation, with room for its shape.
type prototype struct {
	dlpack.Tensor
	shape [8]int64
}

func (p *prototype) set(dtype dlpack.DType, device dlpack.Device, shape []int64) {
	p.Tensor = dlpack.Tensor{Device: device, NDim: int32(len(shape)), DType: dtype}
	if len(shape) == 0 {
		return
	}
	dims := p.shape[:]
	if len(shape) > len(dims) {
		dims = make([]int64, len(shape))
	}
	copy(dims, shape)
	p.Shape = &dims[0]
}

// pollEvery is the interval between polls of the host, too short for a person who presses Ctrl-C to notice.
const pollEvery = int64(10 * time.Millisecond)

var (
	begin    = time.Now()
	errEnded = errors.New("kernel: the call has ended: its Ctx must not be used any more")
)

// Ctx returns the call's context, the same at each call.
func (c *Call) Ctx() *Ctx {
	if c.ctx == nil {
		c.ctx = c.newCtx()
		c.ctx.fn, c.ctx.host, c.ctx.asked, c.ctx.scratch = c.fn, c.host, &c.asked, c.host.Scratch()
		c.ctx.outputs = c.ctx.one[:0]
	}
	return c.ctx
}

// newCtx returns an unused context, since functions may keep theirs. Allocating several at a time costs a fraction.
func (c *Call) newCtx() *Ctx {
	if len(c.fresh) == 0 {
		c.fresh = make([]Ctx, 16)
	}
	ctx := &c.fresh[0]
	c.fresh = c.fresh[1:]
	return ctx
}

// Err returns nil as long as the function may continue. A function that runs long calls it now and then, and returns the
// error: the user has pressed Ctrl-C. The host is polled at most every 10 ms, by the goroutine that called the function; other
// goroutines get the recorded error. A call of Err takes about as long as reading the clock.
func (ctx *Ctx) Err() error {
	if ctx == nil {
		return nil
	}
	if ctx.over() {
		return errEnded
	}
	if reason := ctx.reason.Load(); reason != nil {
		return *reason
	}
	now, polled := int64(time.Since(begin)), ctx.polled.Load()
	if polled == 0 { // the call has just begun, as far as the clock shows
		ctx.polled.CompareAndSwap(0, now)
		return nil
	}
	if now-polled < pollEvery {
		return nil
	}
	asked, err := ctx.host.Poll()
	if asked {
		ctx.polled.Store(now)
	}
	if err != nil {
		ctx.reason.CompareAndSwap(nil, &err)
	}
	return err
}

// Empty returns a new tensor in the caller's framework, compact and row-major, with unspecified contents. A function hands it
// over by returning it; outputs that are not returned are freed when the call ends. In both cases it must not be used after the
// call: another call reuses the memory of small outputs.
//
// It panics without memory, or for an invalid shape: the call then ends with the error (MemoryError, ValueError, BufferError),
// without a stack, as if the function had returned it.
func Empty[T tensor.Element](ctx *Ctx, shape ...int64) (v tensor.Mut[T]) {
	t, err := ctx.output(tensor.DTypeOf[T](), dlpack.Device{Type: dlpack.CPU}, shape)
	if err != nil {
		raise(err)
	}
	v.Assume(t)
	return v
}

// Zeros is Empty, filled with zeros.
func Zeros[T tensor.Element](ctx *Ctx, shape ...int64) tensor.Mut[T] {
	v := Empty[T](ctx, shape...)
	clear(v.Slice())
	return v
}

// EmptyOn is Empty on any device. On a GPU, call it in the calling goroutine: frameworks allocate in the order of the thread's
// current stream (Ctx.Stream). If the caller's framework cannot allocate there, the error is a BufferError.
func EmptyOn[T tensor.Element](ctx *Ctx, device dlpack.Device, shape ...int64) (v tensor.DeviceMut[T]) {
	t, err := ctx.output(tensor.DTypeOf[T](), device, shape)
	if err != nil {
		raise(err)
	}
	v.Assume(t)
	return v
}

// output makes an output, which the context owns.
func (ctx *Ctx) output(dtype dlpack.DType, device dlpack.Device, shape []int64) (*dlpack.Tensor, error) {
	if ctx == nil {
		if device.Type != dlpack.CPU {
			return nil, Errorf(BufferError, "want memory on %v, but this call has no caller that could allocate it", device)
		}
		return goTensor(dtype, shape)
	}
	if m := ctx.place(dtype, device, shape); m != nil {
		return &m.Tensor, nil
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	m, err := ctx.allocate(dtype, device, shape)
	if err != nil {
		return nil, err
	}
	if dtype.SubByte() && m.Flags.Has(dlpack.SubbytePadded) != paddedInGo(dtype) {
		ctx.host.Delete(m)
		return nil, Errorf(BufferError, "want memory for %v with one byte a lane, but the caller allocates packed lanes: return Go memory instead", dtype)
	}
	ctx.outputs = append(ctx.outputs, m)
	return &m.Tensor, nil
}

// countOf is dlpack.Elements for a shape that a function requests: a ValueError if it is invalid.
func countOf(shape []int64) (int64, error) {
	n, err := dlpack.Elements(shape)
	if err != nil {
		return 0, Errorf(ValueError, "%s", dlpack.MessageOf(err))
	}
	return n, nil
}

// goTensor makes an output in Go memory, without a caller.
func goTensor(dtype dlpack.DType, shape []int64) (*dlpack.Tensor, error) {
	n, err := countOf(shape)
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, dtype, paddedInGo(dtype))
	if err != nil {
		return nil, err
	}
	t := newRecord(dtype, shape, RowMajor)
	if size > 0 {
		t.Data = unsafe.Pointer(&make([][2]uint64, (size+15)/16)[0]) // aligned for all types
	}
	return t, nil
}

// allocate returns memory of the caller, checked against the request. The mutex is held: end must wait.
func (ctx *Ctx) allocate(dtype dlpack.DType, device dlpack.Device, shape []int64) (*dlpack.ManagedTensorVersioned, error) {
	if !ctx.mayCallHost() {
		return nil, errEnded
	}
	if _, err := countOf(shape); err != nil {
		return nil, err
	}
	ctx.asked.set(dtype, device, shape)
	m, err := ctx.host.Allocate(&ctx.asked.Tensor)
	if err != nil {
		return nil, err
	}
	if err := fresh(m, &ctx.asked.Tensor); err != nil {
		ctx.host.Delete(m)
		return nil, err
	}
	return m, nil
}

// memory is allocate for callers that do not hold the mutex. The context does not own the result.
func (ctx *Ctx) memory(dtype dlpack.DType, device dlpack.Device, shape []int64) (*dlpack.ManagedTensorVersioned, error) {
	if m := ctx.place(dtype, device, shape); m != nil {
		return m, nil
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	return ctx.allocate(dtype, device, shape)
}

// fresh checks that an allocator returned what was requested.
func fresh(m *dlpack.ManagedTensorVersioned, want *dlpack.Tensor) error {
	t := &m.Tensor
	if asIs(m, want) {
		return nil
	}
	if err := t.Validate(); err != nil {
		return dlpack.Wrap(err, "the caller's allocator")
	}
	asked := t.DType == want.DType && t.Device.Type == want.Device.Type && slices.Equal(t.ShapeSlice(), want.ShapeSlice())
	usable := dlpack.IsContiguous(t.ShapeSlice(), t.StridesSlice(), 'C') && t.Aligned() && !m.Flags.Has(dlpack.ReadOnly)
	if asked && usable {
		return nil
	}
	text := append(appendTensor([]byte("the caller's allocator: want compact and writable "), want), ", got "...)
	text = append(appendTensor(text, t), ", strides "...)
	return &Error{Kind: BufferError, Msg: string(appendNumbers(text, t.StridesSlice()))}
}

// asIs reports whether the allocator returned the usual record: the requested one, with compact strides.
func asIs(m *dlpack.ManagedTensorVersioned, want *dlpack.Tensor) bool {
	t := &m.Tensor
	if m.Flags != 0 || t.DType != want.DType || t.Device != want.Device || t.NDim != want.NDim || t.Data == nil || t.Strides == nil {
		return false
	}
	dims, steps, step := t.ShapeSlice(), t.StridesSlice(), int64(1)
	if len(dims) > 0 && t.Shape == nil {
		return false
	}
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != want.ShapeSlice()[i] || steps[i] != step || dims[i] == 0 {
			return false
		}
		step *= dims[i] // the requested extents: no overflow
	}
	return uintptr(t.Start())&uintptr(t.DType.Align()-1) == 0
}

// take returns the output in the host's memory that isIt selects, which the context then no longer owns; nil if there is none.
func (ctx *Ctx) take(isIt func(*dlpack.Tensor) bool) *dlpack.ManagedTensorVersioned {
	if ctx.state.Load()&asking == 0 {
		return nil
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	i := slices.IndexFunc(ctx.outputs, func(m *dlpack.ManagedTensorVersioned) bool { return isIt(&m.Tensor) })
	if i < 0 {
		return nil
	}
	m := ctx.outputs[i]
	ctx.outputs = slices.Delete(ctx.outputs, i, i+1)
	return m
}

// over reports whether the call has ended.
func (ctx *Ctx) over() bool { return ctx.state.Load() == ended }

// mayCallHost reports whether requests to the host are allowed. The mutex is held: end waits from now on.
func (ctx *Ctx) mayCallHost() bool { return ctx.state.Or(asking) != ended }

// end deletes the remaining outputs. Later uses of the context get an error.
func (ctx *Ctx) end() {
	if ctx.state.Swap(ended)&asking == 0 {
		return
	}
	ctx.mu.Lock()
	defer ctx.mu.Unlock()
	for _, m := range ctx.outputs {
		ctx.host.Delete(m)
	}
	ctx.outputs = nil
}
