package cuda

import (
	"slices"
	"testing"

	"godlpack/dlpack"
)

func TestView(t *testing.T) {
	dev := device(t)
	m := closing(t, must(dev.AllocManaged(24))(t))
	v := must(View[float32](m, 2, 3))(t)
	host := must(v.Host())(t)
	host.Set(5, 1, 2)
	if got := m.Bytes()[20:]; !slices.Equal(got, floats(5)) {
		t.Errorf("got % x", got)
	}
	onDevice := must(View[int64](closing(t, must(dev.Alloc(24))(t)), 3))(t)
	if _, err := onDevice.Host(); dlpack.KindOf(err) != dlpack.KindBuffer {
		t.Errorf("the host sees a device's memory: got %v", err)
	}
	for _, shape := range [][]int64{{7}, {-1}, {1 << 62, 4}, {1 << 40, 1 << 40}} {
		if _, err := View[float32](m, shape...); dlpack.KindOf(err) != dlpack.KindValue || err == nil {
			t.Errorf("shape %v: got %v, want a ValueError", shape, err)
		}
	}
	if _, err := View[float32](m, 0, 7); err != nil {
		t.Errorf("no elements: got %v", err)
	}
}
