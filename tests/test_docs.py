"""Docstrings: numpydoc's format, parameters as in the signature, working examples, and the same text in the stubs."""

import ast
import builtins
import difflib
import doctest
import enum
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import godlpack as gd
import godlpack.cuda
import godlpack.testing
import godlpack.typing
from godlpack import _tool

SECTIONS = ["Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Notes", "Examples"]
WIDEST = 80
SLOTS = (type(object.__hash__), type(object.__eq__))  # Python writes their docstrings
MODULES = [gd, gd.cuda, gd.testing, gd.typing]


def members(cls):
    """A type's own public members, and the special methods that the extension documents."""
    in_extension = cls.__module__ == "godlpack"
    for name, member in vars(cls).items():
        special = (
            in_extension and member.__doc__ and name not in ("__new__", "__weakref__") and not isinstance(member, SLOTS)
        )
        if (inspect.isroutine(member) or inspect.isdatadescriptor(member)) and (special or not name.startswith("_")):
            yield name, member


def documented():
    """All public objects with their names, as help() shows them."""
    for module in MODULES:
        yield module.__name__, module
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing) and thing.__module__.startswith("godlpack"):
                yield from ((f"{module.__name__}.{name}.{member}", x) for member, x in members(thing))


THINGS = dict(documented())
CALLABLES = {name: x for name, x in THINGS.items() if inspect.isroutine(x) or isinstance(x, type)}
EXAMPLES = {name: x for name, x in THINGS.items() if ">>>" in (x.__doc__ or "")}


def each(things):
    return pytest.mark.parametrize(("name", "thing"), things.items(), ids=list(things))


def text_of(thing):
    return inspect.cleandoc(thing.__doc__ or "")


def sections(text):
    """The lines of each section, by its heading; those before the first by ""."""
    found, heading = {"": []}, ""
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", below):
            assert len(line) == len(below), f"{line}: underlined by {len(below)} characters"
            heading = line
            found[heading] = []
        elif not re.fullmatch(r"-{3,}", line):
            found[heading].append(line)
    return found


def entries(lines):
    """The names that a section describes: "x, y : int" has two."""
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [name.lstrip("*") for head in heads for name in head.split(", ")]


def test_everything_public_is_there():
    assert all(hasattr(gd, name) for name in gd.__all__)
    assert gd._core.__doc__
    assert gd.__version__.count(".") == 2
    assert set(THINGS) >= {
        "godlpack.from_dlpack",
        "godlpack.load_inline",
        "godlpack.Tensor.to",
        "godlpack.Tensor.shape",
        "godlpack.Tensor.__dlpack__",
        "godlpack.Tensor.__dlpack_device__",
        "godlpack.DType.lanes",
        "godlpack.Device.type",
        "godlpack.Function.__signature__",
        "godlpack.Object.__reduce__",
        "godlpack.cuda.stream",
        "godlpack.testing.check_producer",
        "godlpack.testing.Report.raise_if_failed",
    }


@each(THINGS)
def test_format(name, thing):
    text = text_of(thing)
    assert text, "no docstring"
    summary, *rest = text.splitlines()
    assert summary.endswith("."), summary
    assert not rest or rest[0] == "", "want a blank line after the summary"
    wide = [line for line in text.splitlines() if len(line) > WIDEST]
    assert not wide, f"more than {WIDEST} columns: {wide}"
    headings = list(sections(text))[1:]
    assert headings == [heading for heading in SECTIONS if heading in headings], headings


# Users do not call these, whatever their signatures are.
NOT_CALLED = (Exception, enum.Enum, gd.Tensor, gd.AsyncIterator, gd.Function, gd.Iterator, gd.Method, gd.Object)


@each(CALLABLES)
def test_parameters(name, thing):
    """The section has the parameters of the signature in their order. Special methods may have no such section."""
    found = sections(text_of(thing))
    described = entries(found.get("Parameters", found.get("Attributes", [])))
    if isinstance(thing, type) and issubclass(thing, NOT_CALLED):
        assert not described
    elif described or not name.rpartition(".")[2].startswith("__"):
        assert described == [parameter for parameter in inspect.signature(thing).parameters if parameter != "self"]


@each(CALLABLES)
def test_exceptions(name, thing):
    for error in entries(sections(text_of(thing)).get("Raises", [])):
        kind = getattr(builtins, error, None) or getattr(gd, error, None) or getattr(gd.testing, error)
        assert issubclass(kind, Exception)


@each(EXAMPLES)
def test_examples(name, thing, tmp_path, monkeypatch):
    text = text_of(thing)
    for module in ("numpy", "torch"):
        if f"import {module}" in text:
            pytest.importorskip(module)
    if "load_inline(" in text:
        if not _tool.find_go():
            pytest.skip("needs Go")
        monkeypatch.setenv("GODLPACK_CACHE", str(tmp_path / "cache"))
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


def test_what_has_examples():
    main = [
        "",
        ".from_dlpack",
        ".asarray",
        ".empty",
        ".full",
        ".Tensor",
        ".Tensor.to",
        ".DType",
        ".Device",
        ".load_inline",
    ]
    assert {f"godlpack{name}" for name in main} <= set(EXAMPLES)


STUB = Path(gd.__file__).with_name("_core.pyi")


def stub_docstrings():
    """The docstring of each class and function in the stub; of overloads, the first one's."""
    found = {}
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    for node in tree.body:
        kinds = (ast.ClassDef, ast.FunctionDef)
        if not isinstance(node, kinds):
            continue
        found[node.name] = ast.get_docstring(node)
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and isinstance(node, ast.ClassDef) and member.name != "__new__":
                found.setdefault(f"{node.name}.{member.name}", ast.get_docstring(member))
    return {name: text for name, text in found.items() if hasattr(gd._core, name.partition(".")[0])}


@pytest.mark.parametrize(("name", "text"), stub_docstrings().items(), ids=list(stub_docstrings()))
def test_stub_has_the_same_text(name, text):
    """docstrings.h (in internal/cpython) and _core.pyi have the same text. Docstrings of slots are only in the stub."""
    owner, _, member = name.rpartition(".")
    at_run_time = vars(getattr(gd._core, owner)).get(member) if owner else getattr(gd._core, name)
    if owner and (at_run_time is None or isinstance(at_run_time, SLOTS)):
        assert text
        return
    wanted = inspect.cleandoc(at_run_time.__doc__ or "")
    if (text or "") != wanted:
        difference = difflib.unified_diff((text or "").splitlines(), wanted.splitlines(), "_core.pyi", "help()", "", "")
        pytest.fail(
            f"{name}:\n" + "\n".join(difference) + "\n\nto paste:\n" + textwrap.indent(f'"""{wanted}\n"""', "    ")
        )


def test_dlpack_signature():
    """R1"""
    parameters = inspect.signature(gd.Tensor.__dlpack__).parameters
    assert list(parameters) == ["self", "stream", "max_version", "dl_device", "copy"]
    assert {p.kind for name, p in parameters.items() if name != "self"} == {inspect.Parameter.KEYWORD_ONLY}
    assert {p.default for name, p in parameters.items() if name != "self"} == {None}


def test_build_info():
    info = gd.get_build_info()
    assert info["godlpack"] == gd.__version__
    assert info["dlpack"] == "1.3"
    assert info["go"].startswith("go1.")
    assert isinstance(info["fast_paths"], list)
    with pytest.raises(TypeError, match="positional"):
        gd.get_build_info(1)
