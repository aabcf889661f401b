"""Advice in the errors of arguments: it can be followed, and then the call works."""

import collections
import inspect
import os
import pathlib
import re

import pytest

import godlpack as gd
from godlpack import _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package hints

import (
	"godlpack/kernel"
	"godlpack/tensor"
)

//godlpack:export
func Sum(x tensor.Of[float64]) float64 {
	sum := 0.0
	for _, v := range x.All() {
		sum += v
	}
	return sum
}

//godlpack:export
//godlpack:arg x order=C convert
func Converted(x tensor.Of[float64]) float64 { return Sum(x) }

//godlpack:export
func Sums(x []tensor.Of[float64]) float64 {
	sum := 0.0
	for _, v := range x {
		sum += Sum(v)
	}
	return sum
}

//godlpack:export
func Fill(x tensor.Mut[float64]) {
	for p := range x.Pointers() {
		*p = 7
	}
}

//godlpack:export
func Same(x tensor.Of[float64]) tensor.Of[float64] { return x }

//godlpack:export
func Int(x int) int { return x }

//godlpack:export
func Float(x float64) float64 { return x }

//godlpack:export
func Truth(x bool) bool { return x }

//godlpack:export
func Maybe(x *int) bool { return x == nil }

//godlpack:export
func Ints(x []int) int { return len(x) }

//godlpack:export
func Floats(x []float64) int { return len(x) }

//godlpack:export
func Text(x string) string { return x }

//godlpack:export
func Texts(x []string) int { return len(x) }

//godlpack:export
func Call(x kernel.Callable) error {
	_, err := x.Call()
	return err
}
"""


@pytest.fixture(scope="module")
def m(own_cache):
    return gd.load_inline(SOURCE)


class Thing:
    pass


UNFIT = [{1}, {1: 2}, 1j, Thing(), frozenset(), iter([1]), (i for i in [1]), {}.keys()]
WANTS = {
    "int": "int",
    "float": "float",
    "truth": "bool",
    "maybe": "int or None",
    "ints": "list of int",
    "floats": "list of float",
    "text": "str",
    "texts": "list of str",
    "call": "callable",
    "sum": "float64[...] on cpu",
    "converted": "float64[...] on cpu, C-contiguous",
    "sums": "list of float64[...] on cpu",
    "fill": "float64[...] on cpu, writable",
}


@pytest.mark.parametrize("function", WANTS)
@pytest.mark.parametrize("value", UNFIT, ids=lambda x: type(x).__name__)
def test_objects_that_nobody_takes(m, function, value):
    """The error has the same text for what the parameter wants as with other arguments."""
    with pytest.raises(TypeError) as other:
        getattr(m, function)(gd.Device("cpu"))
    want = str(other.value).partition("want ")[2].partition(", got ")[0]
    assert want == WANTS[function]
    with pytest.raises(TypeError) as caught:
        getattr(m, function)(value)
    kind = type(value).__qualname__ if not isinstance(value, Thing) else f"{__name__}.Thing"
    hint = ": pass a list (list(x))" * ("list" in want and hasattr(value, "__iter__") and not isinstance(value, dict))
    assert str(caught.value) == f"{function}(): argument 'x': want {want}, got {kind}{hint}"


@pytest.mark.parametrize("value", [{1, 2}, (i for i in [1, 2]), {}.values(), collections.deque([1])], ids=type)
def test_lists_of_what_can_be_iterated(m, value):
    assert m.ints(list(value)) in (0, 1, 2)


def test_elements_that_nobody_takes(m):
    with pytest.raises(TypeError, match=r"ints\(\): argument 'x': want list of int, got set in a list$"):
        m.ints([1, {2}])


def test_paths(m):
    path = pathlib.PurePath("a")
    for call, wanted in (lambda: m.text(path), "str"), (lambda: m.texts(["b", path]), "list of str"):
        with pytest.raises(
            TypeError,
            match=rf"want {wanted}, got pathlib\.(_local\.)?PurePosixPath: pass its text \(os\.fspath\(x\)\)$",
        ):
            call()
    assert m.text(os.fspath(path)) == "a"


@pytest.mark.parametrize("x", [3, 2.5, True, [1.0, 2], (1.0,), [[1], [2]]], ids=str)
def test_numbers_in_the_place_of_tensors(m, x):
    np = pytest.importorskip("numpy")
    for function in m.sum, m.converted:
        with pytest.raises(TypeError, match=r"got \w+: pass an array \(numpy\.asarray\(x\)\)$"):
            function(x)
    assert m.converted(np.asarray(x)) == np.sum(x)


def test_what_callables_return(m):
    with pytest.raises(TypeError, match=r"the result of a callable: want a tensor, a number, .* got set"):
        m.call(lambda: {1})


def test_numbers_of_numpy(m, np):
    for x in np.complex64(1), np.datetime64("2020"):
        with pytest.raises(TypeError, match=r"float\(\): argument 'x': want float, got numpy\.\w+"):
            m.float(x)


SHAPES = [(), (1,), (2,), (2, 3), (2, 1, 2)]
ADVICE = re.compile(r"\((?:list\(x\) or )?([^()]*(?:\([^()]*\)[^()]*)*)\)$")


@pytest.mark.parametrize("function", ["int", "float", "ints", "floats", "sums"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("framework", ["numpy", "torch", "godlpack", "jax"])
def test_advice_can_be_followed(m, np, torch, jax, function, shape, framework):
    x = np.ones(shape, "float64" if function in ("float", "floats", "sums") else "int64")
    make = {"numpy": lambda x: x, "torch": torch.from_numpy, "godlpack": gd.from_dlpack, "jax": lambda x: x}[framework]
    if framework == "jax":
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            x = jax.numpy.asarray(x)
    else:
        x = make(x)
    if function in ("ints", "floats") and len(shape) == 1:
        assert getattr(m, function)(x) == getattr(m, function)(x.tolist())  # an array is a list of numbers
        return
    with pytest.raises(TypeError) as caught:
        getattr(m, function)(x)
    advice = ADVICE.search(str(caught.value)).group(1)
    getattr(m, function)(eval(advice, {"x": x}))
    if "list(x)" in str(caught.value):
        m.sums(list(x))


def test_no_advice_for_what_is_empty(m, np):
    for function in "int", "ints":
        with pytest.raises(TypeError, match=r"got a tensor, float64\[0\] on cpu$"):
            getattr(m, function)(np.ones(0))


# ---- a field of a record: strides that are not a multiple of the element ----


def field(np, shape, values=None):
    records = np.zeros(shape, dtype=[("a", "u1"), ("b", "f8"), ("c", "u2")])
    x = records["b"]
    x[...] = np.arange(x.size).reshape(shape) if values is None else values
    return x


VIEWS = {
    "plain": lambda x: x,
    "reversed": lambda x: x[::-1],
    "strided": lambda x: x[..., ::2],
    "transposed": lambda x: x.T,
    "zero strides": lambda x: x[:, None] + 0 if x.ndim == 1 else x[:1],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0,), (3, 0)])
def test_fields_are_copied_to_be_read(m, np, shape, view):
    x = VIEWS[view](field(np, shape))
    x.flags.writeable = False
    before = x.copy()
    assert m.sum(x) == m.converted(x) == m.sums([x]) == x.sum()
    assert m.sum(x=x) == m.sums((x, x)) / 2
    made = m.same(x)
    assert type(made) is np.ndarray and np.array_equal(made, x)
    out = np.zeros(x.shape)
    assert m.same(x, out=out) is out and np.array_equal(out, x)
    assert np.array_equal(x, before)


def test_fields_cannot_be_written(m, np):
    x = field(np, 4)
    for call in lambda: m.fill(x), lambda: m.same(np.zeros(4), out=x):
        with pytest.raises(BufferError) as caught:
            call()
        assert "strides of (11,) bytes; use a copy, x.copy() or x.clone(), and put it back by x[...] = copy" in str(
            caught.value
        )
    copy = x.copy()
    m.fill(copy)
    x[...] = copy
    assert x.tolist() == [7] * 4
    for route in gd.from_dlpack, gd.asarray:
        with pytest.raises(BufferError, match=r"strides of \(11,\) bytes; use copy=True"):
            route(x)
        assert route(x, copy=True).tolist() == x.tolist()


def test_fields_of_another_dtype_are_refused(m, np):
    x = np.zeros(3, dtype=[("a", "u1"), ("b", "f4")])["b"]
    with pytest.raises(TypeError, match=r"want float64\[\.\.\.\] on cpu, got float32\[3\] on cpu"):
        m.sum(x)


# ---- integers ----

INTEGERS = """
package integers

//godlpack:export
//godlpack:arg a default=18446744073709551615
//godlpack:arg b default=0x8000000000000000
//godlpack:arg c default=255
//godlpack:arg d default=-9223372036854775808
//godlpack:arg e default=[18446744073709551615,1,9223372036854775808]
//godlpack:arg f default=[1,2]
func Defaults(a uint64, b uint, c uint8, d int64, e []uint64, f []uint64) (uint64, uint, uint8, int64, []uint64, []uint64) {
	return a, b, c, d, e, f
}

//godlpack:export
func Small(x uint8) uint8 { return x }

//godlpack:export
func Large(x uint64) uint64 { return x }

//godlpack:export
func Signed(x int64) int64 { return x }

//godlpack:export
func Floating(x float64) float64 { return x }
"""


def test_defaults_of_all_integers(own_cache):
    m = gd.load_inline(INTEGERS)
    wanted = (2**64 - 1, 2**63, 255, -(2**63), [2**64 - 1, 1, 2**63], [1, 2])
    assert m.defaults() == wanted
    assert [p.default for p in inspect.signature(m.defaults).parameters.values()] == [
        tuple(x) if isinstance(x, list) else x for x in wanted
    ]
    assert m.defaults(1, e=[2**64 - 2])[4] == [2**64 - 2]


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("uint64", 2**64),
        ("uint64", -1),
        ("uint32", 2**32),
        ("int64", 2**63),
        ("[]uint64", "[18446744073709551616]"),
        ("[]uint64", "[1,-1]"),
        ("[]int64", "[9223372036854775808]"),
    ],
)
def test_defaults_that_do_not_fit(own_cache, type, value):
    with pytest.raises(gd.BuildError, match=f"an integer that a {type.strip('[]')} can hold"):
        gd.load_inline(f"package p\n\n//godlpack:export\n//godlpack:arg x default={value}\nfunc F(x {type}) {{}}\n")


def test_integers_out_of_range(own_cache):
    """The docstring names both exceptions."""
    m = gd.load_inline(INTEGERS)
    cases = {m.small: 256, m.large: 2**64, m.signed: 2**63, m.floating: 2**1024}
    for function, value in cases.items():
        error = ValueError if function is m.small else OverflowError
        with pytest.raises(error):
            function(value)
        assert f"    {error.__name__}: " in function.__doc__
    with pytest.raises(ValueError, match="want uint64, got -1"):
        m.large(-1)
