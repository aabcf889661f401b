"""Fixtures for all tests: the leak counters, what more than one module builds, and the frameworks, whose tests are
skipped where they are missing."""

import faulthandler
import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import hypothesis
import pytest

if "GODLPACK_TEST_GPU" not in os.environ:  # without a real driver, tests run the same on every machine
    os.environ["GODLPACK_LIBCUDA"] = "libcuda-kept-away.so"

import godlpack._core
from helpers import build
from helpers.driver import scripted

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# The thread that ends a test after its time (faulthandler_timeout) is missing in a forked child, whose end would wait for it.
os.register_at_fork(before=faulthandler.cancel_dump_traceback_later)

PASSED = pytest.StashKey[bool]()


def pytest_configure(config):
    config.addinivalue_line("markers", "unbalanced(reason): what godlpack hands out need not come back within the test")


def spread(items: list[pytest.Item], most: int) -> Iterator[pytest.Item]:
    """Some of a test's many sets of parameters, far apart from each other."""
    step = max(1.0, len(items) / most)
    return (items[int(step * i)] for i in range(min(most, len(items))))


def pytest_collection_modifyitems(config, items):
    """Limits the sets of parameters of each test to GODLPACK_SETS, for slow tools."""
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
    """How many storages, exports and imports have not been released."""
    counters = godlpack._core._counters()
    return {
        "storages": counters["storages_made"] - counters["storages_freed"],
        "exports": counters["exports_made"] - counters["exports_deleted"],
        "imports": counters["imports_taken"] - counters["imports_deleted"],
    }


def forget_failure():
    """Drops the last failed test's frames, which pytest keeps for debuggers until the next test runs."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
            gc.collect()


@pytest.fixture(autouse=True)
def counters(request):
    """Fails a test that leaves something unreleased, unless it failed: its traceback keeps its frames and tensors."""
    forget_failure()
    gc.freeze()  # so that collections examine only the test's objects, not the frameworks'
    before = owed()
    yield
    if request.node.get_closest_marker("unbalanced") or not request.node.stash.get(PASSED, False):
        return
    for patience in (0, 0, 0, 0.01, 0.1, 1):  # a cycle may depend on another one; jax releases on its own threads
        if owed() == before:
            return
        gc.collect()
        time.sleep(patience)
    if owed() != before:
        pytest.fail(f"the test leaks: owed {before} before, {owed()} after")


@pytest.fixture(scope="session")
def python():
    """Runs a script in a new interpreter and returns its stdout, or its stderr if the wanted status is not 0. package:
    the folder of another build of godlpack. A script that hangs is killed, and fails the test."""

    def run(script, timeout=120, status=0, package=None, flags=("-X", "faulthandler"), **variables):
        path = [str(package)] * bool(package) + sys.path
        environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        command = [sys.executable, "-P", *flags, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == status, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
        return done.stderr if status else done.stdout

    return run


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The sample library of Go functions, without a sidecar."""
    return build.go_library(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The fake CUDA driver's file."""
    if not build.DRIVER.exists() or not build.HAS_CC:
        pytest.skip("the fake driver needs its source and a C compiler")
    return build.c_library(tmp_path_factory.mktemp("cuda") / "libcuda.so.1", build.DRIVER, "-g")


@pytest.fixture
def cuda(driver, python):
    """Runs a script with the fake driver; nothing may be unreleased at its end."""
    return lambda script, **variables: python(scripted(script), GODLPACK_LIBCUDA=str(driver), **variables)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """Gives this module its own cache for what load_inline builds."""
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
