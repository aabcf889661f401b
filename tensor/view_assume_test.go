package tensor

import (
	"testing"

	"godlpack/dlpack"
)

// For a record that View accepts, Assume makes the same view.
func TestAssumeIsViewWithoutTheChecks(t *testing.T) {
	data := []float32{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		shape, strides []int64
	}{
		{nil, nil}, {[]int64{6}, nil}, {[]int64{2, 3}, []int64{3, 1}}, {[]int64{3, 2}, []int64{1, 3}}, {[]int64{2, 0}, nil},
	} {
		v, err := FromStrided(data, 0, c.shape, c.strides)
		if err != nil {
			t.Fatal(err)
		}
		r := v.Record()
		record := r.Tensor()
		want, err := MutView[float32](&record)
		if err != nil {
			t.Fatal(err)
		}
		var got Mut[float32]
		got.Assume(&record)
		if got.Pointer() != want.Pointer() || got.Len() != want.Len() || got.Device() != want.Device() {
			t.Errorf("%v: got %v elements at %p on %v, want %v at %p on %v", c.shape,
				got.Len(), got.Pointer(), got.Device(), want.Len(), want.Pointer(), want.Device())
		}
		for i := range got.NDim() {
			if got.Shape()[i] != want.Shape()[i] || got.Stride(i) != want.Stride(i) {
				t.Errorf("%v: axis %d differs", c.shape, i)
			}
		}
		if !got.Assumed(&record) {
			t.Errorf("%v: what Assume made is not Assumed", c.shape)
		}
	}
}

// Assumed is true only if nothing differs, not even the addresses of shape and strides.
func TestAssumed(t *testing.T) {
	data := []float32{0, 1, 2, 3, 4, 5}
	v, err := FromSlice(data, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	r := v.Record()
	record := r.Tensor()
	var got Of[float32]
	got.Assume(&record)
	elsewhere := []int64{2, 3}
	for name, change := range map[string]func(*dlpack.Tensor){
		"another start":  func(r *dlpack.Tensor) { r.ByteOffset = 4 },
		"another shape":  func(r *dlpack.Tensor) { r.Shape = &elsewhere[0] },
		"no strides":     func(r *dlpack.Tensor) { r.Strides = nil },
		"another rank":   func(r *dlpack.Tensor) { r.NDim = 1 },
		"another device": func(r *dlpack.Tensor) { r.Device = dlpack.Device{Type: dlpack.CUDAHost} },
		"another dtype":  func(r *dlpack.Tensor) { r.DType = dlpack.Int32 },
	} {
		other := record
		change(&other)
		if got.Assumed(&other) {
			t.Errorf("%s: Assumed", name)
		}
	}
	if row := got.Row(0); row.Assumed(&record) {
		t.Error("a row is Assumed")
	}
}

func TestAssumeNothing(t *testing.T) {
	var v Of[float32]
	if v.Assume(nil); v.Len() != 0 || v.NDim() != 0 || v.Pointer() != nil {
		t.Errorf("got %v elements at %p", v.Len(), v.Pointer())
	}
}

func TestAssumeKeepsTheDevice(t *testing.T) {
	shape := int64(3)
	record := dlpack.Tensor{Device: dlpack.Device{Type: dlpack.CUDA, ID: 1}, NDim: 1, DType: dlpack.Float32, Shape: &shape}
	var v DeviceOf[float32]
	v.Assume(&record)
	if _, err := v.Host(); dlpack.KindOf(err) != dlpack.KindBuffer || err == nil {
		t.Errorf("memory of cuda:1 for the host: got %v, want a BufferError", err)
	}
}
