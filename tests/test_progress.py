"""Bars for functions that report their progress."""

import asyncio
import io
import shutil
import sys
import threading
import time
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace

import pytest

import godlpack as gd
from godlpack import _progress, _tool
from helpers.scripts import FORK

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package progress

import (
	"context"
	"iter"
	"time"

	"godlpack/kernel"
)

//godlpack:export
func Work(ctx *kernel.Ctx, n, total int64) {
	for i := range n {
		time.Sleep(10 * time.Millisecond)
		kernel.Progress(ctx, i+1, total)
	}
}

// Derived reports with a context that is derived from the call's.
//
//godlpack:export
func Derived(ctx context.Context, n int64) {
	inner, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for i := range n {
		time.Sleep(10 * time.Millisecond)
		kernel.Progress(inner, i+1, n)
	}
}

//godlpack:async
func Awaited(ctx context.Context, n int64) {
	for i := range n {
		time.Sleep(10 * time.Millisecond)
		kernel.Progress(ctx, i+1, n)
	}
}

//godlpack:export
func Yields(ctx context.Context, n int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range n {
			time.Sleep(10 * time.Millisecond)
			kernel.Progress(ctx, i+1, n)
			if !yield(i) {
				return
			}
		}
	}
}

//godlpack:export
func Fast(ctx *kernel.Ctx, n int64) {
	for i := range n {
		kernel.Progress(ctx, i, n)
	}
}

// Without has no call to report to.
//
//godlpack:export
func Without() {
	kernel.Progress(context.Background(), 1, 2)
	kernel.Progress((*kernel.Ctx)(nil), 1, 2)
	time.Sleep(300 * time.Millisecond)
}

//godlpack:export
type Job struct{}

//godlpack:new
func NewJob() *Job { return &Job{} }

//godlpack:export
func (j *Job) Run(ctx *kernel.Ctx, n int64) error {
	for i := range n {
		time.Sleep(10 * time.Millisecond)
		kernel.Progress(ctx, i+1, n)
	}
	return kernel.Errorf(kernel.ValueError, "failed at the end")
}
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="progress")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def seen(monkeypatch, file):
    """Makes a file the stderr of bars; pytest sets that of the process again and again."""
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=file, modules={}))
    return file


@pytest.fixture
def terminal(monkeypatch):
    """What a terminal shows, without tqdm: the texts between returns and line ends."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    file = seen(monkeypatch, Terminal())
    yield lambda: [line for line in file.getvalue().replace("\n", "\r\n").split("\r") if line]
    gd.show_progress(False)


def test_a_bar_grows_to_its_end(go, terminal):
    with gd.show_progress():
        go.work(150, 150)
        time.sleep(0.2)
    *shown, last, end = terminal()
    assert end == "\n" and last == f"work(): 100% [{'#' * 30}] 150/150"
    assert len(shown) >= 2 and all(text.startswith("work(): ") for text in shown)
    numbers = [int(text.rpartition(" ")[2].partition("/")[0]) for text in shown]
    assert numbers == sorted(numbers) and numbers[0] < 150


def test_strange_numbers(go, terminal):
    with gd.show_progress():
        go.work(30, 0)  # unknown
        go.work(30, 10)  # more than there should be
        go.work(30, -5)
        time.sleep(0.2)
    shown = terminal()
    assert "work(): 30" in shown and f"work(): 300% [{'#' * 30}] 30/10" in shown


def test_contexts(go, terminal):
    async def main():
        await asyncio.gather(go.awaited(30), go.awaited(40))

    with gd.show_progress():
        go.derived(30)
        asyncio.run(main())
        assert list(go.yields(30)) == list(range(30))
        with pytest.raises(ValueError, match="failed at the end"):
            go.Job().run(30)
        time.sleep(0.2)
    shown = " ".join(terminal())
    for name, n in ("derived", 30), ("awaited", 30), ("awaited", 40), ("yields", 30), ("Job.run", 30):
        assert f"{name}(): 100% [{'#' * 30}] {n}/{n}" in shown, (name, shown)


def test_short_calls_and_those_without_a_context_show_nothing(go, terminal):
    with gd.show_progress():
        for _ in range(100):
            go.fast(1000)
        go.without()
        time.sleep(0.2)
    assert not terminal()


def test_without_asking(go, terminal):
    go.work(30, 30)
    with gd.show_progress():
        pass
    go.work(30, 30)
    assert not terminal()
    assert "godlpack-progress" not in [thread.name for thread in threading.enumerate()]


def test_a_library_that_has_not_been_opened(go, terminal, tmp_path):
    for file in Path(go.__file__).parent.iterdir():
        shutil.copy(file, tmp_path)
    other = gd.load_module(tmp_path / Path(go.__file__).name)
    with gd.show_progress():
        go.work(30, 30)
        other.work(30, 30)
        time.sleep(0.2)
    assert [line[:12] for line in terminal() if "30/30" in line] == ["work(): 100%"] * 2


def test_nested(go, terminal):
    with gd.show_progress():
        with gd.show_progress():
            pass
        assert _progress.watch is not None
        with gd.show_progress(False):
            assert _progress.watch is None
        assert _progress.watch is not None
    assert _progress.watch is None
    gd.show_progress()
    gd.show_progress()
    gd.show_progress(False)
    assert _progress.watch is None


def test_where_nobody_sees_it(go, monkeypatch):
    file = seen(monkeypatch, io.StringIO())
    with gd.show_progress():
        go.work(40, 40)
        seen(monkeypatch, None)
        go.work(40, 40)
    assert not file.getvalue()


def test_tqdm(go, monkeypatch):
    pytest.importorskip("tqdm")
    file = Terminal()
    with redirect_stderr(file), gd.show_progress():
        go.work(40, 40)
        time.sleep(0.2)
    assert "work(): 100%" in file.getvalue() and "40/40" in file.getvalue()


def test_a_broken_terminal(go, monkeypatch):
    """The call goes on, and later ones have bars."""

    class Broken(Terminal):
        def write(self, text):
            raise OSError("no terminal any more")

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    seen(monkeypatch, Broken())
    with gd.show_progress():
        go.work(40, 40)
        file = seen(monkeypatch, Terminal())
        go.work(40, 40)
        time.sleep(0.2)
    assert "work(): 100%" in file.getvalue()


def test_fork(python, go):
    script = f"""
import io, time
go = gd.load_module({go.__file__!r})
class Terminal(io.StringIO):
    def isatty(self): return True
sys.modules["tqdm.auto"] = None
def child():
    sys.stderr = Terminal()
    go.work(40, 40)
    assert not sys.stderr.getvalue()
    with gd.show_progress():
        go.work(40, 40)
        time.sleep(0.2)
    assert "40/40" in sys.stderr.getvalue()
gd.show_progress()
go.work(1, 1)
fork(child)
print("done")
"""
    assert python(FORK + script) == "done\n"
