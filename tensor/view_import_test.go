package tensor

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

type importCase struct {
	Name, Test, Source, Note, Error string
	Tensor                          importTensor
	Request                         struct {
		DType, Layout, Target string
		Rank                  int
	}
	Expect *importWant
}

type importTensor struct {
	NDim           int32
	Shape, Strides json.RawMessage // "NULL" or numbers
	DType          [3]int
	Device         [2]int32
	ByteOffset     uint64 `json:"byte_offset"`
	Data           string
}

type importWant struct {
	Rank, Size, Offset *int
	Shape, Strides     []int64
	Memory, Values     json.RawMessage
	At                 map[string]float64
	ReadOnly, OK       bool
	Contiguous         *bool
	Base               string
}

// refusals maps CCCL's error texts to errors: their kinds and the names in them.
var refusals = map[string]struct {
	kind dlpack.Kind
	text string
}{
	"data type does not match expected type":           {dlpack.KindType, "want a tensor of"},
	"device type must be kDLCPU":                       {dlpack.KindBuffer, "want a tensor on cpu, got one on cuda:0"},
	"device type must be kDLCUDA":                      {dlpack.KindBuffer, "want a tensor on cuda, got one on cpu"},
	"strides are not compatible with layout_right":     {dlpack.KindBuffer, "want row-major strides, got [1 2]"},
	"layout_stride requires strictly positive strides": {dlpack.KindBuffer, "want positive strides, got [0 1]"},
	"byte_offset must be a multiple of element size":   {dlpack.KindBuffer, "want int32 aligned to 4 bytes"},
	"data must be aligned to the data type":            {dlpack.KindBuffer, "want int32 aligned to 4 bytes"},
}

func TestCaseImport(t *testing.T) {
	cases := readCases(t).Import
	if len(cases) < 25 {
		t.Errorf("got %d cases, want 25 or more", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := differs[c.Name]; why != "" {
				t.Log("differs:", why)
				c = ownImport(t, c)
			}
			switch c.Request.DType {
			case "int32":
				testImport[int32](t, c)
			case "float32":
				testImport[float32](t, c)
			default:
				t.Fatal("no test for this type")
			}
		})
	}
}

// ownImport replaces a case's expectation by this package's result.
func ownImport(t *testing.T, c importCase) importCase {
	own := map[string]importWant{
		"import/null_strides_1_2": {Shape: []int64{2, 3}, Strides: []int64{3, 1}, Values: json.RawMessage(`[[1,2,3],[4,5,6]]`)},
	}
	want, ok := own[c.Name]
	if !ok || c.Error == "" {
		t.Fatal("no outcome of our own")
	}
	c.Error, c.Expect = "", &want
	return c
}

func testImport[T int32 | float32](t *testing.T, c importCase) {
	memory := caseMemory[T](t, c)
	record := caseTensor(t, c.Tensor, unsafe.Pointer(&memory[0]))
	data := record.Data
	layouts := map[string][]Option{"relaxed": nil, "right": {RowMajor}, "left": {ColumnMajor}, "stride": {Ascending}}
	options, ok := layouts[c.Request.Layout]
	if !ok {
		t.Fatalf("no test for layout %s", c.Request.Layout)
	}
	options = append(options, NDim(c.Request.Rank))
	var v Of[T]
	var err error
	switch c.Request.Target {
	case "cpu":
		v, err = View[T](record, append(options, On(dlpack.CPU))...)
	case "cuda":
		_, err = DeviceView[T](record, append(options, On(dlpack.CUDA))...)
	default:
		t.Fatalf("no test for target %s", c.Request.Target)
	}
	if c.Error != "" {
		wantRefusal(t, err, c.Error)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkImport(t, v, c.Expect)
	checkPlace(t, v, data, record, c.Expect)
}

func wantRefusal(t *testing.T, err error, text string) {
	t.Helper()
	want, ok := refusals[text]
	if !ok {
		t.Fatalf("no error stands for %q", text)
	}
	wantKind(t, err, want.kind)
	if !strings.Contains(dlpack.MessageOf(err), want.text) {
		t.Errorf("got %v, want %s", err, want.text)
	}
}

func checkImport[T int32 | float32](t *testing.T, v Of[T], want *importWant) {
	t.Helper()
	if want.Rank != nil && v.NDim() != *want.Rank || want.Size != nil && v.Len() != *want.Size {
		t.Errorf("got %d axes, %d elements", v.NDim(), v.Len())
	}
	if want.Shape != nil && !slices.Equal(v.Shape(), want.Shape) {
		t.Errorf("got shape %v, want %v", v.Shape(), want.Shape)
	}
	for i, step := range want.Strides {
		if v.Stride(i) != step {
			t.Errorf("stride %d: got %d, want %d", i, v.Stride(i), step)
		}
	}
	if want.Contiguous != nil && v.Contiguous() != *want.Contiguous {
		t.Errorf("contiguous: got %v", v.Contiguous())
	}
	if values := want.Values; len(values) > 0 && values[0] == '{' {
		want.At = decodeCase[map[string]float64](t, values)
	} else if len(values) > 0 {
		if got := readAll(v); !slices.Equal(got, flatten[T](t, values)) {
			t.Errorf("got %v, want %s", got, values)
		}
	}
	for key, value := range want.At {
		if got := v.At(caseIndex(t, key)...); got != T(value) {
			t.Errorf("at %s: got %v, want %v", key, got, value)
		}
	}
}

// checkPlace checks the start of the view, and that its type has no Set.
func checkPlace[T Element](t *testing.T, v Of[T], data unsafe.Pointer, record *dlpack.Tensor, want *importWant) {
	t.Helper()
	if want.Base != "" && record.Data != data {
		t.Error("data has changed")
	}
	if want.Offset != nil && v.Pointer() != unsafe.Add(data, *want.Offset*int(unsafe.Sizeof(*new(T)))) {
		t.Errorf("got first element at %p, want %d elements behind %p", v.Pointer(), *want.Offset, data)
	}
	if _, ok := reflect.TypeOf(v).MethodByName("Set"); ok && want.ReadOnly {
		t.Error("want no Set")
	}
}

// readAll reads by index, in row-major order.
func readAll[T Element](v Of[T]) []T {
	var all []T
	index := make([]int, v.NDim())
	for range v.Len() {
		all = append(all, v.At(index...))
		next(index, v.Shape())
	}
	return all
}

func caseIndex(t *testing.T, key string) []int {
	var index []int
	for part := range strings.SplitSeq(strings.Trim(key, "()"), ",") {
		if i, err := strconv.Atoi(part); err == nil {
			index = append(index, i)
		} else if part != "" {
			t.Fatal(err)
		}
	}
	return index
}

func flatten[T int32 | float32](t *testing.T, raw json.RawMessage) []T {
	t.Helper()
	if raw[0] != '[' {
		return []T{T(decodeCase[float64](t, raw))}
	}
	var all []T
	for _, part := range decodeCase[[]json.RawMessage](t, raw) {
		all = append(all, flatten[T](t, part)...)
	}
	return all
}

// caseMemory returns the case's memory at data; unspecified elements count upwards from 1.
func caseMemory[T int32 | float32](t *testing.T, c importCase) []T {
	memory := make([]T, 40)
	for i := range memory {
		memory[i] = T(i + 1)
	}
	if c.Expect == nil {
		return memory
	}
	switch raw := string(c.Expect.Memory); {
	case raw == `"m[16i+5j+k]=12i+4j+k+1"`:
		for n := range 24 {
			i, j, k := n/12, n/4%3, n%4
			memory[16*i+5*j+k] = T(n + 1)
		}
	case raw != "" && raw != `"1..24"`:
		copy(memory, flatten[T](t, c.Expect.Memory))
	case strings.HasPrefix(string(c.Expect.Values), "{"):
		memory[0] = T(decodeCase[map[string]float64](t, c.Expect.Values)["()"])
	}
	return memory
}

func caseTensor(t *testing.T, c importTensor, memory unsafe.Pointer) *dlpack.Tensor {
	t.Helper()
	places := map[string]unsafe.Pointer{"ok": memory, "NULL": nil, "aligned pointer + 1": unsafe.Add(memory, 1)}
	data, ok := places[c.Data]
	if !ok {
		t.Fatalf("no test for data %s", c.Data)
	}
	return &dlpack.Tensor{
		Data: data, Device: dlpack.Device{Type: dlpack.DeviceType(c.Device[0]), ID: c.Device[1]}, NDim: c.NDim,
		DType: dlpack.DType{Code: dlpack.Code(c.DType[0]), Bits: uint8(c.DType[1]), Lanes: uint16(c.DType[2])},
		Shape: caseNumbers(t, c.Shape), Strides: caseNumbers(t, c.Strides), ByteOffset: c.ByteOffset,
	}
}

func caseNumbers(t *testing.T, raw json.RawMessage) *int64 {
	t.Helper()
	if string(raw) == `"NULL"` {
		return nil
	}
	return &decodeCase[[]int64](t, raw)[0]
}
