package cuda

import "testing"

// BenchmarkCall is what it costs to call a function of the driver, without what the function does.
func BenchmarkCall(b *testing.B) {
	d, err := newDriver(fake.loaded)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = d.textOf(fnGetErrorName, Success)
	}
}
