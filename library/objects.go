package library

// #include "library.h"
import "C"

import (
	"os"
	"sync"
	"time"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/kernel"
)

func init() {
	kernel.ManageObjects(grow)
	kernel.ManageMemory(lend)
}

// lend makes a tensor over Go's memory, whose deleter reports that the host has dropped it.
func lend(number uint64, t *dlpack.Tensor, flags dlpack.Flags) *dlpack.ManagedTensorVersioned {
	m := (*dlpack.ManagedTensorVersioned)(unsafe.Pointer(C.gd_lend(C.int64_t(number), C.int32_t(t.NDim))))
	if m == nil {
		return nil
	}
	m.Version, m.Flags = dlpack.Current, flags
	own := m.Tensor // whose shape and strides have room for ndim numbers
	m.Tensor = *t
	m.Tensor.Shape, m.Tensor.Strides = own.Shape, own.Strides
	if t.NDim > 0 {
		copy(unsafe.Slice(own.Shape, t.NDim), t.ShapeSlice())
		copy(unsafe.Slice(own.Strides, t.NDim), t.StridesSlice())
	}
	return m
}

// dropped is the list of objects that the host no longer has, while it is emptied.
var dropped struct {
	sync.Mutex
	rest   C.uint32_t
	places [256]C.uint32_t
	counts [256]C.int64_t
}

// started is the goroutine that empties the list while nobody calls the library.
var started sync.Once

// grow prepares C's side for more objects.
func grow(places int) bool {
	started.Do(func() { go watch() })
	return bool(C.gd_objects_grow(C.int(places)))
}

// watch empties the list some milliseconds after an object has been dropped. Calls of the library empty it, too; what an
// object holds must not stay only because there are no more calls.
func watch() {
	file := os.NewFile(uintptr(C.gd_objects_wake()), "dropped objects")
	if file == nil {
		return // no file: calls empty the list
	}
	var counter [8]byte
	for {
		if C.gd_objects_sleep() {
			if _, err := file.Read(counter[:]); err != nil {
				time.Sleep(time.Second) // no file that can be waited for: look now and then
			}
		}
		for idle := 0; idle < 2; idle++ {
			time.Sleep(time.Millisecond)
			if release() > 0 {
				idle = 0
			}
		}
	}
}

// release releases the objects that the host no longer has, and returns their number.
func release() int {
	dropped.Lock()
	defer dropped.Unlock()
	total := 0
	for {
		n := int(C.gd_objects_take(&dropped.rest, &dropped.places[0], &dropped.counts[0], C.int(len(dropped.places))))
		for i := range n {
			kernel.Release(uint64(dropped.places[i]), int64(dropped.counts[i]))
		}
		total += n
		if n < len(dropped.places) {
			return total
		}
	}
}
