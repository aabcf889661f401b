"""Functions written in Go, of the sample library, as users of an author's library call them."""

import ctypes
import inspect
import os
import pickle
import shutil
import sys

import pytest

import godlpack as gd
from helpers import build
from helpers.threads import together

pytestmark = build.needs_go


@pytest.fixture(scope="session")
def s(sample):
    module = gd.load_module(sample, package="sample")
    sys.modules["sample"] = module
    yield module
    del sys.modules["sample"]


def test_declarations_become_functions(s):
    assert str(inspect.signature(s.softmax)) == "(x, *, like=None, out=None)"
    assert str(inspect.signature(s.saxpy)) == "(a, x, y)"
    assert inspect.signature(s.join).parameters["by"].default == "-"
    assert s.saxpy.__doc__.startswith("saxpy adds a*x to y")
    assert pickle.loads(pickle.dumps(s.saxpy)) is s.saxpy


class Table(ctypes.Structure):
    """GDLibrary of godlpack.h."""

    _fields_ = [("version", ctypes.c_uint32), ("size", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("count", ctypes.c_int64), ("functions", ctypes.c_void_p), ("call", ctypes.c_void_p)]  # fmt: skip


def test_hosts_that_break_the_rules(sample):
    """Calls return -1 if context, results or arguments are missing, or if the context is older than version 1."""
    opened = ctypes.CDLL(str(sample)).godlpack_library
    opened.restype = ctypes.POINTER(Table)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2, ctypes.c_int, *[ctypes.c_void_p] * 3)
    call = kind(opened().contents.call)
    context, old = (ctypes.c_uint32 * 64)(256), (ctypes.c_uint32 * 64)(8)
    value, code = ctypes.c_int64(), ctypes.c_int()
    ret = ctypes.byref(value), ctypes.byref(code)
    for arguments in (
        (None, None, 0, *ret, None),
        (None, None, 0, *ret, old),
        (None, None, 0, None, ret[1], context),
        (None, None, 0, ret[0], None, context),
        (None, None, -1, *ret, context),
        (None, ret[1], 1, *ret, context),
        (ret[0], None, 1, *ret, context),
    ):
        assert call(*arguments) == -1
    context[1] = 2**31 - 1  # no function has this number, and there is no way to report it
    assert call(None, None, 0, *ret, context) == -1


@pytest.fixture
def makers(np, torch, jax):
    return {
        np.ndarray: lambda values: np.array(values, "float32"),
        torch.Tensor: lambda values: torch.tensor(values),
        jax.Array: lambda values: jax.numpy.array(values, "float32"),
        gd.Tensor: lambda values: gd.from_dlpack(np.array(values, "float32")),
    }


def values(x):
    return gd.from_dlpack(x).tolist()


def test_tensors_of_all_frameworks(s, makers):
    for kind, make in makers.items():
        x = make([1.0, 2.0, 4.0])
        y = s.softmax(x)
        assert isinstance(y, kind)
        assert sum(values(y)) == pytest.approx(1)
        assert isinstance(s.tail(x), kind)
        assert values(s.tail(x)) == [2, 4]
        even, odd = s.split(x)
        assert (values(even), values(odd)) == ([1, 4], [2])
        assert s.echo(x) is x
        assert s.total(x) == 7
        for other in makers.values():
            doubled = s.doubled([x, other([3.0])])
            assert all(isinstance(z, kind) for z in doubled)
            assert [values(z) for z in doubled] == [[2, 4, 8], [6]]
            assert s.totals((x, other([3.0]))) == [7, 3]
            assert values(s.softmax(x, like=other([0.0]))) == values(y)
    assert isinstance(s.zeros(3), gd.Tensor)
    assert s.where(x) == ("float32", "cpu")


def test_written_tensors(s, makers, np, torch):
    for kind, make in makers.items():
        y = make([1.0, 2.0])
        if "jax" in kind.__module__:
            with pytest.raises(BufferError, match=r"saxpy\(\): argument 'y': .*read-only"):
                s.saxpy(2.0, make([1.0, 1.0]), y)
            continue
        assert s.saxpy(2, make([1.0, 1.0]), y) is None
        assert values(y) == [3, 4]
    frozen = np.ones(2, "float32")
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match=r"saxpy\(\): argument 'y': .*read-only"):
        s.saxpy(1, np.ones(2, "float32"), frozen)
    with pytest.raises(ValueError, match="shares"):
        s.saxpy(1, y := torch.ones(2), y)
    with pytest.raises(BufferError, match="requires grad"):
        s.saxpy(1, torch.ones(2), torch.ones(2, requires_grad=True))


def test_out(s, makers):
    for kind, make in makers.items():
        x, out = make([[1.0, 1.0]]), make([[0.0, 0.0]])
        if "jax" in kind.__module__:
            with pytest.raises(BufferError, match="read-only"):
                s.softmax(x, out=out)
            continue
        assert s.softmax(x, out=out) is out
        assert values(out) == [[0.5, 0.5]]
        assert s.softmax(x, out=x) is x
        assert values(x) == [[0.5, 0.5]]
        with pytest.raises(
            ValueError, match=r"softmax\(\): argument 'out': want float32\[1, 2\] on cpu, got float32\[3\]"
        ):
            s.softmax(x, out=make([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s, x: s.softmax(), TypeError, r"softmax\(\) missing argument 'x'"),
        (lambda s, x: s.softmax(5), TypeError, r"softmax\(\): argument 'x': want float32\|float64\[.*, got int"),
        (lambda s, x: s.softmax("x"), TypeError, r"got str"),
        (lambda s, x: s.softmax(gd.zeros(2, "int8")), TypeError, r"got int8\[2\]"),
        (lambda s, x: s.echo(gd.zeros((2, 2))), TypeError, r"echo\(\): argument 'x': .*got float32\[2, 2\]"),
        (lambda s, x: s.saxpy("a", x, x), TypeError, r"saxpy\(\): argument 'a': want float, got str"),
        (lambda s, x: s.saxpy(1, x, gd.zeros(3)), ValueError, r"saxpy\(\): argument 'y': want float32\[n\]"),
        (lambda s, x: s.saxpy(1, x), TypeError, r"saxpy\(\) missing argument 'y'"),
        (lambda s, x: s.totals([x, 5]), TypeError, r"totals\(\): argument 'x'"),
        (lambda s, x: s.join(["a", 5]), TypeError, r"join\(\): argument 'words'"),
    ],
)
def test_refusals(s, call, error, text):
    with pytest.raises(error, match=text):
        call(s, gd.zeros(2))


@pytest.mark.parametrize(
    "name", ["BufferError", "TypeError", "ValueError", "RuntimeError", "MemoryError", "IndexError"]
)
def test_errors_of_go(s, name):
    with pytest.raises(__builtins__[name] if isinstance(__builtins__, dict) else getattr(__builtins__, name)) as raised:
        s.raise_error(name)
    assert raised.value.args == ("raised, é and \0 in it",)


@pytest.mark.parametrize("name", ["panics", "panics_elsewhere", "nil_pointer", "wild_pointer"])
def test_panics(s, name):
    gd.zeros(1)  # makes godlpack's own Go run, too
    for _ in range(2):
        with pytest.raises(RuntimeError, match=rf"{name}\(\): Go panicked: (?s:.)*goroutine"):
            getattr(s, name)()


def test_no_memory(s, torch):
    for like in (None, torch.Tensor):
        with pytest.raises((MemoryError, RuntimeError)):
            s.too_large(like=like)


def test_values(s):
    assert s.join(["a", "é", "\0"]) == "a-é-\0"
    assert s.join(("x", "y"), by=", ") == "x, y"
    assert s.words("one two") == ["one", "two"]
    assert s.reversed(b"a\0b") == b"b\0a"
    assert s.divmod(17) == (1, 7)
    assert s.divmod(b=5, a=17) == (3, 2)
    assert s.every([True, False]) is False
    assert s.given() is False
    assert s.bits(gd.DType("int8")) == 8


def test_stream(s):
    assert s.stream("cuda:1") == s.stream("cpu") == 0
    with gd.cuda.stream(1 << 20, device=1):
        assert s.stream("cuda:1") == 1 << 20
        with pytest.raises(RuntimeError, match="from a goroutine other than that of the call"):
            s.stream("cuda:1", elsewhere=True)


def test_callables(s, np):
    got = []

    def f(*args):
        got.append(args)
        return args[0]

    x = np.array([1, 2], "float32")
    assert s.apply(f, x) == ("tensor", 3)
    y, n, new, text = got[0]
    assert y is x
    assert (n, text) == (2, "text")
    assert isinstance(new, np.ndarray)
    assert new.tolist() == [0, 0]
    for answer, kind in ((None, "none"), (True, "bool"), (2, "int"), (0.5, "float"), ("a", "str a"), ([1], "list")):
        assert s.apply(lambda *_, answer=answer: answer, x)[0] == kind
    with pytest.raises(ZeroDivisionError):
        s.apply(lambda *_: 1 / 0, x)


@pytest.mark.parametrize("parallel", [False, True])
def test_ctrl_c(python, sample, parallel):
    out = python(f"""
import signal, threading
import godlpack as gd
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
s = gd.load_module({str(sample)!r})
for _ in range(2):
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    try:
        s.slow({parallel})
    except KeyboardInterrupt:
        print("stopped")
print(s.divmod(17))
""")
    assert out.split("\n")[:3] == ["stopped", "stopped", "(1, 7)"]


def test_threads(s, torch):
    def work(i):
        assert values(s.tail(torch.full((3,), float(i)))) == [i, i]

    together(work, threads=4, rounds=50)


def test_forked_children(python, sample):
    out = python(f"""
import os
import numpy as np
import godlpack as gd
s = gd.load_module({str(sample)!r})
x = np.array([1, 2, 4], "float32")
def child(depth):
    if (pid := os.fork()) == 0:
        for _ in range(100):
            assert s.tail(x).tolist() == [2, 4]
        assert s.apply(lambda *args: len(args), x) == ("int", 4)
        try:
            s.panics()
        except RuntimeError:
            pass
        if depth > 0:
            child(depth - 1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
child(0)
assert s.tail(x).tolist() == [2, 4]
child(1)
assert s.tail(x).tolist() == [2, 4]
print("well")
""")
    assert out == "well\n"


def test_library_opens_late_and_python_ends_well(python, sample):
    out = python(f"""
import sys, threading
import godlpack as gd
s = gd.load_module({str(sample)!r})
print(s.divmod(17))
threading.Thread(target=s.slow, args=[False], daemon=True).start()
""")
    assert out == "(1, 7)\n"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_many_libraries(sample, tmp_path, np):
    """Each library has its own Go runtime."""
    for i in range(3):
        path = shutil.copy(sample, tmp_path / f"copy{i}.so")
        assert gd.load_module(path).total(np.ones(3)) == 3
