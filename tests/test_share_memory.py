"""Torch tensors that get other memory during a call: share_memory_() moves them to memory that other processes can map.

The function sees the memory it was given, the tensor has a copy made when it was shared, and each memory is freed once.
"""

import gc
import io
import multiprocessing
import os
import resource
import threading
import weakref
from contextlib import contextmanager

import pytest

import godlpack as gd
from godlpack import _tool

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("torch.multiprocessing")

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package sharing

import (
	"sync/atomic"

	"godlpack/kernel"
	"godlpack/tensor"
)

func sum(x tensor.Of[float64]) (s float64) {
	for _, v := range x.All() {
		s += v
	}
	return s
}

func write(x tensor.Mut[float64], v float64) (s float64) {
	for p := range x.Pointers() {
		s += *p
		*p = v
	}
	return s
}

//godlpack:export
func CallThen(x tensor.Mut[float64], f kernel.Callable) (float64, error) {
	_, err := f.Call()
	return write(x, 7), err
}

//godlpack:export
func CallThenRead(x tensor.Of[float64], f kernel.Callable) (float64, error) {
	_, err := f.Call()
	return sum(x), err
}

//godlpack:export
func CallThenBoth(x tensor.Mut[float64], y tensor.Of[float64], f kernel.Callable) (float64, float64, error) {
	_, err := f.Call()
	s := sum(y)
	return write(x, 7), s, err
}

//godlpack:export
func Fill(ctx *kernel.Ctx, x tensor.Of[float64], f kernel.Callable) (tensor.Mut[float64], error) {
	y := kernel.Empty[float64](ctx, x.Shape()...)
	_, err := f.Call()
	write(y, 7)
	return y, err
}

var going, enough atomic.Bool

//godlpack:export
func Works() bool { return going.Load() }

//godlpack:export
func Stop() { enough.Store(true) }

//godlpack:export
func Work(x tensor.Mut[float64]) (s float64) {
	enough.Store(false)
	going.Store(true)
	defer going.Store(false)
	for !enough.Load() && (s == 0 || s == float64(x.Len())) {
		s = write(x, 1)
	}
	return s
}
"""
N = 3000


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE)


def own():
    return torch.ones(N, dtype=torch.float64)


def of_numpy():
    return torch.from_numpy(np.ones(N))


def of_buffer():
    return torch.frombuffer(bytearray(np.ones(N)), dtype=torch.float64)


def of_dlpack():
    return torch.from_dlpack(np.ones(N))


def big():
    return torch.ones(300 * N, dtype=torch.float64)


def view():
    return torch.cat([torch.full((5,), 3.0, dtype=torch.float64), own(), torch.full((9,), 4.0, dtype=torch.float64)])[
        5:-9
    ]


def reversed_order():
    return torch.ones(2 * N, 3, dtype=torch.float64).t()[:, 1::2]


MAKERS = [own, of_numpy, of_buffer, of_dlpack, big, view, reversed_order]
makers = pytest.mark.parametrize("make", MAKERS)


@contextmanager
def strategy(name):
    before = torch.multiprocessing.get_sharing_strategy()
    torch.multiprocessing.set_sharing_strategy(name)
    try:
        yield
    finally:
        torch.multiprocessing.set_sharing_strategy(before)


def share(x):
    x.share_memory_()


def share_files(x):
    with strategy("file_system"):
        x.share_memory_()


def pickled(x):
    multiprocessing.reduction.ForkingPickler(io.BytesIO()).dump(x)


def queued(x):
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    queue.put(x)
    assert queue.get().equal(x)


def share_module(x):
    module = torch.nn.Module()
    module.register_buffer("x", x)
    module.share_memory()


def share_name(x):
    x.untyped_storage()._share_filename_cpu_()


def share_descriptor(x):
    x.untyped_storage()._share_fd_cpu_()


def twice(x):
    share(x)
    share_files(x)


SHARERS = [share, share_files, pickled, queued, share_module, share_name, share_descriptor, twice]
sharers = pytest.mark.parametrize("sharer", SHARERS)


def rubbish(x):
    """Reuses freed memory."""
    return [torch.full((x.numel(),), 5.0, dtype=torch.float64) for _ in range(20)]


def sharing(sharer, x, kept=None):
    def run():
        sharer(x)
        kept.append(rubbish(x))

    kept = [] if kept is None else kept
    return run


def is_as_ever(x):
    """A tensor can be resized and shared as before the call."""
    assert x.untyped_storage().resizable()
    x.resize_(10 * N)
    assert not x.is_shared()
    assert x.share_memory_().is_shared()


@sharers
@makers
def test_callback(go, make, sharer):
    x = make()
    assert go.call_then_read(x, sharing(sharer, x)) == x.numel()
    assert x.is_shared()
    assert x.eq(1).all()
    x = make()
    assert go.call_then(x, sharing(sharer, x)) == x.numel()
    assert x.is_shared()
    assert x.eq(1).all()  # later writes of the function went to memory that was given up


@sharers
@makers
def test_thread(go, make, sharer):
    """Another thread shares the tensor while a function works without the GIL."""
    x = make()

    def work():
        while not go.works():
            pass
        sharer(x)
        kept.append(rubbish(x))
        go.stop()

    kept, thread = [], threading.Thread(target=work)
    thread.start()
    try:
        assert go.work(x) == x.numel()
    finally:
        thread.join()
    assert x.is_shared()
    assert x.eq(1).all()


@pytest.mark.parametrize("count", [N, 300])  # small outputs start in scratch memory
@sharers
def test_out(go, sharer, count):
    like = torch.zeros(count, dtype=torch.float64)
    out = torch.ones(count, dtype=torch.float64)
    before = out.clone()
    go.fill(like, sharing(sharer, out), out=out)
    assert out.is_shared()
    assert out.equal(before) or out.eq(7).all()


@sharers
@pytest.mark.parametrize("make", [own, of_numpy])
def test_two_arguments_of_one_storage(go, make, sharer):
    x = make()
    assert go.call_then_both(x[: N // 3], x[N // 3 :], sharing(sharer, x)) == (N // 3, N - N // 3)
    assert x.is_shared()
    assert x.eq(1).all()
    x = make()
    a, b = x[::2], x[1::2]
    assert go.call_then_both(a, b, sharing(sharer, a)) == (a.numel(), b.numel())
    assert x.is_shared()


@sharers
@makers
def test_nested_calls(go, make, sharer):
    x, kept = make(), []
    n = x.numel()

    def inner():
        assert go.call_then_read(x, sharing(sharer, x, kept)) == n
        assert go.call_then(x, lambda: kept.append(rubbish(x))) == n  # this call's memory is shared

    assert go.call_then(x, inner) == n
    assert x.eq(7).all()


def test_calls_of_several_threads(go):
    """Calls begin and end in any order, and each shares the same tensor meanwhile."""
    for _ in range(20):
        x, n = own(), 4
        together, results = threading.Barrier(n), []

        def call(x=x, together=together, results=results):
            kept = []

            def run():
                together.wait()
                share(x)
                kept.append(rubbish(x))

            results.append(go.call_then_read(x, run))

        threads = [threading.Thread(target=call) for _ in range(n)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert results == [N] * n
        assert x.is_shared()


@makers
def test_dropped(go, make):
    """Only the call holds the tensor, which is dropped, or was shared before."""
    for sharer in (lambda x: None, share):
        box, kept = [make()], []
        n = box[0].numel()

        def run(box=box, kept=kept, sharer=sharer, n=n):
            sharer(box[0])
            box.clear()
            gc.collect()
            kept.append([torch.full((n,), 5.0, dtype=torch.float64) for _ in range(20)])

        assert go.call_then(box[0][...], run) == n


@makers
def test_as_ever_after_a_call(go, make):
    x = make()
    before = x.untyped_storage().resizable()
    go.call_then(x, lambda: go.call_then_read(x, lambda: None))
    assert x.untyped_storage().resizable() == before
    if before:
        is_as_ever(x)


@makers
def test_shared_before(go, make):
    """It stays shared: a forked child reads what is written during the call and after it."""
    x = make().share_memory_()
    n = x.numel()
    where = x.data_ptr()

    def run():
        share(x)
        assert x.data_ptr() == where
        pid = os.fork()
        if pid == 0:
            x.numpy().fill(2)  # torch's threads do not exist in the child
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0

    assert go.call_then(x, run) == 2 * n
    assert x.is_shared()
    assert x.data_ptr() == where
    pid = os.fork()
    if pid == 0:
        x.numpy().fill(3)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert x.eq(3).all()
    assert go.call_then_read(x, lambda: None) == 3 * n


def test_forked_within_a_call(go):
    """The child inherits the parent's pins: it may share and free the pinned memory."""
    x = own()

    def run():
        pid = os.fork()
        if pid == 0:
            share(x)
            code = 0 if x.is_shared() and rubbish(x) else 1
            os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0

    assert go.call_then(x, run) == N
    is_as_ever(x)


def test_in_a_forked_child(go):
    """Works in a child whether or not the parent has determined how storages are made."""
    x = own()
    go.call_then_read(x, lambda: None)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            y = own()
            code = 0 if go.call_then(y, sharing(share, y)) == N and y.is_shared() and y.eq(1).all() else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(torch, "_lazy_clone"), reason="needs tensors that are copied on write")
def test_copied_on_write(go):
    x = own()
    lazy = torch._lazy_clone(x)
    assert go.call_then_read(lazy, lambda: None) == N
    lazy.fill_(2)
    assert x.eq(1).all()
    lazy = torch._lazy_clone(x)
    assert go.call_then(lazy, lambda: None) == N
    assert x.eq(1).all()
    assert lazy.eq(7).all()
    clones = []
    assert go.call_then_read(x, lambda: clones.append(torch._lazy_clone(x))) == N
    x.fill_(3)
    assert clones[0].eq(1).all()
    clones[0].fill_(4)
    assert x.eq(3).all()
    is_as_ever(x)


@pytest.mark.skipif(not hasattr(torch, "_lazy_clone"), reason="needs tensors that are copied on write")
def test_memory_that_another_storage_gets(go):
    """A lazy clone takes over the memory in the middle of a call, and is dropped there."""
    x, kept = own(), []

    def run():
        clone = torch._lazy_clone(x)
        x.fill_(2)  # it has other memory now
        assert go.call_then_read(clone, lambda: None) == N
        del clone
        kept.append(rubbish(x))

    assert go.call_then_read(x, run) == N
    assert x.eq(2).all()


class Buffer(bytearray):
    """A bytearray that weak references can refer to."""


def test_memory_goes_when_the_call_ends(go):
    for nested in (False, True):
        buffer = Buffer(8 * N)
        gone = weakref.ref(buffer)
        x = torch.frombuffer(buffer, dtype=torch.float64)
        del buffer

        def run(x=x, gone=gone):
            share(x)
            gc.collect()
            assert gone() is not None

        if nested:
            go.call_then_read(x, lambda x=x, run=run: (go.call_then_read(x, run), run()))
        else:
            go.call_then_read(x, run)
        assert gone() is None
        assert x.is_shared()


def test_memory_goes_with_the_tensor(go):
    buffer = Buffer(8 * N)
    gone = weakref.ref(buffer)
    x = torch.frombuffer(buffer, dtype=torch.float64)
    del buffer
    go.call_then_read(x, lambda x=x: go.call_then_read(x, lambda: None))
    assert gone() is not None
    del x
    assert gone() is None


def test_nothing_leaks(go):
    """300 times 8 MB are all freed."""

    def call():
        x = torch.ones(1 << 20, dtype=torch.float64)
        go.call_then_read(x, lambda: share(x))

    for _ in range(10):
        call()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300):
        call()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_default_device(go):
    """How torch's storages are made is determined under any default device."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with torch.device("meta"):
                x = torch.from_numpy(np.ones(N))
                code = 0 if go.call_then(x, lambda: share(x)) == N else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
