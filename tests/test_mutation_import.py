"""Objects whose own Python code changes or drops their class, memory or names while they are imported."""

import contextlib
import gc
import weakref

import pytest

import godlpack as gd
from helpers.fakes import FakeTensor, Producer, fake_table, publish

np = pytest.importorskip("numpy")

IMPORTERS = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "copy": lambda x: gd.from_dlpack(x, copy=True),
    "no copy": lambda x: gd.asarray(x, copy=False),
    "device": lambda x: gd.from_dlpack(x, device="cpu"),
    "dtype": lambda x: gd.asarray(x, dtype="float64"),
}
importers = pytest.mark.parametrize("importer", IMPORTERS.values(), ids=IMPORTERS)


class Other:
    """The class that objects change to."""

    def __dlpack__(self, **keywords):
        return FakeTensor().capsule()


def collect():
    for _ in range(2):
        gc.collect()
    return [bytearray(500) for _ in range(100)]  # overwrites freed memory


def turn(x):
    """Changes the class of x, which drops its old class."""
    before = weakref.ref(type(x))
    x.__class__ = Other
    collect()
    return before


def fresh(bodies, base=object):
    """An object of a class with no other references."""
    return type("Fresh" * 50, (base,), bodies)()


def answers(answer):
    """A __dlpack__ that drops its object's class before it returns."""

    def method(self, **keywords):
        turn(self)
        return answer()

    return method


def raises(error):
    def answer():
        raise error

    return answer


ANSWERS = {
    "capsule": lambda: FakeTensor().capsule(),
    "legacy": lambda: FakeTensor(legacy=True).capsule(),
    "bad capsule": lambda: FakeTensor(ndim=-1).capsule(),
    "used capsule": lambda: FakeTensor().capsule("used_dltensor_versioned"),
    "no capsule": lambda: None,
    "numpy": lambda: np.arange(3.0).__dlpack__(),
    "TypeError": raises(TypeError("my own")),
    "BufferError": raises(BufferError("my own")),
    "KeyError": raises(KeyError("my own")),
}


def attempt(importer, x):
    """The imported tensor, or the text of the error."""
    try:
        t = importer(x)
    except (BufferError, TypeError, ValueError, KeyError, AttributeError) as e:
        return str(e)
    assert t.size <= 16 and t.tolist() is not None
    return t


@importers
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_class_that_goes_in_its_method(importer, answer):
    for _ in range(3):
        attempt(importer, fresh({"__dlpack__": answers(answer)}))


@importers
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_class_that_goes_when_asked_for_its_device(importer, answer):
    def where(self):
        turn(self)
        return 2, 0

    for _ in range(2):
        x = fresh({"__dlpack_device__": where, "__dlpack__": lambda self, **keywords: answer()})
        attempt(importer, x)


@importers
@pytest.mark.parametrize(
    "name", ["__dlpack__", "__dlpack_device__", "requires_grad", "__array_interface__", "dtype", "mask"]
)
def test_class_that_goes_when_an_attribute_is_read(importer, name):
    """By a property of the class, and by __getattribute__."""

    def read(self):
        turn(self)
        raise AttributeError(name)

    def look(self, attribute):
        if attribute == name and type(self) is not Other:
            turn(self)
        return object.__getattribute__(self, attribute)

    plain = {
        "__dlpack__": lambda self, **keywords: FakeTensor().capsule(),
        "is_conj": False,
        "is_neg": False,
        "requires_grad": False,
    }
    for bodies in ({**plain, name: property(read)}, {**plain, "__getattribute__": look}):
        for _ in range(2):
            attempt(importer, fresh(bodies))


@importers
def test_class_that_goes_in_its_table(importer):
    """R62, R67: the table of a class that no longer exists."""

    def export(x, out):
        turn(x)
        return -1

    def good(x, out):
        fake = x.fake
        turn(x)
        fake.exported += 1
        out[0] = fake.address
        return 0

    for slot in (export, good):
        for _ in range(2):
            cls = publish(fake_table(from_py=slot), base=Movable)
            x = cls()
            x.fake = FakeTensor()
            del cls
            with np.errstate():
                attempt(importer, x)


class Movable(Producer):
    def __init__(self):
        self.calls = []


@importers
def test_array_interface_that_goes(importer):
    def described(self):
        memory = self.memory
        turn(self)
        return memory.__array_interface__

    for _ in range(3):
        x = fresh({"__array_interface__": property(described)})
        x.memory = np.arange(3.0)
        t = attempt(importer, x)
        if isinstance(t, gd.Tensor):
            assert t.tolist() == [0.0, 1.0, 2.0]


class Evil:
    """A number whose __index__ runs an action first."""

    def __init__(self, n, action):
        self.n, self.action = n, action

    def __index__(self):
        self.action()
        return self.n


def test_dict_that_empties_itself():
    memory = np.arange(6.0)
    interface = {}

    def clear():
        interface.clear()
        collect()

    class Array:
        __array_interface__ = interface

    for name, value in (
        ("shape", (Evil(2, clear), 3)),
        ("strides", (Evil(24, clear), 8)),
        ("data", (memory.ctypes.data, Evil(0, clear))),
    ):
        for shape in ((2, 3), [2, 3]):
            interface.update({**memory.reshape(2, 3).__array_interface__, "shape": shape, name: value})
            t = attempt(gd.asarray, Array())
            assert isinstance(t, str) or t.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "call",
    [
        lambda t, i: t[i],
        lambda t, i: t[i, i],
        lambda t, i: t[i:, ::i],
        lambda t, i: t.reshape(i, 6),
        lambda t, i: t.reshape([6, i]),
        lambda t, i: t.permute(i, 0),
        lambda t, i: gd.full((i, i), 1),
        lambda t, i: gd.zeros([i, i]),
        lambda t, i: t.__dlpack__(max_version=(i, i)),
        lambda t, i: t.__dlpack__(dl_device=(i, 0)),
        lambda t, i: t.__dlpack__(stream=i),
        lambda t, i: gd.Device(i, i),
    ],
)
def test_indices_that_drop_everything(call):
    """The tensor, and the list with an index, are dropped while the index is read."""
    box = []

    def drop():
        box.clear()
        collect()

    for n in (1, 2, -1):
        box.append(gd.from_dlpack(FakeTensor((3, 4)).capsule()))
        with contextlib.suppress(IndexError, ValueError, BufferError, TypeError):
            call(box[0], Evil(n, drop))
    shape = [Evil(1, lambda: shape.clear()), 2, 3]
    assert gd.zeros(shape).shape == (1, 2, 3)


def test_names_that_drop_everything():
    class Name(str):
        def __eq__(self, other):
            box.clear()
            collect()
            return NotImplemented

        __hash__ = str.__hash__

    for name in ("float32", "cpu", "nothing"):
        for make in (gd.DType, gd.Device):
            box = [make("int8" if make is gd.DType else "cuda:1")]
            assert (box[0] == Name(name)) is False
            box = [make("int8" if make is gd.DType else "cuda:1")]
            assert (Name(name) == box[0]) is False


def test_arrays_that_change_while_they_are_taken():
    """A subclass whose dtype is a property that changes the shape: the array's final state counts."""

    class Array(np.ndarray):
        @property
        def dtype(self):
            view = self.view(np.ndarray)
            if view.shape == (6,):
                self.shape = (2, 3)
            return np.ndarray.dtype.__get__(self)

    for importer in IMPORTERS.values():
        x = np.arange(6.0).view(Array)
        t = importer(x)
        assert t.size == 6 and sorted(t.reshape(6).tolist()) == list(range(6))


@importers
def test_producer_that_replaces_its_class_s_method(importer):
    """R49: later objects use the new method."""

    def later(self, **keywords):
        return FakeTensor((2,)).capsule()

    def first(self, **keywords):
        type(self).__dlpack__ = later
        collect()
        return FakeTensor((3,)).capsule()

    for _ in range(3):
        cls = type("Fresh", (), {"__dlpack__": first})
        assert importer(cls()).shape == (3,)
        assert importer(cls()).shape == importer(cls()).shape == (2,)
        del cls.__dlpack__
        with pytest.raises((AttributeError, TypeError)):
            importer(cls())
