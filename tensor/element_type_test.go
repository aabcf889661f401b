package tensor

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// An elementRow is one Element, for tests of all.
type elementRow struct {
	goType    string
	dtype     dlpack.DType
	size      uintptr
	flags     dlpack.Flags
	roundTrip func(*testing.T)
}

func row[T Element]() elementRow {
	name := strings.ReplaceAll(reflect.TypeFor[T]().String(), "tensor.", "")
	return elementRow{name, DTypeOf[T](), unsafe.Sizeof(*new(T)), storage[T](), roundTrip[T]}
}

var elements = []elementRow{
	row[Bool8](), row[Complex32](), row[complex64](), row[complex128](), row[Int128](), row[UInt128](), row[Float128](),
	row[int8](), row[[2]int8](), row[[4]int8](), row[int16](), row[[2]int16](), row[[4]int16](),
	row[int32](), row[[2]int32](), row[[4]int32](), row[int64](), row[[2]int64](), row[[4]int64](),
	row[int](), row[[2]int](), row[[4]int](), row[uint](), row[[2]uint](), row[[4]uint](),
	row[uint8](), row[[2]uint8](), row[[4]uint8](), row[uint16](), row[[2]uint16](), row[[4]uint16](),
	row[uint32](), row[[2]uint32](), row[[4]uint32](), row[uint64](), row[[2]uint64](), row[[4]uint64](),
	row[float32](), row[[2]float32](), row[[4]float32](), row[float64](), row[[2]float64](), row[[4]float64](),
	row[Float16](), row[[2]Float16](), row[[4]Float16](), row[BFloat16](), row[[2]BFloat16](), row[[4]BFloat16](),
	row[Float8E3M4](), row[[2]Float8E3M4](), row[[4]Float8E3M4](), row[Float8E4M3](), row[[2]Float8E4M3](), row[[4]Float8E4M3](),
	row[Float8E4M3B11FNUZ](), row[[2]Float8E4M3B11FNUZ](), row[[4]Float8E4M3B11FNUZ](),
	row[Float8E4M3FN](), row[[2]Float8E4M3FN](), row[[4]Float8E4M3FN](),
	row[Float8E4M3FNUZ](), row[[2]Float8E4M3FNUZ](), row[[4]Float8E4M3FNUZ](),
	row[Float8E5M2](), row[[2]Float8E5M2](), row[[4]Float8E5M2](),
	row[Float8E5M2FNUZ](), row[[2]Float8E5M2FNUZ](), row[[4]Float8E5M2FNUZ](),
	row[Float8E8M0FNU](), row[[2]Float8E8M0FNU](), row[[4]Float8E8M0FNU](),
	row[Float6E2M3FN](), row[[2]Float6E2M3FN](), row[[4]Float6E2M3FN](),
	row[Float6E3M2FN](), row[[2]Float6E3M2FN](), row[[4]Float6E3M2FN](),
	row[Float4E2M1FN](), row[Float4E2M1FNx2](), row[[2]Float4E2M1FNx2](),
}

// TestElements compares each element type with its dtype, and converts it in both directions.
func TestElements(t *testing.T) {
	union := elementUnion(t)
	for _, e := range elements {
		t.Run(e.goType, func(t *testing.T) {
			if size := e.dtype.ItemSize(e.flags.Has(dlpack.SubbytePadded)); int(e.size) != size {
				t.Errorf("%v: got %d bytes, want %d", e.dtype, e.size, size)
			}
			if e.dtype.Valid() != nil || !e.dtype.SubByte() && e.flags != 0 {
				t.Errorf("got %v, %v", e.dtype, e.flags)
			}
			e.roundTrip(t)
		})
		union = slices.DeleteFunc(union, func(name string) bool { return name == e.goType })
	}
	if len(union) > 0 {
		t.Errorf("not tested: %v", union)
	}
}

// roundTrip converts a slice to a record and back to a view, without an allocation.
func roundTrip[T Element](t *testing.T) {
	data := make([]T, 6)
	size := len(data) * int(unsafe.Sizeof(data[0]))
	for i := range size {
		*(*byte)(unsafe.Add(unsafe.Pointer(&data[0]), i)) = byte(i*6/size + 1)
	}
	shape, strides := []int64{2, 3}, []int64{-3, -1}
	if err := thereAndBack(data, shape, strides); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(20, func() { _ = thereAndBack(data, shape, strides) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

var (
	errRead = errors.New("At gives another element")
	errSet  = errors.New("Set does not arrive in the slice")
)

// thereAndBack views 6 elements from the last to the first, in the shape (2, 3).
func thereAndBack[T Element](data []T, shape, strides []int64) error {
	v, err := FromStrided(data, 5, shape, strides)
	if err != nil {
		return err
	}
	r := v.Record()
	record := r.Tensor()
	back, err := MutView[T](&record, NDim(2), On(dlpack.CPU), Flagged(r.Flags()))
	if err != nil {
		return err
	}
	for i := range 6 {
		if back.At(i/3, i%3) != data[5-i] {
			return errRead
		}
	}
	old := data[5]
	back.Set(data[0], 0, 0)
	if data[5] != data[0] {
		return errSet
	}
	back.Row(0).Set(old, 0)
	return nil
}

// elementUnion returns the names of all types that are an Element, from the source.
func elementUnion(t *testing.T) []string {
	iface := checkedPackage(t).Scope().Lookup("Element").Type().Underlying().(*types.Interface)
	union := iface.EmbeddedType(0).(*types.Union)
	var names []string
	for term := range union.Terms() {
		names = append(names, types.TypeString(term.Type(), func(*types.Package) string { return "" }))
	}
	return names
}

// elementCheck returns a function that reports whether the compiler accepts a type as an Element. "T int8" is a type defined as
// an int8.
func elementCheck(t *testing.T) func(expr string) bool {
	pkg := checkedPackage(t)
	element := pkg.Scope().Lookup("Element").Type().Underlying().(*types.Interface)
	return func(expr string) bool {
		underlying, defined := strings.CutPrefix(expr, "T ")
		value, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, underlying)
		if expr == "unsafe.Pointer" { // Eval ignores imports
			value.Type, err = types.Typ[types.UnsafePointer], nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if defined {
			value.Type = types.NewNamed(types.NewTypeName(token.NoPos, pkg, "T", nil), value.Type, nil)
		}
		return types.Satisfies(value.Type, element)
	}
}

// checkedPackage type-checks this package as far as Element requires: errors about imports do not matter.
func checkedPackage(t *testing.T) *types.Package {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range []string{"element_type.go", "float4.go", "smallfloat.go", "wide.go"} {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	config := types.Config{Error: func(error) {}, Importer: importer.ForCompiler(set, "none", nil)}
	pkg, _ := config.Check("tensor", set, files, nil)
	return pkg
}
