"""What every test has: the leak counters, and the frameworks, each skipping its tests where it is missing."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import hypothesis
import pytest

if "GODLPACK_TEST_GPU" not in os.environ:  # what has no real driver to talk to is the same on every machine
    os.environ["GODLPACK_LIBCUDA"] = "libcuda-kept-away.so"

import godlpack._core

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

PASSED = pytest.StashKey[bool]()


def pytest_configure(config):
    config.addinivalue_line("markers", "unbalanced(reason): what godlpack hands out need not come back within the test")


def spread(items: list[pytest.Item], most: int) -> Iterator[pytest.Item]:
    """Of a test with many sets of parameters some that lie far apart."""
    step = max(1.0, len(items) / most)
    return (items[int(step * i)] for i in range(min(most, len(items))))


def pytest_collection_modifyitems(config, items):
    """Of each test takes at most as many sets of parameters as GODLPACK_SETS says, for tools that take their time."""
    most = int(os.environ.get("GODLPACK_SETS", "0"))
    if most == 0:
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = {item for test in tests.values() for item in spread(test, most)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


def owed() -> dict[str, int]:
    """How many storages, exports and imports were made and not yet given back."""
    counters = godlpack._core._counters()
    return {
        "storages": counters["storages_made"] - counters["storages_freed"],
        "exports": counters["exports_made"] - counters["exports_deleted"],
        "imports": counters["imports_taken"] - counters["imports_deleted"],
    }


def forget_failure():
    """Lets go of the last failed test's frames, which pytest keeps for debuggers until the next test runs."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
            gc.collect()


@pytest.fixture(autouse=True)
def counters(request):
    """Fails a test after which something is still held that was not held before. A failed test keeps its frames, and
    so its tensors, in the traceback: it is not judged."""
    forget_failure()
    gc.freeze()  # so that collecting looks only at what the test makes, not at the frameworks
    before = owed()
    yield
    if request.node.get_closest_marker("unbalanced") or not request.node.stash.get(PASSED, False):
        return
    for patience in (0, 0, 0, 0.01, 0.1, 1):  # a cycle may hang on another; jax gives back on threads of its own
        if owed() == before:
            return
        gc.collect()
        time.sleep(patience)
    if owed() != before:
        pytest.fail(f"the test leaks: owed {before} before, {owed()} after")


@pytest.fixture(scope="session")
def python():
    """Runs a script in an interpreter of its own and returns what it wrote: to stdout, or if it must end otherwise than
    well, to stderr. package: the folder of another build of godlpack. What hangs is killed, and fails."""

    def run(script, timeout=120, status=0, package=None, flags=("-X", "faulthandler"), **variables):
        path = [str(package)] * bool(package) + sys.path
        environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        command = [sys.executable, "-P", *flags, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == status, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
        return done.stderr if status else done.stdout

    return run


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """What load_inline builds goes to a cache of this module's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GODLPACK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def np():
    return pytest.importorskip("numpy")


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def ml_dtypes():
    return pytest.importorskip("ml_dtypes")


@pytest.fixture(scope="session")
def jax():
    module = pytest.importorskip("jax")
    module.config.update("jax_enable_x64", True)
    module.config.update("jax_platforms", "cpu")
    return module


@pytest.fixture(scope="session")
def tvm_ffi():
    return pytest.importorskip("tvm_ffi")
