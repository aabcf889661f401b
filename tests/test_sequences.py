"""Iterables for functions that take an iter.Seq."""

import collections
import gc
import inspect
import itertools
import subprocess
import sys
import threading
import time
import weakref
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import godlpack as gd
from godlpack import _tool
from helpers.scripts import PRESSED

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package sequences

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Total returns the sum of some numbers.
//
//godlpack:export
func Total(xs iter.Seq[int64]) (sum int64) {
	for x := range xs {
		sum += x
	}
	return sum
}

//godlpack:export
func Small(xs iter.Seq[int8]) (n int) {
	for range xs {
		n++
	}
	return n
}

//godlpack:export
func Mean(xs iter.Seq[float64]) (mean float64) {
	n := 0.0
	for x := range xs {
		mean += x
		n++
	}
	return mean / n
}

//godlpack:export
func Texts(xs iter.Seq[string]) (all []string) {
	for x := range xs {
		all = append(all, x)
	}
	return all
}

//godlpack:export
func Sizes(xs iter.Seq[[]byte]) (all []int) {
	for x := range xs {
		all = append(all, len(x))
	}
	return all
}

//godlpack:export
func Bools(xs iter.Seq[bool]) (n int) {
	for x := range xs {
		if x {
			n++
		}
	}
	return n
}

type Point struct {
	X, Y float64
	Name *string
}

//godlpack:export
func Points(xs iter.Seq[Point]) (all []Point) {
	for x := range xs {
		all = append(all, x)
	}
	return all
}

//godlpack:export
func Waits(xs iter.Seq[time.Duration]) (sum time.Duration) {
	for x := range xs {
		sum += x
	}
	return sum
}

//godlpack:export
type Node struct{ n int }

//godlpack:new
func NewNode(n int) *Node { return &Node{n} }

//godlpack:export
func (t *Node) Join(others iter.Seq[*Node]) *Node {
	sum := t.n
	for o := range others {
		sum += o.n
	}
	return &Node{sum}
}

//godlpack:export
func (t *Node) Number() int { return t.n }

type Numbered interface{ Number() int }

//godlpack:export
func Numbers(xs iter.Seq[Numbered]) (all []int) {
	for x := range xs {
		all = append(all, x.Number())
	}
	return all
}

// Kept returns the elements of all tensors, which it keeps until it has all.
//
//godlpack:export
func Kept(xs iter.Seq[tensor.Of[float32]]) (all []float32) {
	var kept []tensor.Of[float32]
	for x := range xs {
		kept = append(kept, x)
	}
	for _, x := range kept {
		for _, v := range x.All() {
			all = append(all, v)
		}
	}
	return all
}

// FirstOf takes n elements of each, in turn.
//
//godlpack:export
func FirstOf(a, b iter.Seq[int], n int) (all []int) {
	for range 2 {
		for _, seq := range []iter.Seq[int]{a, b} {
			left := n
			for x := range seq {
				all = append(all, x)
				if left--; left == 0 {
					break
				}
			}
		}
	}
	return all
}

var ErrOwn = errors.New("the function's own error")

// Told returns what it has, and the error that it is told of.
//
//godlpack:export
func Told(xs iter.Seq2[int, error], own bool) (string, error) {
	var got []string
	for x, err := range xs {
		if err != nil && own {
			return "", fmt.Errorf("%w: %w", ErrOwn, err)
		}
		if err != nil {
			return "", err
		}
		got = append(got, fmt.Sprint(x))
	}
	return strings.Join(got, " "), nil
}

// Ignores returns 1, whatever happens.
//
//godlpack:export
func Ignores(xs iter.Seq2[int, error]) int {
	for range xs {
	}
	return 1
}

var left iter.Seq[int]

// Leave keeps its sequence when it has ended.
//
//godlpack:export
func Leave(xs iter.Seq[int]) { left = xs }

// Left counts what that has.
//
//godlpack:export
func Left() (n int) {
	for range left {
		n++
	}
	return n
}

// Elsewhere sums in another goroutine.
//
//godlpack:export
func Elsewhere(ctx context.Context, xs iter.Seq[int], ys iter.Seq[int]) (int, int, error) {
	var wait sync.WaitGroup
	var x, y int
	wait.Go(func() {
		for v := range xs {
			x += v
		}
	})
	wait.Go(func() {
		for v := range ys {
			y += v
		}
	})
	wait.Wait()
	return x, y, ctx.Err()
}

// Words is a sequence by another name.
type Words iter.Seq[string]

//godlpack:export
//godlpack:arg words keyword
func Joined(words Words, more ...string) string {
	var all []string
	for word := range words {
		all = append(all, word)
	}
	return strings.Join(append(all, more...), "-")
}

//godlpack:export
func Checked(xs iter.Seq[int]) error {
	for x := range xs {
		if x == 3 {
			return kernel.Errorf(kernel.ValueError, "want no 3")
		}
	}
	return nil
}
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="sequences")


class BrokenError(Exception):
    pass


def breaks(n):
    yield from range(n)
    raise BrokenError(f"after {n}")


# ---- elements ----


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1023, 1024, 5000])
@pytest.mark.parametrize("make", [list, tuple, iter, set, dict.fromkeys, collections.deque, lambda r: (x for x in r)])
def test_iterables(go, n, make):
    assert go.total(make(range(n))) == sum(range(n))
    assert go.total(range(n)) == sum(range(n))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.lists(st.text()), st.lists(st.binary()), st.lists(st.booleans()))
@settings(max_examples=50)
def test_values(go, ints, texts, binary, bools):
    assert go.total(x % 1000 for x in ints) == sum(x % 1000 for x in ints)
    assert go.texts(iter(texts)) == texts
    assert go.sizes(iter(binary)) == [len(b) for b in binary]
    assert go.bools(iter(bools)) == sum(bools)


def test_other_values(go):
    assert go.mean(x / 2 for x in range(101)) == 25
    points = [{"x": 1, "y": 2.5, "name": None}, {"x": -1.0, "y": 0, "name": "é"}] * 1000
    assert [(p.x, p.y, p.name) for p in go.points(iter(points))] == [(1, 2.5, None), (-1, 0, "é")] * 1000
    assert go.waits(timedelta(seconds=i) for i in range(5)) == timedelta(seconds=10)
    assert go.joined("a", "b", words=(w for w in ["x", "y"])) == "x-y-a-b"
    assert go.first_of(itertools.count(), iter(range(3)), 2) == [0, 1, 0, 1, 2, 3, 2]


def test_objects(go):
    assert go.Node(1).join(go.Node(i) for i in range(2000)).number() == 1 + sum(range(2000))
    assert go.numbers(map(go.Node, range(5))) == [0, 1, 2, 3, 4]


def test_arrays_of_numbers(go):
    torch = pytest.importorskip("torch")
    for make in np.arange, torch.arange, lambda n: gd.asarray(np.arange(n)):
        assert go.total(make(10)) == 45
        assert go.total(make(10)[::-3] if make is np.arange else make(10)[::3]) == 18
    assert go.total(np.arange(10, dtype="int8")) == 45
    assert go.mean(np.array([1.0, 2.0])) == 1.5
    assert go.total(iter(np.arange(10))) == 45


def test_tensors_can_be_kept(go):
    """A tensor that the iterable changes, or drops, when it goes on is still what it was."""

    def changing():
        x = np.zeros(2, "float32")
        for i in range(3000):
            x[:] = i
            yield x

    assert go.kept(changing()) == [float(i) for i in range(3000) for _ in range(2)]
    assert go.kept(np.full((1,), i, "float32")[::-1] for i in range(100)) == [float(i) for i in range(100)]


# ---- errors ----


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 3000])
def test_exceptions_of_the_iterable(go, n):
    for call in go.total, go.small, go.ignores, go.checked, go.told:
        with pytest.raises(BrokenError, match=f"^after {n}$"):
            call(zeros(n), *[False] * (call is go.told))
    with pytest.raises(BrokenError):
        go.told(breaks(n), True)
    with pytest.raises(BrokenError):
        go.elsewhere(range(10), breaks(n))
    assert go.total(range(10)) == 45


def zeros(n):
    for _ in range(n):
        yield 0
    raise BrokenError(f"after {n}")


def test_all_before_an_exception_arrive(go):
    seen = []

    class Recorder:
        def __init__(self):
            self.left = 700

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise BrokenError
            self.left -= 1
            seen.append(self.left)
            return 1

    with pytest.raises(BrokenError):
        go.total(Recorder())
    assert len(seen) == 700
    with pytest.raises(ValueError, match="want no 3"):  # before the exception is reached
        go.checked(iter([1, 2, 3, *range(100)]))


WRONG = [
    ("total", [1, "x"], TypeError, r"total\(\): argument 'xs': element 1: want int, got str"),
    ("total", [*range(3000), None], TypeError, r"total\(\): argument 'xs': element 3000: want int, got None"),
    ("total", [2**63], OverflowError, r"total\(\): argument 'xs': element 0: want int, got "),
    (
        "small",
        [0] * 100 + [128],
        (ValueError, OverflowError),
        r"small\(\): argument 'xs': element 100: want int8, got 128",
    ),
    ("total", 3, TypeError, r"total\(\): argument 'xs': want iterable of int, got int: pass an iterable"),
    ("total", None, TypeError, r"total\(\): argument 'xs': want iterable of int, got NoneType"),
    ("texts", "abc", TypeError, r"texts\(\): argument 'xs': want iterable of str, got str: pass a list of it"),
    (
        "points",
        [{"x": 1, "y": 2, "name": None}] * 50 + [3],
        TypeError,
        r"points\(\): argument 'xs': \[50\]: want Point",
    ),
    ("kept", [np.zeros(1, "float32"), np.zeros(1)], TypeError, r"kept\(\): argument 'xs': element 1: want float32"),
    ("numbers", [3], TypeError, r"numbers\(\): argument 'xs': element 0: want Node, got int"),
    ("total", np.zeros((2, 2), "int64"), (TypeError, ValueError), r"total\(\): argument 'xs': "),
]


@pytest.mark.parametrize(("name", "given_", "kind", "text"), WRONG)
def test_wrong_elements(go, name, given_, kind, text):
    with pytest.raises(kind, match=text):
        getattr(go, name)(given_ if not isinstance(given_, list) else iter(given_))


def test_after_the_call(go):
    go.leave([1, 2])
    assert go.left() == 0


def test_ctrl_c(python, go):
    script = f"""
import godlpack as gd
go = gd.load_module({go.__file__!r})
def slow():
    while True:
        time.sleep(0.01)
        yield 1
print(interrupted(lambda: go.total(slow()), 0.3), interrupted(lambda: go.elsewhere(range(3), slow()), 0.3) == "")
"""
    assert python(PRESSED + script, timeout=30).split() == ["True"]


# ---- batches ----


def test_slow_iterables_do_not_wait_for_a_batch(go):
    """The function has each element some time after it was made."""

    def slow():
        for i in range(3):
            time.sleep(0.02)
            yield i
        raise AssertionError("an element more was taken")

    with pytest.raises(ValueError, match="want no 3"):
        go.checked(itertools.chain([3], slow()))


def test_what_is_not_used_is_little(go):
    numbers = itertools.count()
    assert go.first_of(numbers, [], 1) == [0, 1]
    assert next(numbers) < 8


def test_nothing_stays(go):
    class Element(str):
        pass

    made = weakref.WeakSet()

    def elements():
        for i in range(5000):
            element = Element(i)
            made.add(element)
            yield element

    iterator = elements()
    assert len(go.texts(iterator)) == 5000
    del iterator
    gc.collect()
    assert not made


def test_threads(go):
    results = []

    def work():
        for _ in range(30):
            results.append(go.total(x for x in range(2000)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [sum(range(2000))] * 120


def test_calls_within_an_iterable(go):
    assert go.total(go.total(range(i)) for i in range(50)) == sum(sum(range(i)) for i in range(50))
    nested = (go.total(x for x in range(5)) for _ in range(3000))
    assert go.elsewhere(nested, (go.total([1]) for _ in range(3)))[:2] == (30000, 3)


# ---- as a Python programmer sees it ----


def test_nothing_else_is_exported(go):
    assert not [name for name in [*go.__all__, *dir(go)] if "Sequence" in name or "feed" in name]


def test_signature_and_docstring(go):
    assert str(inspect.signature(go.joined)) == "(*more, words)"
    assert "xs: iterable of int\n" in go.total.__doc__


def test_stubs(go, tmp_path):
    stub = Path(go.__file__).with_suffix(".pyi").read_text()
    for line in (
        "def total(xs: Iterable[int]) -> int:",
        "def kept(xs: Iterable[TensorLike]) -> list[float]:",
        "    def join(self, others: Iterable[Node]) -> Node | None:",
        "def told(xs: Iterable[int], own: bool) -> str:",
    ):
        assert line in stub or line.replace(" | None", "") in stub, line
    assert "_Sequence" not in stub
    pytest.importorskip("mypy")
    tmp_path.joinpath("ops.pyi").write_text(stub)
    tmp_path.joinpath("use.py").write_text(
        "import ops\nprint(ops.total(x for x in range(3)), ops.texts({'a': 1}), ops.joined(words=iter('ab')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


REFUSED = [
    ("func F(x iter.Seq2[int, string]) {}", r"cannot come from Python: take an iter.Seq of structs"),
    ("func F(x iter.Seq[chan int]) {}", r"an iterable of values of type chan int cannot come from Python"),
    ("func F(x iter.Seq[byte]) {}", r"an iterable of bytes: take a \[\]byte"),
    ("func F(x iter.Seq[tensor.Mut[int8]]) {}", "an iterable of values of type"),
    ("func F[T float32|float64](x iter.Seq[tensor.Of[T]], y tensor.Of[T]) {}", "of a type parameter"),
    ("func F(x iter.Seq[int]) iter.Seq[int] { return x }", "x ends with the call, and an iterator goes on"),
    ("func F(x *iter.Seq[int]) {}", "cannot come from Python: take it without a pointer"),
]


@pytest.mark.parametrize(("source", "text"), REFUSED)
def test_what_cannot_be(own_cache, source, text):
    imports = 'import "iter"\n' + 'import "godlpack/tensor"\n' * ("tensor." in source)
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline(imports + "\n//godlpack:export\n" + source)
