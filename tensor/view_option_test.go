package tensor

import (
	"testing"

	"godlpack/dlpack"
)

func TestLayouts(t *testing.T) {
	for _, try := range []struct {
		shape, strides      []int64
		row, column, ascend bool
	}{
		{[]int64{2, 3}, nil, true, false, true},
		{[]int64{2, 3}, []int64{3, 1}, true, false, true},
		{[]int64{2, 3}, []int64{1, 2}, false, true, true},
		{[]int64{2, 3}, []int64{4, 1}, false, false, true},
		{[]int64{2, 3}, []int64{0, 1}, false, false, false},
		{[]int64{2, 2}, []int64{2, -1}, false, false, false},
		{[]int64{1, 3}, []int64{-7, 1}, true, true, true},
		{[]int64{0, 3}, []int64{-7, 0}, true, true, true},
		{[]int64{3, 0}, []int64{0, 0}, true, true, true},
		{[]int64{5}, []int64{1}, true, true, true},
		{nil, nil, true, true, true},
	} {
		s := of(make([]int8, 24), try.shape, try.strides, 8)
		for layout, want := range map[Option]bool{{}: true, RowMajor: try.row, ColumnMajor: try.column, Ascending: try.ascend} {
			_, err := View[int8](&s.Tensor, layout)
			if (err == nil) != want {
				t.Errorf("%v %v %v: got %v", try.shape, try.strides, layout, err)
			}
			if !want {
				wantKind(t, err, dlpack.KindBuffer)
			}
		}
	}
}

func TestOptionsRefuse(t *testing.T) {
	s := of(make([]float32, 6), []int64{2, 3}, nil, 0)
	for name, try := range map[string]struct {
		option Option
		want   dlpack.Kind
	}{
		"axes":      {NDim(1), dlpack.KindValue},
		"no axes":   {NDim(0), dlpack.KindValue},
		"device":    {On(dlpack.CUDAManaged), dlpack.KindBuffer},
		"read-only": {Flagged(dlpack.ReadOnly), dlpack.KindBuffer},
	} {
		_, err := MutView[float32](&s.Tensor, try.option)
		t.Log(name, err)
		wantKind(t, err, try.want)
	}
	if _, err := View[float32](&s.Tensor, Flagged(dlpack.ReadOnly|dlpack.IsCopied), NDim(2), On(dlpack.CPU)); err != nil {
		t.Error(err)
	}
}

// TestStorage views lanes below a byte, which fit only if they are stored as in the Go type.
func TestStorage(t *testing.T) {
	padded, packed := Flagged(dlpack.SubbytePadded), Flagged(0)
	for _, try := range []struct {
		name   string
		view   func(*dlpack.Tensor, ...Option) error
		option Option
		want   bool
	}{
		{"float6_e2m3fn", viewError[Float6E2M3FN], padded, true},
		{"float6_e2m3fn", viewError[Float6E2M3FN], packed, false},
		{"float6_e3m2fnx4", viewError[[4]Float6E3M2FN], padded, true},
		{"float6_e3m2fnx4", viewError[[4]Float6E3M2FN], packed, false},
		{"float4_e2m1fn", viewError[Float4E2M1FN], padded, true},
		{"float4_e2m1fn", viewError[Float4E2M1FN], packed, false},
		{"float4_e2m1fnx2", viewError[Float4E2M1FNx2], packed, true},
		{"float4_e2m1fnx2", viewError[Float4E2M1FNx2], padded, false},
		{"float4_e2m1fnx4", viewError[[2]Float4E2M1FNx2], packed, true},
		{"float8_e5m2x4", viewError[[4]Float8E5M2], padded, true},
	} {
		err := try.view(&compact(t, parse(t, try.name), true, 4).Tensor, try.option)
		if (err == nil) != try.want {
			t.Errorf("%s %v: got %v", try.name, try.option, err)
		}
		if !try.want {
			wantKind(t, err, dlpack.KindBuffer)
		}
	}
}

func viewError[T Element](t *dlpack.Tensor, options ...Option) error {
	_, err := View[T](t, options...)
	return err
}
