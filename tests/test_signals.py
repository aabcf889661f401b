"""Signals: the import changes no handlers; Go's come late, pass on others' signals, and are removed in children."""

import os
import signal

import pytest

from helpers import build
from helpers.scripts import ACTIONS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs Linux")

GO = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGPIPE", "SIGURG"}

CHILD = """
def in_child(inside):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        inside()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    return build.faulty_package(tmp_path_factory.mktemp("faulty"))


# ---- which handlers are installed ----


def test_import_changes_none(python):
    said = python(
        ACTIONS
        + """
before = actions()
import godlpack as gd
assert not changed(before), changed(before)
gd.zeros(3)
print(*changed(before))
""",
        flags=(),
    )
    assert set(said.split()) == GO


def test_forked_children_get_their_own_back(python):
    """Handlers of a dead runtime are removed; a child that uses Go has those of its own runtime."""
    python(
        ACTIONS
        + CHILD
        + """
before = actions()
import godlpack as gd
gd.zeros(3)
def inside():
    assert not changed(before), changed(before)
    gd.zeros(3)
    assert changed(before) == GO
    def grandchild():
        assert not changed(before), changed(before)
    assert in_child(grandchild) == 0
assert in_child(inside) == 0
""".replace("GO", repr(GO)),
        flags=("-W", "ignore"),
    )


def test_handlers_get_signal_stacks(python):
    """Goroutines' stacks are too small for other libraries' handlers."""
    python(
        """
import ctypes, signal
class Action(ctypes.Structure):
    _fields_ = (("handler", ctypes.c_void_p), ("mask", ctypes.c_uint64 * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p))
libc = ctypes.CDLL(None)
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: None)
there = Action(ctypes.cast(handler, ctypes.c_void_p).value)
assert libc.sigaction(signal.SIGUSR2, ctypes.byref(there), None) == 0
import godlpack as gd
gd.zeros(3)
assert libc.sigaction(signal.SIGUSR2, None, ctypes.byref(there)) == 0
SA_ONSTACK = 0x08000000
assert there.flags & SA_ONSTACK and there.handler == ctypes.cast(handler, ctypes.c_void_p).value
"""
    )


# ---- faults in Go code are Python exceptions ----

ORDER = {
    "no faulthandler": "import godlpack as gd",
    "faulthandler before import": "import faulthandler; faulthandler.enable(); import godlpack as gd",
    "faulthandler after import": "import godlpack as gd, faulthandler; faulthandler.enable()",
}

FAULTS = """
import os, signal, threading
from godlpack import _core
def fail():
    for fault in ("nil", "wild", "panic", "nil"):
        try:
            _core._layout(fault)
        except RuntimeError as e:
            assert "Go panicked" in str(e) and "goroutine" in str(e) and "faults.go" in str(e), e
        else:
            raise AssertionError(fault)
    assert gd.full(3, 1).tolist() == [1.0] * 3
"""


@pytest.mark.parametrize("order", ORDER.values(), ids=ORDER.keys())
class TestFaults:
    def test_in_go_code(self, python, faulty, order):
        python(
            order + FAULTS + "fail()\nx = threading.Thread(target=fail); x.start(); x.join()", package=faulty, flags=()
        )

    def test_in_forked_children(self, python, faulty, order):
        script = (
            order + FAULTS + CHILD + "fail()\nassert in_child(fail) == 0\nassert in_child(lambda: in_child(fail)) == 0"
        )
        python(script, package=faulty, flags=("-W", "ignore"))

    def test_in_c_code(self, python, order):
        """A crash ends the process, with faulthandler's report and not Go's."""
        said = python(order + "\ngd.zeros(3)\nimport ctypes; ctypes.string_at(0)", status=-signal.SIGSEGV, flags=())
        assert ("Fatal Python error: Segmentation fault" in said) == ("enable" in order)
        assert "goroutine" not in said

    @pytest.mark.parametrize("used", ["", "gd.zeros(3)"])
    def test_in_c_code_of_forked_children(self, python, order, used):
        script = f"""
import ctypes, os, signal
gd.zeros(3)
def inside():
    {used or "pass"}
    ctypes.string_at(0)
assert in_child(inside) == -signal.SIGSEGV
"""
        python(order + CHILD + script, flags=("-W", "ignore"))

    def test_sent_by_somebody(self, python, order):
        """kill -SEGV ends a process as it would without Go."""
        said = python(
            order + "\nimport os, signal; gd.zeros(3); os.kill(os.getpid(), signal.SIGSEGV)",
            status=-signal.SIGSEGV,
            flags=(),
        )
        assert ("Fatal Python error: Segmentation fault" in said) == ("enable" in order)
        assert "goroutine" not in said


# ---- handlers that are set after Go has started ----

LATE = {
    "signal.signal": "signal.signal(signal.SIGSEGV, lambda *a: hits.append(a[0]))",
    "faulthandler": "faulthandler.enable()",
    "both": "signal.signal(signal.SIGSEGV, lambda *a: hits.append(a[0])); faulthandler.enable()",
    "the default": "signal.signal(signal.SIGSEGV, signal.SIG_DFL)",
    "ignored": "signal.signal(signal.SIGSEGV, signal.SIG_IGN)",
}

RUNNING = {"library": "fail()", "library and core": "fail(); core()", "core and library": "core(); fail()"}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    return build.described_twice(tmp_path_factory.mktemp("late"))


class TestLateHandlers:
    """Python's handlers are put behind Go's within a quarter of a second."""

    @pytest.fixture
    def late(self, python, faulty, libraries):
        start = f"""
import ctypes, faulthandler, os, signal, threading, time
import godlpack as gd
from godlpack import _core
first, second = (gd.load_module(path) for path in {tuple(map(str, libraries))})
hits = []
def refused(f, *args):
    try:
        f(*args)
    except RuntimeError as e:
        assert "Go panicked" in str(e) and "goroutine" in str(e), e
    else:
        raise AssertionError("no exception")
def fail(library=first):
    for _ in range(5):
        refused(library.nil_pointer), refused(library.wild_pointer)
    assert library.divmod(17) == (1, 7)
def core():
    refused(_core._layout, "nil"), refused(_core._layout, "wild")
def settle():
    time.sleep(0.7)
"""
        return lambda script, **options: python(ACTIONS + CHILD + start + script, package=faulty, timeout=60, **options)

    @pytest.mark.parametrize("running", RUNNING.values(), ids=RUNNING.keys())
    @pytest.mark.parametrize("handle", LATE.values(), ids=LATE.keys())
    def test_in_go_code(self, late, handle, running):
        work = "fail(); core(); x = threading.Thread(target=fail); x.start(); x.join()"
        late(f"{running}\n{handle}\nsettle()\n{work}\nassert not hits\n{handle}\nsettle()\n{work}", flags=())

    @pytest.mark.parametrize("running", ["fail()", "core()"], ids=["library", "core"])
    def test_at_once(self, late, running):
        """The fault repeats until Go's handler is first. Python's has run by then, and calls its Python code later."""
        late(f"{running}\n{LATE['signal.signal']}\n{running}\nassert set(hits) <= {{signal.SIGSEGV}}")

    def test_other_faults(self, late):
        late("""
fail()
for number in (signal.SIGBUS, signal.SIGFPE):
    signal.signal(number, lambda *a: hits.append(a[0]))
settle()
os.kill(os.getpid(), signal.SIGBUS), os.kill(os.getpid(), signal.SIGFPE)
assert hits == [signal.SIGBUS, signal.SIGFPE], hits
fail(), core()
""")

    @pytest.mark.parametrize("handle", LATE.values(), ids=LATE.keys())
    def test_between_two_libraries(self, late, handle):
        late(f"fail()\n{handle}\nfail(second)\nsettle()\ncore(), fail(), fail(second), fail()", flags=())

    @pytest.mark.parametrize("handle", LATE.values(), ids=LATE.keys())
    @pytest.mark.parametrize("settle", ["", "settle()"], ids=["at once", "later"])
    def test_in_forked_children(self, late, handle, settle):
        """They have only Python's handler, until Go starts."""
        late(
            f"""
fail(), core(), fail(second)
{handle}
there = actions()[signal.SIGSEGV]
{settle}
def inside():
    assert actions()[signal.SIGSEGV] == there
    fail(), core()
    assert actions()[signal.SIGSEGV] != there
    assert in_child(lambda: fail(second)) == 0
    if "append" not in {handle!r}:  # Python's handler would return to the fault for ever
        assert in_child(lambda: ctypes.string_at(0)) == -signal.SIGSEGV
assert in_child(inside) == 0
""",
            flags=("-W", "ignore"),
        )

    @pytest.mark.parametrize("running", RUNNING.values(), ids=RUNNING.keys())
    def test_sent_by_somebody(self, late, running):
        """A signal that is not a fault goes to Python."""
        late(
            f"{running}\n{LATE['signal.signal']}\nsettle()\nos.kill(os.getpid(), signal.SIGSEGV)\nassert hits == [signal.SIGSEGV]"
        )

    @pytest.mark.parametrize("running", RUNNING.values(), ids=RUNNING.keys())
    @pytest.mark.parametrize(
        "crash", ["ctypes.string_at(0)", "os.kill(os.getpid(), signal.SIGSEGV)"], ids=["fault", "sent"]
    )
    def test_the_end(self, late, running, crash):
        """faulthandler reports the crash if it is still enabled, and the process ends as it would without Go."""
        enabled = f"{running}\nfaulthandler.enable()\nsettle()\n"
        for script in (enabled, enabled + "faulthandler.disable()\n", f"{running}\n{LATE['the default']}\nsettle()\n"):
            said = late(script + crash, status=-signal.SIGSEGV, flags=())
            assert said.count("Fatal Python error: Segmentation fault") == (script == enabled)
            assert "goroutine" not in said

    def test_not_of_python(self, late):
        """A handler that a C library has set stays."""
        late("""
fail()
class Action(ctypes.Structure):
    _fields_ = (("handler", ctypes.c_void_p), ("mask", ctypes.c_uint64 * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p))
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(hits.append)
assert ctypes.CDLL(None).sigaction(signal.SIGSEGV, ctypes.byref(Action(ctypes.cast(handler, ctypes.c_void_p).value)), None) == 0
there = actions()[signal.SIGSEGV]
settle()
assert first.divmod(17) == (1, 7) == second.divmod(17)
settle()
os.kill(os.getpid(), signal.SIGSEGV)
assert hits == [signal.SIGSEGV]
""")


def test_panic_where_nobody_recovers(python, faulty):
    """A panic in a goroutine that a function started ends the process, as in any Go program, with Go's report."""
    said = python("from godlpack import _core; _core._layout('goroutine')", package=faulty, status=-signal.SIGABRT)
    assert "panic: where nobody recovers" in said and "faults.go" in said and "Fatal Python error: Aborted" in said


# ---- other uses of signals in Python programs ----


def test_keyboard_interrupt(python):
    python(
        """
import os, signal, godlpack as gd
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
for _ in range(20):
    try:
        gd.zeros(3).tolist()
        os.kill(os.getpid(), signal.SIGINT)
        gd.full(1000, 1).tolist()
        import time; time.sleep(30)
    except KeyboardInterrupt:
        continue
    raise AssertionError("no KeyboardInterrupt")
"""
    )


def test_termination(python):
    script = "import os, signal, godlpack as gd; gd.zeros(3); os.kill(os.getpid(), signal.SIGTERM)"
    python(script, status=-signal.SIGTERM)


@pytest.mark.parametrize("inside", [True, False], ids=["in a forked child", "in the parent"])
def test_broken_pipe(python, inside):
    python(
        CHILD
        + f"""
import os, signal, godlpack as gd
gd.zeros(3)
def work():
    gd.zeros(3)
    r, w = os.pipe()
    os.close(r)
    try:
        os.write(w, b"x")
    except BrokenPipeError:
        return
    raise AssertionError("no BrokenPipeError")
assert in_child(work) == 0 if {inside} else work() is None
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
gd.zeros(3)
""",
        flags=("-W", "ignore"),
    )


def test_broken_pipe_by_default(python):
    """In a program that set the default action before it used Go, the signal ends the process."""
    script = """
import os, signal, godlpack as gd
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
gd.zeros(3)
r, w = os.pipe()
os.close(r)
os.write(w, b"x")
"""
    python(script, status=-signal.SIGPIPE)


def test_faulthandler_on_request(python):
    script = """
import faulthandler, os, signal, sys, godlpack as gd
faulthandler.register(signal.SIGUSR1, file=sys.stdout)
gd.zeros(3)
os.kill(os.getpid(), signal.SIGUSR1)
"""
    assert "most recent call first" in python(script)


def test_timers_beside_busy_goroutines(python):
    """SIGPROF and SIGALRM at a high rate, with Python handlers, while Go works and preempts its goroutines."""
    python(
        """
import signal, threading, godlpack as gd
hits = []
signal.signal(signal.SIGPROF, lambda *_: hits.append("prof"))
signal.signal(signal.SIGALRM, lambda *_: hits.append("alarm"))
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
big = gd.full(1 << 18, 1.5)
def work():
    for _ in range(30):
        big.astype("float16").astype("int8")
        gd.zeros((40, 50)).tolist()
workers = [threading.Thread(target=work) for _ in range(3)]
for w in workers: w.start()
for w in workers: w.join()
while set(hits) != {"prof", "alarm"}:
    work()
signal.setitimer(signal.ITIMER_PROF, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
"""
    )


@pytest.mark.parametrize("before", [True, False], ids=["before Go", "after Go"])
def test_others_want_sigurg(python, before):
    handle = "signal.signal(signal.SIGURG, lambda *_: hits.append(1))"
    python(
        f"""
import os, signal, godlpack as gd
hits = []
{handle if before else ""}
gd.zeros(3)
{"" if before else handle}
os.kill(os.getpid(), signal.SIGURG)
while not hits: gd.zeros(3).tolist()
"""
    )


class TestPreemption:
    def test_one_runtime(self, python, faulty):
        python("from godlpack import _core; _core._layout('preempt')", package=faulty)

    def test_two_runtimes(self, python, faulty, tmp_path):
        """Two Go extensions in one process, whose handlers are stacked: both still preempt their goroutines."""
        second = build.package(tmp_path, faulty / "godlpack" / "_core.abi3.so")
        python(
            f"""
import importlib.util
from godlpack import _core as first
spec = importlib.util.spec_from_file_location("second._core", {str(second / "godlpack" / "_core.abi3.so")!r})
second = importlib.util.module_from_spec(spec)
spec.loader.exec_module(second)
assert first.Tensor is not second.Tensor
first._layout("collect"), second._layout("collect")
for _ in range(3):
    first._layout("preempt"), second._layout("preempt")
for runtime in (first, second):
    try:
        runtime._layout("nil")
    except RuntimeError as e:
        assert "Go panicked" in str(e)
    else:
        raise AssertionError("no error")
""",
            package=faulty,
        )

    def test_in_a_forked_child(self, python, faulty):
        """After a fork while the parent's Go worked."""
        script = """
import os, signal, threading
from godlpack import _core
_core._layout("preempt")
worker = threading.Thread(target=lambda: [_core._layout("spread") for _ in range(50)])
worker.start()
def inside():
    for fault in ("preempt", "collect", "spread", "preempt"):
        _core._layout(fault)
for _ in range(5):
    assert in_child(inside) == 0
worker.join()
"""
        python(CHILD + script, package=faulty, flags=("-W", "ignore"))


LONG_WORK = """
import signal, sys
import godlpack as gd

class Interrupted(Exception):
    pass

def interrupt(*_):
    if working:
        raise Interrupted

working = False

signal.signal(signal.SIGALRM, interrupt)
x = gd.zeros((1 << 13, 1 << 13), "int8").T  # 64 million elements, a cache line apart
before = gd._core._counters()
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
stopped = 0
for _ in range(200):  # the work would be done many times over before it ends by itself
    try:
        working = True
        WORK
        working = False
    except Interrupted:
        working = False
        stopped += 1
        if stopped == 3:
            break
signal.setitimer(signal.ITIMER_REAL, 0)
after = gd._core._counters()
assert stopped == 3, stopped
made, freed = (after[k] - before[k] for k in ("storages_made", "storages_freed"))
assert made == freed, (made, freed)
print("ok")
"""


@pytest.mark.parametrize("work", ["x.astype('float16')", "x.copy()"])
def test_a_signal_stops_long_work(python, work):
    """The call raises the handler's exception, as it does KeyboardInterrupt for Ctrl-C, and releases what it made."""
    assert "ok" in python(LONG_WORK.replace("WORK", work))


def test_program_that_waits_for_a_blocked_signal(python, tmp_path):
    """The threads that a first call starts do not take the signal, whose default action would end the process."""
    library = build.describe(build.go_library(tmp_path))
    out = python(f"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
import godlpack as gd
assert gd.load_module({str(library)!r}).divmod(17, 5) == (3, 2)
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait([signal.SIGUSR1]) == signal.SIGUSR1)
""")
    assert out == "True\n"


def test_more_libraries_than_chain_links(python, tmp_path):
    """Calls of libraries beyond the 32nd work, also in a child."""
    library = build.describe(build.go_library(tmp_path))
    out = python(
        f"""
import os, shutil
from pathlib import Path
import godlpack as gd
for i in range(35):
    path = Path({str(tmp_path)!r}, f"more{{i}}.so")
    shutil.copy({str(library)!r}, path)
    shutil.copy({str(library.with_suffix(".json"))!r}, path.with_suffix(".json"))
    module = gd.load_module(path)
    assert module.divmod(17, 5) == (3, 2)
child = os.fork()
if not child:
    assert module.divmod(17, 5) == (3, 2)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("all")
""",
        flags=("-W", "ignore"),
    )
    assert out == "all\n"
