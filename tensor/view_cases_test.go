package tensor

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// viewCases is testdata/views.json: the results of CCCL's mdspan conversions, case by case.
type viewCases struct {
	About  string
	DTypes []struct {
		Type, Note, Source string
		Code               dlpack.Code
		Bits               uint8
		Lanes              uint16
		StorageBytes       uintptr `json:"storage_bytes"`
	}
	RejectedTypes []struct{ Type, Source string } `json:"rejected_types"`
	Export        []exportCase
	Import        []importCase
}

// differs are the cases in which this package differs from CCCL, and the reasons. The tests state its results.
var differs = map[string]string{
	"byte":                       "Go's byte is its uint8; there is no std::byte",
	"std::complex<float> (host)": "CCCL wants its own complex type; Go has but one, of the same memory",
	"export/extent_too_large":    "an int64 holds no such extent; what becomes of it is negative, and refused as that",
	"export/stride_too_large":    "an int64 holds no such stride; what becomes of it is refused wherever it would be used",
	"export/holder_default":      "a Record has its rank as a value, not in its type: the zero Record has no axes, and nobody takes it",
	"import/null_strides_1_2":    "NULL strides are compact ones (R40); a DLTensor does not tell its version",
}

// readCases reads the file and rejects fields that no test uses.
func readCases(t *testing.T) viewCases {
	t.Helper()
	f, err := os.Open("testdata/views.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var c viewCases
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCaseDTypes(t *testing.T) {
	cases := readCases(t).DTypes
	if len(cases) < 59 {
		t.Errorf("got %d cases, want 59 or more", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Type, func(t *testing.T) {
			want := dlpack.DType{Code: c.Code, Bits: c.Bits, Lanes: c.Lanes}
			if got := parse(t, c.Type); got != want {
				t.Errorf("the name means %v, want %v", got, want)
			}
			i := slices.IndexFunc(elements, func(e elementRow) bool { return e.dtype == want })
			if i < 0 || elements[i].size != c.StorageBytes {
				t.Fatalf("element %d: want one of %d bytes", i, c.StorageBytes)
			}
			elements[i].roundTrip(t)
		})
	}
}

func TestCaseRejectedTypes(t *testing.T) {
	near := map[string][]string{ // the nearest Go types; T is a defined type, such as cgo's C.wchar_t
		"char (plain)":                         {"T int8", "T uint8", "string"},
		"wchar_t":                              {"T int32"},
		"char16_t":                             {"T uint16"},
		"void*":                                {"unsafe.Pointer", "uintptr", "*byte"},
		"byte":                                 {"T byte"},
		"std::complex<float> (host)":           {"T complex64", "struct{ re, im float32 }"},
		"complex<float128> (256 bit)":          {"struct{ re, im Float128 }", "[2]Float128"},
		"vector of 1 lane (int1,float1)":       {"[1]int32", "[1]float32"},
		"vector of 3 lanes (int3,float3,dim3)": {"[3]int32", "[3]float32", "[3]uint32"},
	}
	satisfies := elementCheck(t)
	for _, c := range readCases(t).RejectedTypes {
		if near[c.Type] == nil {
			t.Errorf("%s: no Go type to try", c.Type)
		}
		for _, expr := range near[c.Type] {
			if satisfies(expr) {
				t.Errorf("%s: %s is an Element", c.Type, expr)
			}
		}
	}
	for name, expr := range map[string]string{"byte": "byte", "std::complex<float> (host)": "complex64"} {
		if differs[name] == "" || !satisfies(expr) {
			t.Errorf("%s: want %s to be an Element, as said", name, expr)
		}
	}
	if !satisfies("[4]float32") || !satisfies("Float4E2M1FNx2") {
		t.Error("the check itself is broken")
	}
}

type exportCase struct {
	Name, Test, Needs, Note, Error string
	Input, Expect                  json.RawMessage
}

type exportInput struct {
	DType, Order, Data string
	Shape, Strides     []wideInt
	Device             [2]int32
	ReadOnly           bool
}

type exportWant struct {
	Device         [2]int32
	NDim           int32
	DType          [3]int
	Shape, Strides json.RawMessage
	ByteOffset     uint64 `json:"byte_offset"`
	Data           string
}

// A wideInt is an int64 of a Go program that received the number from outside: "2^63" wraps round.
type wideInt int64

func (w *wideInt) UnmarshalJSON(b []byte) error {
	if string(b) == `"2^63"` {
		*w = -1 << 63
		return nil
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	*w = wideInt(v)
	return err
}

func numbers(wide []wideInt) []int64 {
	var all []int64
	for _, w := range wide {
		all = append(all, int64(w))
	}
	return all
}

// exportTests are the cases other than a plain input with a plain result.
var exportTests = map[string]func(*testing.T, exportCase){
	"export/extent_too_large": func(t *testing.T, c exportCase) {
		in := decodeCase[exportInput](t, c.Input)
		_, err := FromStrided(make([]int8, 4), 0, numbers(in.Shape), nil)
		wantKind(t, err, dlpack.KindValue)
	},
	"export/stride_too_large": func(t *testing.T, c exportCase) {
		in := decodeCase[exportInput](t, c.Input)
		v, err := FromStrided(make([]int8, 4), 0, numbers(in.Shape), numbers(in.Strides))
		if err != nil || v.Len() != 1 || v.At(0) != 0 {
			t.Errorf("extent 1: its stride is never used, got %v", err)
		}
		_, err = FromStrided(make([]int8, 4), 0, []int64{2}, numbers(in.Strides))
		wantKind(t, err, dlpack.KindValue)
	},
	"export/holder_default": func(t *testing.T, c exportCase) {
		var r Record
		got, want := r.Tensor(), decodeCase[exportWant](t, c.Expect)
		if got != (dlpack.Tensor{}) || want.Device != [2]int32{} || want.DType != [3]int{} {
			t.Errorf("got %+v, want zeros", got)
		}
		wantKind(t, got.Validate(), dlpack.KindBuffer)
	},
	"export/holder_copy": testRecordCopy,
	"export/holder_temporary": func(t *testing.T, _ exportCase) { // v.Record().Tensor() does not compile: it needs a variable
		if _, ok := reflect.TypeFor[Record]().MethodByName("Tensor"); ok {
			t.Error("a Record that is no variable has Tensor")
		}
		if _, ok := reflect.TypeFor[*Record]().MethodByName("Tensor"); !ok {
			t.Error("a variable has no Tensor")
		}
	},
}

func testRecordCopy(t *testing.T, _ exportCase) {
	v, err := FromSlice([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	r := v.Record()
	before := r.Tensor()
	copied := r
	got, after := copied.Tensor(), r.Tensor()
	if after != before {
		t.Errorf("the first changed: %+v, was %+v", after, before)
	}
	if got.Shape == before.Shape || got.Strides == before.Strides || got.Data != before.Data {
		t.Error("want shape and strides elsewhere, data the same")
	}
	if !slices.Equal(got.ShapeSlice(), before.ShapeSlice()) || !slices.Equal(got.StridesSlice(), before.StridesSlice()) || got.DType != before.DType {
		t.Errorf("got %v %v, want what it was", got.ShapeSlice(), got.StridesSlice())
	}
}

func TestCaseExport(t *testing.T) {
	cases := readCases(t).Export
	if len(cases) < 12 {
		t.Errorf("got %d cases, want 12 or more", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			special := exportTests[c.Name]
			if why := differs[c.Name]; why != "" {
				t.Log("differs:", why)
			}
			switch in := (exportInput{}); {
			case special != nil:
				special(t, c)
			case json.Unmarshal(c.Input, &in) != nil || c.Error != "" || differs[c.Name] != "":
				t.Fatal("no test for this case")
			case in.DType == "float32":
				testExport[float32](t, in, decodeCase[exportWant](t, c.Expect))
			default:
				testExport[int32](t, in, decodeCase[exportWant](t, c.Expect))
			}
		})
	}
}

func testExport[T Element](t *testing.T, in exportInput, want exportWant) {
	if d := parse(t, in.DType); d != DTypeOf[T]() {
		t.Fatalf("no test for %v", d)
	}
	shape, data := numbers(in.Shape), make([]T, 24)
	device := dlpack.Device{Type: dlpack.DeviceType(in.Device[0]), ID: in.Device[1]}
	r, err := exported(data, device, shape, stridesOf(shape, in.Order), in.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Tensor()
	checkExport(t, &got, want)
	if pointer := map[string]unsafe.Pointer{"same pointer": unsafe.Pointer(&data[0]), "NULL": nil}[want.Data]; got.Data != pointer {
		t.Errorf("data: got %p, want %s", got.Data, want.Data)
	}
	if m := r.Versioned(); m.Flags.Has(dlpack.ReadOnly) != in.ReadOnly || m.Tensor != got || m.Version != dlpack.Current {
		t.Errorf("versioned: got %+v", m)
	}
}

// exported views data, as if it were on that device, and returns the record.
func exported[T Element](data []T, device dlpack.Device, shape, strides []int64, readOnly bool) (Record, error) {
	if device.Type != dlpack.CPU {
		v, err := FromPointer[T](unsafe.Pointer(&data[0]), device, shape, strides)
		return v.Record(), err
	}
	v, err := FromStrided(data, 0, shape, strides)
	if readOnly {
		return v.Of.Record(), err
	}
	return v.Record(), err
}

// stridesOf returns nil for any order but "F".
func stridesOf(shape []int64, order string) []int64 {
	if order != "F" {
		return nil
	}
	strides, step := make([]int64, len(shape)), int64(1)
	for i, extent := range shape {
		strides[i] = step
		step *= extent
	}
	return strides
}

func checkExport(t *testing.T, got *dlpack.Tensor, want exportWant) {
	t.Helper()
	d := dlpack.DType{Code: dlpack.Code(want.DType[0]), Bits: uint8(want.DType[1]), Lanes: uint16(want.DType[2])}
	device := dlpack.Device{Type: dlpack.DeviceType(want.Device[0]), ID: want.Device[1]}
	if got.DType != d || got.Device != device || got.NDim != want.NDim || got.ByteOffset != want.ByteOffset {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, pair := range []struct {
		got     []int64
		pointer *int64
		want    json.RawMessage
	}{{got.ShapeSlice(), got.Shape, want.Shape}, {got.StridesSlice(), got.Strides, want.Strides}} {
		if string(pair.want) == `"NULL"` {
			if pair.pointer != nil {
				t.Errorf("got %v, want NULL", pair.got)
			}
		} else if all := decodeCase[[]int64](t, pair.want); !slices.Equal(pair.got, all) {
			t.Errorf("got %v, want %v", pair.got, all)
		}
	}
}

// decodeCase decodes one value of the file, which must have no unknown fields.
func decodeCase[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", raw, err))
	}
	return v
}
