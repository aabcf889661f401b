"""Coroutines of async functions: Go runs in goroutines of its own, and the event loop goes on."""

import asyncio
import collections.abc
import gc
import http.server
import inspect
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from pathlib import Path

import pytest

import godlpack as gd
from godlpack import _tool
from helpers.build import ROOT
from helpers.scripts import FORK

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "tasks" / "tasks.go").read_text()


@pytest.fixture(scope="module")
def loaded(own_cache):
    return gd.load_inline(SOURCE, name="tasks")


@pytest.fixture
def go(loaded):
    """The module, none of whose functions runs before and after the test."""
    settled(loaded)
    loaded.cancelled()
    yield loaded
    settled(loaded)


def settled(go, goroutines=None):
    """Waits until no function runs, and no more goroutines are left than these and the library's own."""
    end = time.monotonic() + 20
    while go.running() or (goroutines and go.goroutines() > goroutines + 1):
        assert time.monotonic() < end, (go.running(), go.goroutines())
        gc.collect()
        time.sleep(0.01)


def run_asyncio(main):
    return asyncio.run(main())


def run_uvloop(main):
    uvloop = pytest.importorskip("uvloop")
    if threading.current_thread() is threading.main_thread():
        try:
            signal.set_wakeup_fd(signal.set_wakeup_fd(-1))
        except ValueError as error:  # pytest runs on one of Go's threads: see internal/embedtest
            pytest.skip(f"uvloop watches signals in Python's main thread: {error}")
    return uvloop.run(main())


def run_trio(main):
    return pytest.importorskip("trio").run(main)


@pytest.fixture(params=[run_asyncio, run_uvloop, run_trio], ids=lambda run: run.__name__[4:])
def run(request):
    """What runs a coroutine function to its end, in an event loop of some library."""
    return request.param


# ---- results ----


def test_values_of_each_kind(go, run):
    values = True, -128, 2**64 - 1, 0.5, "é\0", b"\0x", [1, -(2**63)], ["a", ""], {"a": [1.0], "b": []}

    async def main():
        assert await go.all(*values) == values
        assert await go.nothing_at_all() is None
        assert await go.checked(False) is None
        assert await go.variadic("a", "b", "c") == ["a", "b", "c"]
        assert await go.variadic("a") == ["a"]
        assert await go.configured(level=3, names=["x"]) == (3, ["x"])
        return await go.sleep(ms=1)

    assert run(main) == 1


def test_tensors(go, run):
    torch = pytest.importorskip("torch")
    x = np.arange(12.0).reshape(3, 4)[:, ::-2]

    async def main():
        twice = await go.doubled(x, 0)
        assert isinstance(twice, np.ndarray) and twice.tolist() == (2 * x).tolist()
        assert isinstance(await go.doubled(torch.ones(2, dtype=torch.int32), 0), torch.Tensor)
        assert isinstance(await go.doubled(x, 0, like=torch.Tensor), torch.Tensor)
        assert isinstance(await go.doubled(gd.full((2,), 1.0), 0), gd.Tensor)
        sums, n = await go.sums([x, x[0]])
        assert sums.tolist() == [x.sum(), x[0].sum()] and n == 2
        assert (await go.sums([x], 0.5, like=np.ndarray))[0].tolist() == [x.sum() / 2]
        with pytest.raises(TypeError, match=r"doubled\(\): argument 'x': want float32\|float64\|int32"):
            await go.doubled(x.astype("int8"), 0)
        with pytest.raises(TypeError, match="'out'"):
            go.doubled(x, 0, out=x)

    run(main)


def test_arguments_are_copied(go, run):
    """What the caller changes, or drops, meanwhile is no longer the function's."""
    x, data = np.arange(1000.0), bytes(range(256)) * 100

    async def main():
        waiting = [go.doubled(x, 30), go.converted(x.astype("float32"), 30), go.later(bytes(data), 30)]
        x[:] = -1
        gc.collect()
        doubled, total, later = [await one for one in waiting]
        assert doubled.tolist() == [2.0 * i for i in range(1000)]
        assert total == 499500 and later == data

    run(main)


def test_methods(go, run):
    async def main():
        counter = go.Counter()
        assert await counter.add(2) + await counter.add(3) == 7
        assert await counter.self() is counter
        waiting = go.Counter().add(4)
        gc.collect()
        assert await waiting == 4
        assert [n async for n in counter.ticks(4, 0)] == [0, 1, 2, 3]

    run(main)


FAILURES = [
    ("panic", RuntimeError, r"fail\(\): Go panicked: on purpose\n\ngoroutine "),
    ("fault", RuntimeError, r"fail\(\): Go panicked: .*nil pointer"),
    ("goexit", RuntimeError, r"fail\(\) called runtime.Goexit"),
    ("own", LookupError, r"^in fail: it is not there$"),
    ("file", FileNotFoundError, "no.txt"),
    ("deadline", TimeoutError, "deadline exceeded"),
    ("é", RuntimeError, "^é$"),
]


@pytest.mark.parametrize(("how", "kind", "text"), FAILURES)
def test_errors(go, run, how, kind, text):
    async def main():
        with pytest.raises(kind, match=text) as caught:
            await go.fail(how)
        assert how != "own" or type(caught.value) is go.NotThereError
        assert await go.sleep(0) == 0  # the loop goes on

    run(main)


def test_the_same_error_for_all(go):
    async def main():
        return await asyncio.gather(*(go.checked(i % 2 == 1) for i in range(100)), return_exceptions=True)

    assert [type(x) for x in asyncio.run(main())] == [type(None), ValueError] * 50


# ---- many at once ----


def test_they_run_at_the_same_time(go, run):
    order = []

    async def one(ms):
        assert await go.sleep(ms) == ms
        order.append(ms)

    async def main():
        if run is run_trio:
            import trio

            async with trio.open_nursery() as nursery:
                for ms in range(600, 0, -20):
                    nursery.start_soon(one, ms)
        else:
            await asyncio.gather(*(one(ms) for ms in range(600, 0, -20)))

    begin = time.monotonic()
    run(main)
    assert sorted(order) == list(range(20, 601, 20))
    assert time.monotonic() - begin < 5  # in turn, it would be 9.3 s


def test_no_thread_for_each_call(go):
    """10,000 calls in flight take at most 10 kB each."""

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def main():
        await asyncio.gather(*(go.sleep(1) for _ in range(100)))
        gc.collect()
        memory, threads = resident(), len(list(Path("/proc/self/task").iterdir()))
        waiting = [asyncio.create_task(go.sleep(60_000)) for _ in range(10_000)]
        while go.running() < 10_000:
            await asyncio.sleep(0.01)
        assert (resident() - memory) / 10_000 < 10_000
        assert len(list(Path("/proc/self/task").iterdir())) < threads + 16
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(main())
    settled(go)
    assert go.cancelled() == 10_000


def test_cancelled_at_random(go):
    """100,000 calls, most of which are cancelled before, while or after they run; nothing is left."""

    async def main():
        await asyncio.gather(*(go.sleep(1) for _ in range(100)))
        files, chance = len(list(Path("/proc/self/fd").iterdir())), random.Random(0)
        for _ in range(100):
            waiting = [asyncio.create_task(go.sleep(chance.choice((0, 0.01, 1, 60_000)))) for _ in range(1000)]
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(chance.choice((0, 0.001)))
            for one in waiting:
                if chance.random() < 0.9:
                    one.cancel()
            ended = await asyncio.wait(waiting, timeout=0.01)
            for one in ended[1]:
                one.cancel()
            for one in await asyncio.gather(*waiting, return_exceptions=True):
                assert isinstance(one, (float, asyncio.CancelledError)), one
        (notifier,) = asyncio.get_running_loop()._godlpack_notifiers.values()
        assert not notifier.waiting
        assert len(list(Path("/proc/self/fd").iterdir())) <= files

    goroutines = go.goroutines()
    asyncio.run(main())
    settled(go, goroutines)


# ---- cancellation ----


def test_cancel(go):
    async def main():
        waiting = asyncio.create_task(go.sleep(60_000))
        while not go.running():
            await asyncio.sleep(0.001)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    settled(go)
    assert go.cancelled() == 1


def test_cancel_before_it_begins(go):
    async def main():
        waiting = asyncio.create_task(go.sleep(60_000))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert go.running() == 0 == go.cancelled()


def test_timeouts(go):
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await go.sleep(60_000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(go.sleep(60_000), 0.02)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(go.stubborn(300), 0.02)  # which does not end by that
        assert await go.sleep(1) == 1

    asyncio.run(main())
    settled(go)
    assert go.cancelled() == 2


def test_trio_cancels(go):
    trio = pytest.importorskip("trio")

    async def main():
        with trio.move_on_after(0.02) as scope:
            await go.sleep(60_000)
        assert scope.cancelled_caught
        with pytest.raises(trio.TooSlowError), trio.fail_after(0.02):
            await go.sleep(60_000)
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(go.sleep, 60_000)
            await trio.sleep(0.05)
            nursery.cancel_scope.cancel()
        with trio.CancelScope() as scope:
            scope.cancel()
            await go.sleep(0)
        assert await go.sleep(1) == 1

    trio.run(main)
    settled(go)
    assert go.cancelled() >= 102


def test_dropped_coroutines(go):
    async def main():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            go.sleep(60_000)
            gc.collect()
        assert [str(w.message) for w in caught] == ["coroutine 'sleep' was never awaited"]
        coroutine = go.sleep(60_000)
        task = asyncio.create_task(coroutine)
        while not go.running():
            await asyncio.sleep(0.001)
        coroutine.close()
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    settled(go)
    assert go.cancelled() == 1


# ---- event loops ----


def test_without_a_loop(go):
    coroutine = go.sleep(1)
    with pytest.raises(
        RuntimeError, match=r"sleep\(\) must be awaited in an event loop of asyncio .* asyncio\.run\(\)"
    ):
        coroutine.send(None)
    coroutine = anext(go.ticks(2, 0))
    with pytest.raises(RuntimeError, match=r"ticks\(\) must be awaited in an event loop"):
        coroutine.__await__().send(None)


def test_many_loops_in_turn(go, run):
    async def main():
        return await go.sleep(0.1)

    run(main)
    gc.collect()
    files = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        assert run(main) == 0.1
    end = time.monotonic() + 10
    while len(list(Path("/proc/self/fd").iterdir())) > files + 2:  # Go closes its own some milliseconds later
        gc.collect()
        assert time.monotonic() < end, list(Path("/proc/self/fd").iterdir())


def test_loops_in_threads(go, run):
    results = []

    async def main():
        for i in range(100):
            results.append(await go.sleep(i / 100))

    threads = [threading.Thread(target=run, args=[main]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted([i / 100 for i in range(100)] * 4)


def test_a_loop_that_closes_first(go):
    """Go goes on, and tells nobody."""
    for _ in range(20):
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(go.stubborn(50)) for _ in range(10)]
        loop.run_until_complete(asyncio.sleep(0.001))
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()
    settled(go)

    async def main():
        return await go.sleep(1)

    assert asyncio.run(main()) == 1


def test_a_handler_that_raises(go):
    """Ctrl-C while coroutines are being woken: the rest are woken when the loop goes on."""

    class Loop(asyncio.SelectorEventLoop):
        pass

    loop = Loop()
    tasks = [loop.create_task(go.sleep(200)) for _ in range(50)]
    loop.run_until_complete(asyncio.sleep(0))
    (notifier,) = loop._godlpack_notifiers.values()
    wake, calls = type(notifier).wake, []

    def interrupted(self, waiting):
        calls.append(1)
        if len(calls) in (3, 9):
            raise KeyboardInterrupt
        wake(self, waiting)

    try:
        type(notifier).wake = interrupted
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                loop.run_until_complete(asyncio.wait(tasks))
    finally:
        type(notifier).wake = wake
    done, _ = loop.run_until_complete(asyncio.wait(tasks, timeout=1))
    assert len(done) == 50
    assert loop.run_until_complete(asyncio.wait_for(go.sleep(1), 5)) == 1
    loop.close()


def test_signals_while_a_loop_waits(python, loaded):
    """SIGALRM's handler raises again and again, at any line; nothing that is awaited afterwards is lost."""
    script = f"""
import asyncio, random, signal, time
import godlpack as gd
go = gd.load_module({loaded.__file__!r})
def raises(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, raises)
broken = "Event loop stopped before Future completed.", "This event loop is already running"
for _ in range(10):
    loop = asyncio.new_event_loop()
    for _ in range(20):
        tasks = [loop.create_task(go.sleep(random.random())) for _ in range(50)]
        try:
            signal.setitimer(signal.ITIMER_REAL, random.random() / 1000 + 1e-5)
            loop.run_until_complete(asyncio.wait(tasks))
            time.sleep(0.002)  # Python may have ignored the exception, in a finalizer
        except KeyboardInterrupt:
            pass
        try:
            assert loop.run_until_complete(asyncio.wait_for(go.sleep(1), 20)) == 1
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks, timeout=0.02))  # asyncio itself may have lost some
        except RuntimeError as error:  # asyncio's own: an exception as run_until_complete() begins or ends leaves it so
            assert str(error) in broken, error
            asyncio._set_running_loop(None)
            loop._thread_id = None
            break
    loop.close()
print("done")
"""
    assert python(script, timeout=300) == "done\n"


def test_loops_that_are_dropped(go):
    """Loops that are not closed, with calls in flight: all of it is collected, and the calls are cancelled."""

    async def begin(tasks):
        tasks.extend(asyncio.ensure_future(go.sleep(60_000)) for _ in range(5))
        await go.sleep(1)

    files, loops = len(list(Path("/proc/self/fd").iterdir())), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for closes in [True, False] * 10:
            loop, tasks = asyncio.new_event_loop(), []
            loop.run_until_complete(begin(tasks))
            for task in tasks:
                task._log_destroy_pending = False
            if closes:
                loop.close()
            loops.append(weakref.ref(loop))
            del loop, tasks, task
        gc.collect()
    assert not [loop for loop in loops if loop() is not None]
    settled(go)
    assert go.cancelled() == 100
    assert len(list(Path("/proc/self/fd").iterdir())) <= files


def test_loop_that_cannot_watch_files(go):
    class Loop(asyncio.SelectorEventLoop):
        def add_reader(self, *_):
            raise NotImplementedError

    loop = Loop()
    with pytest.raises(RuntimeError, match="Loop cannot watch files"):
        loop.run_until_complete(go.sleep(1))
    loop.close()


def test_the_end_of_trio(go):
    """Asynchronous generators are finalized when trio's system tasks have ended."""
    trio = pytest.importorskip("trio")
    slept, kept = [], []

    async def generator():
        try:
            yield 1
        finally:
            with trio.CancelScope(shield=True):
                slept.extend([await go.sleep(1), await go.sleep(2), [i async for i in go.ticks(2, 1)]])

    async def main():
        await go.sleep(1)
        kept.append(generator())
        await anext(kept[0])

    trio.run(main)
    assert slept == [1, 2, [0, 1]]


# ---- asynchronous iterators ----


@pytest.mark.parametrize("name", ["ticks", "in_step"])
@pytest.mark.parametrize("n", [0, 2, 40, 1000])
def test_elements_come_in_order(go, run, name, n):
    async def main():
        return [i async for i in getattr(go, name)(n, 0)]

    assert run(main) == list(range(n))


def test_errors_come_at_their_place(go, run):
    async def main():
        seen, iterator = [], go.ticks(3, 0)
        with pytest.raises(FileNotFoundError):
            async for i in iterator:
                seen.append(i)
        assert seen == [0, 1, 2]
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await anext(iterator)

    run(main)


def test_pairs_of_tensors_and_texts(go, run):
    async def main():
        async for x, text in go.batches(3, like=np.ndarray):
            assert isinstance(x, np.ndarray) and x.tolist() == [float(text), 0, 0]

    run(main)


def test_the_loop_goes_on(go, run):
    async def main():
        turns = 0
        if run is run_trio:
            import trio

            async with trio.open_nursery() as nursery:

                async def turn():
                    nonlocal turns
                    while True:
                        turns += 1
                        await trio.sleep(0.001)

                nursery.start_soon(turn)
                assert [i async for i in go.in_step(4, 30)] == [0, 1, 2, 3]
                nursery.cancel_scope.cancel()
        else:

            async def turn():
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0.001)

            turning = asyncio.create_task(turn())
            assert [i async for i in go.in_step(4, 30)] == [0, 1, 2, 3]
            turning.cancel()
        return turns

    assert run(main) > 20


def test_iterators_end_early(go, run):
    async def main():
        async with go.ticks(10**9, 0) as ticks:
            assert [await anext(ticks) for _ in range(20)] == list(range(20))
        with pytest.raises(StopAsyncIteration):
            await anext(ticks)
        ticks = go.ticks(10**9, 1)
        assert await anext(ticks) == 0
        await ticks.aclose()
        await ticks.aclose()
        async for i in go.in_step(10**9, 0):
            if i == 3:
                break
        del ticks

    run(main)
    settled(go)


def test_a_cancelled_anext_loses_nothing(go):
    async def main():
        ticks, got = go.ticks(50, 2), []
        while True:
            try:
                got.append(await asyncio.wait_for(anext(ticks), 0.001))
            except TimeoutError:
                pass
            except StopAsyncIteration:
                return got

    assert asyncio.run(main()) == list(range(50))


def test_one_task_at_a_time(go):
    async def main():
        ticks = go.ticks(10, 20)
        waiting = asyncio.create_task(anext(ticks))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match=r"another task waits for the next element of ticks\(\) already"):
            await anext(ticks)
        assert await waiting == 0
        waiting = asyncio.create_task(anext(ticks))
        await asyncio.sleep(0)
        await ticks.aclose()
        with pytest.raises(StopAsyncIteration):
            await waiting

    asyncio.run(main())


def test_two_loops_at_once(go):
    """One thread at a time waits; no element is lost, and none comes twice."""
    ticks, got = go.ticks(4000, 0), []

    async def main():
        while True:
            try:
                got.append(await anext(ticks))
            except RuntimeError:
                await asyncio.sleep(0)
            except StopAsyncIteration:
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=asyncio.run, args=[main()]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(got) == list(range(4000))


def test_an_element_that_was_not_got_comes_at_once(go):
    ticks = go.in_step(2, 1)
    take, calls = ticks._take, []

    def interrupted(source, batches):
        found = take(source, batches)
        if not calls:
            calls.append(1)
            raise KeyboardInterrupt
        return found

    async def main():
        assert await anext(ticks) == 0

    ticks._take = interrupted
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    asyncio.run(asyncio.wait_for(main(), 5))


# ---- processes, threads, exit ----


def test_fork(python, loaded):
    script = f"""
import asyncio
go = gd.load_module({loaded.__file__!r})
async def child():
    try:
        await parents
    except RuntimeError as error:
        assert "was made before this process was forked" in str(error), error
    else:
        raise AssertionError
    try:
        await anext(iterator)
    except RuntimeError as error:
        assert "was made before this process was forked" in str(error), error
    else:
        raise AssertionError
    assert await go.sleep(1) == 1
    assert [i async for i in go.ticks(4, 0)] == [0, 1, 2, 3]
def inside():
    flying.close()
    asyncio.run(child())
async def parent():
    global parents, iterator
    global flying
    waiting, parents, iterator = asyncio.create_task(go.sleep(300)), go.sleep(1), go.ticks(20, 0)
    flying = waiting.get_coro()
    assert await anext(iterator) == 0
    await asyncio.sleep(0.01)
    await asyncio.to_thread(fork, inside)
    assert await waiting == 300 and await parents == 1
    assert [i async for i in iterator] == list(range(1, 20))
asyncio.run(parent())
print("done")
"""
    assert python(FORK + script) == "done\n"


ENDS = {
    "in a thread": "threading.Thread(target=asyncio.run, args=[many()], daemon=True).start(); time.sleep(0.1)",
    "in a loop that is left": "loop = asyncio.new_event_loop(); t = loop.create_task(many()); loop.run_until_complete(asyncio.sleep(0.1))",
    "in a cycle": "loop = asyncio.new_event_loop(); t = loop.create_task(many()); loop.run_until_complete(asyncio.sleep(0.1)); c = [t]; c.append(c); del loop, t",
    "by sys.exit": "asyncio.run(left())",
    "by Ctrl-C": "asyncio.run(pressed())",
    "not begun": "coroutines = [go.sleep(1) for _ in range(10)]",
}


@pytest.mark.parametrize("how", ENDS)
def test_exit(python, loaded, how):
    script = f"""
import asyncio, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import godlpack as gd
signal.signal(signal.SIGINT, signal.default_int_handler)
go = gd.load_module({loaded.__file__!r})
async def many():
    ticks = go.ticks(10**9, 1)
    await anext(ticks)
    await asyncio.gather(*(f(200) for f in (go.sleep, go.stubborn) for _ in range(50)), *(go.doubled(gd.full((9,), 1.0), 200) for _ in range(50)))
async def left():
    t = asyncio.create_task(many())
    await asyncio.sleep(0.1)
    print("done", flush=True)
    sys.exit(0)
async def pressed():
    t = asyncio.create_task(many())
    await asyncio.sleep(0.1)
    print("done", flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    await t
try:
    {ENDS[how]}
except KeyboardInterrupt:
    sys.exit(0)
print("done", flush=True)
"""
    assert python(script, timeout=30) == "done\n"


def test_logs(go, caplog):
    async def main():
        await asyncio.gather(*(go.log(f"text {i}") for i in range(20)))

    with caplog.at_level(logging.WARNING):
        gd.capture_logs(go)
        asyncio.run(main())
        end = time.monotonic() + 10
        while len(caplog.records) < 20 and time.monotonic() < end:
            time.sleep(0.01)
        gd.capture_logs(go, False)
    assert {record.message for record in caplog.records} == {f"text {i}" for i in range(20)}


# ---- downloads ----


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that are cancelled close their connections."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path[1:])
        time.sleep(30 if number % 2 else 0.02)
        body = b"%d" % number * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quietly."""


def test_downloads(go):
    """Many at once, of which half are cancelled."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/"

    async def main():
        tasks = [asyncio.create_task(go.download(f"{base}{i}")) for i in range(200)]
        results = await asyncio.gather(*tasks[::2])
        for task in tasks[1::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return results, [task.cancelled() for task in tasks[1::2]]

    try:
        results, cancelled = asyncio.run(main())
    finally:
        server.shutdown()
        server.server_close()
    assert results == [b"%d" % i * 1000 for i in range(0, 200, 2)]
    assert cancelled == [True] * 100


# ---- as a Python programmer sees it ----


def test_what_they_are(go):
    coroutine, iterator = go.sleep(1), go.ticks(2, 0)
    assert inspect.iscoroutine(coroutine) and isinstance(coroutine, collections.abc.Coroutine)
    assert coroutine.__name__ == coroutine.__qualname__ == "sleep"
    coroutine.close()
    assert isinstance(iterator, gd.AsyncIterator) and isinstance(iterator, collections.abc.AsyncIterator)
    assert not isinstance(iterator, gd.Iterator) and aiter(iterator) is iterator
    assert repr(iterator) == "<godlpack.AsyncIterator of ticks()>"
    assert repr(go.Counter().ticks(2, 0)) == "<godlpack.AsyncIterator of Counter.ticks()>"
    with pytest.raises(TypeError, match=r"cannot pickle the iterator of ticks\(\)"):
        pickle.dumps(iterator)
    assert pickle.loads(pickle.dumps(go.sleep)) is go.sleep


def test_coroutine_functions(go):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since Python 3.14
        functions = [asyncio.iscoroutinefunction, *[inspect.iscoroutinefunction] * (sys.version_info >= (3, 12))]
        for known in functions:
            assert known(go.sleep) and known(go.Counter.add) and known(go.Counter().add)
            assert not known(go.running) and not known(go.ticks)
    assert not hasattr(go.running, "_is_coroutine_marker") and not hasattr(go.running, "_is_coroutine")


def test_arguments_are_checked_at_the_call(go):
    with pytest.raises(TypeError, match=r"stubborn\(\) missing argument 'ms'"):
        go.stubborn()
    with pytest.raises(TypeError, match=r"stubborn\(\): argument 'ms': want int, got str"):
        go.stubborn("1")


def test_nothing_else_is_exported(go):
    names = [*go.__all__, *dir(go), *dir(go.Counter)]
    assert not [
        name for name in names if "Task" in name or "Notifier" in name or "result" in name or "Iterator" in name
    ]


def test_signature_and_docstring(go):
    assert str(inspect.signature(go.doubled)) == "(x, ms, *, like=None)"
    assert str(inspect.signature(go.sleep)) == "(ms=0.0)"
    assert "Returns a coroutine of:\n    float" in go.sleep.__doc__
    assert "Returns a coroutine." in go.nothing_at_all.__doc__
    assert "Returns an asynchronous iterator of:\n    int" in go.ticks.__doc__


def test_stubs(loaded, tmp_path):
    stub = Path(loaded.__file__).with_suffix(".pyi").read_text()
    for line in (
        "async def sleep(ms: float = 0.0) -> float:",
        "async def nothing_at_all() -> None:",
        "async def doubled(x: TensorLike, ms: int, *, like: Any = None) -> Any:",
        "def ticks(n: int, ms: float) -> AsyncIterator[int]:",
        "def batches(n: int, *, like: Any = None) -> AsyncIterator[tuple[Any, str]]:",
        "    async def add(self, n: int) -> int:",
        "    def ticks(self, n: int, ms: float) -> AsyncIterator[int]:",
    ):
        assert line in stub, line
    assert "Task" not in stub and "Notifier" not in stub
    pytest.importorskip("mypy")
    tmp_path.joinpath("ops.pyi").write_text(stub)
    tmp_path.joinpath("use.py").write_text(
        "from typing import assert_type\nimport asyncio\nimport ops\n\n"
        "async def main() -> float:\n    async for n in ops.ticks(3, 1.0):\n        assert_type(n, int)\n"
        "    async with ops.ticks(1, 2) as ticks:\n        await anext(ticks)\n"
        "    assert_type(await asyncio.gather(ops.sleep(1), ops.sleep(2)), tuple[float, float])\n"
        "    assert_type(await ops.Counter().add(2), int)\n    return await asyncio.wait_for(ops.sleep(1), 1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


CLASHES = """
import (
	"context"
	"iter"
	"godlpack/tensor"
)

//godlpack:async
func godlpack0(a, b int) int { return a + b }

//godlpack:async
func godlpackContext(ctx context.Context, godlpack0 int) int { return godlpack0 }

//godlpack:async
func Of[godlpack0 float32 | float64, context int8](x tensor.Of[godlpack0], y tensor.Of[context]) int { return 1 }

//godlpack:export
func godlpackIterator(n int) iter.Seq[int] { return func(func(int) bool) {} }

//godlpack:export
func Chunks[bytes float32, iter int8](x tensor.Of[bytes], y tensor.Of[iter], data []byte) func(func([]byte) bool) { return func(func([]byte) bool) {} }
"""


def test_names_of_generated_code(own_cache):
    go = gd.load_inline(CLASHES, name="clashes")

    async def main():
        x, y = np.zeros(1, "float32"), np.zeros(1, "int8")
        assert await go.godlpack0(1, 2) == 3 and await go.godlpack_context(4) == 4 and await go.of(x, y) == 1
        assert list(go.godlpack_iterator(1)) == [] == list(go.chunks(x, y, b""))

    asyncio.run(main())


def test_async_close_and_special_methods(own_cache):
    go = gd.load_inline(
        """
//godlpack:export
type File struct{ closed bool }

//godlpack:new
func NewFile() *File { return &File{} }

//godlpack:async
func (f *File) Close() error { f.closed = true; return nil }

//godlpack:get
func (f *File) IsClosed() bool { return f.closed }

//godlpack:async __call__
func (f *File) Call(x int) int { return x + 1 }
""",
        name="files",
    )

    async def main():
        async with go.File() as file:
            assert await file(1) == 2 and not file.is_closed
        assert file.is_closed
        assert not hasattr(file, "__enter__")

    asyncio.run(main())
    stub = Path(go.__file__).with_suffix(".pyi").read_text()
    assert "async def __aexit__" in stub and "__enter__" not in stub


def test_results_are_checked_against_the_arguments(own_cache):
    go = gd.load_inline(
        """
import (
	"godlpack/kernel"
	"godlpack/tensor"
)

//godlpack:async
//godlpack:arg x shape=[n]
//godlpack:result shape=[n]
func Of(x tensor.Of[float32], m int64) tensor.Of[float32] { return kernel.Zeros[float32](nil, m).Of }
""",
        name="extents",
    )

    async def main():
        x = np.zeros(3, "float32")
        assert (await go.of(x, 3)).shape == (3,)
        with pytest.raises(
            RuntimeError, match=r"of\(\): result 0: declared as float32\[n\] on cpu, returned float32\[5\] on cpu"
        ):
            await go.of(x, 5)

    asyncio.run(main())


REFUSED = [
    ("//godlpack:export a\n//godlpack:async b\nfunc F() {}", "has a name already: write it in one directive"),
    (
        "//godlpack:export\ntype T struct{}\n\n//godlpack:async __len__\nfunc (t *T) F() int { return 1 }",
        "__len__ is not awaited in Python: remove async",
    ),
    ("//godlpack:async\nfunc F(ctx *kernel.Ctx) {}", r"\*kernel.Ctx ends with the call, and an async function runs"),
    ("//godlpack:async\nfunc F(f kernel.Callable) {}", "f ends with the call, and an async function runs"),
    ("//godlpack:async\nfunc F(x tensor.Mut[int8]) {}", "x ends with the call, and an async function runs"),
    ("//godlpack:async\n//godlpack:gil hold\nfunc F() {}", "so it cannot keep the GIL: remove gil hold, or async"),
    ("//godlpack:async\n//godlpack:async\nfunc F() {}", "want async at most once"),
    ("//godlpack:async a b\nfunc F() {}", "is not a valid name of a Python function; want //godlpack:async"),
    (
        "//godlpack:export\ntype T struct{}\n\n//godlpack:new\n//godlpack:async\nfunc F() *T { return nil }",
        "async is for functions and methods",
    ),
    (
        "//godlpack:export\ntype T struct{}\n\n//godlpack:get\n//godlpack:async\nfunc (t *T) F() int { return 1 }",
        "async is for functions and methods",
    ),
    (
        "//godlpack:export\n//godlpack:exclusive\ntype T struct{}\n\n//godlpack:async\nfunc F(t *T) {}",
        "T is exclusive, and an iterator or an async function",
    ),
    ("//godlpack:async\nfunc F(like int) (x tensor.Of[int8]) { return }", "like= is reserved"),
    (
        "//godlpack:export\nfunc F() {}\n\n//godlpack:export _Task\ntype T struct{}",
        "cannot be the name of a Python class",
    ),
]


@pytest.mark.parametrize(("source", "text"), REFUSED)
def test_what_cannot_be(own_cache, source, text):
    imports = [f'import "godlpack/{name}"\n' for name in ("kernel", "tensor") if f"{name}." in source]
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline("".join(imports) + source)
