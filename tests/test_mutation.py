"""Arguments that are changed during a call: the Go function reads what was passed, and none of it is freed.

Each kind of object is changed in each possible way, at each place of a call that runs Python code, and by threads.
"""

import array
import ctypes
import gc
import os
import random
import threading
from contextlib import suppress

import pytest

import godlpack as gd
from godlpack import _tool

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package changing

import (
	"math"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

func sum(x tensor.Of[float32]) (s float64) {
	for _, v := range x.All() {
		s += float64(v)
	}
	return s
}

//godlpack:export
func Call(x tensor.Of[float32], f kernel.Callable) (float64, error) {
	_, err := f.Call()
	return sum(x), err
}

//godlpack:export
func CallList(x []tensor.Of[float32], f kernel.Callable) (float64, error) {
	_, err := f.Call()
	return sum(x[0]), err
}

//godlpack:export
func CallHeld(f kernel.Callable, g kernel.Callable) (float64, error) {
	y, err := f.Call()
	if err != nil {
		return 0, err
	}
	if _, err := g.Call(); err != nil {
		return 0, err
	}
	return measure(y)
}

//godlpack:export
func CallWriting(x tensor.Mut[float32], f kernel.Callable) (int, error) {
	_, err := f.Call()
	for p := range x.Pointers() {
		*p = 7
	}
	return x.Len(), err
}

//godlpack:export
func Then(x, y tensor.Of[float32]) float64 { return sum(x) }

//godlpack:export
func ThenWriting(x tensor.Mut[float32], y tensor.Of[float32]) int {
	for p := range x.Pointers() {
		*p = 7
	}
	return x.Len()
}

//godlpack:export
func ThenInt(x tensor.Of[float32], n int) float64 { return sum(x) }

//godlpack:export
func ThenFloat(x tensor.Of[float32], n float64) float64 { return sum(x) }

//godlpack:export
func ThenInts(x tensor.Of[float32], n []int) float64 { return sum(x) }

//godlpack:export
func Long(x tensor.Of[float32], rounds int) bool {
	first := math.Float64bits(sum(x)) // a torch tensor resized before the call may hold NaN, which is unequal to itself
	for range rounds {
		if math.Float64bits(sum(x)) != first {
			return false
		}
	}
	return true
}

func measure(y any) (float64, error) {
	t, ok := y.(interface{ ShapeSlice() []int64 })
	if !ok {
		return 0, kernel.Errorf(kernel.TypeError, "want a tensor")
	}
	x, err := tensor.View[float32](t.(*dlpack.Tensor))
	return sum(x), err
}
"""

N = 6000
VALUES = np.arange(N, dtype=np.float32)
TOTAL = float(VALUES.astype(np.float64).sum())


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():  # a function may not write to a tensor that requires grad
        yield


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE)


def setting(name, value):
    return lambda x: setattr(x, name, value(x) if callable(value) else value)


def ctypes_array():
    return (ctypes.c_float * N)(*VALUES)


def byte_array():
    return bytearray(VALUES.tobytes())


def float_array():
    return array.array("f", VALUES.tobytes())


def numpy_view():
    return np.concatenate([VALUES, VALUES])[:N]


def torch_view():
    return torch.from_numpy(np.concatenate([VALUES, VALUES]).copy()).clone()[:N]


def never_seen(base):
    """A new type each time: objects of types without a plan are imported by Go."""
    return type("NeverSeen", (base,), {})


def numpy_subclass():
    x = never_seen(np.ndarray)((N,), np.float32)
    x[:] = VALUES
    return x


def torch_subclass():
    return torch.from_numpy(VALUES.copy()).clone().as_subclass(never_seen(torch.Tensor))


def torch_gradient():
    return torch.from_numpy(VALUES.copy()).clone().requires_grad_()


NUMPY = {
    "dtype": setting("dtype", np.int8),
    "shape": setting("shape", (10, 10, N // 100)),
    "strides": lambda x: setattr(x, "strides", (0,)),
    "read-only": lambda x: x.setflags(write=False),
    "resize": lambda x: x.resize((N * 100,), refcheck=False),
    "shrink": lambda x: x.resize((1,), refcheck=False),
    "setstate": lambda x: x.__setstate__((1, (3,), np.dtype("f4"), False, b"abcdefghijkl")),
    "byteswap": setting("dtype", ">f4"),
}
TORCH = {
    "resize": lambda x: x.resize_(N * 100),
    "resize within": lambda x: x.resize_(2, 2),
    "data": lambda x: setattr(x, "data", torch.zeros(3)),
    "set": lambda x: x.set_(torch.zeros(3)),
    "storage": lambda x: x.untyped_storage().resize_(0),
    "share": lambda x: x.share_memory_().detach().numpy(),  # otherwise torch would try to resize it, and fail
    "transpose": lambda x: x.unsqueeze_(0).t_(),
    "as strided": lambda x: x.as_strided_((3,), (0,)),
    "squeeze": lambda x: x.unsqueeze_(0),
    "swap": lambda x: torch.utils.swap_tensors(x, torch.zeros(3)),
}
GROWING = {"resize": lambda x: x.extend(x[: len(x) // 2] * 8), "clear": lambda x: x.clear()}
KINDS = {
    "numpy": (lambda: VALUES.copy(), NUMPY),
    "numpy's view": (numpy_view, NUMPY),
    "numpy's owner": (numpy_view, {"resize": lambda x: x.base.resize((N * 100,), refcheck=False)}),
    "numpy, reversed": (lambda: VALUES[::-1].copy()[::-1], NUMPY),
    "torch": (lambda: torch.from_numpy(VALUES.copy()).clone(), TORCH),
    "torch's view": (torch_view, TORCH),
    "numpy, never seen": (
        lambda: VALUES.copy().view(never_seen(np.ndarray)),
        {"owner": lambda x: NUMPY["resize"](x.base)},
    ),
    "numpy's subclass": (numpy_subclass, NUMPY),
    "numpy, many dimensions": (lambda: VALUES.copy().reshape(*[1] * 9, N).copy(), NUMPY),
    "torch, never seen": (torch_subclass, TORCH),
    "torch, with a gradient": (torch_gradient, TORCH),
    "bytearray": (lambda: gd.asarray(np.frombuffer(byte_array(), "f4")), {"nothing": lambda x: None}),
    "memoryview": (lambda: memoryview(byte_array()).cast("f"), {"release": lambda x: x.release()}),
    "array.array": (
        float_array,
        {"resize": lambda x: x.extend([0.0] * N * 10), "clear": lambda x: x.__delitem__(slice(None))},
    ),
    "ctypes": (ctypes_array, {"items": lambda x: None}),
    "Tensor": (lambda: gd.from_dlpack(VALUES.copy()), {"nothing": lambda x: None}),
}
CASES = [
    pytest.param(make, change, id=f"{kind}-{name}")
    for kind, (make, changes) in KINDS.items()
    for name, change in changes.items()
]


class Change:
    """Changes an object once in the middle of a call, and reuses the memory that this frees. The object may refuse the
    change, as NumPy, torch and buffers may."""

    def __init__(self, change, *objects, collects=True):
        self.change, self.objects, self.done, self.collects = change, objects, 0, collects

    def __call__(self):
        self.done += 1
        for x in self.objects:
            with suppress(ValueError, RuntimeError, BufferError, AttributeError, TypeError):
                self.change(x)
        self.rubbish = [np.full(n, np.float32(5)) for n in (1, 2, 100, N, 4 * N) for _ in range(10)]
        if self.collects:
            gc.collect()


class Producer:
    def __init__(self, run):
        self.run = run

    def __dlpack__(self, **keywords):
        self.run()
        return np.ones(3, np.float32).__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


class Number:
    def __init__(self, run):
        self.run = run

    def __index__(self):
        self.run()
        return 3


class Real:
    def __init__(self, run):
        self.run = run

    def __float__(self):
        self.run()
        return 3.0


def warm(go, make):
    go.call(make(), lambda: None)
    go.call_writing(make(), lambda: None)


@pytest.mark.parametrize(("make", "change"), CASES)
def test_callback(go, make, change):
    warm(go, make)
    x = make()
    run = Change(change, x)
    assert go.call(x, run) == TOTAL
    assert run.done == 1
    x = make()
    assert go.call_list([x, x], Change(change, x)) == TOTAL
    x = make()
    assert go.call_held(lambda: x, Change(change, x)) == TOTAL


@pytest.mark.parametrize(("make", "change"), CASES)
def test_callback_before_writing(go, make, change):
    warm(go, make)
    x = make()
    assert go.call_writing(x, Change(change, x)) == N


@pytest.mark.parametrize(("make", "change"), CASES)
def test_other_argument(go, make, change):
    warm(go, make)
    for function, wrap in ((go.then, Producer), (go.then_int, Number), (go.then_float, Real)):
        x = make()
        run = Change(change, x)
        assert function(x, wrap(run)) == TOTAL, wrap
        assert run.done
    x = make()
    assert go.then_ints(x, [1, Number(Change(change, x))]) == TOTAL
    x = make()
    assert go.then_writing(x, Producer(Change(change, x))) == N


def outcome(call):
    """The result of a call, or the class of its exception."""
    try:
        return call()
    except (BufferError, TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize(("make", "change"), CASES)
def test_garbage_collection(go, make, change):
    """Packing a list argument may collect garbage (up to Python 3.11), with a __del__ that changes arguments packed
    before. If Python collects before the call, the function reads what it would read after it."""

    class Doomed:
        def __init__(self, run):
            self.run, self.me = run, self

        def __del__(self):
            self.run()

    warm(go, make)
    numbers, before = list(range(50)), gc.get_threshold()
    try:
        for _ in range(5):
            x = make()
            gc.disable()
            Doomed(Change(change, x))
            gc.set_threshold(1)
            gc.enable()
            got = outcome(lambda x=x: go.then_ints(x, numbers))
            gc.set_threshold(*before)
            gc.collect()
            # Elements that are not written after a resize may be NaN.
            assert got == TOTAL or repr(got) == repr(outcome(lambda x=x: go.then_ints(x, numbers)))
    finally:
        gc.set_threshold(*before)
        gc.enable()


@pytest.mark.parametrize(("make", "change"), CASES)
def test_thread(go, make, change):
    """Another thread changes an argument while a function reads it without the GIL."""
    warm(go, make)
    start, stop = threading.Event(), threading.Event()
    x = make()

    def work():
        start.wait()
        while not stop.is_set():
            Change(change, x)()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            x = make()
            start.set()
            assert outcome(lambda x=x: go.long(x, 200)) in (True, BufferError)  # it may have no memory before the call
    finally:
        start.set()
        stop.set()
        thread.join()


CALLS = [
    lambda go, x, run: go.call(x, run) == TOTAL,
    lambda go, x, run: go.call_list([x, x], run) == TOTAL,
    lambda go, x, run: go.call_held(lambda: x, run) == TOTAL,
    lambda go, x, run: go.call(x, lambda: go.call_list([x], run)) == TOTAL,
    lambda go, x, run: go.call_writing(x, run) == N,
    lambda go, x, run: go.then(x, Producer(run)) == TOTAL,
    lambda go, x, run: go.then_int(x, Number(run)) == TOTAL,
    lambda go, x, run: go.then_float(x, Real(run)) == TOTAL,
    lambda go, x, run: go.then_ints(x, [Number(run), Number(run)]) == TOTAL,
    lambda go, x, run: go.then_writing(x, Producer(run)) == N,
]


def has_its_memory(x):
    """If torch refuses to resize a storage, the tensor still has the new shape, which goes beyond its memory."""
    if not isinstance(x, torch.Tensor) or x.numel() == 0:
        return True
    last = x.storage_offset() + sum((n - 1) * step for n, step in zip(x.shape, x.stride(), strict=True))
    return x.untyped_storage().nbytes() >= (last + 1) * x.itemsize


def test_random_changes(go):
    """300 calls, or GODLPACK_MUTATIONS ones, with several changes each; the same ones each time."""
    chance = random.Random(13)
    for i in range(int(os.environ.get("GODLPACK_MUTATIONS", "300"))):
        make, changes = chance.choice(list(KINDS.values()))
        x, several = make(), chance.choices(list(changes.values()), k=chance.randint(1, 3))
        run = Change(lambda x, several=several: [change(x) for change in several], x, collects=i % 50 == 0)
        assert chance.choice(CALLS)(go, x, run), (i, several)
        assert run.done
        if has_its_memory(x):
            outcome(lambda x=x, run=run: go.call(x, run))  # with x in any state


def test_nothing_stays_forbidden(go):
    """Changes that are refused during a call are allowed after it, also after one that failed."""

    def fail():
        raise LookupError

    for x in (VALUES.copy(), torch.from_numpy(VALUES.copy()).clone()):
        go.call(x, lambda: None)
        with pytest.raises(LookupError):
            go.call(x, fail)
        with pytest.raises(TypeError):
            go.then(x, "no tensor")
        if isinstance(x, np.ndarray):
            assert x.flags.owndata
            x.resize((2 * N,), refcheck=False)
        else:
            assert x.untyped_storage().resizable()
            x.resize_(2 * N)


def test_memory_that_nobody_owns(go):
    """Like an array of C code, which has neither OWNDATA nor a base: the flag is not set on it."""
    x = VALUES.copy()
    flags = ctypes.c_int.from_address(id(x) + object.__basicsize__ + 3 * 8 + 3 * 8)
    owns = 4
    assert flags.value & owns
    flags.value &= ~owns
    try:
        assert not x.flags.owndata
        assert x.base is None
        assert go.call(x, lambda: None) == TOTAL
        assert go.call(x, lambda: go.call(x, lambda: None)) == TOTAL
        assert not x.flags.owndata
    finally:
        flags.value |= owns


def test_several_calls_forbid_together(go):
    x, y = VALUES.copy(), torch.from_numpy(VALUES.copy()).clone()

    def inner(z):
        go.call(z, lambda: None)
        with pytest.raises((ValueError, RuntimeError)):
            z.resize((N * 100,), refcheck=False) if z is x else z.resize_(N * 100)

    for z in (x, y):
        assert go.call(z, lambda z=z: inner(z)) == TOTAL
    assert x.flags.owndata
    assert y.untyped_storage().resizable()


# ---- torch tensors without a storage of their own ----


class Wrapper(torch.Tensor):
    """Shares the memory of another tensor."""

    error = None

    @staticmethod
    def __new__(cls, inner):
        x = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        x.inner = inner
        return x

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError(function)

    def __dlpack__(self, **keywords):
        return self.inner.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.inner.__dlpack_device__()

    def untyped_storage(self):
        if self.error is not None:
            raise self.error
        return super().untyped_storage()


def test_wrapper_with_a_storage_of_its_own(go):
    x = Wrapper(torch.from_numpy(VALUES.copy()))
    x.untyped_storage = lambda: object()  # not a torch storage, so there is nothing to pin
    assert go.call(x, lambda: None) == VALUES.sum(dtype=float)


@pytest.mark.parametrize("error", [None, NotImplementedError("no storage"), MemoryError("none"), KeyboardInterrupt()])
def test_wrapper(go, error):
    """Its capsule holds the inner tensor; errors not about the storage are raised."""
    x = Wrapper(torch.from_numpy(VALUES.copy()))
    x.error = error
    if isinstance(error, MemoryError | KeyboardInterrupt):
        with pytest.raises(type(error)):
            go.call(x, lambda: None)
    else:
        assert go.call(x, lambda: None) == VALUES.sum(dtype=float)


class Lying(torch.Tensor):
    """A tensor whose storage the test chooses."""

    def untyped_storage(self):
        return self.storage(super().untyped_storage)


def moved(x):
    """Changes the memory of x while its storage is requested, as another thread may."""
    x.set_(torch.zeros(500))
    return torch.Tensor.untyped_storage(x)


OTHER_STORAGES = {
    "another's": lambda x: torch.zeros(2 * x.numel()).untyped_storage(),
    "shorter": lambda x: torch.zeros(x.numel() // 2).untyped_storage(),
    "empty": lambda x: torch.empty(0).untyped_storage(),
    "typed": lambda x: torch.Tensor.untyped_storage(x).data_ptr(),
    "object": lambda x: object(),
    "moved": moved,
}


@pytest.mark.parametrize("storage", OTHER_STORAGES.values(), ids=OTHER_STORAGES)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[10:20], lambda x: x[:0]], ids=["whole", "part", "none"])
def test_storage_that_is_not_the_memory(go, storage, view):
    """The storage that is held must contain the function's memory; otherwise no function is called."""
    x = view(torch.arange(1000.0)).as_subclass(Lying)
    calls = []
    x.storage = lambda own: own()
    expected = float(x.sum())
    assert go.call(x, lambda: calls.append(1)) == expected  # makes the plan for the type
    x.storage = lambda own: storage(x)
    if len(x) == 0 and storage is not OTHER_STORAGES["object"] and storage is not OTHER_STORAGES["typed"]:
        assert go.call(x, lambda: calls.append(2)) == 0
        return
    with pytest.raises(BufferError, match=r"untyped_storage\(\) is not the memory .* pass x.detach\(\)"):
        go.call(x, lambda: calls.append(2))
    assert calls == [1]
    x.storage = lambda own: own()
    if storage is not moved:
        assert go.call(x, lambda: calls.append(2)) == expected
        assert x.untyped_storage().resizable()


def test_memory_that_a_mode_moves(go):
    """A mode also intercepts methods of torch's own class."""
    x = torch.ones(1000)
    assert go.call(x, lambda: None) == 1000

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function is torch.Tensor.untyped_storage:
                moved(args[0])
            return function(*args, **(kwargs or {}))

    with Mode(), pytest.raises(BufferError, match="is not the memory"):
        go.call(x, lambda: None)
    assert go.call(x, lambda: None) == 0


@pytest.mark.parametrize("method", ["numpy", "untyped_storage"])
def test_torch_that_says_nothing_of_its_storages(python, go, method):
    """The storage is still held, as far as torch returns it; but changes that move its memory are not refused."""
    script = f"""
import torch, godlpack as gd
go = gd.load_module({go.__file__!r})
method, calls = torch.Tensor.{method}, []
def refusing(self, *args):
    calls.append(len(self))
    if len(self) == 1021:  # what godlpack finds the flag with
        raise RuntimeError("none of yours")
    return method(self, *args)
torch.Tensor.{method} = refusing
x = torch.ones(1000)
assert go.call(x, lambda: x.set_(torch.zeros(5))) == 1000
assert 1021 in calls and len(x) == 5
print(go.call(x, lambda: None))
"""
    assert python(script) == "0.0\n"
