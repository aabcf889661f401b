package cuda

import "testing"

// BenchmarkCall measures a call of a function of the driver, without the function's own work.
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
