"""Many threads at once. The counters of each test detect leaks and double releases."""

import ctypes
import sys

import pytest

import godlpack as gd
from godlpack.testing.records import delete_without_gil, take
from helpers.fakes import FakeTensor, fake_table, publish
from helpers.threads import ROUNDS, THREADS, together


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_same_tensor():
    t = gd.full((10, 10), 7, "int32")

    def work(number):
        capsule = t.__dlpack__(max_version=(1, 0) if number % 2 else None)
        assert gd.from_dlpack(capsule)[number].data_ptr == t.data_ptr + 40 * number
        assert memoryview(t)[number, 0] == 7

    together(work)


def test_own_tensors():
    def work(number):
        t = gd.full((number + 1, 3), number, "int64")
        assert t.copy().T.contiguous().tolist() == [[number] * (number + 1)] * 3
        assert f"shape=({number + 1}, 3)" in repr(t)

    together(work)


def test_large_tensors():
    """Filling and copying them releases the GIL."""

    def work(number):
        t = gd.full(100_000, number, "int32")
        assert t.copy()[99_999].item() == number

    together(work, rounds=10)


def test_capsule_that_all_want():
    """R38: one thread gets it."""
    won = []
    capsules = [gd.zeros(3).__dlpack__(max_version=(1, 0)) for _ in range(ROUNDS)]
    places = [iter(capsules) for _ in range(THREADS)]

    def work(number):
        try:
            won.append(gd.from_dlpack(next(places[number])))
        except ValueError as error:
            assert "already consumed" in str(error)

    together(work)
    assert len(won) == ROUNDS


def test_deleters_on_other_threads():
    """R12"""
    exported = [take(gd.zeros(3).__dlpack__(max_version=(1, 0))) for _ in range(THREADS * ROUNDS)]

    def work(number):
        delete_without_gil(exported.pop())

    together(work)
    assert not exported


def without_python(managed):
    """Calls the deleters of managed tensors at once, each on a thread that Python does not know."""
    libc = ctypes.CDLL(None)
    libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    threads = [ctypes.c_ulong() for _ in managed]
    for thread, m in zip(threads, managed, strict=True):
        if libc.pthread_create(ctypes.byref(thread), None, m.deleter, ctypes.addressof(m)):
            raise OSError("pthread_create")
    for thread in threads:
        libc.pthread_join(thread, None)


def owners():
    """One tensor of each kind of memory: own, of a versioned and of a legacy producer, of a buffer, mapped."""
    yield gd.zeros(3)
    yield gd.from_dlpack(FakeTensor().capsule())
    yield gd.from_dlpack(FakeTensor(legacy=True).capsule())
    yield gd.asarray(bytearray(12))
    yield gd.zeros(600_000, "int64")


@pytest.mark.skipif(sys.platform != "linux", reason="wants pthread_t to be a long")
def test_last_holders_on_threads_without_python():
    """R12: exports of the same memory, all deleted at once on such threads."""
    for _ in range(20):
        for t in owners():
            views = [t, *(t[:2] for _ in range(3))]
            forms = [{}, {"max_version": (1, 0)}]
            exported = [take(view.__dlpack__(**form)) for view in views for form in forms]
            del views, t
            without_python(exported)


def test_exports_come_and_go_at_once():
    """All threads take and release the export slot of each storage."""
    shared = list(owners())

    def work(number):
        t = shared[number % len(shared)]
        managed = take(t[number % 3 :].__dlpack__(max_version=(1, 0)))
        again = take(t.__dlpack__(max_version=(1, 0)))
        delete_without_gil(managed)
        delete_without_gil(again)

    together(work)


def test_imports_dropped_on_other_threads():
    fake = [FakeTensor() for _ in range(THREADS * ROUNDS)]
    imported = [gd.from_dlpack(f.capsule()) for f in fake]

    def work(number):
        imported.pop()

    together(work)
    assert {f.deleted for f in fake} == {1}


def test_plans():
    """Plans replace each other while other threads use theirs."""
    table = fake_table()
    classes = [publish(table) for _ in range(100)]

    def work(number):
        for cls in classes[number::THREADS]:
            assert gd.from_dlpack(cls(FakeTensor())).size == 3

    together(work, rounds=5)


def test_dtypes_and_devices():
    names = ["int8", "float32", "bfloat16", "float8_e4m3fn", "uint8x3", "int4", "complex64", "handle"]

    def work(number):
        assert gd.empty(0, names[number]).dtype == names[number]
        assert str(gd.Device(f"cuda:{number}")) == f"cuda:{number}"

    together(work)


def test_numpy(np):
    a = np.arange(100)

    def work(number):
        t = gd.from_dlpack(a)
        assert np.from_dlpack(t)[number] == number
        assert t.to(np.ndarray)[number] == number

    together(work)


def test_torch(torch):
    x = torch.arange(100)

    def work(number):
        assert gd.from_dlpack(x).to(torch.Tensor)[number] == number
        assert torch.from_dlpack(gd.from_dlpack(x))[number] == number

    together(work)
