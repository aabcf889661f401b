"""Classes of Go types: construction, methods, attributes, protocols, identity, lifetime, forks, pickles."""

import copy
import gc
import inspect
import multiprocessing
import pickle
import random
import shutil
import signal
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import godlpack as gd
from godlpack import _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

FOLDER = Path(__file__).parent / "testdata" / "classes"


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load(FOLDER)


def rows(n, dim):
    return np.arange(n * dim, dtype="f4").reshape(n, dim)


# ---- construction ----


def test_constructor(go):
    ix = go.Index(3, label="a")
    assert type(ix) is go.Index and isinstance(ix, gd.Object)
    assert (ix.dim, ix.label) == (3, "a")
    assert go.Index(dim=2).label == ""


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "text"),
    [
        ((0,), {}, ValueError, "dim: want at least 1, got 0"),
        ((), {}, TypeError, r"Index\(\) missing argument 'dim'"),
        (("x",), {}, TypeError, r"Index\(\): argument 'dim': want int, got str"),
        ((1, 2), {}, TypeError, r"Index\(\): argument 'label': want str, got int"),
        ((1, "a", 3), {}, TypeError, r"Index.__init__\(\) takes 2 positional arguments but 3 were given"),
        ((1,), {"size": 2}, TypeError, r"Index.__init__\(\) got an unexpected keyword argument 'size'"),
        ((1000,), {}, RuntimeError, "the constructor returned nil"),
    ],
)
def test_constructor_refuses(go, arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        go.Index(*arguments, **keywords)


def test_second_init(go):
    ix = go.Index(3)
    with pytest.raises(RuntimeError, match="has a Go object already"):
        ix.__init__(4)
    assert ix.dim == 3
    with pytest.raises(TypeError, match="want a new object as the first argument"):
        go.Index.__init__(3)
    with pytest.raises(TypeError, match=r"want an object of .*Index.*, got one of .*Circle"):
        go.Index.__init__(go.Circle.__new__(go.Circle), 3)

    with pytest.raises(TypeError, match="want a new object as the first argument"):
        go.Index.__init__()


def test_init_within_init(go):
    """Code of an argument initializes the object: the outer constructor's result is dropped."""
    ix = go.Index.__new__(go.Index)

    class Dim:
        def __index__(self):
            ix.__init__(3)
            return 4

    with pytest.raises(RuntimeError, match="has a Go object already"):
        ix.__init__(Dim())
    assert ix.dim == 3 and ix.itself() is ix


def test_constructor_of_a_known_object(go):
    """Two Python objects that were made as one Go object: Go returns the first, or a new one once that is gone."""
    first, second = go.Only(), go.Only()
    assert go.the_only() is first is not second
    del second
    assert go.the_only() is first
    second = go.Only()
    del first
    third = go.the_only()
    assert type(third) is go.Only and third is not second and go.the_only() is third
    del third, second
    assert type(go.the_only()) is go.Only


def test_none(go):
    """Where the author allows it by default=None."""
    assert go.dim_or(go.Index(3)) == 3 and go.dim_or() == go.dim_or(None) == -1
    assert str(inspect.signature(go.dim_or)) == "(ix=None)"
    for f in (go.two, go.area_of, lambda x: go.dims([x])):
        with pytest.raises(TypeError, match="got None"):
            f(None)


def test_no_constructor(go):
    with pytest.raises(TypeError, match=r"Square has no constructor: call make_square\(\)"):
        go.Square()
    with pytest.raises(TypeError, match="base of classes"):
        gd.Object()


def test_static_method(go):
    assert go.Index.parse("17").dim == 17
    assert go.Index(1).parse("3").dim == 3
    with pytest.raises(RuntimeError, match="expected integer"):
        go.Index.parse("x")


# ---- methods and attributes ----


def test_methods(go):
    ix = go.Index(2)
    ix.add(rows(3, 2))
    ix.add(rows=rows(1, 2), times=2)
    np.testing.assert_array_equal(ix.rows(like=np.ndarray), np.vstack([rows(3, 2)] + [rows(1, 2)] * 2))
    bound = ix.add
    bound(rows(1, 2))
    assert len(ix) == 6
    go.Index.add(ix, rows(1, 2))
    assert len(ix) == 7
    with pytest.raises(RuntimeError, match="another number of elements"):
        ix.add(rows(1, 3))
    with pytest.raises(TypeError, match=r"Index.add\(\): argument 'rows': want float32\[n, d\]"):
        ix.add(3)
    with pytest.raises(TypeError, match=r"Index.add\(\) missing argument 'rows'"):
        ix.add()
    with pytest.raises(RuntimeError, match="on purpose"):
        ix.panic()


@pytest.mark.parametrize("other", [3, None, "x", object(), [1], np.zeros(2)])
def test_not_an_object(go, other):
    with pytest.raises((TypeError, ValueError), match=r"Index.itself\(\): argument 'self': want Index"):
        go.Index.itself(other)


def test_no_object(go):
    with pytest.raises(TypeError, match=r"Index.itself\(\) missing argument 'self'"):
        go.Index.itself()
    with pytest.raises(TypeError, match=r"Index.add\(\) missing argument 'self'"):
        go.Index.add(rows=rows(1, 2))
    assert go.Index.add.__get__(None, go.Index) is go.Index.add


def test_another_class(go):
    with pytest.raises(TypeError, match=r"Index.itself\(\): argument 'self': want Index, got Square"):
        go.Index.itself(go.make_square(1))
    with pytest.raises(TypeError, match=r"dims\(\): argument 'all': element 1: want Index, got Circle"):
        go.dims([go.Index(1), go.Circle(1)])
    with pytest.raises(TypeError, match="want Square or Circle, got Index"):
        go.area_of(go.Index(1))


def test_another_library(go, tmp_path):
    other = gd.load_inline("package other\n\n//godlpack:export\ntype Index struct{ Dim int }\n\n"
                           "//godlpack:new\nfunc New() *Index { return &Index{} }\n\n"
                           "//godlpack:export\nfunc Dim(ix *Index) int { return ix.Dim }\n")  # fmt: skip
    with pytest.raises(TypeError, match=r"dims\(\): .* is a class of another library"):
        go.dims([other.Index()])
    with pytest.raises(TypeError, match=r"dim\(\): .* is a class of another library"):
        other.dim(go.Index(1))


def test_attributes(go):
    ix, other = go.Index(2), go.Index(3)
    for name, value in {
        "label": "ä\0b",
        "key": b"a\0b",
        "names": ["x", ""],
        "scale": 0.5,
        "other": other,
        "ids": [1, -(2**63)],
        "on": True,
        "width": 255,
    }.items():
        setattr(ix, name, value)
        assert getattr(ix, name) == value, name
    assert ix.other is other
    with pytest.raises(AttributeError):
        ix.dim = 5
    with pytest.raises(AttributeError):
        ix.nothing = 5
    with pytest.raises(ValueError, match=r"Index.width\(\): argument 'value': want uint8, got 256"):
        ix.width = 256
    with pytest.raises(TypeError, match=r"Index.label\(\): argument 'value': want str, got int"):
        ix.label = 3
    assert ix.label == "ä\0b"


def test_getter_and_setter(go):
    ix, other = go.Index(2), go.Index(3)
    assert ix.next is None
    ix.next = other
    assert ix.next is other
    with pytest.raises(ValueError, match="not its own next"):
        ix.next = ix
    ix.next = None
    assert ix.next is None
    ix.other = other
    ix.other = None
    assert ix.other is None


# ---- Go's conventions ----


def test_protocols(go):
    ix = go.Index(2, "a")
    ix.add(rows(3, 2))
    assert len(ix) == 3 and str(ix) == repr(ix) == 'Index(2, "a")'
    assert list(ix) == [0, 1, 2, 3, 4, 5] and ix[2] == 2
    ix[2] = 7
    assert 7 in ix and 8 not in ix
    with pytest.raises(IndexError):
        ix[6]
    assert ix == go.Index(2, "a") and ix != go.Index(2, "b") and ix != 3 and ix != "x"
    assert go.Index(1) < go.Index(2) <= go.Index(2) and go.Index(3) > go.Index(2) >= go.Index(1)
    assert sorted(go.Index(n) for n in (3, 1, 2))[2].dim == 3
    with pytest.raises(TypeError):
        assert ix < 3
    assert hash(go.Index(2, "a")) == hash(ix) and {ix: 1}[go.Index(2, "a")] == 1
    assert bool(go.Index(1)) is False  # len() is 0
    assert hash(go.make_square(1)) != hash(go.make_square(1))


def test_close(go):
    with go.Index(2) as ix:
        ix.add(rows(1, 2))
    assert len(ix) == 0
    with pytest.raises(RuntimeError, match="closed already"):
        ix.close()
    with pytest.raises(ZeroDivisionError), go.Index(2) as ix:
        ix.add(rows(1, 2))
        raise ZeroDivisionError


def test_interfaces_and_embedding(go):
    circle, square = go.make_shape(True, 1), go.make_shape(False, 2)
    assert (type(circle), type(square)) == (go.Circle, go.Square)
    assert go.total([circle, square]) == 7 and go.total([]) == 0 and go.area_of(square) == 4
    assert circle.hello() == "hello circle"
    with pytest.raises(TypeError, match=r"classes\.Hidden: export its type"):
        go.make_hidden()


def test_same_address(go):
    """A struct and its first field are two objects."""
    circle = go.Circle(1)
    center = circle.center()
    assert type(center) is go.Inner and circle.center() is center
    center.n = 5
    assert center.n == 5
    a, b = go.Nothing(), go.Nothing()
    del a
    gc.collect()
    assert repr(b)


# ---- identity ----


def test_identity(go):
    ix = go.Index(3)
    assert ix.itself() is ix and ix.itself().itself() is ix
    two, n = go.two(ix)
    assert two is ix and n == 3
    first = id(go.kept())
    assert first == id(None)
    many = go.many(5000)
    assert len(set(map(id, many))) == 5000 and go.dims(many) == list(range(1, 5001))
    assert go.many(0) == [] and go.none() is None
    with pytest.raises(ValueError, match="want a list of Index, got one with nil in it"):
        go.many(-1)


def test_callbacks(go):
    ix = go.Index(3)

    def returns(answer):
        def f(x, pair, n):
            assert x is ix and pair[0] is ix and pair[1] is None and n == 3
            return answer

        return f

    for answer, same in ((ix, True), (go.Index(3), False), (None, False), (3, False)):
        assert ix.call(returns(answer)) is same
    with pytest.raises(TypeError, match="got object"):
        ix.call(lambda *_: object())


# ---- subclasses ----


def test_subclass(go):
    class Named(go.Index):
        def __init__(self, name):
            super().__init__(len(name), name)
            self.name = name

        def shout(self):
            return self.name.upper()

    ix = Named("abc")
    assert ix.shout() == "ABC" and ix.dim == 3 and go.dims([ix]) == [3] and ix.itself() is ix
    assert ix == go.Index(3, "abc") and go.Index(3, "abc") == ix
    kept = ix.next = Named("de")
    assert ix.next is kept and ix.next.name == "de"
    del kept
    assert type(ix.next) is go.Index and ix.next.label == "de"  # Go keeps its part of the object alone
    again = copy.copy(ix)
    assert type(again) is Named and again.name == "abc" and again.label == "abc" and again is not ix

    class Forgets(go.Index):
        def __init__(self):
            pass

    for use in (len, str, lambda x: x.dim, lambda x: go.dims([x])):
        with pytest.raises(RuntimeError, match=r"must call super\(\).__init__\(\)"):
            use(Forgets())


def test_state_of_subclasses(go):
    class Slots(go.Index):
        __slots__ = ("tag",)

    class State(go.Index):
        def __getstate__(self):
            return {"kept": self.kept}

    x = Slots(3, "a")
    x.tag = 1
    for again in (copy.copy(x), copy.deepcopy(x)):
        assert (type(again), again.tag, again.label) == (Slots, 1, "a") and again is not x
    y = State(3)
    y.kept, y.lock = 1, threading.Lock()
    again = copy.copy(y)
    assert again.kept == 1 and not hasattr(again, "lock")


def test_abstract_bases_and_mocks(go):
    class Items(go.Index, Sequence):
        pass

    x = Items(2)
    x.add(rows(1, 2))
    assert x.index(1) == 1 and list(reversed([*x])) == [1, 0] and isinstance(x, Sequence)
    mock = Mock(spec=go.Index)
    assert (x == mock) is False and isinstance(mock, go.Index)
    with pytest.raises(TypeError, match="not supported between"):
        assert x < mock


def test_object_without_init(go):
    ix = go.Index.__new__(go.Index)
    assert repr(ix).startswith("<classes.Index object: Index.__repr__(): ")
    with pytest.raises(RuntimeError, match="has no Go object yet"):
        ix.itself()
    ix.__init__(3)
    assert ix.itself() is ix


# ---- lifetime ----


def alive(go, wanted, patience=5):
    end = time.monotonic() + patience
    while (n := go.guests()) != wanted and time.monotonic() < end:
        time.sleep(0.001)
    return n


def test_dropped(go):
    before = go.guests()
    guests = [go.Guest() for _ in range(1000)]
    assert go.guests() == before + 1000
    del guests
    gc.collect()
    assert alive(go, before) == before


def test_dropped_without_further_calls(go):
    """The list of dropped objects is emptied although nobody calls the library: Go's memory is freed."""
    ref = weakref.ref(guest := go.Guest())
    before = go.guests()
    del guest
    assert ref() is None
    time.sleep(0.2)
    assert go.guests() == before - 1


def test_go_keeps_what_python_dropped(go):
    guest = go.Guest()
    go.keep(guest)
    n = go.guests()
    del guest
    gc.collect()
    assert alive(go, n) == n
    again = go.kept()
    assert type(again) is go.Guest and go.kept() is again
    go.keep(go.Guest())
    del again
    assert alive(go, n) == n


def test_returned_while_it_is_dropped(go):
    """Python drops an object while Go returns it on other threads: it stays what it is."""
    go.keep(go.Guest())
    errors = []

    def take():
        for _ in range(2000):
            guest = go.kept()
            if type(guest) is not go.Guest:
                errors.append(guest)
            del guest

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and type(go.kept()) is go.Guest


def test_cycles_of_python(go):
    class Holds(go.Guest):
        pass

    before = go.guests()
    for _ in range(100):
        x = Holds()
        x.me = x
    del x
    gc.collect()
    assert alive(go, before) == before


def test_failures_leave_nothing(go):
    before = go.guests()
    for _ in range(50):
        with pytest.raises(TypeError):
            go.keep([go.Guest()])
        with pytest.raises(RuntimeError):
            go.Guest().__init__()
    assert alive(go, before) == before


def test_taken_back_while_it_is_freed(go):
    """Weak references' callbacks, attributes' __del__ and __del__ get another Python object than the one that is freed,
    or keep that one alive."""

    class Holds(go.Index):
        pass

    class Attribute:
        def __del__(self):
            found.append(go.watched())

    class Lives(go.Index):
        def __del__(self):
            found.append(self)

    def gone(_):
        found.append(go.watched())

    for make in (lambda: Holds(3), lambda: go.Index(3), lambda: Lives(3)):
        found = []
        ix = make()
        go.watch(ix)
        ref = weakref.ref(ix, gone)
        if type(ix) is Holds:
            ix.attribute = Attribute()
        del ix
        gc.collect()
        assert found and all(x.dim == 3 and x.itself() is x for x in found), found
        assert len({id(x) for x in found}) == 1, "one Python object at a time"
        del ref, found[:]
        gc.collect()
        assert go.watched().dim == 3
    found = []
    go.watch(go.Index(1))


def test_two_bases(go):
    class Both(go.Index, go.Circle):
        def __init__(self):
            go.Index.__init__(self, 3)

    x = Both()
    assert x.dim == 3 and x == go.Index(3) and len(x) == 0
    with pytest.raises(TypeError, match=r"Circle.center\(\): argument 'self': want Circle, got Index"):
        x.center()


def test_random_use(go):
    """Objects in lists, attributes, threads and subclasses, at random; Go's view of each agrees with Python's."""
    rng, known = random.Random(1), {}
    for step in range(5000):
        action = rng.randrange(6)
        if action == 0 or not known:
            ix = go.Index(step + 1001, str(step))
            known[step] = ix
        elif action == 1:
            del known[rng.choice(list(known))]
        elif action == 2:
            a, b = rng.choices(list(known), k=2)
            if a != b:
                known[a].other = known[b]
                assert known[a].other is known[b]
        elif action == 3:
            keys = rng.choices(list(known), k=5)
            assert go.dims([known[k] for k in keys]) == [k + 1001 for k in keys]
        elif action == 4:
            k = rng.choice(list(known))
            assert known[k].itself() is known[k] and known[k].label == str(k)
        else:
            k = rng.choice(list(known))
            other = known[k].other if known[k].dim and rng.random() < 0.5 and known[k].itself() is not None else None
            assert other is None or other.label == str(other.dim - 1001)
            del other


# ---- pickles, processes ----


def test_pickle(go):
    ix = go.Index(3, "a")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(ix, protocol)) == ix
    assert copy.deepcopy([ix, ix]) == [ix, ix]
    a, b = copy.deepcopy([ix, ix])
    assert a is b and a is not ix
    assert pickle.loads(pickle.dumps(go.Index)) is go.Index
    assert pickle.loads(pickle.dumps(ix.add)).__self__ == ix
    assert pickle.loads(pickle.dumps(go.Index.add)) is go.Index.add
    for x in (go.make_square(1), go.Guest()):
        for f in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(
                TypeError, match=r"cannot pickle or copy an object of .*: its Go type has no MarshalBinary"
            ):
                f(x)


def total(ix):
    return ix.dim + len(ix.label)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(go, method):
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(total, [go.Index(n, "ab") for n in range(1, 9)])) == [n + 2 for n in range(1, 9)]


class Dims:
    """A dataset with an object of Go, that of the parent or, with fresh, one that each worker makes."""

    def __init__(self, ix, fresh=None):
        self.ix, self.fresh = ix, fresh

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if self.fresh:
            self.ix, self.fresh = self.fresh(7), None
        return self.ix.dim + i


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_data_loader(go, method):
    torch = pytest.importorskip("torch")
    try:
        signal.signal(signal.SIGCHLD, signal.getsignal(signal.SIGCHLD))
    except ValueError as error:  # pytest runs on one of Go's threads: see internal/embedtest
        pytest.skip(f"a DataLoader sets handlers of signals: {error}")

    def dims(dataset):
        loader = torch.utils.data.DataLoader(dataset, 4, num_workers=1, multiprocessing_context=method)
        return [batch.tolist() for batch in loader]

    wanted = [[7, 8, 9, 10], [11, 12, 13, 14]]
    if method == "fork":  # does not pickle: the workers have the parent's object
        with pytest.raises(RuntimeError, match="was made before this process was forked"):
            dims(Dims(go.Index(7)))
        assert dims(Dims(None, go.Index)) == wanted
    else:
        assert dims(Dims(go.Index(7))) == wanted


CHILD = """
import os, sys
import godlpack as gd
go = gd.load({folder!r})
ix, guest = go.Index(3, "a"), go.Guest()

def refused(f):
    try:
        f()
    except RuntimeError as error:
        assert "was made before this process was forked" in str(error) and "Index" in str(error), error
        return True

if not (pid := os.fork()):
    assert "was made before this process was forked" in repr(ix)
    assert refused(lambda: len(ix)) and refused(lambda: ix.label) and refused(lambda: go.dims([ix]))
    mine = [go.Index(n) for n in range(1, 10)]
    assert go.dims(mine) == list(range(1, 10)) and refused(lambda: go.dims([mine[0], ix]))
    del ix, guest
    assert go.Index(5).itself().dim == 5
    sys.stdout.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert ix.itself() is ix and len(ix) == 0
print("done")
"""


def test_fork(python, go, own_cache):
    assert python(CHILD.format(folder=str(FOLDER))) == "done\n"


def test_fork_between_arguments(python, go):
    """An argument's own code forks: the object before it is refused in the child, not taken for another of its number."""
    script = f"""
import os
import numpy as np, godlpack as gd
go = gd.load({str(FOLDER)!r})
ix = go.Index(2, "parent's")
ix.add(np.ones((1, 2), "f4"))

class Forks:
    def __dlpack__(self, **keywords):
        global child, others
        child = os.fork()
        if not child:
            others = [go.Index(2, "child's") for _ in range(10)]
        return np.ones((1, 2), "f4").__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)

class Plain(Forks):
    def __dlpack__(self, **keywords):
        return np.ones((1, 2), "f4").__dlpack__(**keywords)

ix.add(Plain())  # its type has a plan from now on
Plain.__dlpack__ = Forks.__dlpack__
try:
    ix.add(Plain())
    assert child
except RuntimeError as error:
    assert not child and "was made before this process was forked" in str(error), error
    assert all(len(x) == 0 for x in others)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(len(ix))
"""
    assert python(script) == "3\n"


def test_fork_between_arguments_without_the_library(python, go, tmp_path):
    """An argument's own code forks, called by C as its type has a plan, and the library's file is gone."""
    library = Path(shutil.copy(go.__file__, tmp_path))
    shutil.copy(Path(go.__file__).with_suffix(".json"), tmp_path)
    script = f"""
import os
import numpy as np, godlpack as gd
go = gd.load_module({str(library)!r})
ix = go.Index(2)

class Plain:
    def __dlpack__(self, **keywords):
        return np.ones((1, 2), "f4").__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)

def forks(self, **keywords):
    global child
    child = os.fork()
    if not child:
        os.remove({str(library)!r})
    return np.ones((1, 2), "f4").__dlpack__(**keywords)

ix.add(Plain())
Plain.__dlpack__ = forks
try:
    ix.add(Plain())
except ImportError as error:
    assert not child and "is no longer the file that was opened before" in str(error), error
    os._exit(0)
assert child and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""
    assert python(script) == "done\n"


def test_exit_with_objects(python, go):
    """At the interpreter's end objects are dropped, on the main thread and in threads; nothing waits."""
    script = f"""
import threading
import godlpack as gd
go = gd.load({str(FOLDER)!r})
kept = [go.Guest() for _ in range(1000)]
class Cycle(go.Guest): pass
x = Cycle(); x.me = x
def work():
    while True:
        go.Guest()
threading.Thread(target=work, daemon=True).start()
print("done")
"""
    assert python(script) == "done\n"


# ---- as a Python programmer sees it ----


def test_names(go):
    assert go.Index.__name__ == "Index" and go.Index.__module__ == "classes" and go.Index.__doc__ == "Holds vectors."
    assert repr(go.Index) == "<class 'classes.Index'>"
    assert go.Index.add.__qualname__ == "Index.add" and "Adds rows." in go.Index.add.__doc__
    assert "number of elements" in go.Index.dim.__doc__
    assert str(inspect.signature(go.Index)) == "(dim, label='')"
    assert str(inspect.signature(go.Index.add)) == "(self, rows, times=1)"
    assert str(inspect.signature(go.Index(1).add)) == "(rows, times=1)"
    assert sorted(name for name in go.__all__ if name[0].isupper()) == [
        "Circle", "Guest", "Index", "Inner", "Level", "LostError", "Nothing", "Only", "Part", "Square",
    ]  # fmt: skip
    assert "parse" in dir(go.Index) and "__unmarshal__" not in dir(go.Index)


def test_one_set_of_classes_for_a_library(go):
    """However a library is loaded: objects of one module are those of another."""
    assert gd.load(FOLDER).Index is go.Index
    other = gd.load_module(go.__file__)
    assert other.Index is go.Index and other.none is not go.none
    assert type(other.many(1)[0]) is go.Index and go.dims(other.many(2)) == [1, 2]
