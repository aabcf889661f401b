"""Programs have the values, and the errors, that go-jsonnet's own package for Python has."""

import inspect
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import _gojsonnet as original
import pytest

import jsonnet


def corpus() -> Path | None:
    """The programs that go-jsonnet is tested with: they are where Go has its sources, of which this was built."""
    if not (go := shutil.which("go")):
        return None
    cache = subprocess.run([go, "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    version = re.search(r"go-jsonnet (v\S+)", Path(__file__).parents[1].joinpath("go.mod").read_text())[1]
    assert original.version == version
    return Path(cache, f"github.com/google/go-jsonnet@{version}", "testdata")


CORPUS = corpus()
TEXTS = {"stringVar": "2 + 2"}
CODES = {"codeVar": "3 + 3", "errorVar": "error 'xxx'", "staticErrorVar": ")", "UndeclaredX": "x"}


def evaluated(evaluate, *arguments):
    """A text, or an error."""
    try:
        return evaluate(*arguments)
    except (jsonnet.ProgramError, RuntimeError) as error:
        return error


def assert_same(program: str, filename: str, codes: dict[str, str] = {}) -> bool:  # noqa: B006
    """Ours is theirs. Is it a value?"""
    vm = jsonnet.VM()
    for name, text in TEXTS.items():
        vm.set_text(name, text)
    for name, code in codes.items():
        vm.set_code(name, code)
    ours = evaluated(vm.evaluate, program, filename)
    want = evaluated(lambda: original.evaluate_snippet(filename, program, ext_vars=TEXTS, ext_codes=codes, max_trace=0))
    if isinstance(want, str):
        assert ours == want
        json.loads(ours)
        return True
    assert isinstance(ours, jsonnet.ProgramError)
    if ours.trace:
        lines = [line.strip() for line in str(want).removeprefix("RUNTIME ERROR: ").splitlines()]
        got = [line.strip() for line in str(ours).splitlines()]
        assert [line.split() for line in got if line] == [line.split() for line in lines if line]
    else:  # the parser's, which the original follows by the lines of the program
        assert str(want).startswith(str(ours))
    return False


@pytest.mark.skipif(CORPUS is None, reason="needs Go's copy of the sources of go-jsonnet")
def test_all_programs_of_its_own_tests(monkeypatch):
    monkeypatch.chdir(CORPUS)
    files = sorted(CORPUS.glob("*.jsonnet"))
    values = [assert_same(file.read_text(encoding="utf-8"), file.name, {"codeVar": CODES["codeVar"]}) for file in files]
    assert len(values) > 600 and sum(values) > 400


@pytest.mark.parametrize("name", sorted(CODES))
def test_variables(name):
    assert_same(f"std.extVar('{name}')", "p", {name: CODES[name]})
    assert_same(f"[std.extVar('stringVar'), if false then std.extVar('{name}')]", "p", CODES)


@pytest.mark.parametrize(
    "program",
    [
        "1e308 * 10",
        "0.1 + 0.2",
        "'é 漢字 😀 \\u0000 \\ud83d\\ude00'",
        "std.md5('é')",
        "std.range(0, 3000)",
        "{[x]: std.length(x) for x in ['a', 'bb']}",
        "local f(n) = if n == 0 then 0 else 1 + f(n - 1); f(400)",
        "local f(n) = f(n + 1); f(0)",
        "std.parseYaml('a: [1, 2]\\nb: é')",
        "std.manifestYamlDoc({a: [1, {b: null}]})",
        "",
        "// nothing",
        "\ufeff1",
        "x",
        "import 'nowhere.libsonnet'",
        "importstr 'nowhere'",
        "{assert self.a == 2: 'not 2', a: 1}",
        "[" * 499 + "]" * 499,
    ],
)
def test_programs(program):
    assert_same(program, "program")


def test_an_object():
    vm = jsonnet.VM()
    vm.set_argument("n", "3")
    vm.set_text("name", "world")
    text = vm.evaluate("function(n) {hello: std.extVar('name'), squares: [i * i for i in std.range(1, n)]}")
    assert json.loads(text) == {"hello": "world", "squares": [1, 4, 9]}
    assert [json.loads(part) for part in vm.evaluate_stream("[{a: 1}, [2], 'three']")] == [{"a": 1}, [2], "three"]
    vm.set_argument("n", "1")  # replaces it
    assert json.loads(vm.evaluate("function(n) n")) == 1
    with pytest.raises(jsonnet.ProgramError, match="array"):
        vm.evaluate_stream("{}")


def test_imports(tmp_path):
    (tmp_path / "program").mkdir()
    for path, text in {
        "one/a.libsonnet": "'one'",
        "two/a.libsonnet": "'two'",
        "program/b.libsonnet": "import 'a.libsonnet'",
    }.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    vm = jsonnet.VM([str(tmp_path / "one"), str(tmp_path / "two")])
    filename = str(tmp_path / "program" / "main.jsonnet")
    assert json.loads(vm.evaluate("import 'b.libsonnet'", filename)) == "two"
    (tmp_path / "program" / "a.libsonnet").write_text("'beside'")
    assert json.loads(vm.evaluate("import 'b.libsonnet'", filename)) == "beside"
    with pytest.raises(jsonnet.ProgramError, match="couldn't open import"):
        jsonnet.VM().evaluate("import 'b.libsonnet'")


def test_errors_have_a_trace():
    with pytest.raises(jsonnet.ProgramError) as caught:
        jsonnet.VM().evaluate("local f(x) = error 'no ' + x;\nf('way')", "some.jsonnet")
    assert isinstance(caught.value, ValueError) and caught.value.message == "no way"
    assert caught.value.trace == ["some.jsonnet:1:14-29 function <f>", "some.jsonnet:2:1-9 $", "During evaluation"]
    assert str(caught.value).splitlines()[0] == "no way"


def test_bad_arguments():
    for wrong in (0, -1, 10_001):
        with pytest.raises(ValueError, match=f"max_stack: want 1 to 10000, got {wrong}"):
            jsonnet.VM(max_stack=wrong)
    vm = jsonnet.VM(max_stack=5)
    with pytest.raises(jsonnet.ProgramError, match="max stack frames exceeded"):
        vm.evaluate("local f(n) = if n == 0 then 0 else 1 + f(n - 1); f(10)")
    with pytest.raises(TypeError, match=r"argument 'program': want str, got bytes"):
        vm.evaluate(b"1")
    with pytest.raises(UnicodeEncodeError):
        vm.evaluate("'\ud800'")
    with pytest.raises(TypeError, match="argument 'import_paths': want list of str"):
        jsonnet.VM("lib")


@pytest.mark.parametrize(
    "program", ["[" * 100_000, "1+" * 200_000 + "1", "!" * 100_001, " " * (2**20 + 1)], ids=["[", "+", "!", "blanks"]
)
def test_programs_beyond_the_stack(program):
    """Those that would end the process, and their like."""
    vm = jsonnet.VM()
    for call in (vm.evaluate, lambda code: vm.set_code("x", code), lambda code: vm.set_argument("x", code)):
        with pytest.raises(jsonnet.ProgramError, match="want at most 1048576 bytes, 100000 operators and 5000 nested"):
            call(program)
    assert vm.evaluate("1") == "1\n"


def test_deep_values():
    vm = jsonnet.VM(max_stack=10_000)
    text = vm.evaluate("local f(n) = if n == 0 then [] else [f(n - 1)]; f(2000)")
    assert text.count("[") == 2001


def test_threads_at_a_time():
    vm, got = jsonnet.VM(), []

    def work(n):
        vm.set_code(f"n{n}", str(n))
        got.extend(json.loads(vm.evaluate(f"std.extVar('n{n}') * 2")) == 2 * n for _ in range(50))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 400


def test_it_is_a_class_like_others():
    assert list(inspect.signature(jsonnet.VM.evaluate).parameters) == ["self", "program", "filename"]
    assert "JSON" in jsonnet.VM.evaluate.__doc__
