"""Workers whose tasks call Go functions: all kinds of processes, forks at bad moments, several Go runtimes in each.

Each case runs in its own process with a time limit, since failures are hangs or crashes. GODLPACK_TASKS is the number
of the pools' tasks; 100000 is a soak test.
"""

import os
import shutil

import pytest

from helpers import build
from helpers.scripts import ACTIONS, FORK, program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")

TASKS = int(os.environ.get("GODLPACK_TASKS", "2000"))
PATIENCE = 120 + TASKS // 100  # seconds


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The sample library with its sidecar, so that load_module does not open it."""
    return build.describe(build.go_library(tmp_path_factory.mktemp("sample")))


@pytest.fixture(scope="module")
def stubborn(tmp_path_factory):
    """Two libraries with a Go runtime each, whose loops need preemption."""
    return build.described_twice(tmp_path_factory.mktemp("stubborn"), "stubborn")


LOAD = """
import numpy as np
import godlpack as gd
s = gd.load_module({library!r})

def task(n):
    # kernels, and core operations: 16 times n
    x = np.full(4, n, "float32")
    t = gd.from_dlpack(x)
    even, odd = s.split(t)
    s.saxpy(1, odd, even)  # 2n, 2n
    return int(s.total(even) + sum(t.astype("int64").tolist()) + s.total(t.copy()) + s.apply(lambda x, *_: 4 * n, x)[1])
"""


@pytest.fixture(scope="module")
def run(python, library):
    """Runs a script with the beginning for forks, the sample library as s, and a task that works on both."""

    def run(script, **options):
        return python(FORK + LOAD.format(library=str(library)) + script, **options)

    return run


@pytest.fixture
def run_file(python, library, tmp_path):
    """Runs a script from a file, as processes that are not forked need it, with the same s and task."""

    def run_file(script, **options):
        return python(program(tmp_path, LOAD.format(library=str(library)) + script), **options)

    return run_file


BEFORE = {"not used before": "", "used before": "assert task(3) == 48"}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE.keys())
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(run_file, method, before):
    """Long-lived workers, and workers that are replaced all the time."""
    run_file(
        f"""
import multiprocessing, warnings
from concurrent.futures import ProcessPoolExecutor
warnings.simplefilter("ignore")

if __name__ == "__main__":
    {before}
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool:
        assert sum(pool.imap_unordered(task, (n % 100 for n in range({TASKS})), chunksize=50)) == 16 * sum(n % 100 for n in range({TASKS}))
    with context.Pool(2, maxtasksperchild=2) as pool:
        assert pool.map(task, range(12), chunksize=1) == [16 * n for n in range(12)]
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(task, range(200), chunksize=10)) == [16 * n for n in range(200)]
    assert task(5) == 80
""",
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_data_loader(run_file, torch, method):
    """Go functions make the samples in torch's memory. Workers that are not forked import torch again."""
    run_file(
        f"""
import warnings
import torch
from torch.utils.data import DataLoader, Dataset
warnings.simplefilter("ignore")

class Samples(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, n):
        y = s.tail(torch.full((5,), float(n)))
        assert task(n) == 16 * n
        return s.doubled([y])[0]

if __name__ == "__main__":
    task(1)
    loader = DataLoader(Samples(), batch_size=8, num_workers={2 if method == "fork" else 1}, persistent_workers=True,
                        multiprocessing_context={method!r})
    for epoch in range(2):
        assert sum(batch.sum().item() for batch in loader) == 8 * sum(range(64))
"""
    )


def test_pool_in_a_process(run):
    """Children of children, as multiprocessing starts them."""
    run(
        """
import multiprocessing
context = multiprocessing.get_context("fork")
def outer():
    task(1)
    with context.Pool(2) as pool:
        assert pool.map(task, range(20)) == [16 * n for n in range(20)]
task(1)
for _ in range(2):
    p = context.Process(target=outer)
    p.start(); p.join()
    assert p.exitcode == 0
"""
    )


def test_busy_parent(run):
    """Threads collect garbage, in the library's Go and in godlpack's, while children are forked, half of which fork."""
    run(
        """
import threading
stop, big = False, gd.full(1 << 16, 1.5)
task(1)  # imports ml_dtypes, if it is there: no child survives a fork in the middle of that
def busy():
    while not stop:
        s.words("some words " * 500)
        big.astype("float16").tolist()
        task(2)
        try:
            s.panics()
        except RuntimeError:
            pass
threads = [threading.Thread(target=busy) for _ in range(3)]
for t in threads: t.start()
def inside(depth):
    for n in range(20):
        assert task(n) == 16 * n
    if depth:
        fork(inside, depth - 1, limit=120)
    assert task(7) == 112
for i in range(20):
    fork(inside, i % 2, limit=120)
stop = True
for t in threads: t.join()
""",
        timeout=300,
    )


def test_thread_that_forked_ends(run):
    """The child ends with the thread that forked from within Go: it does not wait for a collector that scanned the
    thread at the fork. The C library would call Go at the thread's end."""
    run(
        """
import threading
big, children = gd.full(1 << 12, 1.5), []
def collect():
    while True:
        big.astype("float16").tolist()
for work in (s.collect, collect):
    threading.Thread(target=work, daemon=True).start()
def end():
    big.copy()
    s.words("one")
    child = os.fork()
    if child == 0:
        signal.alarm(20)
    children.append(child)
for _ in range(400):
    thread = threading.Thread(target=end)
    thread.start(); thread.join()
    assert os.waitpid(children.pop(), 0)[1] == 0, "a child hangs"
sys.stdout.flush()
os._exit(0)
""",
        timeout=300,
    )


def test_first_opened_in_a_child(run):
    """The child opens the file itself; its children open copies; later, the parent opens the file."""
    run(
        """
def is_mapped():
    return "sample.so" in open("/proc/self/maps").read()
def inside(depth):
    assert task(1) == 16 and is_mapped()
    if depth:
        fork(inside, depth - 1)
        assert task(2) == 32
assert not is_mapped()
fork(inside, 2)
assert not is_mapped()
assert task(3) == 48 and is_mapped()
fork(inside, 1)
"""
    )


def test_nothing_of_our_own_is_imported_late(python, np):
    """A child forked while another thread imports a module hangs when it imports that module, too."""
    python(
        """
import sys
import numpy as np
import godlpack as gd
before = {name for name in sys.modules if name.startswith("godlpack")}
for x in (np.ones(3), np.float32(1), gd.zeros(3)):
    t = gd.from_dlpack(x) if isinstance(x, np.ndarray) else gd.asarray(x)
    t.to(np.ndarray), t.astype("bfloat16").tolist(), str(t.device), repr(t), t.copy(), t.T
late = {name for name in sys.modules if name.startswith("godlpack")} - before
assert not late, late
"""
    )


def test_forked_while_a_thread_opens(python, library):
    """The child inherits neither a locked loader nor a library whose Go never starts. Each round has a new process."""
    python(
        FORK
        + f"""
import random, threading, time
def inside(s):
    assert s.divmod(17) == (1, 7)
def round():
    s = gd.load_module({str(library)!r})
    opener = threading.Thread(target=s.divmod, args=[17])
    opener.start()
    time.sleep(random.random() * 0.02)
    fork(inside, s)
    opener.join()
    assert s.divmod(17) == (1, 7)
for _ in range(40):
    fork(round, limit=60)
"""
    )


class TestForksWithinACall:
    """The child does not return into Go frames of the parent's runtime."""

    def test_callback_returns_in_the_child(self, run):
        run(
            """
import threading
me = os.getpid()
def call(f):
    # what becomes of the call in the parent, or the child's exit status
    try:
        return s.apply(f, np.ones(3, "float32"))
    except RuntimeError as e:
        assert os.getpid() != me and "forked during the call" in str(e), e
        assert task(3) == 48
        os._exit(9)
    except SystemExit as e:
        assert os.getpid() != me
        os._exit(e.code)
def wait(child):
    signal.alarm(30)
    if child == 0:
        return "the child's"
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def leave(child):
    return sys.exit(7) if child == 0 else wait(child)
def check():
    assert call(lambda *_: wait(os.fork())) == ("int", 9)
    assert call(lambda *_: leave(os.fork())) == ("int", 7)
    assert call(lambda *_: 5) == ("int", 5)
for _ in range(5): check()
failed = []
def work():
    try: check()
    except BaseException as e: failed.append(e)
thread = threading.Thread(target=work)
thread.start(); thread.join()
assert not failed, failed
"""
        )

    def test_signal_handler_returns_in_the_child(self, run):
        """The handler runs while a Go function checks whether to stop."""
        run(
            """
class Enough(Exception):
    pass
def handler(*_):
    global child
    child = os.fork()
    if child:
        raise Enough
signal.signal(signal.SIGALRM, handler)
task(1)  # the library is open: a child that is forked before the call begins works for ever
for parallel in (False, True):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        s.slow(parallel)
    except Enough:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    except RuntimeError as e:
        assert child == 0 and "forked during the call" in str(e), e
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(30)
        assert task(3) == 48
        os._exit(9)
"""
        )

    def test_argument_forks(self, run):
        """Its own code forks before the library is entered: the child calls its own copy of the library."""
        run(
            """
class Forking:
    def __dlpack__(self, **keywords):
        global child
        if armed: child = os.fork()
        return gd.full(3, 2.0).__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)
x, armed = Forking(), False
for _ in range(3):
    gd.from_dlpack(x), s.total(x)
armed = True
assert s.total(x) == 6
if child == 0:
    signal.alarm(30)
    armed = False
    assert task(3) == 48 and s.total(x) == 6
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
"""
        )

    def test_check_forks(self, python, library):
        """The comparison of a library with its sidecar is Python code, too."""
        python(
            f"""
import os, signal
from godlpack import _core
children = []
def check(*told):
    if not children: children.append(os.fork())
names = [name for name, _ in _core._declarations({str(library)!r}, lambda *_: None)[0]]
def make():
    return _core._function({str(library)!r}, check, names.index("divmod"), "divmod", "divmod", "m", "", "(a, b=10)", ("a", "b"), 0, 0, False, None)
# in a child, which opens the library anew
if (pid := os.fork()) == 0:
    signal.alarm(30)
    assert make()(17) == (1, 7)
    if children[0]:
        assert os.waitpid(children[0], 0)[1] == 0
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""
        )

    def test_check_is_replaced_meanwhile(self, python, library):
        """The running callable loses its only other reference."""
        python(
            f"""
import weakref
from godlpack import _core
class Check:
    def __call__(self, *told):
        make(lambda *_: None)  # takes the place of this
        assert alive() is self
def make(check):
    return _core._function({str(library)!r}, check, 0, "f", "f", "m", "", "()", (), 0, 0, False, None)
check = Check()
alive = weakref.ref(check)
f = make(check)
del check
try:
    f()
except TypeError:
    pass  # the function wants arguments
assert alive() is None
"""
        )


class TestSeveralRuntimes:
    ORDER = pytest.mark.parametrize(
        "order",
        ["core; one; two", "one; core; two", "one; two; core", "one; two"],
        ids=lambda order: order.replace(";", ""),
    )
    START = """
one, two = gd.load_module({0!r}), gd.load_module({1!r})
start = {{"core": lambda: gd.zeros(3), "one": one.preempt, "two": two.preempt}}
"""

    def start(self, stubborn, order):
        calls = "\n".join(f"start[{name!r}]()" for name in order.split("; "))
        return self.START.format(*map(str, stubborn)) + calls + "\n"

    @ORDER
    def test_all_interrupt_their_goroutines(self, python, stubborn, order):
        """preempt() hangs if a loop cannot be preempted: in parent, child and grandchild, with the runtimes of each."""
        python(
            FORK
            + self.start(stubborn, order)
            + """
def inside(depth):
    for _ in range(3):
        one.preempt()
        gd.zeros(1 << 16).astype("int8")
        two.preempt()
    if depth:
        fork(inside, depth - 1)
signal.alarm(100)
inside(2)
"""
        )

    @ORDER
    def test_signals_leave_children(self, python, stubborn, order):
        """No handler of three dead runtimes is left; new runtimes have their own."""
        python(
            ACTIONS
            + "import godlpack as gd\nbefore = actions()\n"
            + FORK
            + self.start(stubborn, order)
            + """
def inside(depth):
    assert not changed(before), changed(before)
    one.preempt()
    assert "SIGURG" in changed(before)
    gd.zeros(3)
    two.preempt()
    if depth:
        fork(inside, depth - 1)
assert "SIGURG" in changed(before)
fork(inside, 2)
"""
        )

    def test_many_libraries(self, python, stubborn, tmp_path):
        """Each preempts its own goroutines, and Python's earlier handler of SIGURG still gets the signals."""
        paths = [str(shutil.copy(stubborn[0], tmp_path / f"library{i}.so")) for i in range(12)]
        python(
            FORK
            + f"""
hits = []
signal.signal(signal.SIGURG, lambda *_: hits.append(1))
libraries = [gd.load_module(path) for path in {paths!r}]
def inside():
    for library in libraries: library.preempt()
inside()
inside()
fork(inside)
hits.clear()
os.kill(os.getpid(), signal.SIGURG)
while not hits: libraries[0].preempt()
"""
        )

    def test_calls_within_calls(self, run, library, tmp_path):
        """Two libraries call each other by callbacks, to the limit of recursion, and in threads."""
        other = shutil.copy(library, tmp_path / "other.so")
        run(
            f"""
import threading
other = gd.load_module({str(other)!r})
x = np.ones(3, "float32")
def down(depth):
    if depth == 0: return 5
    library = other if depth % 2 else s
    return library.apply(lambda *_: down(depth - 1), x)[1]
def endless(*_):
    return s.apply(lambda *_: other.apply(endless, x)[1], x)[1]
def failing(depth):
    (other if depth % 2 else s).apply(lambda *_: failing(depth - 1) if depth else 1 / 0, x)
def check():
    assert down(40) == 5
    for call, error in ((endless, RecursionError), (lambda: failing(10), ZeroDivisionError)):
        try:
            call()
        except error:
            continue
        raise AssertionError("no " + error.__name__)
    assert task(3) == 48
    done.append(1)
done = []
check()
threads = [threading.Thread(target=check) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
fork(check)
assert len(done) == 4
"""
        )


SEGV = -11


@pytest.mark.parametrize("used", ["", "task(1)"], ids=["not used since", "used since"])
def test_faults_of_children(run, used):
    """A fault in C code ends the process, whatever handlers of runtimes are installed; a broken pipe is an error."""
    run(
        f"""
import ctypes
def end(inside):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        {used or "pass"}
        inside()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def pipe():
    r, w = os.pipe()
    os.close(r)
    try:
        os.write(w, b"x")
    except BrokenPipeError:
        os._exit(3)
task(1)
assert end(lambda: ctypes.string_at(0)) == {SEGV}
assert end(lambda: os.kill(os.getpid(), signal.SIGSEGV)) == {SEGV}
assert end(pipe) == 3
""",
        flags=(),
    )


@pytest.mark.parametrize(
    "work", ["s.slow(False)", "s.slow(True)", "s.apply(lambda *_: time.sleep(0.001), x)", "task(3)"]
)
def test_exit_amid_calls(run, work):
    """Daemon threads are in Go, or in Python code called by Go, when the interpreter ends."""
    run(
        f"""
import threading, time
x = np.ones(3, "float32")
def on_and_on():
    while True: {work}
def inside():
    for _ in range(4):
        threading.Thread(target=on_and_on, daemon=True).start()
    time.sleep(0.1)
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        inside()
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
inside()
"""
    )
