package cuda

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"godlpack/dlpack"
)

func TestNoDriver(t *testing.T) {
	t.Setenv(Variable, "libnowhere.so.1")
	d, err := findDriver()
	if d != nil || !errors.Is(err, ErrNoDriver) || dlpack.KindOf(err) != dlpack.KindBuffer {
		t.Fatalf("got %v, %v; want a BufferError that is ErrNoDriver", d, err)
	}
	if !strings.HasPrefix(err.Error(), "BufferError: no CUDA driver: ") || !strings.Contains(err.Error(), "libnowhere") {
		t.Errorf("got %q: want what is missing, and the loader's words", err)
	}
}

func TestFindDriver(t *testing.T) {
	d := must(findDriver())(t)
	if major, minor, err := d.Version(); major != 13 || minor != 2 || err != nil {
		t.Errorf("got CUDA %d.%d, %v", major, minor, err)
	}
	if n := must(d.Count())(t); n != 2 {
		t.Errorf("got %d devices", n)
	}
}

func TestNoDevices(t *testing.T) {
	t.Setenv("FAKE_CUDA_DEVICES", "0")
	_, err := newDriver(fake.loaded)
	if !errors.Is(err, &Error{Result: NoDevice}) || dlpack.KindOf(err) != dlpack.KindBuffer {
		t.Errorf("got %v, want CUDA_ERROR_NO_DEVICE as a BufferError", err)
	}
}

func TestDevice(t *testing.T) {
	d := open(t)
	dev := must(d.Device(1))(t)
	if again := must(d.Device(1))(t); again != dev {
		t.Error("the device was opened twice")
	}
	if name := must(dev.Name())(t); name != "Fake 1" {
		t.Errorf("got %q", name)
	}
	if major, minor, err := dev.ComputeCapability(); major != 9 || minor != 0 || err != nil {
		t.Errorf("got %d.%d, %v", major, minor, err)
	}
	if free, total, err := dev.Memory(); free != 1<<31 || total != 1<<32 || err != nil {
		t.Errorf("got %d of %d, %v", free, total, err)
	}
	if dev.ID() != 1 || dev.DLPack().String() != "cuda:1" || !dev.HasPools() || dev.Context() == 0 {
		t.Errorf("got %+v", dev)
	}
	for _, id := range []int{-1, 2} {
		if _, err := d.Device(id); !errors.Is(err, &Error{Result: InvalidDevice}) || dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("device %d: got %v, want a ValueError", id, err)
		}
	}
}

// A thread's own current context is current again after each call of this package, also after a failure.
func TestThreadKeepsItsContext(t *testing.T) {
	d := open(t)
	first, second := must(d.Device(0))(t), must(d.Device(1))(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(t, first.do(func() error {
		m, err := second.Alloc(8)
		check(t, err)
		check(t, m.Close())
		if _, err := second.Alloc(1 << 40); !errors.Is(err, &Error{Result: OutOfMemory}) || dlpack.KindOf(err) != dlpack.KindMemory {
			t.Errorf("got %v, want a MemoryError", err)
		}
		if fake.depth() != 1 {
			t.Errorf("%d contexts on the thread's stack, want 1", fake.depth())
		}
		return nil
	}))
	if fake.depth() != 0 {
		t.Errorf("%d contexts on the thread's stack, want 0", fake.depth())
	}
	if got := calls("cuMemAlloc_v2"); len(got) != 2 || got[0] != "cuMemAlloc_v2 @1 8" {
		t.Errorf("got %q: want the allocations on device 1", got)
	}
}

func TestManyThreads(t *testing.T) {
	dev := device(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				m, err := dev.Alloc(64 + i)
				if err == nil {
					err = errors.Join(dev.Upload(m.Pointer(), make([]byte, 64)), m.Close())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// lacking is a driver without some functions.
type lacking struct {
	loaded
	names []string
}

func (l lacking) symbol(name string) uintptr {
	for _, n := range l.names {
		if n == name {
			return 0
		}
	}
	return l.loaded.symbol(name)
}

func TestOldDriver(t *testing.T) {
	fake.reset()
	d := must(newDriver(lacking{fake.loaded, []string{"cuMemAllocAsync", "cuMemcpyPeerAsync"}}))(t)
	defer d.Close()
	dev := must(d.Device(0))(t)
	if dev.HasPools() {
		t.Error("pools without cuMemAllocAsync")
	}
	m := must(dev.AllocOn(dev.Default(), 8))(t)
	check(t, m.CloseOn(dev.Default()))
	if len(calls("cuMemAlloc_v2")) != 1 || len(calls("cuMemFree_v2")) != 1 {
		t.Errorf("want plain memory instead, got\n%s", fake.log())
	}
	if err := dev.Default().CopyFrom(dev, m.start, m.start, 1); err == nil || !strings.Contains(err.Error(), "cuMemcpyPeerAsync") {
		t.Errorf("got %v, want an error that names what is missing", err)
	}
}

func TestErrorWords(t *testing.T) {
	dev := device(t)
	fake.fail("cuMemAlloc_v2", 0, 2)
	_, err := dev.Alloc(1)
	const want = "MemoryError: no memory on cuda:0: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
	if err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	fake.fail("cuStreamSynchronize", 0, 12345)
	if err := dev.Default().Synchronize(); err == nil || !strings.Contains(err.Error(), "unknown (12345)") {
		t.Errorf("got %v", err)
	}
}

// Whichever call fails, the error names it, the thread's context is restored, and nothing leaks.
func TestEveryCallMayFail(t *testing.T) {
	for _, name := range names {
		if name == "cuCtxPopCurrent_v2" {
			continue // it undoes the push: if it fails, the thread's context is lost
		}
		failed := false
		for skip := int32(0); ; skip++ {
			fake.fail("", 0, 0)
			fake.reset()
			d := must(newDriver(fake.loaded))(t)
			fake.fail(name, skip, 999)
			err := everything(d)
			fake.fail("", 0, 0)
			check(t, d.Close())
			lostEvent := name == "cuEventDestroy_v2" || name == "cuCtxPushCurrent_v2" // WaitFor has no owner for its event
			if left := fake.live(); left != nothingLeft && !(lostEvent && left == strings.Replace(nothingLeft, "events=0", "events=1", 1)) {
				t.Fatalf("%s failed at its call %d: %s", name, skip, left)
			}
			if err == nil {
				break
			}
			failed = true
			if !errors.Is(err, &Error{Result: 999}) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s failed at its call %d: got %v", name, skip, err)
			}
		}
		switch name {
		case "cuInit", "cuGetErrorName", "cuGetErrorString", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuCtxGetCurrent", "cuDeviceTotalMem_v2":
		default:
			if !failed {
				t.Errorf("%s was not called, or its failure was lost", name)
			}
		}
	}
}

// everything calls every function, and releases all that it made.
func everything(d *Driver) (err error) {
	note := func(e error) { err = errors.Join(err, e) }
	_, _, e := d.Version()
	note(e)
	_, e = d.Count()
	note(e)
	first, e := d.Device(0)
	note(e)
	second, e := d.Device(1)
	note(e)
	if first == nil || second == nil {
		return err
	}
	_, e = first.Name()
	note(e)
	_, _, e = first.ComputeCapability()
	note(e)
	_, _, e = first.Memory()
	note(e)
	note(withStreams(first, second))
	note(withKernel(first))
	return err
}
