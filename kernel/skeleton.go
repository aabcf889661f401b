package kernel

import (
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// The signatures of this package as they will stay; bodies follow.

type (
	Kind    uint8 // JSON: by name ("bool", "int", "float", "str", "bytes", "dtype", "device", "callable", "tensor", "list")
	Extent  string
	Order   string
	DTypes  []dlpack.DType // JSON: names
	Default struct {
		Text string // Python's: ast.literal_eval reads it
		cell packed.Cell
	}
	Func struct {
		Name    string            `json:"name"`
		Doc     string            `json:"doc,omitempty"`
		Params  []Param           `json:"params"`
		Results []Param           `json:"results"`
		HoldGIL bool              `json:"hold_gil,omitempty"`
		Do      func(*Call) error `json:"-"`
	}
	Param struct {
		Name       string   `json:"name,omitempty"`
		Kind       Kind     `json:"kind"`
		Elem       *Param   `json:"elem,omitempty"`
		Optional   bool     `json:"optional,omitempty"`
		Default    *Default `json:"default,omitempty"` // JSON: its text
		Bits       int      `json:"bits,omitempty"`
		Unsigned   bool     `json:"unsigned,omitempty"`
		DTypes     DTypes   `json:"dtypes,omitempty"`
		Var        string   `json:"var,omitempty"`
		Shape      []Extent `json:"shape"` // null: any rank; []: no axes
		Order      Order    `json:"order,omitempty"`
		Device     string   `json:"device,omitempty"`
		Mutable    bool     `json:"mutable,omitempty"`
		Convert    bool     `json:"convert,omitempty"`
		MayOverlap bool     `json:"may_overlap,omitempty"`
	}
	Call     struct{}
	Ctx      struct{}
	Callable struct{ p unsafe.Pointer }
	Integer  interface {
		~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
	}
	Real interface{ ~float32 | ~float64 }
	Host interface {
		Allocate(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error)
		Delete(*dlpack.ManagedTensorVersioned)
		Poll() error
		Invoke(callable unsafe.Pointer, args packed.Args, ret *packed.Ret) error
		packed.Memory
	}
)

const (
	KindBool Kind = iota + 1
	KindInt
	KindFloat
	KindString
	KindBytes
	KindDType
	KindDevice
	KindCallable
	KindTensor
	KindList
)

const (
	BufferError  = dlpack.KindBuffer
	TypeError    = dlpack.KindType
	ValueError   = dlpack.KindValue
	RuntimeError = dlpack.KindRuntime
	MemoryError  = dlpack.KindMemory
	IndexError   = dlpack.KindIndex
)

func Errorf(k dlpack.Kind, format string, a ...any) error { return dlpack.Errorf(k, format, a...) }

// DefaultOf: nil, bool, int, int64, float64, string, []byte, dlpack.DType, dlpack.Device, []int64, []float64, []string, []bool.
func DefaultOf(value any) *Default { return nil }

func Register(f Func)                                                   {}
func Prepare(f Func) (*Func, error)                                     { return &f, nil }
func Funcs() []*Func                                                    { return nil }
func (f *Func) Signature() string                                       { return "" }
func (f *Func) Docstring() string                                       { return "" }
func (f *Func) Stub() string                                            { return "" }
func (f *Func) Call(args packed.Args, ret *packed.Ret, host Host) error { return nil }

func Of[T tensor.Element](c *Call, i int) (v tensor.Of[T])               { return }
func Mut[T tensor.Element](c *Call, i int) (v tensor.Mut[T])             { return }
func DeviceOf[T tensor.Element](c *Call, i int) (v tensor.DeviceOf[T])   { return }
func DeviceMut[T tensor.Element](c *Call, i int) (v tensor.DeviceMut[T]) { return }
func OfList[T tensor.Element](c *Call, i int) (v []tensor.Of[T])         { return }
func MutList[T tensor.Element](c *Call, i int) (v []tensor.Mut[T])       { return }
func Int[T Integer](c *Call, i int) (v T)                                { return }
func Float[T Real](c *Call, i int) (v T)                                 { return }
func Ints[T Integer](c *Call, i int) (v []T)                             { return }
func Floats[T Real](c *Call, i int) (v []T)                              { return }

func (c *Call) Bool(i int) (v bool)            { return }
func (c *Call) String(i int) (v string)        { return }
func (c *Call) Bytes(i int) (v []byte)         { return }
func (c *Call) DType(i int) (v dlpack.DType)   { return }
func (c *Call) Device(i int) (v dlpack.Device) { return }
func (c *Call) Callable(i int) (v Callable)    { return }
func (c *Call) Strings(i int) (v []string)     { return }
func (c *Call) Bools(i int) (v []bool)         { return }
func (c *Call) Given(i int) (v bool)           { return }

// TypeOf: dtype of tensor argument i, or of its type variable: what generic functions switch on.
func (c *Call) TypeOf(i int) (v dlpack.DType) { return }
func (c *Call) Ctx() (v *Ctx)                 { return }

// One per result, in order.
func Return[T tensor.Element](c *Call, v tensor.Of[T])                 {}
func ReturnMut[T tensor.Element](c *Call, v tensor.Mut[T])             {}
func ReturnDeviceOf[T tensor.Element](c *Call, v tensor.DeviceOf[T])   {}
func ReturnDeviceMut[T tensor.Element](c *Call, v tensor.DeviceMut[T]) {}
func ReturnList[T tensor.Element](c *Call, v []tensor.Of[T])           {}
func ReturnMutList[T tensor.Element](c *Call, v []tensor.Mut[T])       {}
func ReturnInts[T Integer](c *Call, v []T)                             {}
func ReturnFloats[T Real](c *Call, v []T)                              {}
func (c *Call) ReturnNone()                                            {}
func (c *Call) ReturnBool(v bool)                                      {}
func (c *Call) ReturnInt(v int64)                                      {}
func (c *Call) ReturnUint(v uint64)                                    {}
func (c *Call) ReturnFloat(v float64)                                  {}
func (c *Call) ReturnString(v string)                                  {}
func (c *Call) ReturnBytes(v []byte)                                   {}
func (c *Call) ReturnDType(v dlpack.DType)                             {}
func (c *Call) ReturnDevice(v dlpack.Device)                           {}
func (c *Call) ReturnStrings(v []string)                               {}
func (c *Call) ReturnBools(v []bool)                                   {}

func Empty[T tensor.Element](ctx *Ctx, shape ...int64) (v tensor.Mut[T]) { return }
func Zeros[T tensor.Element](ctx *Ctx, shape ...int64) (v tensor.Mut[T]) { return }
func EmptyOn[T tensor.Element](ctx *Ctx, device dlpack.Device, shape ...int64) (v tensor.DeviceMut[T]) {
	return
}
func (ctx *Ctx) Err() error                                 { return nil }
func Parallel(ctx *Ctx, n int, body func(lo, hi int))       {}
func (f Callable) Call(args ...any) (result any, err error) { return nil, nil }
