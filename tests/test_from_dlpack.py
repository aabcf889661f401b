"""from_dlpack and asarray: the consumer's side, with valid and invalid input."""

import contextlib
import ctypes
import gc
import re
import sys
import warnings

import pytest

import godlpack as gd
from godlpack.testing.records import IS_COPIED, PADDED, READ_ONLY, ManagedToPy, name_of
from helpers.dtypes import DTYPES
from helpers.fakes import OWN, FakeTensor, Producer, capsule_new, table_of

VALUES = [0.0, 1.0, 2.0]
HUGE = 2**62

legacies = pytest.mark.parametrize("legacy", [False, True], ids=["versioned", "legacy"])
importers = pytest.mark.parametrize("importer", [gd.from_dlpack, gd.asarray])


def check_taken(fake, importer=gd.from_dlpack):
    """Imports a valid fake: the memory is shared, the capsule used, and the deleter called once, at the end."""
    capsule = fake.capsule()
    t = importer(capsule)
    assert name_of(capsule).startswith("used_dltensor")
    del capsule
    gc.collect()
    assert fake.deleted == 0
    return t


def check_refused(fake, wanted, error=BufferError):
    """R37: the capsule stays live, and its destructor calls the deleter once."""
    capsule = fake.capsule()
    name = name_of(capsule)
    with pytest.raises(error, match=wanted):
        gd.from_dlpack(capsule)
    assert name_of(capsule) == name
    assert fake.deleted == 0
    del capsule
    gc.collect()
    assert fake.deleted == (1 if fake.managed.deleter else 0)


# ---- good capsules ----


@legacies
@importers
def test_capsule(legacy, importer):
    """R36"""
    fake = FakeTensor((3,), legacy=legacy)
    t = check_taken(fake, importer)
    assert (t.shape, t.strides, t.dtype, t.device) == ((3,), (1,), "float32", "cpu")
    assert t.tolist() == VALUES
    assert t.data_ptr == fake.data
    assert not t.readonly
    del t
    assert fake.deleted == 1


@legacies
def test_deleter_waits_for_the_last_view(legacy):
    fake = FakeTensor((2, 3), legacy=legacy)
    t = check_taken(fake)
    view, capsule = t[1:], t.__dlpack__()
    del t
    assert (fake.deleted, view.tolist()) == (0, [[3.0, 4.0, 5.0]])
    del view
    assert fake.deleted == 0
    del capsule
    assert fake.deleted == 1


@pytest.mark.parametrize("version", [(1, 0), (1, 3), (1, 99)])
def test_versions(version):
    """R35"""
    assert check_taken(FakeTensor(version=version)).tolist() == VALUES


@pytest.mark.parametrize("version", [(0, 0), (0, 8), (2, 0), (3, 7), (2**32 - 1, 0)])
def test_versions_to_come(version):
    """R34: of another major version, only version and deleter are read. No versioned record has major 0."""
    fake = FakeTensor((3,), version=version, ndim=-5, data=0x10)
    check_refused(fake, rf"want DLPack 1\.x, got a tensor of DLPack {version[0]}\.{version[1]}")


@pytest.mark.parametrize("flags", [0, READ_ONLY, IS_COPIED, PADDED, 1 << 3, 1 << 63, 2**64 - 1 - READ_ONLY - PADDED])
def test_flags(flags):
    """R23, R35: unknown flags are ignored, as is padding for float32."""
    t = check_taken(FakeTensor(flags=flags))
    assert t.readonly == bool(flags & READ_ONLY)
    assert t.tolist() == VALUES
    assert t.nbytes == 12


@pytest.mark.parametrize(("flags", "nbytes"), [(0, 3), (PADDED, 6)])
def test_padded(flags, nbytes):
    """R21: a padded tensor has one int4 in each byte, others have two."""
    fake = FakeTensor((6,), dtype=(0, 4, 1), flags=flags)
    fake.memory[1] = 4.0 + 8 * 0.25  # 0x40C00000
    t = check_taken(fake)
    assert t.nbytes == nbytes
    assert t.tolist() == [0] * 6
    whole = gd.from_dlpack(FakeTensor((16,), dtype=(0, 4, 1), flags=flags).capsule())
    assert len(whole.copy().tolist()) == 16
    assert whole.copy().nbytes == whole.nbytes == (16 if flags else 8)


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "values"),
    [
        ((2, 3), None, 0, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
        ((2, 3), (1, 2), 0, [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]),
        ((3,), (-1,), 8, [2.0, 1.0, 0.0]),
        ((2, 2), (0, 1), 0, [[0.0, 1.0], [0.0, 1.0]]),
        ((2, 2), (1, 1), 0, [[0.0, 1.0], [1.0, 2.0]]),
        ((2,), (100,), 0, [0.0, 100.0]),
        ((1, 2, 1), (7, 1, -HUGE), 0, [[[0.0], [1.0]]]),
        ((), (), 4, 1.0),
        ((), None, 4, 1.0),
        ((0, 3), None, 0, []),
        ((0, 3), (HUGE, HUGE), 0, []),
        ((2, 0), (0, 0), 0, [[], []]),
        ((1,) * 64, None, 0, None),
    ],
)
@legacies
def test_layouts(shape, strides, offset, values, legacy):
    """R39, R40: strides of NULL, of empty tensors and of extents of 1; byte_offset."""
    fake = FakeTensor(shape, strides, byte_offset=offset, legacy=legacy)
    t = check_taken(fake)
    assert t.shape == shape
    assert len(t.strides) == len(shape)
    assert t.data_ptr == (fake.data + offset if t.size else 0)
    if values is not None:
        assert t.tolist() == values


@legacies
def test_no_dimensions_no_shape(legacy):
    """R40: numpy and jax leave shape NULL."""
    t = check_taken(FakeTensor(None, None, ndim=0, legacy=legacy))
    assert (t.shape, t.strides, t.item()) == ((), (), 0.0)


@legacies
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, HUGE)])
def test_no_elements_no_data(shape, legacy):
    """R41"""
    t = check_taken(FakeTensor(shape, data=None, legacy=legacy))
    assert (t.shape, t.size, t.data_ptr) == (shape, 0, 0)
    assert t.copy().shape == shape


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_misaligned_data(offset):
    """R42: numpy exports such data; values are read and copied correctly."""
    fake = FakeTensor((2,), byte_offset=offset)
    t = check_taken(fake)
    assert t.data_ptr == fake.data + offset
    copy = t.copy()
    assert copy.data_ptr % 256 == 0
    assert copy.tolist() == t.tolist()
    assert bytes(memoryview(copy)) == bytes(memoryview(t))


@pytest.mark.parametrize("name", DTYPES)
@legacies
def test_dtypes(name, legacy):
    """R20, R21, R46: dtypes are kept, with their lanes."""
    fake = FakeTensor((4,), dtype=DTYPES[name], legacy=legacy)
    t = check_taken(fake)
    assert t.dtype == name
    assert len(t.tolist()) == 4
    assert t.copy().dtype == name
    assert repr(t).startswith("Tensor(")


def test_bool_bytes_beyond_one():
    """R45"""
    fake = FakeTensor((4,), dtype=DTYPES["bool"])
    fake.memory[0] = 2.0  # bytes 0 0 0 64
    t = check_taken(fake)
    assert t.tolist() == [False, False, False, True]
    assert t.copy().tolist() == t.tolist()


@pytest.mark.parametrize("kind", gd.DeviceType)
def test_devices(kind):
    """Tensors on known devices are imported; only host memory is read."""
    host = kind.name in ("CPU", "CUDA_HOST", "ROCM_HOST", "CUDA_MANAGED", "TPU_HOST")
    fake = FakeTensor(device=(kind, 0))
    t = check_taken(fake)
    assert t.device == gd.Device(kind)
    assert t.__dlpack_device__() == (kind, 0)
    assert "dtype=float32" in repr(t)
    if host:
        assert t.tolist() == VALUES
        assert t.to("cpu").tolist() == VALUES
        return
    for read in (t.tolist, t[0].item, t.copy, lambda: t.to("cpu"), lambda: memoryview(t)):
        with pytest.raises(BufferError, match=r"memory|cannot copy|no CUDA driver"):
            read()


@pytest.mark.parametrize("device", [(2, 0), (4, 0), (8, 0)])
def test_offset_travels_where_data_is_a_handle(device):
    """An address includes the offset; a handle (of OpenCL, Metal, ...) cannot."""
    from helpers.fakes import managed_in

    t = check_taken(FakeTensor((4,), device=device, byte_offset=4))
    record = managed_in(t[1:].__dlpack__(max_version=(1, 0))).tensor
    assert record.byte_offset == (0 if device == (2, 0) else 8)
    assert (record.data or 0) + record.byte_offset == t.data_ptr + 4


def test_no_deleter():
    """R13, R36: a deleter of NULL is valid."""
    fake = FakeTensor(deleter=False)
    t = check_taken(fake)
    assert t.tolist() == VALUES
    assert gd.from_dlpack(FakeTensor(deleter=False, legacy=True).capsule()).tolist() == VALUES


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_exception_survives_a_deleter():
    """R9: the tensor is released while the call's exception is set. A deleter may be a Python callback."""
    fake = FakeTensor()
    with pytest.raises(TypeError, match="unexpected keyword argument 'bad'"):
        gd.from_dlpack(fake.capsule()).__dlpack__(bad=1)
    assert fake.deleted == 1


# ---- bad capsules ----


@pytest.mark.parametrize(
    ("shape", "strides", "wanted", "rest"),
    [
        ((1,), None, "ndim: want 0 to 64, got -1", {"ndim": -1}),
        ((1,), None, "ndim: want 0 to 64, got -2147483648", {"ndim": -(2**31)}),
        ((1,) * 65, None, "ndim: want 0 to 64, got 65", {}),
        ((1,), None, "ndim: want 0 to 64, got 2147483647", {"ndim": 2**31 - 1}),
        (None, None, "shape: want a pointer to 1 extents, got NULL", {"ndim": 1}),
        ((-1,), None, "-1", {}),
        ((3, -(2**63)), None, "-9223372036854775808", {}),
        ((0, -1), None, "-1", {}),
        ((HUGE, 2), None, "want fewer than 2\\^63 elements", {}),
        ((HUGE, HUGE), None, "want fewer than 2\\^63 elements", {}),
        ((HUGE,), None, "want less than 2\\^63 bytes", {}),
        ((2, 2), (HUGE, HUGE), "want a span of fewer than 2\\^63 elements", {}),
        ((2,), (-(2**63),), "want a span of fewer than 2\\^63", {}),
        ((3,), (2**62,), "want a span of fewer than 2\\^63", {}),
        ((2,), (2**61,), "want", {}),
        ((3,), None, "data: want a pointer for 3 elements of float32, got NULL", {"data": None}),
        ((), None, "data: want a pointer for 1 elements of float32, got NULL", {"data": None}),
        ((3,), None, "data: want a pointer or NULL, got 0x10", {"data": 0x10}),
        ((0,), None, "data: want a pointer or NULL, got 0x1", {"data": 1}),
        ((3,), None, "want elements within the address space", {"byte_offset": 2**64 - 8}),
        ((2,), (-(2**50),), "want elements within the address space", {"data": 0x10000}),
        ((3,), None, "device: want a device type of DLPack 1.3, got 0", {"device": (0, 0)}),
        ((3,), None, "got 5", {"device": (5, 0)}),
        ((3,), None, "got 99", {"device": (99, 0)}),
        ((3,), None, "got -1", {"device": (-1, 0)}),
        ((3,), None, "want a type code from 0 to 18, got 19", {"dtype": (19, 8, 1)}),
        ((3,), None, "want a type code from 0 to 18, got 255", {"dtype": (255, 255, 65535)}),
        ((3,), None, "dtype bool: want 8 bits, got 1", {"dtype": (6, 1, 1)}),
        ((3,), None, "want 1 lane or more, got 0", {"dtype": (2, 32, 0)}),
        ((3,), None, "want 8 bits, got 6", {"dtype": (10, 6, 1)}),
        ((3,), None, "want 6 bits, got 8", {"dtype": (15, 8, 1)}),
        ((3,), None, "want 4 bits, got 8", {"dtype": (17, 8, 1)}),
        ((3,), None, "want 16 bits, got 32", {"dtype": (4, 32, 1)}),
        ((3,), None, "want 16, 32, 64 or 128 bits, got 8", {"dtype": (2, 8, 1)}),
        ((3,), None, "want 32, 64 or 128 bits, got 16", {"dtype": (5, 16, 1)}),
        ((3,), None, "want 1 to 128 bits, got 0", {"dtype": (0, 0, 1)}),
        ((3,), None, "want 1 to 128 bits, got 129", {"dtype": (1, 129, 1)}),
    ],
)
@legacies
def test_refusals(shape, strides, wanted, rest, legacy):
    """R17, R20, R21, R35, R37, R39, R41, R42, R46, R48: a BufferError with the field, and wanted and actual value."""
    check_refused(FakeTensor(shape, strides, legacy=legacy, **rest), wanted)


@legacies
def test_refusal_without_a_deleter(legacy):
    check_refused(FakeTensor(ndim=-1, deleter=False, legacy=legacy), "ndim")


@legacies
def test_capsule_is_consumed_once(legacy):
    """R38"""
    fake = FakeTensor(legacy=legacy)
    capsule = fake.capsule()
    t = gd.from_dlpack(capsule)
    for _ in range(2):
        with pytest.raises(ValueError, match='the capsule was already consumed \\(its name is "used_dltensor'):
            gd.from_dlpack(capsule)
    assert t.tolist() == VALUES
    del capsule
    assert fake.deleted == 0


@pytest.mark.parametrize("name", ["other", "dlpack_exchange_api"])
def test_capsules_of_another_kind(name):
    capsule = FakeTensor().capsule(name)
    with pytest.raises(ValueError, match=f'want a capsule named "dltensor" or "dltensor_versioned", got "{name}"'):
        gd.from_dlpack(capsule)
    assert name_of(capsule) == name


def test_capsule_without_a_name():
    with pytest.raises(ValueError, match='got ""'):
        gd.from_dlpack(capsule_new(0x10000, None, None))


# ---- producers ----


def test_producer_is_asked_for_our_version():
    """R33: only our max_version is passed; no stream, and no device or copy unless requested."""
    producer = Producer(FakeTensor())
    t = gd.from_dlpack(producer)
    assert t.tolist() == VALUES
    assert producer.calls == [{"max_version": (1, 3), "dl_device": None, "copy": None}]


class Keywords(Producer):
    def __dlpack__(self, **keywords):
        self.calls.append(keywords)
        return self.fake.capsule()


@pytest.mark.parametrize(
    ("asked", "keywords"),
    [
        ({}, {}),
        ({"copy": None, "device": None}, {}),
        ({"copy": False}, {"copy": False}),
        ({"copy": True}, {"copy": True}),
        ({"device": "cpu"}, {"dl_device": (1, 0)}),
        ({"device": gd.Device("cpu"), "copy": False}, {"dl_device": (1, 0), "copy": False}),
    ],
)
def test_what_the_producer_is_asked(asked, keywords):
    """R33"""
    producer = Keywords(FakeTensor(flags=IS_COPIED))
    gd.from_dlpack(producer, **asked)
    assert producer.calls == [{"max_version": (1, 3), **keywords}]


class Old(Producer):
    """A producer from 2021: __dlpack__ takes only stream."""

    def __dlpack__(self, *, stream=None):
        self.calls.append(stream)
        return self.fake.capsule()


@pytest.mark.parametrize("asked", [{}, {"copy": False}, {"device": "cpu"}])
def test_old_producer(asked):
    """R33: called again without arguments."""
    producer = Old(FakeTensor(legacy=True))
    assert gd.from_dlpack(producer, **asked).tolist() == VALUES
    assert producer.calls == [None]


IMPORTERS = {
    "from_dlpack": gd.from_dlpack,
    "asarray": gd.asarray,
    "copy": lambda x: gd.from_dlpack(x, copy=True),
    "no copy": lambda x: gd.from_dlpack(x, copy=False),
    "device": lambda x: gd.from_dlpack(x, device="cpu"),
}
importers = pytest.mark.parametrize("importer", IMPORTERS.values(), ids=IMPORTERS)


class Wrapper:
    """Passes its arguments to another producer; its own signature takes any."""

    def __init__(self, inner, asked):
        self.inner, self.asked = inner, asked

    def __dlpack__(self, **keywords):
        self.asked.append(sorted(keywords))
        return self.inner.__dlpack__(**keywords)


@importers
@pytest.mark.parametrize("first", IMPORTERS.values(), ids=IMPORTERS)
def test_old_producer_is_remembered(importer, first):
    """R33: two calls the first time, one from then on."""
    asked = []
    kind = type("Fresh", (Wrapper,), {})
    assert first(kind(Old(FakeTensor(legacy=True)), asked)).tolist() == VALUES
    assert len(asked) == 2 and asked[1] == []
    gd.from_dlpack(kind(Old(FakeTensor(legacy=True)), asked))
    asked.clear()
    for _ in range(3):
        assert importer(kind(Old(FakeTensor(legacy=True)), asked)).tolist() == VALUES
    assert asked == [[]] * 3


@importers
def test_remembered_type_that_changes(importer, np):
    """R23, R33: called with max_version for what legacy capsules cannot describe, or if it takes more than before."""
    asked = []
    kind = type("Fresh", (Wrapper,), {})
    gd.from_dlpack(kind(Old(FakeTensor(legacy=True)), asked))
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    t = importer(kind(frozen, asked))
    assert t.tolist() == VALUES and t.readonly == (importer is not IMPORTERS["copy"])
    assert importer(kind(gd.asarray(b"abc"), asked)).tolist() == [97, 98, 99]

    class Strict(Producer):
        def __dlpack__(self, *, max_version, copy=None, dl_device=None):
            return super().__dlpack__(max_version=max_version)

    for _ in range(2):
        assert importer(kind(Strict(FakeTensor()), asked)).tolist() == VALUES
        assert importer(kind(Old(FakeTensor(legacy=True)), asked)).tolist() == VALUES
    kind.__dlpack__ = lambda self, **keywords: asked.append("new") or FakeTensor().capsule()
    assert importer(kind(None, asked)).tolist() == VALUES
    assert asked[-1] == "new" != asked[-2]


@importers
def test_only_the_version_decides(importer, np):
    """R33: a producer that takes max_version but not copy= is called with max_version from then on."""
    asked = []

    class Middle(Producer):
        def __dlpack__(self, *, stream=None, max_version=None):
            asked.append(max_version)
            return self.fake.capsule()

    importer(Middle(FakeTensor()))
    for _ in range(2):
        asked.clear()
        gd.from_dlpack(Middle(FakeTensor()))
        assert asked == [(1, 3)]


@importers
def test_type_errors_of_a_planned_type(importer):
    """R49: the producer's own error, after one call."""
    asked = []
    kind = type("Fresh", (Wrapper,), {})
    gd.from_dlpack(kind(Producer(FakeTensor()), asked))
    asked.clear()
    with pytest.raises(TypeError, match="my own"):
        importer(kind(Raising(TypeError("my own")), asked))
    assert len(asked) == 1
    for error in (BufferError, KeyError, KeyboardInterrupt):
        asked.clear()
        with pytest.raises(error, match="my own"):
            importer(kind(Raising(error("my own")), asked))
        assert len(asked) == 1 or (error is BufferError and importer is IMPORTERS["copy"])


class Raising(Producer):
    def __init__(self, error):
        super().__init__(None)
        self.error = error

    def __dlpack__(self, **keywords):
        self.calls.append(keywords)
        raise self.error


class Unheard(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize(
    "error", [BufferError, ValueError, RuntimeError, TypeError, Unheard, KeyboardInterrupt, MemoryError]
)
def test_exceptions_of_the_producer(error):
    """R49: the same exception object, after the first call."""
    producer = Raising(error("mine"))
    with pytest.raises(error) as caught:
        gd.from_dlpack(producer)
    assert caught.value is producer.error
    assert len(producer.calls) == 1


@importers
@pytest.mark.parametrize("planned", [False, True])
def test_type_error_inside_the_producer(importer, planned):
    """R33, R49: its text matches that of an old producer, which is called once more; then the error is raised."""
    kind = type("Fresh", (Raising,), {})
    if planned:
        kind.__dlpack__ = lambda self, **keywords: FakeTensor().capsule()
        importer(kind(None))
        del kind.__dlpack__
    producer = kind(TypeError("mine speaks of an argument"))
    with pytest.raises(TypeError) as caught:
        importer(producer)
    assert caught.value is producer.error
    assert [bool(keywords) for keywords in producer.calls] == [True, False]


def test_first_error_of_a_producer_that_warns():
    """A library may warn about a call without arguments: the error of the first call is raised."""
    pa = pytest.importorskip("pyarrow")
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for x in pa.array([1.0, None]), pa.array(["a"]):
                with pytest.raises(TypeError) as wanted:
                    x.__dlpack__(max_version=(1, 3))
                with pytest.raises(type(wanted.value), match=re.escape(str(wanted.value))):
                    gd.from_dlpack(x)
            assert gd.from_dlpack(pa.array([1.0, 2.0])).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "text",
    [
        "f() got an unexpected keyword argument 'max_version'",
        "f() takes no keyword arguments",
        "f() takes no arguments (1 given)",
        "f() takes at most 1 argument (2 given)",
        "f() takes at most 1 keyword argument (2 given)",
        "f() takes 1 positional argument but 2 were given",
        "'max_version' is an invalid keyword argument for f()",
        "f(): incompatible function arguments. The following argument types are supported:\n    1. f(self)\n",
        "Python argument types in\n    X.f(X)\ndid not match C++ signature:\n    f(X)",
        "f() received an invalid combination of arguments - got (max_version=tuple, ), but expected ()",
        "Arguments do not match",
        "what is max_version?",
    ],
)
@importers
def test_how_producers_say_that_they_are_old(importer, text):
    class Says(Producer):
        def __dlpack__(self, **keywords):
            if keywords:
                raise TypeError(text)
            return self.fake.capsule()

    for _ in range(2):
        assert importer(Says(FakeTensor(legacy=True))).tolist() == VALUES


@importers
def test_error_of_an_old_producer(importer):
    """The error of the call without arguments is raised, also when the producer is known to be old."""
    kind = type("Fresh", (Old,), {})

    def refuse(self, *, stream=None):
        raise self.fake

    for _ in range(2):
        kind.__dlpack__ = refuse
        for error in BufferError("mine"), TypeError("mine"), ValueError("mine"):
            with pytest.raises(type(error)) as caught:
                importer(kind(error))
            assert caught.value is error
        del kind.__dlpack__
        assert importer(kind(FakeTensor(legacy=True))).tolist() == VALUES


def test_text_that_cannot_be_read():
    class MuteError(TypeError):
        def __str__(self):
            raise ValueError("no text")

    for error in MuteError(), TypeError("\udc80 argument"), TypeError():
        producer = Raising(error)
        for importer in gd.from_dlpack, gd.asarray:
            with pytest.raises(TypeError) as caught:
                importer(producer)
            assert caught.value is error


@pytest.mark.parametrize("legacy", [True, False])
def test_copy_that_the_producer_ignores(legacy):
    """R47"""
    fake = FakeTensor(legacy=legacy)
    t = gd.from_dlpack(Producer(fake), copy=True)
    assert t.data_ptr != fake.data
    assert t.tolist() == VALUES
    assert fake.deleted == 1


class Uncopying(Producer):
    """A producer that cannot copy, such as tvm-ffi's."""

    def __dlpack__(self, *, copy=None, **keywords):
        self.calls.append(copy)
        if copy:
            raise BufferError("no copies here")
        return self.fake.capsule()


@pytest.mark.parametrize("keywords", [{}, {"device": "cpu"}])
def test_copy_that_the_producer_refuses(keywords):
    """R47: it is called without copy, and godlpack copies."""
    producer = Uncopying(FakeTensor())
    t = gd.from_dlpack(producer, copy=True, **keywords)
    assert producer.calls == [True, None]
    assert t.data_ptr != producer.fake.data and t.tolist() == VALUES
    assert producer.fake.deleted == 1


@pytest.mark.parametrize(("copy", "calls"), [(True, 2), (False, 1), (None, 1)])
def test_producer_that_refuses_all(copy, calls):
    """R49: its error is raised."""
    producer = Raising(BufferError("mine"))
    with pytest.raises(BufferError) as caught:
        gd.from_dlpack(producer, copy=copy)
    assert caught.value is producer.error and len(producer.calls) == calls


@pytest.mark.parametrize(
    ("fake", "wanted"),
    [
        (lambda: FakeTensor(legacy=True), None),
        (lambda: FakeTensor(None, None, ndim=0), None),
        (lambda: FakeTensor(ndim=-1), "Producer: ndim"),
        (lambda: FakeTensor(ndim=-1, legacy=True), "Producer: ndim"),
        (lambda: FakeTensor(version=(2, 0)), "Producer: want DLPack 1"),
    ],
    ids=["legacy", "NULL shape", "bad", "bad legacy", "DLPack 2.0"],
)
def test_producer_is_asked_once(fake, wanted):
    """R49: also if its type has a plan, and its answer differs from the planned one."""
    gd.from_dlpack(Producer(FakeTensor()))
    producer = Producer(fake())
    if wanted:
        with pytest.raises(BufferError, match=wanted):
            gd.from_dlpack(producer)
    else:
        assert gd.from_dlpack(producer).data_ptr == producer.fake.data
    assert len(producer.calls) == producer.fake.deleted == 1


@pytest.mark.parametrize("shape", [(0, 2**31, 2**31, 2), (2**31, 2**31, 0, 2), (2**62, 2, 0)])
@pytest.mark.parametrize("data", [None, OWN], ids=["NULL", "data"])
def test_nothing_of_too_many(shape, data):
    """R17: without elements, but also without row-major strides in 64 bits: refused by every protocol."""
    wanted = "want fewer than 2\\^63 elements"
    strides = (1,) * len(shape)
    gd.from_dlpack(Producer(FakeTensor()))  # makes a plan
    with pytest.raises(BufferError, match=wanted):
        gd.from_dlpack(Producer(FakeTensor(shape, strides, data=data)))
    check_refused(FakeTensor(shape, strides, data=data), wanted)
    with pytest.raises(BufferError, match=wanted):
        ManagedToPy(table_of(gd.Tensor).managed_to_py)(
            FakeTensor(shape, strides, data=data).address, ctypes.byref(ctypes.c_void_p())
        )


@pytest.mark.parametrize("shape", [(0, 2**62), (2**31, 0, 2**31), (0, 2**31, 2**31)])
def test_nothing_of_many(shape):
    """R40: the largest possible shape can be copied."""
    for fake in (FakeTensor(shape, (7,) * len(shape), data=None), FakeTensor(shape)):
        assert gd.from_dlpack(fake.capsule()).copy().shape == shape


def test_copy_that_the_producer_made():
    """R24: it is not copied again."""
    fake = FakeTensor(flags=IS_COPIED)
    t = gd.from_dlpack(Producer(fake), copy=True)
    assert t.data_ptr == fake.data
    assert not t.readonly


@pytest.mark.parametrize("thing", [None, 5, "capsule", object(), b"", gd.zeros])
def test_producer_of_something_else(thing):
    class Other:
        def __dlpack__(self, **_):
            return thing

    with pytest.raises(TypeError, match=rf"Other\.__dlpack__\(\) returned {type(thing).__name__}: want a capsule"):
        gd.from_dlpack(Other())


def test_producer_of_a_used_capsule():
    """R38"""
    fake = FakeTensor()
    capsule = fake.capsule()
    t = gd.from_dlpack(capsule)

    class Stale:
        def __dlpack__(self, **_):
            return capsule

    with pytest.raises(ValueError, match="already consumed"):
        gd.from_dlpack(Stale())
    assert t.tolist() == VALUES


def test_refusal_names_the_producer():
    producer = Producer(FakeTensor(ndim=-1))
    for _ in range(2):
        with pytest.raises(BufferError, match="Producer: ndim: want 0 to 64, got -1"):
            gd.from_dlpack(producer)
    assert producer.fake.deleted == producer.fake.exported


def test_device_method_may_be_missing():
    """R31: the import does not use it."""

    class Half:
        def __dlpack__(self, **_):
            return FakeTensor().capsule()

    assert gd.from_dlpack(Half()).tolist() == VALUES


@pytest.mark.parametrize("thing", [5, None, "text", [1.0], object(), gd, 1.5])
def test_no_tensor(thing):
    """R31"""
    with pytest.raises(TypeError, match=r"want a tensor \(an object with __dlpack__\) or a DLPack capsule, got"):
        gd.from_dlpack(thing)
    with pytest.raises(TypeError, match=r"want a tensor, a DLPack capsule,? or an object with the buffer protocol"):
        gd.asarray(thing)


def test_type_is_no_tensor():
    with pytest.raises(TypeError):
        gd.from_dlpack(gd.Tensor)
    with pytest.raises(TypeError, match="want a tensor, a DLPack capsule, or an object with the buffer protocol"):
        gd.asarray(gd.Tensor)


def test_dlpack_that_fails_to_be_found():
    class Proxy:
        @property
        def __dlpack__(self):
            raise Unheard("no")

    with pytest.raises((Unheard, TypeError)):
        gd.from_dlpack(Proxy())


# ---- devices and copies ----


def test_move_to_the_cpu():
    fake = FakeTensor(device=(3, 0))
    t = gd.from_dlpack(Producer(fake), device="cpu")
    assert t.device == "cpu" and t.tolist() == VALUES
    assert fake.deleted == 1


def test_move_without_a_copy():
    """R26"""
    fake = FakeTensor(device=(3, 0))
    with pytest.raises(BufferError, match="moving from cuda_host to cpu needs a copy, and copy=False"):
        gd.from_dlpack(Producer(fake), device="cpu", copy=False)
    assert fake.deleted == 1


@pytest.mark.parametrize(("device", "asked"), [((1, 0), "cuda"), ((2, 0), "cuda:1"), ((2, 0), "cpu"), ((1, 0), (1, 1))])
def test_moves_that_cannot_be_made(device, asked):
    fake = FakeTensor(device=device)
    with pytest.raises(BufferError, match=r"no CUDA driver|cannot copy from cpu to cpu:1"):
        gd.from_dlpack(Producer(fake), device=asked)
    assert fake.deleted == 1


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "wanted"),
    [
        ((), {}, TypeError, "missing required argument 'x'"),
        ((gd.zeros(0), 1), {}, TypeError, "takes at most 1 positional argument, got 2"),
        ((), {"x": 1}, TypeError, "unexpected keyword argument 'x'"),
        ((gd.zeros(0),), {"stream": 1}, TypeError, "unexpected keyword argument 'stream'"),
        ((gd.zeros(0),), {"device": "gpu"}, ValueError, "want one of cpu, cuda,"),
        ((gd.zeros(0),), {"device": 5}, TypeError, "want a Device or its name, got 5"),
        ((gd.zeros(0),), {"device": (99, 0)}, ValueError, r"got \(99, 0\)"),
    ],
)
def test_wrong_arguments(arguments, keywords, error, wanted):
    with pytest.raises(error, match=wanted):
        gd.from_dlpack(*arguments, **keywords)


def test_own_tensor():
    t = gd.zeros((2, 3))[:, ::2]
    for importer in (gd.from_dlpack, gd.asarray):
        other = importer(t)
        assert (other.data_ptr, other.shape, other.strides) == (t.data_ptr, t.shape, t.strides)
        assert importer(t, copy=False).data_ptr == t.data_ptr
        assert importer(t, copy=True).data_ptr != t.data_ptr
    assert gd.from_dlpack(t, device="cpu", copy=False).data_ptr == t.data_ptr


def test_producer_itself_is_not_held():
    """Importing keeps no reference to the producer."""
    producer = Producer(FakeTensor())
    count = sys.getrefcount(producer)
    t = gd.from_dlpack(producer)
    assert sys.getrefcount(producer) == count
    assert t.size == 3


@pytest.mark.parametrize(
    "record",
    [
        {"shape": (2, 2), "strides": (1 << 56, 1 << 56)},
        {"shape": (2, 2), "strides": (-(1 << 56), -(1 << 56))},
        {"shape": (2,), "strides": (-(1 << 48),)},
        {"shape": (1,) * 63, "strides": (1 << 62,) * 63},
        {"data": 2**62 - 8},
        {"dtype": (0, 136, 1)},
    ],
    ids=str,
)
def test_fast_path_leaves_odd_records_to_go(record):
    """Go imports or refuses records that the fast path does not handle; both release them once."""
    assert gd.from_dlpack(Producer(FakeTensor())).size == 3  # makes a plan
    fake = FakeTensor(**record)
    with contextlib.suppress(BufferError):
        assert gd.from_dlpack(Producer(fake)).shape == record.get("shape", (3,))
    assert fake.deleted == 1


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("copy", [None, True])
def test_tensor_without_deleter(legacy, copy):
    """R13"""
    t = gd.from_dlpack(FakeTensor(legacy=legacy, deleter=False).capsule(), copy=copy)
    assert t.tolist() == [0.0, 1.0, 2.0]


def test_method_that_wants_other_keywords_later():
    class Fickle(Producer):
        old = False

        def __dlpack__(self, **asked):
            if self.old and asked.keys() - {"stream"}:
                raise TypeError("unexpected keyword argument")
            return super().__dlpack__(**asked)

    assert gd.from_dlpack(Fickle(FakeTensor())).size == 3
    Fickle.old = True
    assert gd.from_dlpack(Fickle(FakeTensor(legacy=True))).tolist() == [0.0, 1.0, 2.0]


# ---- asarray ----


def test_asarray_dtype():
    t = gd.zeros(3, "int8")
    assert gd.asarray(t, dtype="int8").data_ptr == t.data_ptr
    other = gd.asarray(t, dtype="int16")
    assert (other.dtype, other.tolist()) == ("int16", [0, 0, 0])
    with pytest.raises((BufferError, ValueError), match=r"int16.*int8|int8.*int16|copy"):
        gd.asarray(t, dtype="int16", copy=False)
    with pytest.raises(ValueError, match="want a name such as"):
        gd.asarray(t, dtype="integer")
