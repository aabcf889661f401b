package cuda

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"godlpack/dlpack"
)

// insist closes c until it succeeds, for tests that make a first Close fail. It returns the first error.
func insist(c interface{ Close() error }) error {
	first := c.Close()
	if m, ok := c.(*Memory); ok && first != nil {
		m.closed.Store(false)
	}
	if first != nil {
		_ = c.Close()
	}
	return first
}

// withStreams uses memory, copies, streams, events and pointers.
func withStreams(dev, other *Device) (err error) {
	note := func(e error) { err = errors.Join(err, e) }
	var all []*Memory
	for _, allocate := range []func() (*Memory, error){
		func() (*Memory, error) { return dev.Alloc(64) },
		func() (*Memory, error) { return other.Alloc(64) },
		func() (*Memory, error) { return dev.AllocHost(64) },
		func() (*Memory, error) { return dev.AllocManaged(64) },
		func() (*Memory, error) { return dev.AllocOn(dev.Default(), 64) },
	} {
		m, e := allocate()
		note(e)
		all = append(all, m)
	}
	defer func() {
		for _, m := range all {
			if m != nil {
				note(insist(m))
			}
		}
	}()
	if err != nil {
		return err
	}
	s, e := dev.NewStream()
	if e != nil {
		return e
	}
	defer func() { note(insist(s)) }()
	note(copies(dev, s, all))
	note(s.WaitFor(other.Default()))
	note(timing(dev, s))
	_, e = s.Capturing()
	note(e)
	note(s.Synchronize())
	_, e = s.Done()
	note(e)
	_, e = dev.driver.Locate(uintptr(all[0].start))
	note(e)
	_, _, e = dev.driver.Range(uintptr(all[0].start))
	note(e)
	last := all[4]
	if e := last.CloseOn(dev.Default()); e != nil {
		note(e)
		last.closed.Store(false)
	}
	note(dev.Default().Synchronize())
	return err
}

func copies(dev *Device, s Stream, all []*Memory) error {
	m, far, pinned := all[0], all[1], all[2]
	row := []int64{2, 8}
	return errors.Join(
		s.Upload(m.start, make([]byte, 64)), s.Download(pinned, m.start, 64), s.Copy(unsafe.Add(m.start, 8), m.start, 8), s.CopyFrom(far.device, m.start, far.start, 64),
		s.Fetch(make([]byte, 64), m.start), s.Fetch(nil, nil), s.Fill(m.start, []byte{1}, 64), s.Fill(m.start, []byte{1, 2}, 32), s.Fill(m.start, []byte{1, 2, 3, 4}, 16),
		s.CopyStrided(unsafe.Add(m.start, 32), m.start, row, []int64{8, 1}, []int64{16, 1}, 1),
		dev.Upload(m.start, make([]byte, 64)), dev.Download(make([]byte, 64), m.start), dev.Copy(m.start, m.start, 8),
	)
}

func timing(dev *Device, s Stream) (err error) {
	note := func(e error) { err = errors.Join(err, e) }
	var events [2]Event
	for i := range events {
		e, refused := dev.NewEvent(true)
		if refused != nil {
			return refused
		}
		defer func() { note(insist(e)) }()
		note(e.Record(s))
		note(e.Synchronize())
		_, refused = e.Done()
		note(refused)
		events[i] = e
	}
	if err == nil {
		_, refused := events[1].Since(events[0])
		note(refused)
	}
	return err
}

func TestMemoryKinds(t *testing.T) {
	dev := device(t)
	cases := []struct {
		allocate func(int) (*Memory, error)
		where    string
		host     bool
	}{
		{dev.Alloc, "cuda:0", false},
		{dev.AllocHost, "cuda_host", true},
		{dev.AllocManaged, "cuda_managed", true},
		{func(n int) (*Memory, error) { return dev.AllocOn(dev.Default(), n) }, "cuda:0", false},
	}
	for _, c := range cases {
		m := must(c.allocate(24))(t)
		if m.DLPack().String() != c.where || m.Size() != 24 || m.Pointer() == nil || (m.Bytes() != nil) != c.host {
			t.Errorf("%s: got %s, %d bytes, host %t", c.where, m.DLPack(), m.Size(), m.Bytes() != nil)
		}
		if got := must(dev.driver.Locate(uintptr(unsafe.Add(m.start, 5))))(t); got != m.DLPack() {
			t.Errorf("located on %s, want %s", got, m.DLPack())
		}
		if start, n, err := dev.driver.Range(uintptr(unsafe.Add(m.start, 5))); start != uintptr(m.start) || n != 24 || err != nil {
			t.Errorf("got range %#x, %d, %v", start, n, err)
		}
		for range 3 {
			check(t, m.Close())
		}
		none := must(c.allocate(0))(t)
		if none.Pointer() != nil || none.Close() != nil {
			t.Error("no bytes: want no memory")
		}
		if _, err := c.allocate(-1); dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("-1 bytes: got %v", err)
		}
	}
	var ours byte
	if got := must(dev.driver.Locate(uintptr(unsafe.Pointer(&ours))))(t); got.Type != dlpack.CPU {
		t.Errorf("memory of Go is on %s", got)
	}
}

func TestCopies(t *testing.T) {
	dev := device(t)
	a, b := closing(t, must(dev.Alloc(16))(t)), closing(t, must(dev.Alloc(16))(t))
	want := []byte("0123456789abcdef")
	check(t, dev.Upload(a.start, want))
	check(t, dev.Copy(b.start, a.start, 16))
	got := make([]byte, 16)
	check(t, dev.Download(got, b.start))
	if !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := dev.Upload(a.start, make([]byte, 17)); !errors.Is(err, &Error{Result: InvalidValue}) {
		t.Errorf("17 bytes into 16: got %v", err)
	}
	for _, err := range []error{
		dev.Upload(nil, nil), dev.Download(nil, nil), dev.Copy(nil, nil, 0), dev.Default().Upload(nil, nil), dev.Default().Copy(nil, nil, 0),
		dev.Default().CopyFrom(dev, nil, nil, 0), dev.Default().Fill(nil, []byte{0}, 0),
	} {
		if err != nil {
			t.Errorf("no bytes: got %v", err)
		}
	}
}

func TestCopyToAnotherDevice(t *testing.T) {
	d := open(t)
	first, second := must(d.Device(0))(t), must(d.Device(1))(t)
	a, b := closing(t, must(first.Alloc(4))(t)), closing(t, must(second.Alloc(4))(t))
	check(t, first.Upload(a.start, []byte("spam")))
	check(t, second.Default().CopyFrom(first, b.start, a.start, 4))
	check(t, second.Default().Synchronize())
	if got := peek(t, b); string(got) != "spam" {
		t.Errorf("got %q", got)
	}
}

// Queued work is not done before a wait; pinned bytes are read when the stream gets there, others at once.
func TestQueuedCopies(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	m, pinned := closing(t, must(dev.Alloc(4))(t)), closing(t, must(dev.AllocHost(4))(t))
	ordinary := []byte("once")
	check(t, s.Upload(m.start, ordinary))
	copy(ordinary, "late")
	if string(peek(t, m)) == "once" {
		t.Error("done before it was waited for")
	}
	check(t, s.Synchronize())
	if got := peek(t, m); string(got) != "once" {
		t.Errorf("got %q", got)
	}
	copy(pinned.Bytes(), "then")
	check(t, s.Upload(m.start, pinned.Bytes()))
	copy(pinned.Bytes(), "late")
	check(t, s.Synchronize())
	if got := peek(t, m); string(got) != "late" {
		t.Errorf("got %q", got)
	}
	check(t, s.Fill(m.start, []byte("ab"), 2))
	check(t, s.Download(pinned, m.start, 4))
	if got := string(pinned.Bytes()); got != "late" {
		t.Errorf("got %q before it was waited for", got)
	}
	check(t, s.Synchronize())
	if got := string(pinned.Bytes()); got != "abab" {
		t.Errorf("got %q", got)
	}
	check(t, s.Fill(m.start, []byte("xy"), 2))
	fetched := make([]byte, 4)
	check(t, s.Fetch(fetched, m.start))
	if string(fetched) != "xyxy" {
		t.Errorf("got %q", fetched)
	}
	for _, err := range []error{s.Download(pinned, m.start, 5), s.Download(pinned, m.start, -1), s.Download(m, m.start, 4), s.Fill(m.start, []byte("abc"), 1)} {
		if dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("got %v, want a ValueError", err)
		}
	}
}

func TestMemoryInStreamOrder(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	m := must(dev.AllocOn(s, 4))(t)
	check(t, s.Fill(m.start, []byte{7}, 4))
	check(t, m.CloseOn(s))
	check(t, m.Close()) // a second Close has no effect
	if fake.live() == nothingLeft {
		t.Error("freed before the stream got there")
	}
	check(t, s.Synchronize())
	if len(calls("cuMemFree_v2")) != 0 || len(calls("cuMemFreeAsync")) != 1 {
		t.Errorf("got\n%s", fake.log())
	}
}

// Close waits for work on any stream that uses the memory.
func TestCloseWaits(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	m, pinned := must(dev.Alloc(4))(t), closing(t, must(dev.AllocHost(4))(t))
	check(t, s.Fill(m.start, []byte{7}, 4))
	check(t, s.Download(pinned, m.start, 4))
	check(t, m.Close())
	if got := pinned.Bytes(); !slices.Equal(got, []byte{7, 7, 7, 7}) {
		t.Errorf("got %v", got)
	}
	if done := must(s.Done())(t); !done {
		t.Error("work is left")
	}
}

// Three addresses alone free memory that was detached.
func TestDetach(t *testing.T) {
	dev := device(t)
	for _, kind := range []dlpack.DeviceType{dlpack.CUDA, dlpack.CUDAHost, dlpack.CUDAManaged} {
		m := must(dev.AllocOf(kind, 8))(t)
		d := m.Detach()
		check(t, m.Close())
		if again := m.Detach(); again != (Deleter{}) {
			t.Error("given away twice")
		}
		runtime.LockOSThread()
		var popped uintptr
		for _, step := range []int32{
			fake.call(d.Push, []uintptr{d.Context}), fake.call(d.Free, []uintptr{d.Address}), fake.call(d.Pop, []uintptr{uintptr(unsafe.Pointer(&popped))}),
		} {
			if step != 0 {
				t.Errorf("%s: got CUresult %d", kind, step)
			}
		}
		runtime.UnlockOSThread()
	}
	if _, err := dev.AllocOf(dlpack.ROCm, 8); dlpack.KindOf(err) != dlpack.KindBuffer {
		t.Errorf("got %v, want a BufferError", err)
	}
	if none := must(dev.Alloc(0))(t); none.Detach() != (Deleter{}) {
		t.Error("no bytes, but something to free")
	}
}
