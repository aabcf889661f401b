"""What help() says: every public thing has text, and examples run."""

import doctest
import inspect
import types

import pytest

import godlpack as gd

FUNCTIONS = [getattr(gd, name) for name in gd.__all__ if isinstance(getattr(gd, name), types.BuiltinFunctionType)]
TYPES = [gd.Tensor, gd.DType, gd.Device, gd.DeviceType]


def members(cls):
    """A type's own public members, and its special methods that are no slots."""
    for name, member in vars(cls).items():
        if not name.startswith("_") or (name.startswith("__dlpack") and callable(member)):
            yield name, member


METHODS = [
    (f"{cls.__name__}.{name}", member)
    for cls in (gd.Tensor, gd.DType, gd.Device)
    for name, member in members(cls)
    if callable(member)
]
ATTRIBUTES = [
    (f"{cls.__name__}.{name}", member)
    for cls in (gd.Tensor, gd.DType, gd.Device)
    for name, member in members(cls)
    if not callable(member)
]


def test_examples():
    assert doctest.testmod(gd).attempted > 0
    assert doctest.testmod(gd).failed == 0


def test_everything_public_is_there():
    assert len(FUNCTIONS) >= 6
    assert {name for name, _ in ATTRIBUTES} >= {"Tensor.shape", "DType.lanes", "Device.type"}
    assert {name for name, _ in METHODS} >= {"Tensor.to", "Tensor.__dlpack__", "Tensor.__dlpack_device__"}
    assert all(hasattr(gd, name) for name in gd.__all__)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions(function):
    assert function.__module__.startswith("godlpack")
    check_text(function.__name__, function.__doc__)
    signature = inspect.signature(function)
    assert all(p.kind is not p.VAR_KEYWORD for p in signature.parameters.values())


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_methods(name, method):
    check_text(name, method.__doc__)
    assert next(iter(inspect.signature(method).parameters)) == "self"


@pytest.mark.parametrize(("name", "attribute"), ATTRIBUTES, ids=[name for name, _ in ATTRIBUTES])
def test_attributes(name, attribute):
    check_text(name, attribute.__doc__)


@pytest.mark.parametrize("cls", TYPES)
def test_types(cls):
    check_text(cls.__name__, cls.__doc__)
    assert cls.__module__.startswith("godlpack")


@pytest.mark.parametrize("cls", [gd.DType, gd.Device])
def test_constructors(cls):
    assert "x" in inspect.signature(cls).parameters


def test_module():
    check_text("godlpack", gd.__doc__)
    assert gd._core.__doc__
    assert gd.__version__.count(".") == 2


def check_text(name, text):
    assert text and text.strip(), f"{name} has no docstring"
    assert text.strip().endswith("."), f"{name}: {text}"


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
    assert isinstance(info["fast_lanes"], list)
    with pytest.raises(TypeError, match="positional"):
        gd.get_build_info(1)
