"""Go functions that take a context.Context, which Ctrl-C cancels; their callbacks may be called from any goroutine."""

import inspect
import threading

import pytest

import godlpack as gd
from godlpack import _tool
from helpers.scripts import FORK, PRESSED

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package contexts

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Nap waits for a time, or for its context.
//
//godlpack:export
//godlpack:arg seconds default=0.01
func Nap(ctx context.Context, seconds float64) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(time.Duration(seconds * 1e9)):
		return "slept", nil
	}
}

// Stubborn returns in spite of its context.
//
//godlpack:export
func Stubborn(ctx context.Context) string {
	<-ctx.Done()
	time.Sleep(time.Second / 10)
	return "a result"
}

// Double returns 2*x.
//
//godlpack:export
func Double[T tensor.Float](ctx context.Context, x tensor.Of[T], by *float64) (tensor.Of[T], float64) {
	factor := 2.0
	if by != nil {
		factor = *by
	}
	k := kernel.FromContext(ctx)
	y := kernel.Empty[T](k, x.Shape()...)
	to := y.Slice()
	kernel.Parallel(k, x.Rows(), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			for i, v := range x.Row(row).All() {
				to[row*int(x.Shape()[1])+i] = v * T(factor)
			}
		}
	})
	return y.Of, factor
}

// Sum adds what f returns, in n goroutines.
//
//godlpack:export
func Sum(ctx context.Context, n int, f kernel.Callable) (sum int, err error) {
	var each sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		each.Go(func() {
			v, failed := f.Call(i, "text", []any{i})
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = failed
				return
			}
			sum += int(v.(int64))
		})
	}
	each.Wait()
	return sum, err
}

//godlpack:export
func Fail(ctx context.Context, how string) error {
	switch how {
	case "panic":
		panic("the end")
	case "exit":
		runtime.Goexit()
	case "fault":
		var p *int
		*p = 1
	case "kind":
		return kernel.Errorf(kernel.KeyError, "no key")
	case "memory":
		kernel.Empty[float64](kernel.FromContext(ctx), 1<<55)
	case "deadline":
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	return errors.New("plain")
}

var late = make(chan error, 1)

//godlpack:export
func Late(ctx context.Context, f kernel.Callable) {
	go func() {
		<-ctx.Done()
		time.Sleep(time.Second / 50)
		_, err := f.Call()
		late <- err
	}()
}

//godlpack:export
func LateError() error { return <-late }

// Unpassable calls f with what no caller can have.
//
//godlpack:export
func Unpassable(ctx context.Context, f kernel.Callable) error {
	_, err := f.Call(make(chan int))
	return err
}

//godlpack:export
type Counter struct{ n int }

//godlpack:new
func NewCounter(ctx context.Context, n int) *Counter { return &Counter{n} }

//godlpack:export
func (c *Counter) Add(ctx context.Context, n int) int { c.n += n; return c.n }
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="contexts")


def test_calls(go):
    assert go.nap() == "slept" and str(inspect.signature(go.nap)) == "(seconds=0.01)"
    counter = go.Counter(3)
    assert counter.add(4) == 7 and counter.add(n=1) == 8


@pytest.mark.parametrize("by", [None, 3.0])
def test_tensors(go, by):
    x = np.arange(600_000, dtype="f4").reshape(300, 2000).T
    y, factor = go.double(x, by)
    assert (y == x * factor).all() and factor == (by or 2)
    out = np.empty_like(y)
    assert go.double(x, by, out=out)[0] is out and (out == y).all()
    torch = pytest.importorskip("torch")
    assert isinstance(go.double(torch.ones(2, 2), by)[0], torch.Tensor)


def test_callbacks_from_any_goroutine(go):
    """They run on the calling thread, one after the other."""
    threads = []

    def f(i, text, numbers):
        threads.append(threading.get_ident())
        assert (text, numbers) == ("text", [i])
        return i

    assert go.sum(200, f) == sum(range(200))
    assert threads == [threading.get_ident()] * 200


def test_callbacks_that_raise(go):
    error = KeyError("mine")

    def f(i, *_):
        if i == 7:
            raise error
        return i

    with pytest.raises(KeyError) as caught:
        go.sum(20, f)
    assert caught.value is error
    assert go.sum(3, lambda i, *_: go.sum(i, lambda j, *_: j)) == 1  # a call within a call
    with pytest.raises(TypeError, match="want an argument of a type that Python has, got a chan int"):
        go.unpassable(print)


def test_a_callback_after_the_call(go):
    called = []
    go.late(lambda: called.append(1))
    with pytest.raises(RuntimeError, match="the call has ended"):
        go.late_error()
    assert not called


@pytest.mark.parametrize(
    "how, kind, text",
    [
        ("panic", RuntimeError, r"fail\(\): Go panicked: the end"),
        ("fault", RuntimeError, "nil pointer dereference"),
        ("exit", RuntimeError, r"fail\(\) called runtime.Goexit"),
        ("kind", KeyError, "no key"),
        ("plain", RuntimeError, "plain"),
        ("deadline", TimeoutError, "deadline exceeded"),
        ("memory", MemoryError, ""),
    ],
)
def test_errors(go, how, kind, text):
    for _ in range(3):
        with pytest.raises(kind, match=text):
            go.fail(how)


def test_ctrl_c(python, go):
    """It cancels the context, and the call ends with KeyboardInterrupt, whatever the function returns."""
    script = f"""
import godlpack as gd
go = gd.load_module({go.__file__!r})
for call in (lambda: go.nap(60.0), go.stubborn, lambda: go.sum(1, lambda *_: time.sleep(60))):
    start = time.monotonic()
    press(0.3)
    try:
        print(call())
    except KeyboardInterrupt:
        print(time.monotonic() - start < 5)
def handler(*_):
    raise KeyError("the handler's own")
signal.signal(signal.SIGINT, handler)
press(0.3)
try:
    go.nap(60.0)
except KeyError as error:
    print(error)
print(go.nap())
"""
    assert python(PRESSED + script) == 'True\nTrue\nTrue\n"the handler\'s own"\nslept\n'


def test_forked(python, go):
    script = f"""
go = gd.load_module({go.__file__!r})
def fork(i, *_):
    if not (pid := os.fork()):
        os._exit(go.sum(3, lambda i, *_: i))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(go.sum(2, fork))
"""
    assert python(FORK + script) == "6\n"


@pytest.mark.parametrize(
    "source, text",
    [
        ("func F(n int, ctx context.Context) {}", "context.Context must be the first parameter"),
        ("//godlpack:gil hold\nfunc F(ctx context.Context) {}", "cannot keep the GIL"),
        ("func F(ctx context.Context, k *kernel.Ctx) {}", r"\*kernel.Ctx must be the first parameter"),
        ("func F() context.Context { return nil }", "cannot go to Python"),
    ],
)
def test_mistakes(source, text):
    head = 'package p\n\nimport (\n\t"context"\n\n\t"godlpack/kernel"\n)\n\nvar _ *kernel.Ctx\n\n//godlpack:export\n'
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline(head + source + "\n")
