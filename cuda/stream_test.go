package cuda

import (
	"errors"
	"strings"
	"testing"

	"godlpack/dlpack"
)

func TestStreamArgument(t *testing.T) {
	cases := []struct {
		value  int64
		given  bool
		handle uintptr
		sync   bool
		bad    bool
	}{
		{0, false, Legacy, true, false}, // None
		{-1, true, 0, false, false},
		{1, true, Legacy, true, false},
		{2, true, PerThread, true, false},
		{3, true, 3, true, false},
		{1 << 47, true, 1 << 47, true, false},
		{0, true, 0, false, true},
		{-2, true, 0, false, true},
	}
	for _, c := range cases {
		handle, sync, err := StreamArgument(c.value, c.given)
		if handle != c.handle || sync != c.sync || (err != nil) != c.bad || c.bad && dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("%+v: got %#x, %t, %v", c, handle, sync, err)
		}
	}
}

func TestInterfaceStream(t *testing.T) {
	if handle, sync, err := InterfaceStream(0, false); handle != 0 || sync || err != nil {
		t.Errorf("None: got %#x, %t, %v", handle, sync, err)
	}
	for _, value := range []int64{0, -1, -7} {
		if _, _, err := InterfaceStream(value, true); dlpack.KindOf(err) != dlpack.KindValue || err == nil {
			t.Errorf("%d: got %v, want a ValueError", value, err)
		}
	}
	for _, value := range []int64{1, 2, 4096} {
		if handle, sync, err := InterfaceStream(value, true); handle != uintptr(value) || !sync || err != nil {
			t.Errorf("%d: got %#x, %t, %v", value, handle, sync, err)
		}
	}
}

// Without WaitFor, a stream of the fake reads old bytes; with it, new ones, and the host never waits.
func TestWaitFor(t *testing.T) {
	dev := device(t)
	producer, consumer := closing(t, must(dev.NewStream())(t)), closing(t, must(dev.NewStream())(t))
	m, result := closing(t, must(dev.Alloc(4))(t)), closing(t, must(dev.Alloc(4))(t))
	for _, ordered := range []bool{false, true} {
		check(t, dev.Upload(m.start, []byte("old!")))
		check(t, producer.Upload(m.start, []byte("new!")))
		if ordered {
			check(t, consumer.WaitFor(producer))
		}
		check(t, consumer.Copy(result.start, m.start, 4))
		check(t, consumer.Synchronize())
		if got, want := string(peek(t, result)), map[bool]string{false: "old!", true: "new!"}[ordered]; got != want {
			t.Errorf("ordered %t: got %q, want %q", ordered, got, want)
		}
		check(t, producer.Synchronize())
	}
	if n := len(calls("cuEventSynchronize")); n != 0 {
		t.Errorf("the host waited %d times", n)
	}
}

func TestWaitForItself(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	for _, pair := range [][2]Stream{{s, dev.Stream(s.Handle())}, {dev.Default(), dev.Stream(0)}, {dev.Stream(0), dev.Stream(1)}} {
		check(t, pair[0].WaitFor(pair[1]))
	}
	if len(calls("cuEvent")) != 0 {
		t.Errorf("want no event for one and the same stream, got\n%s", fake.log())
	}
	check(t, dev.Stream(PerThread).WaitFor(dev.Default()))
	if got := calls("cuStreamWaitEvent"); len(got) != 1 || !strings.HasPrefix(got[0], "cuStreamWaitEvent @0 2 for") {
		t.Errorf("the two default streams are not one: got %q", got)
	}
}

func TestWaitForAnotherDevice(t *testing.T) {
	d := open(t)
	first, second := must(d.Device(0))(t), must(d.Device(1))(t)
	producer := closing(t, must(second.NewStream())(t))
	check(t, first.Default().WaitFor(producer))
	for _, want := range []string{"cuEventCreate @1", "cuEventRecord @1", "cuStreamWaitEvent @0", "cuEventDestroy_v2 @1"} {
		if len(calls(want)) != 1 {
			t.Errorf("want %s, got\n%s", want, fake.log())
		}
	}
	if first.Default().Is(second.Default()) {
		t.Error("two devices' default streams are one")
	}
}

func TestStreamQuestions(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	m := closing(t, must(dev.Alloc(4))(t))
	check(t, s.Fill(m.start, []byte{1}, 4))
	if done := must(s.Done())(t); done {
		t.Error("done at once")
	}
	check(t, s.Synchronize())
	if done := must(s.Done())(t); !done {
		t.Error("not done after Synchronize")
	}
	fake.capture(s.Handle(), 1)
	if capturing := must(s.Capturing())(t); !capturing {
		t.Error("not capturing")
	}
	fake.capture(s.Handle(), 0)
	if capturing := must(s.Capturing())(t); capturing {
		t.Error("capturing")
	}
	if err := dev.Stream(0x1234560).Synchronize(); !errors.Is(err, &Error{Result: InvalidHandle}) {
		t.Errorf("a stream that nobody made: got %v", err)
	}
	if s.Device() != dev {
		t.Error("the stream does not know its device")
	}
}

func TestEvents(t *testing.T) {
	dev := device(t)
	s := closing(t, must(dev.NewStream())(t))
	m := closing(t, must(dev.Alloc(4))(t))
	start, end := closing(t, must(dev.NewEvent(true))(t)), closing(t, must(dev.NewEvent(true))(t))
	check(t, start.Record(s))
	check(t, s.Fill(m.start, []byte{1}, 4))
	check(t, end.Record(s))
	if done := must(end.Done())(t); done {
		t.Error("done at once")
	}
	if _, err := end.Since(start); !errors.Is(err, &Error{Result: NotReady}) {
		t.Errorf("got %v, want CUDA_ERROR_NOT_READY", err)
	}
	check(t, end.Synchronize())
	if done := must(end.Done())(t); !done {
		t.Error("not done after Synchronize")
	}
	if passed := must(end.Since(start))(t); passed <= 0 {
		t.Errorf("%v passed", passed)
	}
}
