"""Iterators, iterables and coroutines of Go functions: what an element and a call cost, beside Python's own ways.

`python -P bench/streams.py` prints the tables; with --write, it also writes them to docs/benchmarks.md. The contestants take turns, and the fastest round of each counts. The downloads come from a server in Go in another process.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import projects
from markup import table

import godlpack

SOURCE = """
package streams

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"time"
)

func upto(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

//godlpack:export
//godlpack:prefetch 1024
func Ahead(n int) iter.Seq[int] { return upto(n) }

//godlpack:export
func One(n int) iter.Seq[int] { return upto(n) }

//godlpack:async
//godlpack:prefetch 1024
func Awaited(n int) iter.Seq[int] { return upto(n) }

//godlpack:export
func Total(xs iter.Seq[int]) (sum int) {
	for x := range xs {
		sum += x
	}
	return sum
}

//godlpack:async
func Nothing() {}

//godlpack:async
func Wait(ctx context.Context) {
	<-ctx.Done()
}

var client = &http.Client{Transport: &http.Transport{MaxConnsPerHost: 2000, MaxIdleConnsPerHost: 2000}}

//godlpack:async
func Download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// Serve serves 64 KiB after as many milliseconds as the path says, and returns its port.
//
//godlpack:export
func Serve() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	body := make([]byte, 64<<10)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(r.URL.Path[1:])
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			w.Write(body)
		case <-r.Context().Done():
		}
	}))
	return listener.Addr().(*net.TCPAddr).Port, nil
}
"""

ELEMENTS, CALLS, IN_FLIGHT, DOWNLOADS = 1_000_000, 20_000, 10_000, 1_000


def nanoseconds(run: Callable[[], object], n: int) -> float:
    begin = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - begin) / n


async def awaited(iterator: Any) -> None:
    async for _ in iterator:
        pass


async def in_turn(call: Callable[[], Any]) -> None:
    for _ in range(CALLS):
        await call()


async def at_once(call: Callable[[], Any]) -> None:
    for _ in range(CALLS // 1000):
        await asyncio.gather(*(call() for _ in range(1000)))


async def yields() -> None:
    await asyncio.sleep(0)


def in_executor() -> Any:
    return asyncio.get_running_loop().run_in_executor(None, abs, 1)


def numbers(n: int) -> Any:
    yield from range(n)


async def async_numbers(n: int) -> Any:
    for i in range(n):
        yield i


def rows(go: Any) -> dict[str, tuple[Callable[[], object], int]]:
    """What is measured: each with the number of elements or calls."""
    consume = deque(maxlen=0).extend

    def loop(main: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        return lambda: asyncio.run(main())

    return {
        "an int of an iterator, prefetch 1,024": (lambda: consume(go.ahead(ELEMENTS)), ELEMENTS),
        "an int of an iterator, prefetch 1": (lambda: consume(go.one(CALLS)), CALLS),
        "an int of a Python generator": (lambda: consume(numbers(ELEMENTS)), ELEMENTS),
        "an int of an asynchronous iterator, prefetch 1,024": (loop(lambda: awaited(go.awaited(ELEMENTS))), ELEMENTS),
        "an int of a Python asynchronous generator": (loop(lambda: awaited(async_numbers(ELEMENTS))), ELEMENTS),
        "an int of a generator, in Go": (lambda: go.total(numbers(ELEMENTS)), ELEMENTS),
        "an int of a generator, by sum()": (lambda: sum(numbers(ELEMENTS)), ELEMENTS),
        "a call, awaited in turn": (loop(lambda: in_turn(go.nothing)), CALLS),
        "a call, 1,000 by asyncio.gather": (loop(lambda: at_once(go.nothing)), CALLS),
        "run_in_executor(abs), in turn": (loop(lambda: in_turn(in_executor)), CALLS),
        "run_in_executor(abs), 1,000 by asyncio.gather": (loop(lambda: at_once(in_executor)), CALLS),
        "a Python coroutine with asyncio.sleep(0), 1,000 by asyncio.gather": (loop(lambda: at_once(yields)), CALLS),
    }


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def in_flight(go: Any) -> tuple[float, int]:
    """The bytes of a call in flight, and the threads that all of them take."""
    await asyncio.gather(*(go.nothing() for _ in range(100)))
    gc.collect()
    memory, threads = resident(), len(list(Path("/proc/self/task").iterdir()))
    calls = [asyncio.create_task(go.wait()) for _ in range(IN_FLIGHT)]
    await asyncio.sleep(1)
    found = (resident() - memory) / IN_FLIGHT, len(list(Path("/proc/self/task").iterdir())) - threads
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    return found


async def downloads(go: Any, base: str) -> tuple[float, list[float]]:
    """The seconds of DOWNLOADS at once, half of which are cancelled, and how late a timer of 1 ms was meanwhile."""
    late = []

    async def tick() -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append(time.perf_counter() - begin - 0.001)

    ticking = asyncio.create_task(tick())
    begin = time.perf_counter()
    calls = [asyncio.create_task(go.download(f"{base}/{i + 50 if i % 2 else 60_000}")) for i in range(DOWNLOADS)]
    results = await asyncio.gather(*calls[1::2])
    for call in calls[::2]:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    seconds = time.perf_counter() - begin
    ticking.cancel()
    assert all(len(result) == 64 << 10 for result in results)
    assert all(call.cancelled() for call in calls[::2])
    return seconds, sorted(late)


SERVER = "import sys, godlpack; print(godlpack.load_module(sys.argv[1]).serve(), flush=True); sys.stdin.read()"


def main() -> None:
    go = godlpack.load_inline(SOURCE, name="streams")
    measured = rows(go)
    times = {name: min(nanoseconds(*row) for _ in range(5)) for name, row in measured.items()}
    made = table(["", "ns each"], [[name, f"{ns:,.0f}"] for name, ns in times.items()])
    size, threads = asyncio.run(in_flight(go))
    command = [sys.executable, "-P", "-c", SERVER, go.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        base = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        asyncio.run(downloads(go, base))
        seconds, late = asyncio.run(downloads(go, base))
        server.stdin.close()
    text = (
        "Elements of iterators, of iterables that Go ranges over, and calls of async functions that do nothing, beside "
        "Python's own ways. `python -P bench/streams.py --write` measures them, and writes this section; the fastest of five "
        f"rounds counts. {IN_FLIGHT:,} calls in flight took {size / 1000:.1f} kB each, and {threads} threads. {DOWNLOADS:,} "
        f"downloads of 64 KiB at once, which a server on the same machine answers within a second, half of them cancelled, took {seconds:.2f} s; "
        f"meanwhile a timer of the loop was late by {late[len(late) // 2] * 1000:.1f} ms in the median, and by "
        f"{late[len(late) * 99 // 100] * 1000:.1f} ms at the 99th percentile."
    )
    print(made, text, sep="\n\n")
    if "--write" in sys.argv:
        projects.write("## Streams\n", text, made)


if __name__ == "__main__":
    main()
