"""Keyword-only parameters, options in a struct, and variadic parameters."""

import gc
import inspect
import itertools
import sys
from datetime import timedelta

import pytest

import godlpack as gd
from godlpack import _tool
from helpers.build import ROOT

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "options" / "options.go").read_text()
DEFAULTS = {
    "mode": "fast",
    "max_iter": "10",
    "wait": "1s",
    "weights": "nil",
    "name": "me",
    "tags": "map[a:1]",
    "tell": "false",
    "limit": "7",
}
GIVEN = {
    "mode": ("exact", "exact"),
    "max_iter": (-3, "-3"),
    "wait": (timedelta(minutes=2), "2m0s"),
    "weights": (np.ones(4, np.float32), "4"),
    "name": ("", ""),
    "tags": ({"b": 2, "c": 3}, "map[b:2 c:3]"),
    "tell": (print, "true"),
    "limit": (None, "nil"),
}


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="options")


def test_signatures(go):
    mine = "mode='fast', max_iter=10, wait=..., weights=..., name=..., tags=..., tell=..., limit=..."
    wanted = {
        go.run: f"(x, k, *, {mine})",
        go.run_pointer: f"(*, {mine})",
        go.both: f"(*more, a, b=None, c=('x', 'y'), {mine})",
        go.join: "(sep=',', *parts)",
        go.lens: "(*xs)",
        go.keyword: "(x, *, axis=-1, scale, like=None, out=None)",
        go.Index.describe: "(self, prefix, *words)",
    }
    assert {f: str(inspect.signature(f)) for f in wanted} == wanted
    assert "*parts: each str" in go.join.__doc__
    assert "wait: timedelta; has a default" in go.run.__doc__


@pytest.mark.parametrize("names", [c for n in (0, 1, 2, 8) for c in itertools.combinations(GIVEN, n)], ids="+".join)
def test_options(go, names):
    options = {name: GIVEN[name][0] for name in names}
    wanted = " ".join((DEFAULTS | {name: GIVEN[name][1] for name in names}).values()) + " 5"
    assert go.run(np.ones(4, np.float32), 1, **options) == f"1 {wanted}"
    assert go.run(k=1, x=np.ones(4, np.float32), **options) == f"1 {wanted}"
    assert go.run_pointer(**options) == wanted


def test_strict_options(go):
    assert go.both(a=1) == ("1 nil [x y] me", [])
    assert go.both(5, 6, a=1, b=2, c=["z"], name="you") == ("1 2 [z] you", [5, 6])
    with pytest.raises(TypeError, match=r"both\(\) missing argument 'a'"):
        go.both(1, 2)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 100, 10_000])
def test_variadic(go, n):
    words = [str(i) for i in range(n)]
    assert go.join("+", *words) == "+".join(words)
    assert go.both(*range(n), a=1)[1] == list(range(n))
    arrays = [np.ones(i % 5) for i in range(n)]
    assert go.lens(*arrays) == [i % 5 for i in range(n)]
    assert go.keys(*({w: 1} for w in words)) == n


def test_variadic_is_written(go):
    a, b = np.zeros(3), np.zeros((2, 2))[:, ::-1]
    go.fill(2, a, b)
    assert (a == 2).all()
    assert (b == 2).all()
    with pytest.raises(BufferError, match="read-only"):
        go.fill(1, a, np.frombuffer(bytes(8)))
    with pytest.raises(ValueError, match="share"):
        go.fill(1, a, a)


def test_methods(go):
    index = go.Index(2, name="x", max_iter=100)
    assert index.describe("a", "b", "c") == "axbc"
    assert index.same() == 0
    assert index.same(index, go.Index(1), index) == 2
    with pytest.raises(TypeError, match=r"takes 1 positional argument|takes 2 positional arguments"):
        go.Index(2, "x")


def test_objects_as_options(go):
    assert go.linked() == (False, False)
    assert go.linked(next=go.Index(1)) == (True, False)
    assert go.linked(last=go.Index(1), next=None) == (False, True)


def test_keyword_only(go):
    y, n = go.keyword(np.ones(2), scale=0.5)
    assert n == -0.5
    out = np.empty(2)
    assert go.keyword(np.ones(2), axis=3, scale=2, out=out)[0] is out
    assert type(y) is np.ndarray


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda go: go.run(np.ones(1, np.float32), 1, "exact"), "takes 2 positional arguments but 3 were given"),
        (lambda go: go.run(np.ones(1, np.float32), 1, mod="fast"), "unexpected keyword argument 'mod'"),
        (lambda go: go.run(np.ones(1, np.float32), 1, hidden=1), "unexpected keyword argument 'hidden'"),
        (lambda go: go.run_pointer(mode="slow"), "argument 'mode': want Mode, one of 'fast', 'exact', got 'slow'"),
        (lambda go: go.run_pointer(max_iter=128), "argument 'max_iter'"),
        (lambda go: go.run_pointer(weights=np.ones((1, 1), np.float32)), "argument 'weights'"),
        (lambda go: go.keyword(np.ones(1), 1, scale=1), "takes 1 positional argument but 2 were given"),
        (lambda go: go.keyword(np.ones(1)), "missing argument 'scale'"),
        (lambda go: go.join(",", 1), "argument 'parts': element 0: want str, got int"),
        (lambda go: go.join(",", parts=["a"]), "unexpected keyword argument 'parts'"),
        (lambda go: go.join("a", sep="b"), "multiple values for argument 'sep'"),
        (lambda go: go.keys({"a": 1}, {"a": "b"}), r"argument 'maps': \[1\]: \['a'\]: want an int"),
    ],
)
def test_refused(go, call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(go)


def test_references(go):
    arrays, words = [np.ones(2) for _ in range(5)], ["a" * 30, "b" * 30]
    things = [*arrays, *words, go.lens, go.join]
    before = [sys.getrefcount(x) for x in things]
    for _ in range(50):
        go.lens(*arrays)
        go.join(words[0], *words)
        with pytest.raises(TypeError):
            go.lens(*arrays, None)
    gc.collect()
    assert [sys.getrefcount(x) for x in things] == before


def test_torch_op(go, own_cache):
    torch = pytest.importorskip("torch")
    f = gd.load_inline(
        """package op
import ("godlpack/kernel"; "godlpack/tensor")
//godlpack:export
//godlpack:result shape=[1]
//godlpack:arg xs shape=[n]
//godlpack:arg scale keyword default=2
func Total(c *kernel.Ctx, x tensor.Of[float64], scale float64, xs ...tensor.Of[float64]) (tensor.Mut[float64], error) {
	y := kernel.Empty[float64](c, 1)
	sum := x.At(0)
	for _, x := range xs {
		sum += scale * x.At(0)
	}
	y.Set(sum, 0)
	return y, nil
}
""",
        name="op",
    ).total
    op = gd.torch_op(f, name="godlpack_options::total")
    x = torch.ones(2, dtype=torch.float64)
    assert op(x, 3.0, [x, x]).tolist() == [7]
    assert op(x, scale=3.0, xs=[x]).tolist() == f(x, x, scale=3.0).tolist() == [4]
