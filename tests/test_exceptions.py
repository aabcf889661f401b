"""Go's errors as Python's exceptions: exported ones, those of the standard library, causes, attributes."""

import errno
import math
import os
import pickle
import subprocess
import sys

import pytest

import godlpack as gd
from godlpack import _tool
from helpers.build import ROOT

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "exceptions" / "exceptions.go").read_text()


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE)


def raised(call, *args):
    with pytest.raises(BaseException) as info:  # the tests look at its type
        call(*args)
    return info.value


def test_value(go):
    """An exported error value is an exception of its own, also where other errors wrap it."""
    assert issubclass(go.NotFoundError, KeyError)
    assert go.NotFoundError.__doc__ == "Reports a key that the table does not have."
    assert go.NotFoundError.__module__ == go.lookup.__module__
    for depth in range(4):
        error = raised(go.lookup, "x", depth)
        assert type(error) is go.NotFoundError
        assert error.args == ("level " * depth + "no such key",)
        assert error.__cause__ is None
        with pytest.raises(KeyError):
            go.lookup("x", depth)


def test_type(go):
    """An exported error type has its fields as attributes, and what it wraps as its cause."""
    error = raised(go.parse, "a\nb\n")
    assert type(error) is go.SyntaxFault
    assert isinstance(error, go.InputError)
    assert isinstance(error, ValueError)
    assert (str(error), error.line, error.text, error.ratio, error.hints) == ("line 2: bad", 2, "b", 0.5, ["c", "d"])
    assert type(error.__cause__) is EOFError
    assert not hasattr(error, "secret")
    wrapped = raised(go.parse_wrapped, "a\nb\n")
    assert type(wrapped) is go.SyntaxFault
    assert str(wrapped) == "while parsing: line 2: bad"
    assert wrapped.line == 2


def test_value_receiver(go):
    for call in (go.limited, go.limited_by_pointer):
        error = raised(call, 7)
        assert type(error) is go.LimitError
        assert error.limit == 7


def test_not_a_number(go):
    assert math.isnan(raised(go.odd).ratio)


def test_value_of_a_type(go):
    """An exported value goes before its exported type."""
    assert type(raised(go.coded, 6)) is go.CodeError
    assert type(raised(go.coded, 7)) is go.SevenError


def test_attributes(go):
    """Names of an exception's own members get a _; floats stay floats; methods of the types are not called."""
    error = raised(go.awkwardly)
    assert error.args == ("awkward",)
    assert (error.args_, error.errno_, error.mode) == (["a"], "e", 3)
    assert repr((error.whole, error.zero)) == "(2.0, -0.0)"
    assert (error.none, error.empty) == ([], {})
    assert repr(error.odd) == "[nan, -inf, 1.0]"
    assert error.secret == 's\udcff"\\\N{GRINNING FACE}'
    assert not hasattr(error, "tree")


def test_methods_are_called_before_the_host_is(go):
    """What an error answers later does not count, and cannot end the process."""
    for calls in range(4):
        assert "stateful" in str(raised(go.stateful, calls)) or "Go panicked: asked too often" in str(
            raised(go.stateful, calls)
        )
    error = raised(go.unknown_kind)
    assert (type(error), str(error)) == (RuntimeError, "of no kind")


def test_long_chains(go):
    """The first causes of a long chain are there."""
    error, depth = raised(go.deep, 3000), 0
    while error:
        error, depth = error.__cause__, depth + 1
    assert depth == 51
    error = raised(go.deep, 3)
    assert [error.line, error.__cause__.line, error.__cause__.__cause__.line] == [2, 1, 0]
    assert type(error.__cause__.__cause__.__cause__) is EOFError


@pytest.mark.parametrize("way", ["kinds", "several", "panic", "parallel"])
def test_causes(go, way):
    error = raised(go.causes, way)
    assert type(error) is ValueError
    assert type(error.__cause__) is (KeyError if way == "kinds" else go.NotFoundError)


def test_standard_errors_by_is(go):
    assert type(raised(go.late)) is TimeoutError


def test_names_that_are_not_utf8(go, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff"
    error = raised(go.read_bytes, name)
    assert os.fsencode(error.filename) == name


def test_arguments_of_oserror(go):
    number, text = raised(go.standard, "errno").args
    assert (number, text) == (errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


def test_matches_by_is(go):
    """An error whose method Is accepts the exported value counts as it."""
    assert type(raised(go.alike)) is go.NotFoundError


def test_cause_of_another_kind(go):
    error = raised(go.load_table, "/no/such/file")
    assert type(error) is go.LoadError
    assert str(error) == "load: open /no/such/file: no such file or directory"
    cause = error.__cause__
    assert type(cause) is FileNotFoundError
    assert (cause.errno, cause.filename) == (errno.ENOENT, "/no/such/file")


@pytest.mark.parametrize("way", ["direct", "wrapped", "joined"])
def test_files(go, tmp_path, way):
    """Errors of files have errno and filename, and text that wraps them as a note."""
    missing, folder = tmp_path / "missing", tmp_path
    error = raised(go.read, str(missing), way)
    assert type(error) is FileNotFoundError
    assert (error.errno, error.filename) == (errno.ENOENT, str(missing))
    assert str(error) == f"[Errno 2] No such file or directory: {str(missing)!r}"
    assert getattr(error, "__notes__", []) == (
        [] if way == "direct" else [f"reading: open {missing}: no such file or directory"]
        if way == "wrapped" else [f"first\nopen {missing}: no such file or directory"]
    )  # fmt: skip
    assert type(raised(go.read, str(folder), way)) is IsADirectoryError


def test_two_names(go, tmp_path):
    error = raised(go.link, str(tmp_path / "a"), str(tmp_path / "b"))
    assert type(error) is FileNotFoundError
    assert (error.filename, error.filename2) == (str(tmp_path / "a"), str(tmp_path / "b"))


STANDARD = {
    "deadline": TimeoutError,
    "timeout": TimeoutError,
    "not exist": FileNotFoundError,
    "exist": FileExistsError,
    "permission": PermissionError,
    "closed": ValueError,
    "eof": EOFError,
    "unexpected eof": EOFError,
    "range": OverflowError,
    "syntax": ValueError,
    "unsupported": NotImplementedError,
    "errno": ConnectionRefusedError,
    "dial": ConnectionRefusedError,
    "unknown": RuntimeError,
}


@pytest.mark.parametrize("name", STANDARD)
def test_standard_library(go, name):
    assert type(raised(go.standard, name)) is STANDARD[name]


KINDS = [
    "AttributeError", "BufferError", "EOFError", "IndexError", "KeyError", "MemoryError", "NotImplementedError",
    "OverflowError", "RuntimeError", "StopIteration", "TimeoutError", "TypeError", "ValueError",
]  # fmt: skip


def test_kinds(go):
    """kernel.Errorf makes each of these exceptions."""
    found = []
    for kind in range(32):
        error = raised(go.kind, kind)
        if str(error.args[0]) == "end":
            break
        assert error.args == (f"kind {kind}",)
        found.append(type(error).__name__)
    assert sorted(found) == KINDS


def test_errorf_that_wraps(go):
    """Errorf(ValueError, "...: %w", err) is a ValueError whose cause is err's exception."""
    error = raised(go.checked, "/no/such/file")
    assert type(error) is ValueError
    assert str(error) == "config: open /no/such/file: no such file or directory"
    assert type(error.__cause__) is FileNotFoundError
    assert raised(go.kind, 0).__cause__ is None


def test_callbacks_exception_is_the_same_object(go):
    mine = LookupError("mine")

    def fail():
        raise mine

    assert raised(go.calls, fail) is mine
    assert raised(go.calls_wrapped, fail) is mine


def test_methods_of_errors_that_panic(go):
    for call in (go.panics_in_error, go.panics_in_is, go.panics_in_unwrap):
        assert "Go panicked" in str(raised(call))


def test_text_that_is_not_utf8(go):
    error = raised(go.garbled)
    assert type(error) is go.NotFoundError
    assert "\N{REPLACEMENT CHARACTER}" in error.args[0]


def test_pickle_and_identity(go):
    error = raised(go.parse, "a\nb\n")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is go.SyntaxFault
    assert (copy.args, copy.line) == (error.args, error.line)
    assert gd.load_inline(SOURCE).NotFoundError is go.NotFoundError
    text = pickle.dumps(error)
    code = f"import pickle; e = pickle.loads({text!r}); print(type(e).__name__, e.line)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "SyntaxFault 2\n"


def test_module(go):
    assert {"NotFoundError", "SyntaxFault", "InputError"} <= set(go.__all__)

    class Special(go.NotFoundError):
        pass

    assert issubclass(Special, KeyError)


MISTAKES = {
    "base=Nothing": 'base "Nothing": want an exported error of this package',
    "base=NotFoundError": "NotFoundError would be its own base",
    "StopIteration": "cannot be the name of the package's own exception",
    "int": "cannot be the name of the package's own exception",
    "KeyError": "cannot be the name of the package's own exception",
    "One two": "above an error, want one //godlpack:export",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes(words):
    source = f'package p\n\nimport "errors"\n\n//godlpack:export {words}\nvar ErrNotFound = errors.New("x")\n'
    source += "\n//godlpack:export\nfunc F() {}\n"
    with pytest.raises(gd.BuildError) as info:
        gd.load_inline(source)
    assert MISTAKES[words] in str(info.value)


def test_only_errors_among_variables():
    with pytest.raises(gd.BuildError, match="of variables, only errors can be exported"):
        gd.load_inline("package p\n\n//godlpack:export\nvar N = 3\n\n//godlpack:export\nfunc F() {}\n")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("type E struct{ URL, Url string }", "two fields have the name url in Python"),
        (
            "type E int\n\n//godlpack:export\nfunc (E) Method() {}",
            "Method is a method of an error, which has no methods in Python",
        ),
    ],
)
def test_mistakes_in_types(source, text):
    error = "func (E) Error() string { return `` }"
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline(f"package p\n\n//godlpack:export\n{source}\n\n{error}\n\n//godlpack:export\nfunc F() {{}}\n")
