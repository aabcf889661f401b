"""docs/conformance.md: every rule has existing tests, which name it. And tests of rules without tests elsewhere."""

import ast
import ctypes
import re
from pathlib import Path

import pytest

import godlpack as gd
from godlpack.testing import Managed, Producer
from godlpack.testing.records import (
    CurrentStream,
    ManagedFromPy,
    ManagedToPy,
    Record,
    RecordFromPy,
    Versioned,
    delete_without_gil,
)
from helpers.fakes import FakeTensor, allocate, table_of
from helpers.rules import RULES, rows

HERE = Path(__file__).parent


def functions(file):
    """The source of each test function of a file, with its decorators, by name."""
    source = (HERE / file).read_text()
    lines = source.splitlines()
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    starts = {node.name: min([node.lineno, *(d.lineno for d in node.decorator_list)]) for node in found}
    return {node.name: "\n".join(lines[starts[node.name] - 1 : node.end_lineno]) for node in found}


def rules_in(text):
    """The rules that a text names; "R20-R22" and "R34 to R42" include those between."""
    spans = re.findall(r"\bR(\d+)(?:(?:-| to )R(\d+))?\b", text)
    return {rule for first, last in spans for rule in range(int(first), int(last or first) + 1)}


def test_every_rule_is_in_the_table():
    assert list(rows()) == list(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_tests(rule):
    text, source, tests, asked = rows()[rule]
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", tests)
    assert text and source and asked and named, f"R{rule} has no test"
    for file, name in named:
        assert name in functions(file), f"R{rule}: there is no {file}::{name}"
        assert rule in rules_in(functions(file)[name]), f"{file}::{name} does not speak of R{rule}"


def test_rules_in_ranges():
    assert rules_in("R1, R20-R22 and R34 to R36") == {1, 20, 21, 22, 34, 35, 36}


# ---- tests of rules without tests elsewhere ----


def test_names_are_static():
    """R8: the same C string in every capsule."""
    name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    for keywords, wanted in (({}, b"dltensor"), ({"max_version": (1, 0)}, b"dltensor_versioned")):
        addresses = {name(gd.zeros(3).__dlpack__(**keywords)) for _ in range(3)}
        (address,) = addresses
        assert ctypes.string_at(address) == wanted


def test_no_stream_of_the_cpu():
    """R29"""
    t = gd.zeros(3)
    assert t.__dlpack__(stream=None, dl_device=(1, 0)) is not None
    with pytest.raises(ValueError, match="7 is not a stream of device cpu"):
        t.__dlpack__(stream=7, dl_device=(1, 0))


@pytest.mark.parametrize(
    ("own", "asked", "error", "wanted"),
    [((1, 0), (2, 0), BufferError, "no CUDA driver"), ((2, 0), (1, 0), ValueError, "7 is not a stream")],
)
def test_stream_of_the_device_asked_for(own, asked, error, wanted):
    """R29: if both are given, the stream belongs to dl_device."""
    t = gd.from_dlpack(FakeTensor(device=own).capsule())
    with pytest.raises(error, match=wanted):
        t.__dlpack__(stream=7, dl_device=asked)


def test_table_is_optional():
    """R51: types without a table are exchanged by __dlpack__; types with one have it, too."""
    assert gd.from_dlpack(Producer(Managed())).tolist() == [0.0, 1.0, 2.0]
    assert gd.from_dlpack(gd.zeros(3).__dlpack__()).size == 3


def test_no_panic_leaves_the_table():
    """R59: any input gives a status, with an exception where one is possible."""
    table, out = table_of(gd.Tensor), ctypes.c_void_p()
    for stranger in (None, gd.Tensor, gd, Producer(Managed())):
        with pytest.raises(TypeError):
            ManagedFromPy(table.managed_from_py)(stranger, ctypes.byref(out))
        with pytest.raises(TypeError):
            RecordFromPy(table.record_from_py)(stranger, ctypes.byref(Record()))
    for fields in ({"ndim": -1}, {"version": (9, 9)}, {"data": 1}, {"dtype": (99, 0, 0)}, {"shape": (2**62, 2**62)}):
        with pytest.raises(BufferError):
            ManagedToPy(table.managed_to_py)(Managed(**fields).address, ctypes.byref(out))
    assert allocate(table, (2**62, 2**62))[0] == -1
    for device in ((99, 0), (-1, -1), (2, 7)):
        assert CurrentStream(table.current_stream)(*device, ctypes.byref(out)) == 0


def test_table_does_not_synchronize():
    """R60: a tensor on a device without a driver is exchanged, since the device is not used."""
    table, out = table_of(gd.Tensor), ctypes.c_void_p()
    t = gd.from_dlpack(FakeTensor(device=(2, 0)).capsule())
    assert ManagedFromPy(table.managed_from_py)(t, ctypes.byref(out)) == 0
    managed = Versioned.from_address(out.value)
    assert managed.tensor.device_pair() == (2, 0)
    delete_without_gil(managed)


@pytest.mark.parametrize("name", ["from_dlpack", "asarray"])
def test_lazy_conjugates_and_negatives(name, torch):
    """R65: refused with and without a plan for torch.Tensor, and imported when resolved."""
    importer, z = getattr(gd, name), torch.tensor([1 + 2j, 3 + 4j])
    for _ in range(2):
        for lazy in (z.conj(), z.conj().imag, z.conj()[0].imag, torch.ones(2, requires_grad=True)):
            with pytest.raises(BufferError, match=r"use \.(resolve_conj|resolve_neg|detach)\(\)"):
                importer(lazy)
        assert importer(z.conj().resolve_conj()).tolist() == [1 - 2j, 3 - 4j]
        assert importer(z.conj().imag.resolve_neg()).tolist() == [-2.0, -4.0]
