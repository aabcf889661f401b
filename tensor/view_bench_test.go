package tensor

import (
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// TestViewAllocates checks all operations that must not allocate heap memory.
func TestViewAllocates(t *testing.T) {
	data, bools := make([]float32, 24), make([]bool, 2)
	shape, strides := []int64{4, 3, 2}, []int64{-6, 2, 1}
	m, err := FromStrided(data, 18, shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	r := m.Record()
	record := r.Tensor()
	for name, f := range map[string]func(){
		"slice to view":           func() { _, _ = FromSlice(data, 2, 3, 4) },
		"strided slice to view":   func() { _, _ = FromStrided(data, 18, shape, strides) },
		"bools to view":           func() { _, _ = FromBools(bools, 2) },
		"pointer to view":         func() { _, _ = FromPointer[float32](unsafe.Pointer(&data[0]), gpu, shape, strides) },
		"slice to record":         func() { sliceToRecord(data) },
		"record to view":          func() { _, _ = View[float32](&record) },
		"record to view, options": func() { _, _ = MutView[float32](&record, NDim(3), On(dlpack.CPU), Flagged(r.Flags())) },
		"record to device view":   func() { _, _ = DeviceMutView[float32](&record, NDim(3)) },
		"slice to record to view": func() { sliceToView(data) },
		"At and Set":              func() { m.Set(m.At(1, 2, 1), 3, 0, 0) },
		"rows":                    func() { sumRows(m.Of) },
		"slice of rows":           func() { _ = m.Row(3).Slice() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = m.Hold(&record) }); n != 1 {
		t.Errorf("hold: got %v allocations, want 1", n)
	}
}

func sliceToRecord(data []float32) int32 {
	v, _ := FromSlice(data, 2, 3, 4)
	r := v.Record()
	t := r.Tensor()
	return t.NDim
}

func sliceToView(data []float32) int {
	v, _ := FromSlice(data, 2, 3, 4)
	r := v.Record()
	t := r.Tensor()
	back, _ := View[float32](&t, RowMajor, NDim(3))
	return back.Len()
}

func sumRows(v Of[float32]) (sum float32) {
	for i := range v.Rows() {
		for _, x := range v.Row(i).Slice() {
			sum += x
		}
	}
	return sum
}

func BenchmarkSliceToRecord(b *testing.B) {
	data := make([]float32, 24)
	b.ReportAllocs()
	for b.Loop() {
		sliceToRecord(data)
	}
}

func BenchmarkRecordToView(b *testing.B) {
	v, _ := FromSlice(make([]float32, 24), 2, 3, 4)
	r := v.Record()
	t := r.Tensor()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := View[float32](&t, NDim(3)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSliceToRecordToView(b *testing.B) {
	data := make([]float32, 24)
	b.ReportAllocs()
	for b.Loop() {
		sliceToView(data)
	}
}

// BenchmarkSet reads and writes one element by its index.
func BenchmarkSet(b *testing.B) {
	v, _ := FromStrided(make([]float32, 24), 18, []int64{4, 3, 2}, []int64{-6, 2, 1})
	b.ReportAllocs()
	for b.Loop() {
		v.Set(v.At(1, 2, 1), 3, 0, 0)
	}
}

// BenchmarkRows reads 256 rows of 16 elements.
func BenchmarkRows(b *testing.B) {
	v, _ := FromStrided(make([]float32, 1<<12), 0, []int64{16, 16, 16}, []int64{256, 16, 1})
	b.ReportAllocs()
	for b.Loop() {
		sumRows(v.Of)
	}
}
