"""The number of threads that Go computes in: set, from the environment, in children, and by threadpoolctl."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

import pytest

import godlpack as gd
from godlpack import _threads, _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package %s

import (
	"runtime"
	"sync/atomic"
	"time"

	"godlpack/kernel"
)

// Procs returns how many threads this library computes in.
//
//godlpack:export
func Procs() int { return runtime.GOMAXPROCS(0) }

// Widest returns how many pieces of a Parallel were under way at a time, at most.
//
//godlpack:export
func Widest(ctx *kernel.Ctx) int {
	var now, most atomic.Int64
	kernel.Parallel(ctx, 1000, func(lo, hi int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for start := time.Now(); time.Since(start) < 50*time.Microsecond*time.Duration(hi-lo); {
			runtime.Gosched()
		}
		now.Add(-1)
	})
	return int(most.Load())
}
"""
CORES = len(os.sched_getaffinity(0))
NAMES = ("GODLPACK_NUM_THREADS", "GOMAXPROCS", "OMP_NUM_THREADS")


@pytest.fixture(scope="module", autouse=True)
def built(own_cache):
    """Two libraries, built once for all processes."""
    return [library(name) for name in ("first", "second")]


def library(name):
    return gd.load_inline(SOURCE % name, name=name)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    yield
    monkeypatch.undo()
    gd.set_num_threads(None)


def python(script, *flags, **env):
    """The output of a process, parsed as JSON; {first} and {second} in the script are the sources."""
    start = f"import json, os, warnings\nimport godlpack as gd\nSOURCE = {SOURCE!r}\n"
    start += "def library(name): return gd.load_inline(SOURCE % name, name=name)\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **env}
    done = subprocess.run([sys.executable, "-P", *flags, "-c", start + script], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


# --- set_num_threads


def test_all_runtimes_at_once():
    libraries = [library(name) for name in ("first", "second")]
    for n in (3, 1, 1, 5, 2):
        gd.set_num_threads(n)
        assert [gd.get_num_threads(), *(lib.procs() for lib in libraries)] == [n] * 3
    gd.set_num_threads(None)
    assert [gd.get_num_threads(), *(lib.procs() for lib in libraries)] == [CORES] * 3


def test_parallel_is_as_wide():
    lib = library("first")
    for n in (1, 2, 4):
        gd.set_num_threads(n)
        widest = lib.widest()
        assert widest <= n and (n == 1 or widest > 1)


def test_while_others_compute(np):
    """Go stops all its threads to change the number; callbacks that wait for the GIL must not prevent that."""
    lib, stop, x = library("first"), threading.Event(), np.ones((1 << 9, 1 << 9), "int8")

    def work():
        while not stop.is_set():
            lib.widest()
            gd.asarray(x).astype("float64")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(50):
        gd.set_num_threads(1 + i % 4)
        assert gd.get_num_threads() == lib.procs() == 1 + i % 4
    stop.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("n", [0, -1, 4097, 1 << 70])
def test_numbers_that_are_refused(n):
    before = gd.get_num_threads()
    with pytest.raises(ValueError, match=rf"want a number from 1 to 4096, or None, got {n}"):
        gd.set_num_threads(n)
    assert gd.get_num_threads() == before


@pytest.mark.parametrize("n", [1.0, "1", [1]])
def test_no_numbers(n):
    with pytest.raises(TypeError, match=rf"want an int, or None, got {type(n).__name__}"):
        gd.set_num_threads(n)


def test_numpy_integers(np):
    gd.set_num_threads(np.int8(2))
    assert gd.get_num_threads() == 2


def test_library_that_is_opened_later():
    script = "gd.set_num_threads(3); print(json.dumps([library('first').procs(), gd.get_num_threads()]))"
    assert python(script)[0] == [3, 3]


def test_setting_starts_no_go():
    threads = "len(os.listdir('/proc/self/task'))"
    script = (
        f"gd.set_num_threads(3); before = {threads}; gd.get_num_threads(); print(json.dumps([before, {threads} > 1]))"
    )
    assert python(script)[0] == [1, True]


# --- the environment


@pytest.mark.parametrize(
    ("variables", "n"),
    [
        ({}, CORES),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "3,2"}, 3),
        ({"OMP_NUM_THREADS": " 3 "}, 3),
        ({"GOMAXPROCS": "4", "OMP_NUM_THREADS": "3"}, 4),
        ({"GODLPACK_NUM_THREADS": "5", "GOMAXPROCS": "4", "OMP_NUM_THREADS": "3"}, 5),
        ({"GODLPACK_NUM_THREADS": "", "GOMAXPROCS": "", "OMP_NUM_THREADS": "3"}, 3),
    ],
)
@pytest.mark.parametrize("when", ["at the start", "before Go", "before the library"])
def test_variables(variables, n, when):
    put = f"os.environ.update({variables!r})\n" if when != "at the start" else ""
    if when == "before the library":
        put = f"gd.zeros(1)\n{put}"
    script = put + "print(json.dumps([library('first').procs(), gd.get_num_threads(), library('second').procs()]))"
    assert python(script, **(variables if when == "at the start" else {})) == ([n] * 3, "")


def test_variable_that_is_gone():
    script = "del os.environ['GOMAXPROCS']; print(json.dumps([library('first').procs(), gd.get_num_threads()]))"
    assert python(script, GOMAXPROCS="7")[0] == [CORES, CORES]


def test_affinity():
    script = "print(json.dumps([library('first').procs(), gd.get_num_threads()]))"
    first = next(iter(os.sched_getaffinity(0)))
    assert python(f"os.sched_setaffinity(0, [{first}]); {script}")[0] == [1, 1]


def test_what_was_set_goes_before():
    script = "gd.set_num_threads(2); print(json.dumps([library('first').procs(), gd.get_num_threads()]))"
    assert python(script, OMP_NUM_THREADS="7")[0] == [2, 2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["0", "-1", "many", "4097", "99999999999999999999", "2x", "1.5", "off"])
def test_values_that_are_ignored(name, value):
    script = "print(json.dumps([gd.get_num_threads(), library('first').procs()]))"
    numbers, warned = python(script, **{"OMP_NUM_THREADS": "3", name: value})
    assert numbers == ([CORES, CORES] if name == "OMP_NUM_THREADS" else [3, 3])
    assert f"RuntimeWarning: {name}={value} is ignored by godlpack: want a number of threads, from 1 to 4096" in warned


def test_warning_that_is_an_error():
    script = """
said = []
for _ in range(2):
    try:
        said.append(gd.zeros(2).tolist())
    except RuntimeWarning as warning:
        said.append(str(warning)[:17])
print(json.dumps(said))
"""
    assert python(script, "-W", "error::RuntimeWarning", OMP_NUM_THREADS="no")[0] == ["OMP_NUM_THREADS=n", [0.0, 0.0]]


# --- children


def numbers():
    return [gd.get_num_threads(), library("first").procs(), library("second").procs()]


def say(name, value):
    os.environ[name] = value


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork")
def test_initializers_of_pools(how):
    library("first").procs()  # starts Go here, as in a parent that has already worked
    pool = ProcessPoolExecutor(1, multiprocessing.get_context(how), initializer=say, initargs=("OMP_NUM_THREADS", "3"))
    with pool:
        assert pool.submit(numbers).result(timeout=100) == [3, 3, 3]
    pool = ProcessPoolExecutor(1, multiprocessing.get_context(how), initializer=gd.set_num_threads, initargs=(3,))
    with pool:
        assert pool.submit(numbers).result(timeout=100) == [3, 3, 3]


@pytest.mark.filterwarnings("ignore:.*fork")
def test_forked_children_have_what_was_set():
    gd.set_num_threads(3)
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        assert pool.submit(numbers).result(timeout=100) == [3, 3, 3]


def test_joblib_shares_the_cores():
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config("loky", inner_max_num_threads=3):
        assert joblib.Parallel(2)(joblib.delayed(numbers)() for _ in range(2)) == [[3, 3, 3]] * 2


# --- threadpoolctl


def test_threadpoolctl():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    lib = library("first")
    (info,) = (i for i in threadpoolctl.threadpool_info() if i["user_api"] == "godlpack")
    assert info["num_threads"] == CORES and info["version"] == gd.__version__
    for limits in ({"limits": 1}, {"limits": 1, "user_api": "godlpack"}, {"limits": {"godlpack": 1}}):
        with threadpoolctl.threadpool_limits(**limits):
            assert [gd.get_num_threads(), lib.procs()] == [1, 1]
        assert [gd.get_num_threads(), lib.procs()] == [CORES, CORES]
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert lib.procs() == CORES
    _threads.register_threadpool()
    assert sum(i["user_api"] == "godlpack" for i in threadpoolctl.threadpool_info()) == 1


@pytest.mark.parametrize(
    "order", ["import threadpoolctl, godlpack", "import godlpack, threadpoolctl; gd.get_num_threads()"]
)
def test_threadpoolctl_in_any_order(order):
    pytest.importorskip("threadpoolctl")
    script = f"{order}\nprint(json.dumps([i['user_api'] for i in threadpoolctl.threadpool_info()]))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = "import json\n" + ("import godlpack as gd\n" if "gd." in order else "")
    done = subprocess.run([sys.executable, "-P", "-c", start + script], env=env, capture_output=True, text=True)
    assert done.stderr == "" and "godlpack" in json.loads(done.stdout)


def test_without_threadpoolctl():
    script = "import sys; gd.get_num_threads(); print(json.dumps('threadpoolctl' in sys.modules))"
    assert python(script)[0] is False


def test_numbers_that_are_none():
    choose = gd._core._choose_threads
    for wrong, error in (("two", TypeError), (-1, ValueError), (4097, ValueError), (2**70, OverflowError)):
        with pytest.raises(error):
            choose(wrong)
    assert choose(0) == 0


def test_warning_that_is_an_error_when_it_is_set(python):
    out = python(
        "import godlpack as gd\n"
        "gd.zeros(3)\n"
        "import os, warnings\n"
        "os.environ['GODLPACK_NUM_THREADS'] = 'many'\n"
        "warnings.simplefilter('error')\n"
        "try:\n    gd._core._choose_threads(0)\n"
        "except RuntimeWarning as warning:\n    print(warning)\n",
    )
    assert "GODLPACK_NUM_THREADS=many is ignored" in out
