"""The same calls to godlpack and to numpy or torch, compared one by one.

The array API standard (2024.12) specifies `__dlpack__`, `__dlpack_device__` and `from_dlpack`, and numpy is its
reference here; for torch tensors it is torch's documentation of `torch.from_dlpack`. A point is one call, made to both
libraries. Its outcome is the observable result: name, device, flags, memory, values, or the class of the error. The
outcomes are equal, or DIFFERENCES has both outcomes and the reason for the difference: a change of either fails the
test.
"""

import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

import godlpack as gd
from godlpack.testing.records import Legacy, name_of
from helpers.fakes import FakeTensor, managed_in

np = pytest.importorskip("numpy")
NUMPY = tuple(map(int, np.__version__.split(".")[:2]))


class Capsule(NamedTuple):
    """A result of __dlpack__."""

    name: str
    device: tuple
    memory: str  # "shared", "new" or "NULL"
    flags: int | None  # a legacy capsule has none
    values: object


class Array(NamedTuple):
    """A result of from_dlpack."""

    shape: tuple
    dtype: str
    memory: str
    writable: bool
    values: object


class Difference(NamedTuple):
    theirs: object
    ours: object
    reason: str


DIFFERENCES: dict[str, Difference] = {}


def differ(reason: str, points: dict[str, tuple]) -> None:
    """Records points that differ for one reason, with the other library's outcome and godlpack's."""
    for point, (theirs, ours) in points.items():
        assert point not in DIFFERENCES
        DIFFERENCES[point] = Difference(theirs, ours, reason)


# ---- outcomes ----


def address(x) -> int:
    """Address of the first element, for an array of any of the three libraries."""
    if isinstance(x, np.ndarray):
        return x.__array_interface__["data"][0]
    return x.data_ptr if isinstance(x, gd.Tensor) else x.data_ptr()


def memory(found: int, x) -> str:
    return "NULL" if not found else "shared" if found == address(x) else "new"


def of_capsule(capsule, x) -> Capsule:
    managed = managed_in(capsule)
    record = managed.tensor
    place = memory((record.data or 0) + record.byte_offset, x)
    flags = None if isinstance(managed, Legacy) else managed.flags
    return Capsule(name_of(capsule), record.device_pair(), place, flags, gd.from_dlpack(capsule).tolist())


def of_array(made, x) -> Array:
    writable = made.flags.writeable if isinstance(made, np.ndarray) else not getattr(made, "readonly", False)
    dtype = str(made.dtype).removeprefix("torch.")
    return Array(tuple(made.shape), dtype, memory(address(made), x), writable, made.tolist())


def outcome(call: Callable, x) -> object:
    """The outcome of a call with x: the observable result, or the name of the error."""
    try:
        made = call(x)
    except Exception as error:  # its class is the outcome
        return type(error).__name__
    if type(made).__name__ == "PyCapsule":
        return of_capsule(made, x)
    return of_array(made, x) if hasattr(made, "tolist") and hasattr(made, "shape") else made


def check(point: str, theirs: object, ours: object) -> None:
    if point in DIFFERENCES:
        known = DIFFERENCES[point]
        assert (theirs, ours) == (known.theirs, known.ours), known.reason
    else:
        assert ours == theirs


def rows(points):
    """A parameter `point` for each row of a table."""
    return pytest.mark.parametrize("point", points)


# ---- samples, the same memory as an ndarray and as a tensor ----

BASE = np.arange(24, dtype="float32").reshape(2, 3, 4)
FROZEN = BASE.copy()
FROZEN.flags.writeable = False

SAMPLES = {
    "plain": BASE,
    "read-only": FROZEN,
    "0-d": np.array(1.5),
    "strided": BASE[:, ::2, 1:],
    "transposed": BASE.T,
    "negative strides": BASE[::-1, :, ::-2],
    "zero strides": np.lib.stride_tricks.as_strided(BASE, (2, 3), (0, 4)),
    "misaligned": np.frombuffer(bytearray(range(9)), "uint8")[1:].view("float32"),
    "complex": BASE.astype("complex64") * 1j,
    "bool": BASE > 5,
    "int8": BASE.astype("int8"),
    "one": BASE[:1, :1, :1],
}
NOTHING = np.zeros((3, 0), "float32")

# ---- (a) __dlpack__ of ndarray and Tensor ----

VERSIONS = [None, (0, 8), (1, 0), (1, 3), (2, 0)]
DEVICES = [None, (1, 0), (2, 0)]
COPIES = [None, True, False]


def call_id(keywords: dict) -> str:
    return "__dlpack__(" + ", ".join(f"{name}={value!r}" for name, value in keywords.items()) + ")"


ALL = [
    {"max_version": version, "dl_device": device, "copy": copy}
    for version, device, copy in itertools.product(VERSIONS, DEVICES, COPIES)
]
EXPORTS = {f"{name}: {call_id(keywords)}": (a, keywords) for name, a in SAMPLES.items() for keywords in ALL}


@rows(EXPORTS)
def test_export(point):
    """Every version, device and value of copy, for every layout: the same capsule, or the same error."""
    a, keywords = EXPORTS[point]
    theirs = outcome(lambda x: x.__dlpack__(**keywords), a)
    check(point, theirs, outcome(lambda x: x.__dlpack__(**keywords), gd.from_dlpack(a)))


ONE_BY_ONE = {
    call_id({name: value}): {name: value}
    for name, values in {
        "max_version": [
            *VERSIONS, (0, 0), (-1, 0), (1, 99), (1, -1), (True, False), (1, 2**70), (2**70, 0), (1, None), (1, "0"),
            (1, 0.0), (0, None), (None, 0), ("1", 0), (1.0, 0), (1,), (1, 0, 0), (), [1, 0], 1, "10",
        ],
        "stream": [None, -1, 0, 1, 2, -2, 2**70, 1.5, "1", ()],
        "dl_device": [
            *DEVICES, (1, 1), (1, -1), (0, 0), (-1, 0), (5, 0), (99, 0), (2**40, 0), (1, 2**32), "cpu", 1, (1,),
            (1, 0, 0), [1, 0], (1.0, 0), (1, None), ("1", "0"), (),
        ],
        "copy": [*COPIES, 0, 1, 2.0, [], "True", "False", ""],
        "unknown": [None, 1],
    }.items()
    for value in values
}  # fmt: skip


@rows(ONE_BY_ONE)
def test_argument(point):
    """One argument, with valid and invalid values."""
    keywords = ONE_BY_ONE[point]
    theirs = outcome(lambda x: x.__dlpack__(**keywords), PRODUCERS["ndarray"]())
    check(point, theirs, outcome(lambda x: x.__dlpack__(**keywords), PRODUCERS["Tensor"]()))


CALLS = {
    "__dlpack__ by position": lambda x: x.__dlpack__(None),
    "__dlpack__ by two positions": lambda x: x.__dlpack__(None, (1, 0)),
    "__dlpack__ of the type": lambda x: type(x).__dlpack__(),
    "__dlpack__ of something else": lambda x: type(x).__dlpack__(3),
    "__dlpack__ with a stream of another device": lambda x: x.__dlpack__(stream=1, dl_device=(2, 0)),
    "__dlpack__ twice": lambda x: [of_capsule(x.__dlpack__(), x), of_capsule(x.__dlpack__(), x)],
    "__dlpack_device__": lambda x: x.__dlpack_device__(),
    "__dlpack_device__ with an argument": lambda x: x.__dlpack_device__(1),
    "__dlpack_device__ with a keyword": lambda x: x.__dlpack_device__(stream=None),
    "__dlpack_device__ is a pair of ints": lambda x: [isinstance(n, int) for n in x.__dlpack_device__()],
}


@rows(CALLS)
def test_call(point):
    check(point, outcome(CALLS[point], BASE), outcome(CALLS[point], gd.from_dlpack(BASE)))


EMPTY = {f"nothing: {call_id(keywords)}": keywords for keywords in ALL}


@rows(EMPTY)
def test_export_of_nothing(point):
    """Without elements, data is NULL, where numpy has an address (R15). Everything else is the same."""
    keywords = EMPTY[point]
    theirs = outcome(lambda x: x.__dlpack__(**keywords), NOTHING)
    ours = outcome(lambda x: x.__dlpack__(**keywords), gd.from_dlpack(NOTHING))
    if isinstance(theirs, Capsule):
        assert (theirs.memory, ours.memory) == ("new" if keywords["copy"] else "shared", "NULL")
        theirs = theirs._replace(memory="NULL")
    check(point, theirs, ours)


def test_version():
    """R5: each library writes its own version."""
    for x, wanted in ((BASE, (1, 0)), (gd.from_dlpack(BASE), (1, 3))):
        version = managed_in(x.__dlpack__(max_version=(1, 99))).version
        assert version.major == 1 and (version.major, version.minor) >= wanted


# ---- (a) from_dlpack of numpy and of godlpack ----


class Holder:
    """A producer that always returns the same answer."""

    def __init__(self, answer):
        self.answer = answer

    def __dlpack__(self, **_):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def __dlpack_device__(self):
        return 1, 0


class NoDevice:
    def __init__(self, x):
        self.__dlpack__ = x.__dlpack__


class Old:
    """A producer from 2021."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, *, stream=None):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


def twice(take, producer):
    made = take(producer)
    assert made.shape
    return take(producer)


def written(take, x):
    """The values of x after a write through the imported tensor."""
    made = np.asarray(take(x))
    made[...] = 9
    return np.asarray(x).tolist()


IMPORTS = {
    **{f"from_dlpack(x, {name}={value!r})": lambda take, x, k={name: value}: take(x, **k)
       for name, values in {
           "device": [None, "cpu", "cpu:0", "cuda", "gpu", "", 5, (1, 0), (2, 0), "cuda:1"],
           "copy": [None, True, False, 0, 1, "True"],
           "stream": [None, 1],
           "max_version": [(1, 0)],
           "dl_device": [(1, 0)],
       }.items() for value in values},
    **{f"from_dlpack(x, device='cpu', copy={copy})": lambda take, x, c=copy: take(x, device="cpu", copy=c)
       for copy in COPIES},
    "from_dlpack(x, device='cuda', copy=False)": lambda take, x: take(x, device="cuda", copy=False),
    "from_dlpack()": lambda take, x: take(),
    "from_dlpack(x, 'cpu')": lambda take, x: take(x, "cpu"),
    "from_dlpack(x=x)": lambda take, x: take(x=x),
    "from_dlpack(3)": lambda take, x: take(3),
    "from_dlpack(None)": lambda take, x: take(None),
    "from_dlpack([1.0])": lambda take, x: take([1.0]),
    "from_dlpack(b'abc')": lambda take, x: take(b"abc"),
    "from_dlpack(type)": lambda take, x: take(type(x)),
    "from_dlpack(capsule)": lambda take, x: take(x.__dlpack__()),
    "answer: None": lambda take, x: take(Holder(None)),
    "answer: 3": lambda take, x: take(Holder(3)),
    "answer: a tensor": lambda take, x: take(Holder(x)),
    "answer: a used capsule": lambda take, x: twice(take, Holder(x.__dlpack__(max_version=(1, 0)))),
    "answer: a used legacy capsule": lambda take, x: twice(take, Holder(x.__dlpack__())),
    "answer: a capsule of another kind": lambda take, x: take(Holder(KEPT["kind"])),
    "answer: DLPack 2.0": lambda take, x: take(Holder(KEPT["version"])),
    "answer: an unknown device": lambda take, x: take(Holder(KEPT["device"])),
    "answer: an unknown dtype": lambda take, x: take(Holder(KEPT["dtype"])),
    "answer: BufferError": lambda take, x: take(Holder(BufferError())),
    "answer: ValueError": lambda take, x: take(Holder(ValueError())),
    "answer: TypeError": lambda take, x: take(Holder(TypeError())),
    "answer: KeyError": lambda take, x: take(Holder(KeyError())),
    "without __dlpack_device__": lambda take, x: take(NoDevice(x)),
    "of 2021": lambda take, x: take(Old(x)),
    "of 2021, copy=False": lambda take, x: take(Old(x), copy=False),
    "of 2021, copy=True": lambda take, x: take(Old(x), copy=True),
    "a write": written,
    "a write to a copy": lambda take, x: written(lambda x: take(x, copy=True), x),
}  # fmt: skip
KEPT = {  # kept alive, so that their destructors, which are Python code, do not run while an exception is set
    "kind": FakeTensor().capsule("other"),
    "version": FakeTensor(version=(2, 0)).capsule(),
    "device": FakeTensor(device=(99, 0)).capsule(),
    "dtype": FakeTensor(dtype=(99, 32, 1)).capsule(),
}
PRODUCERS = {"ndarray": lambda: np.full(6, 2, "float32"), "Tensor": lambda: gd.full(6, 2.0)}


@rows(IMPORTS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_import(point, producer):
    """numpy.from_dlpack and godlpack's, for an array and for a tensor."""
    theirs, ours = (
        outcome(lambda x, take=take: IMPORTS[point](take, x), PRODUCERS[producer]())
        for take in (np.from_dlpack, gd.from_dlpack)
    )
    check(point, theirs, ours)


UNSUPPORTED = {
    "big-endian": np.zeros(3, ">f4"),
    "objects": np.zeros(3, "O"),
    "text": np.zeros(3, "U2"),
    "bytes": np.zeros(3, "S2"),
    "dates": np.zeros(3, "M8[s]"),
    "records": np.zeros(3, "f4,i4"),
    "void": np.zeros(3, "V8"),
    "long double": np.zeros(3, "longdouble"),
    "gaps of no whole element": np.zeros(3, [("x", "i2"), ("y", "i4")])["y"],
}


@rows({**SAMPLES, "nothing": NOTHING, **UNSUPPORTED})
@pytest.mark.parametrize("copy", COPIES)
def test_import_of_every_kind(point, copy):
    a = {**SAMPLES, "nothing": NOTHING, **UNSUPPORTED}[point]
    theirs, ours = (outcome(lambda x, take=take: take(x, copy=copy), a) for take in (np.from_dlpack, gd.from_dlpack))
    if point == "nothing":  # R15
        assert ours.memory == "NULL"
        theirs = theirs._replace(memory="NULL")
    check(f"{point}: from_dlpack(x, copy={copy})", theirs, ours)


@rows({**SAMPLES, "nothing": NOTHING})
@pytest.mark.parametrize("copy", COPIES)
def test_numpy_takes_ours_as_its_own(point, copy):
    """numpy as the consumer of godlpack's tensor and of an array."""
    a = {**SAMPLES, "nothing": NOTHING}[point]
    theirs, ours = (outcome(lambda x: np.from_dlpack(x, copy=copy), x) for x in (a, gd.from_dlpack(a)))
    if point == "nothing":  # numpy replaces NULL by an address of its own
        theirs, ours = theirs._replace(memory=""), ours._replace(memory="")
    check(f"numpy: {point}, copy={copy}", theirs, ours)


# ---- (b) torch ----


@rows({**SAMPLES, "nothing": NOTHING})
@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_torch_takes_ours_as_numpys(point, copy, torch):
    """torch as the consumer of godlpack's tensor and of an array."""
    a = {**SAMPLES, "nothing": NOTHING}[point]
    theirs, ours = (outcome(lambda x: torch.from_dlpack(x, copy=copy), x) for x in (a, gd.from_dlpack(a)))
    if point == "nothing":
        theirs, ours = theirs._replace(memory=""), ours._replace(memory="")
    check(f"torch: {point}, copy={copy}", theirs, ours)


TORCH_TAKES = {
    "device": lambda take, x: take(x, device="cpu"),
    "device and copy": lambda take, x: take(x, device="cpu", copy=True),
    "capsule": lambda take, x: take(x.__dlpack__()),
    "versioned capsule": lambda take, x: take(x.__dlpack__(max_version=(1, 0))),
    "capsule twice": lambda take, x: take_twice(take, x.__dlpack__()),
    "versioned capsule twice": lambda take, x: take_twice(take, x.__dlpack__(max_version=(1, 0))),
    "a write": written,
    "a write to a copy": lambda take, x: written(lambda x: take(x, copy=True), x),
}


def take_twice(take, capsule):
    take(capsule)
    return take(capsule)


@rows(TORCH_TAKES)
@pytest.mark.parametrize("which", ["from_dlpack", "utils"])
def test_torch_takes_ours_as_its_own(point, which, torch):
    """By torch's documentation, memory is shared, and the argument is an object or a capsule, which is consumed."""
    take = torch.from_dlpack if which == "from_dlpack" else torch.utils.dlpack.from_dlpack
    theirs, ours = (outcome(lambda x: TORCH_TAKES[point](take, x), x) for x in (torch.full((6,), 2.0), gd.full(6, 2.0)))
    check(f"torch: {point}", theirs, ours)
    if "write" not in point and "twice" not in point:
        assert ours.memory == ("new" if "copy" in point else "shared")


TENSORS = {
    "plain": lambda torch: torch.arange(6.0),
    "transposed": lambda torch: torch.arange(6.0).reshape(2, 3).T,
    "expanded": lambda torch: torch.arange(3.0).expand(2, 3),
    "0-d": lambda torch: torch.tensor(1.5),
    "nothing": lambda torch: torch.zeros(3, 0),
    "complex": lambda torch: torch.tensor([1 + 2j]),
    "bool": lambda torch: torch.tensor([True, False]),
    "bfloat16": lambda torch: torch.ones(3, dtype=torch.bfloat16),
    "int64": lambda torch: torch.arange(3),
    "parameter without grad": lambda torch: torch.nn.Parameter(torch.ones(3), requires_grad=False),
    "detached": lambda torch: torch.ones(3, requires_grad=True).detach(),
    "resolved conjugate": lambda torch: torch.tensor([1 + 2j]).conj().resolve_conj(),
    "resolved negative": lambda torch: torch.tensor([1 + 2j]).conj().imag.resolve_neg(),
    "requires grad": lambda torch: torch.ones(3, requires_grad=True),
    "result with grad": lambda torch: torch.ones(3, requires_grad=True) + 1,
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(3)),
    "lazy conjugate": lambda torch: torch.tensor([1 + 2j]).conj(),
    "lazy negative": lambda torch: torch.tensor([1 + 2j]).conj().imag,
    "sparse": lambda torch: torch.ones(3).to_sparse(),
    "meta": lambda torch: torch.ones(3, device="meta"),
}


@rows(TENSORS)
@pytest.mark.parametrize("copy", COPIES)
def test_import_of_torchs(point, copy, torch):
    """torch.from_dlpack and godlpack's, for a torch tensor."""
    theirs, ours = (
        outcome(lambda x, take=take: take(x, copy=copy), TENSORS[point](torch))
        for take in (torch.from_dlpack, gd.from_dlpack)
    )
    check(f"of torch: {point}, copy={copy}", theirs, ours)


ELSEWHERE = re.compile(r"cuda|\(2, 0\)|type\)")  # torch's results for GPUs depend on the machine

TORCH_IMPORTS = {
    **{
        point: IMPORTS[point]
        for point in IMPORTS
        if point.startswith(("from_dlpack(", "answer: ")) and not ELSEWHERE.search(point)
    },
    "to_dlpack": lambda take, x: take(to_capsule(x)),
    "to_dlpack twice": lambda take, x: take_twice(take, to_capsule(x)),
    "capsule": lambda take, x: take(x.__dlpack__()),
    "capsule twice": lambda take, x: take_twice(take, x.__dlpack__()),
    "versioned capsule": lambda take, x: take(x.__dlpack__(max_version=(1, 0))),
    "a write": written,
    "a write to a copy": lambda take, x: written(lambda x: take(x, copy=True), x),
    "without __dlpack_device__": lambda take, x: take(NoDevice(x)),
}


def to_capsule(x):
    import torch.utils.dlpack

    return torch.utils.dlpack.to_dlpack(x)


@rows(TORCH_IMPORTS)
def test_argument_of_torchs(point, torch):
    """torch.from_dlpack and godlpack's: arguments, capsules, and answers of producers."""
    theirs, ours = (
        outcome(lambda x, take=take: TORCH_IMPORTS[point](take, x), torch.full((6,), 2.0))
        for take in (torch.from_dlpack, gd.from_dlpack)
    )
    check(f"of torch: {point}", theirs, ours)


@rows([point for point in ONE_BY_ONE if not ELSEWHERE.search(point)])
def test_export_of_torchs(point, torch):
    """__dlpack__ of a torch tensor and of godlpack's."""
    keywords = ONE_BY_ONE[point]
    theirs, ours = (outcome(lambda x: x.__dlpack__(**keywords), x) for x in (torch.full((6,), 2.0), gd.full(6, 2.0)))
    check(f"torch: {point}", theirs, ours)


# ---- differences and their reasons ----

TWOS = [2.0] * 6
LEGACY, VERSIONED = "dltensor", "dltensor_versioned"
LENT, LENT_LEGACY = Capsule(VERSIONED, (1, 0), "shared", 0, TWOS), Capsule(LEGACY, (1, 0), "shared", None, TWOS)
COPIED_LEGACY = LENT_LEGACY._replace(memory="new")
TAKEN = Array((6,), "float32", "shared", True, TWOS)
COPY = TAKEN._replace(memory="new")

differ(
    "R7: numpy and torch read the major version only, and torch any sequence. We want a pair of ints, by every route.",
    {
        "__dlpack__(max_version=(1, None))": (LENT, "TypeError"),
        "__dlpack__(max_version=(1, '0'))": (LENT, "TypeError"),
        "__dlpack__(max_version=(1, 0.0))": (LENT, "TypeError"),
        "__dlpack__(max_version=(0, None))": (LENT_LEGACY, "TypeError"),
        "torch: __dlpack__(max_version=(1, None))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=(1, '0'))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=(1, 0.0))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=(0, None))": (LENT_LEGACY, "TypeError"),
        "torch: __dlpack__(max_version=(1.0, 0))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=(1,))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=(1, 0, 0))": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=[1, 0])": (LENT, "TypeError"),
        "torch: __dlpack__(max_version=())": ("IndexError", "TypeError"),
    },
)
differ(
    "R6: a version may be as high as it likes.",
    {f"__dlpack__(max_version=({2**70}, 0))": ("OverflowError", LENT)},
)
STREAM = "RuntimeError" if NUMPY < (2, 5) else "ValueError"  # numpy raises this for any stream
differ(
    "R3: numpy raises one error for all streams, and torch AssertionError; for us it is a wrong value, or a wrong kind.",
    {
        **{f"__dlpack__(stream={s})": (STREAM, "ValueError") for s in (0, 1, 2, -2, 2**70) if NUMPY < (2, 5)},
        **{f"__dlpack__(stream={s!r})": (STREAM, "TypeError") for s in (1.5, "1", ())},
        **{f"torch: __dlpack__(stream={s})": ("AssertionError", "ValueError") for s in (0, 1, 2, -2, 2**70)},
    },
)
differ("R27: -1, no synchronization, is borne.", {"__dlpack__(stream=-1)": (STREAM, LENT_LEGACY)})
differ(
    "R26: what is no device cannot be served. torch does not look at the number.",
    {
        f"__dlpack__(dl_device=({2**40}, 0))": ("OverflowError", "BufferError"),
        f"__dlpack__(dl_device=(1, {2**32}))": ("OverflowError", "BufferError"),
        f"torch: __dlpack__(dl_device=(1, {2**32}))": (LENT_LEGACY, "BufferError"),
        "torch: __dlpack__(dl_device=(1, 1))": (LENT_LEGACY, "BufferError"),
        "torch: __dlpack__(dl_device=(1, -1))": (LENT_LEGACY, "BufferError"),
    },
)
differ(
    "R3: what is no pair of ints is a wrong kind, as numpy has it.",
    {
        "torch: __dlpack__(dl_device=(1,))": ("RuntimeError", "TypeError"),
        "torch: __dlpack__(dl_device=(1, 0, 0))": ("RuntimeError", "TypeError"),
        "torch: __dlpack__(dl_device=[1, 0])": (LENT_LEGACY, "TypeError"),
        "torch: __dlpack__(dl_device=())": (LENT_LEGACY, "TypeError"),
    },
)
differ(
    "R25: copy is what it is to numpy: what is true or false, but no text.",
    {
        "torch: __dlpack__(copy=0)": ("TypeError", LENT_LEGACY),
        "torch: __dlpack__(copy=[])": ("TypeError", LENT_LEGACY),
        "torch: __dlpack__(copy=1)": ("TypeError", COPIED_LEGACY),
        "torch: __dlpack__(copy=2.0)": ("TypeError", COPIED_LEGACY),
        **{f"torch: __dlpack__(copy={text!r})": ("TypeError", "ValueError") for text in ("True", "False", "")},
        "of torch: from_dlpack(x, copy=1)": (TAKEN, COPY),
        "of torch: from_dlpack(x, copy='True')": (TAKEN, "ValueError"),
    },
)
differ(
    "docs/rationale.md: an object that is no tensor is a wrong kind of argument.",
    {
        **{f"from_dlpack({x})": ("AttributeError", "TypeError") for x in ("3", "None", "[1.0]", "b'abc'")},
        **{f"of torch: from_dlpack({x})": ("RuntimeError", "TypeError") for x in ("3", "None", "[1.0]", "b'abc'")},
        **{f"answer: {x}": ("ValueError", "TypeError") for x in ("None", "3", "a tensor")},
        **{f"of torch: answer: {x}": ("RuntimeError", "TypeError") for x in ("None", "3", "a tensor")},
    },
)
differ(
    "We know more devices, and more names for them, than numpy; the ones without a route to them are a BufferError (R26).",
    {
        "from_dlpack(x, device='cpu:0')": ("ValueError", TAKEN),
        "from_dlpack(x, device=(1, 0))": ("ValueError", TAKEN),
        "from_dlpack(x, device='cuda')": ("ValueError", "BufferError"),
        "from_dlpack(x, device='cuda:1')": ("ValueError", "BufferError"),
        "from_dlpack(x, device=(2, 0))": ("ValueError", "BufferError"),
        "from_dlpack(x, device='cuda', copy=False)": ("ValueError", "BufferError"),
        "from_dlpack(x, device=5)": ("ValueError", "TypeError"),
        "of torch: from_dlpack(x, device=(1, 0))": ("AssertionError", TAKEN),
        "of torch: from_dlpack(x, device=5)": ("AssertionError", "TypeError"),
        "of torch: from_dlpack(x, device='gpu')": ("RuntimeError", "ValueError"),
        "of torch: from_dlpack(x, device='')": ("RuntimeError", "ValueError"),
    },
)
differ(
    "A bare capsule is taken too, as torch takes it.",
    {"from_dlpack(capsule)": ("AttributeError", TAKEN)},
)
differ(
    "R38: a used capsule, and one of another kind, is a wrong value, as numpy has it.",
    {
        f"of torch: {point}": ("RuntimeError", "ValueError")
        for point in (
            "answer: a used capsule", "answer: a used legacy capsule", "answer: a capsule of another kind",
            "capsule twice", "to_dlpack twice",
        )
    },
)  # fmt: skip
differ(
    "R19, R34, R48: what cannot be exchanged is a BufferError.",
    {
        **{f"answer: an unknown {x}": ("RuntimeError", "BufferError") for x in ("device", "dtype") if NUMPY < (2, 5)},
        "of torch: answer: DLPack 2.0": ("RuntimeError", "BufferError"),
        **{f"of torch: meta, copy={copy}": ("ValueError", "BufferError") for copy in COPIES},
    },
)
differ(
    "R23: numpy takes every legacy capsule for read-only; producers that know read-only memory refuse to make one.",
    {"of 2021": (TAKEN._replace(writable=False), TAKEN)},
)
differ(
    "R33, R47: a producer that does not know copy is asked without, and what it lends is copied here.",
    {"of 2021, copy=False": ("TypeError", TAKEN), "of 2021, copy=True": ("TypeError", COPY)},
)
differ(
    "R31: we know the device when we see the tensor, as numpy does.",
    {"of torch: without __dlpack_device__": ("AttributeError", TAKEN)},
)
differ(
    "R65: torch exports lazy negatives with the memory they are stored in, which has the other sign, unless it copies.",
    {
        **{
            f"of torch: lazy negative, copy={copy}": (Array((1,), "float32", "shared", True, [2.0]), "BufferError")
            for copy in (None, False)
        },
        "of torch: lazy negative, copy=True": (Array((1,), "float32", "new", True, [-2.0]), "BufferError"),
    },
)

POINTS = {
    *EXPORTS, *ONE_BY_ONE, *CALLS, *EMPTY, *IMPORTS,
    *(f"of torch: {point}" for point in TORCH_IMPORTS),
    *(f"of torch: {point}, copy={copy}" for point in TENSORS for copy in COPIES),
    *(f"torch: {point}" for point in {*ONE_BY_ONE, *TORCH_TAKES}),
}  # fmt: skip


def test_differences_are_of_points():
    """Every difference is of an existing point, and has a reason."""
    assert DIFFERENCES.keys() <= POINTS
    for theirs, ours, reason in DIFFERENCES.values():
        assert theirs != ours and reason.endswith(".")
