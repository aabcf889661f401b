"""Iterators over what Go yields: iter.Seq, iter.Seq2 and channels, in goroutines of their own."""

import collections.abc
import gc
import inspect
import itertools
import pickle
import random
import subprocess
import sys
import threading
import time
import typing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import godlpack as gd
from godlpack import _tool
from helpers.build import ROOT
from helpers.scripts import FORK, PRESSED

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "iterators" / "iterators.go").read_text()


@pytest.fixture(scope="module")
def loaded(own_cache):
    return gd.load_inline(SOURCE, name="iterators")


@pytest.fixture
def go(loaded):
    """The module, none of whose sequences runs before and after the test."""
    settled(loaded)
    yield loaded
    settled(loaded)


def settled(go, most=0, goroutines=None):
    """Waits until no more sequences and goroutines are left than these, and the library's own, which its first object starts."""
    end = time.monotonic() + 20
    while go.running() > most or (goroutines and go.goroutines() > goroutines + 1):
        assert time.monotonic() < end, (go.running(), go.goroutines())
        gc.collect()
        time.sleep(0.01)


# ---- values ----


@pytest.mark.parametrize("n", [0, 1, 2, 511, 512, 513, 5000])
def test_all_elements_come_in_order(go, n):
    assert list(go.count(n)) == list(range(n))


LISTS = {
    "texts": ["", "a", "käse \N{GRINNING FACE}", "\0", "x" * 100_000],
    "floats": [0.0, -1.5, float("inf"), 1e300],
    "flags": [True, False, True],
    "raw_bytes": b"\x00abc\xff",
    "dicts": [{}, {"a": 1}, {"b": -(2**63), "c": 2**63 - 1}],
    "lists": [[], [1.0], [2.0, 3.0]],
    "anything": [None, True, 3, 2.5, "text", b"bytes", [1, ["a"]], {"k": [None]}],
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("copies", [0, 1, 200])
def test_values(go, name, copies):
    values = LISTS[name] * copies
    assert list(getattr(go, name)(values)) == list(values)


def test_records(go):
    first, second = go.records(2)
    assert type(first) is go.Record and first == ("a", [], datetime(1970, 1, 1, tzinfo=UTC))
    assert second.parts == [0.0]


def test_bytes_in_pieces(go):
    data = bytes(range(200))
    pieces = [go.chunks(bytes(bytearray(data)), 3) for _ in range(10)]  # of bytes that nobody else keeps
    others = [b"-" * len(data) for _ in range(10)]
    assert all(b"".join(each) == data for each in pieces)
    del others


def test_objects(go):
    shelf = go.Shelf(["x", "y"])
    books = list(shelf)
    assert [book.title for book in books] == ["x", "y"] and type(books[0]) is go.Book
    assert [(i, book) for i, book in shelf.pairs()] == list(enumerate(books))  # the same objects
    assert list(go.Shelf.empty()) == []
    iterator = iter(shelf)
    del shelf, books
    assert [book.title for book in iterator] == ["x", "y"]  # which keeps them


def test_channel(go):
    assert list(go.ticks(0)) == [] and list(go.ticks(100)) == list(range(100))


# ---- tensors ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize(
    "library, name", [("numpy", "ndarray"), ("torch", "Tensor"), ("jax", "Array"), ("godlpack", "Tensor")]
)
def test_tensors_in_the_framework_asked_for(go, library, name, dtype):
    kind = getattr(pytest.importorskip(library), name)
    x = np.arange(12, dtype=dtype).reshape(3, 4)[::-1, ::2]
    if library == "jax" and dtype == "float64":
        pytest.skip("jax has no float64 by default")
    rows = list(go.rows(x, like=kind))
    assert all(isinstance(row, kind) for row in rows)
    assert [np.from_dlpack(row).tolist() for row in rows] == x.tolist()


def test_tensors_in_the_framework_of_the_argument(go):
    torch = pytest.importorskip("torch")
    assert all(isinstance(row, torch.Tensor) for row in go.rows(torch.ones(3, 2)))
    assert all(isinstance(row, np.ndarray) for row in go.rows(np.ones((3, 2))))


def test_tensors_in_the_framework_of_the_declaration(go):
    made = list(go.made(3))
    assert [(name, type(x), x.shape, x.tolist()) for name, x in made] == [
        ("a", np.ndarray, (2, 0), [[], []]),
        ("b", np.ndarray, (2, 1), [[1], [1]]),
        ("c", np.ndarray, (2, 2), [[2, 2], [2, 2]]),
    ]
    made[2][1][:] = 7  # each is its receiver's own
    assert next(iter(go.made(3)))[1].shape == (2, 0)


def test_arguments_are_copied(go):
    """The caller may change them and let them go."""
    x = np.arange(6, dtype="f4").reshape(3, 2)
    rows, both = go.rows(x), go.both([x, x[1]])
    x[:] = -1
    del x
    assert [row.tolist() for row in rows] == [[0, 1], [2, 3], [4, 5]]
    assert [v for _, v in both] == [0, 1, 2, 3, 4, 5, 2, 3]


# ---- how far Go is ahead ----


@pytest.mark.parametrize("name, ahead", [("lazy", 0), ("eager", 1), ("ahead", 5)])
def test_prefetch(go, name, ahead):
    """After n elements, Go has begun at most ahead more; in lock step exactly none."""
    go.produced()
    iterator = getattr(go, name)()
    produced = 0
    for taken in range(20):
        time.sleep(0.01)
        produced += go.produced()
        assert taken <= produced <= taken + ahead
        assert ahead == 0 or produced > taken
        assert next(iterator) == taken


# ---- the end ----


@pytest.mark.parametrize("how", ["close", "with", "del", "break", "raise", "cycle", "thread"])
@pytest.mark.parametrize("name", ["lazy", "eager", "ahead", "ticks", "slow"])
def test_it_ends_early(go, name, how):
    goroutines = go.goroutines()
    arguments = {"ticks": [10**6], "slow": [60.0]}.get(name, ())
    for _ in range(5):
        iterator = getattr(go, name)(*arguments)
        if name != "slow":
            next(iterator)
        if how == "close":
            iterator.close()
            iterator.close()
            assert list(iterator) == []
        elif how == "with":
            with iterator as same:
                assert same is iterator
        elif how == "break" and name != "slow":
            for _ in iterator:
                break
        elif how == "raise" and name != "slow":
            with pytest.raises(KeyError):
                for i in iterator:
                    raise KeyError(i)
        elif how == "cycle":
            cycle = [iterator]
            cycle.append(cycle)
            del cycle
        elif how == "thread":
            thread = threading.Thread(target=iterator.close)
            thread.start()
            thread.join()
        del iterator
    settled(go, goroutines=goroutines)


def test_close_does_not_wait(go):
    start = time.monotonic()
    iterator = go.deaf(1.0)
    iterator.close()
    assert list(iterator) == [] and time.monotonic() - start < 0.7


def test_closed_while_another_thread_waits(go):
    iterator, got = go.slow(60.0), []
    thread = threading.Thread(target=lambda: got.extend(iterator))
    thread.start()
    time.sleep(0.1)
    iterator.close()
    thread.join(20)
    assert not thread.is_alive() and got == []


def test_many_ends(go):
    """Nothing is left of iterators that are left at any point, on several threads."""
    goroutines, chance = go.goroutines(), random.Random(1)

    def work(seed):
        for _ in range(250):
            name = chance.choice(["count", "eager", "ahead", "ticks", "lazy"])
            iterator = getattr(go, name)(*[1000] * (name in ("count", "ticks")))
            list(itertools.islice(iterator, chance.randrange(20)))
            if chance.random() < 0.5:
                iterator.close()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settled(go, goroutines=goroutines)


# ---- errors ----


@pytest.mark.parametrize("n", [0, 1, 7, 30])
@pytest.mark.parametrize(
    "how, kind, text",
    [
        ("error", "OddError", "an odd number of elements"),
        ("twice", "OddError", "an odd number of elements"),
        ("panic", RuntimeError, r"fails\(\): Go panicked: the end"),
        ("fault", RuntimeError, "nil pointer dereference"),
        ("exit", RuntimeError, r"fails\(\): its sequence called runtime.Goexit"),
    ],
)
def test_errors_come_at_their_element(go, n, how, kind, text):
    iterator, got = go.fails(n, how), []
    with pytest.raises(getattr(go, kind) if isinstance(kind, str) else kind, match=text):
        for x in iterator:
            got.append(x)
    assert got == list(range(n))
    assert list(iterator) == []


def test_errors_of_the_call(go):
    with pytest.raises(ValueError, match="at once"):
        go.fails(3, "at once")
    with pytest.raises(RuntimeError, match=r"fails\(\) returned nil instead of a sequence"):
        go.fails(3, "nil")
    with pytest.raises(TypeError, match=r"count\(\): argument 'n': want int, got str"):
        go.count("3")


def test_ctrl_c(python, loaded):
    """It leaves a next() that waits; the iterator goes on if it is asked again."""
    script = f"""
import time
import godlpack as gd
go = gd.load_module({loaded.__file__!r})
waits, start = go.slow(3.0), time.monotonic()
press(0.3)
try:
    next(waits)
except KeyboardInterrupt:
    print("left", time.monotonic() - start < 2)
print(next(waits), next(waits, "the end"))
try:
    press(0.3)
    for x in go.lazy():
        pass
except KeyboardInterrupt:
    print("stopped")
end = time.monotonic() + 10
while go.running() and time.monotonic() < end: time.sleep(0.01)
print(go.running())
"""
    assert python(PRESSED + script) == "left True\ndone the end\nstopped\n0\n"


INTERRUPTED = """
import signal, sys
import godlpack as gd
go = gd.load_module({file!r})

class Stop(Exception):
    pass

armed = False
def stop(*_):
    global armed
    if armed:
        armed = False
        raise Stop
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.0017)
iterator, got, stops = go.{call}, [], 0
while True:
    try:
        armed = True
        for x in iterator:
            got.append(x)
        armed = False
        break
    except Stop:
        stops += 1
signal.setitimer(signal.ITIMER_REAL, 0)
gaps = [b - a - 1 for a, b in zip(got, got[1:]) if b != a + 1]
assert all(gap == 1 for gap in gaps) and got[-1] >= {n} - 2, (gaps, got[-1])
print(stops > 20 or stops)
"""


@pytest.mark.parametrize("call, n", [("count(3 * 10**6)", 3 * 10**6), ("slowly(20_000)", 20_000)])
def test_exceptions_of_signal_handlers_lose_nothing(python, loaded, call, n):
    """As with a generator of Python's, but for the element that the loop was about to get."""
    assert python(INTERRUPTED.format(file=loaded.__file__, call=call, n=n)) == "True\n"


def test_signal_handlers_that_take_elements(python, loaded):
    script = f"""
import signal
import godlpack as gd
go = gd.load_module({loaded.__file__!r})
got = []
iterator = go.bursts(4, 10)
signal.signal(signal.SIGALRM, lambda *_: got.append(next(iterator)))
signal.setitimer(signal.ITIMER_REAL, 0.03, 0.02)
for x in iterator:
    got.append(x)
signal.setitimer(signal.ITIMER_REAL, 0)
assert sorted(got) == list(range(40)), got
print("done")
"""
    assert python(script) == "done\n"


# ---- threads ----


@pytest.mark.parametrize("name", ["count", "ticks"])
def test_many_threads_take_elements(go, name):
    """Each goes to one of them, and each thread gets its own in order."""
    iterator, got = getattr(go, name)(5000), [[] for _ in range(8)]
    threads = [threading.Thread(target=lambda own: own.extend(iterator), args=(own,)) for own in got]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(x for own in got for x in own) == list(range(5000))
    assert all(own == sorted(own) for own in got)


# ---- processes ----


def test_forked(python, loaded):
    script = f"""
go = gd.load_module({loaded.__file__!r})
iterator, closed, lazy = go.count(2000), go.count(10), go.lazy()
assert [next(iterator), next(iterator), next(closed), next(lazy)] == [0, 1, 0, 0]
closed.close()
def refused(f):
    try:
        f()
    except RuntimeError as error:
        return "was made before this process was forked" in str(error)
if not (pid := os.fork()):
    try:
        assert refused(lambda: next(iterator)) and refused(lambda: list(iterator)) and refused(lambda: next(lazy))
        with iterator: pass
        iterator.close()
        del iterator, lazy
        assert list(go.count(3)) == [0, 1, 2]
        assert list(go.texts(["a"])) == ["a"]
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert list(iterator) == list(range(2, 2000)) and next(lazy) == 1
print("done")
"""
    assert python(FORK + script) == "done\n"


@pytest.mark.parametrize("name", ["count(10**6)", "lazy()", "slow(60.0)", "deaf(60.0)", "ticks(10)"])
def test_exit_with_open_iterators(python, loaded, name):
    script = f"""
import threading
import godlpack as gd
go = gd.load_module({loaded.__file__!r})
iterator = go.{name}
cycle = [go.{name}]
cycle.append(cycle)
threading.Thread(target=lambda: next(go.slow(60.0)), daemon=True).start()
print("done", flush=True)
"""
    assert python(script, timeout=30) == "done\n"


# ---- as a Python programmer sees it ----


def test_what_it_is(go):
    iterator = go.count(3)
    assert isinstance(iterator, gd.Iterator) and isinstance(iterator, collections.abc.Iterator)
    assert iter(iterator) is iterator and repr(iterator) == "<godlpack.Iterator of count()>"
    assert repr(go.Shelf([]).pairs()) == "<godlpack.Iterator of Shelf.pairs()>"
    with pytest.raises(TypeError, match=r"cannot pickle the iterator of count\(\)"):
        pickle.dumps(iterator)
    assert typing.get_origin(gd.Iterator[int]) is gd.Iterator
    assert list(map(str, zip(iterator, "ab", strict=False))) == ["(0, 'a')", "(1, 'b')"]


def test_nothing_else_is_exported(go):
    assert not [name for name in [*go.__all__, *dir(go), *dir(go.Shelf)] if "Iterator" in name or "next" in name]


def test_signature_and_docstring(go):
    assert str(inspect.signature(go.rows)) == "(x, *, like=None)"
    assert str(inspect.signature(go.ticks)) == "(n)"
    assert "Returns an iterator of:\n    float32|float64|int8[...] on cpu; dtype T" in go.rows.__doc__
    assert "Returns an iterator of:\n    int\n    Book" in go.Shelf.pairs.__doc__


def test_stubs(loaded, tmp_path):
    stub = (Path(loaded.__file__).with_suffix(".pyi")).read_text()
    for line in (
        "def count(n: int) -> Iterator[int]:",
        "def records(n: int) -> Iterator[Record]:",
        "def rows(x: TensorLike, *, like: Any = None) -> Iterator[Any]:",
        "def both(x: Sequence[TensorLike]) -> Iterator[tuple[int, float]]:",
        "def chunks(x: bytes, n: int) -> Iterator[bytes]:",
        "    def __iter__(self) -> Iterator[Book]:",
        "    def pairs(self) -> Iterator[tuple[int, Book]]:",
    ):
        assert line in stub, line
    assert "next" not in stub and "_Iterator" not in stub
    pytest.importorskip("mypy")
    tmp_path.joinpath("ops.pyi").write_text(stub)
    tmp_path.joinpath("use.py").write_text(
        "from typing import assert_type\nimport ops\nfor n in ops.count(3):\n    assert_type(n, int)\n"
        "with ops.records(2) as records:\n    assert_type(next(records).name, str)\n"
        "for i, book in ops.Shelf([]).pairs():\n    assert_type(book, ops.Book)\nops.count(1).close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


HEAD = """
package p

import (
	"context"
	"iter"

	"godlpack/kernel"
	"godlpack/tensor"
)

var (
	_ context.Context
	_ *kernel.Ctx
	_ tensor.Of[int8]
	_ iter.Seq[int]
)

type none struct{ x int }

//godlpack:export
//godlpack:exclusive
type Alone struct{}

//godlpack:export
type Thing struct{}

//godlpack:new
func NewThing() (*Thing, error) { return &Thing{}, nil }
"""


@pytest.mark.parametrize(
    "source, text",
    [
        ("func F(ctx *kernel.Ctx) iter.Seq[int] { return nil }", "take a context.Context"),
        ("func F(n int, ctx context.Context) iter.Seq[int] { return nil }", "cannot come from Python"),
        ("func F(x tensor.Mut[int8]) iter.Seq[int] { return nil }", "x ends with the call, and an iterator goes on"),
        ("func F(x []tensor.Mut[int8]) iter.Seq[int] { return nil }", "x ends with the call"),
        ("func F(f kernel.Callable) iter.Seq[int] { return nil }", "f ends with the call"),
        ("func F(x tensor.DeviceOf[int8]) iter.Seq[int] { return nil }", "x ends with the call"),
        ("func F() (iter.Seq[int], int) { return nil, 0 }", "the only result, but for an error"),
        ("func F() iter.Seq[none] { return nil }", "an iterator over values of type p.none cannot go to Python"),
        ("func F() iter.Seq[kernel.Callable] { return nil }", "cannot go to Python"),
        ("func F() iter.Seq[iter.Seq[int]] { return nil }", "cannot go to Python"),
        ("func F() chan<- int { return nil }", "cannot go to Python"),
        ("func F(like int) iter.Seq[tensor.Of[int8]] { return nil }", "like= is reserved"),
        ("func (a *Alone) F() iter.Seq[int] { return nil }", "Alone is exclusive"),
        ("func F(a *Alone) iter.Seq[int] { return nil }", "Alone is exclusive"),
        ("func F(a []*Alone) iter.Seq[int] { return nil }", "Alone is exclusive"),
        ("func Iterator() int { return 0 }\n\n//godlpack:export Iterator\nfunc F() {}", "type stubs import"),
        ("func G() {}\n\n//godlpack:export _Iterator\ntype C struct{}", "cannot be the name of a Python class"),
        ("//godlpack:prefetch 1\n//godlpack:prefetch 2\nfunc F() iter.Seq[int] { return nil }", "at most once"),
        ("//godlpack:prefetch\nfunc F() iter.Seq[int] { return nil }", "want //godlpack:prefetch N, with a number"),
        ("//godlpack:prefetch -1\nfunc F() iter.Seq[int] { return nil }", "want //godlpack:prefetch N, with a number"),
        ("//godlpack:prefetch 3\nfunc F() int { return 0 }", "prefetch is for functions that return an iterator"),
        ("//godlpack:result like=numpy\nfunc F() iter.Seq[int] { return nil }", "like is for tensors"),
    ],
)
def test_mistakes(source, text):
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline(f"{HEAD}\n//godlpack:export\n{source}\n")


def test_getters_are_no_iterators():
    source = HEAD + "\n//godlpack:get\nfunc (t *Thing) All() iter.Seq[int] { return nil }\n"
    with pytest.raises(gd.BuildError, match="an attribute cannot be an iterator"):
        gd.load_inline(source)


NAMES = """
package p

import (
	"context"
	"iter"

	"godlpack/tensor"
)

type it int

type godlpackContext struct{ X int }

type _Iterator struct{}

type Seq iter.Seq[it]

type ctx = context.Context

//godlpack:export its
func godlpackIt() iter.Seq[it] { return func(yield func(it) bool) { yield(3) } }

//godlpack:export
func e0() func(yield func(godlpackContext) bool) {
	return func(yield func(godlpackContext) bool) { yield(godlpackContext{4}) }
}

//godlpack:export
func Named() Seq { return Seq(godlpackIt()) }

//godlpack:export
func F[it tensor.Float](ctx ctx, x tensor.Of[it]) iter.Seq2[int, tensor.Of[it]] {
	return func(yield func(int, tensor.Of[it]) bool) { yield(1, x) }
}

//godlpack:export
func Sent() chan it {
	made := make(chan it, 1)
	made <- 5
	close(made)
	return made
}
"""


def test_names_of_authors(own_cache):
    """Those of the generated code are others. Types that are sequences by another name are sequences."""
    go = gd.load_inline(NAMES)
    assert [*go.its(), *go.named(), *go.sent()] == [3, 3, 5] and list(go.e0()) == [(4,)]
    ((i, x),) = go.f(np.ones(2, "f4"))
    assert i == 1 and x.tolist() == [1, 1]


def test_goroutines_of_calls_that_fail(go):
    goroutines = go.goroutines()
    for how in ["error", "panic", "nil"] * 5:
        with pytest.raises(RuntimeError):
            go.waits_and_fails(how)
    settled(go, goroutines=goroutines)


# ---- anything ----


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["next", "next", "next", "close", "thread", "new", "drop", "list"]), max_size=30),
    st.sampled_from(["count", "ticks", "floats"]),
    st.integers(0, 40),
)
def test_any_use(loaded, steps, name, n):
    """An iterator over n elements is one over a range, whatever is done with it."""

    def new():
        return getattr(loaded, name)([float(i) for i in range(n)] if name == "floats" else n), iter(range(n))

    ours, model = new()
    for step in steps:
        if step == "next":
            assert next(ours, None) == next(model, None)
        elif step == "close":
            ours.close()
            model = iter(())
        elif step == "thread":
            got = []
            thread = threading.Thread(target=lambda ours=ours, got=got: got.append(next(ours, None)))
            thread.start()
            thread.join()
            assert got == [next(model, None)]
        elif step == "list":
            assert list(itertools.islice(ours, 5)) == list(itertools.islice(model, 5))
        else:
            ours, model = new()
