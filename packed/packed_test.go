package packed

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/gcstress"
)

// The bytes of a value match those of C's union.
func TestValuesLieAsInC(t *testing.T) {
	for _, c := range []struct {
		name  string
		value Value
		want  []byte
	}{
		{"int", IntValue(-2), []byte{254, 255, 255, 255, 255, 255, 255, 255}},
		{"float", FloatValue(1), []byte{0, 0, 0, 0, 0, 0, 240, 63}},
		{"dtype", DTypeValue(dlpack.DType{Code: 2, Bits: 32, Lanes: 0x0102}), []byte{2, 32, 2, 1, 0, 0, 0, 0}},
		{"device", DeviceValue(dlpack.Device{Type: 2, ID: -1}), []byte{2, 0, 0, 0, 255, 255, 255, 255}},
		{"pointer", PointerValue(unsafe.Pointer(nil)), make([]byte, 8)},
	} {
		if got := unsafe.Slice((*byte)(unsafe.Pointer(&c.value)), 8); !bytes.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// A value would not follow a variable on a stack that moves, so PointerValue moves the variable to the heap.
func TestPointersStay(t *testing.T) {
	var x dlpack.Tensor
	cell := Tensor(&x)
	if gcstress.MoveStack(); cell.Value.Tensor() != &x {
		t.Error("the tensor moved")
	}
}

// reads are all ways to read a cell.
var reads = map[string]func(Cell) (any, error){
	"int":      func(c Cell) (any, error) { return wrap(c.Int()) },
	"float":    func(c Cell) (any, error) { return wrap(c.Float()) },
	"bool":     func(c Cell) (any, error) { return wrap(c.Bool()) },
	"DType":    func(c Cell) (any, error) { return wrap(c.DType()) },
	"Device":   func(c Cell) (any, error) { return wrap(c.Device()) },
	"str":      func(c Cell) (any, error) { return wrap(c.Text()) },
	"bytes":    func(c Cell) (any, error) { v, err := c.Bytes(); return string(v), err },
	"argument": func(c Cell) (any, error) { return wrap(c.Argument()) },
	"list":     func(c Cell) (any, error) { v, err := c.List(); return v.Len(), err },
}

func wrap[T any](v T, err error) (any, error) { return v, err }

// All conversions between types by TVM's rules; all others are a TypeError that names both.
func TestConversions(t *testing.T) {
	m := &goMemory{}
	text, _ := NewText(m, "a\x00b")
	data, _ := NewBytes(m, []byte{0, 1})
	list, _ := NewList(m, CodeList, []Cell{Int(1), Null})
	zero := [9]byte([]byte("C string\x00"))
	str := Cell{PointerValue(unsafe.Pointer(&zero)), CodeStr}
	defer runtime.KeepAlive([]any{m, &zero})
	for _, c := range []struct {
		cell Cell
		want map[string]any
	}{
		{Int(-3), map[string]any{"int": int64(-3), "float": -3.0, "bool": true}},
		{Bool(true), map[string]any{"int": int64(1), "float": 1.0, "bool": true}},
		{Bool(false), map[string]any{"int": int64(0), "float": 0.0, "bool": false}},
		{Float(0.5), map[string]any{"float": 0.5}},
		{Null, map[string]any{}},
		{DType(dlpack.BFloat16), map[string]any{"DType": dlpack.BFloat16}},
		{Device(dlpack.Device{Type: 2, ID: 7}), map[string]any{"Device": dlpack.Device{Type: 2, ID: 7}}},
		{text, map[string]any{"str": "a\x00b"}},
		{str, map[string]any{"str": "C string"}},
		{data, map[string]any{"bytes": "\x00\x01"}},
		{list, map[string]any{"list": 2}},
		{Argument(3), map[string]any{"argument": 3}},
		{Cell{Code: 99}, map[string]any{}},
	} {
		for name, read := range reads {
			got, err := read(c.cell)
			want, can := c.want[name]
			switch {
			case can && (err != nil || got != want):
				t.Errorf("%v as %s: got %v, %v, want %v", c.cell.Code, name, got, err, want)
			case !can && (err == nil || err.Error() != "TypeError: want "+name+", got "+c.cell.Code.String()):
				t.Errorf("%v as %s: got %v", c.cell.Code, name, err)
			}
		}
	}
}

func TestPointers(t *testing.T) {
	x := &dlpack.Tensor{NDim: 3}
	m := &dlpack.ManagedTensorVersioned{Tensor: dlpack.Tensor{NDim: 4}}
	if got, err := Tensor(x).Tensor(); got != x || err != nil {
		t.Errorf("tensor: got %p, %v", got, err)
	}
	if got, err := Managed(m).Tensor(); got != &m.Tensor || err != nil {
		t.Errorf("managed tensor: got %p, %v", got, err)
	}
	if got, err := Null.Tensor(); got != nil || err != nil {
		t.Errorf("None: got %p, %v", got, err)
	}
	if got, err := (Cell{PointerValue(unsafe.Pointer(x)), CodeCallable}).Pointer(); got != unsafe.Pointer(x) || err != nil {
		t.Errorf("callable: got %p, %v", got, err)
	}
	if got, err := Null.Pointer(); got != nil || err != nil {
		t.Errorf("None as pointer: got %p, %v", got, err)
	}
	if _, err := Int(3).Tensor(); err == nil || err.Error() != "TypeError: want Tensor, got int" {
		t.Errorf("int: got %v", err)
	}
}

// A small number is rejected wherever an address is expected. It must not get into a Go pointer.
func TestSmallNumbersAreNoPointers(t *testing.T) {
	for _, v := range []Value{0, 1, dlpack.MinAddress - 1} {
		for _, code := range []Code{CodeTensor, CodeManaged, CodeStr, CodeText, CodePart, CodeBytes, CodeList, CodeTuple, CodeHandle, CodeCallable} {
			c := Cell{v, code}
			_, e1 := c.Tensor()
			_, e2 := c.Text()
			_, e3 := c.Bytes()
			_, e4 := c.List()
			_, e5 := c.Pointer()
			found := false
			for _, err := range []error{e1, e2, e3, e4, e5} {
				found = found || dlpack.KindOf(err) == dlpack.KindValue && strings.Contains(err.Error(), "got 0x")
				if err == nil {
					t.Errorf("%#x as %v was read", v, code)
				}
			}
			if !found {
				t.Errorf("%#x as %v: no error says so", v, code)
			}
		}
	}
	bad := &List{N: 1, Values: nil, Codes: nil}
	defer runtime.KeepAlive(bad)
	if _, err := (Cell{PointerValue(unsafe.Pointer(bad)), CodeList}).List(); dlpack.KindOf(err) != dlpack.KindValue || err == nil {
		t.Errorf("a list at NULL: got %v", err)
	}
	bad.N = -1
	if _, err := (Cell{PointerValue(unsafe.Pointer(bad)), CodeList}).List(); err == nil {
		t.Error("a list of -1 elements was read")
	}
	array := &ByteArray{Data: nil, Size: 3}
	defer runtime.KeepAlive(array)
	if _, err := (Cell{PointerValue(unsafe.Pointer(array)), CodeBytes}).Bytes(); err == nil {
		t.Error("3 bytes at NULL were read")
	}
}

func TestUint(t *testing.T) {
	if c := Uint(math.MaxInt64); c != Int(math.MaxInt64) {
		t.Errorf("got %v", c)
	}
	big, huge := Uint(1<<63+1024), Cell{FloatValue(-1e30), CodeHuge}
	if v, err := big.Uint(); err != nil || v != 1<<63+1024 {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := big.Float(); err != nil || v != 1<<63 {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := huge.Float(); err != nil || v != -1e30 {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestUintRefuses(t *testing.T) {
	uint := func(c Cell) error { _, err := c.Uint(); return err }
	int := func(c Cell) error { _, err := c.Int(); return err }
	for want, err := range map[string]error{
		"OverflowError: want an int of at most 9223372036854775807, got 9223372036854775808":                          int(Uint(1 << 63)),
		"OverflowError: want an int that fits into 64 bits, got one of about 1e+30":                                   uint(Cell{FloatValue(1e30), CodeHuge}),
		"ValueError: want an int of at least 0, got -1":                                                               uint(Int(-1)),
		"TypeError: want int, got float":                                                                              uint(Float(1)),
		"ValueError: want an integer of at most 9223372036854775807, the largest of tvm-ffi, got 9223372036854775808": func() error { _, err := Uint(1 << 63).Any(); return err }(),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// goMemory is Memory in Go, with counters.
type goMemory struct {
	blocks map[unsafe.Pointer][][2]uint64
	full   bool
}

func (m *goMemory) Alloc(size int) unsafe.Pointer {
	if m.full {
		return nil
	}
	if m.blocks == nil {
		m.blocks = map[unsafe.Pointer][][2]uint64{}
	}
	block := make([][2]uint64, size/16+1)
	m.blocks[unsafe.Pointer(&block[0])] = block
	return unsafe.Pointer(&block[0])
}

func (m *goMemory) Free(p unsafe.Pointer) { delete(m.blocks, p) }

func TestTexts(t *testing.T) {
	m := &goMemory{}
	for n := range 5 {
		texts := []string{"", "abc", "a\x00b", "\xff", strings.Repeat("é", 40)}[:n]
		cell, err := NewTexts(m, texts)
		if err != nil || len(m.blocks) != 1 {
			t.Fatalf("%q: got %v and %d blocks, want one", texts, err, len(m.blocks))
		}
		list, err := cell.List()
		if err != nil || list.Len() != n {
			t.Fatalf("%q: got %d elements, %v", texts, list.Len(), err)
		}
		for i, want := range texts {
			got, err := list.At(i).Text()
			if err != nil || got != want {
				t.Errorf("%q: got %q, %v", want, got, err)
			}
			array := (*ByteArray)(list.At(i).Value.pointer())
			if end := unsafe.Slice(array.Data, len(want)+1)[len(want)]; end != 0 {
				t.Errorf("%q: ends with %d, want NUL", want, end)
			}
		}
		Drop(m, cell, nil, nil)
		if len(m.blocks) != 0 {
			t.Errorf("%q: %d blocks are left", texts, len(m.blocks))
		}
	}
	if _, err := NewTexts(noMemory{}, []string{"a"}); err == nil {
		t.Error("no memory: got no error")
	}
}

func TestBlocks(t *testing.T) {
	m := &goMemory{}
	text, _ := NewText(m, "abc")
	array := (*ByteArray)(text.Value.pointer())
	if got := unsafe.Slice(array.Data, 4); string(got) != "abc\x00" {
		t.Errorf("text: got %q", got)
	}
	inner, _ := NewList(m, CodeTuple, []Cell{text, Int(1)})
	managed := &dlpack.ManagedTensorVersioned{}
	outer, _ := NewList(m, CodeList, []Cell{inner, Managed(managed), Object(7)})
	list, err := outer.List()
	if err != nil || list.Len() != 3 || list.FlagsAt(1) != 0 {
		t.Fatalf("list: got %v, %v", list, err)
	}
	if len(m.blocks) != 3 {
		t.Errorf("%d blocks, want 3", len(m.blocks))
	}
	var removed []*dlpack.ManagedTensorVersioned
	var released []uint64
	Drop(m, outer, func(t *dlpack.ManagedTensorVersioned) { removed = append(removed, t) },
		func(number uint64) { released = append(released, number) })
	if len(m.blocks) != 0 || !slices.Equal(removed, []*dlpack.ManagedTensorVersioned{managed}) || !slices.Equal(released, []uint64{7}) {
		t.Errorf("after Drop: %d blocks, %d tensors removed, objects %d released", len(m.blocks), len(removed), released)
	}
	m.full = true
	for _, make := range []func() (Cell, error){
		func() (Cell, error) { return NewText(m, "abc") },
		func() (Cell, error) { return NewBytes(m, nil) },
		func() (Cell, error) { return NewList(m, CodeList, nil) },
	} {
		if _, err := make(); dlpack.KindOf(err) != dlpack.KindMemory {
			t.Errorf("without memory: got %v", err)
		}
	}
}

func TestRet(t *testing.T) {
	var value Value
	var code Code
	r := Ret{&value, &code}
	r.Set(Float(2))
	if value != FloatValue(2) || code != CodeFloat || r.Get() != Float(2) {
		t.Errorf("got %v", r.Get())
	}
}

// Values are converted between both conventions.
func TestAny(t *testing.T) {
	for code := Code(-1); code < 80; code++ {
		c := Cell{5, code}
		a, err := c.Any()
		if err != nil {
			if kind := dlpack.KindOf(err); kind != dlpack.KindType && code != CodeUint {
				t.Errorf("%v: got %v", code, err)
			}
			continue
		}
		if back, err := a.Cell(); err != nil || back != c {
			t.Errorf("%v: got %v, %v back from %v", code, back, err, a)
		}
	}
	for index := TypeIndex(-1); index < 80; index++ {
		a := Any{Index: index, Value: 5}
		if c, err := a.Cell(); err == nil {
			if back, err := c.Any(); err != nil || back != a {
				t.Errorf("index %d: got %v, %v back from %v", index, back, err, c)
			}
		}
	}
	// TVM's own table, written down once more
	for index, code := range map[TypeIndex]Code{0: 4, 1: 0, 2: 15, 3: 2, 4: 3, 5: 5, 6: 6, 7: 7, 8: 11, 9: 12, 68: 10} {
		if c, err := (Any{Index: index}).Cell(); err != nil || c.Code != code {
			t.Errorf("index %d: got %v, %v, want code %d", index, c.Code, err, code)
		}
	}
}

func TestAnyInline(t *testing.T) {
	a := Any{Index: AnySmallStr, Small: 3}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&a.Value)), 8), "abc")
	if got, ok := a.Inline(); !ok || string(got) != "abc" {
		t.Errorf("got %q, %t", got, ok)
	}
	a.Small = 9
	if _, ok := a.Inline(); ok {
		t.Error("9 bytes of 8 were read")
	}
	a = Any{Index: AnyInt, Small: 3}
	if _, ok := a.Inline(); ok {
		t.Error("an int was read as a string")
	}
}

// Random codes with random numbers that are not addresses give an error or a value, never a crash.
func FuzzCell(f *testing.F) {
	f.Add(int32(7), uint64(5))
	f.Add(int32(66), uint64(4095))
	f.Add(int32(0), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, code int32, v uint64) {
		c := Cell{Value(v), Code(code)}
		switch c.Code {
		case CodeTensor, CodeManaged, CodeStr, CodeText, CodePart, CodeBytes, CodeList, CodeTuple, CodeHandle, CodeCallable:
			c.Value %= dlpack.MinAddress // addresses are trusted
		}
		for name, read := range reads {
			_, err := read(c)
			large := c.Code == CodeUint || c.Code == CodeHuge
			switch kind := dlpack.KindOf(err); {
			case err == nil, kind == dlpack.KindType, kind == dlpack.KindValue, kind == dlpack.KindOverflow && large:
			default:
				t.Errorf("%v as %s: got %v", c, name, err)
			}
		}
		if a, err := c.Any(); err == nil {
			if back, err := a.Cell(); err != nil || back != c {
				t.Errorf("%v: got %v, %v back", c, back, err)
			}
		}
		Drop(&goMemory{}, c, func(*dlpack.ManagedTensorVersioned) { t.Error("a tensor that is none was removed") }, func(uint64) {})
		_ = c.Code.String()
	})
}

type noMemory struct{}

func (noMemory) Alloc(int) unsafe.Pointer { return nil }

func (noMemory) Free(unsafe.Pointer) {}
