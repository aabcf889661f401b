package kernel

import (
	"context"
	"runtime/debug"
	"sync"
)

// A Task is a call that goes on while the host does other work: the library's class of the results of functions that are
// coroutines for the host. Its body runs in a goroutine of its own, once the host has begun it, and tells a Notifier when it has
// ended. The host then takes the results, which become values of the host on its own thread. The body's context is cancelled
// when the host cancels or drops the Task.
type Task struct {
	label   string // of the function that made it
	later   *Func  // with the results that the host awaits
	extents [maxNames]int64
	context context.Context
	cancel  context.CancelFunc
	body    func(ctx context.Context) (give func(*Call), err error)

	mu    sync.Mutex
	begun bool
	ended bool
	give  func(*Call) // returns the results
	err   error
}

// TaskClass is the name of the class Task among those of a library.
const TaskClass = "_Task"

// RegisterTasks adds the classes Task and Notifier, after that of iterators, to those that the library offers, with the methods
// by which the host uses them: TaskFuncs. It is for init functions.
func RegisterTasks() ClassOf[Task] {
	tasks := RegisterClass[Task](Class{Name: TaskClass})
	notifiers := RegisterClass[Notifier](Class{Name: NotifierClass})
	for _, f := range TaskFuncs() {
		switch f.Name {
		case "begin":
			f.Do = func(c *Call) error {
				return tasks.Object(c, 0).begin(notifiers.Object(c, 1), Int[int64](c, 2))
			}
		case "cancel":
			f.Do = func(c *Call) error {
				tasks.Object(c, 0).cancel()
				return nil
			}
		case "open":
			f.Do = func(c *Call) error {
				n, err := newNotifier(Int[int](c, 0))
				notifiers.Return(c, n)
				return err
			}
		case "ended":
			f.Do = func(c *Call) error {
				ReturnInts(c, notifiers.Object(c, 0).ended(Int[int](c, 1)))
				return nil
			}
		case "watch":
			f.Do = func(c *Call) error {
				Interface[*Iterator](c, 1).notify(notifiers.Object(c, 0), Int[int64](c, 2), Int[int](c, 3))
				return nil
			}
		}
		Register(f)
	}
	return tasks
}

// TaskFuncs returns the declarations of the methods of Task and Notifier. They take microseconds, and wait for nothing.
func TaskFuncs() []Func {
	object := func(name, class string) Param { return Param{Name: name, Kind: KindObject, Classes: []string{class}} }
	number := func(name string) Param { return Param{Name: name, Kind: KindInt, Bits: 64} }
	method := func(class, name string, params ...Param) Func {
		return Func{Name: name, Class: class, Role: Method, Params: append([]Param{object("self", class)}, params...), HoldGIL: true}
	}
	open := Func{Name: "open", Class: TaskClass, Role: Static, Params: []Param{number("file")}, Results: []Param{object("", NotifierClass)}, HoldGIL: true}
	ended := method(NotifierClass, "ended", number("known"))
	ended.Results = []Param{{Kind: KindList, Elem: &Param{Kind: KindInt, Bits: 64}}}
	return []Func{
		method(TaskClass, "begin", object("notifier", NotifierClass), number("ticket")),
		method(TaskClass, "cancel"),
		open,
		ended,
		method(NotifierClass, "watch", object("iterator", IteratorClass), number("ticket"), number("batches")),
	}
}

// NewTask returns a Task whose body has not begun.
func NewTask(c *Call, body func(ctx context.Context) (give func(*Call), err error)) *Task {
	t := &Task{label: c.fn.label(), later: c.fn.plan.later, extents: c.extents, body: body}
	t.context, t.cancel = withRunning(t.label)
	return t
}

// begin starts the body, which tells n the ticket at its end.
func (t *Task) begin(n *Notifier, ticket int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return Errorf(RuntimeError, "%s(): the task has begun already", t.label)
	}
	t.begun = true
	go t.run(t.body, n, ticket)
	t.body = nil
	return nil
}

// run runs the body in its goroutine. A panic ends it like an error, as does runtime.Goexit.
func (t *Task) run(body func(ctx context.Context) (func(*Call), error), n *Notifier, ticket int64) {
	var give func(*Call)
	err := error(Errorf(RuntimeError, "%s() called runtime.Goexit", t.label))
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			err = panicked(t.label, p)
		}
		t.cancel()
		t.mu.Lock()
		t.give, t.err, t.ended = give, err, true
		t.mu.Unlock()
		n.tell(ticket)
	}()
	give, err = body(t.context)
}

// drop ends a Task that the host does not have any more.
func (t *Task) drop() { t.cancel() }

// Await is the code of functions of the role Result: it returns the results of the Task in argument 0, or its error.
func Await(c *Call) error {
	t := Interface[*Task](c, 0)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.ended:
		return Errorf(RuntimeError, "%s(): the task has not ended", t.label)
	case t.err != nil:
		return t.err
	}
	c.fn, c.extents = t.later, t.extents // the results are checked against the arguments of that call
	t.give(c)
	return nil
}
