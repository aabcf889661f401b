"""Go functions as global functions of tvm-ffi, by package tvmffi: the sample library, and one that registers."""

import contextlib
import gc
import resource
from pathlib import Path

import pytest

import godlpack as gd
from helpers import build

tvm_ffi = pytest.importorskip("tvm_ffi")

pytestmark = build.needs_go

REGISTER = """
package main

import (
	"godlpack/kernel"
	"godlpack/tensor"
	"godlpack/tvmffi"
)

func init() {
	register("register_tvm", "register_tvm registers all functions.", params{of("prefix", kernel.KindString)},
		params{of("", kernel.KindInt)},
		func(c *kernel.Call) error {
			n, err := tvmffi.Register(c.String(0))
			c.ReturnInt(int64(n))
			return err
		})
	register("call_twice", "call_twice calls f in this goroutine and in another, and returns the other one's error.",
		params{of("f", kernel.KindCallable)}, params{of("", kernel.KindString)},
		func(c *kernel.Call) error {
			f, failed := c.Callable(0), make(chan error)
			if _, err := f.Call([]any{nil, true, 3, 0.5, []byte("b\\x00")}); err != nil {
				return err
			}
			go func() {
				_, err := f.Call()
				failed <- err
			}()
			c.ReturnString((<-failed).Error())
			return nil
		})
	register("fills", "fills returns tensors that goroutines of Parallel have asked for.", nil,
		params{list("", vector("", "*"))},
		func(c *kernel.Call) error {
			all := make([]tensor.Mut[float32], 100)
			kernel.Parallel(c.Ctx(), len(all), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					all[i] = kernel.Zeros[float32](c.Ctx(), int64(i))
				}
			})
			kernel.ReturnMutList(c, all)
			return nil
		})
}
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The sample library with the functions of REGISTER."""
    return build.go_library(tmp_path_factory.mktemp("tvm"), added={"register.go": REGISTER})


@pytest.fixture(scope="session")
def registered(library):
    module = gd.load_module(library)
    assert module.register_tvm("go.") == len(module.__all__)
    return module


@pytest.fixture
def go(registered):
    """A function of the library, as tvm-ffi returns it."""
    return lambda name: tvm_ffi.get_global_func(f"go.{name}")


@pytest.fixture
def alone(python, library):
    """Runs a script with the library in a new interpreter, without torch, which tvm_ffi would import."""
    setting = f"""if 1:
        import sys
        sys.modules["torch"] = None
        import tvm_ffi
        import godlpack as gd
        module = gd.load_module({str(library)!r})"""
    return lambda script: python(setting + script)


def values(x):
    return gd.from_dlpack(x).tolist()


def test_scalars(go):
    assert list(go("divmod")(17, 5)) == [3, 2]
    assert list(go("divmod")(17)) == [1, 7]
    assert list(go("divmod")(True, 1)) == [1, 0]
    assert go("inverted")(0) == 255
    assert go("every")([True, True]) is True
    assert go("every")((True, False)) is False
    assert go("given")() is False
    assert go("given")(None) is False
    assert go("nop")(*[gd.zeros(1)] * 3) is None
    assert go("totals")([]) == []


@pytest.mark.parametrize("word", ["", "a", "seven c", "eight ch", "é\0x", "long and " * 9])
def test_text_and_bytes(go, word):
    assert go("join")([word, "b"], "|") == f"{word}|b"
    assert go("reversed")(word.encode()) == word.encode()[::-1]
    assert list(go("words")(f"{word} z")) == [*word.split(), "z"]


def test_dtypes_and_devices(go, np):
    assert go("bits")(tvm_ffi.dtype("float64")) == 64
    assert go("bits")("int8") == 8
    assert go("bits")() == 32
    assert [str(part) for part in go("where")(np.zeros(1, "float32"))] == ["float32", str(tvm_ffi.device("cpu:0"))]
    for device in (tvm_ffi.device("cpu"), "cpu"):
        assert values(go("zeros")(2, device)) == [0, 0]


def test_tensors_go_back_to_their_framework(go, torch):
    x = torch.tensor([1.0, 2.0, 4.0])
    y = go("softmax")(x)
    assert isinstance(y, torch.Tensor)
    assert torch.allclose(y, torch.softmax(x, 0))
    assert go("echo")(x).data_ptr() == x.data_ptr()
    assert isinstance(go("tail")(x), torch.Tensor)
    assert [values(part) for part in go("split")(x)] == [[1, 4], [2]]
    assert [values(part) for part in go("doubled")([x, x[:1]])] == [[2, 4, 8], [2]]
    assert go("total")(x.int()) == 7
    y = torch.ones(3)
    assert go("saxpy")(2, x, y) is None
    assert y.tolist() == [3, 5, 9]


def test_tensors_without_a_framework(go, np):
    for x in (np.array([1, 2, 4], "float32"), tvm_ffi.from_dlpack(np.array([1, 2, 4], "float32"))):
        for name, want in (("tail", [2, 4]), ("echo", [1, 2, 4])):
            y = go(name)(x)
            assert isinstance(y, tvm_ffi.Tensor)
            assert values(y) == want
    y = np.ones((3, 2), "float32")[:, 0]
    go("saxpy")(2, np.array([1, 2, 4], "float32"), y)
    assert y.tolist() == [3, 5, 9]
    y = go("zeros")(1000)
    assert gd.from_dlpack(y).data_ptr % 64 == 0
    assert [len(values(y)) for y in go("fills")()] == list(range(100))


def test_results_outlive_everything(go, torch, np):
    kept = [go("split")(like)[0] for like in (torch.arange(4.0), np.arange(4.0, dtype="f4"))]
    gc.collect()
    assert [values(x) for x in kept] == [[0, 2]] * 2


@pytest.mark.parametrize(
    ("name", "args", "error", "text"),
    [
        ("softmax", (), TypeError, r"softmax\(\) missing argument 'x'"),
        ("divmod", (1, 2, 3), TypeError, r"divmod\(\) takes 2 arguments, got 3"),
        ("divmod", (1, 2, {}, {}), TypeError, r"divmod\(\) takes 2 arguments, got 4"),
        ("divmod", (1, 0), ValueError, "want a divisor, got 0"),
        ("inverted", (256,), ValueError, r"inverted\(\): argument 'x': want .*, got 256"),
        ("inverted", ("1",), TypeError, r"inverted\(\): argument 'x': want .*, got str"),
        (
            "echo",
            (gd.zeros((2, 2)),),
            TypeError,
            r"echo\(\): argument 'x': want float32\[n\] on cpu, got float32\[2, 2\]",
        ),
        ("saxpy", (1, gd.zeros(2), gd.zeros(3)), ValueError, r"saxpy\(\): argument 'y': want .*but n is 2 in 'x'"),
        ("totals", ([gd.zeros(2), 5],), TypeError, r"totals\(\): argument 'x': element 1: .*got int"),
        (
            "echo",
            ({1: 2},),
            TypeError,
            r"echo\(\): argument 'x': want a value that Go functions can take, got a ffi.Map",
        ),
        ("totals", ([[{}]],), TypeError, r"totals\(\): argument 'x': .*got a ffi.Map"),
        ("echo", (object(),), TypeError, r"echo\(\): argument 'x': .*got a ffi.OpaquePyObject"),
        ("too_large", (), MemoryError, "want 4611686018427387904 bytes, got none"),
        ("zeros", (-1,), ValueError, "-1"),
    ],
)
def test_refusals(go, name, args, error, text):
    for _ in range(2):
        with pytest.raises(error, match=text):
            go(name)(*args)
    assert go("inverted")(0) == 255


@pytest.mark.parametrize("kind", [TypeError, ValueError, RuntimeError, MemoryError, IndexError])
def test_errors_are_of_their_class(go, kind):
    with pytest.raises(kind) as raised:
        go("raise_error")(kind.__name__)
    assert type(raised.value) is kind
    assert str(raised.value) == "raised, é and \0 in it"


def test_buffer_errors_keep_their_kind(go, monkeypatch):
    """tvm_ffi does not know the class by default, but it can be registered."""
    frozen = gd.zeros((2, 2), "float32").T
    with pytest.raises(RuntimeError, match=r"softmax\(\): argument 'x': .*strides") as raised:
        go("softmax")(frozen)
    assert raised.value.__tvm_ffi_error__.kind == "BufferError"
    monkeypatch.setitem(tvm_ffi.core.ERROR_NAME_TO_TYPE, "BufferError", BufferError)
    with pytest.raises(BufferError, match="strides"):
        go("softmax")(frozen)


def test_panics(alone):
    """In a new process: tvm_ffi's handlers get the faults if it is imported after Go's runtime has started."""
    alone("""
        module.register_tvm("")
        for name in ("panics", "panics_elsewhere", "nil_pointer", "wild_pointer") * 2:
            try:
                tvm_ffi.get_global_func(name)()
            except RuntimeError as error:
                assert "Go panicked" in str(error) and "goroutine" in str(error), error
            else:
                raise AssertionError
        assert tvm_ffi.get_global_func("inverted")(0) == 255
    """)


def test_callbacks(go, torch):
    x = torch.arange(3.0)
    seen = []

    def f(result):
        return lambda *args: (seen.append(args), result)[1]

    for result, want in [
        (None, ("none", 0)),
        (True, ("bool", 0)),
        (5, ("int", 5)),
        (0.5, ("float", 0.5)),
        ("short", ("str short", 5)),
        ("a long one", ("str a long one", 10)),
        ([1, [2.0, "x"]], ("list", 2)),
        (x, ("tensor", 3)),
        (torch.arange(4.0) + 1, ("tensor", 10)),
    ]:
        assert list(go("apply")(f(result), x)) == list(want)
    y, n, zeros, text = seen[0]
    assert values(y) == [0, 1, 2]
    assert gd.from_dlpack(y).data_ptr == x.data_ptr()
    assert (n, values(zeros), text) == (3, [0, 0], "text")


def test_what_callbacks_raise(go, torch):
    class OddError(Exception):
        pass

    def fails(*_):
        raise error

    for error in (ValueError("no"), KeyError("k"), OddError("odd")):
        with pytest.raises(type(error) if not isinstance(error, OddError) else RuntimeError, match=error.args[0]):
            go("apply")(fails, torch.ones(2))
    with pytest.raises(TypeError, match=r"callback's result: want a value that Go functions can take, got a ffi.Map"):
        go("apply")(lambda *_: {1: 2}, torch.ones(2))
    endless = tvm_ffi.List([1])
    endless.append(endless)
    with pytest.raises(ValueError, match="nested at most 32 deep"):
        go("apply")(lambda *_: endless, torch.ones(2))
    endless.clear()
    with pytest.raises(TypeError, match=r"apply\(\): argument 'f': want callable, got int"):
        go("apply")(3, torch.ones(2))


def test_callbacks_in_other_goroutines(go):
    seen = []
    assert "from a goroutine other than" in go("call_twice")(seen.append)
    ((none, true, three, half, data),) = seen
    assert (none, true, three, half, data) == (None, True, 3, 0.5, b"b\0")


def test_functions_call_each_other(go, torch):
    """A call from Go through tvm-ffi into Go."""
    with pytest.raises(TypeError, match=r"softmax\(\) takes 1 argument, got 4"):
        go("apply")(go("softmax"), torch.ones(2))
    assert list(go("apply")(lambda x, *_: go("total")(x), torch.ones(2))) == ["float", 2]


def test_registering_again(registered):
    registered.register_tvm("other.")
    registered.register_tvm("other.")
    assert tvm_ffi.get_global_func("other.inverted")(1) == 254
    assert registered.__all__[0] == "register_tvm"  # its handle must not be NULL
    assert tvm_ffi.get_global_func("other.register_tvm")("another.") == len(registered.__all__)
    assert tvm_ffi.get_global_func("another.inverted")(1) == 254


def test_absent(python, library):
    python(f"""if 1:
        import sys
        import godlpack as gd
        module = gd.load_module({str(library)!r})
        try:
            module.register_tvm("")
        except RuntimeError as error:
            assert str(error) == "want libtvm_ffi in this process, got none: import tvm_ffi first", error
        else:
            raise AssertionError
        assert module.inverted(0) == 255
        sys.modules["torch"] = None
        import tvm_ffi
        module.register_tvm("")
        assert tvm_ffi.get_global_func("inverted")(0) == 255
    """)


def test_loaded_for_others_alone(python, library):
    """libtvm_ffi, loaded without Python's package and with local symbols, is found by its name."""
    path = Path(tvm_ffi.__file__).parent / "lib" / "libtvm_ffi.so"
    python(f"""if 1:
        import ctypes, sys
        import godlpack as gd
        tvm = ctypes.CDLL({str(path)!r}, ctypes.RTLD_LOCAL)
        assert gd.load_module({str(library)!r}).register_tvm("go.") > 20
        class Name(ctypes.Structure):
            _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
        f = ctypes.c_void_p()
        assert tvm.TVMFFIFunctionGetGlobal(ctypes.byref(Name(b"go.nop", 6)), ctypes.byref(f)) == 0 and f.value
        assert "tvm_ffi" not in sys.modules
    """)


def test_forked_children(alone):
    """Also while Go works in other threads, which a child does not have."""
    alone("""
        import os, signal, threading
        module.register_tvm("")
        inverted, softmax = tvm_ffi.get_global_func("inverted"), tvm_ffi.get_global_func("softmax")
        stop, x = threading.Event(), gd.zeros((300, 300))
        def work():
            while not stop.is_set():
                softmax(x)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                try:
                    inverted(0)
                except RuntimeError as error:
                    assert "forked" in str(error)
                    module.register_tvm("")
                    assert tvm_ffi.get_global_func("inverted")(0) == 255
                    os._exit(0)
                os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for thread in threads:
            thread.join()
        assert inverted(0) == 255
    """)


def test_interrupt(alone):
    alone("""
        import _thread, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
        module.register_tvm("")
        for parallel in (False, True):
            threading.Timer(0.2, _thread.interrupt_main).start()
            try:
                tvm_ffi.get_global_func("slow")(parallel)
            except KeyboardInterrupt:
                continue
            raise AssertionError
    """)


def test_nothing_is_lost(go, np):
    """Neither memory of tvm-ffi's callers nor C memory leaks: each would be 100 MB or more."""
    calls = [
        lambda x: go("split")(x),
        lambda x: go("echo")(x),
        lambda x: go("doubled")([x, x]),
        lambda x: go("totals")([x, 5]),
        lambda x: go("apply")(lambda *args: args[0], x),
        lambda x: go("apply")(lambda *_: 1 / 0, x),
        lambda _: go("reversed")(b"long" * 250_000),
        lambda _: go("zeros")(250_000),
    ]
    for like in (gd.zeros(250_000), np.zeros(250_000, "float32")):
        for n, call in enumerate(calls * 200):
            if n == 100 * len(calls):  # Go's heap and the allocators have their sizes by now
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            with contextlib.suppress(RuntimeError, TypeError):
                call(like)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 80_000  # KB
