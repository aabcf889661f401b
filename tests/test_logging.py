"""What libraries log, in Python's logging."""

import datetime
import logging
import os
import subprocess
import sys
import threading
import time
import types
import warnings

import pytest

import godlpack as gd
from godlpack import _library, _logs, _tool
from helpers.build import ROOT
from helpers.scripts import FORK, PRESSED

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "logs" / "logs.go").read_text()


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="logs")


class Kept(logging.Handler):
    """A handler that keeps the records."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    @property
    def texts(self):
        return [record.getMessage() for record in self.records]


@pytest.fixture
def kept(go):
    """What the module's logger gets, from level 1 on."""
    handler, logger = Kept(), logging.getLogger("logs")
    logger.addHandler(handler)
    logger.setLevel(1)
    logger.propagate = False
    gd.capture_logs(go)
    yield handler
    gd.capture_logs(go, False)
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def test_levels(go, kept):
    """Those of slog become those of logging, others lie between them."""
    levels = {-4: 10, -2: 15, -1: 17, 0: 20, 1: 22, 2: 25, 4: 30, 6: 35, 8: 40, 12: 50, -7: 2, 1000: 2520}
    for level in levels:
        go.log(level, str(level))
    assert {int(record.getMessage()): record.levelno for record in kept.records} == levels
    assert kept.records[0].levelname == "DEBUG"


def test_levels_both_ways():
    for number in range(1, 60):
        least = _logs.go_level(number)
        assert _logs.python_level(least) >= number > _logs.python_level(least - 1)


@pytest.mark.parametrize("level", [30, "WARNING", 25, 31])
def test_least_level(go, kept, level):
    gd.capture_logs(go, level=level)
    least = {"WARNING": 30}.get(level, level)
    for number in range(-5, 10):
        go.log(number, "")
        go.log_early(number, "")
    go.print("info")
    found = [record.levelno for record in kept.records]
    assert found == [n for n in map(_logs.python_level, range(-5, 10)) for _ in range(2) if n >= least]


def test_level_of_the_logger(go, kept):
    """The default is the logger's own at the time of capture_logs; a higher one counts at once."""
    logger = logging.getLogger("logs")
    logger.setLevel("ERROR")
    gd.capture_logs(go)
    go.log(4, "below")
    go.log(8, "error")
    logger.setLevel("DEBUG")
    gd.capture_logs(go)
    go.log(-4, "debug")
    logger.setLevel("WARNING")
    go.log(0, "below")
    logging.disable(logging.CRITICAL)
    go.log(8, "disabled")
    logging.disable(logging.NOTSET)
    assert kept.texts == ["error", "debug"]


def test_record(go, kept):
    """The record has Go's time and place, and the logger's name; its text is not a format."""
    before = logging.LogRecord("", 0, "", 0, "", (), None)
    go.log(4, "100 %s %d")
    (record,) = kept.records
    assert record.getMessage() == "100 %s %d"
    assert (record.name, record.levelname, record.go) == ("logs", "WARNING", {})
    assert (record.filename, record.module, record.funcName) == ("logs.go", "logs", "logs.Log")
    assert SOURCE.splitlines()[record.lineno - 1].startswith("func Log(")
    assert before.created - 0.001 <= record.created <= time.time()
    assert abs(record.msecs - record.created % 1 * 1000) < 1
    elapsed = (record.created - before.created) * 1000
    assert record.relativeCreated - before.relativeCreated == pytest.approx(elapsed, abs=1)
    assert (record.thread, record.threadName, record.exc_info) == (0, "Go", None)
    text = logging.Formatter("%(asctime)s %(threadName)s %(thread)d %(lineno)d %(message)s").format(record)
    assert datetime.datetime.fromtimestamp(record.created).strftime("%H:%M:%S") in text


def test_package_log(go, kept):
    go.print("two\nlines\n")
    go.print("")
    first, second = kept.records
    assert (first.getMessage(), first.levelno, first.go) == ("two\nlines", logging.INFO, {})
    assert SOURCE.splitlines()[first.lineno - 1].startswith("func Print(")
    assert second.getMessage() == ""


def test_logger_made_before(go, kept):
    """A package's own logger, derived from the default one when the library was opened, keeps its level and attributes."""
    go.log_early(8, "oops")
    (record,) = kept.records
    assert (record.getMessage(), record.levelno, record.go) == ("oops early=true n=1", logging.ERROR, {})
    assert record.funcName == "logs.LogEarly"


def test_attributes(go, kept):
    """In the text as slog writes them, and as a dict; a value is asked for once."""
    go.attrs()
    record, asked = kept.records
    assert record.getMessage() == (
        'all name="a b" g.n=1 g.h.yes=true g.h.int=-3 g.h.uint=18446744073709551615 g.h.float=2 g.h.nan=NaN '
        'g.h.time=1970-01-01T00:00:00.000Z g.h.for=1.5s g.h.error="not\\nthere" g.h.any="[1 2]" g.h.bytes=by g.h.nil=<nil> '
        'g.h.secret=hidden "g.h.bad \\xff"="\\xfe" g.h.inner.x=1 g.h.inner.y=2'
    )
    assert record.go == {
        "name": "a b",
        "g.n": 1,
        "g.h.yes": True,
        "g.h.int": -3,
        "g.h.uint": 2**64 - 1,
        "g.h.float": 2.0,
        "g.h.nan": "NaN",
        "g.h.time": "1970-01-01T00:00:00.000Z",
        "g.h.for": "1.5s",
        "g.h.error": "not\nthere",
        "g.h.any": "[1 2]",
        "g.h.bytes": "by",
        "g.h.nil": "<nil>",
        "g.h.secret": "hidden",
        "g.h.bad \ufffd": "\ufffd",
        "g.h.inner.x": 1,
        "g.h.inner.y": 2,
    }
    assert type(record.go["g.h.float"]) is float
    assert asked.go == {"times": 1}


def test_values_that_panic(go, kept):
    go.panics()
    (record,) = kept.records
    assert "LogValue panicked" in record.go["broken"]
    assert record.go["stubborn"] == "!PANIC: no text"
    assert record.go["missing"] in ("<nil>", "!PANIC: no text")


def test_texts(go, kept):
    texts = ["", "\0", "käse \N{GRINNING FACE} </script>", "x" * 1000]
    for text in texts:
        go.log(0, text)
    assert kept.texts == texts
    kept.records.clear()
    go.huge(50 << 20)
    go.huge(3)
    assert [len(text) for text in kept.texts] == [50 << 20, 3]


def test_before_result_and_exception(go, kept):
    """The lines of a call come before its result or exception, also where another thread handles some of them."""
    for i in range(200):
        go.log(0, str(i))
        assert kept.texts[-1] == str(i)
        with pytest.raises(RuntimeError):
            go.fail(f"failed {i}")
        assert kept.texts[-1] == f"failed {i}"
    kept.records.clear()

    class Slow(logging.Handler):
        def emit(self, record):
            time.sleep(0.001)

    logging.getLogger("logs").addHandler(slow := Slow())
    try:
        for n in range(1, 11):
            go.later(10)
            go.many(2, 5)
            assert kept.texts.count("many g=0 i=4") == n
    finally:
        logging.getLogger("logs").removeHandler(slow)
    wait_for(lambda: kept.texts.count("later i=9") == 10)


def test_callbacks(go, kept):
    """A callback is in the middle of a call: godlpack's thread handles what the call has logged before."""
    go.call(lambda: time.sleep(0.2) or logging.getLogger("logs").info("in between"))
    assert kept.texts == ["before", "in between", "after"]


def test_methods(go, kept):
    go.Recorder().record()
    assert kept.texts == ["new recorder", "recorded n=1"]


def test_between_calls(go, kept):
    go.later(20)
    wait_for(lambda: len(kept.records) == 20)
    assert [record.go["i"] for record in kept.records] == list(range(20))


def test_during_a_call(python, go):
    """What a long call logs does not wait for its end."""
    script = f"""
import logging
import godlpack as gd
go = gd.load_module({go.__file__!r})
class Stop(logging.Handler):
    def emit(self, record):
        print(record.getMessage(), record.getMessage() == "end" or threading.current_thread().name)
        if record.getMessage() == "begin":
            os.kill(os.getpid(), signal.SIGINT)
logging.getLogger().addHandler(Stop())
gd.capture_logs(go, level="DEBUG")
logging.getLogger().setLevel("DEBUG")
try:
    go.long()
except KeyboardInterrupt:
    print("stopped")
"""
    assert python(PRESSED + script) == "begin godlpack-logs\nend True\nstopped\n"


def test_many(go, kept):
    """10^5 records from 8 goroutines: each is there once, in the order of its goroutine, or counted as lost."""
    go.many(8, 12_500)
    got = [record.go for record in kept.records if "g" in record.go]
    lost = sum(record.go["lost"] for record in kept.records if "lost" in record.go)
    assert len(got) + lost == 100_000
    for g in range(8):
        numbers = [record["i"] for record in got if record["g"] == g]
        assert numbers == sorted(set(numbers))
    assert len(got) >= 16_384
    kept.records.clear()
    go.many(4, 4096)  # as many as there is room for
    assert len(kept.records) == 4 * 4096


def test_lost(python, go):
    """A record tells for how many there was no room, in their place."""
    script = f"""
import logging, threading
import godlpack as gd
from godlpack import _logs
go = gd.load_module({go.__file__!r})
logging.basicConfig(level=20, stream=__import__("sys").stdout, format="%(levelname)s %(message)s")
gd.capture_logs(go)
go.quiet()
(capture,) = _logs.captured.values()
capture.owner = -1  # a thread that does not come to an end
_logs.PATIENCE = 0.01
capture.settle.__func__.__defaults__ = (0.01,)
go.many(1, 20000)
capture.owner = None
go.log(0, "last")
"""
    lines = python(script, flags=()).splitlines()
    assert len(lines) == 16_384 + 1
    assert lines[-1] == "WARNING records are lost: Go logged more than Python's handlers could keep up with lost=3617"
    assert lines[-2] == "INFO many g=0 i=16383"


class Raises(logging.Handler):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def emit(self, record):
        if "raise" in record.getMessage():
            raise self.error


def test_handler_that_raises(go, kept, capsys):
    """The error is printed, as logging itself does; the call has its result, and the other records are there."""
    logger = logging.getLogger("logs")
    logger.addHandler(handler := Raises(ValueError("no disk")))
    try:
        go.log(0, "raise")
        assert go.quiet() == 1
        with pytest.raises(RuntimeError, match="raise it"):
            go.fail("raise it")
        go.log(0, "after")
    finally:
        logger.removeHandler(handler)
    assert kept.texts == ["raise", "raise it", "after"]
    assert capsys.readouterr().err.count("ValueError: no disk") == 2


def test_ctrl_c_in_a_handler(go, kept):
    """KeyboardInterrupt goes to the caller, and the records that were not handled are handled later."""
    logger = logging.getLogger("logs")
    logger.addHandler(handler := Raises(KeyboardInterrupt("now")))
    try:
        with pytest.raises(KeyboardInterrupt, match="now"):
            go.log(0, "raise")
        with pytest.raises(KeyboardInterrupt, match="now"):
            go.call(lambda: go.log(0, "raise"))
    finally:
        logger.removeHandler(handler)
    go.log(0, "last")
    assert kept.texts == ["raise", "before", "raise", "after", "last"]
    assert go.quiet() == 1
    assert _logs.captured[_logs.origins[go.quiet][3:]].take(0, 10) == ""


def test_handler_that_calls_the_library(go, kept):
    """The record of such a call comes after those that are being handled."""
    logger = logging.getLogger("logs")

    class Calls(logging.Handler):
        def emit(self, record):
            if "call" in record.getMessage():
                go.log(0, f"by the handler: {go.quiet()}")
                go.many(2, 2)

    logger.addHandler(handler := Calls())
    try:
        go.log(0, "call")
        wait_for(lambda: len(kept.records) == 6)
    finally:
        logger.removeHandler(handler)
    assert kept.texts[:2] == ["call", "by the handler: 1"]
    assert sorted(kept.texts[2:]) == [f"many g={g} i={i}" for g in range(2) for i in range(2)]


def test_handler_that_waits_for_the_caller(go, kept):
    """A handler that needs a lock which the caller of another thread holds: that call waits a second, not for ever."""
    logger, lock, inside = logging.getLogger("logs"), threading.Lock(), threading.Event()

    class Locks(logging.Handler):
        def emit(self, record):
            inside.set()
            with lock:
                pass

    logger.addHandler(handler := Locks())
    try:
        with lock:
            thread = threading.Thread(target=go.log, args=(0, "other"))
            thread.start()
            assert inside.wait(20)
            start = time.monotonic()
            go.log(0, "mine")
            assert 0.5 < time.monotonic() - start < 10
        thread.join()
        wait_for(lambda: kept.texts == ["other", "mine"])
    finally:
        logger.removeHandler(handler)


def test_threads(go, kept):
    """Calls of many threads: each has its lines when it returns, and none is there twice."""

    def work(t):
        for i in range(100):
            go.log(0, f"{t}.{i}")
            if f"{t}.{i}" not in kept.texts:
                missing.append(f"{t}.{i}")

    missing = []
    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not missing
    assert sorted(kept.texts) == sorted(f"{t}.{i}" for t in range(8) for i in range(100))


def test_two_libraries(go, kept, own_cache):
    other = gd.load_inline(SOURCE, name="others")
    found, logger = Kept(), logging.getLogger("others")
    logger.addHandler(found)
    logger.propagate = False
    try:
        other.log(4, "not captured")
        gd.capture_logs(other, level="INFO")
        logger.setLevel("INFO")
        go.log(4, "a")
        other.log(4, "b")
        go.later(3)
        other.later(3)
        wait_for(lambda: len(kept.records) == len(found.records) == 4)
        gd.capture_logs(other, False)
        other.log(4, "not captured any more")
    finally:
        gd.capture_logs(other, False)
        logger.removeHandler(found)
    assert {record.name for record in kept.records} == {"logs"}
    assert {record.name for record in found.records} == {"others"}
    assert found.texts[0] == "b"


def test_off(go):
    """Records go where they went before: by default, and after capture_logs(..., False)."""
    script = f"""
import logging, os, sys, threading
import godlpack as gd
go = gd.load_module({go.__file__!r})
logging.basicConfig(level=10, stream=sys.stdout, format="%(message)s")
def stderr():
    reader, writer = os.pipe()
    os.dup2(writer, 2)
    os.close(writer)
    return reader
reader = stderr()
def said():
    return os.read(reader, 9999).decode().replace("20", "")
go.log(0, "one")
assert "INFO one" in said() and "_logs" not in "".join(sys.modules) and threading.active_count() == 1
before = go.format()
gd.capture_logs(go)
go.derived("two")
gd.capture_logs(go, False)
gd.capture_logs(go, False)
assert go.format() == before
go.derived("three")
assert "INFO three derived=true" in said()
go.log(-4, "below")
go.print("four")
assert said().endswith(" four\\n")
go.log_early(4, "five")
assert "WARN five early=true n=1" in said()
gd.capture_logs(go)
go.log_early(4, "six")
go.derived("seven")
go.fatal("the end")
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "two derived=true\nsix early=true n=1\nseven derived=true\n"), (
        done.stderr
    )


def test_fatal(go):
    """The text of log.Fatal, which ends the process, goes to stderr."""
    script = f"import godlpack as gd; go = gd.load_module({go.__file__!r}); gd.capture_logs(go); go.fatal('the end')"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "the end\n"


def test_loggers_of_the_library(python, go):
    """A default logger that the library sets itself stays, also when the capture ends."""
    script = f"""
import logging, sys
import godlpack as gd
go = gd.load_module({go.__file__!r})
logging.basicConfig(level=10, stream=sys.stdout, format="%(message)s")
gd.capture_logs(go)
go.log(0, "captured")
go.own()
go.log(0, "own")
gd.capture_logs(go, level="DEBUG")
go.log(0, "still own")
gd.capture_logs(go, False)
go.log(0, "and still own")
gd.capture_logs(go)
go.log(0, "captured again")
gd.capture_logs(go, False)
go.log(0, "own again")
go.print("own, too")
print([line.partition("msg=")[2] for line in go.owned().splitlines()])
"""
    own = ["own", '"still own"', '"and still own"', '"own again"', '"own, too"']
    assert python(script) == f"captured\ncaptured again\n{own}\n"


def test_before_the_first_call(python, go):
    """A library that does not run yet is not opened; its records are there from its first call on."""
    script = f"""
import logging, sys, os
import godlpack as gd
go = gd.load_module({go.__file__!r})
before = len(os.listdir("/proc/self/task"))
gd.capture_logs(go, level="DEBUG")
assert len(os.listdir("/proc/self/task")) == before
logging.basicConfig(level=10, stream=sys.stdout, format="%(message)s")
go.log(-4, "first")
"""
    assert python(script) == "first\n"


def test_fork(python, go):
    """A child passes its own records on, those of goroutines too, and takes none of its parent's."""
    script = f"""
import logging, time
go = gd.load_module({go.__file__!r})
class Writes(logging.Handler):
    def emit(self, record):
        os.write(1, f"{{record.getMessage()}} {{os.getpid() == parent}}\\n".encode())
parent = os.getpid()
logging.getLogger().addHandler(Writes())
logging.getLogger().setLevel(20)
gd.capture_logs(go)
go.log(0, "parent")
def inside():
    if sys.argv[-1] == "deep":
        sys.argv.append("")
        fork(inside)
    go.log(0, "child")
    go.later(3)
    time.sleep(0.5)
go.later(20)
fork(inside)
sys.argv.append("deep")
fork(inside)
time.sleep(0.3)
go.log(0, "again")
"""
    lines = python(FORK + script, flags=()).splitlines()
    assert sorted(line for line in lines if line.endswith("True")) == sorted(
        ["parent True", "again True", *(f"later i={i} True" for i in range(20))]
    )
    children = [line for line in lines if line.endswith("False")]
    assert sorted(children) == sorted(3 * ["child False", *(f"later i={i} False" for i in range(3))])


def test_fork_in_a_handler(python, go):
    """A handler that forks while records are handled: the parent's are handled once, and the child goes on."""
    script = f"""
import logging
go = gd.load_module({go.__file__!r})
class Forks(logging.Handler):
    def emit(self, record):
        if record.getMessage() == "fork":
            global child
            child = os.fork()
        os.write(1, f"{{record.getMessage()}} {{child == 0}}\\n".encode())
child = -1
logging.getLogger().addHandler(Forks())
logging.getLogger().setLevel(20)
gd.capture_logs(go)
go.log(0, "first")
go.log(0, "fork")
go.log(0, "after")
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    lines = python(FORK + script, flags=()).splitlines()
    assert sorted(lines) == ["after False", "after True", "first False", "fork False", "fork True"]


def test_abandoned(python, go):
    """After two presses of Ctrl-C the library starts anew, and is captured again; the goroutine that goes on does no harm."""
    script = f"""
import logging, sys
import godlpack as gd
go = gd.load_module({go.__file__!r})
texts = []
class Keeps(logging.Handler):
    def emit(self, record):
        texts.append(record.getMessage())
logging.getLogger().addHandler(Keeps())
logging.getLogger().setLevel(20)
gd.capture_logs(go)
assert "was abandoned" in interrupted(go.endless, 0.3, 0.3)
assert texts and set(texts) == {{"endless"}}
time.sleep(0.1)
del texts[:]
time.sleep(0.2)
assert not texts, texts
go.log(0, "again")
assert texts == ["again"], texts
go.later(3)
time.sleep(0.5)
print(texts)
"""
    assert python(PRESSED + script) == "['again', 'later i=0', 'later i=1', 'later i=2']\n"


def test_end_of_the_interpreter(python, go):
    """Records that are there when the interpreter ends are handled, and goroutines that log do not keep it from ending."""
    script = f"""
import logging, sys, threading, time
import godlpack as gd
go = gd.load_module({go.__file__!r})
logging.basicConfig(level=10, stream=sys.stdout, format="%(message)s")
gd.capture_logs(go)
threading.Thread(target=go.endless, daemon=True).start()
go.later(2)
time.sleep(0.017)
"""
    start = time.monotonic()
    assert "endless\nendless\n" in python(script)
    busy = script.replace(
        "go.later(2)", "threading.Thread(target=go.many, args=(4, 10**9), daemon=True).start()"
    ).replace("0.017", "0.5")
    assert "many g=0 i=0\n" in python(busy)
    assert time.monotonic() - start < 20


def test_files(python, go):
    """Neither calls nor forks leave files open, and nothing warns of a socket when the interpreter ends."""
    script = f"""
import logging
warnings.simplefilter("error", ResourceWarning)
go = gd.load_module({go.__file__!r})
logging.disable(logging.CRITICAL)
files = lambda: len(os.listdir("/proc/self/fd"))
def deep(n):
    gd.capture_logs(go)
    go.log(8, "x")
    made.append(files())
    assert n == 0 or made[-1] <= made[0] + 4 * (len(made) - 1), made  # those of the Go runtimes
    if n > 0:
        fork(deep, n - 1)
made = []
deep(5)
"""
    done = subprocess.run([sys.executable, "-P", "-X", "dev", "-c", FORK + script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("kind", ["gevent", "eventlet"])
def test_green_threads(python, go, kind):
    """Where the standard library's threads are greenlets, the thread between calls is one, too, and does not block others."""
    pytest.importorskip(kind)
    patch = {
        "gevent": "import gevent.monkey; gevent.monkey.patch_all()",
        "eventlet": "import eventlet; eventlet.monkey_patch()",
    }
    script = f"""
{patch[kind]}
import logging, sys, time
import godlpack as gd
go = gd.load_module({go.__file__!r})
logging.basicConfig(level=10, stream=sys.stdout, format="%(message)s")
gd.capture_logs(go)
go.log(0, "a")
go.later(3)
time.sleep(0.5)
"""
    assert python(script, flags=()) == "a\nlater i=0\nlater i=1\nlater i=2\n"


def test_package(go, kept):
    """A package that imports the functions names the same library; the logger has the name of the functions' module."""
    gd.capture_logs(go, False)
    package = types.ModuleType("package")
    package.say, package.other = go.log, 3
    go.log(0, "not captured")
    gd.capture_logs(package)
    package.say(0, "captured")
    package = types.ModuleType("package")
    package.Recorder = go.Recorder
    gd.capture_logs(package, level="ERROR")
    go.log(0, "below")
    assert kept.texts == ["captured"]


def test_bad_arguments(go):
    with pytest.raises(TypeError, match=r"capture_logs\(\): want a module, got str"):
        gd.capture_logs("logs")
    with pytest.raises(ValueError, match="os has no function of a Go library"):
        gd.capture_logs(os)
    for level in (1.5, True, b"INFO"):
        with pytest.raises(TypeError, match=r"capture_logs\(\): level: want an int or a str, got"):
            gd.capture_logs(go, level=level)
    with pytest.raises(ValueError, match=r"level: want one of .*WARNING.*, or a number, got 'loud'"):
        gd.capture_logs(go, level="loud")
    key = _library.origins[go.quiet][3:]
    assert key not in _logs.captured or not _logs.captured[key].on


def test_library_that_cannot(go, kept, monkeypatch):
    """A library of an older godlpack has no such functions: a warning tells, and its calls work."""
    capture = _logs.captured[_library.origins[go.quiet][3:]]
    check = lambda *_: None  # noqa: E731
    missing = gd._core._function(
        go.__file__, check, -9, "take_logs", "take_logs", "logs", "", "(a, b)", ("a", "b"), 0, 0, False, None
    )
    monkeypatch.setattr(capture, "take", missing)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gd.capture_logs(go)
    assert "logs cannot pass on what it logs" in str(caught[0].message)
    assert "build it again with this godlpack" in str(caught[0].message)
    assert go.quiet() == 1
    monkeypatch.undo()
    gd.load_module(go.__file__)  # with its own check


def test_module_that_cannot_be_imported(go, kept, monkeypatch):
    """An error on the way to the handlers is the call's, and loses no record."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "godlpack._logs", None)
        with pytest.raises(ImportError, match=r"godlpack\._logs"):
            go.log(0, "late")
        with pytest.raises(ImportError, match=r"godlpack\._logs"):
            go.fail("later")
    assert go.quiet() == 1
    wait_for(lambda: kept.texts == ["late", "later"])
