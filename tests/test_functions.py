"""Functions of libraries: arguments, results, and protection of the host from faulty libraries."""

import array
import copy
import ctypes
import gc
import inspect
import json
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import types
import weakref
from collections import namedtuple
from fractions import Fraction
from pathlib import Path

import pytest

import godlpack as gd
from godlpack.testing import records
from helpers import build, fakes
from helpers.scripts import PRESSED
from helpers.threads import together

pytestmark = [build.needs_cc, build.needs_headers]


def without_addresses(value):
    """A parameter id without addresses, the same in each process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build.c_functions(tmp_path_factory.mktemp("functions") / "functions.so")


@pytest.fixture(scope="session")
def f(library):
    module = gd.load_module(library)
    sys.modules["functions"] = module  # pickle looks functions up by name
    yield module
    del sys.modules["functions"]


def count(*objects):
    return [sys.getrefcount(x) for x in objects]


# ---- the object ----


def test_function_shows_what_it_is(f):
    assert f.__all__[:2] == ["nop0", "nop3"]
    assert (f.tell.__name__, f.tell.__qualname__, f.tell.__module__) == ("tell", "tell", "functions")
    assert f.tell.__doc__ == "Does tell."
    assert repr(f.tell) == "<function functions.tell(x, y=1, z=-0.5)>"
    assert str(inspect.signature(f.tell)) == f.tell.__text_signature__ == "(x, y=1, z=-0.5)"
    assert str(inspect.signature(f.empty_like)) == "(x, *, like=None, out=None)"
    assert inspect.signature(f.tell).parameters["z"].default == -0.5
    assert callable(f.tell)
    assert isinstance(f.tell, gd.Function)
    assert gd.Function.__module__ == "godlpack"
    assert gd.Function.__doc__.startswith("A function of a library")
    assert weakref.ref(f.tell)() is f.tell
    with pytest.raises(AttributeError):
        f.tell.nothing  # noqa: B018
    with pytest.raises(TypeError):
        gd.Function()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_function_pickles_by_reference(f, protocol):
    assert pickle.loads(pickle.dumps(f.tell, protocol)) is f.tell
    assert copy.deepcopy(f.tell) is copy.copy(f.tell) is f.tell


def test_function_lives_without_its_module(library):
    nop = gd.load_module(library, package="elsewhere").nop0
    gc.collect()
    assert nop() is None
    assert nop.__module__ == "elsewhere"


def test_make_function_wants_what_it_is_made_of(library):
    make = gd._core._function
    good = [str(library), print, 0, "f", "f", "m", "d", "()", ("x",), 0, 0, False, None]
    assert make(*good).__name__ == "f"
    for place, wrong in ((0, 5), (2, "0"), (3, 5), (8, ["x"]), (8, (5,)), (6, None)):
        with pytest.raises(TypeError):
            make(*good[:place], wrong, *good[place + 1 :])
    with pytest.raises(TypeError):
        make()
    with pytest.raises(FileNotFoundError):
        make("nowhere", *good[1:])
    with pytest.raises(TypeError):
        gd._core._declarations()


# ---- arguments ----


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Data(bytes):
    pass


class Items(list):
    pass


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "null;"),
        (True, "bool 1;"),
        (False, "bool 0;"),
        (0, "int 0;"),
        (2**63 - 1, f"int {2**63 - 1};"),
        (-(2**63), f"int {-(2**63)};"),
        (2**63, "code 71;"),
        (2**64 - 1, "code 71;"),
        (2**64, "code 72;"),
        (-(2**63) - 1, "code 72;"),
        (range(2), "[int 0;int 1;]"),
        (Whole(7), "int 7;"),
        (signal.SIGINT, "int 2;"),
        (0.1, "float 0.10000000000000001;"),
        (Real(2.5), "float 2.5;"),
        (float("inf"), "float inf;"),
        ("", "text 0 ;"),
        ("aé", "text 3 aé;"),
        (Text("t"), "text 1 t;"),
        (b"ab", "bytes 2 ab;"),
        (Data(b"c"), "bytes 1 c;"),
        ([], "[]"),
        ((), "[]"),
        ([1, [2.0, ("x",)], None], "[int 1;[float 2;[text 1 x;]]null;]"),
        (Items([1]), "[int 1;]"),
        (Pair(1, 2), "[int 1;int 2;]"),
        (list(range(300)), "[" + "".join(f"int {i};" for i in range(300)) + "]"),
        (Fraction(1, 4), "float 0.25;"),
        (len, "callable;"),
        (lambda: 0, "callable;"),
        (Text, "callable;"),
        (gd.DType("bfloat16"), "dtype 4 16 1;"),
        (gd.Device("cuda:1"), "device 2 1;"),
        (bytearray(b"ab"), "tensor 1 8 (2:1,) 97;"),
        (memoryview(b"ab"), "tensor 1 8 (2:1,) read-only 97;"),
        (array.array("h", [5, 6]), "tensor 0 16 (2:1,) 5;"),
    ],
    ids=without_addresses,
)
def test_argument(f, value, told):
    assert f.tell(value) == told + "default;default;"
    assert f.tell(0, value) == "int 0;" + told + "default;"
    assert f.tell(x=[value]) == f"[{told}]default;default;"


def test_text_may_hold_nul(f):
    assert f.tell("a\0b", None, None) == "text 3 a\0b;null;null;"


def test_numpy_arguments(f, np):
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    for _ in range(2):  # the first call makes the plan
        assert f.tell(x, None, None) == "tensor 0 32 (2:3,3:1,) 0;null;null;"
    assert f.tell(x[::-1, ::2], None, None) == "tensor 0 32 (2:-3,2:2,) 3;null;null;"
    x.flags.writeable = False
    assert f.tell([x], None, None) == "[tensor 0 32 (2:3,3:1,) read-only 0;]null;null;"
    deep = np.ones((1,) * 12, np.uint8)  # more dimensions than the fast path has room for
    assert f.tell(deep, None, None) == "tensor 1 8 (" + "1:1," * 12 + ") 1;null;null;"
    assert f.tell(np.zeros((0, 2)), None, None).startswith("tensor 2 64 (0:")


@pytest.mark.parametrize(
    ("code", "value", "told"),
    [
        ("int8", -3, "int -3;"),
        ("uint64", 5, "int 5;"),
        ("float32", 0.5, "float 0.5;"),
        ("float64", 0.5, "float 0.5;"),
        ("bool", True, "bool 1;"),
        ("float16", 2, "float 2;"),
    ],
)
def test_numpy_scalars(f, np, code, value, told):
    assert f.tell(np.dtype(code).type(value), None, None) == told + "null;null;"


def test_dtypes_and_devices_of_others(f, np, torch):
    for x in (np.dtype("float32"), np.float32, torch.float32):
        assert f.tell(x, None, None) == "dtype 2 32 1;null;null;"
    assert f.tell(torch.device("cuda", 3), None, None) == "device 2 3;null;null;"


def test_framework_arguments(f, torch, jax, tvm_ffi):
    x = torch.ones(2, 3, dtype=torch.uint8)
    told = "tensor 1 8 (2:3,3:1,) 1;null;null;"
    for y in (x, torch.nn.Parameter(x, requires_grad=False), gd.from_dlpack(x), tvm_ffi.from_dlpack(x), x.__dlpack__()):
        assert f.tell(y, None, None) == told
        if type(y).__name__ != "PyCapsule":
            assert f.tell([y, y], None, None) == "[" + told.split(";")[0] + ";" + told.split(";")[0] + ";]null;null;"
    j = jax.numpy.ones((2, 3), "uint8")
    for _ in range(2):
        assert f.tell(j, None, None) == told.replace(")", ") read-only")
    frozen = gd.asarray(b"ab")
    assert f.tell(frozen, None, None) == "tensor 1 8 (2:1,) read-only 97;null;null;"


def test_more_arguments_than_there_is_room_for_on_the_stack(f, np, torch):
    x, y = np.ones(1, np.uint8), torch.ones(1, dtype=torch.uint8)
    assert (
        f.tell9(x, y, 1, x, y, 2, x, y, i=y)
        == 2 * ("tensor 1 8 (1:1,) 1;" * 2 + "int 1;" * 1).replace("int 1;", "int %d;") % (1, 2)
        + "tensor 1 8 (1:1,) 1;" * 3
    )
    assert f.tell9(x).endswith("default;" * 8)


def test_keywords(f):
    assert (
        f.tell(1, 2, 3) == f.tell(z=3, y=2, x=1) == f.tell(1, z=3, y=2) == f.tell(1, **{"".join(["", "z"]): 3, "y": 2})
    )
    assert f.tell(y=1) == "default;int 1;default;"
    assert f.tell() == "default;default;default;"
    for call, text in (
        (lambda: f.tell(1, 2, 3, 4), r"tell\(\) takes 3 positional arguments but 4 were given"),
        (lambda: f.nop0(1), r"nop0\(\) takes 0 positional arguments but 1 was given"),
        (lambda: f.echo(1, 2), r"echo\(\) takes 1 positional argument but 2 were given"),
        (lambda: f.tell(1, w=2), r"tell\(\) got an unexpected keyword argument 'w'"),
        (lambda: f.tell(1, x=2), r"tell\(\) got multiple values for argument 'x'"),
        (lambda: f.tell(1, like=None), r"tell\(\) got an unexpected keyword argument 'like'"),
        (lambda: f.nop0(out=None), r"nop0\(\) got an unexpected keyword argument 'out'"),
        (lambda: f.empty_like(b"", off=None), r"empty_like\(\) got an unexpected keyword argument 'off'"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_keywords_of_outputs_where_there_are_none(f, np):
    for name in ("like", "out"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            f.nop0(**{name: np.ones(1)})


class Strange:
    def __dlpack__(self, **_ignored):
        raise LookupError("my own")


class Described:
    def __init__(self, owner):
        self.owner = owner

    @property
    def __array_interface__(self):
        return self.owner.__array_interface__


@pytest.mark.unbalanced("NumPy keeps references to the parts of each __array_interface__ that it makes or takes")
def test_array_interface_of_the_instance(f, np):
    """NumPy takes it, too. On a class, __array_interface__ describes its instances and is not used."""
    owner = np.arange(2, dtype=np.uint8)
    x = types.SimpleNamespace(__array_interface__=owner.__array_interface__)
    assert f.tell(x, None, None) == "tensor 1 8 (2:1,) 0;null;null;"
    assert gd.asarray(x).tolist() == np.asarray(x).tolist() == [0, 1]
    x.__array_interface__ = None
    with pytest.raises(BufferError, match="__array_interface__"):
        gd.asarray(x)
    with pytest.raises(TypeError, match="want a tensor, a DLPack capsule, or an object"):
        gd.asarray(Described)


def test_array_interface(f, np):
    assert f.tell(Described(np.ones(2, np.uint8)), None, None) == "tensor 1 8 (2:1,) 1;null;null;"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (2**1024, OverflowError, r"tell\(\): argument 'x': the int is too large, also for a float"),
        ([-(2**1024)], OverflowError, r"tell\(\): argument 'x': the int is too large"),
        (Whole(2**1024), OverflowError, r"tell\(\): argument 'x': the int is too large"),
        (1j, TypeError, r"tell\(\): argument 'x': want a tensor, a number, .*, got complex"),
        (object(), TypeError, r"tell\(\): argument 'x': .* got object"),
        ({}, TypeError, r"tell\(\): argument 'x': .* got dict"),
        ([1, {2}], TypeError, r"tell\(\): argument 'x': .* got set"),
        ("\ud800", UnicodeEncodeError, "surrogates"),
        (Strange(), LookupError, "my own"),
    ],
    ids=without_addresses,
)
def test_argument_is_refused(f, value, error, text):
    before = count(value)
    with pytest.raises(error, match=text) as raised:
        f.tell(value)
    del raised
    assert count(value) == before


def test_numpy_arguments_are_refused(f, np):
    for x, text in (
        (np.array([1], ">i4"), r"tell\(\): argument 'x': .*byte order"),
        (np.array(["a"]), r"tell\(\): argument 'x': .*no dtype"),
        (np.ma.masked_array([1.0], [True]), r"tell\(\): argument 'x': .*mask"),
    ):
        with pytest.raises(BufferError, match=text):
            f.tell(x)
    with pytest.raises(TypeError, match=r"tell\(\): argument 'x': want .* got .*complex64"):
        f.tell(np.complex64(1))


def test_lists_nest_to_a_depth(f):
    x = []
    x.append(x)
    with pytest.raises(ValueError, match=r"tell\(\): lists nested deeper than 64"):
        f.tell(x)
    x.clear()


def test_references_balance(f, np, torch):
    x, y, text, items = np.ones(3), torch.ones(3), "text" * 3, [1.5, "a"]
    before = count(x, y, text, items, f.tell)
    for _ in range(20):
        f.tell([x, y, items], text, items)
        f.echo(x), f.echo(y), f.empty_like(y), f.two(x)
        f.empty_like(x, out=x), f.empty_like(x, like=y)
        f.invoke(lambda z: [z, items], x)
        for wrong in (lambda: f.tell([x, y, 1j], text), lambda: f.tell(x, x=y), lambda: f.fail("ValueError", text)):
            with pytest.raises((TypeError, ValueError)):
                wrong()
    gc.collect()
    after = count(x, y, text, items, f.tell)  # not in the assertion, which holds references
    assert after == before


# ---- guards ----


def test_lazy_values_are_refused(f, torch):
    z = torch.tensor([1 + 2j, 3 - 1j])
    for x, text in ((z.conj(), "resolve_conj"), (z.conj().imag, "resolve_neg"), (z.conj().imag[:1], "resolve_neg")):
        for argument in (x, [x]):
            with pytest.raises(BufferError, match=rf"tell\(\): argument 'x': .*{text}\(\)"):
                f.tell(argument)
    assert f.tell(z.conj().resolve_conj(), None, None).startswith("tensor 5 64")


def test_tensors_without_memory_are_refused(f, torch):
    from torch._subclasses.fake_tensor import FakeTensorMode

    f.tell(torch.ones(1))
    with FakeTensorMode():
        fake = torch.empty(2)
    for x in (fake, torch.eye(2).to_sparse(), torch.empty(2, device="meta")):
        with pytest.raises((BufferError, TypeError, RuntimeError)):
            f.tell(x)


def test_gradients(f, torch):
    x = torch.ones(2, requires_grad=True)
    assert f.tell(x, None, None).startswith("tensor 2 32 (2:1,)")
    for argument in (x, [x]):
        with pytest.raises(BufferError, match=r"write\(\): argument 'x': .*requires grad.*detach\(\)"):
            f.write(argument)
    with torch.no_grad():
        assert f.write(x).startswith("tensor 2 32 (2:1,)")
    assert f.write(x.detach()).startswith("tensor 2 32 (2:1,)")
    with pytest.raises(BufferError, match=r"empty_like\(\): argument 'out': .*requires grad"):
        f.empty_like(torch.ones(2), out=x)


# ---- results ----


def test_results(f):
    got = f.values()
    assert got == (-5, 0.25, True, None, "a\0é", b"\0\xff", "bfloat16", "cpu", [3])
    assert [type(x) for x in got[:4]] == [int, float, bool, type(None)]
    assert (type(got[6]), type(got[7])) == (gd.DType, gd.Device)


def test_argument_comes_back_itself(f, np, torch):
    for x in (np.ones(2), torch.ones(2), gd.zeros(2), 5, "text", [1], None):
        assert f.echo(x) is x
    assert f.echo() is None


def test_output_is_of_the_first_tensors_framework(f, np, torch, jax, tvm_ffi):
    n, t, j, g = np.ones((2, 3), "float32"), torch.ones(2, 3), jax.numpy.ones((2, 3), "float32"), gd.full((2, 3), 1.0)
    v = tvm_ffi.from_dlpack(g)
    for x, kind in ((n, np.ndarray), (t, torch.Tensor), (j, jax.Array), (g, gd.Tensor), (v, tvm_ffi.Tensor)):
        for _ in range(2):
            y = f.empty_like(x)
            assert isinstance(y, kind)
            assert tuple(y.shape) == (2, 3)
            assert "float32" in str(y.dtype)
    assert np.array_equal(f.empty_like(n), np.zeros((2, 3)))
    assert all(isinstance(y, torch.Tensor) for y in f.two(t))
    for producer in (bytearray(4), memoryview(b"abc"), array.array("d", [1])):
        assert isinstance(f.empty_like(producer), gd.Tensor)


def test_like(f, np, torch, jax):
    n, t, g = np.ones(3), torch.ones(3), gd.zeros(3)
    for like, kind in (
        (np.ndarray, np.ndarray),
        (n, np.ndarray),
        (torch.Tensor, torch.Tensor),
        (t, torch.Tensor),
        (jax.Array, jax.Array),
        (jax.numpy.ones(1), jax.Array),
        (gd.Tensor, gd.Tensor),
        (g, gd.Tensor),
    ):
        for x in (n, t, g):
            assert isinstance(f.empty_like(x, like=like), kind)
    assert isinstance(f.empty_like(n, like=None), np.ndarray)
    for wrong in (5, int, "cpu", object()):
        with pytest.raises(TypeError, match=r"empty_like\(\): argument 'like': want an array type or an array, got"):
            f.empty_like(n, like=wrong)


def test_out(f, np, torch):
    for x in (np.ones(3), torch.ones(3), gd.full(3, 1.0)):
        y = f.empty_like(x)
        assert f.empty_like(x, out=y) is y
        assert f.empty_like(x, out=x) is x
        assert f.empty_like(x, out=None) is not y
        assert gd.asarray(x).tolist() == [0, 0, 0]
    n = np.ones((2, 3))
    for out in (
        np.ones((3, 2)).T,
        np.ones((2, 6))[:, ::2],
        torch.ones(2, 3, dtype=torch.float64),
        gd.full((2, 3), 1.0, "float64"),
    ):
        assert f.empty_like(n, out=out) is out
        assert gd.asarray(out).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_out_that_is_an_argument_too_gets_the_result_at_the_end(f, np):
    memory = np.arange(8.0)
    out = memory[1:5]
    assert f.empty_like(memory[:4], out=out) is out
    assert memory.tolist() == [0, 0, 0, 0, 0, 5, 6, 7]


def test_out_is_no_place_for_scratch(f, np):
    x = np.ones(4, np.uint8)
    out = np.full(4, 7, np.uint8)
    assert f.scratch(x, out=out) is out
    assert out.tolist() == [1, 1, 1, 1]


def test_out_of_several(f, np):
    x, a, b = np.ones(2, np.uint8), np.zeros(2, np.uint8), np.zeros(2, np.uint8)
    got = f.two(x, out=(a, b))
    assert got[0] is a
    assert got[1] is b
    assert (a.tolist(), b.tolist()) == ([1, 1], [2, 2])
    assert f.two(x, out=(a, x))[1] is x
    number, tensor = f.both(x, out=a)
    assert tensor is a
    assert (number, a.tolist()) == (7, [2, 2])
    assert f.both(x, out=(b,))[1] is b


def test_list_of_outputs(f, np, torch):
    x = np.ones(2, np.uint8)
    got = f.listed(x)
    assert isinstance(got, list)
    assert [y.tolist() for y in got] == [[1, 1], [2, 2]]
    assert all(isinstance(y, torch.Tensor) for y in f.listed(x, like=torch.Tensor))
    with pytest.raises(TypeError, match=r"listed\(\): argument 'out': the function returns a list of tensors"):
        f.listed(x, out=x)


# ---- small outputs, in memory that the host copies ----


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1, 2), (1, 1, 4), (1,) * 8], ids=str)
def test_small_outputs_are_copied(f, np, torch, jax, tvm_ffi, shape):
    n = np.ones(shape, "uint8")
    for x, kind in (
        (n, np.ndarray),
        (torch.ones(shape, dtype=torch.uint8), torch.Tensor),
        (jax.numpy.ones(shape, "uint8"), jax.Array),
        (gd.full(shape, 1, "uint8"), gd.Tensor),
        (tvm_ffi.from_dlpack(gd.full(shape, 1, "uint8")), tvm_ffi.Tensor),
    ):
        y = f.placed(x)
        a, size, b, c = f.placed_twice(x)
        assert all(isinstance(z, kind) and tuple(z.shape) == shape for z in (y, a, b, c))
        assert size == 4096
        views = [gd.from_dlpack(z) for z in (y, a, b, c)]
        assert len({v.data_ptr for v in views}) == 4, "memory of its own for each"
        assert [set(np.from_dlpack(v).ravel().tolist()) for v in views] == [{5}, {1}, {2}, {2}]
        if kind is not jax.Array:
            assert not any(v.readonly for v in views)


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float16", "float64", "complex128"])
def test_small_outputs_of_all_dtypes(f, np, torch, dtype):
    x = np.ones((2, 2), dtype)
    want = np.full(4 * x.itemsize, 5, "uint8").tobytes()
    for like in (np.ndarray, torch.Tensor, gd.Tensor):
        y = np.from_dlpack(f.placed(x, like=like))
        assert y.dtype == x.dtype
        assert y.tobytes() == want


def test_scratch_memory_is_for_one_call(f, np):
    x = np.ones(4, "uint8")
    within = []

    def callback(y):
        assert y.tolist() == [3, 3, 3, 3]
        within.append(y)
        within.append(f.placed(np.ones(400, "uint8")))  # this call has its own memory

    assert f.lend(callback, x).tolist() == [4, 4, 4, 4]
    f.placed(np.ones(2000, "uint8"))
    assert within[0].tolist() == [3, 3, 3, 3]
    assert set(within[1].tolist()) == {5}

    def work(number):
        y = f.placed(np.ones(number + 1))
        assert y.shape == (number + 1,)
        assert set(y.tobytes()) == {5}

    together(work)


def test_no_scratch_memory_where_outputs_have_a_place(f, np):
    x = np.ones(3)
    with pytest.raises(ValueError, match="no scratch memory"):
        f.placed(x, out=np.zeros(3))
    with pytest.raises(ValueError, match="too large"):
        f.placed(np.ones(4096, "uint8"))
    assert f.placed(x, out=None).shape == (3,)


def test_small_output_of_a_dtype_that_numpy_has_not(f, np, torch):
    x = torch.ones(3, dtype=torch.bfloat16)
    assert f.placed(x).dtype == torch.bfloat16
    assert f.placed(x, like=gd.Tensor).dtype == "bfloat16"
    if "ml_dtypes" not in sys.modules:
        with pytest.raises(TypeError, match="bfloat16"):
            f.placed(x, like=np.ndarray)


def with_strides_at(address):
    fake = fakes.FakeTensor((2, 3))
    fake.managed.tensor.strides = ctypes.cast(address, ctypes.POINTER(ctypes.c_int64))
    return fake


FULL = object()  # set_error() without texts
REFUSED = BufferError, "a tensor other than the requested one"
ALLOCATORS = {
    "fails": (None, MemoryError, "the framework is full"),
    "fails without a word": (FULL, MemoryError, "^$"),
    "gives nothing": (lambda: None, MemoryError, "has no memory for an output"),
    "no address of strides": (lambda: with_strides_at(8), *REFUSED),
    "another shape": (lambda: fakes.FakeTensor((3, 2)), *REFUSED),
    "another rank": (lambda: fakes.FakeTensor((6,)), *REFUSED),
    "another dtype": (lambda: fakes.FakeTensor((2, 3), dtype=(0, 32, 1)), *REFUSED),
    "another device": (lambda: fakes.FakeTensor((2, 3), device=(2, 0)), *REFUSED),
    "gaps": (lambda: fakes.FakeTensor((2, 3), (6, 2)), *REFUSED),
    "read-only": (lambda: fakes.FakeTensor((2, 3), flags=records.READ_ONLY), *REFUSED),
    "no address": (lambda: fakes.FakeTensor((2, 3), data=8), *REFUSED),
    "no shape": (lambda: fakes.FakeTensor(None, None, ndim=2), *REFUSED),
    "no memory": (lambda: fakes.FakeTensor((2, 3), data=None), *REFUSED),
    "good": (lambda: fakes.FakeTensor((2, 3)), None, ""),
    "good, without strides": (lambda: fakes.FakeTensor((2, 3), None), None, ""),
}


@pytest.mark.parametrize("case", ALLOCATORS)
def test_small_output_by_an_allocator_that_errs(f, np, case):
    make, error, text = ALLOCATORS[case]
    made = []

    def allocate(prototype, out, context, set_error):
        p = prototype.contents
        assert (p.dims(), p.data, fakes.steps(p), p.dtype_triple()) == ((2, 3), None, None, fakes.FLOAT32)
        if make is None:
            set_error(context, b"MemoryError", b"the framework is full")
            return -1
        if make is FULL:
            set_error(context, b"MemoryError", None)
            return -1
        if (one := make()) is None:
            return 0
        made.append(one)
        made[-1].exported += 1
        out[0] = made[-1].address
        return 0

    class Array(fakes.Taken):
        pass

    table = fakes.fake_table(makes=Array)
    Array.__dlpack_c_exchange_api__ = fakes.publish(table).__dlpack_c_exchange_api__
    x = np.ones((2, 3), "float32")
    table.allocator = fakes.slot(records.Allocator, allocate)
    for _ in range(2):
        if error is None:
            y = f.placed(x, like=Array)
            assert isinstance(y, Array)
            data = made[-1].memory
            assert bytes(data)[:24] == b"\5" * 24
            assert bytes(data)[24:28] == bytes(fakes.FakeTensor().memory)[24:28], "and not a byte more"
            del y
        else:
            with pytest.raises(error, match=text):
                f.placed(x, like=Array)
    gc.collect()
    assert all(m.deleted == m.exported == 1 for m in made)


def test_out_gets_a_returned_argument(f, np):
    x, out = np.arange(3), np.zeros(3, int)
    assert f.echo(x, out=out) is out
    assert out.tolist() == [0, 1, 2]
    assert f.echo(x, out=x) is x


def test_out_and_more_outputs_than_declared(f, np):
    x, out = np.arange(3.0), np.zeros(3)
    first, second = f.surplus(x, out=out)
    assert first is out
    assert second.tobytes() == b"\2" * 24


def test_out_is_refused(f, np):
    x = np.ones(3)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    for out, error, text in (
        (np.ones(4), ValueError, r"want float64\[3\] on cpu, got float64\[4\] on cpu"),
        (np.ones(3, "float32"), ValueError, r"want float64\[3\] on cpu, got float32\[3\] on cpu"),
        (frozen, BufferError, "read-only"),
        (5, TypeError, "want a tensor, got int"),
        ([x, x], ValueError, "want 1 tensors, got 2"),
        ((x, x), ValueError, "want 1 tensors, got 2"),
        ((), ValueError, "want 1 tensors, got 0"),
        (object(), TypeError, "got object"),
    ):
        with pytest.raises(error, match=r"empty_like\(\): argument 'out': .*" + text):
            f.empty_like(x, out=out)
    with pytest.raises(ValueError, match=r"two\(\): argument 'out': want 2 tensors, got 1"):
        f.two(x, out=x)
    with pytest.raises(TypeError, match=r"two\(\): argument 'out': want a tensor"):
        f.two(x, out=(x, None))


# ---- failures ----


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("ValueError", ValueError),
        ("KeyError", KeyError),
        ("MemoryError", MemoryError),
        ("KeyboardInterrupt", RuntimeError),  # libraries may not raise it
        ("print", RuntimeError),
        ("int", RuntimeError),
        ("NoSuchError", RuntimeError),
        ("", RuntimeError),
    ],
)
def test_failure(f, kind, error):
    with pytest.raises(error) as raised:
        f.fail(kind, "so é\0 it is")
    assert raised.value.args == ("so é\0 it is",)
    assert type(raised.value) is error


def test_failure_in_fewer_words(f):
    with pytest.raises(RuntimeError):
        f.mute("")
    with pytest.raises(KeyError):
        f.mute("KeyError")


def test_callable_that_raises_and_is_called_again(f, np):
    """A function may ignore the exceptions of its callable, which are then dropped."""
    raised = []

    def fail(x):
        raised.append(KeyError(len(raised)))
        raise raised[-1]

    assert f.insist(fail, np.ones(1)) is None
    assert len(raised) == 2
    assert f.insist(lambda x: x, np.ones(1)) is None


def test_output_on_a_device_that_there_is_not(f, np):
    x = np.ones(3)
    for out in (None, np.ones(3)):
        with pytest.raises((BufferError, RuntimeError, ValueError)):
            f.elsewhere(x, gd.Device("metal"), out=out)
    assert f.elsewhere(x, gd.Device("cpu"), out=x) is x


def test_many_parameters(f, np):
    """From the 65th on, every parameter counts as one that may be written."""
    told = f.many(*range(64), np.arange(2))
    assert told.startswith("int 0;int 1;")
    assert "tensor" in told
    frozen = np.arange(2)
    frozen.flags.writeable = False
    assert "read-only" in f.many(*range(64), frozen)


def test_failure_without_a_word(f):
    with pytest.raises(RuntimeError, match=r"silent\(\) failed without an error message"):
        f.silent()


def test_allocation_fails(f, np, torch):
    huge = np.broadcast_to(np.float64(0), (2**29, 2**29))
    for like in (None, torch.Tensor):
        with pytest.raises((MemoryError, RuntimeError)):
            f.empty_like(huge, like=like)


@pytest.mark.parametrize(
    ("which", "error", "text"),
    [
        (0, RuntimeError, "a value of code 99"),
        (1, RuntimeError, "no tensor"),
        (2, RuntimeError, "no text"),
        (3, RuntimeError, "no bytes"),
        (4, RuntimeError, "a list that is not valid"),
        (5, RuntimeError, "the number of an argument that it does not have"),
        (6, RuntimeError, "the number of an argument that it does not have"),
        (7, RuntimeError, "a value of code 7"),
        (8, RuntimeError, "a value of code 11"),
        (9, BufferError, "DLPack 9.0"),
        (10, BufferError, "0x8"),
        (12, UnicodeDecodeError, "utf-8"),
        (13, RuntimeError, "a value of code 99"),
        (14, RuntimeError, "a list that is not valid"),
        (16, RuntimeError, "a value of code 68"),
        (17, RuntimeError, "a value of code 10"),
        (18, RuntimeError, "without an error message"),
        (19, RuntimeError, "a list that is not valid"),
        (20, RuntimeError, "a list that is not valid"),
    ],
)
def test_odd_result(f, which, error, text):
    with pytest.raises(error, match=text):
        f.odd(which)


def test_rare_results(f):
    assert f.odd(21) == 2**64 - 1
    assert f.odd(22) == [[None]]
    assert f.odd(23) == []


def test_results_that_are_read_only(f, np, torch):
    assert f.odd(11).readonly
    assert not f.odd(11, like=np.ndarray).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        f.odd(11, like=torch.Tensor)


# ---- during a call ----


def test_ctrl_c_stops_a_function(python, library):
    out = python(f"""
import _thread, signal, threading, time
import godlpack as gd
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
f = gd.load_module({str(library)!r})
for call in (f.wait, f.wait):
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    try:
        call(1_000_000)
    except KeyboardInterrupt:
        print("stopped")
""")
    assert out.split() == ["stopped", "stopped"]


def test_others_run_meanwhile(f):
    counted, stop = [0], threading.Event()

    def run():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=run)
    thread.start()
    before = counted[0]
    f.wait(100)  # rounds of a millisecond
    after = counted[0]
    stop.set()
    thread.join()
    assert after > before


def test_callable(f, np):
    x = np.ones(3)
    got = []
    for answer in (None, 5, 2.5):
        assert f.invoke(lambda y, answer=answer: got.append(y) or answer, x) == answer
    assert all(y is x for y in got)
    given = gd.full(2, 3.0)
    assert f.invoke(lambda y: [given, "text", b"bytes", {}.get], x) is None
    assert f.invoke(len, x) == 3
    assert f.invoke(lambda y: f.invoke(lambda z: f.empty_like(z).size, y), x) == 3


def test_callable_raises(f, np):
    x = np.ones(3)
    before = count(x)
    with pytest.raises(ZeroDivisionError):
        f.invoke(lambda y: 1 / 0, x)
    with pytest.raises(TypeError, match=r"invoke\(\): the result of a callable: want a tensor.* got dict"):
        f.invoke(lambda y: {}, x)
    with pytest.raises(OverflowError):
        f.invoke(lambda y: 2**1024, x)
    with pytest.raises(TypeError, match="positional argument"):
        f.invoke(lambda: 0, x)
    with pytest.raises(KeyboardInterrupt):
        f.invoke(lambda y: (_ for _ in ()).throw(KeyboardInterrupt), x)
    assert count(x) == before


def test_threads(f, np, torch):
    def work(_):
        x, y = np.ones(4), torch.ones(4)
        assert isinstance(f.empty_like(x), np.ndarray)
        assert isinstance(f.empty_like(y), torch.Tensor)
        assert f.tell([x, "a"], y, None).startswith("[tensor 2 64 (4:1,) 0;text 1 a;]tensor 2 32 (4:1,)")

    together(work, threads=4)


def test_forked_child_opens_a_copy(python, library):
    out = python(f"""
import os
import numpy as np
import godlpack as gd
f = gd.load_module({str(library)!r})
later = gd.load_module({str(library)!r}, package="later")
x = np.ones(2, np.uint8)
def child(depth):
    if os.fork() == 0:
        assert f.tell(x, None, None) == "tensor 1 8 (2:1,) 1;null;null;"
        assert f.empty_like(x).tolist() == [0, 0]
        assert later.echo(x) is x
        if depth > 0:
            child(depth - 1)
        os._exit(0)
    assert os.wait()[1] == 0
child(0)  # nothing is open yet
f.nop0()
child(1)
opened = open("/proc/self/maps").read()
print(opened.count({library.name!r}) > 0)
""")
    assert out.split() == ["True"]


def test_list_that_changes_meanwhile(f):
    items = ["text" * 100 for _ in range(50)]

    class Changing:
        def __float__(self):
            items.clear()
            return 1.5

    items.insert(1, Changing())
    told = f.tell(items, None, None)
    assert told.count("text 400 ") == 50


# ---- libraries ----


def declarations(library):
    return [json.loads(text) for _, text in gd._core._declarations(str(library), lambda *told: None)[0]]


@pytest.fixture
def described(library, tmp_path):
    """A copy of the library with a sidecar, so that it need not be opened."""

    def make(change=lambda functions: functions, version=1):
        path = Path(shutil.copy(library, tmp_path / "_ops.so"))
        functions = change(declarations(library))
        path.with_suffix(".json").write_text(json.dumps({"version": version, "name": "ops", "functions": functions}))
        return path

    return make


def test_sidecar_opens_nothing(described):
    def signed(functions):
        functions[2] |= {"signature": "(x, y=(1, 'a'), z=None)", "docstring": "All of it."}
        return functions

    path = described(signed)
    ops = gd.load_module(path)
    assert (ops.__name__, ops.__file__) == ("ops", str(path))
    assert (ops.tell.__doc__, ops.nop0.__doc__) == ("All of it.", "Does nop0.")
    assert inspect.signature(ops.tell).parameters["y"].default == (1, "a")
    maps = Path("/proc/self/maps")
    assert str(path) not in maps.read_text()
    assert ops.tell(1, 2, 3) == "int 1;int 2;int 3;"
    assert str(path) in maps.read_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda functions: functions[1:],
        lambda functions: functions[::-1],
        lambda functions: [functions[0] | {"name": "other"}, *functions[1:]],
        lambda functions: [functions[0] | {"params": [{"name": "x", "kind": "int"}]}, *functions[1:]],
        lambda functions: [functions[0] | {"hold_gil": True}, *functions[1:]],
    ],
)
def test_stale_sidecar(described, change):
    ops = gd.load_module(described(change))
    for _ in range(2):
        with pytest.raises(
            RuntimeError, match=r"_ops.so is not the library that _ops.json describes .*build both again"
        ):
            ops.tell(1)


def test_bad_sidecar(described):
    path = described(version=2)
    with pytest.raises(ImportError, match=r"version 2, but this godlpack supports version 1"):
        gd.load_module(path)
    for text in ("", "[]", "{}", '{"version": 1}'):
        path.with_suffix(".json").write_text(text)
        with pytest.raises(ValueError, match=r"_ops.json does not describe a library"):
            gd.load_module(path)


def test_files_that_are_no_libraries(np, tmp_path):
    with pytest.raises(FileNotFoundError):
        gd.load_module(tmp_path / "missing.so")
    tmp_path.joinpath("text.so").write_text("no library")
    with pytest.raises(ImportError, match=r"text.so cannot be used: .*ELF|text.so cannot be used: .*short"):
        gd.load_module(tmp_path / "text.so")
    with pytest.raises(ImportError, match="godlpack_library"):
        gd.load_module(np._core._multiarray_umath.__file__)


def test_table_from_before_there_were_threads(tmp_path):
    module = gd.load_module(build.c_functions(tmp_path / "old.so", "-DOLD_TABLE"))
    try:
        gd.set_num_threads(2)
    finally:
        gd.set_num_threads(None)
    assert module.tell(1)


def constructor(path, name, *parameters):
    """The function of that name in functions.c as the constructor of a class."""
    check = lambda *told: None  # noqa: E731
    names = [found for found, _ in gd._core._declarations(str(path), check)[0]]
    described = ("__init__", "Thing.__init__", "m", "", "()", parameters, 0, 0, False, None, 2)
    return gd._core._function(str(path), check, names.index(name), *described)


@pytest.mark.parametrize("option", [[], ["-DOLD_TABLE"]], ids=["new", "old"])
def test_objects_without_a_runtime(tmp_path, option):
    """A library in C gives objects of classes that it declares or not, and takes none back."""
    path = build.c_functions(tmp_path / "objects.so", *option)
    odd = gd.load_module(path).odd

    class Thing(gd.Object):
        __init__ = constructor(path, "odd", "which")

    def refused(*numbers):
        for which in numbers:
            for returns in (odd, Thing):
                with pytest.raises(RuntimeError, match="returned an object of an unknown class"):
                    returns(which)

    refused(24, 25, 26)
    gd._core._set_classes(str(path), lambda *told: None, ())
    refused(24, 25, 26)
    gd._core._set_classes(str(path), lambda *told: None, (Thing,))
    refused(24, 25)
    thing = odd(26)
    assert type(thing) is Thing and odd(26) is thing is not Thing(26)
    del thing
    assert type(odd(26)) is Thing


def test_classes_that_are_none(library):
    for classes in ((3,), (int,)):
        with pytest.raises(TypeError, match="want subclasses of Object"):
            gd._core._set_classes(str(library), print, classes)
    with pytest.raises(TypeError):
        gd._core._set_classes(str(library), print, [])
    with pytest.raises(FileNotFoundError):
        gd._core._set_classes("/no/file", print, ())


def test_table_without_functions(tmp_path):
    assert gd.load_module(build.c_functions(tmp_path / "empty.so", "-DEMPTY")).__all__ == []


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("-DWRONG_VERSION", "its table has version 2, but this godlpack supports version 1"),
        ("-DWRONG_TABLE", "is not complete"),
        ("-DSHORT_TABLE", "is not complete"),
        ("-DWRONG_COUNT", "is not complete"),
        ("-DNO_CALL", "is not complete"),
        ("-DNO_TABLE", "returned no table"),
    ],
)
def test_tables_that_are_refused(tmp_path, option, text):
    path = build.c_functions(tmp_path / "wrong.so", option)
    for _ in range(2):
        with pytest.raises(ImportError, match=r"wrong.so cannot be used: .*" + text):
            gd.load_module(path)


def test_function_without_a_name(tmp_path):
    path = build.c_functions(tmp_path / "nameless.so", "-DNAMELESS")
    with pytest.raises(RuntimeError, match="function 0 of the library has no name"):
        gd.load_module(path)


def test_function_without_a_declaration(tmp_path):
    path = build.c_functions(tmp_path / "undeclared.so", "-DUNDECLARED")
    with pytest.raises(RuntimeError, match="function 1 of the library has no name"):
        gd.load_module(path)


def test_signal_while_a_library_opens(python, library):
    """The signal arrives in the check, which need not be Python code."""
    out = python(f"""
import ctypes, signal
import godlpack as gd
signal.signal(signal.SIGINT, signal.default_int_handler)
check = ctypes.pythonapi.PyErr_SetInterrupt
check.argtypes, check.restype = [ctypes.py_object] * 4, None
try:
    gd._core._declarations({str(library)!r}, check)
except KeyboardInterrupt:
    print("interrupted", len(gd.load_module({str(library)!r}).__all__) > 5)
""")
    assert out == "interrupted True\n"


def test_library_opens_where_warnings_are_errors(python, library):
    out = python(
        f"""
import godlpack as gd
for _ in range(2):
    try:
        gd.load_module({str(library)!r})
    except RuntimeWarning as warning:
        print(warning)
""",
        flags=("-W", "error::RuntimeWarning"),
        GODLPACK_NUM_THREADS="many",
    )
    assert "GODLPACK_NUM_THREADS=many is ignored" in out


def test_rebuilt_library_is_another_one(described):
    path = described()
    old = gd.load_module(path)
    assert old.echo(1) == 1
    path.unlink()
    path = described(lambda functions: functions[:-1])
    with pytest.raises(RuntimeError, match="build both again"):
        gd.load_module(path).echo(1)
    assert old.echo(1) == 1


LAYOUTS = """
#include <stdio.h>
#include <stddef.h>
#include HEADER
#define F(T, f) printf(#T "." #f " %zu %zu\\n", offsetof(T, f), sizeof(((T *)0)->f))
#define N(c) printf(#c " %lld\\n", (long long)(c))
int main(void) {
  F(TVMValue, v_int64); F(TVMValue, v_float64); F(TVMValue, v_handle); F(TVMValue, v_str); F(TVMValue, v_type); F(TVMValue, v_device);
  F(TVMByteArray, data); F(TVMByteArray, size); F(GDList, n); F(GDList, values); F(GDList, codes); F(GDList, flags);
  F(GDContext, size); F(GDContext, function); F(GDContext, flags); F(GDContext, allocate); F(GDContext, poll); F(GDContext, invoke); F(GDContext, fail); F(GDContext, current_stream); F(GDContext, scratch); F(GDContext, scratch_size); F(GDContext, logged);
  F(GDFunction, name); F(GDFunction, declaration);
  F(GDLibrary, version); F(GDLibrary, size); F(GDLibrary, name); F(GDLibrary, count); F(GDLibrary, functions); F(GDLibrary, call); F(GDLibrary, state); F(GDLibrary, classes); F(GDLibrary, drop); F(GDLibrary, exceptions); F(GDLibrary, address);
  N(sizeof(GDContext)); N(sizeof(GDLibrary)); N(sizeof(TVMValue)); N(GODLPACK_LIBRARY_VERSION); N(GD_CHECKED);
  N(GD_INT); N(GD_FLOAT); N(GD_NULL); N(GD_DTYPE); N(GD_DEVICE); N(GD_TENSOR); N(GD_CALLABLE); N(GD_STR); N(GD_BYTES); N(GD_BOOL);
  N(GD_TEXT); N(GD_LIST); N(GD_MANAGED); N(GD_DEFAULT); N(GD_ARGUMENT); N(GD_TUPLE); N(GD_PART);
}
"""


def test_host_and_libraries_agree(tmp_path):
    """The fast path's own header agrees with the public one."""
    said = []
    for header in (build.HEADERS / "packed.h", build.ROOT / "library" / "godlpack.h"):
        source = tmp_path / "layouts.c"
        source.write_text(LAYOUTS)
        program = tmp_path / header.stem
        command = [*build.CC, "-Wall", "-Werror", f'-DHEADER="{header}"', str(source), "-o", str(program)]
        subprocess.run(command, check=True)
        said.append(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]
    assert said[0].count("\n") > 40


# ---- tensors that cannot be held ----

LENT = """
import ctypes, sys, threading
from godlpack.testing import records
from helpers import fakes
import godlpack as gd
f = gd.load_module({library!r})

class Lent(fakes.Producer):  # a type whose table lends what it does not share
    pass

def lend(x, out):
    out[0] = x.fake.managed.tensor
    return 0

other = moved = fakes.FakeTensor((3,))
def share(x, out):
    if how == "nothing":
        return 0
    if how == "an offset":
        moved.managed.tensor.data = x.fake.data
        moved.managed.tensor.byte_offset = 4
    if how in ("another", "an offset"):
        other.exported += 1
        out[0] = other.address
        return 0
    x.fake.exported += 1
    out[0] = x.fake.address
    return 0

table = fakes.fake_table(from_py=share)
table.record_from_py = fakes.slot(records.RecordFromPy, lend)
Lent.__dlpack_c_exchange_api__ = fakes.publish(table).__dlpack_c_exchange_api__
how = "well"
x = Lent(fakes.FakeTensor((3,)))
kept = gd.from_dlpack(x)  # which makes a plan
assert f.tell(x).startswith("tensor 2 32 (3:1,)")

def refused(call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except (BufferError, SystemError) as error:
        return str(error)
    raise AssertionError("no error")
"""


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("nothing", "exports no managed tensor"),
        ("another", "memory was replaced during the call"),
        ("an offset", "memory was replaced during the call"),
        ("error", ""),
    ],
)
def test_tensors_that_cannot_be_held(python, library, how, text):
    """If other code could change the borrowed tensor, that code does not run."""
    script = (
        LENT.format(library=str(library))
        + f"""
how, text = {how!r}, {text!r}
if how == "error":
    table.managed_from_py = fakes.RAISES_SYSTEM_ERROR
assert f.nop3(x, 1, 2) is None  # nobody may change it
for call in (
    lambda: f.nop3(x, [1], 2),
    lambda: f.nop3(x, object(), 2),
    lambda: f.nop3(x, fakes.Producer(fakes.FakeTensor()), 2),
    lambda: f.poll(x),
    lambda: f.elsewhere(x, gd.Device("metal"), like=gd.Tensor),
    lambda: f.echo(x, out=gd.zeros(3)),
):
    said = refused(call)
    assert text in said, said
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
said = refused(f.nop3, x, 1, 2)
assert text in said, said
assert f.tell(5)
stop.set()
thread.join()
del kept
print("held to it")
"""
    )
    assert python(script) == "held to it\n"


def test_lent_tensors_are_not_written(f, library, python):
    assert python(LENT.format(library=str(library)) + "print(f.write(x)[:6])\ndel kept") == "tensor\n"


def test_nested_lists_of_very_many(f):
    with pytest.raises(ValueError, match="nested lists with more than 16777216 elements"):
        f.tell([[0] * ((1 << 24) + 1)])


# ---- the framework of results without an argument that determines it ----


def test_default_framework(np, library, monkeypatch):
    path = str(library)

    def odd(like):
        make = gd._core._function
        return make(path, print, 7, "odd", "odd", "functions", "Does odd.", "(which)", ("which",), 0, 1, False, like)

    f = odd("numpy")
    for _ in range(2):
        assert type(f(11)) is np.ndarray
        assert type(f(11, like=gd.Tensor)) is gd.Tensor
    gone = odd("jax")
    monkeypatch.setitem(sys.modules, "jax", None)
    for _ in range(2):
        with pytest.raises(ImportError, match="returns tensors of jax, which cannot be imported"):
            gone(11)


def test_default_framework_that_changes(np, library, monkeypatch):
    from godlpack import _library

    asked = []

    def framework(function, name):
        asked.append(name)
        if len(asked) == 1:
            assert type(function(11)) is np.ndarray  # meanwhile, another call has found it
        return np.ndarray

    make = gd._core._function
    described = (str(library), print, 7, "odd", "odd", "functions", "Does odd.", "(which)", ("which",), 0, 1, False)
    monkeypatch.setattr(_library, "framework", framework)
    f = make(*described, "numpy")
    assert type(f(11)) is np.ndarray
    assert len(asked) == 2
    monkeypatch.setattr(_library, "framework", lambda *_: int)
    with pytest.raises(TypeError, match="want an array type"):
        make(*described, "numpy")(11)
    monkeypatch.setitem(sys.modules, "godlpack._library", None)
    with pytest.raises(ImportError):
        make(*described, "numpy")(11)


@pytest.mark.parametrize("to_py", [fakes.RAISES_ONLY, lambda address, out: 0], ids=["an error", "nothing"])
def test_framework_that_does_not_take_its_own(f, np, to_py):
    made = []

    def allocate(prototype, out, context, set_error):
        made.append(fakes.FakeTensor((2, 3)))
        made[-1].exported += 1
        out[0] = made[-1].address
        return 0

    table = fakes.fake_table(to_py=to_py)
    table.allocator = fakes.slot(records.Allocator, allocate)
    array_type = fakes.publish(table)
    with pytest.raises(Exception, match=r"^"):
        f.placed(np.ones((2, 3), "float32"), like=array_type)
    gc.collect()
    assert all(m.deleted == m.exported == 1 for m in made)


# ---- calls that are left at the second Ctrl-C: of libraries without Go ----

LEFT = (
    PRESSED
    + """
import numpy as np, godlpack as gd
f = gd.load_module({library!r})
f.nop0()
"""
)


@pytest.mark.parametrize("option", [(), ("-DOLD_TABLE",)], ids=["table", "old table"])
def test_call_is_left(python, tmp_path, option):
    """At the second Ctrl-C, while the thread is in the library's own code."""
    path = build.c_functions(tmp_path / "functions.so", *option)
    script = """
x, out = np.zeros(3), np.zeros(3)
for call, keywords in ((f.spin, {"out": out}), (f.doze, {}), (f.spin, {})):
    assert "was abandoned" in interrupted(lambda: call(x, **keywords), 0.5, 0.5)
    assert f.tell(x)
print("left")
"""
    assert python(LEFT.format(library=str(path)) + script) == "left\n"


def test_call_is_left_while_others_wait(python, library):
    script = """
inside, leave = threading.Event(), threading.Event()
def wait(x):
    inside.set()
    leave.wait()
threading.Thread(target=f.insist, args=(wait, np.zeros(3)), daemon=True).start()
inside.wait()
assert "was abandoned" in interrupted(lambda: f.spin(np.zeros(3)), 0.5, 0.5)
print("left", flush=True)
os._exit(0)
"""
    assert python(LEFT.format(library=str(library)) + script) == "left\n"


# ---- missing files ----


def test_library_that_is_gone(python, described):
    """Before its first call, and in a child after it."""
    path = described()
    out = python(f"""
import os, shutil
import godlpack as gd
path = {str(path)!r}
f = gd.load_module(path)
shutil.move(path, path + ".kept")
try:
    f.nop0()
except ImportError as error:
    assert "cannot be used" in str(error), error
else:
    raise AssertionError("no error")
shutil.move(path + ".kept", path)
f = gd.load_module(path)
f.nop0()
shutil.move(path, path + ".kept")
f.nop0()
if (child := os.fork()) == 0:
    try:
        f.nop0()
    except ImportError as error:
        assert "is no longer the file that was opened before" in str(error), error
        os._exit(17)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
print("gone")
""")
    assert out == "gone\n"


def test_library_without_room_for_its_thread_local_variables(python, tmp_path):
    """The loader has little room for variables of the initial-exec model."""
    code = """
__thread char big[1 << 22] __attribute__((tls_model("initial-exec"), visibility("default")));
char *where(void) { return big; }
"""
    path = build.c_library(tmp_path / "big.so", code)
    with pytest.raises(ImportError, match=r"static TLS.*GLIBC_TUNABLES=glibc\.rtld\.optional_static_tls="):
        gd.load_module(path)


# ---- types that publish torch's guards, without torch ----

GUARDED = """
import ctypes, sys, threading
from godlpack.testing import records
from helpers import fakes
import godlpack as gd
f = gd.load_module({library!r})
kept = []

def lend(x, out):
    out[0] = x.fake.managed.tensor
    return x.lends

class Like(fakes.Producer):
    lends = 0
    yes = ()
    def __init__(self, fake):
        super().__init__(fake)
        fake.exported += 1  # one that is never given back
    def ask(self, what):
        if what in self.raises:
            raise ValueError(what)
        return what in self.yes
    raises = ()
    def is_conj(self):
        return self.ask("conj")
    def is_neg(self):
        return self.ask("neg")
    def untyped_storage(self):
        return self.ask("storage") or self

class Plain(Like):
    requires_grad = False

class Property(Like):
    requires_grad = property(lambda self: self.ask("grad"))

class Method(Like):
    def requires_grad(self): ...

class Lookup(Like):
    requires_grad = property(lambda self: self.ask("grad"))
    def __getattribute__(self, name):
        return super().__getattribute__(name)

table = fakes.fake_table()
table.record_from_py = fakes.slot(records.RecordFromPy, lend)
for kind in (Plain, Property, Method, Lookup):
    kind.__dlpack_c_exchange_api__ = fakes.publish(table).__dlpack_c_exchange_api__

def outcome(call, *arguments):
    try:
        return call(*arguments)
    except (BufferError, SystemError, ValueError, TypeError) as error:
        return error

def made(kind, **keywords):
    x = kind(fakes.FakeTensor(**keywords))
    x.fake.managed.deleter = None  # the memory stays
    return x
"""


def test_guarded_types_that_are_not_torchs(python, library):
    """Their guards are Python code, called for each tensor, also after the first one's answers made a plan."""
    script = """
for kind in (Plain, Property, Lookup):
    for _ in range(2):
        assert gd.from_dlpack(made(kind)).tolist() == [0, 1, 2]
        assert gd.from_dlpack(made(kind, dtype=(0, 32, 1))).shape == (3,)
        assert f.tell(made(kind)).startswith("tensor 2 32 (3:1,)")
        assert f.write(made(kind)).startswith("tensor")
        assert f.nop3(made(kind), [made(kind)], object) is None
    for dtype, shape in (((5, 64, 1), (3,)), ((2, 32, 1), (1,)), ((5, 64, 1), (1,))):
        for yes, raises in (((), ()), (("conj",), ()), (("neg",), ()), ((), ("conj",)), ((), ("neg",)), ((), ("grad",)), (("grad",), ())):
            for call in (gd.from_dlpack, f.tell, f.write):
                x = made(kind, dtype=dtype, shape=shape)
                x.yes, x.raises = yes, raises
                ended = outcome(call, x)
                refuses = ("neg" in yes) or ("conj" in yes and dtype[0] == 5)
                if refuses:
                    assert isinstance(ended, BufferError), (kind, dtype, shape, yes, raises, ended)
first, second = (outcome(gd.from_dlpack, made(Method)) for _ in range(2))
assert type(first) is type(second)
f.tell(made(Method))
for lends in (-1, 0):
    x = made(Plain)
    x.lends = lends
    outcome(f.tell, x)
x = made(Plain, dtype=(2, 32, 2))
outcome(f.tell, x)
assert f.nop3(made(Plain), made(Property), [2]) is None
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
assert f.nop3(made(Plain), made(Plain), 1) is None
stop.set()
thread.join()
print("asked")
"""
    assert python(GUARDED.format(library=str(library)) + script) == "asked\n"


def test_guarded_types_that_change_while_they_answer(python, library):
    """The record is checked after the guards have run; objects are held before them."""
    script = """
class Changes(Plain):
    change = None
    def is_neg(self):
        if self.change == "lends":
            self.lends = -1
        if self.change == "lanes":
            self.fake.managed.tensor.dtype.lanes = 2
        return False

class Bare(fakes.Producer):
    pass

class Lent(fakes.Producer):
    lends = 0

Changes.__dlpack_c_exchange_api__ = Plain.__dlpack_c_exchange_api__
Bare.__dlpack_c_exchange_api__ = fakes.publish(fakes.fake_table()).__dlpack_c_exchange_api__
failing = fakes.fake_table()
failing.record_from_py = table.record_from_py
Lent.__dlpack_c_exchange_api__ = fakes.publish(failing).__dlpack_c_exchange_api__
for kind in (Changes, Plain):
    assert gd.from_dlpack(made(kind, shape=(1,))).tolist() == [0]
for change in ("lends", "lanes"):
    x = made(Changes, shape=(1,))
    x.change = change
    outcome(f.tell, x)
for kind in (Bare, Lent):
    x = kind(fakes.FakeTensor())
    kept.append(gd.from_dlpack(x))
    assert f.tell(x).startswith("tensor")
failing.managed_from_py = fakes.RAISES_SYSTEM_ERROR
x = Lent(fakes.FakeTensor())
assert isinstance(outcome(f.nop3, x, made(Plain), 1), SystemError)
kept.clear()
print("held")
"""
    assert python(GUARDED.format(library=str(library)) + script) == "held\n"


def test_torch_that_is_none(python, library):
    """A module of that name may have no tensors: for each new type, the owner of the memory is determined again."""
    script = """
import sys, types
import numpy as np, godlpack as gd
sys.modules["torch"] = types.SimpleNamespace(Tensor=3)
f = gd.load_module({library!r})
x = np.ones(2, np.uint8).view(type("NeverSeen", (np.ndarray,), {}))
print(f.tell(x, None, None))
"""
    assert python(script.replace("{library!r}", repr(str(library)))) == "tensor 1 8 (2:1,) 1;null;null;\n"
