package kernel

import (
	"strconv"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
	"godlpack/tensor"
)

// A list of numbers may also be an array of one axis, whose elements are copied once, without an object for each.

// arrayTypes are the dtypes of such arrays.
var (
	integerTypes = []dlpack.DType{dlpack.Int8, dlpack.Int16, dlpack.Int32, dlpack.Int64, dlpack.UInt8, dlpack.UInt16, dlpack.UInt32, dlpack.UInt64}
	realTypes    = append([]dlpack.DType{dlpack.Float64, dlpack.Float32, dlpack.Float16, dlpack.BFloat16}, integerTypes...)
	arrayTypes   = map[Kind]DTypes{KindBool: {dlpack.Bool}, KindInt: integerTypes, KindFloat: realTypes}
)

// mostShared is the number of elements that an array may have if they share memory: a list takes memory for each.
const mostShared = 1 << 20

// compileArray makes the slot for an array in place of a list, if its elements are numbers.
func (p *plan) compileArray(s *slot) error {
	types := arrayTypes[s.elem.Kind]
	if types == nil {
		return nil
	}
	s.array = new(slot)
	return p.compile(s.array, &Param{Kind: KindTensor, DTypes: types, Shape: []Extent{"*"}}, true)
}

// checkArray checks an array in place of a list. What is no such array is refused as any other value.
func (c *Call) checkArray(s *slot, cell packed.Cell, i int) *refusal {
	r := c.checkTensor(s.array, cell, c.args.FlagsAt(i), position{i, -1})
	if r != nil && r.Kind == TypeError {
		return &refusal{Kind: TypeError, Msg: "want " + s.want + ", got " + described(cell, s)}
	}
	if t := c.tensor(i); r == nil && t.ShapeSlice()[0] > mostShared && !elementsApart(t) {
		return &refusal{Kind: ValueError, Msg: "want a list, or an array whose elements are apart, got one of " +
			strconv.FormatInt(t.ShapeSlice()[0], 10) + " that share memory: pass a tensor, or a copy (x.copy())"}
	}
	return r
}

// array returns the array that is argument i in place of a list, nil if it is none.
func (c *Call) array(i int) *dlpack.Tensor {
	if c.fn.plan.params[i].array == nil || c.cell(i).Code != packed.CodeTensor {
		return nil
	}
	return c.tensor(i)
}

// widened returns the elements of an array of one axis as the widest type of their kind.
func widened[D int64 | uint64 | float64 | tensor.Bool8](t *dlpack.Tensor, dtype dlpack.DType) []D {
	data := make([]D, t.ShapeSlice()[0])
	record := newRecord(dtype, t.ShapeSlice(), RowMajor)
	if len(data) == 0 {
		return data
	}
	record.Data = unsafe.Pointer(&data[0])
	if err := tensor.Convert(record, t, false, false); err != nil {
		panic(err)
	}
	return data
}

// intsOf returns the elements of an array of ints. One that is out of range is a ValueError.
func intsOf[T Integer](c *Call, i int, t *dlpack.Tensor) []T {
	if t.DType == dlpack.UInt64 {
		return narrowed[T](c, i, widened[uint64](t, dlpack.UInt64))
	}
	return narrowed[T](c, i, widened[int64](t, dlpack.Int64))
}

func narrowed[T Integer, D int64 | uint64](c *Call, i int, wide []D) []T {
	values := make([]T, len(wide))
	for k, v := range wide {
		if values[k] = T(v); D(values[k]) != v || (values[k] < 0) != (v < 0) {
			want := c.fn.plan.params[i].elem.want
			panic(Errorf(ValueError, "%s(): argument '%s': element %d: want %s, got %d", c.fn.label(), c.fn.Params[i].Name, k, want, v))
		}
	}
	return values
}

func floatsOf[T Real](t *dlpack.Tensor) []T {
	wide := widened[float64](t, dlpack.Float64)
	if values, same := any(wide).([]T); same {
		return values
	}
	values := make([]T, len(wide))
	for k, v := range wide {
		values[k] = T(v)
	}
	return values
}

func boolsOf(t *dlpack.Tensor) []bool {
	wide := widened[tensor.Bool8](t, dlpack.Bool)
	values := make([]bool, len(wide))
	for k, v := range wide {
		values[k] = v != 0
	}
	return values
}
