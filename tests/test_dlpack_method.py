"""Tensor.__dlpack__ and __dlpack_device__: the array API's producer."""

import ctypes
import gc
import sys
import threading

import pytest

import godlpack as gd
from godlpack.testing.records import IS_COPIED, PADDED, READ_ONLY, delete_without_gil, name_of, take
from helpers.dtypes import DTYPES
from helpers.fakes import FakeTensor, managed_in, steps

EVERY_FORM = [{}, {"max_version": (1, 0)}]  # a legacy and a versioned capsule
forms = pytest.mark.parametrize("form", EVERY_FORM)


def record_in(capsule):
    return managed_in(capsule).tensor


# ---- arguments ----


def test_arguments_are_keyword_only():
    """R1"""
    for arguments in [(None,), (-1,), (None, (1, 0))]:
        with pytest.raises(TypeError, match="takes at most 0 positional arguments, got"):
            gd.zeros(3).__dlpack__(*arguments)


@pytest.mark.parametrize("extra", [{"streams": None}, {"copied": True}, {"": 1}])
def test_unknown_keyword(extra):
    """R2: a TypeError, after which consumers call with fewer arguments."""
    with pytest.raises(TypeError, match="got an unexpected keyword argument"):
        gd.zeros(3).__dlpack__(max_version=(1, 0), **extra)


@pytest.mark.parametrize("version", [None, (0, 0), (0, 8), (0, 99), (-1, 0), (False, 5)])
def test_legacy(version):
    """R4"""
    capsule = gd.zeros(3).__dlpack__(max_version=version)
    assert name_of(capsule) == "dltensor"
    assert name_of(gd.zeros(3).__dlpack__()) == "dltensor"


@pytest.mark.parametrize("version", [(1, 0), (1, 3), (1, 99), (2, 0), (2**40, 7), (True, 0)])
def test_versioned(version):
    """R5, R6: godlpack's own version, whichever is requested."""
    capsule = gd.zeros(3).__dlpack__(max_version=version)
    assert name_of(capsule) == "dltensor_versioned"
    managed = managed_in(capsule)
    assert (managed.version.major, managed.version.minor) == (1, 3)
    assert managed.flags == 0


def test_version_beyond_64_bits():
    """R6"""
    assert name_of(gd.zeros(3).__dlpack__(max_version=(2**70, 0))) == "dltensor_versioned"


@pytest.mark.parametrize(
    "version",
    [1, (1,), (1, 0, 0), [1, 0], "10", (1.0, 0), ("1", "0"), (None, 0), (1, None), (0, None), (1, "0"), (1, 0.5), ()],
)
@pytest.mark.parametrize("rest", [{}, {"copy": False}], ids=["fast path", "Go"])
def test_wrong_version(version, rest):
    """R7, in both forms of the call."""
    with pytest.raises(TypeError, match="want None or a tuple of two ints, got"):
        gd.zeros(3).__dlpack__(max_version=version, **rest)


@pytest.mark.parametrize("stream", [None, -1])
@forms
def test_stream(stream, form):
    """R27"""
    assert gd.zeros(3).__dlpack__(stream=stream, **form)


@pytest.mark.parametrize("stream", [0, 1, 2, 3, -2, 12345])
def test_streams_that_the_cpu_has_not(stream):
    """R27, R3: an error, but not a TypeError."""
    with pytest.raises(ValueError, match=rf"'stream': {stream} is not a stream of device cpu"):
        gd.zeros(3).__dlpack__(stream=stream)


def test_stream_beyond_64_bits():
    with pytest.raises(ValueError, match=f"{2**70} is not a stream"):
        gd.zeros(3).__dlpack__(stream=2**70)


@pytest.mark.parametrize("stream", [1.5, "1", (), object()])
def test_wrong_streams(stream):
    with pytest.raises(TypeError, match="want None or an int, got"):
        gd.zeros(3).__dlpack__(stream=stream)


@pytest.mark.parametrize(
    ("device", "good", "bad"), [((2, 0), [None, -1, 1], [0, -2]), ((10, 0), [None, -1, 0, 3, 2**63], [1, 2, -2])]
)
def test_streams_of_gpus(device, good, bad):
    """R28: CUDA has no stream 0, and ROCm no streams 1 and 2."""
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    for stream in good:
        assert record_in(t.__dlpack__(stream=stream)).device_pair() == device
    for stream in bad:
        with pytest.raises(
            ValueError, match=f"argument 'stream': .*stream {stream}|{stream} is not a stream of device"
        ):
            t.__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", [2, 3, 2**63])
def test_streams_that_must_wait_need_a_driver(stream):
    t = gd.from_dlpack(FakeTensor(device=(2, 0)).capsule())
    with pytest.raises(BufferError, match="no CUDA driver"):
        t.__dlpack__(stream=stream)


@pytest.mark.parametrize("device", [None, (1, 0), (gd.DeviceType.CPU, 0)])
@forms
def test_device(device, form):
    """R26"""
    t = gd.zeros(3)
    record = record_in(t.__dlpack__(dl_device=device, **form))
    assert record.data == t.data_ptr


@pytest.mark.parametrize("device", [(2, 0), (8, 0), (99, 0), (-1, 0), (1, 1), (1, -1)])
@pytest.mark.parametrize("copying", [None, True])
def test_devices_that_are_not_there(device, copying):
    """R26, R3"""
    with pytest.raises(BufferError, match=r"cannot copy from cpu to |no CUDA driver"):
        gd.zeros(3).__dlpack__(dl_device=device, copy=copying)


@forms
def test_copies_are_where_they_were_asked_for(form):
    """R26: the requested device, or an error."""
    t = gd.from_dlpack(FakeTensor(device=(3, 0)).capsule())
    with pytest.raises(BufferError, match="no CUDA driver"):
        t.__dlpack__(copy=True, dl_device=(3, 0), **form)
    with pytest.raises(BufferError, match="cannot copy from cuda_host to rocm:0"):
        t.__dlpack__(copy=True, dl_device=(10, 0), **form)
    assert record_in(t.__dlpack__(copy=True, dl_device=(1, 0), **form)).device_pair() == (1, 0)


@pytest.mark.parametrize("text", ["True", "False", ""])
def test_copy_is_no_text(text):
    """R25: the text "False" would be true."""
    for call in (gd.zeros(3).__dlpack__, lambda copy: gd.from_dlpack(gd.zeros(3), copy=copy)):
        with pytest.raises(ValueError, match=f"'copy': want None, True or False, got '{text}'"):
            call(copy=text)


def test_other_device_without_a_copy():
    """R26"""
    with pytest.raises(BufferError, match="moving from cpu to cuda:0 needs a copy, and copy=False"):
        gd.zeros(3).__dlpack__(dl_device=(2, 0), copy=False)


@pytest.mark.parametrize("device", [1, "cpu", [1, 0], (1,), (1, 0, 0), ("cpu", 0), (1.0, 0), (1, None)])
def test_wrong_devices(device):
    with pytest.raises(TypeError, match=r"want None or a tuple \(type, id\), got"):
        gd.zeros(3).__dlpack__(dl_device=device)


@pytest.mark.parametrize("device", [(1, 2**32), (2**32 + 1, 0), (1, 2**70)])
def test_devices_beyond_32_bits(device):
    with pytest.raises((BufferError, ValueError)):
        gd.zeros(3).__dlpack__(dl_device=device)


# ---- exports ----


@pytest.mark.parametrize("name", DTYPES)
@forms
def test_record(name, form):
    """R14, R16, R17, R20-R22: the record is complete, without byte_offset."""
    t = gd.zeros((2, 3), name)
    record = record_in(t.__dlpack__(**form))
    assert record.dtype_triple() == DTYPES[name]
    assert (record.dims(), steps(record)) == ((2, 3), (3, 1))
    assert (record.data, record.byte_offset) == (t.data_ptr, 0)
    assert record.device_pair() == (1, 0)


@pytest.mark.parametrize(
    "key", [..., 0, (slice(None), 1), slice(None, None, -1), (..., slice(1, None, 2)), (0, 0), None]
)
@forms
def test_strides_are_always_there(key, form):
    """R14"""
    view = gd.zeros((4, 5))[key]
    record = record_in(view.__dlpack__(**form))
    assert record.dims() == view.shape
    assert steps(record) == view.strides
    assert record.shape and record.strides  # with 0 dimensions, too
    assert record.data == view.data_ptr


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
@forms
def test_no_elements_no_data(shape, form):
    """R15, also for memory of others."""
    for t in (gd.zeros(shape), gd.from_dlpack(FakeTensor(shape).capsule())):
        record = record_in(t.__dlpack__(**form))
        assert record.data is None
        assert record.dims() == shape


def test_deleter_is_never_missing():
    """R13: jax would abort without one."""
    t = gd.from_dlpack(FakeTensor(deleter=False).capsule())
    for form in EVERY_FORM:
        assert managed_in(t.__dlpack__(**form)).deleter


# ---- read-only ----


def test_read_only_flag():
    """R23"""
    t = gd.asarray(b"abc")
    assert managed_in(t.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert managed_in(t.__dlpack__(max_version=(1, 0), copy=False)).flags == READ_ONLY


@pytest.mark.parametrize("keywords", [{}, {"copy": False}, {"max_version": (0, 8)}, {"dl_device": (1, 0)}])
def test_legacy_cannot_say_read_only(keywords):
    """R23"""
    with pytest.raises(BufferError, match=r"the tensor is read-only, which a legacy DLPack capsule cannot express"):
        gd.asarray(b"abc").__dlpack__(**keywords)


def test_legacy_cannot_say_padded():
    """R21"""
    t = gd.from_dlpack(FakeTensor(dtype=(0, 4, 1), flags=PADDED).capsule())
    assert managed_in(t.__dlpack__(max_version=(1, 0))).flags == PADDED
    with pytest.raises(BufferError, match="padded to bytes"):
        t.__dlpack__()


def test_copy_of_padded_says_so():
    t = gd.from_dlpack(FakeTensor(dtype=(0, 4, 1), flags=PADDED).capsule())
    assert managed_in(t.__dlpack__(max_version=(1, 0), copy=True)).flags in (IS_COPIED | PADDED, IS_COPIED)


def test_legacy_cannot_say_padded_of_a_copy():
    """R21, R25"""
    fake = FakeTensor((2,), dtype=(1, 4, 1), flags=PADDED)
    ctypes.memset(fake.memory, 3, 8)
    t = gd.from_dlpack(fake.capsule())
    try:
        capsule = t.__dlpack__(copy=True)
    except BufferError:
        return
    assert gd.from_dlpack(capsule).tolist() == t.tolist() == [3, 3]


# ---- copies ----


@forms
def test_copy_is_a_copy(form):
    """R24, R25"""
    t = gd.full(3, 1.5)
    capsule = t.__dlpack__(copy=True, **form)
    managed = managed_in(capsule)
    assert managed.tensor.data != t.data_ptr
    if form:
        assert managed.flags == IS_COPIED
    assert gd.from_dlpack(capsule).tolist() == [1.5] * 3


def test_copy_of_read_only_is_writable():
    """R24"""
    for form in EVERY_FORM:
        capsule = gd.asarray(b"abc").__dlpack__(copy=True, **form)
        assert not form or managed_in(capsule).flags == IS_COPIED
        t = gd.from_dlpack(capsule)
        assert not t.readonly and bytes(memoryview(t)) == b"abc"


@pytest.mark.parametrize("copying", [None, False])
@forms
def test_no_copy(copying, form):
    """R25"""
    t = gd.zeros((3, 3))[::2]
    managed = managed_in(t.__dlpack__(copy=copying, **form))
    assert managed.tensor.data == t.data_ptr
    assert not form or managed.flags == 0


def test_copy_of_a_view_is_contiguous():
    t = gd.zeros((4, 4)).T[::-2]
    record = record_in(t.__dlpack__(copy=True))
    assert (record.dims(), steps(record)) == ((2, 4), (4, 1))


def test_copied_is_no_news_for_the_next():
    """R24: IS_COPIED of an imported tensor is not passed on to its consumers."""
    t = gd.from_dlpack(FakeTensor(flags=IS_COPIED).capsule())
    assert managed_in(t.__dlpack__(max_version=(1, 0))).flags == 0


@pytest.mark.parametrize(
    ("device", "wanted"),
    [((2, 0), "no CUDA driver: libcuda-kept-away"), ((10, 0), "the CPU cannot read memory on rocm:0")],
)
def test_memory_the_cpu_cannot_read_is_not_copied(device, wanted):
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    for keywords in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match=wanted):
            t.__dlpack__(**keywords)


# ---- lifetime ----


@forms
def test_unconsumed_capsule(form):
    """R9: its destructor deletes the tensor, as the counters prove."""
    before = gd._core._counters()
    capsule = gd.zeros(3).__dlpack__(**form)
    del capsule
    after = gd._core._counters()
    assert after["storages_made"] - before["storages_made"] == 1
    assert after["storages_freed"] - before["storages_freed"] == 1


@forms
def test_unconsumed_capsule_in_an_exception(form):
    """R9: the exception that is being raised is not changed."""

    def fail():
        capsule = gd.zeros(3).__dlpack__(**form)
        raise KeyError(name_of(capsule))

    with pytest.raises(KeyError):
        fail()


@forms
def test_used_capsule_does_not_delete(form):
    """R9, R36"""
    capsule = gd.zeros(3).__dlpack__(**form)
    managed = take(capsule)
    made = gd._core._counters()["storages_freed"]
    del capsule
    gc.collect()
    assert gd._core._counters()["storages_freed"] == made
    delete_without_gil(managed)


@forms
def test_export_twice(form):
    """R10"""
    t = gd.zeros(3)
    first, second = t.__dlpack__(**form), t.__dlpack__(**form)
    assert ctypes.addressof(managed_in(first)) != ctypes.addressof(managed_in(second))
    assert record_in(first).data == record_in(second).data


@forms
def test_export_outlives_the_tensor(form):
    """R11, R32"""
    t = gd.full(1000, 7, "int32")
    capsule = t.__dlpack__(**form)
    del t
    gc.collect()
    record = record_in(capsule)
    assert list((ctypes.c_int32 * 1000).from_address(record.data)) == [7] * 1000
    assert (record.dims(), steps(record)) == ((1000,), (1,))


@forms
def test_deleter_on_a_thread_without_the_gil(form):
    """R12: ctypes releases the GIL, on a new thread."""
    t = gd.zeros(3)
    managed = take(t.__dlpack__(**form))
    del t
    thread = threading.Thread(target=delete_without_gil, args=(managed,))
    thread.start()
    thread.join()


def libc_thread(function, argument):
    """Runs a C function of one pointer on a thread that Python does not know."""
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    if libc.pthread_create(ctypes.byref(thread), None, function, argument):
        raise OSError("pthread_create")
    libc.pthread_join(thread, None)


@pytest.mark.skipif(sys.platform != "linux", reason="wants pthread_t to be a long")
@forms
def test_deleter_on_a_thread_without_python(form):
    """R12"""
    managed = take(gd.zeros(3).__dlpack__(**form))
    libc_thread(managed.deleter, ctypes.addressof(managed))


@pytest.mark.skipif(sys.platform != "linux", reason="wants pthread_t to be a long")
def test_deleter_of_a_buffer_on_a_thread_without_python():
    """R12: this deleter takes the GIL, to release the buffer."""
    memory = bytearray(b"abc")
    managed = take(gd.asarray(memory).__dlpack__())
    with pytest.raises(BufferError):
        memory.append(0)  # R32: pinned
    libc_thread(managed.deleter, ctypes.addressof(managed))
    memory.append(0)


@pytest.mark.parametrize("device", [(1, 0), (2, 1), (3, 0), (10, 3), (13, 0)])
def test_dlpack_device(device):
    """R30"""
    t = gd.from_dlpack(FakeTensor(device=device).capsule())
    assert t.__dlpack_device__() == device
    assert [type(n) for n in t.__dlpack_device__()] == [int, int]
    with pytest.raises(TypeError):
        t.__dlpack_device__(1)


class MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class MethodDescriptor(ctypes.Structure):
    """CPython's PyMethodDescrObject, the type of the methods of types written in C."""

    _fields_ = [
        ("head", ctypes.c_byte * object.__basicsize__),
        ("type", ctypes.py_object),
        ("name", ctypes.py_object),
        ("qualified_name", ctypes.py_object),
        ("method", ctypes.POINTER(MethodDef)),
    ]


@pytest.mark.parametrize("name", ["__dlpack__", "copy", "to", "reshape", "tolist"])
def test_methods_without_their_object(name):
    """If CPython calls a specialized method without its object, it passes -1 arguments, even to `str.split`, and takes
    a value on its stack for the object. That is undefined behaviour, so this test makes the same C call itself."""
    method = getattr(gd.Tensor, name)
    with pytest.raises(TypeError, match="unbound method"):
        method()
    definition = ctypes.cast(id(method), ctypes.POINTER(MethodDescriptor)).contents.method.contents
    assert definition.name == name.encode()
    assert definition.flags == 0x80 | 0x2  # METH_FASTCALL | METH_KEYWORDS
    function = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p
    )(definition.function)
    for _ in range(20):
        with pytest.raises(TypeError, match="unbound method"):
            function(gd.zeros(3), None, -1, None)
