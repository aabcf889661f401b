package kernel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"godlpack/kernel"
	"godlpack/packed"
)

var (
	taskClass = kernel.RegisterTasks()

	// work is what tasks of the function work do.
	work func(ctx context.Context) (func(*kernel.Call), error)
)

func init() {
	task := kernel.Param{Kind: kernel.KindObject, Classes: []string{kernel.TaskClass}}
	number := []kernel.Param{{Kind: kernel.KindInt, Bits: 64}}
	kernel.Register(kernel.Func{Name: "work", Async: true, Results: []kernel.Param{task}, Awaits: number, Do: func(c *kernel.Call) error {
		taskClass.Return(c, kernel.NewTask(c, work))
		return nil
	}})
	task.Name = "task"
	kernel.Register(kernel.Func{Name: "work", Role: kernel.Result, Params: []kernel.Param{task}, Results: number, Do: kernel.Await})
}

// registeredAs returns a function of a class, or of a role.
func registeredAs(t testing.TB, class, name string, role kernel.Role) *kernel.Func {
	t.Helper()
	for _, f := range kernel.Funcs() {
		if f.Class == class && f.Name == name && f.Role == role {
			return f
		}
	}
	t.Fatalf("no %s.%s", class, name)
	return nil
}

// method calls a method of a Task or a Notifier.
func method(t testing.TB, class, name string, role kernel.Role, args ...any) any {
	t.Helper()
	c, h := newCall(args...), newHost()
	if err := c.of(registeredAs(t, class, name, role), h); err != nil {
		t.Fatal(err)
	}
	return c.result(t, h)
}

// A loop is an event loop's side of a Notifier.
type loop struct {
	notifier uint64
	file     *os.File
	known    int
}

func newLoop(t testing.TB) *loop {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close() // the Notifier has its own
	c, h := newCall(packed.Int(int64(writer.Fd()))), newHost()
	if err := c.of(registeredAs(t, kernel.TaskClass, "open", kernel.Static), h); err != nil {
		t.Fatal(err)
	}
	l := &loop{uint64(c.ret.Get().Value), reader, 0}
	t.Cleanup(func() {
		kernel.Release(l.notifier, 1)
		if n, err := reader.Read(make([]byte, 64)); n != 0 || err == nil {
			t.Errorf("the Notifier has not closed its file: read %d bytes, %v", n, err)
		}
		reader.Close()
	})
	return l
}

// begin begins a task with a ticket.
func (l *loop) begin(t testing.TB, task uint64, ticket int64) {
	t.Helper()
	method(t, kernel.TaskClass, "begin", kernel.Method, packed.Object(task), packed.Object(l.notifier), packed.Int(ticket))
}

// wait returns the tickets that have come, at least one.
func (l *loop) wait(t testing.TB) []any {
	t.Helper()
	var one [8]byte
	if n, err := l.file.Read(one[:]); n != 8 || err != nil || binary.NativeEndian.Uint64(one[:]) == 0 {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	return l.ended(t)
}

func (l *loop) ended(t testing.TB) []any {
	t.Helper()
	list, _ := method(t, kernel.NotifierClass, "ended", kernel.Method, packed.Object(l.notifier), packed.Int(int64(l.known))).([]any)
	l.known += len(list)
	return list
}

func task(t testing.TB, do func(ctx context.Context) (func(*kernel.Call), error)) uint64 {
	t.Helper()
	work = do
	c, h := newCall(), newHost()
	if err := c.of(registeredAs(t, "", "work", kernel.FreeFunction), h); err != nil {
		t.Fatal(err)
	}
	return uint64(c.ret.Get().Value)
}

func await(t testing.TB, number uint64) (any, error) {
	t.Helper()
	c, h := newCall(packed.Object(number)), newHost()
	if err := c.of(registeredAs(t, "", "work", kernel.Result), h); err != nil {
		return nil, err
	}
	return c.result(t, h), nil
}

func TestTask(t *testing.T) {
	l := newLoop(t)
	number := task(t, func(context.Context) (func(*kernel.Call), error) {
		return func(c *kernel.Call) { c.ReturnInt(7) }, nil
	})
	if _, err := await(t, number); err == nil || !strings.Contains(err.Error(), "work(): the task has not ended") {
		t.Error(err)
	}
	l.begin(t, number, 12)
	if got := l.wait(t); len(got) != 1 || got[0] != int64(12) {
		t.Errorf("want ticket 12, got %v", got)
	}
	if got, err := await(t, number); got != int64(7) || err != nil {
		t.Error(got, err)
	}
	c, h := newCall(packed.Object(number), packed.Object(l.notifier), packed.Int(13)), newHost()
	if err := c.of(registeredAs(t, kernel.TaskClass, "begin", kernel.Method), h); err == nil || !strings.Contains(err.Error(), "has begun already") {
		t.Error(err)
	}
	kernel.Release(number, 1)
}

func TestTaskFails(t *testing.T) {
	l := newLoop(t)
	for text, do := range map[string]func(){
		"Go panicked: x":                nil,
		"work() called runtime.Goexit":  runtime.Goexit,
		"want an error of this package": func() { panic(kernel.Errorf(kernel.ValueError, "want an error of this package")) },
	} {
		number := task(t, func(context.Context) (func(*kernel.Call), error) {
			if do == nil {
				panic("x")
			}
			do()
			return nil, nil
		})
		l.begin(t, number, 1)
		l.wait(t)
		if _, err := await(t, number); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
		kernel.Release(number, 1)
	}
}

// A Task that is cancelled, or dropped, before it has begun or while it runs, ends.
func TestTaskEndsEarly(t *testing.T) {
	l := newLoop(t)
	cancel := func(number uint64) {
		method(t, kernel.TaskClass, "cancel", kernel.Method, packed.Object(number))
	}
	drop := func(number uint64) { kernel.Release(number, 1) }
	for i, end := range []func(uint64){cancel, drop} {
		ended := make(chan error, 1)
		number := task(t, func(ctx context.Context) (func(*kernel.Call), error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		l.begin(t, number, int64(i))
		end(number)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := l.wait(t); len(got) != 1 || got[0] != int64(i) {
			t.Errorf("want ticket %d, got %v", i, got)
		}
		if i == 0 {
			drop(number)
		}
	}
}

// The file is written once for many ends; tickets that the host has not got come again.
func TestNotifier(t *testing.T) {
	l := newLoop(t)
	begin := func(ticket int64) {
		number := task(t, func(context.Context) (func(*kernel.Call), error) {
			return func(c *kernel.Call) { c.ReturnInt(1) }, nil
		})
		l.begin(t, number, ticket)
		t.Cleanup(func() { kernel.Release(number, 1) })
	}
	for i := range int64(5) {
		begin(i)
	}
	time.Sleep(20 * time.Millisecond)
	if got := l.wait(t); len(got) != 5 {
		t.Errorf("want 5 tickets, got %v", got)
	}
	l.known = 0
	begin(5) // meanwhile
	time.Sleep(20 * time.Millisecond)
	if got := l.wait(t); len(got) != 5 {
		t.Errorf("want the same tickets again, got %v", got)
	}
	if got := l.wait(t); len(got) != 1 || got[0] != int64(5) {
		t.Errorf("want ticket 5, and the file written for it, got %v", got)
	}
	if got := l.ended(t); len(got) != 0 {
		t.Errorf("want no more tickets, got %v", got)
	}
	if err := l.file.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := l.file.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("want one write, got %d more bytes, %v", n, err)
	}
	_ = l.file.SetReadDeadline(time.Time{})
}

// A file that cannot be watched is an error.
func TestNotifierWithoutFile(t *testing.T) {
	c, h := newCall(packed.Int(1<<30)), newHost()
	if err := c.of(registeredAs(t, kernel.TaskClass, "open", kernel.Static), h); err == nil {
		t.Error("want an error")
	}
}

// An Iterator tells of an element, and of its end, at once or later.
func TestIteratorNotifies(t *testing.T) {
	l := newLoop(t)
	more := make(chan int)
	number := begun(t, 1, func(yield func(int) bool) {
		for i := range more {
			if !yield(i) {
				return
			}
		}
	})
	batches := int64(0)
	watch := func(ticket int64) {
		method(t, kernel.NotifierClass, "watch", kernel.Method, packed.Object(l.notifier), packed.Object(number), packed.Int(ticket), packed.Int(batches))
	}
	watch(1)
	watch(2) // in place of the first one
	more <- 5
	if got := l.wait(t); len(got) != 1 || got[0] != int64(2) {
		t.Errorf("want ticket 2, got %v", got)
	}
	watch(3) // there is an element already
	if got := l.wait(t); len(got) != 1 || got[0] != int64(3) {
		t.Errorf("want ticket 3, got %v", got)
	}
	if got, err := take(t, number, 0); len(got) != 1 || err != nil {
		t.Error(got, err)
	}
	watch(4) // the host has not got the batch
	if got := l.wait(t); len(got) != 1 || got[0] != int64(4) {
		t.Errorf("want ticket 4, got %v", got)
	}
	batches = 1
	watch(5)
	close(more)
	if got := l.wait(t); len(got) != 1 || got[0] != int64(5) {
		t.Errorf("want ticket 5, got %v", got)
	}
	kernel.Release(number, 1)
}
