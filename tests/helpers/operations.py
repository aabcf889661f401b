"""Every operation of the package and every kind of call of a Go function, by name: for tests that apply to all of them.

Each is a function without arguments that can be repeated: it changes nothing that the next call uses.
"""

# ruff: noqa: B008 # a default is what an operation works on, made once

import array
import builtins
import copy
import ctypes
import functools
import importlib.util
import operator
import pickle
from datetime import UTC, datetime

import godlpack as gd
from godlpack.testing.records import (
    Allocator,
    ManagedFromPy,
    ManagedToPy,
    Record,
    RecordFromPy,
    Versioned,
    delete_without_gil,
)
from helpers.fakes import Failure, table_of


def plain(x):
    """A form of a result that can be compared between calls: values, not addresses."""
    if isinstance(x, gd.Tensor):
        return str(x.dtype), x.shape, x.readonly, x.tolist()
    if isinstance(x, tuple | list):
        return type(x).__name__, [plain(y) for y in x]
    if isinstance(x, memoryview):
        return x.format, x.shape, x.tobytes()
    if type(x).__name__ == "PyCapsule":
        return plain(gd.from_dlpack(x))
    if hasattr(x, "__dlpack__"):
        return type(x).__name__, plain(gd.from_dlpack(x))
    return x if isinstance(x, int | float | str | bytes | dict | None) else repr(x)


def outcome(operation):
    """How a call ends, in a form that can be compared: a plain result, or the exception's class."""
    try:
        return plain(operation())
    except Exception as error:
        return type(error)


def owned(operation):
    """The objects that an operation uses, and so could leave references to."""
    own = [*(cell.cell_contents for cell in operation.__closure__ or ()), *(operation.__defaults__ or ())]
    return [*own, *map(type, own)]


class Producer:
    """A producer without a table, which takes all arguments of __dlpack__."""

    def __init__(self, t):
        self.t = t

    def __dlpack__(self, **asked):
        return self.t.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


class OldProducer(Producer):
    def __dlpack__(self):
        return self.t.__dlpack__()


class ImmutableProducer(OldProducer):
    pass


class Described:
    def __init__(self, t):
        self.t = t

    @property
    def __array_interface__(self):
        return self.t.__array_interface__


class Number:
    def __index__(self):
        return 3


class Real:
    def __float__(self):
        return 0.5


raising = functools.partial(int, "no int")  # in C: Python code itself fails without memory


def of_tensors():
    t = gd.asarray(array.array("f", range(12))).reshape(3, 4)
    buffer = bytearray(range(12))
    deep = gd.zeros((1,) * 10)  # its exports do not fit into a slot
    narrow = gd.zeros(8, "int4")
    vectors = [gd.zeros(1, f"int8x{n}") for n in range(300, 370)]

    def taken():
        return gd.from_dlpack(t.__dlpack__(max_version=(1, 0)))

    return {
        "empty": lambda: gd.empty((3, 0)),
        "zeros": lambda: gd.zeros((3, 4)),
        "zeros of any int": lambda: gd.zeros(Number()),
        "zeros, a page": lambda: gd.zeros(2000)[:2],
        "zeros, huge pages": lambda: gd.zeros(5 << 20, "uint8")[:2],
        "zeros of a wrong dtype": lambda: gd.zeros(3, "float33"),
        "zeros of a wrong shape": lambda: gd.zeros((3, -1)),
        "full": lambda: gd.full((3, 4), 1.5),
        "full of a complex": lambda: gd.full(3, 1j, "complex64"),
        "full of a large int": lambda: gd.full(3, 2**64 - 1, "uint64"),
        "full of what does not fit": lambda: gd.full(3, 2**70, "uint64"),
        "from_dlpack of ours": lambda: gd.from_dlpack(t),
        "from_dlpack by method": lambda p=Producer(t): gd.from_dlpack(p),
        "from_dlpack by an old method": lambda p=OldProducer(t): gd.from_dlpack(p),
        "from_dlpack, a copy": lambda p=Producer(t): gd.from_dlpack(p, copy=True),
        "from_dlpack, a copy of ours": lambda: gd.from_dlpack(t, copy=True),
        "from_dlpack, on cpu": lambda p=Producer(t): gd.from_dlpack(p, device="cpu", copy=False),
        "from_dlpack of a capsule": lambda: gd.from_dlpack(t.__dlpack__()),
        "from_dlpack of a versioned capsule": lambda: gd.from_dlpack(t.__dlpack__(max_version=(1, 0))),
        "from_dlpack of what is none": lambda: gd.from_dlpack(5),
        "from_dlpack, which raises": lambda p=type("P", (), {"__dlpack__": staticmethod(raising)})(): gd.from_dlpack(p),
        "asarray of a buffer": lambda: gd.asarray(buffer),
        "asarray of bytes": lambda: gd.asarray(b"abc"),
        "asarray of an array": lambda a=array.array("d", [1, 2]): gd.asarray(a),
        "asarray of an array interface": lambda d=Described(t): gd.asarray(d),
        "asarray, a copy": lambda: gd.asarray(buffer, copy=True),
        "asarray as a dtype": lambda: gd.asarray(buffer, dtype="float32"),
        "asarray of text": lambda: gd.asarray("abc"),
        "__dlpack__": lambda: t.__dlpack__(),
        "__dlpack__, versioned": lambda: t.__dlpack__(max_version=(1, 3)),
        "__dlpack__ of ten dimensions": lambda: deep.__dlpack__(max_version=(1, 3)),
        "__dlpack__ twice": lambda: (t.__dlpack__(), t.__dlpack__(max_version=(1, 3))),
        "__dlpack__ of what is taken": lambda: gd.from_dlpack(t.__dlpack__()).__dlpack__(),
        "__dlpack__ of what is taken as it is": lambda: taken().__dlpack__(),
        "__dlpack__ of what is taken, versioned": lambda: taken().__dlpack__(max_version=(1, 0)),
        "index of what is taken": lambda: taken()[0],
        "__dlpack__, a copy": lambda: t.__dlpack__(max_version=(1, 0), copy=True),
        "__dlpack__ to a wrong device": lambda: t.__dlpack__(dl_device=(2, 0)),
        "__dlpack_device__": lambda: t.__dlpack_device__(),
        "__array_interface__": lambda: t.__array_interface__,
        "__cuda_array_interface__": lambda: t.__cuda_array_interface__,
        "__arrow_c_array__": lambda a=gd.zeros(300): [type(x).__name__ for x in a.__arrow_c_array__()],
        "__arrow_c_array__ of what is taken": lambda line=t.reshape(12): [
            type(x).__name__ for x in gd.from_dlpack(line.__dlpack__(max_version=(1, 0))).__arrow_c_array__()
        ],
        "memoryview": lambda: memoryview(t),
        "memoryview that is refused": lambda r=t.T: bytes(memoryview(r).cast("B")),
        "astype": lambda: t.astype("int8"),
        "astype of what is no dtype": lambda: t.astype(5),
        "tolist": lambda: t.tolist(),
        "item": lambda x=t[0, 1]: x.item(),
        "repr": lambda: repr(t),
        "index": lambda: t[1:, ::2],
        "index by ints": lambda: t[2, -1],
        "index by all": lambda: t[None, ..., 0],
        "index out of bounds": lambda: t[7],
        "index by text": lambda: t["a"],
        "iter": lambda: list(t),
        "T": lambda: t.T,
        "reshape": lambda: t.reshape(-1, 6),
        "reshape that needs a copy": lambda: t.T.reshape(12),
        "reshape to what does not fit": lambda: t.reshape(5),
        "permute": lambda: t.permute(1, 0),
        "contiguous": lambda: t.T.contiguous(),
        "is_contiguous": lambda: t.is_contiguous("F"),
        "copy": lambda: t.copy(),
        "copy.deepcopy": lambda: copy.deepcopy(t),
        "to cpu": lambda: t.to("cpu"),
        "to what is none": lambda: t.to(int),
        "pickle": lambda: pickle.loads(pickle.dumps(t)),
        "pickle, out of band": lambda: t.__reduce_ex__(5)[1:],
        "pickle, old": lambda: pickle.loads(pickle.dumps(t, 2)),
        "shape and strides": lambda: (t.shape, t.strides, t.size, t.nbytes),
        "shape of many": lambda x=gd.zeros((300, 400)): (x.shape, x.strides),
        "dtype and device": lambda: (t.dtype, t.device),
        "DType": lambda: gd.DType("float8_e4m3fn"),
        "DType of many": lambda: [gd.DType(f"int8x{n}") for n in (2, 3, 5)],
        "DType of very many": lambda: [gd.DType(f"int8x{n}") for n in range(300, 370)],
        "dtypes of very many": lambda: [x.dtype.name for x in vectors],
        "DType == ": lambda: (gd.DType("int8") == "int8", gd.DType("int8") != 5),
        "DType of what is none": lambda: gd.DType("?"),
        "pickle of a DType": lambda d=gd.DType("int8"): pickle.loads(pickle.dumps(d)),
        "Device": lambda: gd.Device("cuda:3"),
        "Device of two": lambda: gd.Device(2, 1),
        "Device ==": lambda: gd.Device("cpu") == "cpu",
        "Device of what is none": lambda: gd.Device("moon"),
        "repr of a Device": lambda: repr(gd.Device("cpu")),
        "set_num_threads": lambda: (gd.set_num_threads(300), gd.set_num_threads(None)),
        "get_build_info": lambda: gd.get_build_info()["godlpack"],
        "wrong keyword": lambda: gd.zeros(3, nothing=1),
        "wrong count": lambda: t.copy(1),
        **of_the_table(t),
        **{f"{name}, narrow": call for name, call in of_the_table(narrow).items()},
    }


def of_the_table(t):
    """Calls of the exchange table's functions."""
    ours = table_of(gd.Tensor)

    def lend(slot=ManagedFromPy(ours.managed_from_py)):
        out = ctypes.c_void_p()
        slot(t, ctypes.byref(out))
        return Versioned.from_address(out.value)

    def take(slot=ManagedToPy(ours.managed_to_py)):
        managed, out = lend(), ctypes.c_void_p()
        try:
            slot(ctypes.addressof(managed), ctypes.byref(out))
        except BaseException:
            delete_without_gil(managed)
            raise
        x = ctypes.cast(out, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(x))
        return x

    failure = Failure()

    def made(shape, slot=Allocator(ours.allocator)):
        out, extents = ctypes.c_void_p(), (ctypes.c_int64 * len(shape))(*shape)
        prototype = Record(None, (1, 0), len(shape), (2, 32, 1), extents, None, 0)
        rc = slot(ctypes.byref(prototype), ctypes.byref(out), None, failure.function)
        if rc != 0:
            raise getattr(builtins, failure.said.pop()[1])
        delete_without_gil(Versioned.from_address(out.value))
        return rc

    return {
        "table, lend": lambda: delete_without_gil(lend()),
        "table, take": take,
        "table, show": lambda slot=RecordFromPy(ours.record_from_py): slot(t, ctypes.byref(Record())),
        "table, allocate": lambda: made((3, 4)),
        "table, allocate a page": lambda: made((2000,)),
        "table, allocate huge pages": lambda: made((2 << 20,)),
        "table, allocate what cannot be": lambda: made((-1,)),
    }


def of_framework(name, x, like, immutable=False):
    """Exchange with one framework: x is an array of its type like."""
    t = gd.full((2, 3), 1.5)
    operations = {
        "from_dlpack": lambda: gd.from_dlpack(x),
        "from_dlpack, a copy": lambda: gd.from_dlpack(x, copy=True),
        "from_dlpack of a capsule": lambda: gd.from_dlpack(x.__dlpack__()),
        "asarray": lambda: gd.asarray(x),
        "asarray as a dtype": lambda: gd.asarray(x, dtype="int32"),
        "to type": lambda: t.to(like),
        "to array": lambda: t.to(x),
        "from_dlpack of ours": lambda module=importlib.import_module(name): getattr(
            module, "dlpack", module
        ).from_dlpack(t),
    }
    if not immutable:
        operations["to type, read-only"] = lambda r=gd.asarray(b"abcd"): r.to(like)
    return {f"{name}: {operation}": call for operation, call in operations.items()}


def of_numpy(np):
    a = np.arange(6, dtype="float32").reshape(2, 3)
    swapped = a.astype(">f4")
    return {
        **of_framework("numpy", a, np.ndarray),
        "numpy: full of a scalar": lambda one=np.float32(1): gd.full(3, one),
        "numpy: dtype of a class": lambda: gd.DType(np.float32),
        "numpy: dtype": lambda d=np.dtype("int16"): gd.DType(d),
        "numpy: DType ==": lambda d=np.dtype("int16"): gd.DType("int16") == d,
        "numpy: strided": lambda: gd.from_dlpack(a[:, ::2]),
        "numpy: another byte order": lambda: gd.from_dlpack(swapped),
        "numpy: strides that DLPack cannot say": lambda s=np.zeros(3, "u1,f4")["f1"]: gd.from_dlpack(s),
        "numpy: a copy of those": lambda s=np.zeros(3, "u1,f4")["f1"]: gd.from_dlpack(s, copy=True),
        "numpy: masked": lambda m=np.ma.masked_array([1.0]): gd.from_dlpack(m),
        "numpy: a subclass": lambda s=a.view(type("Sub", (np.ndarray,), {})): gd.from_dlpack(s),
        "numpy: asarray of ours": lambda t=gd.full(3, 2): np.asarray(t),
        "numpy: to bfloat16": lambda t=gd.zeros(2, "bfloat16"): repr(t.to(np.ndarray)),
    }


def of_torch(torch):
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    conjugate = torch.tensor([1j, 2]).conj()
    grad = torch.ones(2, requires_grad=True)
    return {
        **of_framework("torch.utils.dlpack", x, torch.Tensor),
        "torch: dtype": lambda: gd.DType(torch.bfloat16),
        "torch: complex": lambda c=torch.tensor([1j, 2]): gd.from_dlpack(c),
        "torch: of one element": lambda one=torch.tensor(1.5): gd.from_dlpack(one),
        "torch: conjugate": lambda: gd.from_dlpack(conjugate),
        "torch: requires grad": lambda: gd.from_dlpack(grad),
        "torch: a parameter": lambda p=torch.nn.Parameter(x, requires_grad=False): gd.from_dlpack(p),
        "torch: nine dimensions": lambda x=torch.ones((1,) * 9): gd.from_dlpack(x),
        "torch: to type, of what is taken": lambda t=gd.zeros(3): gd.from_dlpack(t.__dlpack__(max_version=(1, 0))).to(
            torch.Tensor
        ),
        "torch: to a negative stride": lambda t=gd.zeros(3)[::-1]: t.to(torch.Tensor),
    }


def in_turns(s, x):
    """A call while another greenlet waits in a callback of the same library; then the other call is resumed."""
    import greenlet

    hub = greenlet.getcurrent()
    other = greenlet.greenlet(lambda: s.apply(lambda a, n, b, c: hub.switch() or a, x))
    other.switch()
    try:
        return s.apply(lambda a, n, b, c: a, x), None if other.dead else other.switch()
    finally:
        other.throw() if not other.dead else None


def of_functions(s, x, name, like):
    """Calls of the sample library's functions with the arrays of one framework."""
    y, wrong = gd.from_dlpack(x).copy(), gd.zeros(2, "int8")
    written = s.softmax(x)
    writes = not gd.from_dlpack(written).readonly
    calls = {
        "nop": lambda: s.nop(x, x, x),
        "one output": lambda: s.softmax(x),
        "an output of Go's memory": lambda: s.tail(x),
        "an output of a page": lambda large=gd.zeros(5000).to(like): gd.from_dlpack(s.softmax(large))[0].item(),
        "two outputs": lambda: s.split(x),
        "three dimensions": lambda: s.outer(x, x),
        "an argument returned": lambda: s.echo(x) is x,
        "a list of tensors": lambda: s.doubled([x, y]),
        "numbers of tensors": lambda: s.totals((x, x)),
        "numbers of many tensors": lambda: s.totals([x] * 40),
        "nine dimensions": lambda deep=gd.zeros((1,) * 9).to(like): s.nop(deep, deep, deep),
        "by a keyword": lambda: s.softmax(x=x),
        "like": lambda: s.softmax(y, like=like),
        "like an array": lambda: s.softmax(y, like=x),
        "like, without tensors": lambda: s.zeros(3, like=like),
        "a callback": lambda: s.apply(lambda a, n, b, c: a, x),
        "a callback that raises": lambda: s.apply(raising, x),
        "wrong dtype": lambda: s.softmax(wrong),
        "converted": lambda: s.total(wrong),
    }
    if importlib.util.find_spec("greenlet"):
        calls["a call while another greenlet waits"] = lambda: in_turns(s, x)
    if writes:
        calls |= {
            "written": lambda: s.saxpy(0.0, y, x),
            "written by a list": lambda: s.scale([x], 1.0),
            "out": lambda: s.softmax(x, out=written) is written,
            "out, and filled": lambda: (
                s.softmax(written, out=written) is written and s.softmax(x, out=written) is written
            ),
            "two outs": lambda: s.split(x, out=(s.tail(x), s.zeros(1, like=like))),
            "two outs in a list": lambda: s.split(x, out=[s.tail(x), s.zeros(1, like=like)]),
            "wrong out": lambda: s.softmax(x, out=wrong),
        }
    return {f"function: {name}: {call}": do for call, do in calls.items()}


def of_scalars(s):
    """Calls of the sample library's functions without arrays."""
    t = gd.asarray(array.array("f", [1, 2, 4]))
    return {
        "function: no result": lambda: s.panics.__name__,
        "function: ints": lambda: s.divmod(17),
        "function: ints by name": lambda: s.divmod(17, b=5),
        "function: any int": lambda: s.divmod(Number()),
        "function: any float": lambda: s.scale([], Real()),
        "function: texts": lambda: s.join(["a", "b"], "é"),
        "function: a list of texts": lambda: s.words("a b c"),
        "function: bytes": lambda: s.reversed(b"abc"),
        "function: bools": lambda: s.every([True, False]),
        "function: None": lambda: s.given(None),
        "function: nothing": lambda: s.given(),
        "function: a dtype": lambda: s.bits(gd.DType("int8")),
        "function: a device": lambda: s.zeros(2, gd.Device("cpu")),
        "function: dtype and device returned": lambda: s.where(t),
        "function: by method": lambda p=Producer(t): s.tail(p),
        "function: by an old method": lambda p=OldProducer(t): s.tail(p),
        "function: by buffer": lambda a=array.array("f", [1, 2]): s.tail(a),
        "function: by an array interface": lambda d=Described(t): s.tail(d),
        "function: a method that raises": lambda p=type("P", (), {"__dlpack__": staticmethod(raising)})(): s.tail(p),
        "function: a lone surrogate": lambda: s.words("\ud800"),
        "function: too large an int": lambda: s.divmod(2**64),
        "function: too many arguments": lambda: s.divmod(1, 2, 3),
        "function: too few arguments": lambda: s.divmod(),
        "function: a wrong keyword": lambda: s.divmod(1, c=2),
        "function: a wrong object": lambda: s.divmod(object()),
        "function: an error": lambda: s.divmod(1, 0),
        "function: an error by name": lambda: s.raise_error("IndexError"),
        "function: a panic": lambda: s.panics(),
        "function: too much memory": lambda: s.too_large(),
        "function: repr": lambda: repr(s.divmod),
        "function: signature": lambda: str(s.divmod.__signature__),
        "function: documentation": lambda: (s.divmod.__doc__, s.divmod.__name__, s.divmod.__module__),
        "function: pickle": lambda: pickle.loads(pickle.dumps(s.divmod)) is s.divmod,
        "function: call of a call": lambda: operator.call(s.divmod, 7, 2),
    }


def of_ten_arguments(f, path):
    """Calls with more arguments, or larger ones, than a frame has room for. f is the module of testdata/functions.c."""
    described = ("f", "f", "m", "d", "()", ("x",), 0, 0, False, None)
    t = gd.zeros((1,) * 9)
    return {
        "function: nine arguments": lambda: f.tell9(*[t, 1, "a", b"b", None, [1, [2.5]], True, t, t]),
        "function: made": lambda: gd._core._function(path, print, 0, *described).__name__,
        "function: declarations": lambda: len(gd._core._declarations(path, lambda *_: None)),
        "function: many": lambda: f.tell([list(range(200))] * 5),
        "function: more than there is room for": lambda: f.many(*[[i] for i in range(65)]),
        "function: an output from the allocator": lambda: f.empty_like(t),
        "function: outputs, the second after the first": lambda: f.two(t),
    }


def of_classes(go):
    """Objects of the Go types in testdata/classes."""
    ix, kept, rows = go.Index(3, "a"), go.Index(2, "kept"), gd.full((2, 3), 1.5)
    ix.other = ix.next = kept
    Named = type("Named", (go.Index,), {})  # noqa: N806
    named = Named(3, "named")
    named.state = "of Python"
    square = go.make_square(2)
    part = {"level": 1, "since": datetime(2026, 1, 1, tzinfo=UTC), "notes": {"a": [1.5, None, {"b": b"c"}]}}

    def filled():
        new = go.Index(3)
        new.add(rows)
        return new

    calls = {
        "made": lambda: go.Index(3, "a"),
        "made by keywords": lambda: go.Index(dim=3, label="a"),
        "made, of a subclass": lambda: Named(3, "a"),
        "made, which raises": lambda: go.Index(0),
        "made, of nothing": lambda: go.Index(1000),
        "made, of wrong arguments": lambda: go.Index("3"),
        "made, the same": lambda: type(go.Only()).__name__,
        "made a second time": lambda: ix.__init__(3),
        "made of another class": lambda: go.Index.__init__(go.Circle.__new__(go.Circle), 3),
        "made of no object": lambda: go.Index.__init__(3),
        "without a constructor": lambda: go.Square(),
        "returned": lambda: go.Index.parse("3"),
        "returned again": lambda: ix.itself() is ix,
        "returned while it is new": lambda: go.Index(3, "a").itself(),
        "returned as an interface": lambda: type(go.make_shape(True, 1)).__name__,
        "returned as one of two": lambda: go.two(go.Index(4)),
        "returned in a list": lambda: go.many(3),
        "returned in a long list": lambda: len(go.many(30)),
        "returned in a list with nil": lambda: go.many(-1),
        "returned, of a type without a class": lambda: go.make_hidden(),
        "passed": lambda: go.dim_or(ix),
        "passed in a list": lambda: go.dims([ix, kept, named]),
        "passed in a tuple": lambda: go.dims((ix, go.Index(7))),
        "passed as an interface": lambda: go.total([square, go.make_square(3)]),
        "passed by a keyword": lambda: go.dim_or(ix=ix),
        "passed as the wrong class": lambda: go.dims([ix, square]),
        "passed without a Go object": lambda x=go.Index.__new__(go.Index): go.dims([x]),
        "passed as None": lambda: go.dims([None]),
        "a method": lambda: len(filled()),
        "a method by the class": lambda: go.Index.itself(ix) is ix,
        "a method of something else": lambda: go.Index.itself(3),
        "a method without an object": lambda: go.Index.itself(),
        "a method that panics": lambda: ix.panic(),
        "a bound method": lambda: ix.itself.__self__ is ix,
        "a static method": lambda: ix.parse("17").dim,
        "a tensor of a method": lambda: filled().rows(like=gd.Tensor),
        "an attribute": lambda: (ix.dim, ix.label, ix.names, ix.ids, ix.scale),
        "an attribute, set": lambda: (setattr(ix, "label", "b"), setattr(ix, "names", ["x", "y"]), ix.label, ix.names),
        "an attribute, set to what is wrong": lambda: setattr(ix, "width", 256),
        "an attribute that is an object": lambda: ix.other is kept,
        "an attribute, set to an object": lambda: (setattr(kept, "other", ix), kept.other is ix),
        "a getter and a setter": lambda: (setattr(kept, "next", ix), kept.next is ix),
        "a setter that raises": lambda: setattr(ix, "next", ix),
        "an element": lambda: (filled()[1], 1.5 in filled()),
        "elements": lambda: list(filled()),
        "repr": lambda: (repr(kept), str(named)),
        "comparisons": lambda: (kept == go.Index(2, "kept"), kept < ix, kept != 3, hash(kept) == hash(ix)),
        "a callback": lambda: ix.call(lambda x, pair, n: x),
        "a callback that returns a new one": lambda: ix.call(lambda x, pair, n: go.Index(5)),
        "a callback that raises": lambda: ix.call(raising),
        "kept by Go": lambda: (go.watch(go.Index(3, "a")), go.watched(), go.watch(kept))[1],
        "copy": lambda: copy.copy(named).state,
        "pickle": lambda: pickle.loads(pickle.dumps(kept)) == kept,
        "pickle of what has none": lambda: pickle.dumps(square),
        "pickle of a bound method": lambda: pickle.loads(pickle.dumps(kept.itself)).__self__ == kept,
        "dropped within a cycle": lambda: setattr(x := Named(1), "me", x),
        "an exported error": lambda: go.lose(""),
        "an error of a file": lambda: go.lose("/no/such/file"),
        "a number, in place": lambda: [ix.dim for _ in range(3)],
        "a number of a new object, in place": lambda: [new.dim for new in [go.Index(4)] for _ in range(3)],
        "memory of Go": lambda: filled().memory(like=gd.Tensor),
        "values": lambda: go.parts({"a": [part, part], "b": []})[0],
        "options": lambda: go.set("a", "b", level=go.Level.HIGH, weights=rows[0], names=["c"]),
        "an iterator": lambda: list(go.upto(5)),
        "an iterator that is left": lambda: next(go.upto(5)),
        "options by default": lambda: go.set(),
        "options that there are not": lambda: go.set(levels=1),
        "variadic": lambda: go.set(*map(str, range(30)))[1][29:],
        "an array as a list": lambda: go.sum(gd.asarray(array.array("b", [1, 2, -4]))),
        "a module": lambda: gd.load_module(go.__file__, package="classes").Index is go.Index,
    }
    return {f"object: {call}": do for call, do in calls.items()}


def all_operations(sample=None, functions=None, classes=None, frameworks=("numpy", "torch", "jax", "tvm_ffi")):
    """sample, functions, classes: the modules of these libraries, if there are any."""
    made = of_tensors()
    arrays = {"godlpack": (gd.asarray(array.array("f", [1, 2, 4])), gd.Tensor)}
    there = [name for name in frameworks if importlib.util.find_spec(name)]
    if "numpy" in there:
        import numpy as np

        made |= of_numpy(np)
        arrays["numpy"] = np.array([1, 2, 4], "float32"), np.ndarray
    if "torch" in there:
        import torch

        made |= of_torch(torch)
        arrays["torch"] = torch.tensor([1.0, 2.0, 4.0]), torch.Tensor
    if "jax" in there:
        import jax

        made["jax: by an old method"] = lambda p=ImmutableProducer(jax.numpy.ones(3)): gd.from_dlpack(p)
        arrays["jax"] = jax.numpy.array([1, 2, 4], "float32"), jax.Array
        made |= of_framework("jax", arrays["jax"][0], jax.Array, immutable=True)
    if "tvm_ffi" in there:
        import tvm_ffi

        arrays["tvm_ffi"] = tvm_ffi.from_dlpack(gd.full(3, 1)), tvm_ffi.Tensor
        made |= of_framework("tvm_ffi", arrays["tvm_ffi"][0], tvm_ffi.Tensor)
    if sample:
        made |= of_scalars(sample)
        for name, (x, like) in arrays.items():
            made |= of_functions(sample, x, name, like)
    if functions:
        made |= of_ten_arguments(functions, functions.__file__)
    return made | (of_classes(classes) if classes else {})
