"""Objects that have one call at a time."""

import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

import godlpack as gd
from godlpack import _library, _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package exclusive

import (
	"errors"
	"time"

	"godlpack/kernel"
)

// Counter counts without a mutex.
//
//godlpack:export
//godlpack:exclusive
type Counter struct {
	N int //godlpack:export
}

//godlpack:new
func NewCounter() *Counter { return &Counter{} }

//godlpack:export
func (c *Counter) Add(n int) int {
	for range n {
		c.N++
	}
	return c.N
}

//godlpack:export
func (c *Counter) Sleep(wait time.Duration) { time.Sleep(wait) }

//godlpack:export
func (c *Counter) Fail(panics bool) error {
	if panics {
		panic("asked for")
	}
	return errors.New("asked for")
}

//godlpack:export
func (c *Counter) Call(f kernel.Callable) error {
	_, err := f.Call()
	return err
}

//godlpack:export
func (c *Counter) Merge(other *Counter, others []*Counter) int {
	for _, o := range append(others, other) {
		c.N += o.N
	}
	return c.N
}

//godlpack:export
func Total(all []*Counter, wait time.Duration) (sum int) {
	time.Sleep(wait)
	for _, c := range all {
		sum += c.N
	}
	return sum
}

//godlpack:export
func Ask(f kernel.Callable) (int, error) {
	r, err := f.Call()
	if err != nil {
		return 0, err
	}
	return r.(*Counter).Add(1), nil
}

//godlpack:export
func (c *Counter) String() string { return "a counter" }
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="exclusive")


SLEEP = timedelta(seconds=0.4)
BUSY = "another call uses this Counter"


@pytest.fixture
def busy(go):
    """An object that another thread uses."""
    counter, asleep = go.Counter(), threading.Event()

    def run():
        asleep.set()
        counter.sleep(SLEEP)

    thread = threading.Thread(target=run)
    thread.start()
    asleep.wait()
    time.sleep(0.05)
    yield counter
    thread.join()
    assert counter.add(1) >= 1  # it is free again


def test_alone(go):
    counter = go.Counter()
    assert [counter.add(2) for _ in range(3)] == [2, 4, 6]
    counter.n = 3
    assert counter.n == 3
    assert counter.merge(counter, [counter, counter]) == 24  # one call may have it many times
    assert go.total([counter, counter], SLEEP * 0) == 48


def test_a_second_call_is_refused(go, busy):
    calls = [
        lambda: busy.add(1),
        lambda: busy.n,
        lambda: setattr(busy, "n", 3),
        lambda: go.Counter().merge(busy, []),
        lambda: go.Counter().merge(go.Counter(), [busy]),
        lambda: go.total([go.Counter(), busy], SLEEP),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=BUSY):
            call()
    assert BUSY in repr(busy)


def test_within_a_callback(go):
    counter, other = go.Counter(), go.Counter()
    with pytest.raises(RuntimeError, match=BUSY):
        counter.call(lambda: counter.add(1))
    counter.call(lambda: other.add(1))
    assert (counter.n, other.n) == (0, 1)


def test_free_after_an_error(go):
    counter, other = go.Counter(), go.Counter()
    for panics in (False, True):
        with pytest.raises(RuntimeError, match="asked for"):
            counter.fail(panics)
        assert counter.add(0) == 0
    with pytest.raises(TypeError):
        counter.add("x")
    with pytest.raises(RuntimeError, match=BUSY):
        counter.call(lambda: other.merge(other, [other, counter]))
    assert other.add(1) == 1


def test_numbers_are_read_by_calls(go):
    assert not any(d.get("place") for d in _library.declarations.values() if d.get("class") == "Counter")


def test_threads_lose_nothing(go):
    counter, refused = go.Counter(), []

    def run():
        for _ in range(300):
            try:
                counter.add(1000)
            except RuntimeError:
                refused.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.n == 1000 * (1200 - len(refused))


def test_forked(go):
    code = f"""
import os, threading, time
from datetime import timedelta
import godlpack as gd
go = gd.load_inline({SOURCE!r}, name="exclusive")
busy = go.Counter()
thread = threading.Thread(target=busy.sleep, args=[timedelta(seconds=0.4)])
thread.start()
time.sleep(0.1)
pid = os.fork()
if pid == 0:
    os._exit(go.Counter().add(7))
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
thread.join()
assert busy.add(1) == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_a_callback_returns(own_cache, go, busy):
    with pytest.raises(RuntimeError, match=rf"ask\(\): the result of a callable: {BUSY}"):
        go.ask(lambda: busy)
    fresh = go.Counter()
    assert go.ask(lambda: fresh) == 1
    assert fresh.add(1) == 2
