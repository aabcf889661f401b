package tensor

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"godlpack/dlpack"
)

// TestRecordAxes uses more axes than fit inline, and compares with fewer.
func TestRecordAxes(t *testing.T) {
	data := make([]int8, 1<<10)
	for ndim := range 11 {
		shape := slices.Repeat([]int64{2}, ndim)
		v, err := FromSlice(data[:1<<ndim], shape...)
		if err != nil {
			t.Fatal(err)
		}
		r := v.Record()
		record := r.Tensor()
		want := make([]int64, ndim)
		dlpack.CompactStrides(want, shape)
		if !slices.Equal(record.ShapeSlice(), shape) || !slices.Equal(record.StridesSlice(), want) {
			t.Errorf("got %v %v, want %v %v", record.ShapeSlice(), record.StridesSlice(), shape, want)
		}
		if _, err := View[int8](&record, RowMajor, NDim(ndim)); err != nil {
			t.Error(err)
		}
	}
}

func TestRecordFlags(t *testing.T) {
	v, err := FromSlice(make([]Float6E2M3FN, 3), 3)
	if err != nil {
		t.Fatal(err)
	}
	mutable, constant := v.Record(), v.Of.Record()
	device, deviceOf := v.OnDevice().Record(), v.Of.OnDevice().Record()
	for r, want := range map[*Record]dlpack.Flags{
		&mutable: dlpack.SubbytePadded, &constant: dlpack.SubbytePadded | dlpack.ReadOnly,
		&device: dlpack.SubbytePadded, &deviceOf: dlpack.SubbytePadded | dlpack.ReadOnly,
	} {
		if r.Flags() != want || r.Versioned().Flags != want {
			t.Errorf("got %v, want %v", r.Flags(), want)
		}
	}
}

func TestRecordPin(t *testing.T) {
	for _, shape := range [][]int64{nil, {0}, {1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		data := []float32{42}
		v, err := FromStrided(data, 0, shape, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := v.Record()
		var p runtime.Pinner
		got, want := r.Pin(&p), r.Tensor()
		if *got != want {
			t.Errorf("got %+v, want %+v", *got, want)
		}
		p.Unpin()
	}
	foreign, err := FromPointer[float32](unsafe.Pointer(&elsewhere), gpu, []int64{2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := foreign.Record()
	var p runtime.Pinner
	defer p.Unpin()
	if got := r.Pin(&p); got.Data != unsafe.Pointer(&elsewhere) {
		t.Error("data has changed")
	}
}

// elsewhere is memory that the collector does not manage.
var elsewhere [8]float32

type owner struct{ memory *[8]float32 }

// TestViewsKeep makes a view or record of memory or of an owner, drops all other references, and collects: the memory stays
// until the view or record itself is freed.
func TestViewsKeep(t *testing.T) {
	foreign := func(o *owner) Mut[float32] {
		v, err := FromPointer[float32](unsafe.Pointer(o.memory), managed, []int64{2, 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		host, err := v.Hold(o).Host()
		if err != nil {
			t.Fatal(err)
		}
		return host
	}
	for name, keep := range map[string]func(v Mut[float32], o *owner) (thing any, ofOwner bool){
		"view":                func(v Mut[float32], _ *owner) (any, bool) { return v, false },
		"row":                 func(v Mut[float32], _ *owner) (any, bool) { return v.Row(1), false },
		"slice":               func(v Mut[float32], _ *owner) (any, bool) { return v.Slice(), false },
		"device view":         func(v Mut[float32], _ *owner) (any, bool) { return v.OnDevice(), false },
		"record":              func(v Mut[float32], _ *owner) (any, bool) { return v.Record(), false },
		"tensor":              func(v Mut[float32], _ *owner) (any, bool) { r := v.Record(); return r.Tensor(), false },
		"view of tensor":      func(v Mut[float32], _ *owner) (any, bool) { return viewOfRecord(t, v.Record()), false },
		"owner by view":       func(_ Mut[float32], o *owner) (any, bool) { return foreign(o), true },
		"owner by row":        func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).Row(1).Of, true },
		"owner by device":     func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).Of.OnDevice(), true },
		"owner by record":     func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).Record(), true },
		"owner by Of.Hold":    func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).Of.Hold(nil).Hold(o), true },
		"owner by Mut.Hold":   func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).Hold(nil).Hold(o), true },
		"owner by DeviceHold": func(_ Mut[float32], o *owner) (any, bool) { return foreign(o).OnDevice().DeviceOf.Hold(o), true },
	} {
		t.Run(name, func(t *testing.T) { testKeep(t, keep) })
	}
}

func testKeep(t *testing.T, keep func(v Mut[float32], o *owner) (thing any, ofOwner bool)) {
	var memoryFreed, ownerFreed atomic.Bool
	thing, ofOwner := func() (any, bool) {
		data, o := make([]float32, 1024), &owner{&elsewhere}
		runtime.AddCleanup(&data[0], func(b *atomic.Bool) { b.Store(true) }, &memoryFreed)
		runtime.AddCleanup(o, func(b *atomic.Bool) { b.Store(true) }, &ownerFreed)
		v, err := FromSlice(data, 32, 32)
		if err != nil {
			t.Fatal(err)
		}
		return keep(v, o)
	}()
	kept, other := &memoryFreed, &ownerFreed
	if ofOwner {
		kept, other = other, kept
	}
	collectUntil(t, other) // which proves that all free memory has been found
	if kept.Load() {
		t.Error("freed too early")
	}
	runtime.KeepAlive(thing)
	thing = nil
	collectUntil(t, kept)
}

// collectUntil runs the collector until it has freed an object.
func collectUntil(t *testing.T, freed *atomic.Bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		if freed.Load() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("never freed")
}

func viewOfRecord(t *testing.T, r Record) Of[float32] {
	record := r.Tensor()
	v, err := View[float32](&record)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPinKeeps drops all references except the pinner.
func TestPinKeeps(t *testing.T) {
	var memoryFreed, otherFreed atomic.Bool
	var p runtime.Pinner
	func() {
		data, other := make([]float32, 1024), new([64]byte)
		runtime.AddCleanup(&data[0], func(b *atomic.Bool) { b.Store(true) }, &memoryFreed)
		runtime.AddCleanup(other, func(b *atomic.Bool) { b.Store(true) }, &otherFreed)
		v, err := FromSlice(data, 1024)
		if err != nil {
			t.Fatal(err)
		}
		r := v.Record()
		r.Pin(&p)
	}()
	collectUntil(t, &otherFreed)
	if memoryFreed.Load() {
		t.Error("freed too early")
	}
	p.Unpin()
	collectUntil(t, &memoryFreed)
}
