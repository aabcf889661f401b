"""Greenlets that switch within callbacks and within __dlpack__: plain ones, and under gevent and eventlet."""

import random
import shutil
import threading
from pathlib import Path

import pytest

import godlpack as gd
from godlpack import _tool

np = pytest.importorskip("numpy")
greenlet = pytest.importorskip("greenlet")

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package turns

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Total calls f(0) to f(n-1), and asks for the time meanwhile in other goroutines too.
//
//godlpack:export
func Total(ctx *kernel.Ctx, x tensor.Of[float64], f kernel.Callable, n int) (float64, error) {
	total := 0.0
	var others sync.WaitGroup
	stop := make(chan bool)
	for range 3 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Microsecond):
					_ = ctx.Err()
				}
			}
		})
	}
	defer others.Wait()
	defer close(stop)
	for i := range n {
		y, err := f.Call(i)
		if err != nil {
			return 0, err
		}
		total += float64(y.(int64))
	}
	for _, v := range x.All() {
		total += v
	}
	return total, ctx.Err()
}

// Await calls f, and waits until x is not 0: true, or false after five seconds.
//
//godlpack:export
func Await(x tensor.Mut[float64], f kernel.Callable) (bool, error) {
	if _, err := f.Call(); err != nil {
		return false, err
	}
	first := &x.Slice()[0]
	for range 5000 {
		if atomic.LoadUint64((*uint64)(unsafe.Pointer(first))) != 0 {
			return true, nil
		}
		time.Sleep(time.Millisecond)
	}
	return false, nil
}

// Held is Total, which keeps the GIL.
//
//godlpack:export
//godlpack:gil hold
func Held(ctx *kernel.Ctx, x tensor.Of[float64], f kernel.Callable, n int) (float64, error) {
	return Total(ctx, x, f, n)
}
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE)


def test_in_any_order(go):
    """Ten greenlets whose calls end in another order than they began."""
    x, ready, ended = np.ones(3), [], []

    def step(i):
        ready.append(greenlet.getcurrent())
        hub.switch()
        return i

    def run(n):
        ended.append((n, go.total(x, step, n)))

    hub = greenlet.getcurrent()
    for n in random.sample(range(1, 11), 10):
        greenlet.greenlet(run).switch(n)
    while ready:
        ready.pop(random.randrange(len(ready))).switch()
    assert sorted(ended) == [(n, n * (n - 1) / 2 + 3) for n in range(1, 11)]


def test_other_threads_run_after_a_callback(go):
    """A call made while another greenlet waits releases the GIL."""
    hub, x, called = greenlet.getcurrent(), np.zeros(1), threading.Event()

    def answer():
        called.wait()
        x[0] = 1

    waiting = greenlet.greenlet(lambda: go.total(np.ones(3), lambda i: hub.switch() or i, 1))
    waiting.switch()
    thread = threading.Thread(target=answer)
    thread.start()
    assert go.await_(x, called.set)
    thread.join()
    waiting.switch()


def test_while_the_gil_is_kept(go):
    hub, found = greenlet.getcurrent(), []
    workers = [
        greenlet.greenlet(lambda: found.append(go.held(np.ones(3), lambda i: hub.switch() or i, 2))) for _ in range(3)
    ]
    for _ in range(3):
        for worker in workers:
            worker.switch()
    assert found == [4.0] * 3


THREADS = """
import os, threading
import greenlet, numpy as np, godlpack as gd
turns, other = gd.load_module({path!r}), gd.load_module({copy!r})
x, hub = np.ones(3), greenlet.getcurrent()
inside, leave = threading.Barrier(4), threading.Event()

class Slow:  # in Go's own code for the extension
    def __dlpack__(self, **keywords):
        wait(0)
        return x.__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)

def wait(i):
    inside.wait()
    leave.wait()
    return i

found = []
jobs = [lambda: turns.total(x, wait, 1), lambda: other.total(x, wait, 1), lambda: sum(gd.from_dlpack(Slow()).tolist())]
threads = [threading.Thread(target=lambda job=job: found.append(job())) for job in jobs]
for thread in threads:
    thread.start()

def waits(i):
    if i == 0:
        hub.switch()
    return i

class Last(Slow):
    def __dlpack__(self, **keywords):
        leave.set()
        for thread in threads:
            thread.join()
        return x.__dlpack__(**keywords)

def callback(i):
    if i == 0:
        assert gd.from_dlpack(Last()).tolist() == [1, 1, 1]
    return i

waiting = greenlet.greenlet(lambda: found.append(turns.total(x, waits, 2)))
"""


@pytest.fixture
def threads(go, tmp_path):
    copy = Path(shutil.copy(go.__file__, tmp_path / Path(go.__file__).name))
    shutil.copy(Path(go.__file__).with_suffix(".json"), copy.with_suffix(".json"))
    return THREADS.format(path=go.__file__, copy=str(copy))


def test_threads_that_wait_too(python, threads):
    """Calls of other threads, in the same library or another, and in Go's own code for the extension, do not count as
    greenlets of this thread; they end before the call that began later."""
    script = """
inside.wait()
assert gd.zeros(2).tolist() == [0, 0]
waiting.switch()
assert other.total(x, callback, 2) == 4
waiting.switch()
print(sorted(found))
"""
    assert python(threads + script, flags=()) == "[3.0, 3.0, 3.0, 4.0]\n"


def test_child_has_no_other_threads(python, threads):
    """A forked child forgets the calls of other threads, whose identifiers its new threads may get, and keeps those of its
    own."""
    script = """
inside.wait()
def forks(i):
    global child
    child = os.fork()
    return i

class Forks(Slow):
    def __dlpack__(self, **keywords):
        if not os.fork():
            os._exit(0)  # it must not return
        assert os.wait()[1] == 0
        return x.__dlpack__(**keywords)

assert gd.from_dlpack(Forks()).tolist() == [1, 1, 1]
waiting.switch()
try:
    total = turns.total(x, forks, 1)
except RuntimeError as error:
    assert child == 0 and "forked during the call" in str(error), error
    # so many that some run on the stacks of threads that are gone, and have their identifiers
    together, made = threading.Barrier(30), []
    def work():
        together.wait()
        made.append(gd.zeros(2).tolist())
    workers = [threading.Thread(target=work, daemon=True) for _ in range(30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert made == [[0, 0]] * 30
    assert gd.zeros(2).tolist() == [0, 0]
    assert turns.total(x, lambda i: i, 2) == 4
    try:
        waiting.switch()
    except RuntimeError as error:
        assert "forked during the call" in str(error), error
        os._exit(17)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
leave.set()
for thread in threads:
    thread.join()
waiting.switch()
print(total, sorted(found))
"""
    assert python(threads + script, flags=()) == "3.0 [3.0, 3.0, 3.0, 4.0]\n"


def test_torch_is_looked_at_by_the_next_call(python, go):
    """How torch's storages are made cannot be determined while another greenlet is in Go: the call reports that."""
    script = f"""
import greenlet, numpy as np, torch, godlpack as gd
go, hub = gd.load_module({go.__file__!r}), greenlet.getcurrent()
x = torch.ones(3, dtype=torch.float64)
gd.from_dlpack(x)

class Waits:
    def __dlpack__(self, **keywords):
        hub.switch()
        return np.ones(3).__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)

other = greenlet.greenlet(lambda: gd.from_dlpack(Waits()))
other.switch()
try:
    go.total(x, lambda i: i, 1)
except RuntimeError as error:
    print("greenlet" in str(error))
other.switch()

def resize(i):
    try:
        x.resize_(1000)
    except RuntimeError:
        x.resize_(3)
        return i

print(go.total(x, resize, 2))
"""
    assert python(script, flags=()) == "True\n4.0\n"


def test_no_thread_to_stand_in(python, threads):
    script = """
import _thread, resource, time
leave.set()
inside.wait()
for thread in threads:
    thread.join()
waiting.switch()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), -1))
stop, refused = threading.Event(), 0
while refused < 20:  # the loader keeps the stacks of threads that have ended, and those of some may still be ending
    try:
        _thread.start_new_thread(stop.wait, ())
    except (RuntimeError, MemoryError):
        refused += 1
        time.sleep(0.01)
try:
    turns.total(x, lambda i: i, 1)
except RuntimeError as error:
    assert "cannot start a thread to call a Go function" in str(error), error
else:
    raise AssertionError("no error")
stop.set()
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert turns.total(x, lambda i: i, 1) == 3
waiting.switch()
print(found[-1])
"""
    assert python(threads + script, flags=()) == "4.0\n"


def test_nested(go):
    """A callback that calls again, in a greenlet that another greenlet has overtaken."""
    x, hub = np.ones(1), greenlet.getcurrent()

    def inner(i):
        hub.switch()
        return 1

    def outer(i):
        hub.switch()
        return int(go.total(x, inner, 2))

    found = []
    workers = [greenlet.greenlet(lambda: found.append(go.total(x, outer, 3))) for _ in range(4)]
    while any(not worker.dead for worker in workers):
        for worker in random.sample(workers, len(workers)):
            if not worker.dead:
                worker.switch()
    assert found == [10.0] * 4


def test_exceptions(go):
    hub = greenlet.getcurrent()

    def fail(i):
        hub.switch()
        raise KeyError(i)

    def run():
        with pytest.raises(KeyError):
            go.total(np.ones(1), fail, 2)
        return "raised"

    workers = [greenlet.greenlet(run) for _ in range(3)]
    for worker in workers:
        worker.switch()
    assert [worker.switch() for worker in reversed(workers)] == ["raised"] * 3


def test_killed(go):
    """A greenlet that is killed in a callback leaves the call with GreenletExit."""
    hub = greenlet.getcurrent()
    workers = [greenlet.greenlet(lambda: go.total(np.ones(1), lambda i: hub.switch() or i, 2)) for _ in range(3)]
    for worker in workers:
        worker.switch()
    for worker in (workers[1], workers[0], workers[2]):
        assert isinstance(worker.throw(), greenlet.GreenletExit)
    assert go.total(np.ones(1), lambda i: i, 2) == 2


class Slow:
    """A producer that switches greenlets in __dlpack__."""

    def __init__(self, switch):
        self.switch, self.x = switch, np.arange(3.0)

    def __dlpack__(self, **keywords):
        self.switch()
        return self.x.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


def test_switch_in_a_method():
    """While Go's own code for the extension waits for __dlpack__, other greenlets get an error, or work."""
    hub, found = greenlet.getcurrent(), []

    class Own(Slow):  # a new type without a plan
        pass

    def first():
        found.append(gd.from_dlpack(Own(hub.switch)).tolist())

    def second():
        try:
            found.append(gd.zeros(2).tolist())
        except RuntimeError as error:
            found.append(str(error))

    one = greenlet.greenlet(first)
    one.switch()
    greenlet.greenlet(second).switch()
    one.switch()
    greenlet.greenlet(second).switch()
    assert "Do not switch greenlets" in found[0]
    assert found[1:] == [[0.0, 1.0, 2.0], [0.0, 0.0]]


WORKER = """
import random, threading
import numpy as np, godlpack as gd
import {library}
{patch}
turns = gd.load_module({path!r})

def work(k):
    x = np.full(4, float(k))
    def pause(i):
        {library}.sleep(random.random() / 500)
        return i
    return turns.total(x, pause, 10) == 45 + 4 * k

jobs = [{spawn}(work, k) for k in range(100)]
assert all(job.{get}() for job in jobs)
print("all right", threading.active_count())
"""


@pytest.mark.parametrize(
    ("library", "patch", "spawn", "get"),
    [
        ("gevent", "from gevent import monkey; monkey.patch_all()", "gevent.spawn", "get"),
        ("gevent", "", "gevent.spawn", "get"),
        ("eventlet", "eventlet.monkey_patch()", "eventlet.spawn", "wait"),
    ],
    ids=["gevent, patched", "gevent", "eventlet"],
)
def test_workers(go, python, library, patch, spawn, get):
    pytest.importorskip(library)
    script = WORKER.format(library=library, patch=patch, spawn=spawn, get=get, path=go.__file__)
    assert python(script, flags=()).startswith("all right")


@pytest.mark.parametrize("content", ["", "def getcurrent(): raise ValueError"])
def test_another_module_of_that_name(python, content):
    """Calls work without greenlets."""
    out = python(f"""
import sys, types
sys.modules["greenlet"] = module = types.ModuleType("greenlet")
exec({content!r}, vars(module))
import godlpack as gd
assert gd.zeros(2).tolist() == [0, 0]
print("works")
""")
    assert out == "works\n"
