package kernel_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// A fakeHost is a host over Go memory that counts allocations and deletions.
type fakeHost struct {
	mu      sync.Mutex
	blocks  map[unsafe.Pointer][][2]uint64
	outputs map[*dlpack.ManagedTensorVersioned][]any // with all memory that they refer to

	allocate func(*dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) // nil: allocates
	poll     func() (bool, error)                                         // nil: continue
	invoke   func(unsafe.Pointer, packed.Args, *packed.Ret) error
	stream   func(dlpack.Device) (uintptr, error) // nil: the default one
	full     bool                                 // no more blocks
	scratch  [][8]uint64                          // for small outputs
}

func newHost() *fakeHost {
	return &fakeHost{blocks: map[unsafe.Pointer][][2]uint64{}, outputs: map[*dlpack.ManagedTensorVersioned][]any{}}
}

func (h *fakeHost) Alloc(size int) unsafe.Pointer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.full {
		return nil
	}
	block := make([][2]uint64, size/16+1)
	h.blocks[unsafe.Pointer(&block[0])] = block
	return unsafe.Pointer(&block[0])
}

func (h *fakeHost) Free(p unsafe.Pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ours := h.blocks[p]; !ours {
		panic("freed what is not allocated")
	}
	delete(h.blocks, p)
}

func (h *fakeHost) Allocate(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	if h.allocate != nil {
		return h.allocate(prototype)
	}
	return h.memory(prototype)
}

func (h *fakeHost) memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	n, err := prototype.Size()
	if err != nil {
		return nil, err
	}
	size, err := dlpack.DataSize(n, prototype.DType, false)
	if err != nil {
		return nil, err
	}
	if size > 1<<24 {
		return nil, kernel.Errorf(kernel.MemoryError, "want at most 16 MB, got %d", size)
	}
	m := &dlpack.ManagedTensorVersioned{Version: dlpack.Current, Tensor: *prototype}
	axes := slices.Concat(prototype.ShapeSlice(), prototype.ShapeSlice())
	data := make([][2]uint64, size/16+1)
	for i := range data {
		data[i] = [2]uint64{0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa}
	}
	if d := len(axes) / 2; d > 0 {
		dlpack.CompactStrides(axes[d:], axes[:d])
		m.Tensor.Shape, m.Tensor.Strides = &axes[0], &axes[d]
	}
	if size > 0 {
		m.Tensor.Data = unsafe.Pointer(&data[0])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outputs[m] = []any{axes, data}
	return m, nil
}

func (h *fakeHost) Delete(m *dlpack.ManagedTensorVersioned) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ours := h.outputs[m]; !ours && !h.inScratch(unsafe.Pointer(m)) {
		panic("deleted what is not allocated")
	}
	delete(h.outputs, m)
}

func (h *fakeHost) Scratch() kernel.Scratch {
	return kernel.Scratch{Start: unsafe.Pointer(unsafe.SliceData(h.scratch)), Size: 64 * len(h.scratch)}
}

func (h *fakeHost) Poll() (bool, error) {
	if h.poll == nil {
		return true, nil
	}
	return h.poll()
}

func (h *fakeHost) Invoke(f unsafe.Pointer, args packed.Args, ret *packed.Ret) error {
	return h.invoke(f, args, ret)
}

func (h *fakeHost) Stream(device dlpack.Device) (uintptr, error) {
	if h.stream == nil {
		return 0, nil
	}
	return h.stream(device)
}

// balanced fails the test unless all memory was returned.
func (h *fakeHost) balanced(t *testing.T) {
	t.Helper()
	if len(h.blocks) != 0 || len(h.outputs) != 0 {
		t.Errorf("left: %d blocks, %d outputs", len(h.blocks), len(h.outputs))
	}
}

// A call is arguments with all memory that they refer to, and the place for a result.
type call struct {
	args packed.Args
	kept []any
	ret  packed.Ret
}

// flagged is a tensor with flags beside it.
type flagged struct {
	tensor *dlpack.Tensor
	flags  dlpack.Flags
}

// vouched returns arguments as from a host that has checked its tensors, which skips checks.
func vouched(values []any) []any {
	all := slices.Clone(values)
	for i, v := range all {
		switch v := v.(type) {
		case *dlpack.Tensor:
			if v.Validate() == nil {
				all[i] = flagged{v, packed.Checked}
			}
		case flagged:
			all[i] = flagged{v.tensor, v.flags | packed.Checked}
		}
	}
	return all
}

// missing is an argument that is not given.
type missing struct{}

// newCall packs arguments. A []any is a list.
func newCall(values ...any) *call {
	c := &call{ret: packed.Ret{Value: new(packed.Value), Code: new(packed.Code)}}
	n := len(values)
	packedValues, codes, flags := make([]packed.Value, n), make([]packed.Code, n), make([]dlpack.Flags, n)
	for i, v := range values {
		var cell packed.Cell
		cell, flags[i] = c.cell(v)
		packedValues[i], codes[i] = cell.Value, cell.Code
	}
	c.args = packed.Slices(packedValues, codes, flags)
	return c
}

func (c *call) cell(value any) (packed.Cell, dlpack.Flags) {
	memory := &kept{}
	c.kept = append(c.kept, value, memory)
	switch v := value.(type) {
	case nil:
		return packed.Null, 0
	case missing:
		return packed.Cell{Code: packed.CodeDefault}, 0
	case packed.Cell:
		return v, 0
	case bool:
		return packed.Bool(v), 0
	case int:
		return packed.Int(int64(v)), 0
	case float64:
		return packed.Float(v), 0
	case string:
		cell, _ := packed.NewText(memory, v)
		return cell, 0
	case []byte:
		cell, _ := packed.NewBytes(memory, v)
		return cell, 0
	case dlpack.DType:
		return packed.DType(v), 0
	case dlpack.Device:
		return packed.Device(v), 0
	case *dlpack.Tensor:
		return packed.Tensor(v), 0
	case flagged:
		return packed.Tensor(v.tensor), v.flags
	case []any:
		inner := newCall(v...)
		cells := make([]packed.Cell, len(v))
		for i := range cells {
			cells[i] = inner.args.At(i)
		}
		c.kept = append(c.kept, inner)
		cell, _ := packed.NewList(memory, packed.CodeList, cells)
		return cell, 0
	}
	panic("newCall: no such argument")
}

// kept is memory that lives as long as the kept value.
type kept struct{ blocks [][][2]uint64 }

func (m *kept) Alloc(size int) unsafe.Pointer {
	m.blocks = append(m.blocks, make([][2]uint64, size/16+1))
	return unsafe.Pointer(&m.blocks[len(m.blocks)-1][0])
}

func (m *kept) Free(unsafe.Pointer) {}

// of calls f with c.
func (c *call) of(f *kernel.Func, h kernel.Host) error {
	err := f.Call(c.args, &c.ret, h)
	runtime.KeepAlive(c)
	return err
}

// record returns a tensor's record over data, which it keeps alive.
func record[T tensor.Element](data []T, shape ...int64) *dlpack.Tensor {
	v, err := tensor.FromSlice(data, shape...)
	if err != nil {
		panic(err)
	}
	return recordOf(v)
}

func recordOf[T tensor.Element](v tensor.Mut[T]) *dlpack.Tensor {
	r := v.Record()
	held := &struct {
		t dlpack.Tensor
		r tensor.Record
	}{r: r}
	held.t = held.r.Tensor()
	return &held.t
}

// strided is record with strides.
func strided[T tensor.Element](data []T, offset int, shape, strides []int64) *dlpack.Tensor {
	v, err := tensor.FromStrided(data, offset, shape, strides)
	if err != nil {
		panic(err)
	}
	return recordOf(v)
}

// prepare makes a function from a declaration.
func prepare(t testing.TB, f kernel.Func) *kernel.Func {
	t.Helper()
	if f.Name == "" {
		f.Name = "f"
	}
	ready, err := kernel.Prepare(f)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// tensorOf declares a tensor.
func tensorOf(name string, dtypes []dlpack.DType, shape ...kernel.Extent) kernel.Param {
	return kernel.Param{Name: name, Kind: kernel.KindTensor, DTypes: dtypes, Shape: shape}
}

var float32s = []dlpack.DType{dlpack.Float32}

// result converts the call's result to a Go value, and releases it.
func (c *call) result(t testing.TB, h *fakeHost) any {
	t.Helper()
	cell := c.ret.Get()
	value := goValue(t, cell)
	kernel.Drop(h, cell)
	c.ret.Set(packed.Null)
	return value
}

// goValue returns a cell as nil, bool, int64, float64, string, []byte, dlpack.DType, dlpack.Device, argument, []float64 of a
// tensor, or []any.
func goValue(t testing.TB, cell packed.Cell) any {
	t.Helper()
	value, err := any(nil), error(nil)
	switch cell.Code {
	case packed.CodeNull:
	case packed.CodeBool:
		value, err = cell.Bool()
	case packed.CodeInt:
		value, err = cell.Int()
	case packed.CodeUint:
		value, err = cell.Uint()
	case packed.CodeFloat:
		value, err = cell.Float()
	case packed.CodeText, packed.CodePart:
		var text string
		text, err = cell.Text()
		value = string([]byte(text))
	case packed.CodeBytes:
		var b []byte
		b, err = cell.Bytes()
		value = slices.Clone(b)
	case packed.CodeDType:
		value, err = cell.DType()
	case packed.CodeDevice:
		value, err = cell.Device()
	case packed.CodeArgument:
		var i int
		i, err = cell.Argument()
		value = argument(i)
	case packed.CodeManaged:
		value = numbers(t, cell)
	case packed.CodeList, packed.CodeTuple:
		var list packed.Args
		list, err = cell.List()
		all := []any{}
		for i := range list.Len() {
			all = append(all, goValue(t, list.At(i)))
		}
		value = all
	default:
		t.Fatalf("a result of code %v", cell.Code)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

type argument int

func numbers(t testing.TB, cell packed.Cell) []float64 {
	t.Helper()
	record, err := cell.Tensor()
	if err == nil {
		err = record.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	all := []float64{}
	for s := range tensor.Values(record, false) {
		all = append(all, s.Float64())
	}
	return all
}
