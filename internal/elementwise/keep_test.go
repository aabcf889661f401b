package elementwise

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// The records stay alive until the kernel is done, although its packed values hide them from Go's collector.
func TestRecordsOutliveTheCall(t *testing.T) {
	lost := make(chan string, 2)
	idle := *filling
	idle.Do = func(*kernel.Call) error {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // cleanups run in a goroutine of their own
		return nil
	}
	if err := run(&idle, nil, At(watched("dst", lost), 0), At(watched("value", lost), 0)); err != nil {
		t.Fatal(err)
	}
	for range len(lost) {
		t.Errorf("%s was collected before the kernel was done", <-lost)
	}
}

// watched returns an int8 in Go memory. Its name is sent when the record is collected.
func watched(name string, lost chan<- string) *dlpack.Tensor {
	record := &dlpack.Tensor{Device: dlpack.Host, DType: dlpack.Int8, Data: unsafe.Pointer(new(int8))}
	runtime.AddCleanup(record, func(name string) { lost <- name }, name)
	return record
}
