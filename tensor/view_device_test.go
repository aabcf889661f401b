package tensor

import (
	"reflect"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

var (
	gpu     = dlpack.Device{Type: dlpack.CUDA, ID: 1}
	managed = dlpack.Device{Type: dlpack.CUDAManaged}
)

func TestFromPointer(t *testing.T) {
	memory := []float64{1, 2, 3, 4, 5, 6}
	p := unsafe.Pointer(&memory[0])
	v, err := FromPointer[float64](p, gpu, []int64{2, 3}, nil)
	if err != nil || v.Device() != gpu || v.Pointer() != p || v.Len() != 6 || v.Stride(0) != 3 || !v.Contiguous() {
		t.Errorf("got %+v, %v", v, err)
	}
	_, err = v.Host()
	wantKind(t, err, dlpack.KindBuffer)
	_, err = v.DeviceOf.Host()
	wantKind(t, err, dlpack.KindBuffer)

	shared, err := FromPointer[float64](p, managed, []int64{3, 2}, []int64{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	host, err := shared.Host()
	if err != nil || host.At(2, 1) != 6 || host.Device() != managed {
		t.Errorf("managed memory: got %v", err)
	}
	host.Set(7, 0, 0)
	if memory[0] != 7 || host.OnDevice().Pointer() != p || host.OnDevice().Device() != managed {
		t.Error("want the same memory")
	}
	if empty, err := FromPointer[float64](nil, gpu, []int64{0}, nil); err != nil || empty.Len() != 0 {
		t.Errorf("empty: got %v", err)
	}
}

func TestFromPointerRefuses(t *testing.T) {
	p := unsafe.Pointer(&[]float64{1, 2}[0])
	for name, f := range map[string]func() (DeviceMut[float64], error){
		"no data": func() (DeviceMut[float64], error) { return FromPointer[float64](nil, gpu, []int64{2}, nil) },
		"misaligned": func() (DeviceMut[float64], error) {
			return FromPointer[float64](unsafe.Add(p, 4), gpu, []int64{1}, nil)
		},
		"extent":      func() (DeviceMut[float64], error) { return FromPointer[float64](p, gpu, []int64{-1}, nil) },
		"strides":     func() (DeviceMut[float64], error) { return FromPointer[float64](p, gpu, []int64{2}, []int64{1, 2}) },
		"huge stride": func() (DeviceMut[float64], error) { return FromPointer[float64](p, gpu, []int64{2}, []int64{-1 << 63}) },
		"axes":        func() (DeviceMut[float64], error) { return FromPointer[float64](p, gpu, make([]int64, 65), nil) },
		"handle": func() (DeviceMut[float64], error) {
			return FromPointer[float64](p, dlpack.Device{Type: dlpack.OpenCL}, []int64{2}, nil)
		},
		"no device": func() (DeviceMut[float64], error) { return FromPointer[float64](p, dlpack.Device{}, []int64{2}, nil) },
	} {
		_, err := f()
		t.Log(name, err)
		wantKind(t, err, dlpack.KindValue)
	}
}

func TestDeviceViews(t *testing.T) {
	s := of(make([]float32, 6), []int64{2, 3}, nil, 0)
	s.Device = gpu
	if v, err := DeviceView[float32](&s.Tensor, On(dlpack.CUDA), RowMajor); err != nil || v.Device() != gpu {
		t.Errorf("got %v", err)
	}
	if v, err := DeviceMutView[float32](&s.Tensor); err != nil || v.Len() != 6 {
		t.Errorf("got %v", err)
	}
	_, err := DeviceMutView[float32](&s.Tensor, Flagged(dlpack.ReadOnly))
	wantKind(t, err, dlpack.KindBuffer)
	_, err = DeviceView[int32](&s.Tensor)
	wantKind(t, err, dlpack.KindType)
	s.Device.Type = dlpack.Vulkan
	_, err = DeviceView[float32](&s.Tensor)
	wantKind(t, err, dlpack.KindBuffer)
}

// TestKindsOfViews checks the methods of each kind of view: only views for the host have elements, only Mut has Set.
func TestKindsOfViews(t *testing.T) {
	for _, try := range []struct {
		view            reflect.Type
		at, set, record bool
	}{
		{reflect.TypeFor[Of[int8]](), true, false, true},
		{reflect.TypeFor[Mut[int8]](), true, true, true},
		{reflect.TypeFor[DeviceOf[int8]](), false, false, true},
		{reflect.TypeFor[DeviceMut[int8]](), false, false, true},
	} {
		for name, want := range map[string]bool{"At": try.at, "Slice": try.at, "Row": try.at, "Set": try.set, "Record": try.record} {
			if _, got := try.view.MethodByName(name); got != want {
				t.Errorf("%v: has %s: %v", try.view, name, got)
			}
		}
	}
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[Of[int8]](), reflect.TypeFor[Mut[int8]]()},
		{reflect.TypeFor[DeviceOf[int8]](), reflect.TypeFor[DeviceMut[int8]]()},
		{reflect.TypeFor[Of[int8]](), reflect.TypeFor[DeviceOf[int8]]()},
		{reflect.TypeFor[Mut[int8]](), reflect.TypeFor[DeviceMut[int8]]()},
		{reflect.TypeFor[Of[int8]](), reflect.TypeFor[Of[uint8]]()},
	} {
		if pair[0].AssignableTo(pair[1]) || pair[0].ConvertibleTo(pair[1]) || pair[1].AssignableTo(pair[0]) {
			t.Errorf("%v and %v are too much alike", pair[0], pair[1])
		}
	}
}
