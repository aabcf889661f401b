"""Processes with too little address space, threads or files for a Go runtime get an exception, and continue.

Each case runs in its own process, which an error would end.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from godlpack import _core
from helpers import build

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")

LIMITS = """
import ctypes, os, resource
import godlpack as gd

def status(name):
    return int(dict(line.split(":") for line in open("/proc/self/status") if name in line)[name].split()[0])

def in_a_group():
    # a container's limit of threads; the test removes the group
    os.mkdir({group!r})
    with open({group!r} + "/cgroup.procs", "w") as procs:
        procs.write(str(os.getpid()))
    return int(open({group!r} + "/pids.current").read())

def limit_group(n):
    with open({group!r} + "/pids.max", "w") as most:
        most.write(str(n))

def become_somebody():
    # the limit of threads counts all that a user has, and spares root
    if os.getuid() == 0:
        os.setgid(1_000_000_000 + os.getpid())
        os.setuid(1_000_000_000 + os.getpid())
    elif ctypes.CDLL(None).unshare(0x10000000) != 0:  # CLONE_NEWUSER
        print("no user of its own", flush=True)
        os._exit(0)
    return status("Threads")

def limit(kind, unit=1):
    return lambda n: resource.setrlimit(kind, (n * unit, resource.getrlimit(kind)[1]))

# how to set each limit, and what there is already
RESOURCES = {{
    "megabytes": (limit(resource.RLIMIT_AS, 1 << 20), lambda: status("VmSize") >> 10),
    "data": (limit(resource.RLIMIT_DATA, 1 << 20), lambda: status("VmData") >> 10),
    "threads": (limit(resource.RLIMIT_NPROC), become_somebody),
    "pids": (limit_group, in_a_group),
    "files": (limit(resource.RLIMIT_NOFILE), lambda: len(os.listdir("/proc/self/fd")) - 1),
}}
used = {{}}

def leave(n, what):
    set_limit, measure = RESOURCES[what]
    if what not in used:
        used[what] = measure()
    set_limit(used[what] + n)

def core():
    gd.full((300, 300), 1).astype("float16").tolist()
"""


@pytest.fixture(scope="module")
def place():
    """A folder that every user may read, with godlpack in it. If threads are counted, a forked child opens godlpack as
    another user, who may have no access to the folders of the tests or the package."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield build.package(Path(folder), Path(_core.__file__))


# The cgroups that count threads, of version 1 or 2.
GROUPS = Path("/sys/fs/cgroup/pids") if Path("/sys/fs/cgroup/pids").exists() else Path("/sys/fs/cgroup")


@pytest.fixture(scope="module")
def group():
    """The name of a new cgroup."""
    return GROUPS / f"godlpack-test-{os.getpid()}"


@pytest.fixture(scope="module")
def run(python, place, group):
    def run(script, **options):
        flags = ("-X", "faulthandler", "-W", "ignore")
        try:
            limits = LIMITS.format(group=str(group))
            out = python(limits + script, flags=flags, package=place, GOMAXPROCS="2", **options)
        finally:
            if group.exists():
                remove(group)
        if "no user of its own" in out:
            pytest.skip("needs root, or user namespaces")
        return out.strip()

    return run


def remove(group):
    """Removes a cgroup, after its last process has ended, which may take the kernel a moment."""
    for _ in range(100):
        with suppress(OSError):
            return group.rmdir()
        time.sleep(0.05)
    raise AssertionError(f"{group} is still in use")


def may_have_groups():
    probe = GROUPS / f"godlpack-probe-{os.getpid()}"
    try:
        probe.mkdir()
    except OSError:
        return False
    usable = (probe / "pids.max").exists()
    probe.rmdir()
    return usable


@pytest.fixture(scope="module")
def library(place):
    return build.describe(build.go_library(place))


MISSING = {
    "megabytes": r"^MemoryError: godlpack: .*a Go runtime may take \d+ MB of address space .*ulimit -v is \d+ MB",
    "data": r"^MemoryError: godlpack: .*a Go runtime may take .*, \d+ MB of it for data.*ulimit -d is \d+ MB",
    "threads": r"^RuntimeError: godlpack: .*a Go runtime may take \d+ threads .*but only \d+ more are allowed.*ulimit -u",
    "pids": r"^RuntimeError: godlpack: .*a Go runtime may take \d+ threads .*but only \d+ more are allowed.*pids.max",
    "files": r"^RuntimeError: godlpack: .*a Go runtime takes \d+ file descriptors.*but only \d+ more are allowed.*ulimit -n",
}
# how much is left: from too little for any of Go to enough
STEPS = {
    "megabytes": [*range(20, 1820, 200), *range(1820, 2100, 40)],
    "data": [*range(8, 240, 24)],
    "threads": [*range(12)],
    "pids": [*range(12)],
    "files": [*range(9)],
}
# code before the limit, and with it
WHERE = {
    "the core": ("", "core()"),
    "a library": ("core()", "f.divmod(17)"),
    "a second library": ("core(); f.divmod(17)", "g.divmod(17)"),
    "the core of a forked child": ("core(); fork()", "core()"),
    "a library of a forked child": ("f.divmod(17); fork()", "f.divmod(17)"),
}
ASCENT = """
f, g = gd.load_module({library!r}), gd.load_module({second!r})

def fork():
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

{before}
for left in {steps}:
    leave(left, {what!r})
    said = "well"
    try:
        {call}
    except (MemoryError, RuntimeError) as error:
        said = f"{{type(error).__name__}}: {{error}}"
    print(said, flush=True)
    if said == "well":
        break
"""


@pytest.mark.parametrize("what", STEPS)
@pytest.mark.parametrize("where", WHERE)
def test_each_limit(run, library, what, where):
    """From too little to enough: exceptions that name what is missing; from some step on, none. A process that was
    refused continues, and works with more."""
    if what == "pids" and not may_have_groups():
        pytest.skip("needs to make cgroups")
    before, call = WHERE[where]
    second = library.with_name("second.so")
    for suffix in (".so", ".json"):
        shutil.copy(library.with_suffix(suffix), second.with_suffix(suffix))
    rest, refused = STEPS[what], []
    while rest:  # a process that works once works from then on: each following step needs a new one
        script = ASCENT.format(
            library=str(library), second=str(second), before=before, steps=rest, what=what, call=call
        )
        *more, last = run(script).splitlines()
        assert last == "well", f"{last}, with {rest[len(more)]} {what} left"
        assert not refused or not more, f"{more} with {rest[0]} {what} left, though fewer had worked"
        if not refused:
            refused, enough = more, rest[len(more)]
        rest = rest[len(more) + 1 :]
    assert refused
    for said in refused:
        assert re.search(MISSING[what], said), said
    print(f"{where} works with {enough} {what} left")


def test_started_without_a_file_left(run, library):
    """Waiting for several goroutines needs a timer, for which Go needs files: it has them from its start."""
    run(f"""
import signal
f = gd.load_module({str(library)!r})
core(), f.divmod(17)
leave(0, "files")
for _ in range(5):
    gd.full((3000, 3000), 1).astype("float16")
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    f.slow(True)
except ZeroDivisionError:
    pass
else:
    raise AssertionError("it ended by itself")
""")


CORE = """
import godlpack as gd
try:
    print(gd.full((300, 300), 1).astype("float16").shape)
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize("kilobytes", [64, 1 << 10, 1 << 16, 1 << 20, 1 << 25, 1 << 30, 1 << 36, 1 << 40])
def test_stacks(kilobytes):
    """Each thread's stack is as large as the limit at the process's start, which may be too large for a new thread."""
    command = [sys.executable, "-P", "-c", CORE]
    limits = (min(kilobytes << 10, sys.maxsize), resource.RLIM_INFINITY)
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, limits)
    )
    assert done.returncode == 0, done.stderr
    small = kilobytes <= 1 << 20
    assert (
        done.stdout == "(300, 300)\n"
        if small
        else done.stdout.startswith("(300") or "take smaller stacks (ulimit -s)" in done.stdout
    )


def test_import_needs_no_room(python):
    """The import starts no Go; what needs no Go works."""
    python("""
import resource
resource.setrlimit(resource.RLIMIT_AS, (700 << 20, resource.RLIM_INFINITY))
import godlpack as gd
d = gd.Device
assert gd.Tensor and gd.from_dlpack
try:
    gd.zeros(3)
except MemoryError as error:
    assert "ulimit -v is 700 MB" in str(error), error
else:
    raise AssertionError("it started")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert gd.zeros(3).tolist() == [0, 0, 0]
""")


def test_no_memory_for_a_long_list(run):
    """The items are Python objects in Python's memory."""
    run("""
core()
x = gd.zeros(20 << 20, "int8")
leave(20, "megabytes")
try:
    x.tolist()
except MemoryError:
    pass
else:
    raise AssertionError("no MemoryError")
""")
