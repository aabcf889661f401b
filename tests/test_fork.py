"""Forked children: each starts a Go runtime of its own at its first use, and works on inherited tensors."""

import os
import sys
from pathlib import Path

import pytest

from godlpack import _core
from helpers import build
from helpers.scripts import FORK, program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")

FORKS = int(os.environ.get("GODLPACK_FORKS", "60"))


@pytest.fixture(scope="module")
def forking(python):
    def run(script, **options):
        return python(FORK + script, **options)

    return run


BEFORE = {
    "merely imported": "",
    "used": "gd.zeros(3)",
    "used in a thread alone": "import threading; x = threading.Thread(target=gd.zeros, args=(3,)); x.start(); x.join()",
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE.keys())
class TestChild:
    def test_everything_works(self, forking, before):
        """Work that would hang in the parent's runtime: allocation, many calls, new threads."""
        forking(
            before
            + """
def inside():
    import threading
    t = gd.full((2, 3), 1.5)
    assert t.copy().tolist() == [[1.5] * 3] * 2 and t.T.shape == (3, 2) and "1.5" in repr(t)
    assert gd.DType("int8") == "int8" and gd.Device("cpu") == "cpu" and t.device.type == gd.DeviceType.CPU
    assert bytes(memoryview(t)) == bytes(t) and gd.asarray(b"abc").tolist() == [97, 98, 99]
    assert t.to("cpu") is t and [r.tolist() for r in t] == t.tolist()
    for _ in range(300):
        assert len(gd.zeros(10_000, "int8").tolist()) == 10_000  # garbage, so that it is collected
    done = []
    workers = [threading.Thread(target=lambda: done.append(gd.zeros(100_000).astype("int64").size)) for _ in range(4)]
    for w in workers: w.start()
    for w in workers: w.join()
    assert done == [100_000] * 4
    assert gd.get_build_info()["runtime_generation"] == generation
generation = int("zeros" in before)
fork(inside)
assert gd.full(3, 1.0).tolist() == [1.0] * 3
assert gd.get_build_info()["runtime_generation"] == 0
""".replace("before", repr(before))
        )

    def test_first_call_in_a_new_thread(self, forking, before):
        forking(
            before
            + """
def inside():
    import threading
    found = []
    w = threading.Thread(target=lambda: found.append(gd.full(3, 1).tolist()))
    w.start(); w.join()
    assert found == [[1.0] * 3] and gd.full(3, 2).tolist() == [2.0] * 3
fork(inside)
"""
        )

    def test_forked_by_a_thread(self, forking, before):
        """The forking thread is the child's main thread; if it returns without a use of Go, the child ends."""
        forking(
            before
            + """
import threading
def inside():
    assert gd.full(3, 1).tolist() == [1.0] * 3
worker = threading.Thread(target=lambda: (gd.zeros(3), fork(inside)))
worker.start(); worker.join()
children = []
worker = threading.Thread(target=lambda: (gd.zeros(3), children.append(os.fork())))
worker.start(); worker.join()
assert os.waitpid(children[0], 0)[1] == 0
"""
        )

    def test_nested(self, forking, before):
        forking(
            before
            + """
def inside(depth):
    t = gd.full(3, depth)
    if depth:
        fork(inside, depth - 1)
    assert t.tolist() == [depth] * 3
fork(inside, 5)
"""
        )

    def test_child_that_does_nothing(self, forking, before):
        forking(before + "\nfork(lambda: None)")

    def test_exit_by_the_book(self, forking, before):
        """The child finalizes Python, as after a fork in a script, instead of calling os._exit."""
        forking(
            before
            + """
kept = gd.zeros(3)
child = os.fork()
if child == 0:
    signal.alarm(30)
    assert gd.full(3, 1).tolist() == [1.0] * 3
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
        )


class TestInheritance:
    def test_what_needs_no_go_starts_none(self, forking, np):
        """Attributes, exports, and exchange with types that have plans."""
        forking(
            """
import numpy as np
t, a = gd.full((2, 3), 1.5), np.arange(3.0)
t.dtype, t.device, gd.from_dlpack(a), t.to(np.ndarray)
def inside():
    assert threads() == 1
    assert (t.shape, t.strides, t.ndim, t.size, t.nbytes, len(t)) == ((2, 3), (3, 1), 2, 6, 24, 2)
    assert t.dtype.name == "float32" and str(t.device) == "cpu" and t.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(t).tolist() == t.to(np.ndarray).tolist() == [[1.5] * 3] * 2
    assert gd.from_dlpack(a).data_ptr == a.ctypes.data
    assert threads() == 1
fork(inside)
"""
        )

    def test_torch_needs_no_go_when_planned(self, forking, torch):
        forking(
            """
import torch
t, x = gd.full(3, 1.5), torch.arange(3.0)
gd.from_dlpack(x), t.to(torch.Tensor)
def inside():
    before = threads()
    assert gd.from_dlpack(x).data_ptr == x.data_ptr() and t.to(torch.Tensor).tolist() == [1.5] * 3
    assert torch.from_dlpack(t).tolist() == [1.5] * 3 and threads() == before
    assert t.tolist() == [1.5] * 3 and threads() > before
fork(inside)
"""
        )

    def test_what_is_inherited_is_given_back(self, forking, np):
        """The child uses and releases tensors, views, exports and imports of the parent, and its own."""
        forking(
            """
import numpy as np
nothing = owed()
t = gd.zeros((3, 4))
things = [t, t[1:], np.from_dlpack(t), t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), memoryview(t),
          gd.from_dlpack(np.ones(3)), gd.asarray(bytearray(5)), gd.from_dlpack(gd.zeros(3).__dlpack__())]
def inside(depth):
    global things, t
    more = [t.copy(), t.T, gd.from_dlpack(things[3]), t.reshape(12).__dlpack__(), memoryview(t[0]), gd.asarray(b"abc")]
    more += [np.from_dlpack(more[0]), gd.from_dlpack(np.full(3, depth)), t.to(np.ndarray)]
    assert more[-2].tolist() == [depth] * 3 and more[2].data_ptr == t.data_ptr
    if depth:
        del things[3]
        things.insert(3, t.__dlpack__())
        things += more  # what a copy of the library made is released in a copy of the copy
        del more
        fork(inside, depth - 1)
    else:
        del more
    things, t = [], None
    assert owed() == nothing, (owed(), nothing)
fork(inside, 2)
assert t.tolist() == [[0.0] * 4] * 3
things = t = None
assert owed() == nothing, (owed(), nothing)
"""
        )

    def test_plans_made_in_the_child_are_used(self, forking, np):
        """Go writes them in a copy of the library; the fast paths that read them are in the first library."""
        forking(
            """
import numpy as np
gd.zeros(3)
def inside():
    a = np.arange(4, dtype=np.int16)
    assert gd.from_dlpack(a).tolist() == [0, 1, 2, 3]
    assert "numpy.ndarray" in gd.get_build_info()["fast_paths"]
    def grandchild():
        assert gd.from_dlpack(a).data_ptr == a.ctypes.data and threads() == 1
    fork(grandchild)
fork(inside)
assert gd.get_build_info()["fast_paths"] == []
"""
        )

    def test_types_stay(self, forking):
        forking(
            """
gd.zeros(3)
def inside():
    t = gd.zeros(3)
    assert type(t) is gd.Tensor and type(t.dtype) is gd.DType and type(t.device) is gd.Device
    assert isinstance(t.device.type, gd.DeviceType)
    import pickle
    assert pickle.loads(pickle.dumps(t)).tolist() == t.tolist()
    for wrong in (lambda: gd.zeros(-1), lambda: gd.from_dlpack(3), lambda: gd.zeros(3, "float7")):
        try:
            wrong()
        except (ValueError, TypeError):
            continue
        raise AssertionError("no error")
fork(inside)
"""
        )

    def test_fork_in_a_method_that_go_called(self, forking):
        """The child has dead Go frames on its stack, and never returns to them."""
        forking(
            """
class Producer:
    def __dlpack__(self, **keywords):
        fork(lambda: gd.full(3, 1).tolist())
        return gd.zeros(3).__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)
assert gd.from_dlpack(Producer()).tolist() == [0.0] * 3
"""
        )


# ---- ways to fork ----


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
class TestWorkers:
    def test_multiprocessing(self, python, tmp_path, method):
        python(
            program(
                tmp_path,
                f"""
import multiprocessing, warnings
from concurrent.futures import ProcessPoolExecutor
import godlpack as gd
warnings.simplefilter("ignore")

def double(t):
    assert t.astype("int64").tolist() == t.tolist()
    return gd.asarray(bytes(2 * int(v) for v in t.tolist()))

if __name__ == "__main__":
    tensors = [gd.full(5, n, "uint8") for n in range(40)]
    context = multiprocessing.get_context({method!r})
    want = [[2 * n] * 5 for n in range(40)]
    with context.Pool(2, maxtasksperchild=10) as pool:
        assert [t.tolist() for t in pool.map(double, tensors)] == want
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert [t.tolist() for t in pool.map(double, tensors)] == want
""",
            )
        )

    def test_data_loader(self, python, torch, tmp_path, method):
        """Two epochs. Workers have torch's handlers for SIGSEGV and SIGBUS. Those not forked import torch again."""
        workers = 2 if method == "fork" else 1
        python(
            program(
                tmp_path,
                f"""
import warnings
import torch
from torch.utils.data import DataLoader, Dataset
import godlpack as gd
warnings.simplefilter("ignore")

class Squares(Dataset):
    def __init__(self):
        self.values = gd.from_dlpack(torch.arange(64, dtype=torch.float32))
    def __len__(self):
        return 64
    def __getitem__(self, i):
        x = self.values[i:i + 1].astype("float64")
        return torch.from_dlpack(gd.full(1000, x.item() ** 2, "float64"))

if __name__ == "__main__":
    loader = DataLoader(Squares(), batch_size=8, num_workers={workers}, persistent_workers={workers == 1},
                        multiprocessing_context={method!r})
    for epoch in range(2):
        assert sum(batch[:, 0].sum().item() for batch in loader) == sum(n * n for n in range(64))
""",
            )
        )


def test_preexec(forking):
    """subprocess runs a function between fork and exec."""
    forking(
        """
import subprocess
gd.zeros(3)
def between():
    assert gd.full(3, 1).tolist() == [1.0] * 3
assert subprocess.run(["true"], preexec_fn=between).returncode == 0
"""
    )


def test_many_children_of_a_busy_parent(forking):
    """Half of them fork again. GODLPACK_FORKS sets their number; 2000 is a soak test."""
    forking(
        """
import threading
stop, big = False, gd.full(1 << 18, 1.5)
def busy():
    while not stop:
        big.astype("float16").astype("int8")
        gd.zeros((40, 50)).tolist()
        _core._layout()
workers = [threading.Thread(target=busy, daemon=True) for _ in range(3)]
for w in workers: w.start()
kept = gd.full(3, 2.0)
def use():
    for _ in range(3):
        assert kept.astype("int32").tolist() == [2] * 3
        assert gd.full((100, 100), 1).astype("float64").copy().tolist()[99][99] == 1.0
        assert str(kept.dtype) == "float32" and bytes(kept)[:4] == b"\\0\\0\\0@"
    for _ in range(30):
        _core._layout()
def inside(depth):
    use()
    if depth:
        fork(inside, depth - 1, limit=120)
        use()
for i in range(FORKS):
    fork(inside, i % 2, limit=120)
stop = True
""".replace("FORKS", str(FORKS)),
        timeout=120 + FORKS,
    )


# ---- failures to copy the library ----


def test_no_room_for_a_copy(forking):
    """Neither memory nor a folder has room: a RuntimeError names what was tried; C code still works."""
    forking(
        """
import resource
t = gd.zeros(3); t.dtype
def inside():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for _ in range(2):
        try:
            t.copy()
        except RuntimeError as e:
            assert "fork()" in str(e) and "cannot create a file in memory: File too large" in str(e) and "godlpack-" in str(e), e
            continue
        raise AssertionError("no error")
    assert t.dtype.name == "float32" and t.shape == (3,)
    try:
        memoryview(t)
    except RuntimeError:
        return
    raise AssertionError("no error")
fork(inside)
""",
    )


@build.needs_cc
def test_no_memory_files(forking, tmp_path):
    """The copy is then written to a folder, and removed from it."""
    code = "#include <errno.h>\nint memfd_create(const char *n, unsigned f) { return errno = ENOSYS, -1; }"
    preloaded = build.preload(build.c_library(tmp_path / "shim.so", code))
    place = tmp_path / "place"
    place.mkdir()
    script = """
gd.zeros(3)
def inside():
    assert gd.full(3, 1).tolist() == [1.0] * 3
    assert any("PLACE/godlpack-" in line for line in open("/proc/self/maps"))
    fork(lambda: gd.full(3, 1).tolist())
fork(inside)
"""
    forking(script.replace("PLACE", str(place)), LD_PRELOAD=preloaded, TMPDIR=str(place))
    assert not list(place.iterdir())
    script = """
gd.zeros(3)
def inside():
    try:
        gd.zeros(3)
    except RuntimeError as e:
        assert "Function not implemented" in str(e) and "/nowhere/godlpack-" in str(e), e
        return
    raise AssertionError("no error")
fork(inside)
"""
    forking(script, LD_PRELOAD=preloaded, TMPDIR="/nowhere")


SYSTEM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static int fails(const char *what) {
  const char *named = getenv("FAILS"), *until = getenv("UNTIL");
  if (named == NULL || strstr(named, what) == NULL) return 0;
  if (until != NULL) unsetenv("FAILS"); /* once */
  return errno = strcmp(what, "old kernel") == 0 ? EINVAL : EIO, 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int fstat(int fd, struct stat *s) { return fails("fstat") ? -1 : REAL(fstat)(fd, s); }
ssize_t sendfile(int to, int from, off_t *at, size_t n) { return fails("sendfile") ? -1 : REAL(sendfile)(to, from, at, n); }
int memfd_create(const char *name, unsigned flags) {
  return fails("memfd") || (flags & 0x10 && fails("old kernel")) ? -1 : REAL(memfd_create)(name, flags);
}
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = va_arg(more, int);
  va_end(more);
  return strstr(path, "_core") != NULL && fails("open") ? -1 : REAL(open)(path, flags, mode);
}
int fcntl(int fd, int what, ...) {
  va_list more;
  va_start(more, what);
  void *argument = va_arg(more, void *);
  va_end(more);
  return what == F_DUPFD_CLOEXEC && fails("fcntl") ? -1 : REAL(fcntl)(fd, what, argument);
}
"""


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A library to preload that makes the system calls fail which the environment variable FAILS names."""
    shim = build.c_library(tmp_path_factory.mktemp("system") / "shim.so", SYSTEM, "-U_FILE_OFFSET_BITS")
    return build.preload(shim)


@pytest.mark.parametrize("folder", ["/tmp", "", None])
@pytest.mark.parametrize("what", ["fstat", "sendfile", "memfd", "memfd, sendfile", "open", "old kernel", "fcntl"])
def test_system_refuses(forking, system, what, folder):
    """The error names what prevented the copy, and the next call tries again; if there is another way, it is used."""
    script = f"""
gd.zeros(3)
def inside():
    def grandchild():
        os.environ["FAILS"] = {what!r}
        try:
            assert gd.zeros(3).tolist() == [0, 0, 0]
            said = "worked"
        except RuntimeError as error:
            said = str(error)
        del os.environ["FAILS"]
        assert gd.full(3, 2).tolist() == [2, 2, 2]
        works = {what!r} in ("memfd", "old kernel", "fcntl")
        assert works == (said == "worked"), said
        assert works or "Input/output error" in said, said
    gd.zeros(3)
    fork(grandchild)
os.environ.pop("TMPDIR", None)
folder = {folder!r}
if folder is not None:
    os.environ["TMPDIR"] = folder
fork(inside)
"""
    forking(script, LD_PRELOAD=system)


def test_library_was_replaced(forking, tmp_path):
    """After an upgrade, for example, the file at the path is no longer this library."""
    script = """
import shutil
gd.zeros(3)
path = _core.__file__
shutil.copy(path, path + ".new")
os.replace(path + ".new", path)
def inside():
    try:
        gd.zeros(3)
    except RuntimeError as e:
        assert path in str(e) and "no longer the file that was loaded" in str(e), e
        return
    raise AssertionError("no error")
fork(inside)
os.unlink(path)
def inside():
    try:
        gd.zeros(3)
    except RuntimeError as e:
        assert path + ": No such file or directory" in str(e), e
        return
    raise AssertionError("no error")
fork(inside)
"""
    forking(script, package=build.package(tmp_path, Path(_core.__file__)))


@pytest.mark.parametrize("change", ["size", "seconds", "nanoseconds"])
def test_library_was_changed_in_place(forking, tmp_path, change):
    script = f"""
gd.zeros(3)
path, change = _core.__file__, {change!r}
was = os.stat(path)
if change == "size":
    with open(path, "ab") as file:
        file.write(b"more")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
else:
    seconds, rest = divmod(was.st_mtime_ns, 10**9)
    more = 10**9 if change == "seconds" else 1 if rest == 0 else -1
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns + more))
t = gd.zeros(3)
def inside():
    for call in (lambda: gd.zeros(3), lambda: memoryview(t)):
        try:
            call()
        except RuntimeError as e:
            assert "no longer the file that was loaded" in str(e), e
        else:
            raise AssertionError("no error")
fork(inside)
"""
    forking(script, package=build.package(tmp_path, Path(_core.__file__)))


def test_unguarded_entry_ends_at_once(forking):
    """A C function of cgo's, called in a child without the entry, ends with a message and SIGABRT; Go would hang."""
    script = """
import ctypes
gd.zeros(3)
library = ctypes.PyDLL(_core.__file__)
library.PyInit__core.restype = ctypes.c_void_p
SIZE_OF_MODULE_DEF = 104  # then comes the pointer to what leads into Go; see runtime.h
runtime = ctypes.c_void_p.from_address(library.PyInit__core() + SIZE_OF_MODULE_DEF).value
enter = ctypes.PYFUNCTYPE(*[ctypes.c_void_p] * 6)(ctypes.c_void_p.from_address(runtime).value)
child = os.fork()
if child == 0:
    signal.alarm(30)
    enter(0, None, None, 0, None)
    os._exit(0)
os.kill(os.getpid(), os.WTERMSIG(os.waitpid(child, 0)[1]))
"""
    said = forking(script, status=-6, flags=())
    assert said.splitlines()[0].startswith("godlpack: fatal: ") and "forked child" in said.splitlines()[0]
    assert "goroutine" not in said


@pytest.mark.skipif(sys.version_info < (3, 12), reason="older Pythons do not warn")
def test_python_warns_only_where_go_runs(python):
    python(
        """
import os, warnings
import godlpack as gd
def warned():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        child = os.fork()
        if child == 0: os._exit(0)
        os.waitpid(child, 0)
    return any("multi-threaded" in str(w.message) for w in caught)
assert not warned()
gd.zeros(3)
assert warned()
"""
    )
