package kernel_test

import (
	"testing"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// everything takes one argument of each kind, all of them optional, and reads them all.
func everything(t testing.TB) *kernel.Func {
	params := []kernel.Param{
		{Name: "a", Kind: kernel.KindBool}, {Name: "b", Kind: kernel.KindInt, Bits: 16}, {Name: "c", Kind: kernel.KindFloat},
		{Name: "d", Kind: kernel.KindString}, {Name: "e", Kind: kernel.KindBytes}, {Name: "f", Kind: kernel.KindDType},
		{Name: "g", Kind: kernel.KindDevice}, {Name: "h", Kind: kernel.KindCallable},
		{Name: "i", Kind: kernel.KindTensor, DTypes: float32s, Shape: []kernel.Extent{"n", "...", "m"}},
		{Name: "j", Kind: kernel.KindTensor, DTypes: float32s, Convert: true, Order: kernel.RowMajor, Shape: []kernel.Extent{"n", "..."}},
		{Name: "k", Kind: kernel.KindTensor, DTypes: float32s, Mutable: true},
		{Name: "l", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}},
	}
	for i := range params {
		params[i].Optional = true
	}
	return prepare(t, kernel.Func{Params: params, Results: results(1), Do: func(c *kernel.Call) error {
		_, _, _ = c.Bool(0), kernel.Int[int16](c, 1), kernel.Float[float64](c, 2)
		_, _, _, _ = c.String(3), c.Bytes(4), c.DType(5), c.Device(6)
		_ = c.Callable(7)
		total := float32(0)
		for i := 8; i < 11; i++ {
			v := kernel.Of[float32](c, i)
			for r := range min(v.Rows(), 10) {
				if row := v.Row(r); row.Len() > 0 && row.NDim() > 0 {
					total += row.At(row.Len() - 1) // the last one: it must be inside
				}
			}
		}
		_ = kernel.Ints[int](c, 11)
		kernel.Return(c, kernel.Of[float32](c, 9))
		return nil
	}})
}

// Random codes, random numbers that are not addresses, and a random record over existing memory give a result or an error,
// without leaks or crashes.
func FuzzCall(f *testing.F) {
	f.Add([]byte{4, 4, 4, 4, 4, 4, 4, 4, 7, 7, 7, 4}, uint64(1), []byte{1, 0, 0, 0, 2, 0, 2, 32, 1, 0}, int64(2), int64(3), int64(3), int64(1), uint64(0))
	f.Add([]byte{15, 0, 2}, uint64(40000), []byte{2, 0, 0, 0, 1, 0, 0, 64, 1, 0}, int64(-1), int64(3), int64(1<<40), int64(1), uint64(1<<63))
	ready := everything(f)
	f.Fuzz(func(t *testing.T, codes []byte, value uint64, head []byte, n0, n1, s0, s1 int64, offset uint64) {
		data := make([]float32, 64)
		axes := []int64{n0, n1, s0, s1}
		head = append(head, make([]byte, 10)...)
		x := &dlpack.Tensor{
			Data: unsafe.Pointer(&data[32]), Shape: &axes[0], Strides: &axes[2], ByteOffset: offset,
			Device: dlpack.Device{Type: dlpack.DeviceType(head[0]), ID: int32(head[1])},
			NDim:   min(int32(int8(head[4])), 2), DType: dlpack.DType{Code: dlpack.Code(head[6]), Bits: head[7], Lanes: uint16(head[8])},
		}
		if lo, hi, err := x.ByteExtent(true); x.Validate() == nil && err == nil && (lo+int64(offset) < -128 || hi+int64(offset) > 128) {
			return // the record claims more memory than exists, which cannot be detected
		}
		values := make([]any, 0, len(codes))
		for _, code := range codes {
			if code == byte(packed.CodeTensor) {
				values = append(values, x)
				continue
			}
			cell := packed.Cell{Value: packed.Value(value), Code: packed.Code(code)}
			if _, err := cell.Float(); err != nil && code != byte(packed.CodeDType) && code != byte(packed.CodeDevice) {
				cell.Value %= dlpack.MinAddress
			}
			values = append(values, cell)
		}
		h, called := newHost(), newCall(values...)
		if err := called.of(ready, h); err == nil {
			kernel.Drop(h, called.ret.Get())
		} else if called.ret.Get() != packed.Null || dlpack.KindOf(err) == kernel.RuntimeError {
			t.Errorf("result %v, error %v", called.ret.Get(), err)
		}
		h.balanced(t)
	})
}
