package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// fake holds the driver of testdata/fake, and its functions beyond CUDA's.
var fake struct {
	loaded
	file    string
	log     func() string
	reset   func() // clears the log, and events that were not closed
	fail    func(name string, skip, code int32)
	live    func() string
	peek    func(to unsafe.Pointer, from uintptr, n uintptr) int32
	depth   func() int32
	capture func(stream uintptr, on int32)
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fake")
	if err != nil {
		panic(err)
	}
	fake.file = filepath.Join(dir, "libcuda.so.1")
	build := exec.Command("cc", "-O1", "-g", "-shared", "-fPIC", "-o", fake.file, "testdata/fake/fake.c")
	if said, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the fake driver does not build: %v\n%s", err, said)
		os.Exit(1)
	}
	if err := loadFake(); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func loadFake() error {
	os.Setenv(Variable, fake.file)
	l, err := load(Variable)
	if err != nil {
		return err
	}
	fake.loaded = l.(loaded)
	for name, f := range map[string]any{
		"fake_log": &fake.log, "fake_reset": &fake.reset, "fake_fail": &fake.fail, "fake_live": &fake.live,
		"fake_peek": &fake.peek, "fake_depth": &fake.depth, "fake_capture": &fake.capture,
	} {
		purego.RegisterLibFunc(f, fake.handle, name)
	}
	return nil
}

const nothingLeft = "memories=0 streams=0 events=0 modules=0 contexts=0"

// open initializes the fake for one test, which fails if it does not release everything.
func open(t *testing.T) *Driver {
	t.Helper()
	fake.reset()
	d, err := newDriver(fake.loaded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		fake.fail("", 0, 0)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if left := fake.live(); left != nothingLeft {
			t.Errorf("the test leaks: %s", left)
		}
	})
	return d
}

// device is device 0 of the fake.
func device(t *testing.T) *Device {
	t.Helper()
	dev, err := open(t).Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// must returns a function that fails the test for an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// closing closes a test's value at the end of the test.
func closing[C interface{ Close() error }](t *testing.T, c C) C {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// calls are the lines of the log that begin with a name.
func calls(name string) (found []string) {
	for line := range strings.Lines(fake.log()) {
		if strings.HasPrefix(line, name) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// peek reads a device's memory in its present state, without the queued work.
func peek(t *testing.T, m *Memory) []byte {
	t.Helper()
	b := make([]byte, m.size)
	if fake.peek(unsafe.Pointer(&b[0]), uintptr(m.start), uintptr(len(b))) == 0 {
		t.Fatal("no such memory")
	}
	return b
}

func floats(v ...float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}
