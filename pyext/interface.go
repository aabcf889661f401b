package pyext

import (
	"fmt"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

func init() { cpython.Handle(cpython.OpTensorInterface, arrayInterface) }

// kinds maps each dtype code that NumPy's array interface has to its letter.
var kinds = map[dlpack.Code]byte{
	dlpack.CodeInt: 'i', dlpack.CodeUInt: 'u', dlpack.CodeFloat: 'f', dlpack.CodeComplex: 'c', dlpack.CodeBool: 'b',
}

// typestr returns the array interface's name for a dtype, "<f4" or "|b1"; "" for a dtype that it does not have.
func typestr(d dlpack.DType) string {
	kind, ok := kinds[d.Code]
	size := d.ItemSize(false)
	if !ok || d.Lanes != 1 || d.SubByte() || size&(size-1) != 0 || size > 8 && kind != 'c' || d == dlpack.Complex32 {
		return ""
	}
	if size == 1 {
		return fmt.Sprintf("|%c1", kind)
	}
	return fmt.Sprintf("<%c%d", kind, size)
}

// arrayInterface describes the tensor by NumPy's array interface, version 3; its strides are in bytes.
func arrayInterface(c *cpython.Call) (cpython.Object, error) {
	t := c.Tensor()
	rec := t.Record()
	code := typestr(rec.DType)
	if code == "" || !rec.Device.Type.HostReadable() {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindAttribute, "NumPy's array interface cannot describe %s on %s", rec.DType, rec.Device)
	}
	data, err := interfacePair(t)
	if err != nil {
		return data, err
	}
	defer data.Release()
	return cpython.DictOf([]cpython.Entry{
		{Name: "version", Value: int64(3)}, {Name: "typestr", Value: code}, {Name: "data", Value: data},
		{Name: "shape", Value: rec.ShapeSlice()}, {Name: "strides", Value: byteStrides(rec)},
	})
}

func byteStrides(rec *dlpack.Tensor) []int64 {
	strides := make([]int64, rec.NDim)
	for i, step := range rec.StridesSlice() {
		strides[i] = step * int64(rec.DType.ItemSize(false))
	}
	return strides
}

// interfacePair makes the tuple (address, read-only).
func interfacePair(t cpython.Tensor) (cpython.Object, error) {
	pair := []cpython.Object{cpython.UInt(uint64(t.Record().Address())), cpython.Bool(t.ReadOnly())}
	defer cpython.ReleaseAll(pair)
	return cpython.TupleOf(pair)
}

// fromInterface makes a tensor over the memory that obj's array interface, a dict, describes.
func fromInterface(obj cpython.Object) (cpython.Object, error) {
	dict, err := obj.Attr("__array_interface__")
	if err != nil {
		return dict, err
	}
	defer dict.Release()
	o, err := readInterface(obj, dict)
	return o, cpython.Wrap(err, obj, ".__array_interface__")
}

func readInterface(obj, dict cpython.Object) (cpython.Object, error) {
	d, err := readDescription(dict)
	if err != nil {
		return cpython.Object{}, err
	}
	return cpython.NewBorrowed(obj, dlpack.Host, d.address, d.dtype, d.shape, d.strides, d.flags)
}

// description is the common part of the array interfaces of NumPy and of CUDA; strides are in elements.
type description struct {
	address        uintptr
	dtype          dlpack.DType
	shape, strides []int64
	flags          dlpack.Flags
}

func readDescription(dict cpython.Object) (r description, err error) {
	entries := make(map[string]cpython.Object)
	for _, name := range []string{"typestr", "shape", "strides", "data", "mask"} {
		entries[name] = dict.Entry(name)
		defer entries[name].Release()
	}
	if entries["mask"].Given() {
		return r, dlpack.Errorf(dlpack.KindBuffer, "the array has a mask, which DLPack cannot express")
	}
	if r.dtype, err = interfaceDType(entries["typestr"]); err != nil {
		return r, err
	}
	if r.shape, r.strides, err = interfaceLayout(entries["shape"], entries["strides"], int64(r.dtype.ItemSize(false))); err != nil {
		return r, err
	}
	r.address, r.flags, err = interfaceData(entries["data"], r.shape)
	return r, err
}

// interfaceDType parses a typestr.
func interfaceDType(o cpython.Object) (dlpack.DType, error) {
	var code string
	if o.Exists() && o.IsStr() {
		code = o.StrValue()
	}
	return parseTypestr(code)
}

func parseTypestr(code string) (dlpack.DType, error) {
	var order, kind byte
	var size int
	if n, _ := fmt.Sscanf(code, "%c%c%d", &order, &kind, &size); n == 3 && 0 < size && size <= 16 && order != '>' || size == 1 {
		for c, k := range kinds {
			if d := (dlpack.DType{Code: c, Bits: uint8(8 * size), Lanes: 1}); k == kind && typestr(d) != "" && d.Valid() == nil {
				return d, nil
			}
		}
	}
	return dlpack.DType{}, dlpack.Errorf(dlpack.KindBuffer, "want a typestr of numbers in native byte order, got %q", code)
}

// interfaceLayout parses a shape and strides in bytes; no strides means C order. The results' strides are in elements.
func interfaceLayout(shape, strides cpython.Object, itemSize int64) (dims, steps []int64, err error) {
	if !shape.Exists() {
		return nil, nil, dlpack.Errorf(dlpack.KindBuffer, "want a shape")
	}
	if dims, err = parseShape(shape, "asarray"); err != nil {
		return nil, nil, err
	}
	if !strides.Given() {
		steps = make([]int64, len(dims))
		dlpack.CompactStrides(steps, dims)
		return dims, steps, nil
	}
	bytes, err := parseInts(strides, "asarray", "strides")
	if err != nil {
		return nil, nil, err
	}
	if len(bytes) != len(dims) {
		return nil, nil, dlpack.Errorf(dlpack.KindValue, "want %d strides, got %d", len(dims), len(bytes))
	}
	steps, err = elementStrides(dims, bytes, itemSize)
	return dims, steps, err
}

// interfaceData parses the pair (address, read-only).
func interfaceData(o cpython.Object, shape []int64) (address uintptr, flags dlpack.Flags, err error) {
	wrong := dlpack.Errorf(dlpack.KindBuffer, "want data as a pair (address, read-only)")
	if !o.Given() || !o.IsTuple() {
		return 0, 0, wrong
	}
	items, err := o.Items()
	if err != nil {
		return 0, 0, err
	}
	defer cpython.ReleaseAll(items)
	if len(items) != 2 || !items[0].IsInt() {
		return 0, 0, wrong
	}
	where, fits := items[0].Uint64()
	if count, err := dlpack.Elements(shape); err != nil || !fits || count > 0 && where < dlpack.MinAddress {
		return 0, 0, dlpack.Errorf(dlpack.KindBuffer, "%#x is not an address of %d elements", where, count)
	}
	readonly, err := items[1].Truth()
	if readonly {
		flags = dlpack.ReadOnly
	}
	return uintptr(where), flags, err
}
