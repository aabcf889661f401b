"""Libraries with state between calls, in forked processes, which do not have that state."""

import json
import re
import subprocess
import sys
import textwrap

import pytest

from godlpack import _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

COUNTER = """\
%s
package counter

import "regexp"

var (
	n    int
	word = regexp.MustCompile(`\\w+`)
)

//godlpack:export
func Set(value int) { n = value }

//godlpack:export
func Get() int { return n }

//godlpack:export
func Forever() {
	for {
	}
}

//godlpack:export
func Do(f kernel.Callable) error {
	_, err := f.Call()
	return err
}
"""
COUNTER = COUNTER.replace('import "regexp"', 'import (\n\t"regexp"\n\n\t"godlpack/kernel"\n)')

# The beginning of every script: in_child runs a function in a forked process, and returns its exit status.
BEGINNING = """\
import json, os, sys, traceback, warnings
import godlpack as gd
warnings.simplefilter("always")
warnings.filterwarnings("ignore", ".*use of fork.. may lead to deadlocks", DeprecationWarning)  # Python's own
counter = gd.load_module(sys.argv[1])

def in_child(f):
    if not (pid := os.fork()):
        try:
            f()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A library that counts, for each declaration of its state."""
    folder = tmp_path_factory.mktemp("state")
    built = {}
    for name, directive in (
        ("warn", ""),
        ("fresh", "//godlpack:state fork=fresh"),
        ("refuse", "//godlpack:state fork=refuse"),
    ):
        package = folder / name
        package.mkdir()
        package.joinpath("go.mod").write_text("module example.org/counter\n\ngo 1.26.0\n")
        package.joinpath("counter.go").write_text(COUNTER % directive)
        command = [_tool.TOOL, "build", package]
        subprocess.run(command, check=True, env=_tool.environment(_tool.require_go()))
        built[name] = package / "_counter.so"
    return built


def run(library, script, *options, status=0):
    """Runs a script, and returns its stdout and stderr."""
    command = [sys.executable, *options, "-c", BEGINNING + textwrap.dedent(script), str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


WARNING = (
    r"RuntimeWarning: counter\.(\w+)\(\): this process was forked after a call of counter, .* \(n\)\. If that matters"
)

CALLS = """
    def child():
        assert counter.get() == 0
        counter.set(7)
        assert counter.get() == 7
    counter.set(5)
    assert in_child(child) == 0
    assert in_child(child) == 0
    assert counter.get() == 5
"""


@pytest.mark.parametrize("sidecar", [True, False])
def test_each_child_warns_once(libraries, tmp_path, sidecar):
    library = libraries["warn"]
    if not sidecar:
        library = tmp_path / library.name
        library.write_bytes(libraries["warn"].read_bytes())
    _, stderr = run(library, CALLS)
    assert re.findall(WARNING, stderr) == ["get", "get"], stderr
    assert "<string>" in stderr  # the caller's line


def test_author_says_that_it_does_not_matter(libraries):
    assert run(libraries["fresh"], CALLS) == ("", "")


def test_author_refuses(libraries):
    script = """
    def child():
        for f in (counter.get, counter.get, lambda: counter.set(1)):
            try:
                f()
            except RuntimeError as e:
                print(e)
    counter.set(5)
    assert in_child(child) == 0
    assert in_child(lambda: in_child(child)) == 0
    assert counter.get() == 5
    """
    stdout, stderr = run(libraries["refuse"], script)
    assert stderr == ""
    assert len(stdout.splitlines()) == 6
    for line, name in zip(stdout.splitlines(), ["get", "get", "set"] * 2, strict=True):
        assert re.fullmatch(
            rf"counter\.{name}\(\): this process was forked after a call .* \(n\): start workers by .*spawn.*", line
        )


@pytest.mark.parametrize("name", ["warn", "refuse"])
def test_nothing_is_lost_without_a_call(libraries, tmp_path, name):
    """Neither loading a module nor opening a library for its functions loses state."""
    alone = tmp_path / "_counter.so"
    alone.write_bytes(libraries[name].read_bytes())
    script = """
    def child():
        counter.set(1)
        assert counter.get() == 1
    assert in_child(child) == 0
    """
    assert run(alone, script) == ("", "")
    assert run(libraries[name], script) == ("", "")


def test_nested_forks(libraries):
    """A process warns if any ancestor called, and at most once, also if it called itself."""
    script = """
    counter.set(5)
    def called():
        counter.set(6)
        assert in_child(counter.get) == 0
    assert in_child(lambda: in_child(counter.get)) == 0  # the process between does not call
    print("-", file=sys.stderr)
    assert in_child(called) == 0
    """
    _, stderr = run(libraries["warn"], script)
    far, near = stderr.split("-\n")
    assert re.findall(WARNING, far) == ["get"]
    assert re.findall(WARNING, near) == ["set", "get"]


def test_warnings_that_are_errors(libraries):
    """The first call raises, and the next ones work."""
    script = """
    warnings.simplefilter("error")
    def child():
        try:
            counter.get()
        except RuntimeWarning as e:
            print("raised", e.__cause__, e.__context__)
        else:
            raise AssertionError
        counter.set(3)
        assert counter.get() == 3
    counter.set(5)
    assert in_child(child) == 0
    assert in_child(lambda: in_child(child)) == 0
    """
    assert run(libraries["warn"], script) == ("raised None None\n" * 2, "")


def test_fork_within_a_call(libraries):
    """The child leaves the call, which only its parent can end; its next call warns."""
    script = """
    def fork():
        if not os.fork():
            try:
                counter.get()
            finally:
                sys.stderr.flush()
                os._exit(0)
        assert os.wait()[1] == 0
    counter.do(fork)
    """
    _, stderr = run(libraries["warn"], script)
    assert re.findall(WARNING, stderr) == ["get"], stderr


@pytest.mark.parametrize("name", ["warn", "fresh", "refuse"])
def test_given_up_on_the_second_ctrl_c(libraries, name):
    script = """
    import signal, threading, time
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def interrupt():
        for _ in range(8):
            time.sleep(1)
            if not done: os.kill(os.getpid(), signal.SIGINT)
    counter.set(5)
    done = []
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        counter.forever()
    except KeyboardInterrupt:
        done.append(True)
    print(counter.get(), counter.get())
    """
    stdout, stderr = run(libraries[name], script)
    assert stdout == "0 0\n"
    said = re.findall(
        r"RuntimeWarning: counter\.get\(\): a call of counter was abandoned before its end, .* \(n\)\. If", stderr
    )
    assert len(said) == (name != "fresh"), stderr


def test_pools(libraries):
    script = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    def work(i):
        with warnings.catch_warnings(record=True) as seen:
            value = counter.get()
        return value, len(seen)
    counter.set(5)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        print(pool.map(work, range(3)))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(list(pool.map(work, range(3))))
    """
    stdout, _ = run(libraries["warn"], script)
    assert stdout == "[(0, 1), (0, 0), (0, 0)]\n" * 2


def test_data_loader(libraries):
    pytest.importorskip("torch")
    script = """
    import torch
    class Data(torch.utils.data.Dataset):
        def __len__(self): return 2
        def __getitem__(self, i): return counter.get()
    for name in sys.argv[1], {refuse!r}:
        counter = gd.load_module(name)
        counter.set(5)
        try:
            for batch in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=1):
                print(batch.tolist())
        except RuntimeError as e:
            print(str(e).replace("\\n", " "))
    """.format(refuse=str(libraries["refuse"]))
    stdout, stderr = run(libraries["warn"], script)
    first, second = stdout.splitlines()
    assert first == "[0, 0]"
    assert "RuntimeError: counter.get(): this process was forked after a call of counter" in second
    assert re.findall(WARNING, stderr) == ["get"], stderr


def test_threads_of_a_child(libraries):
    """Any number of threads may call first: each gets its result."""
    script = """
    import threading
    def child():
        values = []
        threads = [threading.Thread(target=lambda: values.append(counter.get())) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert values == [0] * 8, values
    counter.set(5)
    assert in_child(child) == 0
    """
    _, stderr = run(libraries["warn"], script)
    assert re.search(WARNING, stderr)


def test_sidecar_says_it(libraries):
    def said(name):
        return json.loads(libraries[name].with_suffix(".json").read_text()).get("state")

    assert said("warn") == {"fork": "warn", "variables": ["n"]}
    assert said("fresh") is None
    assert said("refuse") == {"fork": "refuse", "variables": ["n"]}


LATER = """
package later

import "sync"

var (
	kept  = sync.OnceValue(func() *[]int { return new([]int) })
	table = sync.OnceValue(func() []int { return []int{1, 2} })
)

//godlpack:export
func Add(n int) int {
	*kept() = append(*kept(), n)
	return len(*kept())
}

//godlpack:export
func Read(i int) int { return table()[i] }
"""


@pytest.mark.parametrize("reads_alone", [False, True])
def test_what_once_value_gives(python, own_cache, reads_alone):
    """It is state if something is written through it, and none if it is only read."""
    import godlpack as gd

    source = LATER.replace("*kept() = append(*kept(), n)", "") if reads_alone else LATER
    script = f"""
import os, warnings
import godlpack as gd
m = gd.load_module({gd.load_inline(source).__file__!r})
assert m.read(1) == 2 and m.add(1) == (0 if {reads_alone} else 1)
if not (child := os.fork()):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m.add(1)
    print([str(w.message).partition("its state ")[2][:6] for w in caught], flush=True)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert python(script) == ("[]\n" if reads_alone else "['(kept)']\n")
