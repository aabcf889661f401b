"""No operation leaves a reference or a block of Python's memory behind; `tox -e refs` checks that of each test."""

import ctypes
import gc
import sys

import pytest

import godlpack as gd
from helpers import build, operations
from helpers.leaks import Books, leak


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Collects garbage of other tests first, since Books unfreeze it."""
    gc.unfreeze()
    gc.collect()


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """All operations, including those with functions of libraries if there are compilers."""
    folder = tmp_path_factory.mktemp("references")
    if not build.HAS_CC or not build.HAS_GO:
        yield operations.all_operations()
        return
    built = gd.load_module(build.go_library(folder), package="sample")
    classes = gd.load_module(build.classes_library(folder), package="classes")
    with pytest.MonkeyPatch.context() as patch:  # for pickle
        patch.setitem(sys.modules, "sample", built)
        patch.setitem(sys.modules, "classes", classes)
        yield operations.all_operations(built, gd.load_module(build.c_functions(folder / "functions.so")), classes)


@pytest.mark.unbalanced(
    "its books let the collector see what other tests left: it counts what each operation leaves itself"
)
def test_each_operation(every):
    leaks = {}
    for name, operation in every.items():
        call = lambda operation=operation: operations.outcome(operation)  # noqa: E731
        books = Books([*operations.owned(operation), *vars(gd).values()])
        if left := leak(call, books):
            leaks[name] = left
    assert not leaks


@pytest.mark.parametrize(
    "lost", [object(), None, 1000, "text", [], 7], ids=["object", "None", "large", "text", "list", "small"]
)
def test_leaks_are_found(lost):
    take = ctypes.pythonapi.Py_IncRef
    immortal = sys.version_info >= (3, 12) and sys.getrefcount(lost) > 1 << 28  # without a reference count
    assert immortal or leak(lambda: take(ctypes.py_object(lost)), Books([lost]))
    assert leak(lambda: take(ctypes.py_object([lost])), Books())
    assert not leak(lambda: [lost], Books([lost]))
