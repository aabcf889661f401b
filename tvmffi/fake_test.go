package tvmffi

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// indexError is the type index of an Error.
const indexError packed.TypeIndex = 67

// A fake is libtvm_ffi over Go memory. It counts the references to its objects, and fails on request.
type fake struct {
	t      *testing.T
	mu     sync.Mutex
	live   map[*object]*box
	raised *object

	failing   string // the method that fails from now on
	offering  bool   // the caller has an allocator
	stopping  bool
	functions map[string]*object
}

// A box is an object's Go data.
type box struct {
	memory any // the object itself, and all memory it refers to
	parts  []packed.Any
	call   func(args []packed.Any, result *packed.Any) bool
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, live: map[*object]*box{}, functions: map[string]*object{}}
	t.Cleanup(f.balanced)
	return f
}

// balanced fails the test unless all objects are freed, except global and raised ones.
func (f *fake) balanced() {
	for _, o := range f.functions {
		f.release(o)
	}
	if f.raised != nil {
		f.release(f.raised)
	}
	if len(f.live) > 0 {
		f.t.Errorf("%d objects are left", len(f.live))
	}
}

// add makes an object with one reference.
func add[T any](f *fake, index packed.TypeIndex, body T, b *box) *object {
	memory := &struct {
		object
		body T
	}{object{counts: 1, index: index}, body}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[&memory.object] = b
	b.memory = [2]any{memory, b.memory}
	return &memory.object
}

func (f *fake) retain(o *object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[o] == nil {
		f.t.Error("an object was used that is gone")
	}
	o.counts++
}

func (f *fake) release(o *object) {
	f.mu.Lock()
	b := f.live[o]
	if b == nil {
		f.t.Error("an object was released that is gone")
	} else if o.counts--; o.counts == 0 {
		delete(f.live, o)
	} else {
		b = nil
	}
	f.mu.Unlock()
	if b == nil {
		return
	}
	for i := range b.parts {
		if b.parts[i].Index >= firstObject {
			f.release(objectOf(&b.parts[i]))
		}
	}
}

func (f *fake) own(view, result *packed.Any) bool {
	if f.fails("own") {
		return false
	}
	if view.Index >= firstObject {
		f.retain(objectOf(view))
	}
	*result = *view
	return true
}

// fails raises an error if the method of that name is to fail.
func (f *fake) fails(name string) bool {
	if f.failing != name {
		return false
	}
	e := f.newError("OSError", name+" failed")
	f.setError(e)
	f.release(e)
	return true
}

func (f *fake) newFunction(handle uintptr) *object {
	if handle == 0 {
		f.t.Error("a function got no handle")
	}
	return add(f, packed.AnyFunction, handle, &box{})
}

func (f *fake) setGlobal(name string, o *object) bool {
	if f.fails("setGlobal") {
		return false
	}
	f.retain(o)
	if old := f.functions[name]; old != nil {
		f.release(old)
	}
	f.functions[name] = o
	return true
}

func (f *fake) global(name string) *object {
	if name == "ffi.Array" {
		return f.function(f.array)
	}
	return nil
}

// function makes an object that can be called.
func (f *fake) function(do func(args []packed.Any, result *packed.Any) bool) *object {
	return add(f, packed.AnyFunction, 0, &box{call: do})
}

// array is ffi.Array.
func (f *fake) array(args []packed.Any, result *packed.Any) bool {
	parts := append([]packed.Any{}, args...)
	for i := range parts {
		f.own(&args[i], &parts[i])
	}
	*result = anyOf(add(f, indexArray, sequence{data: unsafe.SliceData(parts), size: int64(len(parts))}, &box{parts: parts}))
	return true
}

func (f *fake) callFunction(o *object, args []packed.Any, result *packed.Any) bool {
	return !f.fails("callFunction") && f.live[o].call(args, result)
}

func (f *fake) newText(text string, result *packed.Any) bool {
	return f.newBlock(indexStr, []byte(text), result)
}

func (f *fake) newBytes(data []byte, result *packed.Any) bool {
	return f.newBlock(indexBytes, data, result)
}

func (f *fake) newBlock(index packed.TypeIndex, data []byte, result *packed.Any) bool {
	if f.fails("newText") {
		return false
	}
	copied := append(bytes.Clone(data), 0)
	*result = anyOf(add(f, index, packed.ByteArray{Data: &copied[0], Size: uintptr(len(data))}, &box{}))
	return true
}

func (f *fake) typeKey(packed.TypeIndex) string { return "fake.Type" }

func (f *fake) stream(d dlpack.Device) uintptr { return 0x5000 + uintptr(d.ID) }

func (f *fake) allocates() bool { return f.offering }

func (f *fake) allocate(prototype *dlpack.Tensor) *object {
	if f.fails("allocate") {
		return nil
	}
	m, err := f.memory(prototype)
	if err != nil {
		f.t.Error(err)
		return nil
	}
	return f.newTensor(m)
}

func (f *fake) memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	return kernel.NewMemory(prototype, func(head, size int) unsafe.Pointer {
		block := make([][8]uint64, (head+size)/64+1)
		start := unsafe.Pointer(&block[0])
		return unsafe.Add(start, -uintptr(start)&63)
	})
}

func (f *fake) newTensor(m *dlpack.ManagedTensorVersioned) *object {
	if f.fails("newTensor") {
		return nil
	}
	return add(f, indexTensor, m.Tensor, &box{memory: m})
}

func (f *fake) delete(*dlpack.ManagedTensorVersioned) {}

func (f *fake) newError(kind, message string) *object {
	return add(f, indexError, errorCell{*arrayOf(unsafe.StringData(kind), len(kind)), *arrayOf(unsafe.StringData(message), len(message))}, &box{})
}

func (f *fake) setError(o *object) {
	f.retain(o)
	if f.raised != nil {
		f.release(f.raised)
	}
	f.raised = o
}

func (f *fake) takeError() *object {
	o := f.raised
	f.raised = nil
	return o
}

func (f *fake) checkSignals() bool { return !f.stopping }

var _ ffi = (*fake)(nil)
