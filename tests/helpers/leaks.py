"""Counts what a repeated call leaves behind: blocks of Python's allocator, and references to older objects.

Both counts are exact on any build of Python, for all libraries. sys.gettotalrefcount() of a debug build is not: it does
not count the references that numpy and torch, which are release builds, take and release.

As a pytest plugin (`-p helpers.leaks`, tools/references.py) it repeats each test, from its fixtures' setup to their
teardown, and fails those that leave something behind each time.
"""

import builtins
import gc
import sys
from array import array
from collections.abc import Callable, Iterable

import pytest
from _pytest.runner import runtestprotocol

import godlpack

RUNS = 3  # measured runs, after one that fills caches


def is_spoilt(x: object) -> bool:
    """Whether other libraries, without godlpack, leave references to an object behind: jaxlib's nanobind to the type of
    its bound methods in each call; NumPy to the class of a dtype, and to this name, where jax.numpy's scalar types
    become one, and to the dtype of each array that np.zeros() makes, once jax is imported; Cython to the type of its
    generators."""
    if isinstance(x, type):
        module = str(x.__module__)  # of some types a descriptor
        return module == "nanobind" or module.startswith("_cython_") or type(x).__name__ == "_DTypeMeta"
    return type(x).__name__ == "Float64DType" or (isinstance(x, str) and x == "__class__")


class Books:
    """Counts blocks, and the references to watched objects."""

    def __init__(self, watched: Iterable[object] = ()):
        common = [None, True, False, NotImplemented, ..., (), "", b"", *range(-5, 257), *vars(builtins).values()]
        unique = {id(x): x for x in [*common, *watched] if not is_spoilt(x)}
        self.watched = list(unique.values())

    def read(self, into: array, at: int):
        """Writes both counts into an array, since a new int would be one more block. Clears Python's type cache first,
        which keeps names alive."""
        sys._clear_type_cache()
        into[at] = sys.getallocatedblocks()
        into[at + 1] = sum(map(sys.getrefcount, self.watched))


def growth(call: Callable[[], object], books: Books, windows: int = 1, runs: int = RUNS) -> list[tuple[int, int]]:
    """The growth of blocks and references in each of several windows of some runs."""
    read = array("q", bytes(16 * (windows + 1)))
    call()
    gc.collect()
    books.read(read, 0)
    for i in range(1, windows + 1):
        for _ in range(runs):
            call()
        gc.collect()
        books.read(read, 2 * i)
    return [(read[2 * i] - read[2 * i - 2], read[2 * i + 1] - read[2 * i - 1]) for i in range(1, windows + 1)]


def leak(call: Callable[[], object], books: Books) -> str:
    """What each run of a call leaves behind, "" if nothing. Occasional growth of caches does not count: each run must
    leave something, also in a second, longer series."""
    if max(growth(call, books)[0]) < RUNS:
        return ""
    blocks, references = (min(column) for column in zip(*growth(call, books, 12, runs=1), strict=True))
    if blocks <= 0 and references <= 0:
        return ""
    return f"each run leaves {max(blocks, 0)} blocks of memory and {max(references, 0)} references behind"


# ---- as a plugin ----


class Producer:
    def __dlpack__(self, **keywords):
        return godlpack.zeros(1).__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


PRODUCERS = [type(f"Producer{i}", (Producer,), {})() for i in range(1000)]


def replace_plans():
    """Leaves no plan for a type that a test has made: godlpack keeps at most 64 types, each until another type replaces
    it. 1,000 types replace all of them."""
    for producer in PRODUCERS:
        godlpack.from_dlpack(producer)


ABROAD = {"python", "tmp_path", "libraries"}  # fixtures of tests that start processes, or build what they test


def everything() -> list[object]:
    """All objects of the garbage collector, and their referents."""
    gc.unfreeze()
    known = gc.get_objects()
    return [*known, *gc.get_referents(*known)]


def is_measured(item: pytest.Item) -> bool:
    return not ABROAD & set(item.fixturenames) and not item.get_closest_marker("unbalanced")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if not is_measured(item):
        return None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = []

    def run():
        gc.collect()  # before the fixture that freezes what there is
        item._initrequest()  # new function-scoped fixtures; those of the module stay, as its parent is next
        reports[:] = runtestprotocol(item, log=False, nextitem=item.parent)
        replace_plans()

    run()
    kept = {
        name: sys.modules[name]._kept for name in ("helpers.fakes", "godlpack.testing.peers") if name in sys.modules
    }
    before = {name: len(fakes) for name, fakes in kept.items()}  # with those of the module's fixtures
    wider = [
        (fixture, len(fixture._finalizers)) for defs in item._fixtureinfo.name2fixturedefs.values() for fixture in defs
    ]

    def run_again():
        run()
        for name, fakes in kept.items():
            del fakes[before[name] :]  # the only place where fakes are freed
        for fixture, n in wider:  # pytest adds a finalizer for each run's fixtures, which have ended
            del fixture._finalizers[n:]

    if all(report.passed for report in reports) and (left := leak(run_again, books_of(item))):
        reports[-1].outcome, reports[-1].longrepr = "failed", f"{item.nodeid}: {left}"
    item.session._setupstate.teardown_exact(nextitem)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


BOOKS = pytest.StashKey[Books]()


def books_of(item: pytest.Item) -> Books:
    """The Books of the item's module, which watch all objects that existed after its first test."""
    module = item.getparent(pytest.Module)
    if BOOKS not in module.stash:
        module.stash[BOOKS] = Books(everything())
        gc.freeze()
    return module.stash[BOOKS]


def pytest_sessionfinish(session):
    """Drops all objects: a debug build of Python needs its types when it ends."""
    for module in {item.getparent(pytest.Module) for item in session.items}:
        if BOOKS in module.stash:
            del module.stash[BOOKS]
    gc.unfreeze()
