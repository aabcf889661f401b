"""Two presses of Ctrl-C: they leave the call of a Go function that does not stop."""

import signal

import pytest

import godlpack as gd
from godlpack import _tool
from helpers.scripts import PRESSED

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package endless

import (
	"sync"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

var counted, sink int

//godlpack:export
func Spin() {
	for {
		sink++
	}
}

//godlpack:export
//godlpack:gil hold
func SpinHeld() {
	for {
		sink++
	}
}

//godlpack:export
//godlpack:arg by default=1
func Into(x tensor.Of[float64], by float64) tensor.Of[float64] {
	Spin()
	return x
}

//godlpack:export
func Block() { select {} }

//godlpack:export
func Deadlock() {
	var m sync.Mutex
	m.Lock()
	m.Lock()
}

//godlpack:export
func Sleep() { time.Sleep(time.Hour) }

//godlpack:export
func Nap() { time.Sleep(1500 * time.Millisecond) }

//godlpack:export
//godlpack:gil hold
func NapHeld() { Nap() }

//godlpack:export
func Collect() {
	for {
		garbage = make([]byte, 1<<16)
	}
}

var garbage []byte

//godlpack:export
func Fill(x tensor.Mut[float64]) {
	for {
		for p := range x.Pointers() {
			*p++
		}
	}
}

//godlpack:export
func Workers(ctx *kernel.Ctx) {
	kernel.Parallel(ctx, 8, func(lo, hi int) {
		for {
			sink++
		}
	})
}

//godlpack:export
func Call(f kernel.Callable) error {
	_, err := f.Call()
	return err
}

//godlpack:export
func Patient(ctx *kernel.Ctx) error {
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // it tidies up
	return ctx.Err()
}

//godlpack:export
func Count() int {
	counted++
	return counted
}
"""

START = (
    PRESSED
    + """
import sys
import numpy as np, godlpack as gd
endless = gd.load_module({path!r})
assert [endless.count(), endless.count()] == [1, 2]
"""
)


@pytest.fixture(scope="module")
def start(own_cache):
    return START.format(path=gd.load_inline(SOURCE).__file__)


@pytest.mark.parametrize("call", ["spin", "spin_held", "block", "deadlock", "sleep", "collect", "workers"])
def test_second_ctrl_c(python, start, call):
    """The call is left, and the library is restarted: without its state, and fully usable."""
    script = f"""
references = sys.getrefcount(endless.{call})
text = interrupted(endless.{call}, 0.3, 0.3)
assert "{call}() did not stop and was abandoned" in text, text
assert sys.getrefcount(endless.{call}) > references  # its goroutines may still look at it
assert [endless.count(), endless.count()] == [1, 2]
text = interrupted(endless.{call}, 0.3, 0.3)
assert "was abandoned" in text, text
print(endless.count())
"""
    if call == "spin_held":  # Python's threads cannot send a signal then
        script = script.replace("press(*pauses)", "").replace("interrupted(", "by_timer(")
        script = (
            "signal.signal(signal.SIGALRM, signal.SIG_DFL)\n"
            "import subprocess\n"
            "def by_timer(call, *pauses):\n"
            "    subprocess.Popen(['sh', '-c', f'for p in 1 1; do sleep $p; kill -INT {os.getpid()}; done'])\n"
            "    return interrupted(call)\n"
        ) + script
    assert python(start + script) == "1\n"


def test_arguments_are_held(python, start):
    """Arguments stay in memory: a goroutine may still use them."""
    script = """
import gc, weakref
x = np.zeros(1000)
kept, references = weakref.ref(x), sys.getrefcount(x)
assert "was abandoned" in interrupted(lambda: endless.fill(x), 0.3, 0.3)
assert sys.getrefcount(x) > references
del x
gc.collect()
assert kept() is not None
print("held")
"""
    assert python(start + script) == "held\n"


def test_nested_calls_are_left_together(python, start):
    script = """
assert "was abandoned" in interrupted(lambda: endless.call(lambda: endless.call(endless.spin)), 0.3, 0.3)
print(endless.count())
"""
    assert python(start + script) == "1\n"


def test_callback_is_interrupted_as_python_is(python, start):
    """One Ctrl-C ends Python code in a callback, and the call ends normally."""
    script = """
def wait():
    while True:
        time.sleep(0.01)
assert interrupted(lambda: endless.call(wait), 0.3) == ""
print(endless.count())
"""
    assert python(start + script) == "3\n"


def test_function_that_stops_is_not_left(python, start):
    """It is informed of the first Ctrl-C, and has a second to clean up."""
    script = """
try:
    text = interrupted(endless.patient, 0.6, 0.1, 0.1)
    time.sleep(0.5)
except KeyboardInterrupt as error:  # those of Python's own, after the call's
    text = str(error)
print("left" in text, endless.count())
"""
    assert python(start + script) == "False 3\n"


@pytest.mark.parametrize("call", ["spin", "collect"])
def test_default_handler_that_is_set_again(python, start, call):
    """As notebooks do before each cell: Python's handler precedes godlpack's until the call has run for a while."""
    script = f"""
for count in (1, 1):
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert "was abandoned" in interrupted(endless.{call}, 0.5, 0.5)
    assert endless.count() == count
print("left")
"""
    assert python(start + script) == "left\n"


@pytest.mark.parametrize("handler", ["SIG_IGN", "SIG_DFL"])
def test_without_a_handler(python, start, handler):
    """If the signal is ignored, or ends the process, that does not change."""
    script = start.replace("signal.default_int_handler", f"signal.{handler}") + (
        "press(0.3, 0.3, 0.3)\nendless.call(lambda: time.sleep(1.5))\nprint(endless.count())"
    )
    if handler == "SIG_IGN":
        assert python(script) == "3\n"
    else:
        python(script, status=-signal.SIGINT)


OWN = "pressed = []\nsignal.signal(signal.SIGINT, lambda *_: pressed.append(1))\n"


@pytest.mark.parametrize("call", ["nap", "nap_held"])
@pytest.mark.parametrize("when", ["before", "after", "both"])
def test_own_handler(python, start, call, when):
    """A program's own handler of SIGINT gets all signals, once for several, and no call is left."""
    if call == "nap_held" and when != "before":
        pytest.skip("no thread can ask Python who handles the signal")
    pieces = start.replace("endless = gd", OWN + "endless = gd") if when != "after" else start
    script = f"""
{OWN if when != "before" else ""}
import subprocess
for _ in range(2):
    subprocess.Popen(["sh", "-c", f"for p in 1 2 3; do sleep 0.3; kill -INT {{os.getpid()}}; done"])
    endless.{call}()
print(len(pressed), endless.count())
"""
    assert python(pieces + script) == "2 3\n"


def test_own_handler_is_asked_for_each_signal(python, start):
    """If the function calls back, or calls Ctx.Err, the handler runs once for each signal."""
    script = (
        OWN
        + """
press(0.3, 0.3, 0.3)
endless.call(lambda: time.sleep(1.3))
print(len(pressed), endless.count())
"""
    )
    assert python(start + script) == "3 3\n"


def test_own_handler_that_is_given_up(python, start):
    """After Python's handler is set again, calls can be left again."""
    script = (
        OWN
        + """
press(0.3, 0.3)
endless.nap()
assert pressed == [1] and endless.count() == 3
signal.signal(signal.SIGINT, signal.default_int_handler)
assert "was abandoned" in interrupted(endless.spin, 0.5, 0.5)
signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
press(0.3, 0.3)
endless.nap()
print(pressed, endless.count())
"""
    )
    assert python(start + script) == "[1, 1] 1\n"


def test_own_handler_gets_no_hint(start):
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-P", "-c", start + OWN + "press(0.1)\nendless.nap()"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and done.stderr == ""


def test_handler_that_raises_something_else(python, start):
    """Such a handler is the program's own, too."""
    script = """
def fail(*_):
    raise ValueError("mine")
signal.signal(signal.SIGINT, fail)
try:
    interrupted(endless.nap, 0.3, 0.3)
except ValueError as error:
    print(error, endless.count())
"""
    assert python(start + script) == "mine 3\n"


def test_late_handler_of_a_program_that_calls_with_the_gil(python, start):
    """Python's handler cannot be determined then: the call is left, and the handler's exception is raised."""
    script = """
import subprocess
def fail(*_):
    raise ValueError("mine")
signal.signal(signal.SIGINT, fail)
subprocess.Popen(["sh", "-c", f"for p in 1 2; do sleep 0.8; kill -INT {os.getpid()}; done"])
try:
    endless.spin_held()
except ValueError as error:
    print(error, endless.count())
"""
    assert python(start + script) == "mine 1\n"


CONSEQUENCES = "stays in memory, its goroutines may continue, and the next call restarts its library"


def test_text_says_what_follows(python, start):
    """The text names the consequences, also that of the outer call, whose callback caught the exception."""
    script = f"""
def swallow():
    try:
        endless.spin()
    except KeyboardInterrupt as error:
        assert "spin()" in str(error) and {CONSEQUENCES!r} in str(error), error
text = interrupted(lambda: endless.call(swallow), 0.5, 0.5)
assert "call()" in text and {CONSEQUENCES!r} in text, text
print("said")
"""
    assert python(start + script) == "said\n"


def test_one_key_that_bounces(python, start):
    """Two signals at once count as one."""
    script = """
def send():
    time.sleep(0.3)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.005)
threading.Thread(target=send, daemon=True).start()
try:
    text = interrupted(endless.patient)
except KeyboardInterrupt as error:  # the second one, of Python's own, if the function had asked between the two
    text = str(error)
assert text in ("", "patient: interrupted"), "left"
print(endless.count())
"""
    assert python(start + script) in ("3\n", "1\n")


def test_hint_that_nobody_reads(python, start):
    script = """
import warnings
warnings.simplefilter("ignore")  # that the library starts anew would be written there, too
reader, writer = os.pipe()
os.dup2(writer, 2)
os.close(reader)
assert "was abandoned" in interrupted(endless.block, 0.3, 1.7)
print(endless.count())
"""
    assert python(start + script) == "1\n"


def test_out_is_held(python, start):
    script = """
import gc
x, out = np.zeros(3), np.zeros(3)
before = sys.getrefcount(out)
assert "was abandoned" in interrupted(lambda: endless.into(x, out=out), 0.3, 0.3)
gc.collect()
print(sys.getrefcount(out) > before, endless.count())
"""
    assert python(start + script) == "True 1\n"


def test_hint(start, tmp_path):
    """After the first Ctrl-C, one line on stderr explains the second one."""
    import subprocess
    import sys

    script = start + "print(interrupted(endless.block, 0.3, 1.7))"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr.count("press Ctrl-C again to abandon the call") == 1
    assert "was abandoned" in done.stdout


def test_in_a_forked_child(python, start):
    script = """
child = os.fork()
if not child:
    assert "was abandoned" in interrupted(endless.spin, 0.5, 0.5)
    assert endless.count() == 1
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(endless.count())
"""
    assert python(start + script) == "3\n"


def test_hint_in_a_forked_child(python, start):
    """The thread that watches calls runs there, too."""
    script = """
child = os.fork()
if not child:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.dup2(writer, 2)
    assert "was abandoned" in interrupted(endless.spin, 0.3, 1.7)
    os._exit(b"press Ctrl-C again to abandon the call" not in os.read(reader, 1 << 16))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python(start + script) == "0\n"


def test_without_the_module_threading(python, start):
    """The main thread cannot be determined: calls continue, and cannot be left."""
    before = start.replace("assert [endless.count()", "sys.modules['threading'] = None\nassert [endless.count()", 1)
    assert "sys.modules" in before
    assert python(before + "print(endless.count())") == "3\n"


def test_other_threads_do_not_mind(python, start):
    """A call of another thread continues in the runtime that was given up, or runs in the new one."""
    script = """
found = []
threads = [threading.Thread(target=lambda: [found.append(endless.count()) for _ in range(100)]) for _ in range(4)]
assert "was abandoned" in interrupted(endless.spin, 0.3, 0.3)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 400
print("done")
"""
    assert python(start + script) == "done\n"
