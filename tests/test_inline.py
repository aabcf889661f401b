"""load_inline, load and load_module: pickled functions, rebuilt libraries, and caches that cannot be trusted."""

import copy
import importlib
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import godlpack as gd
from godlpack import _cache, _inline, _library, _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

ANSWER = """
package ops

//godlpack:export
func Answer() int {{ return {} }}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("GODLPACK_CACHE", str(folder))
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A cache that already contains a library."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("built") / "cache"
        patch.setenv("GODLPACK_CACHE", str(folder))
        gd.load_inline(ANSWER.format(42), name="ops")
    return folder


@pytest.fixture
def full(cache, built):
    shutil.copytree(built, cache)
    return cache


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A Python package with a library, as godlpack build creates it."""
    folder = tmp_path / "reloaded"
    folder.mkdir()
    folder.joinpath("go.mod").write_text("module example.org/reloaded\n\ngo 1.26\n")
    init = 'from godlpack import load_module\nload_module(f"{__path__[0]}/_reloaded.so", package=__name__)\n'
    folder.joinpath("__init__.py").write_text(f"{init}from ._reloaded import *\n")
    rebuild(folder, 1)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("reloaded")
    del sys.modules["reloaded"], sys.modules["reloaded._reloaded"]


def rebuild(folder, answer):
    """Builds a function that returns a number, or the source that is given."""
    source = answer if isinstance(answer, str) else ANSWER.format(answer).replace("ops", "reloaded")
    folder.joinpath("ops.go").write_text(source)
    command = [_tool.TOOL, "build", folder, "-o", folder, "-name", "reloaded"]
    subprocess.run(command, cwd=folder, env=_tool.environment(_tool.find_go()), check=True)


def forked(f):
    """The result of f in a forked child."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about forks in a process with threads
        pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(f()).encode())
        except BaseException as error:
            os.write(write, repr(error).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as file:
        return file.read()


def elsewhere(data, **env):
    """The result of a pickled function in another process, or the last line of its stderr."""
    command = "import pickle, sys; print(pickle.load(sys.stdin.buffer)())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **env}
    done = subprocess.run([sys.executable, "-P", "-c", command], input=data, env=environment, capture_output=True)
    return done.stdout.decode().strip() or done.stderr.decode().strip().splitlines()[-1]


# --- pickles


protocols = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))


@protocols
def test_inline_function_is_itself_where_it_is_from(full, protocol):
    f = gd.load_inline(ANSWER.format(42), name="ops").answer
    assert pickle.loads(pickle.dumps(f, protocol)) is f
    shutil.rmtree(full)
    assert pickle.loads(pickle.dumps(f, protocol)) is f


@protocols
def test_inline_function_in_another_process(full, protocol):
    data = pickle.dumps(gd.load_inline(ANSWER.format(42), name="ops").answer, protocol)
    assert b"func Answer()" in data
    assert elsewhere(data, PATH="", GO="none") == "42"  # from the cache: there is no Go
    full.rename(full.with_name("away"))
    assert "needs Go" in elsewhere(data, PATH="", GO="none")


def test_inline_function_is_built_where_it_is_not(full, tmp_path):
    data = pickle.dumps(gd.load_inline(ANSWER.format(42), name="ops").answer)
    shutil.rmtree(full)
    assert elsewhere(data, GODLPACK_CACHE=str(tmp_path / "other")) == "42"
    assert list(tmp_path.joinpath("other").rglob("_ops.so"))
    assert not full.exists()


def test_source_that_does_not_build_here():
    data = pickle.dumps((_library.restore, ("source", "package ops\nwrong", "ops", "/no/_ops.so", 1, 1, "f")))
    restore, arguments = pickle.loads(data)
    with pytest.raises(gd.BuildError, match=r"ops\.go:2:1"):
        restore(*arguments)


@pytest.mark.parametrize("how", ["spawn", "fork", "forkserver"])
def test_pools(full, how):
    f = gd.load_inline(ANSWER.format(42), name="ops").answer
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(how)) as pool:
        assert [pool.submit(f).result(timeout=100) for _ in range(4)] == [42] * 4
    with multiprocessing.get_context(how).Pool(1) as pool:
        assert pool.apply_async(f).get(timeout=100) == 42


def test_joblib(full):
    joblib = pytest.importorskip("joblib")
    f = gd.load_inline(ANSWER.format(42), name="ops").answer
    assert joblib.Parallel(2)(joblib.delayed(f)() for _ in range(4)) == [42] * 4


def test_cloudpickle_of_what_refers_to_a_module(full):
    cloudpickle = pytest.importorskip("cloudpickle")
    ops = gd.load_inline(ANSWER.format(42), name="ops")
    assert elsewhere(cloudpickle.dumps(lambda: ops.answer() + 1)) == "43"


def test_module_of_a_path(full):
    library = next(full.rglob("_ops.so"))
    f = gd.load_module(library).answer
    data = pickle.dumps(f)
    assert pickle.loads(data) is f is gd.load_module(library).answer
    assert elsewhere(data) == "42"
    shutil.rmtree(full)
    assert pickle.loads(data) is f
    message = elsewhere(data)
    assert message.startswith("ImportError: cannot unpickle functions of ops:"), message
    assert str(library) in message and "is not on this machine" in message


def test_module_that_lacks_the_function(full):
    origin = _library.origins[gd.load_module(next(full.rglob("_ops.so"))).answer]
    with pytest.raises(ImportError, match=r"cannot unpickle ops\.question: .*_ops\.so has no such function here"):
        _library.restore(*origin, "question")


def test_function_of_a_folder(package, tmp_path):
    f = gd.load(tmp_path / "reloaded").answer
    data = pickle.dumps(f)
    assert pickle.loads(data) is f
    assert elsewhere(data, PATH="", GO="none") == "1"
    assert elsewhere(data, GODLPACK_CACHE=str(tmp_path / "other")) == "1"
    tmp_path.joinpath("reloaded").rename(tmp_path / "gone")
    assert elsewhere(data) == "1"  # from the cache
    shutil.rmtree(tmp_path / "cache")
    assert "reloaded is not on this machine" in elsewhere(data)


def test_copies_are_the_function(full):
    f = gd.load_inline(ANSWER.format(42), name="ops").answer
    assert copy.copy(f) is f
    assert copy.deepcopy([f, f]) == [f, f]


def test_threads_get_one_function(full):
    found = []
    call = lambda: found.append(gd.load_inline(ANSWER.format(42), name="ops").answer)  # noqa: E731
    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


# --- libraries that are rebuilt


def test_reload_runs_the_new_code(package):
    old = package.answer
    assert old() == 1
    rebuild(Path(package.__path__[0]), 2)
    importlib.reload(package)
    assert (package.answer(), old()) == (2, 1)
    assert pickle.loads(pickle.dumps(package.answer)) is package.answer
    assert elsewhere(pickle.dumps(package.answer)) == "2"
    with pytest.raises(pickle.PicklingError, match=r"reloaded\.answer is another object now.*take it from there again"):
        pickle.dumps(old)
    assert copy.deepcopy(old) is old
    rebuild(Path(package.__path__[0]), 3)
    importlib.reload(package)
    assert (package.answer(), old()) == (3, 1)


COUNTER = """
package reloaded

//godlpack:export
type Counter struct {{
	N int //godlpack:export
}}

//godlpack:new
func NewCounter() *Counter {{ return &Counter{{}} }}

//godlpack:export
func (c *Counter) Add() int {{ c.N += {}; return c.N }}

//godlpack:export
func Twice(c *Counter) int {{ return 2 * c.N }}
"""


def test_objects_live_on_after_a_reload(package):
    folder = Path(package.__path__[0])
    rebuild(folder, COUNTER.format(1))
    importlib.reload(package)
    old, old_class, old_twice = package.Counter(), package.Counter, package.twice
    assert old.add() == 1
    rebuild(folder, COUNTER.format(10))
    importlib.reload(package)
    new = package.Counter()
    assert type(new) is package.Counter is not old_class
    assert (new.add(), old.add(), new.add(), old.add()) == (10, 2, 20, 3)
    assert (package.twice(new), old_twice(old), old_class().add()) == (40, 6, 1)
    for twice, c in ((package.twice, old), (old_twice, new)):  # objects do not pass from one library into another
        with pytest.raises(TypeError, match="Counter"):
            twice(c)


def test_reload_of_what_did_not_change(package):
    old = package.answer
    importlib.reload(package)
    assert package.answer is old


def test_rebuilt_before_the_first_call(package):
    old = package.answer
    rebuild(Path(package.__path__[0]), 2)
    assert old() == 2
    importlib.reload(package)
    assert package.answer() == 2 == old()


def test_children_of_what_was_rebuilt(package):
    old = package.answer
    assert (old(), forked(old)) == (1, "1")
    rebuild(Path(package.__path__[0]), 2)
    assert "no longer the file that was opened before: load it again" in forked(old)
    assert forked(lambda: importlib.reload(package).answer()) == "2"
    importlib.reload(package)
    assert (package.answer(), forked(package.answer)) == (2, "2")


def test_child_opens_what_its_parent_has_by_another_path(full):
    library = next(full.rglob("_ops.so"))
    assert gd.load_module(library).answer() == 42
    link = library.with_name("_link.so")
    os.link(library, link)
    assert forked(lambda: gd.load_module(link).answer()) == "42"


def test_two_cells_of_one_name(full):
    first = gd.load_inline(ANSWER.format(42), name="ops")
    second = gd.load_inline(ANSWER.format(43), name="ops")
    assert (first.answer(), second.answer()) == (42, 43)
    assert pickle.loads(pickle.dumps([first.answer, second.answer])) == [first.answer, second.answer]


# --- the cache


def test_only_the_owner_can_use_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GODLPACK_CACHE", str(tmp_path / "new" / "cache"))
    before = os.umask(0)
    try:
        gd.load_inline(ANSWER.format(44), name="ops")
    finally:
        os.umask(before)
    folder = tmp_path / "new"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    assert modes["new"] == modes["cache"] == modes[next(name for name in modes if name.startswith("ops-"))] == 0o700
    assert all(modes[f"_ops{end}"] & 0o077 == 0 for end in (".so", ".json", ".sums", ".lock"))


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
@pytest.mark.parametrize("what", ["cache", "ops-*", "_ops.so", "_ops.json", "_ops.sums"])
def test_others_can_write(full, what, mode):
    path = full if what == "cache" else next(full.rglob(what))
    path.chmod(mode)
    with pytest.raises(PermissionError, match=f"can write to {path} .mode {mode:04o}.*chmod -R go-w"):
        gd.load_inline(ANSWER.format(42), name="ops")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["cache", "ops-*", "_ops.so"])
def test_another_user_owns_it(full, what):
    path = full if what == "cache" else next(full.rglob(what))
    os.chown(path, 12345, -1)
    with pytest.raises(PermissionError, match=f"{path} belongs to user 12345.*GODLPACK_CACHE"):
        gd.load_inline(ANSWER.format(42), name="ops")


@pytest.mark.parametrize("what", ["ops-*", "_ops.so"])
def test_links_in_the_cache(full, tmp_path, what):
    path = next(full.rglob(what))
    path.rename(tmp_path / "aside")
    path.symlink_to(tmp_path / "aside")
    with pytest.raises(PermissionError, match=f"{path} is a symbolic link"):
        gd.load_inline(ANSWER.format(42), name="ops")


def test_cache_may_be_a_link(full, tmp_path, monkeypatch):
    tmp_path.joinpath("link").symlink_to(full)
    monkeypatch.setenv("GODLPACK_CACHE", str(tmp_path / "link"))
    monkeypatch.setattr(_inline, "build", None)
    assert gd.load_inline(ANSWER.format(42), name="ops").answer() == 42


def test_sticky_folder_that_all_share(full, monkeypatch):
    full.chmod(0o1777)
    monkeypatch.setattr(_inline, "build", None)
    assert gd.load_inline(ANSWER.format(42), name="ops").answer() == 42


def spoil_end(path):
    os.truncate(path, path.stat().st_size // 2)


def spoil_all(path):
    os.truncate(path, 0)


def spoil_middle(path):
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("file", ["_ops.so", "_ops.json", "_ops.sums"])
@pytest.mark.parametrize("spoil", [spoil_end, spoil_all, spoil_middle, Path.unlink])
def test_library_that_is_not_whole_is_built_again(full, file, spoil):
    # The loader may have another test's files open, so this test has its own.
    path = next(full.rglob(file))
    spoil(path)
    assert gd.load_inline(ANSWER.format(42), name="ops").answer() == 42
    assert _cache.is_whole(next(full.rglob("_ops.so")))


def test_cache_that_cannot_be_written_to(tmp_path, monkeypatch):
    tmp_path.joinpath("file").touch()
    monkeypatch.setenv("GODLPACK_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(_cache.tempfile, "tempdir", str(tmp_path / "temporary"))
    with pytest.warns(RuntimeWarning, match=r"cache cannot be used.*file.*set GODLPACK_CACHE") as caught:
        ops = gd.load_inline(ANSWER.format(45), name="ops")
    assert len(caught) == 1
    assert ops.answer() == 45
    folder = tmp_path / "temporary" / f"godlpack-{os.geteuid()}"
    assert Path(ops.__file__).parents[1] == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(_inline, "build", None)
    assert gd.load_inline(ANSWER.format(45), name="ops").answer() == 45
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="users other than its owner"):
        gd.load_inline(ANSWER.format(45), name="ops")


def test_no_home(tmp_path, monkeypatch):
    """As in containers without an entry for the user: Go has no cache folder either."""
    for name in ("GODLPACK_CACHE", "XDG_CACHE_HOME", "HOME", "GOCACHE", "GOPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_cache.tempfile, "tempdir", str(tmp_path))
    assert _cache.go_folders() == {
        "GOCACHE": f"{tmp_path}/godlpack-{os.geteuid()}/go-build",
        "GOPATH": f"{tmp_path}/godlpack-{os.geteuid()}/gopath",
    }
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert _cache.go_folders() == {}
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    monkeypatch.delenv("HOME")
    with pytest.warns(RuntimeWarning, match="no home"), _cache.kept("entry", "_x.so") as (library, needed):
        assert (library, needed) == (tmp_path / f"godlpack-{os.geteuid()}" / "entry" / "_x.so", True)
        library.write_text("x")
        library.with_suffix(".json").write_text("{}")


def test_full_disk(tmp_path, monkeypatch):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho cannot write: no space left on device >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(_inline, "TOOL", tool)
    with pytest.raises(
        gd.BuildError, match=r"no space left on device\n.the disk of .* is full; set GODLPACK_CACHE, GOCACHE or TMPDIR"
    ):
        gd.load_inline(ANSWER.format(47), name="ops")


def test_processes_build_once(cache):
    script = f"import godlpack; print(godlpack.load_inline({ANSWER.format(46)!r}, name='ops', verbose=True).answer())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", script]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(3)]
    ends = [process.communicate() for process in processes]
    assert [out for out, _ in ends] == ["46\n"] * 3
    assert sum("building ops took" in err for _, err in ends) == 1
