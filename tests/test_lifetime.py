"""Lifetimes: objects are released in any order and on any thread, and repetition loses nothing."""

import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import godlpack as gd
from godlpack.testing import Managed, Producer
from godlpack.testing.records import take
from helpers import build
from helpers.fakes import FakeTensor
from helpers.threads import together

MANY = 100_000

LIBRARY = r"""
#include <pthread.h>
#include <stdlib.h>

typedef struct { void (*deleter)(void *); void *managed; } task;

static void *run(void *p) {
  task *t = p;
  t->deleter(t->managed);
  return NULL;
}

/* Calls a deleter on a thread that Python has never seen, and waits for it. */
int delete_on_thread(void (*deleter)(void *), void *managed) {
  task t = {deleter, managed};
  pthread_t thread;
  return pthread_create(&thread, NULL, run, &t) || pthread_join(thread, NULL);
}

static task tasks[100];
static int count;

static void run_all(void) {
  for (int i = 0; i < count; i++) run(&tasks[i]);
}

/* Calls a deleter when the process exits, after Python was finalized. */
void delete_at_exit(void (*deleter)(void *), void *managed) {
  if (count == 0) atexit(run_all);
  tasks[count++] = (task){deleter, managed};
}

extern void *PyExc_KeyError;
void PyErr_SetString(void *, const char *);
int PyErr_ExceptionMatches(void *);
void PyErr_Clear(void);
void Py_DecRef(void *);

/* Drops an object while an exception is set; whether it is still set then. */
int drop_in_flight(void *object) {
  PyErr_SetString(PyExc_KeyError, "on its way");
  Py_DecRef(object);
  int still = PyErr_ExceptionMatches(PyExc_KeyError);
  PyErr_Clear();
  return still;
}
"""


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    if not build.HAS_CC:
        pytest.skip("needs a C compiler")
    return build.c_library(tmp_path_factory.mktemp("lifetime") / "lifetime.so", LIBRARY, "-pthread")


@pytest.fixture(scope="session")
def unlocked(path):
    """The library, called without the GIL."""
    return ctypes.CDLL(path)


@pytest.fixture(scope="session")
def locked(path):
    """The library, called with the GIL."""
    return ctypes.PyDLL(path)


def arguments(managed):
    return ctypes.c_void_p(managed.deleter), ctypes.c_void_p(ctypes.addressof(managed))


def exported(t, versioned=True):
    return take(t.__dlpack__(max_version=(1, 0) if versioned else None))


def freed():
    return gd._core._counters()["storages_freed"]


# ---- threads ----


@pytest.mark.parametrize("versioned", [True, False])
def test_foreign_thread(unlocked, versioned):
    """R12"""
    before, managed = freed(), exported(gd.zeros(1000), versioned)
    assert freed() == before
    assert unlocked.delete_on_thread(*arguments(managed)) == 0
    assert freed() == before + 1


def test_foreign_thread_while_the_gil_is_held(locked):
    """R12: the deleter of godlpack's own memory does not wait for it."""
    managed = exported(gd.zeros(1000))
    assert locked.delete_on_thread(*arguments(managed)) == 0


def test_foreign_thread_lets_go_of_a_buffer(unlocked):
    """R12, R32: it takes the GIL, and the buffer can be resized again."""
    memory = bytearray(1000)
    managed = exported(gd.asarray(memory))
    with pytest.raises(BufferError):
        memory.clear()
    assert unlocked.delete_on_thread(*arguments(managed)) == 0
    memory.clear()


def test_foreign_thread_lets_go_of_others(unlocked):
    """The last owner of another library's tensor calls its deleter, on any thread."""
    fake = Managed()
    managed = exported(gd.from_dlpack(fake.capsule()))
    assert fake.deleted == 0
    assert unlocked.delete_on_thread(*arguments(managed)) == 0
    assert fake.deleted == 1


def test_foreign_thread_lets_go_of_frameworks(unlocked, np, torch):
    """R12"""
    array = np.arange(5)
    count = sys.getrefcount(array)
    for x in (array, torch.arange(5)):
        managed = exported(gd.from_dlpack(x))
        assert unlocked.delete_on_thread(*arguments(managed)) == 0
    assert sys.getrefcount(array) - count <= 1  # x


# ---- exit ----


def script(text):
    """Runs a script, which must exit with 0 and without output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-X", "faulthandler", "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), f"exit status {done.returncode}: {done.stderr}"
    return done.stdout


def test_exit_with_globals():
    """R12"""
    script(
        """
import sys, godlpack as gd
t = gd.zeros((3, 4))
view, memory, frozen = t[1:], memoryview(t), gd.asarray(b"abc")
legacy, versioned = t.__dlpack__(), t.__dlpack__(max_version=(1, 0))
taken = gd.from_dlpack(t.__dlpack__())
cycle = [t, legacy]; cycle.append(cycle)
class Late:
    def __del__(self, t=t):
        t.__dlpack__(max_version=(1, 0))
sys.modules["late"] = late = Late()
"""
    )


@pytest.mark.parametrize("framework", ["numpy", "torch", "jax.numpy"])
def test_exit_with_tensors_of_others(framework):
    """R12: in both directions, and capsules that were not consumed."""
    pytest.importorskip(framework)
    script(
        f"""
import sys, {framework} as f, godlpack as gd
x = f.ones(3)
own, t = gd.zeros(64), gd.from_dlpack(x)
given = f.from_dlpack(own)
capsules = [x.__dlpack__(), own.__dlpack__(), t.copy().__dlpack__(max_version=(1, 0))]
sys.modules["kept"] = [x, t, own, given, capsules]
"""
    )


def test_after_finalization(path):
    """R12: godlpack's own memory is freed, Python's objects are left alone."""
    script(
        f"""
import ctypes, godlpack as gd
from godlpack.testing.records import take
library = ctypes.CDLL({str(path)!r})
for t in (gd.zeros(10), gd.zeros(2_000_000), gd.asarray(bytearray(100)), gd.asarray(b"abc"), gd.zeros(9)[::2]):
    for _ in range(2):
        managed = take(t.__dlpack__(max_version=(1, 0)))
        library.delete_at_exit(ctypes.c_void_p(managed.deleter), ctypes.c_void_p(ctypes.addressof(managed)))
"""
    )


def test_after_finalization_of_others(path, np, torch):
    """R12: tensors of numpy and torch whose last owner is an export of godlpack's."""
    script(
        f"""
import ctypes, numpy, torch, godlpack as gd
from godlpack.testing.records import take
library = ctypes.CDLL({str(path)!r})
for x in (numpy.ones(3), torch.ones(3), numpy.array(1)):
    managed = take(gd.from_dlpack(x).__dlpack__(max_version=(1, 0)))
    library.delete_at_exit(ctypes.c_void_p(managed.deleter), ctypes.c_void_p(ctypes.addressof(managed)))
"""
    )


# ---- cycles, exceptions ----


def test_cycles():
    before = freed()
    t = gd.zeros(3)
    cycle = {"tensor": t, "view": t[1:], "capsule": t.__dlpack__(), "memory": memoryview(t)}
    cycle["itself"] = cycle
    del t, cycle
    gc.collect()
    assert freed() == before + 1


def test_cycle_through_the_producer():
    """A producer that keeps the tensor that was made of it."""
    producer = Producer(Managed())
    producer.made = gd.from_dlpack(producer)
    fake = producer.forged
    del producer
    gc.collect()
    assert fake.deleted == 1


def test_cycle_that_ends_in_a_finalizer():
    seen = []

    class Last:
        def __init__(self):
            self.t, self.itself = gd.full(3, 7, "int8"), self

        def __del__(self):
            seen.append(gd.from_dlpack(self.t.__dlpack__()).tolist())

    Last()
    gc.collect()
    assert seen == [[7, 7, 7]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: gd.zeros(3),
        lambda: gd.zeros(3).__dlpack__(),
        lambda: gd.zeros(3).__dlpack__(max_version=(1, 0)),
        lambda: gd.asarray(bytearray(3)),
        lambda: gd.from_dlpack(Managed().capsule()),
        lambda: gd.from_dlpack(Managed(legacy=True).capsule()),
    ],
)
def test_exception_in_flight(locked, make):
    """R9: whatever is released while an exception is set leaves it set."""
    x = make()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
    address = ctypes.c_void_p(id(x))
    del x  # only the reference of Py_IncRef is left
    assert locked.drop_in_flight(address) == 1


# ---- owners ----


def test_consumers_outlive_the_producer(np, torch):
    """R32"""
    before = freed()
    t = gd.full((100, 100), 7, "int32")
    kept = [np.from_dlpack(t), torch.from_dlpack(t), t.to(np.ndarray)[1:], memoryview(t), np.asarray(t)]
    del t
    gc.collect()
    trash = [gd.full((100, 100), 9, "int32") for _ in range(50)]
    assert {int(x[0, 0]) for x in kept} == {7}
    del trash
    assert freed() == before + 50
    while kept:
        assert freed() == before + 50
        kept.pop()
        gc.collect()
    assert freed() == before + 51


def test_chain(np, torch):
    """godlpack's, torch's, numpy's and godlpack's tensors share one memory, which is freed once, at the end."""
    before = freed()
    first = gd.full(5, 3.0)
    address = first.data_ptr
    second = torch.from_dlpack(first)
    third = np.from_dlpack(second)
    last = gd.from_dlpack(third)
    del first, second, third
    gc.collect()
    assert (last.data_ptr, last.tolist()) == (address, [3.0] * 5)
    assert freed() == before
    del last
    gc.collect()
    after = freed()
    assert gd._core._counters()["storages_freed"] == after > before


def test_long_chain():
    """A long chain of tensors: the release of the last one does not overflow the stack."""
    t = gd.full(3, 1, "int8")
    for _ in range(10_000):
        t = gd.from_dlpack(t.__dlpack__(max_version=(1, 0)))
    assert t.tolist() == [1, 1, 1]


# ---- repetition ----


def routes(np, torch):
    array, tensor, own, producer = np.arange(3.0), torch.arange(3.0), gd.zeros(3), gd.zeros(3)
    assert np.from_dlpack(own) is not None
    return [
        ([array, np.ndarray], lambda: gd.from_dlpack(array)),
        ([array], lambda: gd.from_dlpack(array.__dlpack__())),
        ([tensor, torch.Tensor], lambda: gd.from_dlpack(tensor)),
        ([own, np.ndarray], lambda: own.to(np.ndarray)),
        ([own, torch.Tensor], lambda: own.to(torch.Tensor)),
        ([own], lambda: np.from_dlpack(own)),
        ([producer], lambda: producer.__dlpack__()),
        ([producer], lambda: producer.__dlpack__(max_version=(1, 0))),
        ([own], lambda: memoryview(own)),
    ]


def test_reference_counts_stay(np, torch):
    """Reference counts of the objects, their types and common singletons stay the same over 10^5 exchanges."""
    everybody = [gd.Tensor, gd.DType, gd.Device, None, True]
    for objects, route in routes(np, torch):
        route()
        watched = [*objects, *everybody]
        before = [sys.getrefcount(x) for x in watched]
        for _ in range(MANY // 9):
            route()
        after = [sys.getrefcount(x) for x in watched]
        assert all(abs(a - b) <= 9 for a, b in zip(after, before, strict=True)), (before, after)


def test_reference_counts_stay_when_it_fails(torch):
    conjugate = torch.tensor([1j]).conj()
    bad = Managed(ndim=-1).capsule()
    for x in (conjugate, bad, None, object()):
        before = [sys.getrefcount(x), sys.getrefcount(BufferError), sys.getrefcount(TypeError)]
        for _ in range(1000):
            with pytest.raises((BufferError, TypeError)):
                gd.from_dlpack(x)
        after = [sys.getrefcount(x), sys.getrefcount(BufferError), sys.getrefcount(TypeError)]
        assert x is None or all(abs(a - b) <= 9 for a, b in zip(after, before, strict=True)), (before, after)


def resident():
    """Resident memory in bytes."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_bytes_stay(np, torch):
    """Memory stays the same over 10^5 exchanges of 1 MB tensors."""

    def exchange():
        t = gd.empty(1 << 20, "uint8")
        a = np.from_dlpack(t)
        a[:: 1 << 12] = 1  # touches every page
        gd.from_dlpack(torch.from_dlpack(t))
        gd.from_dlpack(a.__dlpack__(max_version=(1, 0)))

    for _ in range(100):
        exchange()
    before = resident()
    for _ in range(MANY // 4):  # four exchanges each
        exchange()
    assert resident() - before < 16 << 20


# ---- several exports of one tensor: the first uses the slot in the storage ----


@pytest.mark.parametrize("ndim", [0, 1, 6, 7, 64])
def test_exports_side_by_side(ndim):
    """Each has its own record, and the memory lives until the last one is released, in any order."""
    t = gd.full((1,) * ndim, 7.0)
    views = [gd.from_dlpack(t.__dlpack__(max_version=(1, 3))) for _ in range(3)]
    legacy = gd.from_dlpack(t.__dlpack__())
    del t, views[0]
    again = gd.from_dlpack(views[0].__dlpack__())
    for view in [*views, legacy, again]:
        assert view.shape == (1,) * ndim
        assert view.copy().reshape(1).tolist() == [7.0]


def test_slot_is_taken_again():
    """A released export leaves its slot to the next one, which does not change what a consumer still holds."""
    t = gd.zeros((2, 3))
    kept = np.from_dlpack(t)
    for i in range(5):
        passing = np.from_dlpack(t[:, :2])
        passing[:] = i
        del passing
    assert kept.tolist() == [[4, 4, 0], [4, 4, 0]]


def test_exports_from_many_threads():
    """Any thread may take the slot, and any may release it."""
    t = gd.zeros((2, 3))

    def work(_):
        assert gd.from_dlpack(t).data_ptr == t.data_ptr
        assert np.from_dlpack(t).shape == (2, 3)

    together(work, threads=4, rounds=2000)


LINKS = {
    "numpy": "gd.from_dlpack(a).to(np.ndarray)",
    "numpy's own capsules": "gd.from_dlpack(np.from_dlpack(gd.from_dlpack(a)))",
    "views": "gd.from_dlpack(a)[:]",
    "buffers": "gd.asarray(memoryview(gd.from_dlpack(a)))",
    "capsules": "gd.from_dlpack(gd.from_dlpack(a).__dlpack__())",
    "versioned capsules": "gd.from_dlpack(gd.from_dlpack(a).__dlpack__(max_version=(1, 0)))",
}


@pytest.mark.parametrize("stack", [0, 1 << 16], ids=["main thread", "small stack"])
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
def test_long_chains(python, np, link, stack):
    """Each link keeps the previous one alive: all are released, however many, and however small the stack."""
    python(f"""
import threading
import numpy as np
import godlpack as gd
def make():
    a = np.zeros(3)
    for _ in range({50_000 if stack else 300_000}):
        a = {link}
    return a
def drop():
    a = make()
    del a
if {stack}:
    threading.stack_size({stack})
    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
else:
    drop()
counters = gd._core._counters()
assert counters["storages_made"] == counters["storages_freed"], counters
assert counters["exports_made"] == counters["exports_deleted"], counters
assert counters["imports_taken"] == counters["imports_deleted"], counters
""")


def test_long_chain_of_torch(python, torch):
    python("""
import torch
import godlpack as gd
a = torch.zeros(3)
for _ in range(200_000):
    a = torch.from_dlpack(gd.from_dlpack(a.__dlpack__()))
del a
counters = gd._core._counters()
assert counters["storages_made"] == counters["storages_freed"], counters
assert counters["imports_taken"] == counters["imports_deleted"], counters
""")


def test_long_chain_of_managed_tensors():
    """Each deleter releases the tensor that holds the next one."""

    class Link(FakeTensor):
        def _delete(self, address):
            super()._delete(address)
            self.next = None

    links, t = [], None
    for _ in range(200):
        link = Link()
        link.next, t = t, None
        t = gd.from_dlpack(link.capsule())
        links.append(link)
    del t, link
    gc.collect()
    assert all(link.deleted == 1 for link in links)
