"""godlpack's own headers, compared with those of others: CPython's C API, and DLPack."""

import importlib.util
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

import godlpack._core
from helpers import build

PYTHON = Path(sysconfig.get_path("include"))

pytestmark = [
    build.needs_cc,
    build.needs_headers,
]
needs_python_h = pytest.mark.skipif(not PYTHON.joinpath("Python.h").exists(), reason="needs Python's headers")


def compiler(*arguments):
    folders = [f"-I{folder}" for folder in (build.HEADERS, build.SOURCES, PYTHON)]
    command = [*build.CC, "-std=c11", "-Wall", "-Werror", *folders, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def check(source, path):
    """The compiler's errors for a source, without code generation; "" if there are none."""
    path.joinpath("check.c").write_text(source)
    done = compiler("-fsyntax-only", str(path / "check.c"))
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


# ---- CPython ----

PROTOTYPES = """
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <structmember.h>
#include "pyabi.h"
"""


@needs_python_h
def test_prototypes(tmp_path):
    """Each function is declared twice: C requires that the declarations agree."""
    assert not check(PROTOTYPES, tmp_path)


@needs_python_h
@pytest.mark.parametrize(
    "wrong",
    [
        "int Py_IncRef(PyObject *);",
        "PyObject *PyCapsule_New(void *, char *, PyCapsule_Destructor);",
        "int64_t PyObject_IsTrue(PyObject *);",
        "extern PyObject PyLong_Type;",
    ],
)
def test_wrong_prototypes_are_seen(wrong, tmp_path):
    assert "conflicting types" in check(PROTOTYPES + wrong, tmp_path)


LAYOUT = """
#ifdef OURS
#include "pyabi.h"
#define ROLE(ours, theirs) CONSTANT(ours)
#else
#include <Python.h>
#include <structmember.h>
#define ROLE(ours, theirs) printf("%s %lld\\n", #ours, (long long)(theirs));
#endif
#include <stdio.h>
#define TYPE(T) printf("sizeof %s %zu\\n", #T, sizeof(T));
#define FIELD(T, f) printf("%s.%s %zu, %zu bytes\\n", #T, #f, offsetof(T, f), sizeof(((T *)0)->f));
#define CONSTANT(c) printf("%s %lld\\n", #c, (long long)(c));
int main(void) {
#include "abi_layout.inc"
  return 0;
}
"""


def printed(path, *arguments):
    path.joinpath("layout.c").write_text(LAYOUT)
    done = compiler(*arguments, "-o", str(path / "layout"), str(path / "layout.c"))
    assert done.returncode == 0, done.stderr
    output = subprocess.run([path / "layout"], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) if "," not in line else line.split(" ", 1) for line in output.splitlines())


@needs_python_h
def test_layout(tmp_path):
    ours, theirs = printed(tmp_path, "-DOURS"), printed(tmp_path)
    wrong = {name: (ours[name], value) for name, value in theirs.items() if ours[name] != value}
    assert not wrong, wrong
    assert set(ours) - set(theirs) <= {"GD_MOD_MULTIPLE_INTERPRETERS"}  # unknown to Python 3.11


@needs_python_h
def test_default_type_flags(tmp_path):
    assert printed(tmp_path, "-DOURS")["Py_TPFLAGS_DEFAULT"] == printed(tmp_path)["Py_TPFLAGS_DEFAULT"]


def test_layout_list_is_complete():
    """Every struct and every constant of pyabi.h is checked."""
    header, listed = build.HEADERS.joinpath("pyabi.h").read_text(), build.SOURCES.joinpath("abi_layout.inc").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    structs = re.findall(r"struct \w* ?\{([^{}]*)\} (\w+);", header) + re.findall(r"struct (_object) \{", header)
    constants = [
        part.split("=")[0].strip() for body in re.findall(r"enum \{([^}]*)\}", header) for part in body.split(",")
    ]
    assert len(structs) >= 10 and len(constants) >= 40
    for constant in constants + re.findall(r"#define (Py_TPFLAGS_\w+)", header):
        assert re.search(rf"\b{constant}\b", listed), constant
    for struct in structs:
        if isinstance(struct, tuple):
            body, name = struct
            assert f"TYPE({name})" in listed
            assert listed.count(f"FIELD({name}, ") == len(re.findall(r"[;,]", body_of_members(body))), name


def body_of_members(body):
    """The members of a struct, without the parameters of function pointers."""
    return re.sub(r"\([^()]*\)(?=;)", "", body)


# ---- DLPack ----


def headers():
    """DLPack's header in other packages."""
    for package, inside in [("torch", "include/ATen/dlpack.h"), ("tvm_ffi", "include/dlpack/dlpack.h")]:
        spec = importlib.util.find_spec(package)
        path = Path(spec.submodule_search_locations[0], inside) if spec else None
        reason = pytest.mark.skipif(path is None or not path.exists(), reason=f"no DLPack header of {package}")
        yield pytest.param(path, id=package, marks=reason)


official = pytest.mark.parametrize("header", list(headers()))


def assertions(layout):
    """C code that compiles only if the header agrees with the layout."""
    for name, value in sorted(layout.items()):
        kind, _, what = name.rpartition(" ")
        record, _, field = what.partition(".")
        expression = {
            "sizeof": f"sizeof((({record} *)0)->{field})" if field else f"sizeof({record})",
            "offsetof": f"offsetof({record}, {field})",
            "": what,
        }[kind]
        yield f'_Static_assert({expression} == {value}, "{name} is not {value}");'


LATER = {"kDLBcomplex", "kDLTPU", "kDLTPUHost", "kDLAscend"}  # in headers of later versions than 1.3


def source(header, layout):
    layout = {name: value for name, value in layout.items() if name not in LATER or name in header.read_text()}
    return "\n".join([f'#include "{header}"', "#include <stddef.h>", *assertions(layout), ""])


@official
def test_dlpack(header, tmp_path):
    layout = godlpack._core._layout()
    assert len(layout) > 80
    assert not check(source(header, layout), tmp_path)


@official
@pytest.mark.parametrize(
    "name", ["sizeof DLTensor", "offsetof DLTensor.shape", "kDLCUDA", "DLPACK_FLAG_BITMASK_READ_ONLY"]
)
def test_wrong_layouts_are_seen(header, name, tmp_path):
    layout = godlpack._core._layout()
    layout[name] += 1
    assert f"{name} is not {layout[name]}" in check(source(header, layout), tmp_path)


@official
def test_layout_knows_all_that_the_header_has(header):
    text = header.read_text()
    layout = godlpack._core._layout()
    for constant in re.findall(r"^\s*(kDL\w+)\s*=", text, re.MULTILINE):
        assert constant in layout
    for record in re.findall(r"sizeof (\w+)$", "\n".join(layout), re.MULTILINE):
        assert record in text


def test_records_h_agrees():
    """records.h, the C files' own copy, asserts sizes and offsets: they are those of the module."""
    text = build.HEADERS.joinpath("records.h").read_text()
    layout = godlpack._core._layout()
    for record, size in re.findall(r"GD_FREEZE\((\w+), (\d+)\)", text):
        assert layout[f"sizeof {record}"] == int(size)
    for record, field, offset in re.findall(r"GD_FREEZE_FIELD\((\w+), (\w+), (\d+)\)", text):
        assert layout[f"offsetof {record}.{field}"] == int(offset)
